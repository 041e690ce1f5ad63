package client_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/operational/operationaltest"
	"github.com/skillrouter/skillrouter/operational/store"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/client/clienttest"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

// TestEscalationsContract runs the contract over HTTP. It serves the
// escalations alone: over the whole router only a lesson can raise one.
func TestEscalationsContract(t *testing.T) {
	operationaltest.Escalations(t, func(t *testing.T) operationaltest.EscalationWorld {
		db, err := databasetest.OpenIn(t, t.TempDir(), "operational", time.Now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = db.Commit.Run(ctx) })
		s := store.New(db.Read, db.Commit)
		tokens, err := operational.OpenTokens(t.Context(), s, time.Now, operational.DigestOf("owner"))
		if err != nil {
			t.Fatal(err)
		}
		svc := operational.NewEscalations(s, time.Now)
		server := httptest.NewServer(httpapi.New(httpapi.Services{Auth: tokens, Tokens: tokens, Escalations: svc}, httpapi.Options{}))
		t.Cleanup(func() {
			server.Close()
			stop()
			running.Wait()
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		seq := int64(0)
		return operationaltest.EscalationWorld{
			World: operationaltest.World[operational.EscalationService]{
				As: func(p principal.Principal) operational.EscalationService {
					issued, err := tokens.Issue(principal.With(t.Context(), principal.System()), operational.TokenDraft{AgentID: p.AgentID, Scopes: p.Scopes})
					if err != nil {
						t.Fatal(err)
					}
					return clienttest.Escalations{C: dial(t, server.URL, client.Options{Token: issued.Secret})}
				},
				Context: principal.With,
			},
			Raise: func(t *testing.T, drafts ...operational.EscalationDraft) {
				t.Helper()
				seq++
				if _, err := svc.Raise(t.Context(), drafts, operational.Cursor{Name: "test", Seq: seq}); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}
