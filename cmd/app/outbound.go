package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/database/postgres"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router"
)

// modelCheckTime bounds doctor's question to the model's endpoint.
const modelCheckTime = 3 * time.Second

// Outbounds lists every place of the running router that may open a connection,
// and whether the settings let it. There is none that is not listed, which a
// test of the sources and one of the running program hold it to; all are off
// unless somebody configures them.
func Outbounds(c config.Config) []router.Outbound {
	return []router.Outbound{
		outbound("model", "answers at /v1, learns from transcripts", "llm.base_url", c.LLM.BaseURL),
		outbound("embeddings", "makes vectors for the search", "llm.embedding_model", c.LLM.EmbeddingBase()),
		plannedMesh(c),
		outbound("telemetry", "sends spans of what the router does", "telemetry.endpoint", c.Telemetry.Endpoint),
		databaseServer(c),
		otherNodes(c),
		bellServer(c),
	}
}

// outbound describes a place that dials the host of an address, unless it is empty.
func outbound(name, purpose, setting, address string) router.Outbound {
	return router.Outbound{
		Name: name, Purpose: purpose, Setting: setting,
		On: address != "", Target: address, Leaves: address != "" && !OnThisMachine(address),
	}
}

// databaseServer describes the server that has the databases, which may be reached by a socket of this machine.
func databaseServer(c config.Config) router.Outbound {
	o := router.Outbound{Name: "database", Purpose: "stores what is remembered", Setting: "database", On: c.Database != ""}
	if server, err := postgres.Parse(c.Database); o.On && err == nil {
		o.Target = server.String()
		o.Leaves = slices.ContainsFunc(server.Hosts(), func(host string) bool {
			return !strings.HasPrefix(host, "/") && !OnThisMachine("postgres://"+net.JoinHostPort(host, "5432"))
		})
	}
	return o
}

// otherNodes describes the nodes of the cluster: they are where this one is, or elsewhere.
func otherNodes(c config.Config) router.Outbound {
	o := router.Outbound{Name: "cluster", Purpose: "hands requests to the node that writes", Setting: "node", On: c.Node != ""}
	if o.On {
		o.Target, o.Leaves = "the other nodes", !OnThisMachine(cmp.Or(c.NodeURL, "http://"+c.Listen))
	}
	return o
}

// bellServer describes the server that bears the bell of the cluster.
func bellServer(c config.Config) router.Outbound {
	o := outbound("nats", "tells the nodes that something was written", "nats", c.NATS)
	if u, err := url.Parse(c.NATS); o.On && err == nil { // the address may hold a password
		o.Target = u.Scheme + "://" + u.Host
	}
	return o
}

// OnThisMachine tells whether an address is loopback's, by its form: no name but localhost is looked up.
func OnThisMachine(address string) bool {
	u, err := url.Parse(address)
	return err == nil && locate.Loopback(u)
}

// outbounds is Outbounds of this App, with the mesh's peers as they were read at its start.
func (a *App) outbounds() []router.Outbound {
	places := Outbounds(a.config)
	for i := range places {
		if places[i].Name == a.wired.outbound.Name {
			places[i] = a.wired.outbound
		}
	}
	return places
}

// checkOutbound says what leaves this machine. That something does is no fault: somebody configured it.
func (a *App) checkOutbound() router.SystemCheck {
	on := []string{}
	for _, place := range a.outbounds() {
		if place.On {
			on = append(on, place.Name+" to "+place.Target)
		}
	}
	detail := "nothing is dialled"
	if len(on) > 0 {
		detail = "dials " + strings.Join(on, ", ")
	}
	return router.SystemCheck{Name: "outbound", OK: true, Detail: detail}
}

// checkModel asks the model's endpoint which models it has.
func (a *App) checkModel(ctx context.Context) []router.SystemCheck {
	endpoint, name := a.wired.endpoint, a.config.LLM.Model
	if endpoint == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, modelCheckTime)
	defer cancel()
	return []router.SystemCheck{looked("model", func() (string, error) {
		models, err := endpoint.Models(ctx)
		if err != nil {
			return "", errors.New(errs.MessageOf(err))
		}
		if name != "" && !slices.Contains(models, name) && !slices.Contains(models, name+":latest") { // as Ollama calls it
			return "", fmt.Errorf("%s has no model %s (llm.model)", endpoint.Base(), name)
		}
		return fmt.Sprintf("%s answers and has %d models", endpoint.Base(), len(models)), nil
	})}
}

// checkAirgapped refuses settings that let a connection leave this machine, where the setting airgapped forbids it.
func checkAirgapped(c config.Config) error {
	if !c.Airgapped {
		return nil
	}
	var leaving []string
	for _, place := range Outbounds(c) {
		if place.Leaves {
			leaving = append(leaving, fmt.Sprintf("%s (%s)", place.Setting, place.Target))
		}
	}
	if len(leaving) == 0 {
		return nil
	}
	return errs.InvalidField("airgapped", "is true, and these settings let a connection leave this machine: %s. Unset them, or airgapped", strings.Join(leaving, ", "))
}
