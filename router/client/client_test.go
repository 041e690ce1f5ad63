package client_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/client/clienttest"
)

func TestNewRefuses(t *testing.T) {
	for _, address := range []string{"", "127.0.0.1:8025", "ftp://x", "http://", "http://u:p@h", "http://h?q", "http://h#f", "http://h\n", "unix:///x"} {
		if _, err := client.New(address, client.Options{}); errs.FieldOf(err) != "server" {
			t.Errorf("New(%q): %v", address, err)
		}
	}
	if _, err := client.New("http://h", client.Options{Token: "a\r\nX: y"}); errs.FieldOf(err) != "token" {
		t.Errorf("a token with a line break: %v", err)
	}
}

func TestProblems(t *testing.T) {
	tests := []struct {
		name, body string
		status     int
		want       errs.Error
	}{
		{"field", `{"title":"Bad Request","status":400,"detail":"agent_id is required","error":"agent_id is required","code":"invalid","field":"agent_id"}`, 400, errs.Error{Code: errs.Invalid, Field: "agent_id", Message: "is required"}},
		{"no field", `{"detail":"it is held already","code":"conflict"}`, 409, errs.Error{Code: errs.Conflict, Message: "it is held already"}},
		{"error alone", `{"error":"full","code":"storage_full"}`, 507, errs.Error{Code: errs.StorageFull, Message: "full"}},
		{"a proxy's page", `<html>`, 502, errs.Error{Code: errs.Unavailable, Message: "answered 502 Bad Gateway, and not as a router does"}},
		{"another program", `{"error":"what?"}`, 404, errs.Error{Code: errs.NotFound, Message: "not as a router does"}},
		{"redirection", ``, 302, errs.Error{Code: errs.Invalid, Message: "302"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
				w.WriteHeader(test.status)
				fmt.Fprint(w, test.body)
			}))
			defer server.Close()
			_, err := client.Send(t.Context(), dial(t, server.URL, client.Options{}), comms.PresenceService.Heartbeat, comms.Heartbeat{AgentID: "a"})
			if errs.CodeOf(err) != test.want.Code || errs.FieldOf(err) != test.want.Field || !strings.HasSuffix(errs.MessageOf(err), test.want.Message) && !strings.Contains(errs.MessageOf(err), test.want.Message) {
				t.Errorf("got %v, want %v", err, &test.want)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + listener.Addr().String()
	listener.Close()
	_, err = dial(t, address, client.Options{}).System.Health(t.Context())
	if errs.CodeOf(err) != errs.Unavailable || !strings.Contains(errs.MessageOf(err), "skillrouter serve") {
		t.Errorf("nobody listens: %v", err)
	}

	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	_, err = dial(t, server.URL, client.Options{Timeout: 20 * time.Millisecond}).System.Health(t.Context())
	if errs.CodeOf(err) != errs.Unavailable || !strings.Contains(errs.MessageOf(err), "in time") {
		t.Errorf("no answer: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = dial(t, server.URL, client.Options{}).System.Health(ctx); errs.CodeOf(err) != errs.Unavailable || !strings.Contains(errs.MessageOf(err), "given up") {
		t.Errorf("cancelled: %v", err)
	}
}

func TestAnswersAreChecked(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>hello") }))
	defer server.Close()
	if _, err := dial(t, server.URL, client.Options{}).System.Health(t.Context()); errs.CodeOf(err) != errs.Unavailable {
		t.Errorf("a page instead of an answer: %v", err)
	}
}

// TestRequests holds what is sent to the paths and parameters of the HTTP interface.
func TestRequests(t *testing.T) {
	var got, body, auth string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got, body, auth = r.Method+" "+r.RequestURI, string(text), r.Header.Get("Authorization")
		fmt.Fprint(w, "{}")
	}))
	defer server.Close()
	c := dial(t, server.URL+"/", client.Options{Token: "s3cret"})
	ctx := t.Context()
	tests := []struct {
		name string
		call func() error
		want string
		body string
	}{
		{"agents", func() error {
			_, err := client.Send(ctx, c, comms.PresenceService.Agents, operational.AgentFilter{State: operational.AgentStale, Limit: 5})
			return err
		}, "GET /api/agents?limit=5&state=stale", ""},
		{"agent", func() error { _, err := client.Send(ctx, c, comms.PresenceService.Agent, "a:b"); return err }, "GET /api/agents/a:b", ""},
		{"agent named as the parent folder", func() error { _, err := client.Send(ctx, c, comms.PresenceService.Agent, ".."); return err }, "GET /api/agents/%2E%2E", ""},
		{"entry with a slash", func() error { _, err := client.Send(ctx, c, knowledge.Service.Entry, "a/b?c"); return err }, "GET /api/knowledge/a%2Fb%3Fc", ""},
		{"delete", func() error { return clienttest.Have(ctx, c, knowledge.Service.Delete, "k1") }, "DELETE /api/knowledge/k1", ""},
		{"inbox", func() error {
			_, err := client.Send(ctx, c, comms.MailboxService.Inbox, comms.InboxQuery{AgentID: "a", Since: 3, Unacked: true})
			return err
		}, "GET /messages/inbox?agent_id=a&since=3&unacked=true", ""},
		{"signal", func() error {
			_, err := client.Send(ctx, c, comms.MailboxService.Send, operational.MessageDraft{From: "a", To: "b", Signal: "stop"})
			return err
		}, "POST /signal", `{"from_agent_id":"a","to_agent_id":"b","signal":"stop"}`},
		{"receipts", func() error { _, err := client.Send(ctx, c, comms.MailboxService.Receipts, "m1"); return err }, "GET /messages/m1/receipts", ""},
		{"recent", func() error {
			_, err := client.Send(ctx, c, episode.Service.Recent, episode.Filter{AgentID: "a", Since: time.UnixMilli(1500).UTC()})
			return err
		}, "GET /api/episodes/recent?agent_id=a&since=1970-01-01T00%3A00%3A01.5Z", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := test.call(); err != nil {
				t.Fatal(err)
			}
			if got != test.want || body != test.body {
				t.Errorf("sent %s %s\nwant %s %s", got, body, test.want, test.body)
			}
			if auth != "Bearer s3cret" {
				t.Errorf("authorization is %q", auth)
			}
		})
	}
	if _, err := client.Send(ctx, c, comms.PresenceService.Agent, ""); errs.FieldOf(err) != "id" {
		t.Errorf("an empty id: %v", err)
	}
}

// TestFields holds that New fills each field of a Client.
func TestFields(t *testing.T) {
	c, err := client.New("http://127.0.0.1:1", client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for field, value := range reflect.ValueOf(c).Elem().Fields() {
		if field.IsExported() && value.IsZero() {
			t.Errorf("New leaves out %s", field.Name)
		}
	}
}
