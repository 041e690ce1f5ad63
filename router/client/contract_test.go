package client_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/comms/commstest"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/learningtest"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/operational/operationaltest"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/client/clienttest"
	"github.com/skillrouter/skillrouter/router/routertest"
)

// serve runs a whole router on a folder of its own until the test ends, and
// returns its address and its owner's token.
func serve(t *testing.T) (address, owner string) {
	t.Helper()
	settings := config.Default()
	settings.Data, settings.Listen = t.TempDir(), "127.0.0.1:0"
	a, err := app.New(t.Context(), settings, slog.New(slog.DiscardHandler), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	if owner, err = locate.ReadOwnerToken(settings.Data); err != nil {
		t.Fatal(err)
	}
	return a.URL(), owner
}

// clients gives each principal a client with a token of its own.
func clients(t *testing.T) func(p principal.Principal) *client.Client {
	t.Helper()
	address, owner := serve(t)
	admin := dial(t, address, client.Options{Token: owner})
	var mu sync.Mutex
	type named struct {
		p principal.Principal
		c *client.Client
	}
	var made []named
	return func(p principal.Principal) *client.Client {
		mu.Lock()
		defer mu.Unlock()
		for _, n := range made {
			if n.p.AgentID == p.AgentID && slices.Equal(n.p.Scopes, p.Scopes) {
				return n.c
			}
		}
		secret := "nobody's"
		switch {
		case p.Has(principal.ScopeAdmin) && p.AgentID == "":
			secret = owner
		case len(p.Scopes) > 0:
			issued, err := client.Send(t.Context(), admin, operational.TokenService.Issue, operational.TokenDraft{AgentID: p.AgentID, Scopes: p.Scopes})
			if err != nil {
				t.Fatal(err)
			}
			secret = issued.Secret
		}
		c := dial(t, address, client.Options{Token: secret})
		made = append(made, named{p, c})
		return c
	}
}

// world is how the operational suites see a router over HTTP.
func world[Service any](t *testing.T, service func(*client.Client) Service) operationaltest.World[Service] {
	as := clients(t)
	return operationaltest.World[Service]{
		As:      func(p principal.Principal) Service { return service(as(p)) },
		Context: principal.With,
	}
}

func TestCommsContract(t *testing.T) {
	commstest.Run(t, func(t *testing.T) func(principal.Principal) commstest.Services {
		as := clients(t)
		return func(p principal.Principal) commstest.Services {
			c := as(p)
			return commstest.Services{Presence: clienttest.Presence{C: c}, Mailbox: clienttest.Mailbox{C: c}}
		}
	})
}

func TestLearningContract(t *testing.T) {
	learningtest.Run(t, func(t *testing.T) learningtest.Services {
		address, _ := serve(t)
		c := dial(t, address, client.Options{})
		return learningtest.Services{Knowledge: clienttest.Knowledge{C: c}, Episodes: clienttest.Episodes{C: c}}
	})
}

func TestExperienceContract(t *testing.T) {
	learningtest.RunExperience(t, func(t *testing.T) (experience.Service, episode.Service) {
		address, _ := serve(t)
		c := dial(t, address, client.Options{})
		return clienttest.Experience{C: c}, clienttest.Episodes{C: c}
	})
}

func TestLessonsContract(t *testing.T) {
	learningtest.RunLessons(t, func(t *testing.T) lesson.Service {
		address, _ := serve(t)
		return clienttest.Lessons{C: dial(t, address, client.Options{})}
	})
}

func TestTasksContract(t *testing.T) {
	operationaltest.Tasks(t, func(t *testing.T) operationaltest.World[operational.TaskService] {
		return world(t, func(c *client.Client) operational.TaskService { return clienttest.Tasks{C: c} })
	})
}

func TestReconContract(t *testing.T) {
	operationaltest.Recon(t, func(t *testing.T) operationaltest.World[operational.ReconService] {
		return world(t, func(c *client.Client) operational.ReconService { return clienttest.Recon{C: c} })
	})
}

func TestTokensContract(t *testing.T) {
	operationaltest.Tokens(t, func(t *testing.T) operationaltest.World[operational.TokenService] {
		return world(t, func(c *client.Client) operational.TokenService { return clienttest.Tokens{C: c} })
	})
}

func TestGuardContract(t *testing.T) {
	learningtest.RunGuard(t, func(t *testing.T) guard.Service {
		address, owner := serve(t)
		c := dial(t, address, client.Options{Token: owner})
		if _, err := client.Send(t.Context(), c, operational.TokenService.Issue, operational.TokenDraft{AgentID: "somebody", Scopes: []principal.Scope{principal.ScopeRead}}); err != nil {
			t.Fatal(err) // before, nothing tells a person from an agent, and nobody switches a pack
		}
		return clienttest.Guard{C: c}
	})
}

func TestMemoriesContract(t *testing.T) {
	learningtest.RunMemories(t, func(t *testing.T) episode.Service {
		address, _ := serve(t)
		return clienttest.Episodes{C: dial(t, address, client.Options{})}
	})
}

func TestSessionsContract(t *testing.T) {
	routertest.RunSessions(t, func(t *testing.T) func(principal.Principal) routertest.World {
		as := clients(t)
		return func(p principal.Principal) routertest.World {
			c := as(p)
			return routertest.World{Sessions: clienttest.Sessions{C: c}, Tasks: clienttest.Tasks{C: c}, Episodes: clienttest.Episodes{C: c}}
		}
	})
}

func TestVerdictContract(t *testing.T) {
	learningtest.RunVerdicts(t, func(t *testing.T) (context.Context, learningtest.VerdictWorld) {
		address, _ := serve(t)
		c := dial(t, address, client.Options{})
		return t.Context(), learningtest.VerdictWorld{Knowledge: clienttest.Knowledge{C: c}, Verdicts: clienttest.Verdicts{C: c}}
	})
}
