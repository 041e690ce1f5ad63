package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"skillrouter/comms"
	"skillrouter/internal/errs"
	"skillrouter/operational"
	"skillrouter/router/httpapi"
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

var bodies = []string{
	`{"agent_id":"a","status":"x","pid":3}`, ` { "agent_id" : "a" , "pid" : 3 } `, `{}`, `[]`, `null`, `1`, `"x"`, ``, `{`, `{"agent_id":"a"}x`, `{"agent_id":"a"}{}`,
	`{"AGENT_ID":"a"}`, `{"agent_id":"a","Status":"x"}`, `{"agent_id":null}`, `{"agent_id":"a","pid":null}`, `{"agent_id":"a","pid": null}`, `{"agent_id":"a","pid":1.5}`, `{"agent_id":"a","pid":"1"}`,
	`{"agent_id":"a","pid":1e2}`, `{"agent_id":"a","pid":99999999999999999999}`, `{"agent_id":"a","more":1}`, `{"agent_id":"a","\u0073tatus":"x"}`, `{"agent_id":"a","agent_id":"b"}`,
	`{"agent_id":"a\"b:{","status":"}"}`, "{\"agent_id\":\"a\xff\"}", `{"agent_id":"\ud800"}`, `{"agent_id":["a"]}`, `{"agent_id":"a","status":{"agent_id":"b"}}`,
	`{"agent_id":"a","status":"x","Status":"y"}`, `{"agent_id":"a","status":"x","stat\u0075s":"y"}`, `{"agent_id":"a","status":"\ud83d\ude00"}`, `{"agent_id":"a","status":"\uDC00"}`, `{"agent_id":"a","status":"\\ud800"}`,
	`{"from_agent_id":"a","signal":"s","context":{"a":"\ud800","a":1,"A":2}}`, `{"from_agent_id":"a","signal":"\udfff","context":{}}`, `{"from_agent_id":"a","signal":"s","signal":"stop"}`,
	`{"from_agent_id":"a","signal":"s","context":{"a":null,"more":[{"x":1}],"b":{"signal":2}}}`, `{"from_agent_id":"a","signal":"s","context":null}`, `{"from_agent_id":"a","signal":"s","context":[1]}`,
	`{"from_agent_id":"a","signal":"s","ack_required":true,"priority":-2,"ttl_seconds":5}`, `{"from_agent_id":"a","signal":"s","ack_required":"true"}`, `{"from_agent_id":"a"}`, `{"signal":"s","context":"x"}`,
}

// checkShortCut compares what the short cut answers with what the typed route
// does; a parameter of the content type leads around the short cut.
func checkShortCut(t *testing.T, server http.Handler, path, body string) {
	t.Helper()
	short := call(server, http.MethodPost, path, map[string]string{"Content-Type": "application/json"}, body)
	typed := call(server, http.MethodPost, path, map[string]string{"Content-Type": "application/json; charset=utf-8"}, body)
	if short.Code != typed.Code {
		t.Errorf("%s %q is answered\n%d %s, and by the typed route\n%d %s", path, body, short.Code, short.Body, typed.Code, typed.Body)
		return
	}
	if short.Code < 300 {
		var a, b any
		if json.Unmarshal(short.Body.Bytes(), &a) != nil || json.Unmarshal(typed.Body.Bytes(), &b) != nil {
			t.Fatalf("%q is answered with no JSON", body)
		}
		x, _ := json.Marshal(a)
		y, _ := json.Marshal(b)
		if string(x) != string(y) || short.Header().Get("Content-Type") != typed.Header().Get("Content-Type") {
			t.Errorf("%s %q is answered\n%s %s, and by the typed route\n%s %s", path, body, short.Header().Get("Content-Type"), x, typed.Header().Get("Content-Type"), y)
		}
	}
}

func hotServer() http.Handler {
	return httpapi.New(httpapi.Services{Presence: commsEcho{}, Mailbox: commsEcho{}}, httpapi.Options{})
}

func TestShortCutAnswersAsTheTypedRoute(t *testing.T) {
	server := hotServer()
	for _, path := range []string{"/heartbeat", "/signal"} {
		for _, body := range bodies {
			checkShortCut(t, server, path, body)
		}
	}
}

// TestStrictMembers: a checker in front that takes the first of two members, or
// tells their case apart, sees another agent than the router. S9b, S9c.
func TestStrictMembers(t *testing.T) {
	server := hotServer()
	for _, kind := range []string{"application/json", "application/json; charset=utf-8"} { // by the short cut and by the typed route
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
	server := hotServer()
	for name, kind := range map[string]string{"short": "application/json", "typed": "application/json; charset=utf-8"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				call(server, http.MethodPost, "/heartbeat", map[string]string{"Content-Type": kind}, `{"agent_id":"builder-1","config_name":"team","project_path":"/srv/app","status":"working","current_task":"Mend the build","pid":4711,"model":"m","role":"builder"}`)
			}
		})
	}
}

func FuzzShortCut(f *testing.F) {
	for _, body := range bodies {
		f.Add(body)
	}
	server := hotServer()
	f.Fuzz(func(t *testing.T, body string) {
		checkShortCut(t, server, "/heartbeat", body)
		checkShortCut(t, server, "/signal", body)
	})
}
