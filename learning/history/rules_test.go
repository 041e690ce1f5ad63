package history_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/learning/history"
)

func extract(t *testing.T, text string) []history.ProposalDraft {
	t.Helper()
	turns, err := history.ReadTranscript(text)
	if err != nil {
		t.Fatal(err)
	}
	drafts, err := history.Rules{}.Extract(t.Context(), history.Transcript{Persona: "default", Turns: turns})
	if err != nil {
		t.Fatal(err)
	}
	return drafts
}

// TestStatedFacts holds sentences to what they state.
func TestStatedFacts(t *testing.T) {
	for sentence, want := range map[string]string{
		"The test command is `pytest -q`.":                       "project.test_command=\"pytest -q\"",
		"Our deploy command is now `make deploy ENV=prod`.":      "project.deploy_command=\"make deploy ENV=prod\"",
		"the API listens on port 8080":                           "api.port=8080",
		"The API server is running on port 8080 now.":            "api_server.port=8080",
		"The database port is 5433.":                             "database.port=5433",
		"The API's port is `8080`.":                              "api.port=8080",
		"No, actually the api port is now 8080":                  "api.port=8080",
		"The staging URL is https://staging.example.com/app":     "staging.url=\"https://staging.example.com/app\"",
		"The dashboard is at https://grafana.example.com/d/abc.": "dashboard.url=\"https://grafana.example.com/d/abc\"",
		"The admin page lives under <https://a.example/x>.":      "admin_page.url=\"https://a.example/x\"",
		"Access tokens expire after 15 minutes.":                 "",
		"Is the port 8080?":                                      "",
		"If the API port is 8080, it works.":                     "",
		"Maybe the API port is 8080.":                            "",
		"I think the API listens on port 8080.":                  "",
		"The API port is not 8080.":                              "",
		"The API doesn't listen on port 8080.":                   "",
		"The API listened on port 8080.":                         "",
		"It listens on port 8080.":                               "",
		"It is 8080.":                                            "",
		"The database is PostgreSQL 16.":                         "", // a model finds such as this
		"The password is hunter2.":                               "",
		"The secret command is `sk-12345`.":                      "",
		"What is the test command?":                              "",
		"Let me check whether the API listens on port 8080.":     "",
		"The API should listen on port 8080.":                    "",
		"The API listens on port 8080 or 8081.":                  "",
		"He, who knows no name with so many words, port is 8080": "",
	} {
		t.Run(sentence, func(t *testing.T) {
			got := ""
			for _, d := range extract(t, "User: "+sentence) {
				if d.Fact != nil {
					got += d.Fact.Key + "=" + string(d.Fact.Value)
				}
			}
			if got != want {
				t.Errorf("%s states %q, want %q", sentence, got, want)
			}
		})
	}
}

// TestCorrections: what is said later corrects what was said before, and a port the address that holds it.
func TestCorrections(t *testing.T) {
	got := map[string]string{}
	for _, d := range extract(t, "User: The staging API is at https://staging.example.com:8443/v1. The metrics port is 9100.\nAssistant: Noted.\nUser: No, actually the staging API port is 9443.\nUser: No, it's 9200.") {
		if d.Fact != nil {
			got[d.Fact.Key] = string(d.Fact.Value)
		}
	}
	want := map[string]string{"staging_api.url": `"https://staging.example.com:9200/v1"`, "staging_api.port": "9200", "metrics.port": "9100"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestReleaseKeepsItsTag: a release that was made twice is a procedure with all its steps.
func TestReleaseKeepsItsTag(t *testing.T) {
	text := ""
	for _, v := range []string{"v1.2", "v1.3"} {
		for _, c := range []string{"make test", "git tag " + v, "git push origin " + v, "gh release create " + v + " --notes-file notes-" + v + ".md"} {
			text += "Assistant: $ " + c + "\nTool: ok\n"
		}
	}
	drafts := extract(t, text)
	if len(drafts) != 1 || drafts[0].Procedure == nil {
		t.Fatalf("%+v", drafts)
	}
	var steps []string
	for _, s := range drafts[0].Procedure.Steps {
		steps = append(steps, s.Run)
	}
	if diff := cmp.Diff([]string{"make test", "git tag ${version}", "git push origin ${version}", "gh release create ${version} --notes-file ${value2}"}, steps); diff != "" {
		t.Error(diff)
	}
}

// TestProcessNumberIsNoFix: what ends one process of one session is told without its number.
func TestProcessNumberIsNoFix(t *testing.T) {
	for fix, want := range map[string]string{"kill 4711": "kill PID", "kill -9 4711": "kill -9 PID", `psql -c "SELECT pg_terminate_backend(812)"`: `psql -c "SELECT pg_terminate_backend(PID)"`} {
		drafts := extract(t, "Assistant: $ npm start\nTool: Error: listen EADDRINUSE: address already in use :::3000\nAssistant: $ "+fix+"\nTool: \nAssistant: $ npm start\nTool: listening")
		if len(drafts) != 1 || drafts[0].Episode == nil || !strings.Contains(drafts[0].Episode.Content, "Fix: "+want+"\n") {
			t.Errorf("%s: %+v", fix, drafts)
		}
	}
}

// TestDecisionsAreProposed: what a person decides in a transcript that is handed in is proposed.
func TestDecisionsAreProposed(t *testing.T) {
	for said, proposed := range map[string]bool{
		"We never commit to main.": true, "Run migrations only after 20:00.": true, "Keep orders in Postgres, do not propose Mongo.": true,
		"We decided to keep the old importer until March.": true, "Let me look at the importer.": false, "Can you always reproduce it?": false,
	} {
		drafts := extract(t, "User: "+said+"\nAssistant: Fine.")
		if got := len(drafts) == 1 && drafts[0].Episode != nil && drafts[0].Episode.EventType == "decision"; got != proposed || len(drafts) > 1 {
			t.Errorf("%s: %+v", said, drafts)
		}
	}
	if drafts := extract(t, "User: Go on.\nAssistant: We never commit to main.\nTool: You must never commit to main."); len(drafts) != 0 {
		t.Errorf("what no person said is proposed: %+v", drafts)
	}
}
