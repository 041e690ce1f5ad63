package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

// commsEcho is presence and mailbox that answer what they were asked, as far as it
// fits into the answer.
type commsEcho struct {
	comms.PresenceService
	comms.MailboxService
}

func (commsEcho) Heartbeat(_ context.Context, b comms.Heartbeat) (comms.HeartbeatAnswer, error) {
	if b.AgentID == "" {
		return comms.HeartbeatAnswer{}, errs.InvalidField("agent_id", "is required")
	}
	said, err := json.Marshal(b)
	return comms.HeartbeatAnswer{Timestamp: time.UnixMilli(0).UTC(), StopReason: string(said)}, err
}

func (commsEcho) Send(_ context.Context, d operational.MessageDraft) (comms.Sent, error) {
	said, err := json.Marshal(d)
	return comms.Sent{Target: string(said)}, err
}

func echoServer() http.Handler {
	return httpapi.New(httpapi.Services{Presence: commsEcho{}, Mailbox: commsEcho{}}, httpapi.Options{})
}

// TestStrictMembers: a checker in front that takes the first of two members, or
// tells their case apart, sees another agent than the router. S9b, S9c.
func TestStrictMembers(t *testing.T) {
	server := echoServer()
	for _, kind := range []string{"application/json", "application/json; charset=utf-8"} {
		for body, field := range map[string]string{ // "": it is answered
			`{"agent_id":"a"}`:                                 "",
			`{"agent_id":"a","AGENT_ID":"b"}`:                  "AGENT_ID",
			`{"Agent_id":"b"}`:                                 "Agent_id",
			`{"agent_id":"a","agent_id":"b"}`:                  "agent_id",
			`{"agent_id":"a","\u0061gent_id":"b"}`:             "agent_id",
			`{"agent_id":"a","current_task":"\ud800"}`:         "current_task",
			`{"agent_id":"a","current_task":"\ud83d\ude00"}`:   "",
			`{"agent_id":"a","current_task":"\\ud800 \u00e4"}`: "",
		} {
			w := call(server, http.MethodPost, "/heartbeat", map[string]string{"Content-Type": kind}, body)
			if field == "" && w.Code != http.StatusOK {
				t.Errorf("%s as %s: %d %s", body, kind, w.Code, w.Body)
			}
			if field != "" && (w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"field":"`+field+`"`)) {
				t.Errorf("%s as %s: %d %s; want 400 and the field", body, kind, w.Code, w.Body)
			}
		}
		free := `{"from_agent_id":"a","signal":"s","context":{"x":"\ud800","y":1,"y":2,"Y":3}}`
		if w := call(server, http.MethodPost, "/signal", map[string]string{"Content-Type": kind}, free); w.Code != http.StatusOK {
			t.Errorf("a context that nobody describes: %d %s", w.Code, w.Body)
		}
	}
}

func BenchmarkHeartbeat(b *testing.B) {
	server := echoServer()
	b.ReportAllocs()
	for b.Loop() {
		call(server, http.MethodPost, "/heartbeat", map[string]string{"Content-Type": "application/json"}, `{"agent_id":"builder-1","config_name":"team","project_path":"/srv/app","status":"working","current_task":"Mend the build","pid":4711,"model":"m","role":"builder"}`)
	}
}
