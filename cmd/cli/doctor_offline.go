package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"skillrouter"
	"skillrouter/cmd/app"
	"skillrouter/router/client"
)

// offlineProof is what doctor --offline-proof prints.
type offlineProof struct {
	Airgapped bool              `json:"airgapped"` // no connection leaves this machine
	Router    bool              `json:"router"`    // the running router said so; else it is what the settings would make of one
	Places    []client.Outbound `json:"places"`
}

// proveOffline lists what may open a connection: in the router, and in the commands that call it.
func (s *shell) proveOffline(ctx context.Context) error {
	settings, err := s.settings()
	if err != nil {
		return err
	}
	server, err := s.place().Address()
	if err != nil {
		return err
	}
	c, err := client.New(server, client.Options{Token: s.place().Secret(server)})
	if err != nil {
		return usageError{errors.New(explain(err))}
	}
	proof := offlineProof{Airgapped: true, Router: true}
	proof.Places, err = c.System.Outbounds(ctx)
	if skillrouter.CodeOf(err) == skillrouter.Unavailable {
		proof.Router = false
		for _, place := range app.Outbounds(settings.Config) {
			proof.Places = append(proof.Places, client.Outbound(place))
		}
	} else if err != nil {
		return err // a router that does not say is no proof
	}
	proof.Places = append(proof.Places, client.Outbound{
		Name: "commands", Purpose: "call the router", Setting: "--server", On: true, Target: server, Leaves: !app.OnThisMachine(server),
	})
	for _, place := range proof.Places {
		proof.Airgapped = proof.Airgapped && !place.Leaves
	}
	return s.printOr(!proof.Airgapped, proof, func(w io.Writer) { offlineText(w, proof) })
}

func offlineText(w io.Writer, proof offlineProof) {
	leaving := 0
	columns[client.Outbound]{
		heads: []string{"PLACE", "STATE", "SWITCHED ON BY", "DIALS", "WHAT FOR"},
		cells: func(place client.Outbound) cells {
			state := "off"
			switch {
			case place.Leaves:
				state = "ON"
				leaving++
			case place.On:
				state = "this machine"
			}
			return cells{place.Name, state, place.Setting, place.Target, place.Purpose}
		},
	}.list(w, proof.Places)
	from := "the running router says so"
	if !proof.Router {
		from = "by the settings; no router is running"
	}
	if leaving == 0 {
		fmt.Fprintf(w, "\nAirgapped: no connection leaves this machine (%s).\n", from)
		return
	}
	fmt.Fprintf(w, "\nNOT airgapped: %s may leave this machine (%s).\n", plural(leaving, "connection"), from)
}
