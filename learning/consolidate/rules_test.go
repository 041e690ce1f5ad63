package consolidate_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/learning/consolidate"
)

func extract(t *testing.T, text string) []consolidate.ProposalDraft {
	t.Helper()
	turns, err := consolidate.ReadTranscript(text)
	if err != nil {
		t.Fatal(err)
	}
	drafts, err := consolidate.Rules{}.Extract(t.Context(), consolidate.Transcript{Persona: "default", Turns: turns})
	if err != nil {
		t.Fatal(err)
	}
	return drafts
}

// TestStatedFacts holds sentences to what they state.
func TestStatedFacts(t *testing.T) {
	for sentence, want := range map[string]string{
		"The test command is `pytest -q`.":                       "project.test_command=\"pytest -q\"",
		"the API listens on port 8080":                           "api.port=8080",
		"The API server is running on port 8080 now.":            "api_server.port=8080",
		"Our default branch is main.":                            "project.default_branch=\"main\"",
		"The staging URL is https://staging.example.com/app":     "staging.url=\"https://staging.example.com/app\"",
		"DB_HOST = db.internal":                                  "db_host=\"db.internal\"",
		"max_connections = 100":                                  "project.max_connections=100",
		"The max upload size is 25 MB.":                          "max_upload.size=\"25 MB\"",
		"Note that the port of the API is 8080.":                 "api.port=8080",
		"the API's timeout is 30 seconds":                        "api.timeout=\"30 seconds\"",
		"To run the tests, use `make test`.":                     "project.test_command=\"make test\"",
		"Tests are run with `go test ./...`":                     "project.test_command=\"go test ./...\"",
		"To deploy, run `make deploy ENV=prod`.":                 "project.deploy_command=\"make deploy ENV=prod\"",
		"The config lives in `config/app.yaml`.":                 "config.path=\"config/app.yaml\"",
		"The dashboard is at https://grafana.example.com/d/abc.": "dashboard.url=\"https://grafana.example.com/d/abc\"",
		"MRR baseline is 75000":                                  "mrr.baseline=75000",
		"server.port = 9090":                                     "server.port=9090",
		"The database is PostgreSQL 16.":                         "project.database=\"PostgreSQL 16\"",
		"The database port is 5433.":                             "database.port=5433",
		"The package manager is pnpm.":                           "project.package_manager=\"pnpm\"",
		"debug = true":                                           "project.debug=true",
		"Access tokens expire after 15 minutes.":                 "",
		"Is the port 8080?":                                      "",
		"If the port is 8080, it works.":                         "",
		"Maybe the port is 8080.":                                "",
		"I think the port is 8080.":                              "",
		"We use pnpm, not npm, in this repo.":                    "", // a model finds such as this
		"The port is not 8080.":                                  "",
		"The port isn't 8080.":                                   "",
		"It is 8080.":                                            "",
		"This is `main`.":                                        "",
		"The code is ugly.":                                      "",
		"The build is broken.":                                   "",
		"The problem is `foo`.":                                  "",
		"The port was 8080.":                                     "",
		"The port will be 8080.":                                 "",
		"The password is hunter2.":                               "",
		"The API key is `sk-12345`.":                             "",
		"There are 3 tests.":                                     "",
		"The next step is to run the tests.":                     "",
		"What is the test command?":                              "",
		"You are right.":                                         "",
		"The function returns 3.":                                "",
		"Let me check whether the port is 8080.":                 "",
		"The tests are passing.":                                 "",
		"The error is `ECONNREFUSED`.":                           "",
		"I don't know what the port is.":                         "",
		"The port should be 8080.":                               "",
		"Done: 3 files changed.":                                 "",
		"We use it a lot.":                                       "",
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
	if diff := cmp.Diff([]string{"make test", "git tag ${version}", "git push origin ${version}", "gh release create ${version} --notes-file ${notes_file}"}, steps); diff != "" {
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
