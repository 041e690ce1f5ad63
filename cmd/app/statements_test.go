package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"skillrouter/cmd/app"
	"skillrouter/comms"
	"skillrouter/internal/principal"
	"skillrouter/learning"
	"skillrouter/learning/fact"
	"skillrouter/learning/guard"
	"skillrouter/learning/guard/rule"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/lesson"
	learningstore "skillrouter/learning/store"
	"skillrouter/operational"
	operationalstore "skillrouter/operational/store"
)

// counted opens a database whose statements are counted, and runs its committer.
func counted(t *testing.T, name string) (*app.Database, *app.Statements) {
	t.Helper()
	db, err := app.OpenDatabase(t.Context(), t.TempDir(), name, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	statements := app.CountStatements(db)
	var running sync.WaitGroup
	running.Go(func() { _ = db.Commit.Run(t.Context()) })
	t.Cleanup(func() { // t.Context() has ended by now
		running.Wait()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, statements
}

// TestStatementsOfWrites holds how many statements the main writes send. A database
// on another machine answers each of them after a way there and back, so that this
// number, and not that of the rows, is what a write takes. A number that went down is
// to be written down here; one that went up needs a reason.
func TestStatementsOfWrites(t *testing.T) {
	memory, learned := counted(t, "learning")
	operations, told := counted(t, "operational")
	log := slog.New(slog.DiscardHandler)
	ctx := principal.With(t.Context(), principal.Open())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	store, rows := learningstore.New(memory.Read, memory.Commit), operationalstore.New(operations.Read, operations.Commit)
	tasks := operational.NewTasks(rows, time.Now)
	presence, err := comms.NewPresence(ctx, rows, tasks, time.Now, log, comms.PresenceOptions{})
	must(err)
	mailbox, err := comms.NewMailbox(ctx, presence, rows, log, comms.MailboxOptions{})
	must(err)
	guards := guard.NewGuards(ctx, store, guard.GuardsOptions{})
	run(t, guards.Run)
	lessons := lesson.NewLessons(store, lesson.Options{Patterns: lesson.NewPatterns(store, lesson.PatternOptions{Rules: guards}), Rules: guards})
	base, facts := knowledge.NewBase(store, learning.Options{}), fact.NewFacts(store, learning.Options{})
	answered, err := knowledge.NewAnswered(ctx, store, func(...string) {}, time.Now)
	must(err)

	n := 0
	next := func() string { // a text like no other
		n++
		return fmt.Sprintf("%s number %d of the wandering albatross", strings.Repeat("x", n%7+3), n)
	}
	beat := func() error {
		_, err := presence.Heartbeat(ctx, comms.Heartbeat{AgentID: "a", Status: "busy"})
		return err
	}
	var sent []string // ids of messages
	var entry string
	signal := func() error {
		got, err := mailbox.Send(ctx, operational.MessageDraft{From: "b", To: "a", Signal: "hello", Context: json.RawMessage(`{}`)})
		sent = append(sent, got.MessageID)
		return err
	}
	report := func(title string) func() error {
		return func() error {
			_, err := lessons.Report(ctx, lesson.Draft{
				Type: learning.LessonFailure, Domain: "ops", Category: "deploy", Title: title, Context: "c", Action: "a", Outcome: "o", Severity: learning.SeverityLow,
			})
			return err
		}
	}
	check := func(command string) func() error {
		return func() error {
			if _, err := guards.Check(ctx, rule.Action{Command: command}); err != nil {
				return err
			}
			for guards.LedgerState().Waiting > 0 { // the ledger is written after the answer
				<-time.After(time.Millisecond)
			}
			return nil
		}
	}
	must(beat())
	_, err = presence.Heartbeat(ctx, comms.Heartbeat{AgentID: "b"})
	must(err)
	for _, c := range []struct {
		name  string
		most  int
		in    *app.Statements
		write func() error
	}{
		{"a heartbeat that changes nothing", 0, told, beat},
		{"a signal", 2, told, signal},
		{"the acknowledgement of all", 5, told, func() error {
			_, err := mailbox.Ack(ctx, comms.Ack{AgentID: "a", Seq: 1})
			return err
		}},
		{"a further signal", 1, told, signal},
		{"the acknowledgement of one", 5, told, func() error {
			_, err := mailbox.Ack(ctx, comms.Ack{AgentID: "a", MessageIDs: sent[len(sent)-1:]})
			return err
		}},
		{"a task", 2, told, func() error {
			_, err := tasks.Create(ctx, operational.TaskDraft{Title: next()})
			return err
		}},
		{"a claim", 3, told, func() error {
			_, err := tasks.Claim(ctx, "1", operational.TaskClaim{AgentID: "a"})
			return err
		}},
		{"a fact", 3, learned, func() error {
			_, err := facts.Remember(ctx, fact.Draft{Key: "k", Value: json.RawMessage(`1`)})
			return err
		}},
		{"the fact again", 4, learned, func() error {
			_, err := facts.Remember(ctx, fact.Draft{Key: "k", Value: json.RawMessage(`2`)})
			return err
		}},
		{"an entry", 4, learned, func() error {
			stored, err := base.Store(ctx, knowledge.Draft{Category: "c", Title: next(), Content: next()})
			entry = stored.ID
			return err
		}},
		{"a use of it", 9, learned, func() error {
			_, err := answered.Answered(ctx, entry, knowledge.AnswerDraft{Query: "where does the albatross wander"})
			return err
		}},
		{"a lesson", 4, learned, report("The wandering albatross is lost at sea")},
		{"eight lessons at once", 11, learned, func() error { // each is looked for by its title
			drafts := make([]lesson.Draft, 8)
			for i := range drafts {
				word := strings.Repeat(string(rune('b'+i)), 8)
				drafts[i] = lesson.Draft{
					Type: learning.LessonSuccess, Domain: word, Category: word, Title: "A title of " + word, Context: word + "c", Action: word + "a", Outcome: word + "o", Severity: learning.SeverityLow,
				}
			}
			_, err := lessons.ReportAll(ctx, drafts)
			return err
		}},
		{"a lesson like it", 6, learned, report("A wandering albatross was lost at sea")},
		{"the lesson again", 7, learned, report("The wandering albatross is lost at sea")},
		{"a check that warns of nothing", 1, learned, check("ls")},
		{"a check that blocks", 9, learned, check("git reset --hard")},
	} {
		c.in.Take()
		must(c.write())
		if took := c.in.Take(); len(took) != c.most {
			t.Errorf("%s takes %d statements and not %d:\n\t%s", c.name, len(took), c.most, strings.Join(took, "\n\t"))
		}
	}
}

// run runs what blocks until its context ends.
func run(t *testing.T, blocks func(ctx context.Context) error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- blocks(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
