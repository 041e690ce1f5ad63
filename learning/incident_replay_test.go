package learning_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/history"
)

// day is a session in which the tests are begun with the wrong runner, and with the right one three commands later.
func day(n int) []history.Step {
	steps := []history.Step{
		{Command: "git status", Outcome: history.Worked},
		{Command: "python -m pytest core/tests/test_a.py", Outcome: history.Failed, Exit: 1, Output: "/opt/bin/python: No module named pytest"},
		{Command: "ls core", Outcome: history.Worked},
		{Command: "cat README.md", Outcome: history.Worked},
		{Command: "bin/test core/tests/test_a.py", Outcome: history.Worked},
	}
	for i := range steps {
		steps[i].ID = fmt.Sprintf("%d-%d", n, i)
	}
	return steps
}

// TestReplay replays three days of the same mistake and a fourth without one, and knows each figure beforehand.
func TestReplay(t *testing.T) {
	replay := history.NewReplay(open(t, t.TempDir(), time.Now).store, 1)
	play := func(session string, steps []history.Step) {
		t.Helper()
		if _, err := replay.Session(t.Context(), history.Draft{Project: "shop", Session: session, Begin: true, Steps: steps}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 3 {
		play(fmt.Sprint("day", n), day(n))
	}
	play("copy", day(2)) // a session that was resumed copies the one before: nothing of it counts
	play("calm", []history.Step{{ID: "c", Command: "git status", Outcome: history.Worked}, {ID: "d", Command: "git status", Outcome: history.Refused}})
	want := history.ReplayedCounts{
		Commands: 16, Mistakes: 3, Repeats: 2, Warned: 1, // the third time, because two sessions had it then
		Known: 2, Named: 2, Fixable: 2, Answered: 2, Compared: 2, Same: 2, Saved: 4, Fine: 13,
	}
	if diff := cmp.Diff(want, replay.Total); diff != "" || replay.Sessions != 4 || replay.Lines != 3 || len(replay.Each) != 4 {
		t.Errorf("%d sessions, %d lines: %s", replay.Sessions, replay.Lines, diff)
	}
	nobody := history.NewReplay(open(t, t.TempDir(), time.Now).store, 0) // where nothing is accepted, nothing warns
	for n := range 3 {
		if _, err := nobody.Session(t.Context(), history.Draft{Project: "shop", Session: fmt.Sprint("day", n), Begin: true, Steps: day(n)}); err != nil {
			t.Fatal(err)
		}
	}
	if nobody.Total.Warned != 0 || nobody.Total.Named != 2 {
		t.Errorf("%+v", nobody.Total)
	}
}

// TestReplayStaysInItsFolder replays two sessions that went to a folder which is not there, each with another command: the same mends both.
func TestReplayStaysInItsFolder(t *testing.T) {
	replay := history.NewReplay(open(t, t.TempDir(), time.Now).store, 1)
	for n, command := range []string{"python3 scripts/names.py", "git log -3 --stat"} {
		steps := []history.Step{
			{Command: "cd web && " + command, Outcome: history.Failed, Exit: 1, Output: "/bin/bash: line 1: cd: web: No such file or directory"},
			{Command: "pwd", Outcome: history.Worked},
			{Command: command, Outcome: history.Worked},
		}
		for i := range steps {
			steps[i].ID = fmt.Sprintf("%d-%d", n, i)
		}
		if _, err := replay.Session(t.Context(), history.Draft{Project: "shop", Session: fmt.Sprint(n), Begin: true, Steps: steps}); err != nil {
			t.Fatal(err)
		}
	}
	if total := replay.Total; total.Answered != 1 || total.Compared != 1 || total.Same != 1 || total.Saved != 1 {
		t.Errorf("%+v", total)
	}
}

// TestWarnings says of what a command is warned, and what keeps a warning away.
func TestWarnings(t *testing.T) {
	const refused = "ls: cannot access 'notes': No such file or directory"
	fail := func(command, said string) history.Step {
		return history.Step{Command: command, Outcome: history.Failed, Exit: 2, Output: said}
	}
	fine := func(command string) history.Step { return history.Step{Command: command, Outcome: history.Worked} }
	twice := func(steps ...history.Step) [][]history.Step { return [][]history.Step{steps, steps} }
	for _, test := range []struct {
		name     string
		sessions [][]history.Step
		command  string
		warns    bool
	}{
		{"it failed in two sessions", twice(fail("ls notes", refused)), "ls notes", true},
		{"another command", twice(fail("ls notes", refused)), "ls -l notes", false},
		{"another number", twice(fail("tail -n 20 notes", "tail: cannot open 'notes'")), "tail -n 50 notes", true},
		{"in one session twice", [][]history.Step{{fail("ls notes", refused), fail("ls notes", refused)}}, "ls notes", false},
		{"the command went through since", append(twice(fail("ls notes", refused)), []history.Step{fine("ls notes")}), "ls notes", false},
		{"the error names another word", twice(fail("ls src notes", refused)), "ls src", false},
		{"the error names no word of it", twice(fail("deploy now", "error: the stage is closed")), "deploy now", true},
		{"another file for a program that is missing", twice(fail("python -m pytest a.py", "/opt/bin/python: No module named pytest")), "python -m pytest b.py", true},
		{"within an environment", twice(fail("python -m pytest a.py", "/opt/bin/python: No module named pytest")), ". venv/bin/activate && python -m pytest a.py", false},
		{"it stood in the way for a time", twice(fail("git add a", "fatal: Unable to create '/w/.git/index.lock': File exists.")), "git add a", false},
		{"it may fail there", twice(fail("ls notes", refused)), "ls notes || mkdir notes", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := history.New(open(t, t.TempDir(), time.Now).store, learning.Options{})
			ctx := principal.With(t.Context(), principal.Owner(true))
			for i, steps := range test.sessions {
				for k := range steps {
					steps[k].ID = fmt.Sprintf("%d-%d", i, k)
				}
				if _, err := n.Learn(ctx, history.Draft{Project: "shop", Session: fmt.Sprint(i), Begin: true, Steps: steps}); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := n.Accept(ctx, history.Decision{Project: "shop", Seen: 1}); err != nil {
				t.Fatal(err)
			}
			if w := n.Warn("shop", test.command); (w != nil) != test.warns {
				t.Errorf("%+v", w)
			}
			if w := n.Warn("other", test.command); w != nil {
				t.Errorf("of another project: %+v", w)
			}
		})
	}
}

// BenchmarkAnswer looks up what is known of a failure among 100,000 incidents on disk, and gives the 99th of 100 times in milliseconds.
func BenchmarkAnswer(b *testing.B) {
	n := history.New(open(b, b.TempDir(), time.Now).store, learning.Options{})
	ctx := principal.With(b.Context(), principal.System())
	const all, each = 100_000, 1000
	name := func(i int) string { // an error's digits are no part of it
		return strings.Map(func(r rune) rune { return r - '0' + 'g' }, fmt.Sprintf("%06d", i))
	}
	failure := func(i int) history.Failure {
		return history.Failure{Project: "shop", Command: "build " + name(i), Error: "error: cannot open part " + name(i)}
	}
	for at := 0; at < all; at += each {
		var steps []history.Step
		for i := at; i < at+each; i++ {
			f := failure(i)
			steps = append(steps, history.Step{ID: fmt.Sprint(i), Command: f.Command, Outcome: history.Failed, Exit: 1, Output: f.Error},
				history.Step{ID: fmt.Sprint(i, "b"), Command: f.Command + " --safe", Outcome: history.Worked})
		}
		if _, err := n.Learn(ctx, history.Draft{Project: "shop", Session: fmt.Sprint(at), Begin: true, Steps: steps}); err != nil {
			b.Fatal(err)
		}
	}
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		begin := time.Now()
		answer, err := n.Answer(ctx, failure(i*7919%all))
		if took = append(took, time.Since(begin)); err != nil || answer.Text == "" {
			b.Fatal(answer, err)
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
