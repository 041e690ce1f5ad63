package trash_test

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/decision"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/procedure"
	"github.com/skillrouter/skillrouter/learning/share"
	"github.com/skillrouter/skillrouter/learning/store"
	"github.com/skillrouter/skillrouter/learning/verdict"
	"github.com/skillrouter/skillrouter/router/kind"
	"github.com/skillrouter/skillrouter/router/trash"
)

// world is a Trash on real services and a clock that the test moves.
type world struct {
	t           *testing.T
	dir         string
	store       *store.Store
	knowledge   *knowledge.Base
	episodes    *episode.Episodes
	experiences *experience.Experiences
	facts       *fact.Facts
	procedures  *procedure.Procedures
	lessons     *lesson.Lessons
	verdicts    *verdict.Verdicts
	guards      *guard.Guards
	proposals   *history.Consolidation
	trash       *trash.Trash
	mu          sync.Mutex
	at          time.Time
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

func open(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), at: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	db, err := databasetest.OpenIn(t, w.dir, "learning", w.now, slog.New(slog.DiscardHandler))
	need(t, err)
	var running sync.WaitGroup
	running.Go(func() { _ = db.Commit.Run(t.Context()) })
	t.Cleanup(func() { // t.Context() has ended by now
		running.Wait()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	w.store = store.New(db.Read, db.Commit)
	options := learning.Options{Now: w.now}
	w.knowledge, w.episodes, w.facts = knowledge.NewBase(w.store, options), episode.NewEpisodes(w.store, options), fact.NewFacts(w.store, options)
	w.guards = guard.NewGuards(t.Context(), w.store, guard.GuardsOptions{Options: options})
	w.lessons = lesson.NewLessons(w.store, lesson.Options{Options: options, Rules: w.guards})
	patterns := lesson.NewPatterns(w.store, lesson.PatternOptions{Options: options})
	w.procedures = procedure.NewProcedures(w.store, procedure.Options{Options: options})
	w.experiences = experience.NewExperiences(w.store, w.episodes, w.lessons, experience.Options{Options: options})
	w.verdicts, err = verdict.New(t.Context(), w.store, verdict.Options{Options: options, Used: w.knowledge.Used})
	need(t, err)
	w.knowledge.LearnFrom(w.verdicts)
	w.proposals = history.NewConsolidation(w.store, history.Ports{Facts: w.facts, Episodes: w.episodes, Procedures: w.procedures}, history.ConsolidationOptions{Options: options})
	kinds := []kind.Memory{
		kind.Lessons(w.lessons, w.store), kind.Patterns(patterns, w.store), kind.Entries(w.knowledge, w.store), kind.Procedures(w.procedures, w.store),
		kind.Facts(w.facts, w.store, w.now), kind.Episodes(w.episodes, w.experiences, w.store),
	}
	need(t, w.guards.Load(t.Context()))
	running.Go(func() { _ = w.lessons.Run(t.Context()) })
	for _, k := range kinds {
		if k.Shelf != nil {
			need(t, k.Shelf.Load(t.Context()))
		}
	}
	w.trash = trash.New(w.store, trash.Ports{
		Kinds: kinds, Consolidation: w.proposals, Decisions: decision.New(w.knowledge, func(int64) string { return "" }),
		Follow: func(ctx context.Context, events []eventlog.Event) error {
			return cmp.Or(w.guards.Follow(ctx, events), w.verdicts.Load(ctx))
		},
	}, w.now)
	return w
}

func need(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// as is the context of an agent; of nobody's the owner's.
func (w *world) as(agent string, projects ...string) context.Context {
	p := principal.Owner(true)
	if agent != "" {
		p = principal.Principal{AgentID: agent, Scopes: []principal.Scope{principal.ScopeAgent}}
	}
	return principal.With(w.t.Context(), p.Bind(projects))
}

func (w *world) entry(agent, title, project string) string {
	w.t.Helper()
	stored, err := w.knowledge.Store(w.as(agent), knowledge.Draft{Title: title, Content: title + " is what was learned", Category: "pattern", Project: project})
	need(w.t, err)
	return stored.ID
}

// deleted are the ids of what was deleted of a kind.
func (w *world) deleted(ctx context.Context, of string) (ids []string) {
	w.t.Helper()
	page, err := w.trash.Deleted(ctx, trash.Filter{Kind: of})
	need(w.t, err)
	for _, c := range page.Changes {
		ids = append(ids, c.ID)
	}
	return ids
}

func (w *world) code(err error, wanted errs.Code, says string) {
	w.t.Helper()
	if errs.CodeOf(err) != wanted || !strings.Contains(errs.MessageOf(err), says) {
		w.t.Errorf("%v: %v, wanted %v with %q", errs.CodeOf(err), err, wanted, says)
	}
}

func (w *world) found(words string) int {
	w.t.Helper()
	results, err := w.knowledge.Search(w.as(""), knowledge.Query{Query: words})
	need(w.t, err)
	return len(results.Results)
}

func TestKnowledgeComesBack(t *testing.T) {
	w := open(t)
	owner := w.as("")
	id := w.entry("", "Lighthouse keepers rotate weekly", "shop")
	w.pass(time.Minute)
	_, err := w.knowledge.Update(owner, id, knowledge.Patch{Title: new("Lighthouse keepers rotate daily")})
	need(t, err)
	_, err = w.verdicts.Answered(owner, id, verdict.Draft{Query: "who tends the beacon"})
	need(t, err)
	before, err := w.knowledge.Entry(owner, id)
	need(t, err)
	need(t, w.knowledge.Delete(owner, id))
	if n := w.found("lighthouse keepers"); n != 0 {
		t.Errorf("%d found of what was deleted", n)
	}
	if ids := w.deleted(owner, "knowledge"); !slices.Equal(ids, []string{id}) {
		t.Fatalf("deleted: %v", ids)
	}
	back, err := w.trash.Restore(owner, trash.DeletedRef{Kind: "knowledge", ID: id[len(id)-8:]})
	need(t, err)
	if back.Title != "Lighthouse keepers rotate daily" || back.Project != "shop" {
		t.Errorf("%+v", back)
	}
	after, err := w.knowledge.Entry(owner, id)
	need(t, err)
	if a, b := asJSON(before), asJSON(after); a != b {
		t.Errorf("it was\n%s\nand is\n%s", a, b)
	}
	versions, err := w.knowledge.History(owner, id)
	need(t, err)
	questions, err := w.verdicts.Questions(owner, id)
	need(t, err)
	if len(versions) != 1 || versions[0].Title != "Lighthouse keepers rotate weekly" || !strings.Contains(asJSON(questions), "who tends the beacon") {
		t.Errorf("versions %+v, questions %s", versions, asJSON(questions))
	}
	if w.found("lighthouse keepers") != 1 || len(w.deleted(owner, "")) != 0 {
		t.Error("it is not found, or still listed as deleted")
	}
	_, err = w.trash.Restore(owner, trash.DeletedRef{Kind: "knowledge", ID: id})
	w.code(err, errs.NotFound, "knowledge")
}

func asJSON(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

func TestEveryKindComesBack(t *testing.T) {
	w := open(t)
	owner := w.as("")
	happened, err := w.episodes.Record(owner, episode.Draft{SessionID: "s", AgentID: "a", EventType: episode.EventError, Title: "The build broke", Content: "It broke"})
	need(t, err)
	recorded, err := w.experiences.Record(owner, experience.Draft{OperationType: "build", Outcome: learning.ResultSuccess})
	need(t, err)
	lived, err := w.experiences.Experience(owner, recorded.EpisodeID)
	need(t, err)
	_, err = w.facts.Remember(owner, fact.Draft{Key: "api.port", Value: json.RawMessage("8025"), TTL: new(int64(0))})
	need(t, err)
	w.pass(time.Minute)
	_, err = w.facts.Remember(owner, fact.Draft{Key: "api.port", Value: json.RawMessage("9000"), TTL: new(int64(0))})
	need(t, err)
	_, err = w.procedures.Save(owner, procedure.Draft{Name: "deploy", Description: "How to", Category: "ops", Steps: []procedure.Step{{Name: "go", Action: "go on"}}})
	need(t, err)
	port, deploy := fact.Ref{Persona: "default", Key: "api.port"}, procedure.Ref{Persona: "default", Name: "deploy"}
	stats := func() string {
		figures, err := w.experiences.Stats(owner)
		need(t, err)
		return asJSON(figures)
	}
	all := stats()
	for _, of := range []struct {
		kind, id, calls string
		remove          func() error
		read            func() (any, error)
	}{
		{"episode", happened.ID, strconv.FormatInt(happened.Number, 10), func() error { return w.episodes.Delete(owner, happened.ID) }, func() (any, error) { return w.episodes.Episode(owner, happened.ID) }},
		{"episode", lived.EpisodeID, lived.EpisodeID[len(lived.EpisodeID)-8:], func() error { return w.episodes.Delete(owner, lived.EpisodeID) }, func() (any, error) { return w.episodes.Episode(owner, lived.EpisodeID) }},
		{"fact", "default/api.port", "api.port", func() error { return w.facts.Forget(owner, port) }, func() (any, error) {
			found, _, err := w.store.Fact(t.Context(), "default", "api.port")
			if err == nil && found.Key == "" {
				err = errs.Errorf(errs.NotFound, "none")
			}
			return found, err
		}},
		{"procedure", "default/deploy", "deploy", func() error { return w.procedures.Delete(owner, deploy) }, func() (any, error) { return w.procedures.Procedure(owner, deploy) }},
	} {
		before, err := of.read()
		need(t, err)
		need(t, of.remove())
		if _, err := of.read(); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("%s: %v after it was deleted", of.kind, err)
		}
		if ids := w.deleted(owner, of.kind); !slices.Equal(ids, []string{of.id}) {
			t.Errorf("%s: deleted %v", of.kind, ids)
		}
		_, err = w.trash.Restore(owner, trash.DeletedRef{Kind: of.kind, ID: of.calls})
		need(t, err)
		after, err := of.read()
		need(t, err)
		if a, b := asJSON(before), asJSON(after); of.kind != "procedure" && a != b {
			t.Errorf("%s: it was\n%s\nand is\n%s", of.kind, a, b)
		}
	}
	if now := stats(); now != all {
		t.Errorf("the figures of experiences were\n%s\nand are\n%s", all, now)
	}
	versions, err := w.facts.History(owner, port)
	need(t, err)
	if len(versions) != 1 || string(versions[0].Value) != "8025" {
		t.Errorf("versions of the fact: %+v", versions)
	}
	_, err = w.facts.Remember(owner, fact.Draft{Key: "api.port", Value: json.RawMessage("1"), TTL: new(int64(0))}) // its versions go on
	need(t, err)
}

func TestThirtyDays(t *testing.T) {
	w := open(t)
	owner := w.as("")
	first, second := w.entry("", "Kept for a while", ""), w.entry("", "Kept for too long", "")
	need(t, w.knowledge.Delete(owner, second))
	w.pass(2 * 24 * time.Hour)
	need(t, w.knowledge.Delete(owner, first))
	w.pass(29 * 24 * time.Hour)
	need(t, w.trash.Purge(owner))
	_, err := w.trash.Restore(owner, trash.DeletedRef{Kind: "knowledge", ID: first})
	need(t, err)
	_, err = w.trash.Restore(owner, trash.DeletedRef{Kind: "knowledge", ID: second})
	w.code(err, errs.NotFound, "30 days")
	if kept, err := w.store.Changes(t.Context(), learning.ChangeFilter{Limit: 10}); err != nil || len(kept) != 0 {
		t.Errorf("%v, %v is kept", kept, err)
	}
}

// purged tells when kept changes were forgotten.
type purged struct {
	trash.Store
	done chan error
}

func (p purged) ForgetChanges(ctx context.Context, kind, id string, before time.Time) (int64, error) {
	n, err := p.Store.ForgetChanges(ctx, kind, id, before)
	p.done <- err
	return n, err
}

// TestPurgeAtStart: a router that never runs for an hour purges too.
func TestPurgeAtStart(t *testing.T) {
	w := open(t)
	need(t, w.knowledge.Delete(w.as(""), w.entry("", "Kept for too long", "")))
	w.pass(31 * 24 * time.Hour)
	store := purged{w.store, make(chan error, 1)}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = trash.New(store, trash.Ports{}, w.now).Run(ctx) })
	defer running.Wait()
	defer stop()
	need(t, <-store.done)
	kept, err := w.store.Changes(t.Context(), learning.ChangeFilter{Limit: 10})
	need(t, err)
	if len(kept) > 0 {
		t.Fatalf("%v is kept", kept)
	}
}

func TestPlaceTaken(t *testing.T) {
	w := open(t)
	owner := w.as("")
	id := w.entry("", "The cache lies in RAM", "")
	need(t, w.knowledge.Delete(owner, id))
	twin := w.entry("", "The cache lies in RAM", "")
	_, err := w.trash.Restore(owner, trash.DeletedRef{Kind: "knowledge", ID: id})
	w.code(err, errs.Conflict, twin)
	need(t, w.knowledge.Delete(owner, twin))
	_, err = w.trash.Restore(owner, trash.DeletedRef{Kind: "knowledge", ID: id})
	need(t, err)

	_, err = w.facts.Remember(owner, fact.Draft{Key: "k", Value: json.RawMessage("1")})
	need(t, err)
	need(t, w.facts.Forget(owner, fact.Ref{Persona: "default", Key: "k"}))
	_, err = w.facts.Remember(owner, fact.Draft{Key: "k", Value: json.RawMessage("2")})
	need(t, err)
	_, err = w.trash.Restore(owner, trash.DeletedRef{Kind: "fact", ID: "k"})
	w.code(err, errs.Conflict, "default/k")
}

func TestWhoseTrash(t *testing.T) {
	w := open(t)
	mine, theirs := w.entry("ann", "Ann's own", "shop"), w.entry("bob", "Bob's own", "bank")
	need(t, w.knowledge.Delete(w.as("ann"), mine))
	need(t, w.knowledge.Delete(w.as("bob"), theirs))
	walled := w.as("ann", "shop")
	if ids := w.deleted(walled, "knowledge"); !slices.Equal(ids, []string{mine}) {
		t.Errorf("a token of shop sees %v", ids)
	}
	_, err := w.trash.Restore(walled, trash.DeletedRef{Kind: "knowledge", ID: theirs})
	w.code(err, errs.NotFound, "")
	_, err = w.trash.Restore(w.as("ann"), trash.DeletedRef{Kind: "knowledge", ID: theirs})
	w.code(err, errs.Forbidden, "another agent")
	_, err = w.trash.Forget(w.as("ann"), trash.DeletedRef{Kind: "knowledge", ID: theirs})
	w.code(err, errs.Forbidden, "captain")
	_, err = w.trash.Restore(walled, trash.DeletedRef{Kind: "knowledge", ID: mine})
	need(t, err)
	_, err = w.trash.Restore(w.as(""), trash.DeletedRef{Kind: "knowledge", ID: theirs})
	need(t, err)
	_, err = w.facts.Remember(w.as("bob"), fact.Draft{Key: "k", Value: json.RawMessage("1")})
	need(t, err)
	need(t, w.facts.Forget(w.as("bob"), fact.Ref{Persona: "default", Key: "k"}))
	_, err = w.trash.Restore(walled, trash.DeletedRef{Kind: "fact", ID: "k"})
	w.code(err, errs.NotFound, "")
	_, err = w.trash.Restore(w.as("ann"), trash.DeletedRef{Kind: "fact", ID: "k"}) // any agent may change and delete it
	need(t, err)
}

// TestAnothersPersona: what one agent wrote for a persona of its own, no other has back after a captain deleted it.
func TestAnothersPersona(t *testing.T) {
	w := open(t)
	_, err := w.facts.Remember(w.as("bob"), fact.Draft{Persona: "coder", Key: "k", Value: json.RawMessage("1")})
	need(t, err)
	_, err = w.procedures.Save(w.as("bob"), procedure.Draft{Persona: "coder", Name: "p", Steps: []procedure.Step{{Name: "go", Action: "go on"}}})
	need(t, err)
	need(t, w.facts.Forget(w.as(""), fact.Ref{Persona: "coder", Key: "k"}))
	need(t, w.procedures.Delete(w.as(""), procedure.Ref{Persona: "coder", Name: "p"}))
	for kind, id := range map[string]string{"fact": "coder/k", "procedure": "coder/p"} {
		_, err = w.trash.Restore(w.as("ann"), trash.DeletedRef{Kind: kind, ID: id})
		w.code(err, errs.Forbidden, "another agent")
		_, err = w.trash.Restore(w.as("bob"), trash.DeletedRef{Kind: kind, ID: id})
		need(t, err)
	}
}

// TestOwnTrashBesideOthers: what other projects delete, however much it is, hides nothing from a token that may not see it.
func TestOwnTrashBesideOthers(t *testing.T) {
	w := open(t)
	mine := w.entry("ann", "Ann's own", "shop")
	need(t, w.knowledge.Delete(w.as("ann"), mine))
	for i := range learning.MaxLimit + 1 {
		need(t, w.knowledge.Delete(w.as("bob"), w.entry("bob", "Bob's own "+strconv.Itoa(i), "bank")))
	}
	_, err := w.trash.Restore(w.as("ann", "shop"), trash.DeletedRef{Kind: "knowledge", ID: mine[:1]})
	need(t, err)
}

func TestForgetIsFinal(t *testing.T) {
	w := open(t)
	owner := w.as("")
	there, deleted := w.entry("", "Still there", ""), w.entry("", "Deleted before", "")
	need(t, w.knowledge.Delete(owner, deleted))
	_, err := w.procedures.Save(owner, procedure.Draft{Name: "leak", Steps: []procedure.Step{{Name: "go", Action: "go on"}}})
	need(t, err)
	for kind, ids := range map[string][]string{"knowledge": {there, deleted}, "procedure": {"default/leak"}} {
		for _, id := range ids {
			gone, err := w.trash.Forget(owner, trash.DeletedRef{Kind: kind, ID: id})
			need(t, err)
			if gone.ID != id || !strings.Contains(gone.Notice, "Backups") {
				t.Errorf("%+v", gone)
			}
			_, err = w.trash.Restore(owner, trash.DeletedRef{Kind: kind, ID: id})
			w.code(err, errs.NotFound, "")
		}
	}
	if _, there, err := w.store.StoredProcedure(t.Context(), "default", "leak"); there || err != nil {
		t.Errorf("the procedure's row is there: %v", err)
	}
}

func (w *world) undo(ctx context.Context, draft trash.LastChange) trash.ChangeUndone {
	w.t.Helper()
	would, err := w.trash.Undo(ctx, draft)
	need(w.t, err)
	draft.Confirm = true
	undone, err := w.trash.Undo(ctx, draft)
	need(w.t, err)
	if would.Done || !undone.Done || would.Number != undone.Number || !strings.HasPrefix(would.Notice, "This would be taken back: you ") {
		w.t.Errorf("%+v was named, and %+v taken back", would, undone)
	}
	return undone
}

func TestUndoTakesBackTheLast(t *testing.T) {
	w := open(t)
	owner := w.as("")
	id := w.entry("", "Use port 8025", "shop")
	w.pass(time.Minute)
	_, err := w.knowledge.Update(owner, id, knowledge.Patch{Title: new("Use port 9000"), Tags: &[]string{"ports"}})
	need(t, err)
	other := w.entry("", "Elsewhere", "bank")
	w.pass(time.Minute)
	need(t, w.knowledge.Delete(owner, id))
	need(t, w.knowledge.Delete(owner, other))
	w.pass(time.Minute)
	if u := w.undo(owner, trash.LastChange{Project: "shop"}); u.Operation != learning.Deleted || u.ID != id {
		t.Errorf("%+v", u)
	}
	if u := w.undo(owner, trash.LastChange{Project: "shop"}); u.Operation != learning.Edited || u.ID != id {
		t.Errorf("%+v", u)
	}
	now, err := w.knowledge.Entry(owner, id)
	need(t, err)
	versions, err := w.knowledge.History(owner, id)
	need(t, err)
	if now.Title != "Use port 8025" || len(now.Tags) != 0 || len(versions) != 2 {
		t.Errorf("%+v with %d versions", now, len(versions))
	}
	if _, err := w.trash.Undo(owner, trash.LastChange{Project: "shop"}); errs.CodeOf(err) != errs.NotFound || !strings.Contains(errs.MessageOf(err), "Messages, stops and runs") {
		t.Error(err)
	}
}

func TestUndoIsOnesOwn(t *testing.T) {
	w := open(t)
	ann, bob, owner := w.as("ann"), w.as("bob"), w.as("")
	id := w.entry("ann", "Ann wrote this", "shop")
	w.pass(time.Minute)
	_, err := w.knowledge.Update(ann, id, knowledge.Patch{Title: new("Ann changed this")})
	need(t, err)
	_, err = w.trash.Undo(bob, trash.LastChange{Project: "shop"})
	w.code(err, errs.NotFound, "")
	page, err := w.trash.Deleted(ann, trash.Filter{Mine: true})
	need(t, err)
	_, err = w.trash.Undo(bob, trash.LastChange{Change: page.Changes[0].Number, Confirm: true})
	w.code(err, errs.NotFound, "")
	w.pass(time.Minute)
	_, err = w.knowledge.Update(owner, id, knowledge.Patch{Title: new("The owner changed this")})
	need(t, err)
	_, err = w.trash.Undo(ann, trash.LastChange{Project: "shop"})
	w.code(err, errs.Conflict, "somebody else changed")
	w.undo(owner, trash.LastChange{Project: "shop"})
	w.undo(ann, trash.LastChange{Project: "shop"})
	if now, err := w.knowledge.Entry(owner, id); err != nil || now.Title != "Ann wrote this" {
		t.Errorf("%+v, %v", now, err)
	}
}

func TestUndoOfEveryKind(t *testing.T) {
	w := open(t)
	owner := w.as("")
	happened, err := w.episodes.Record(owner, episode.Draft{SessionID: "s", AgentID: "a", EventType: episode.EventError, Title: "It broke", Content: "It broke"})
	need(t, err)
	_, err = w.episodes.Edit(owner, happened.ID, episode.Patch{Title: new("It held"), Importance: new(0.9)})
	need(t, err)
	w.pass(time.Second)
	_, err = w.facts.Remember(owner, fact.Draft{Key: "k", Value: json.RawMessage(`{"a":1}`)})
	need(t, err)
	_, err = w.facts.Update(owner, fact.Ref{Persona: "default", Key: "k"}, fact.Patch{Value: json.RawMessage(`{"a":2}`)})
	need(t, err)
	w.pass(time.Second)
	reported, err := w.lessons.Report(owner, lesson.Draft{Type: learning.LessonFailure, Domain: "ops", Category: "disk", Title: "Disks fill up", Context: "c", Action: "a", Outcome: "o", SourceAgent: "a", Severity: learning.SeverityLow})
	need(t, err)
	taught, err := w.lessons.Lesson(owner, reported.LessonID)
	need(t, err)
	w.pass(time.Second)
	_, err = w.lessons.Retire(owner, taught.ID, lesson.RetirementDraft{Reason: "gone", By: "ann"})
	need(t, err)
	w.pass(time.Second)
	old := w.entry("", "The old way", "")
	_, err = w.knowledge.Store(owner, knowledge.Draft{Title: "The new way", Content: "c", Category: "pattern", Supersedes: []string{old}})
	need(t, err)
	for _, wanted := range []struct {
		done learning.Operation
		kind string
	}{{learning.Merged, "knowledge"}, {learning.Retired, "lesson"}, {learning.Edited, "fact"}, {learning.Edited, "episode"}} {
		if u := w.undo(owner, trash.LastChange{}); u.Operation != wanted.done || u.Kind != wanted.kind {
			t.Errorf("%s of %s was taken back, wanted %v", u.Operation, u.Kind, wanted)
		}
	}
	entry, err := w.knowledge.Entry(owner, old)
	need(t, err)
	taughtNow, err := w.lessons.Lesson(owner, taught.ID)
	need(t, err)
	value, err := w.facts.Recall(owner, fact.Ref{Persona: "default", Key: "k"})
	need(t, err)
	episodeNow, err := w.episodes.Episode(owner, happened.ID)
	need(t, err)
	if entry.SupersededBy != "" || taughtNow.Status != taught.Status || string(value.Value) != `{"a":1}` || episodeNow.Title != "It broke" || episodeNow.Importance != happened.Importance {
		t.Errorf("%+v\n%+v\n%s\n%+v", entry, taughtNow.Status, value.Value, episodeNow)
	}
}

// TestUndoOfAcceptance: to take it back deletes what it stored, puts back what was there before, and leaves what came since.
func TestUndoOfAcceptance(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, since bool
	}{{"alone", false, false}, {"over another value", true, false}, {"changed since", false, true}} {
		t.Run(c.name, func(t *testing.T) {
			w := open(t)
			ann := w.as("ann")
			remember := func(by, value string) {
				_, err := w.facts.Remember(w.as(by), fact.Draft{Key: "project.test_command", Value: json.RawMessage(value), TTL: new(int64(0))})
				need(t, err)
				w.pass(time.Minute)
			}
			if c.before {
				remember("bob", `"make test"`)
			}
			made, err := w.proposals.Consolidate(ann, history.TranscriptDraft{Text: "User: The test command is `pytest -q`.\nAssistant: Thanks."})
			need(t, err)
			if len(made.Proposals) != 1 {
				t.Fatalf("%+v", made)
			}
			_, err = w.proposals.Accept(ann, made.Proposals[0].ID)
			need(t, err)
			w.pass(time.Minute)
			if c.since {
				remember("bob", `"make test"`)
			}
			_, err = w.trash.Undo(ann, trash.LastChange{Confirm: true})
			found, there, read := w.store.Fact(t.Context(), "default", "project.test_command")
			versions, listed := w.facts.History(ann, fact.Ref{Key: "project.test_command"})
			need(t, cmp.Or(read, listed))
			if !c.since {
				if need(t, err); there != c.before || there && string(found.Value) != `"make test"` {
					t.Errorf("%s is there: %v", found.Value, there)
				}
				again, err := w.proposals.Proposal(ann, made.Proposals[0].ID)
				if need(t, err); again.Status != history.ProposalPending || again.StoredAs != "" {
					t.Errorf("%+v", again)
				}
				return
			}
			if w.code(err, errs.Conflict, "said something else"); !there || len(versions) != 1 {
				t.Errorf("%s is left, with %d versions", found.Value, len(versions))
			}
		})
	}
}

// TestUndoOfReplacedFact: a fact that is stored again says what it said before, and one that was new stays.
func TestUndoOfReplacedFact(t *testing.T) {
	w := open(t)
	ann := w.as("ann")
	for _, value := range []string{"1", "2", "2"} {
		_, err := w.facts.Remember(ann, fact.Draft{Key: "k", Value: json.RawMessage(value), TTL: new(int64(0))})
		need(t, err)
		w.pass(time.Minute)
	}
	if u := w.undo(ann, trash.LastChange{}); u.Operation != learning.Edited || u.ID != "default/k" {
		t.Errorf("%+v", u)
	}
	now, err := w.facts.Recall(ann, fact.Ref{Persona: "default", Key: "k"})
	need(t, err)
	if string(now.Value) != "1" {
		t.Errorf("it is %s", now.Value)
	}
	_, err = w.trash.Undo(ann, trash.LastChange{})
	w.code(err, errs.NotFound, "you changed nothing")
}

// TestUndoIsAllOrNothing: of what one call changed all is taken back, or nothing.
func TestUndoIsAllOrNothing(t *testing.T) {
	w := open(t)
	owner := w.as("")
	first, second := w.entry("", "One way", ""), w.entry("", "Another way", "")
	merge := func() {
		t.Helper()
		w.pass(time.Minute)
		_, err := w.knowledge.Store(owner, knowledge.Draft{Title: "The way since " + w.now().String(), Content: "c", Category: "pattern", Supersedes: []string{first, second}})
		need(t, err)
	}
	replaced := func() (n int) {
		t.Helper()
		for _, id := range []string{first, second} {
			e, err := w.knowledge.Entry(owner, id)
			if need(t, err); e.SupersededBy != "" {
				n++
			}
		}
		return n
	}
	merge()
	if u := w.undo(owner, trash.LastChange{}); len(u.Also) != 1 || replaced() != 0 || w.found("one way") == 0 {
		t.Errorf("%+v, and %d are replaced", u, replaced())
	}
	merge()
	_, err := w.knowledge.Update(owner, first, knowledge.Patch{SupersededBy: new("")})
	need(t, err)
	page, err := w.trash.Deleted(owner, trash.Filter{Mine: true})
	need(t, err)
	_, err = w.trash.Undo(owner, trash.LastChange{Change: page.Changes[1].Number, Confirm: true})
	w.code(err, errs.Conflict, "changed since")
	if n := replaced(); n != 1 {
		t.Errorf("%d are replaced", n)
	}
}

// TestUndoOfSharing: what a person decided of what others shared waits again, and what came of it is as it was.
func TestUndoOfSharing(t *testing.T) {
	w := open(t)
	person := principal.With(t.Context(), principal.Owner(true).UnderPassphrase(true))
	sharing := share.New(w.store, share.Memory{Knowledge: w.knowledge, Lessons: w.lessons, Episodes: w.episodes}, w.now)
	news := func(e share.Entry) share.News {
		t.Helper()
		known, err := sharing.Known(person, "shop")
		need(t, err)
		for _, k := range known {
			if k.ID == e.ID {
				return k.NewsOf(&e)
			}
		}
		return new(share.Known).NewsOf(&e)
	}
	decide := func(accept bool, became string, entries ...share.Entry) {
		t.Helper()
		w.pass(time.Minute)
		decision := share.Decision{Project: "shop"}
		for _, e := range entries {
			decision.Answers = append(decision.Answers, share.Answer{Entry: e, Accept: accept, Path: ".skillrouter/memory/" + e.ID + ".md", Commit: "abc", Author: "Ann"})
		}
		outcomes, err := sharing.Decide(person, decision)
		need(t, err)
		for _, o := range outcomes {
			if o.Became != became {
				t.Fatalf("%+v, wanted %s", outcomes, became)
			}
		}
	}
	title := func(id string) string {
		e, err := w.knowledge.Entry(person, id)
		if errs.CodeOf(err) == errs.NotFound {
			return ""
		}
		need(t, err)
		return e.Title
	}
	entry := share.Entry{ID: "01-shared-entry", Kind: share.KindKnowledge, Title: "Keep the lamp lit", Text: "It is dark", Created: w.now()}
	other := share.Entry{ID: "02-shared-lesson", Kind: share.KindLesson, Title: "Lamps go out", Text: "They need oil", Created: w.now()}

	decide(false, "declined", entry)
	if u := w.undo(person, trash.LastChange{Project: "shop"}); u.Operation != learning.Declined || u.Kind != "shared" || news(entry) != share.NewsNew {
		t.Errorf("%+v, and it is %q", u, news(entry))
	}
	decide(true, "stored", entry, other)
	if u := w.undo(person, trash.LastChange{Project: "shop"}); u.Operation != learning.Accepted || news(other) != share.NewsNew || news(entry) != "" {
		t.Errorf("%+v, and they are %q and %q", u, news(other), news(entry))
	}
	taught, err := w.lessons.Lesson(person, other.ID)
	if need(t, err); taught.Status != lesson.StatusRetired {
		t.Errorf("the lesson is %s", taught.Status)
	}
	w.undo(person, trash.LastChange{Project: "shop"})
	if title(entry.ID) != "" || w.found("lamp lit") != 0 || news(entry) != share.NewsNew {
		t.Errorf("%q is there, and %q", title(entry.ID), news(entry))
	}

	decide(true, "stored", entry)
	changed := entry
	changed.Title = "Keep both lamps lit"
	decide(true, "updated", changed)
	w.undo(person, trash.LastChange{Project: "shop"})
	if title(entry.ID) != entry.Title || news(changed) != share.NewsChanged || news(entry) != "" {
		t.Errorf("it says %q, and is %q", title(entry.ID), news(changed))
	}
	retired := entry
	retired.Retired = new(w.now())
	decide(true, "retired", retired)
	if title(entry.ID) != "" {
		t.Error("it is there though it was retired")
	}
	w.undo(person, trash.LastChange{Project: "shop"})
	if title(entry.ID) != entry.Title || w.found("lamp lit") != 1 || news(retired) != share.NewsRetired {
		t.Errorf("it says %q, and is %q", title(entry.ID), news(retired))
	}
	// A lesson that was retired, and is taken into use again because it is shared again, is retired again.
	again := share.Entry{ID: "03-shared-lesson", Kind: share.KindLesson, Title: "Oil spills", Text: "Use a funnel", Created: w.now()}
	decide(true, "stored", again)
	_, err = w.lessons.Retire(person, again.ID, lesson.RetirementDraft{Reason: "gone", By: "ann"})
	need(t, err)
	again.Text = "Use a pump"
	decide(true, "updated", again)
	if taught, err = w.lessons.Lesson(person, again.ID); err != nil || taught.Status != lesson.StatusCandidate || taught.Body != again.Text {
		t.Errorf("%v: the lesson is %s, and says %q", err, taught.Status, taught.Body)
	}
	w.undo(person, trash.LastChange{Project: "shop"})
	if taught, err = w.lessons.Lesson(person, again.ID); err != nil || taught.Status != lesson.StatusRetired || taught.Body != "Use a funnel" || news(again) != share.NewsChanged {
		t.Errorf("%v: the lesson is %s, says %q, and is %q", err, taught.Status, taught.Body, news(again))
	}
	decide(false, "declined", changed)
	_, err = w.trash.Undo(w.as("ann"), trash.LastChange{Project: "shop"})
	w.code(err, errs.NotFound, "")
}

// TestRestoreAfterRedact: an entry whose secrets redact has cut out since is known by what it says now.
func TestRestoreAfterRedact(t *testing.T) {
	w := open(t)
	owner := w.as("")
	id := w.entry("", "The key is SECRET", "")
	need(t, w.knowledge.Delete(owner, id))
	need(t, w.store.Commit.Write(owner, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE changes SET rows_before = replace(CAST(rows_before AS TEXT), 'SECRET', '[redacted]')").Error
	}, nil))
	_, err := w.trash.Restore(owner, trash.DeletedRef{Kind: "knowledge", ID: id})
	need(t, err)
	if twin := w.entry("", "The key is [redacted]", ""); twin != id {
		t.Errorf("%s says the same as %s", twin, id)
	}
}

// TestUndoOfAcceptedEpisode: what somebody else wrote into the episode since stays.
func TestUndoOfAcceptedEpisode(t *testing.T) {
	w := open(t)
	ann, owner := w.as("ann"), w.as("")
	made, err := w.proposals.Consolidate(ann, history.TranscriptDraft{Text: "Assistant: $ pytest -q\nTool: E   ModuleNotFoundError: No module named 'attrs'\n" +
		"Assistant: $ pip install attrs\nTool: Successfully installed attrs\nAssistant: $ pytest -q\nTool: 8 passed in 0.5s"})
	need(t, err)
	at := slices.IndexFunc(made.Proposals, func(p history.Proposal) bool { return p.Kind == history.ProposalEpisode })
	if at < 0 {
		t.Fatalf("%+v", made)
	}
	accepted, err := w.proposals.Accept(ann, made.Proposals[at].ID)
	need(t, err)
	w.pass(time.Minute)
	_, err = w.episodes.Edit(owner, accepted.StoredAs, episode.Patch{Title: new("It needed attrs")})
	need(t, err)
	_, err = w.trash.Undo(ann, trash.LastChange{Confirm: true})
	w.code(err, errs.Conflict, "somebody else changed")
	_, err = w.episodes.Episode(owner, accepted.StoredAs)
	need(t, err)
	w.undo(owner, trash.LastChange{})
	w.undo(ann, trash.LastChange{})
	_, err = w.episodes.Episode(owner, accepted.StoredAs)
	w.code(err, errs.NotFound, "")
}

func TestRuleComesBack(t *testing.T) {
	w := open(t)
	owner := principal.With(t.Context(), principal.Owner(true).UnderPassphrase(true))
	reported, err := w.lessons.Report(owner, lesson.Draft{
		Type: learning.LessonAntiPattern, Domain: "docker", Category: "disk", Title: "Never prune images on ci", Context: "the cache is slow", Action: "a", Outcome: "o",
		SourceAgent: "a", Severity: learning.SeverityCritical, RelatedCommands: []string{"docker image prune"},
	})
	need(t, err)
	judged := func(command string) rule.Decision {
		checked, err := w.guards.Check(owner, rule.Action{Agent: "b", Command: command})
		need(t, err)
		return checked.Decision
	}
	const prune = "docker image prune"
	before := judged(prune)
	_, err = w.lessons.Retire(owner, reported.LessonID, lesson.RetirementDraft{Reason: "gone", By: "ann"})
	need(t, err)
	retired := judged(prune)
	w.undo(owner, trash.LastChange{})
	if after := judged(prune); before != rule.DecisionBlock || retired == rule.DecisionBlock || after != rule.DecisionBlock {
		t.Errorf("%s, %s when it was retired, %s when that was taken back", before, retired, after)
	}
}
