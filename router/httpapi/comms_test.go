package httpapi_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/comms/commstest"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/operational/store"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/client/clienttest"
	"github.com/skillrouter/skillrouter/router/httpapi"
	"github.com/skillrouter/skillrouter/router/stream"
)

// commsServer serves presence, mailbox and streams on a fresh database, and
// gives out tokens that stand for principals.
func commsServer(t *testing.T) (*httptest.Server, func(p principal.Principal) string) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	db, err := databasetest.OpenIn(t, t.TempDir(), "operational", time.Now, log)
	if err != nil {
		t.Fatal(err)
	}
	committing, stopCommitting := context.WithCancel(context.WithoutCancel(t.Context()))
	running, stopRunning := context.WithCancel(committing)
	var committer, runners sync.WaitGroup
	committer.Go(func() { _ = db.Commit.Run(committing) })
	s := store.New(db.Read, db.Commit)
	tokens, err := operational.OpenTokens(t.Context(), s, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	presence, err := comms.NewPresence(t.Context(), s, operational.NewTasks(s, time.Now), time.Now, log, comms.PresenceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	mailbox, err := comms.NewMailbox(t.Context(), presence, s, log, comms.MailboxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	runners.Go(func() { _ = presence.Run(running) })
	runners.Go(func() { _ = mailbox.Run(running) })
	hub := stream.New(mailbox, func(w http.ResponseWriter, _ *http.Request, err error) { httpapi.WriteProblem(w, err) }, log)
	server := httptest.NewServer(httpapi.New(httpapi.Services{Auth: tokens, Presence: presence, Mailbox: mailbox, Messages: hub}, httpapi.Options{}))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(committing, 2*time.Second)
		defer cancel()
		err := hub.Shutdown(ctx)
		server.Close()
		stopRunning()
		runners.Wait()
		stopCommitting()
		committer.Wait()
		if err := errors.Join(err, db.Close()); err != nil {
			t.Error(err)
		}
	})
	return server, func(p principal.Principal) string {
		issued, err := tokens.Issue(principal.With(t.Context(), principal.System()), operational.TokenDraft{AgentID: p.AgentID, Scopes: p.Scopes})
		if err != nil {
			t.Fatal(err)
		}
		return issued.Secret
	}
}

func TestCommsContractOverHTTP(t *testing.T) {
	commstest.Run(t, func(t *testing.T) func(principal.Principal) commstest.Services {
		server, secret := commsServer(t)
		return func(p principal.Principal) commstest.Services {
			c, err := client.New(server.URL, client.Options{Token: secret(p)})
			if err != nil {
				t.Fatal(err)
			}
			return commstest.Services{Presence: clienttest.Presence{C: c}, Mailbox: clienttest.Mailbox{C: c}}
		}
	})
}

func TestMessageStreamRefusals(t *testing.T) {
	server, secret := commsServer(t)
	token := secret(commstest.Agent("a1"))
	for name, one := range map[string]struct {
		query, token, lastEventID string
		status                    int
		detail                    string
	}{
		"no token":            {"agent_id=a1", "", "", http.StatusUnauthorized, "token"},
		"no agent":            {"", token, "", http.StatusBadRequest, "agent_id"},
		"another's mailbox":   {"agent_id=a2", token, "", http.StatusForbidden, "another agent"},
		"an id of letters":    {"agent_id=a1", token, "x", http.StatusBadRequest, "Last-Event-ID"},
		"a negative id":       {"agent_id=a1&last_event_id=-1", token, "", http.StatusBadRequest, "last_event_id"},
		"an id out of range":  {"agent_id=a1&last_event_id=99999999999999999999", token, "", http.StatusBadRequest, "last_event_id"},
		"a space in the id":   {"agent_id=a1&last_event_id=%201", token, "", http.StatusBadRequest, "last_event_id"},
		"an id that is no id": {"agent_id=a%0a1", token, "", http.StatusBadRequest, "agent_id"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/messages?"+one.query, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+one.token)
			if one.token == "" {
				r.Header.Del("Authorization")
			}
			if one.lastEventID != "" {
				r.Header.Set("Last-Event-ID", one.lastEventID)
			}
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			body := make([]byte, 4096)
			n, _ := answer.Body.Read(body)
			if answer.StatusCode != one.status || answer.Header.Get("Content-Type") != "application/problem+json" || !strings.Contains(string(body[:n]), one.detail) {
				t.Errorf("the answer is %d %s %s, want %d and %q", answer.StatusCode, answer.Header.Get("Content-Type"), body[:n], one.status, one.detail)
			}
		})
	}
}
