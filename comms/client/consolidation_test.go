package client_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"skillrouter/cmd/app"
	"skillrouter/cmd/config"
	"skillrouter/comms/client"
	"skillrouter/learning"
	"skillrouter/learning/learningtest"
)

// consolidating runs a whole router that accepts proposals from threshold, until the test ends or stop is called.
func consolidating(t *testing.T, dir string, threshold float64) (c *client.Client, stop func()) {
	t.Helper()
	settings := config.Default()
	settings.Data, settings.Listen, settings.Consolidation.Threshold = dir, "127.0.0.1:0", threshold
	a, err := app.New(t.Context(), settings, slog.New(slog.DiscardHandler), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	stopped := false
	stop = func() {
		if !stopped {
			stopped = true
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(stop)
	return dial(t, a.URL(), client.Options{}), stop
}

func TestConsolidationContract(t *testing.T) {
	learningtest.Consolidation(t, func(t *testing.T, threshold float64) learningtest.ConsolidationWorld {
		c, _ := consolidating(t, t.TempDir(), threshold)
		return learningtest.ConsolidationWorld{Consolidation: c.Consolidation, Facts: c.Facts, Episodes: c.Episodes}
	})
}

// TestProposedProcedure accepts a procedure, restarts, and asks again.
func TestProposedProcedure(t *testing.T) {
	dir := t.TempDir()
	draft := learning.TranscriptDraft{AgentID: "a", Text: "Assistant:\n" + strings.Repeat(
		"$ docker build -t reg/web:1.0 web\nSuccessfully built 1\n$ docker push reg/web:1.0\n1.0: digest\n", 2) +
		"$ docker build -t reg/web:1.1 web\nSuccessfully built 2\n$ docker push reg/web:1.1\n1.1: digest\n"}
	c, stop := consolidating(t, dir, 0)
	got, err := c.Consolidation.Consolidate(t.Context(), draft)
	if err != nil || len(got.Proposals) != 1 || got.Proposals[0].Kind != learning.ProposalProcedure {
		t.Fatalf("%+v, %v", got, err)
	}
	accepted, err := c.Consolidation.Accept(t.Context(), got.Proposals[0].ID)
	if err != nil || accepted.StoredAs == "" {
		t.Fatalf("%+v, %v", accepted, err)
	}
	procedure, err := c.Procedures.Procedure(t.Context(), learning.ProcedureRef{Name: accepted.StoredAs})
	if err != nil || len(procedure.Steps) != 2 || len(procedure.Params) != 1 || !strings.Contains(procedure.Steps[0].Run, "${") || procedure.Author != "a" {
		t.Errorf("%+v, %v", procedure, err)
	}
	stop()
	c, _ = consolidating(t, dir, 0)
	again, err := c.Consolidation.Consolidate(t.Context(), draft)
	if err != nil || !again.Duplicate || again.Proposals[0].Status != learning.ProposalAccepted {
		t.Errorf("%+v, %v", again, err)
	}
	if again, err := c.Procedures.Procedure(t.Context(), learning.ProcedureRef{Name: accepted.StoredAs}); err != nil || again.Version != procedure.Version {
		t.Errorf("version %d, %v", again.Version, err)
	}
}
