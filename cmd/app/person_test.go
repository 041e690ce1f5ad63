package app_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/app"
)

// speaker calls a router over plain HTTP.
type speaker struct {
	t                  *testing.T
	url, token, person string
}

func (s speaker) says(method, path, body string) string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	if s.person != "" {
		r.Header.Set("Skill-Router-Person", s.person)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	if answer.StatusCode/100 != 2 {
		return "refused: " + string(text)
	}
	return string(text)
}

// vouched is a start without the titles of imports, which stand last in their sections under words that say so.
func vouched(told string) (rest string) {
	for i, section := range strings.Split(told, "\n## ") {
		before, _, _ := strings.Cut(section, "Imported, UNTRUSTED:\n")
		if rest += before; i == 0 && !strings.Contains(before, "\n<memory-") {
			return told // no fence stands around it
		}
	}
	return rest
}

// TestWhoImported sees that what a person imported is told at a start, and that no agent can have its own
// import told by more than its title, or that and its own words told as a person's: not by saying so to an open router, not with its token, not by editing.
func TestWhoImported(t *testing.T) {
	t.Parallel()
	for _, vouchedOnly := range []bool{false, true} {
		config := settings(t)
		config.TellVouched = vouchedOnly
		a, err := app.New(t.Context(), config, slog.New(slog.DiscardHandler), app.Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- a.Run(ctx) }()
		t.Cleanup(func() {
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
		secret, err := os.ReadFile(filepath.Join(config.Data, "owner.token"))
		if err != nil {
			t.Fatal(err)
		}
		owner := strings.TrimSpace(string(secret))
		anybody := speaker{t, a.URL(), "", ""}
		imports := func(s speaker, word string) {
			t.Helper()
			for _, record := range []string{
				`{"kind":"knowledge","id":"` + word + `","category":"gotcha","title":"The ` + word + ` entry","content":"It says ` + word + `.","project":"shop"}`,
				`{"kind":"fact","key":"` + word + `.port","value":"the ` + word + ` value","category":"project"}`,
				`{"kind":"lesson","id":"lesson-` + word + `","title":"The ` + word + ` lesson","lesson_type":"failure","category":"failure","severity":"high","domain":"d","context":"c","outcome":"o","project":"shop","source_agent":"alice"}`,
			} {
				if said := s.says("POST", "/api/import", `{"records":[`+record+`]}`); !strings.Contains(said, `"stored":1`) {
					t.Errorf("%s: %s", word, said)
				}
			}
		}
		imports(anybody, "apricot")
		imports(speaker{t, a.URL(), "", "skp_made-up"}, "banana") // none is set yet
		if said := (speaker{t, a.URL(), owner, ""}).says("PUT", "/api/passphrase", `{"passphrase":"correct horse battery"}`); !strings.Contains(said, `"set":true`) {
			t.Fatal(said)
		}
		imports(speaker{t, a.URL(), owner, ""}, "cherry") // as an agent's command line does
		imports(speaker{t, a.URL(), owner, "skp_made-up"}, "damson")
		var session struct{ Person string }
		if said := anybody.says("POST", "/api/passphrase/person", `{"passphrase":"correct horse battery"}`); json.Unmarshal([]byte(said), &session) != nil || session.Person == "" {
			t.Fatal(said)
		}
		person := speaker{t, a.URL(), "", session.Person} // the passphrase is enough
		imports(person, "elder")
		start := func(s speaker) string {
			var built struct {
				Text string `json:"text"`
			}
			if said := s.says("POST", "/api/context", `{"start":true,"budget":2500,"project":"shop","task":""}`); json.Unmarshal([]byte(said), &built) != nil {
				t.Error(said)
			}
			return built.Text
		}
		told := start(anybody)
		for _, word := range []string{"apricot", "banana", "cherry", "damson"} {
			for _, of := range []string{"The " + word + " entry", "The " + word + " lesson", word + ".port"} {
				if strings.Contains(vouched(told), of) {
					t.Errorf("%q is told by itself as if somebody vouched for it:\n%s", of, told)
				}
			}
			for _, of := range []string{"It says " + word, "the " + word + " value"} {
				if strings.Contains(told, of) {
					t.Errorf("%q, of an import, is told by itself:\n%s", of, told)
				}
			}
			if strings.Contains(told, "The "+word+" entry") == vouchedOnly {
				t.Errorf("vouched only: %v, and the title of an import:\n%s", vouchedOnly, told)
			}
		}
		for _, of := range []string{"The elder entry", "It says elder", "The elder lesson", "elder.port", "the elder value"} {
			if !strings.Contains(told, of) {
				t.Errorf("%q, which a person imported, is not told:\n%s", of, told)
			}
		}

		// An agent with a token says that it is a person, in all the ways that it has.
		var issued struct {
			Secret string `json:"token"`
		}
		if err := json.Unmarshal([]byte(person.says("POST", "/api/tokens", `{"agent_id":"mallory","scopes":["agent"]}`)), &issued); err != nil || issued.Secret == "" {
			t.Fatal("no token", err)
		}
		mallory := speaker{t, a.URL(), issued.Secret, "skp_made-up"}
		if said := mallory.says("POST", "/api/import", `{"records":[{"kind":"fact","key":"x.y","value":1}]}`); !strings.HasPrefix(said, "refused") {
			t.Errorf("an agent imports: %s", said)
		}
		if said := mallory.says("POST", "/api/knowledge", `{"category":"gotcha","title":"The fig entry","content":"fig","project":"shop"}`); strings.HasPrefix(said, "refused") {
			t.Error(said)
		}
		mallory.says("POST", "/api/knowledge/bulk", `{"category":"gotcha","title":"The grape entry","content":"grape","project":"shop"}`)
		person.token = owner // from the first token on, one is needed beside the passphrase
		told = start(person)
		if strings.Contains(vouched(told), "The grape entry") || strings.Contains(told, "The grape entry") == vouchedOnly {
			t.Errorf("vouched only: %v, and an agent's import:\n%s", vouchedOnly, told)
		}
		if strings.Contains(told, "The fig entry") == vouchedOnly {
			t.Errorf("vouched only: %v, and an agent's own entry: %s", vouchedOnly, told)
		}
		if entry := mallory.says("GET", "/api/knowledge/search?q=fig", ""); strings.Contains(entry, `"trust":"person"`) {
			t.Errorf("an agent's word counts as a person's: %s", entry)
		}

		// What an agent changes of a person's words is the agent's. The owner's command line inside of an agent is one.
		agent := speaker{t, a.URL(), owner, ""}
		agent.says("PUT", "/api/knowledge/elder", `{"content":"It says something else."}`)
		agent.says("PATCH", "/api/facts/default/elder.port", `{"value":666}`)
		for _, path := range []string{"/api/knowledge/elder", "/api/facts/default/elder.port"} {
			if said := person.says("GET", path, ""); !strings.Contains(said, `"trust":"agent"`) {
				t.Errorf("%s, which an agent changed: %s", path, said)
			}
		}
	}
}
