package client_test

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/operational/operationaltest"
	"github.com/skillrouter/skillrouter/operational/store"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/client/clienttest"
	"github.com/skillrouter/skillrouter/router/httpapi"
	"github.com/skillrouter/skillrouter/router/reminder"
)

// TestRemindersContract runs the contract over HTTP. It serves the reminders
// alone, on a clock that the test moves.
func TestRemindersContract(t *testing.T) {
	operationaltest.Reminders(t, func(t *testing.T) operationaltest.ReminderWorld {
		var mu sync.Mutex
		at := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
		now := func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return at
		}
		log := slog.New(slog.DiscardHandler)
		db, err := databasetest.OpenIn(t, t.TempDir(), "operational", time.Now, log)
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
		presence, err := comms.NewPresence(t.Context(), s, nil, now, log, comms.PresenceOptions{})
		if err != nil {
			t.Fatal(err)
		}
		mailbox, err := comms.NewMailbox(t.Context(), presence, s, log, comms.MailboxOptions{})
		if err != nil {
			t.Fatal(err)
		}
		svc := operational.NewReminders(s, operational.ReminderOptions{Now: now, Mail: mailbox, Recipients: reminder.NewRoster(presence, now)})
		server := httptest.NewServer(httpapi.New(httpapi.Services{Auth: tokens, Tokens: tokens, Reminders: svc}, httpapi.Options{}))
		t.Cleanup(func() {
			server.Close()
			stop()
			running.Wait()
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		return operationaltest.ReminderWorld{
			World: operationaltest.World[operational.ReminderService]{
				As: func(p principal.Principal) operational.ReminderService {
					issued, err := tokens.Issue(principal.With(t.Context(), principal.System()), operational.TokenDraft{AgentID: p.AgentID, Scopes: p.Scopes})
					if err != nil {
						t.Fatal(err)
					}
					return clienttest.Reminders{C: dial(t, server.URL, client.Options{Token: issued.Secret})}
				},
				Context: principal.With,
			},
			Now: now,
			Advance: func(t *testing.T, d time.Duration) {
				t.Helper()
				mu.Lock()
				at = at.Add(d)
				mu.Unlock()
				if _, err := svc.Tick(t.Context()); err != nil {
					t.Fatal(err)
				}
			},
			Mail: func(t *testing.T, agent string) []operational.Message {
				t.Helper()
				messages, _, err := s.Mail(t.Context(), operational.MailQuery{AgentID: agent, Now: time.Unix(0, 0), Limit: 1000})
				if err != nil {
					t.Fatal(err)
				}
				return messages
			},
		}
	})
}
