package consolidate_test

import (
	"testing"

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
		"The test command is `pytest -q`.":            "project.test_command=\"pytest -q\"",
		"the API listens on port 8080":                "api.port=8080",
		"The API server is running on port 8080 now.": "api_server.port=8080",
		"we use pnpm":                                            "project.package_manager=\"pnpm\"",
		"We use Redis for caching.":                              "project.caching=\"Redis\"",
		"We use pnpm, not npm, in this repo.":                    "project.package_manager=\"pnpm\"",
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
		"The project requires Node 20.":                          "node.version=\"20\"",
		"Production runs on Python 3.12.":                        "python.version=\"3.12\"",
		"MRR baseline is 75000":                                  "mrr.baseline=75000",
		"server.port = 9090":                                     "server.port=9090",
		"- port: 8080":                                           "project.port=8080",
		"The database is PostgreSQL 16.":                         "project.database=\"PostgreSQL 16\"",
		"The database port is 5433.":                             "database.port=5433",
		"The package manager is pnpm.":                           "project.package_manager=\"pnpm\"",
		"debug = true":                                           "project.debug=true",
		"Access tokens expire after 15 minutes.":                 "",
		"Is the port 8080?":                                      "",
		"If the port is 8080, it works.":                         "",
		"Maybe the port is 8080.":                                "",
		"I think the port is 8080.":                              "",
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
