package question_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/classify"
)

// TestReconAnswers asks what was found in the seeded environments.
func TestReconAnswers(t *testing.T) {
	team := seeded(t)
	r := team.router(classify.Classification{Class: classify.ClassRecon, Confidence: 1, Margin: 1}, nil)
	for _, c := range []struct{ query, want, says string }{
		{"What vulnerabilities in MSS?", "f7", `1 finding in MSS (1 medium)`},
		{"vulnerabilities in prod", "f1 f2 f3", `3 findings in prod (1 critical, 1 high, 1 low)`},
		{"which findings have not been resolved yet", "f1 f2 f4 f7 f3", `5 findings are open (1 critical, 2 high, 1 medium, 1 low)`},
		{"critical vulnerabilities that have not yet been patched", "f1", `1 finding is open and critical (1 critical)`},
		{"critical findings not yet fixed", "f1", `1 finding is open and critical (1 critical)`},
		{"how many lows and mediums in prod", "f3", `1 finding in prod is medium and low (1 low)`},
		{"severity breakdown for prod", "f1 f2 f3", "(1 critical, 1 high, 1 low)"},
		{"severe findings", "f1 f2 f4", "3 findings"},
		{"are we exposed to CVE-2023-34362", "f2", `1 finding (1 high)`},
		{"are we exposed to cve-2021-44228?", "", "No finding names CVE-2021-44228."},
		{"fixed findings in staging", "f5", `1 finding in staging is fixed (1 medium)`},
		{"accepted risks", "f6", `1 finding is accepted (1 high)`},
		{"confirmed vulnerabilities", "f2", `1 finding is confirmed (1 high)`},
		{"false positives", "", `No finding is false positives.`},
		{"sql injection findings", "f1", "SQL injection in search [critical]"},
		{"xss in the feedback form?", "f5", ``},
		{"unauthenticated redis instances", "f4", ``},
		{"secrets leaked in git history", "f6", ``},
		{"which servers have an outdated apache", "f7", ``},
		{"what runs on 10.0.4.20", "f2", ``},
		{"what does mail.example.com reveal", "f3", ``},
		{"what was found since last week", "f1 f2 f4 f7", `4 findings (since last week) (1 critical, 2 high, 1 medium)`},
		{"new findings today in MSS", "f7", `1 finding in MSS (today) (1 medium)`},
		{"open findings in project shop", "f1 f2 f4 f3", "in project shop"},
		{"which scans ran this week", "nikto", `1 scan (this week)`},
		{"which environments do we scan", "MSS prod staging", `3 environments`},
		{"is smbv1 enabled anywhere", "f3", ""},
		{"which buckets are world readable", "", ""},
		{"open ports on the web server", "", ""},
	} {
		answer, err := r.Ask(principal.With(t.Context(), principal.Open()), router.Query{Query: c.query})
		if err != nil {
			t.Errorf("%q: %v", c.query, err)
			continue
		}
		got := team.called(answer)
		for _, item := range answer.Items {
			if item.Kind == "environment" {
				got = strings.Replace(got, item.ID, item.Title, 1)
			}
		}
		if !strings.HasPrefix(got+" ", c.want+" ") || !strings.Contains(answer.Summary, c.says) || (c.says == "" && answer.Summary != "") {
			t.Errorf("%q\n  has   %s\n  want  %s\n  says  %s\n  want  %s", c.query, got, c.want, answer.Summary, c.says)
		}
	}
}

// TestAnswersBeyondOneListing holds that what a question names is found behind
// more findings and finished tasks than are read at once.
func TestAnswersBeyondOneListing(t *testing.T) {
	team := seeded(t)
	ctx := principal.With(t.Context(), principal.Open())
	var many []operational.FindingDraft
	for i := range operational.MaxFindings {
		many = append(many, operational.FindingDraft{Environment: "prod", Title: "Open port", Severity: operational.SeverityHigh, Location: fmt.Sprint("host:", i)})
	}
	if _, err := team.recon.ReportAll(ctx, many); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 220 {
		wg.Go(func() {
			task, err := team.tasks.Create(ctx, operational.TaskDraft{Title: fmt.Sprint("Routine ", i), AgentID: "builder-2"})
			if err == nil {
				_, err = team.tasks.Complete(ctx, task.ID, operational.TaskResult{})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	r := team.router(classify.Classification{Class: classify.ClassRecon, Margin: 1}, nil)
	if answer := ask(t, r, router.Query{Query: "how many high findings in prod", Limit: 3}); answer.Count != 3 || !strings.HasPrefix(answer.Summary, "1001 findings in prod are high") {
		t.Errorf("counted are %d items: %.120s", answer.Count, answer.Summary)
	}
	r = team.router(classify.Classification{Class: classify.ClassOperational, Margin: 1}, nil)
	if answer := ask(t, r, router.Query{Query: "where are we with the migration"}); !strings.HasPrefix(team.called(answer)+" ", "#6 ") {
		t.Errorf("the task behind 220 finished ones is answered by %q", team.called(answer))
	}
}
