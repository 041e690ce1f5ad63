package procedure

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/tally"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/tfidf"
)

// Procedures is the Service beside the database. Load opens its
// index at start; RunIndex does its background work.
type Procedures struct {
	*shelf.Shelf[Stored]
	store   Store
	now     clock.Clock
	log     *slog.Logger
	facts   func(ctx context.Context, persona, key string) (json.RawMessage, bool, error)
	lessons LessonProposals
	bell    committer.Bell // rings when a procedure was saved or deleted

	filesMu  sync.RWMutex
	files    int
	problems []FileProblem
}

var _ Service = (*Procedures)(nil)

// LessonProposals takes the lesson that is proposed when a step keeps failing. Lessons implements it.
type LessonProposals interface {
	Report(ctx context.Context, draft lesson.Draft) (lesson.Reported, error)
}

// Options are what Procedures may do without.
type Options struct {
	learning.Options
	// Facts returns the value of a persona's fact for conditions; ok is false if there is
	// none, or none any more. nil: there are no facts.
	Facts func(ctx context.Context, persona, key string) (value json.RawMessage, ok bool, err error)
	// Lessons takes proposals; nil: none are made.
	Lessons LessonProposals
}

// NewProcedures makes Procedures with an empty index.
func NewProcedures(store Store, options Options) *Procedures {
	options.Options = options.WithDefaults()
	return &Procedures{
		Shelf: shelf.NewShelf(store, shelf.Shelved[Stored]{
			Kind: IndexKind, Events: []string{"procedure."},
			ID: func(s *Stored) string { return ID(s.Persona, s.Name) }, Size: func(s *Stored) int { return s.Size },
			Document: document, Scan: store.ScanProcedures, Rows: store.ProceduresByID,
		}, options.Options),
		store: store, now: options.Now, log: options.Log, facts: options.Facts, lessons: options.Lessons,
	}
}

// Save implements Service.
func (p *Procedures) Save(ctx context.Context, draft Draft) (Saved, error) {
	author, err := principal.Of(ctx).ActingAs("agent_id", draft.AgentID)
	if err != nil {
		return Saved{}, err
	}
	return p.put(ctx, prepare(draft), author, nil)
}

// put stores a prepared procedure; read tells of the file that it was read from, nil if it was not.
func (p *Procedures) put(ctx context.Context, prepared *prepared, author string, read *File) (Saved, error) {
	if prepared.err != nil {
		return Saved{}, prepared.err
	}
	var stored Stored
	var changed bool
	err := p.store.ChangeProcedures(ctx, func(tx Tx) error {
		at := p.now.Stamp()
		old, there, err := tx.Procedure(prepared.persona, prepared.name)
		switch {
		case err != nil:
			return err
		case there && old.Name != prepared.name:
			return errs.Errorf(errs.Conflict, "there is a procedure named %s: names that differ in capitals alone could not both be files everywhere", old.Name)
		}
		var row any
		if there && old.DeletedAt == nil {
			row = old.Shown()
		}
		if err := learning.Still(ctx, row); err != nil {
			return err
		}
		stored, changed = old, row == nil || !sameBody(old.Body, prepared)
		if changed {
			if row != nil {
				if err := learning.MayReplace(principal.Of(ctx), prepared.persona, old.Author); err != nil {
					return err
				}
			}
			if !there {
				stored = Stored{Persona: prepared.persona, Name: prepared.name}
			}
			if row == nil {
				stored.CreatedAt, stored.DeletedAt = at, nil
			}
			stored.Version++
			stored.Body, stored.Author, stored.Trust, stored.UpdatedAt = prepared.body, author, learning.TrustOf(principal.Of(ctx)), at
		}
		if read != nil {
			stored.SaidRate, stored.SaidTime = read.SuccessRate, read.AvgTime
			stored.File = FileMark{Path: read.Path, Mark: read.Mark, Version: stored.Version}
		}
		if !changed && (read == nil || stored.File == old.File) {
			return nil
		}
		if err := tx.PutProcedure(&stored); err != nil || !changed {
			return err
		}
		if err := tx.AddVersion(stored); err != nil {
			return err
		}
		return addEvent(tx, EventSaved, stored, author, at)
	}, func() {
		if changed {
			p.Shelf.Put(stored)
			p.bell.Ring()
		}
	})()
	return Saved{Persona: prepared.persona, Name: prepared.name, Version: stored.Version, Changed: changed, Redacted: prepared.redaction.Kinds()}, err
}

func sameBody(body Body, prepared *prepared) bool {
	text, err := json.Marshal(body)
	return err == nil && string(text) == string(prepared.text)
}

// Delete implements Service.
func (p *Procedures) Delete(ctx context.Context, ref Ref) error {
	ctx = committer.Essential(ctx) // it makes room
	caller := principal.Of(ctx)
	if err := cmp.Or(caller.Need(principal.ScopeAgent), checkRef(&ref)); err != nil {
		return err
	}
	return p.remove(ctx, ref, caller.AgentID, nil)
}

// MaxVersions is how many versions of a procedure History returns.
const MaxVersions = 50

// History returns what a procedure said before, the latest first. It needs ScopeRead.
func (p *Procedures) History(ctx context.Context, ref Ref) ([]Procedure, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), checkRef(&ref)); err != nil {
		return nil, err
	}
	now, err := p.stored(ctx, Ref{Persona: ref.Persona, Name: ref.Name})
	if err != nil {
		return nil, err
	}
	before, err := p.store.ProcedureVersions(ctx, now.Number, now.Version, MaxVersions)
	var versions []Procedure
	for _, v := range before {
		if v.UpdatedAt.Before(now.CreatedAt) {
			break // of one that was deleted
		}
		v.Persona, v.Name, v.CreatedAt = now.Persona, now.Name, now.CreatedAt
		versions = append(versions, v.Shown())
	}
	return versions, err
}

// remove deletes a procedure, unless check, if there is one, has something against it.
func (p *Procedures) remove(ctx context.Context, ref Ref, agent string, check func(tx Tx, old *Stored) error) error {
	ctx = learning.Noting(ctx, p.now.Stamp(), learning.Deleted, "procedure", ID(ref.Persona, ref.Name))
	return p.store.ChangeProcedures(ctx, func(tx Tx) error {
		at := p.now.Stamp()
		old, there, err := tx.Procedure(ref.Persona, ref.Name)
		if err != nil {
			return err
		}
		if !there || old.DeletedAt != nil || old.Name != ref.Name {
			return no(ref)
		}
		if err := learning.MayReplace(principal.Of(ctx), ref.Persona, old.Author); err != nil {
			return err
		}
		if check != nil {
			if err := check(tx, &old); err != nil {
				return err
			}
		}
		old.DeletedAt, old.Runs, old.Succeeded, old.Took, old.SaidRate, old.SaidTime = &at, 0, 0, 0, 0, 0
		if err := tx.PutProcedure(&old); err != nil {
			return err
		}
		if err := tx.DropStepRecords(old.Number); err != nil {
			return err
		}
		return addEvent(tx, EventDeleted, old, agent, at)
	}, func() {
		p.Shelf.Remove(ID(ref.Persona, ref.Name))
		p.bell.Ring()
	})()
}

// Follow takes in what another router wrote, or what was taken back.
func (p *Procedures) Follow(ctx context.Context, events []eventlog.Event) error {
	defer p.bell.Ring()
	return p.Shelf.Follow(ctx, events)
}

// Procedure implements Service.
func (p *Procedures) Procedure(ctx context.Context, ref Ref) (Procedure, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), checkRef(&ref)); err != nil {
		return Procedure{}, err
	}
	stored, err := p.stored(ctx, ref)
	if err != nil {
		return Procedure{}, err
	}
	records, err := p.store.StepRecords(ctx, stored.Number)
	if err != nil {
		return Procedure{}, err
	}
	shown := stored.Shown()
	shown.StepStats = stepStats(stored.Body.Steps, records)
	return shown, nil
}

// stored returns the procedure that a reference names, with what that version says.
func (p *Procedures) stored(ctx context.Context, ref Ref) (Stored, error) {
	stored, ok, err := p.store.StoredProcedure(ctx, ref.Persona, ref.Name)
	if err != nil {
		return stored, err
	}
	if !ok || stored.DeletedAt != nil || stored.Name != ref.Name {
		return stored, no(ref)
	}
	if ref.Version != 0 && ref.Version != stored.Version {
		body, author, ok, err := p.store.ProcedureBody(ctx, stored.Number, ref.Version)
		if err != nil {
			return stored, err
		}
		if !ok {
			return stored, errs.Errorf(errs.NotFound, "there is no version %d of the procedure %s: its latest is %d", ref.Version, ref.Name, stored.Version)
		}
		stored.Version, stored.Body, stored.Author = ref.Version, body, author
	}
	return stored, nil
}

func no(ref Ref) error {
	return errs.Errorf(errs.NotFound, "there is no procedure %s of the persona %s", ref.Name, ref.Persona)
}

// List implements Service.
func (p *Procedures) List(ctx context.Context, filter Filter) (Page, error) {
	var err error
	filter.Persona, err = personaOrAll(filter.Persona)
	if err = cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), err, check.Name("category", filter.Category)); err != nil {
		return Page{}, err
	}
	if persona, name, ok := strings.Cut(filter.After, "/"); filter.After != "" && (!ok || !procedureName.MatchString(persona) || !procedureName.MatchString(name)) {
		return Page{}, errs.InvalidField("after", "is not one that a listing answered")
	}
	limit, err := check.Limit(filter.Limit, learning.DefaultListing, learning.MaxLimit)
	if err != nil {
		return Page{}, err
	}
	filter.Limit = limit + 1 // one more tells whether there is a next page
	list, err := p.store.ListProcedures(ctx, filter)
	page := Page{Procedures: []Procedure{}}
	size := 0
	for i, stored := range list {
		if i == limit || size >= learning.MaxAnswer {
			page.Next = ID(list[i-1].Persona, list[i-1].Name)
			break
		}
		size += stored.Size
		page.Procedures = append(page.Procedures, stored.Shown())
	}
	page.Count = len(page.Procedures)
	return page, err
}

// personaOrAll checks a persona, of which "*" stands for everybody's; that is returned empty.
func personaOrAll(persona string) (string, error) {
	if persona == "*" {
		return "", nil
	}
	return check.Persona(persona)
}

// Search implements Service.
func (p *Procedures) Search(ctx context.Context, query Query) (Results, error) {
	persona, wrongPersona := personaOrAll(query.Persona)
	limit, wrongLimit := check.Limit(query.Limit, learning.DefaultKnowledgeLimit, learning.MaxLimit)
	span, wrongSpan := shelf.SpanOf(query.Since, query.Until, query.TimeRange, p.now())
	if err := cmp.Or(
		principal.Of(ctx).Need(principal.ScopeRead),
		learning.CheckQuery(query.Query),
		wrongPersona,
		check.Name("category", query.Category),
		wrongLimit,
		check.Name("agent_id", query.AgentID),
		wrongSpan,
	); err != nil {
		return Results{}, err
	}
	var tags []string
	if persona != "" {
		tags = []string{persona}
	}
	found, err := p.Ask(ctx, shelf.ShelfQuery{
		Query: tfidf.Query{
			Text: query.Query, Category: query.Category, Tags: shelf.Written(tags, query.AgentID), From: shelf.Moment(span.From), To: shelf.Moment(span.To),
			Limit: limit, Explain: query.Explain, Corpus: query.Corpus,
		},
		Category: "category", Hidden: persona,
	})
	if err != nil {
		return Results{}, err
	}
	results := Results{Results: []Hit{}, Corrected: found.Corrected, Notice: found.Notice, Repairs: found.Repairs}
	_, err = p.Fetch(ctx, found, func(s *Stored, hit tfidf.Hit) {
		results.Results = append(results.Results, Hit{s.Shown(), hit.Score, shelf.Relevance(hit.Evidence), shelf.Reasons(hit.Why), hit.Evidence})
	})
	results.Count = len(results.Results)
	return results, err
}

// Stats implements Service.
func (p *Procedures) Stats(ctx context.Context) (Stats, error) {
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return Stats{}, err
	}
	stats, err := p.store.CountProcedures(ctx)
	p.filesMu.RLock()
	defer p.filesMu.RUnlock()
	stats.Files, stats.Problems = p.files, len(p.problems)
	return stats, err
}

// addEvent tells of a change of a procedure, in its transaction.
func addEvent(tx Tx, kind string, p Stored, agent string, at time.Time) error {
	event := eventlog.Event{Type: kind, Subject: ID(p.Persona, p.Name), Agent: agent, At: at}
	return tx.AddEvents(event.With(Event{Persona: p.Persona, Name: p.Name, Version: p.Version, Category: p.Body.Category}))
}

// Shown is a procedure as callers see it, without the figures of its steps.
func (s *Stored) Shown() Procedure {
	shown := Procedure{
		Persona: s.Persona, Name: s.Name, Version: s.Version, Description: s.Body.Description, Category: s.Body.Category,
		Params: s.Body.Params, Steps: s.Body.Steps, LearnedFrom: s.Body.LearnedFrom, Author: s.Author, Trust: s.Trust, File: s.File.Path,
		Runs: s.Runs, Succeeded: s.Succeeded, SuccessRate: s.SaidRate, AvgTime: s.SaidTime, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
	}
	if s.Runs > 0 {
		shown.SuccessRate = float64(s.Succeeded) / float64(s.Runs)
	}
	if s.Succeeded > 0 {
		shown.AvgTime = s.Took / float64(s.Succeeded)
	}
	return shown
}

// stepStats puts the records of steps into the order of the steps.
func stepStats(steps []Step, records map[string]StepRecord) []StepStats {
	stats := make([]StepStats, len(steps))
	for i, step := range steps {
		r := records[step.Name]
		stats[i] = StepStats{Name: step.Name, Succeeded: r.Succeeded, Failed: r.Failed, Skipped: r.Skipped, Unknown: r.Unknown}
		if r.Succeeded > 0 {
			stats[i].AvgTime = r.Took / float64(r.Succeeded)
		}
	}
	return stats
}

// IndexKind is the kind of the index of procedures.
const IndexKind shelf.IndexKind = "procedures"

// document is what is searched of a procedure. The engine's tag holds
// the persona, which procedures are filtered by.
func document(s *Stored) tfidf.Document {
	var body strings.Builder
	for _, step := range s.Body.Steps {
		for _, text := range []string{step.Name, step.Description, step.Action, step.Run} {
			if text != "" {
				body.WriteString(text + "\n")
			}
		}
	}
	return tfidf.Document{
		ID: ID(s.Persona, s.Name), Title: s.Name + ": " + s.Body.Description, Body: body.String(),
		Category: s.Body.Category, Tags: shelf.Written([]string{s.Persona}, s.Author), Order: s.Number, At: shelf.Moment(s.UpdatedAt),
	}
}

// clearStep is how many procedures Clear reads at once.
const clearStep = 50

// Clear deletes a persona's procedures, of one category or, if that is empty,
// of all, with their files and figures, at most most of them, and returns how
// many. Runs under way go on, as they do after Delete. Each is deleted by
// itself; what a crash leaves, the next call deletes. It needs ScopeCaptain.
func (p *Procedures) Clear(ctx context.Context, persona, category string, most int) (deleted int64, err error) {
	return tally.Clear(ctx, persona, most, clearStep, nil, func(ctx context.Context, persona string, _ int64, limit int) (deleted int64, all int, err error) {
		list, err := p.store.ListProcedures(ctx, Filter{Persona: persona, Category: category, Limit: limit})
		for _, found := range list {
			err := p.remove(ctx, Ref{Persona: persona, Name: found.Name}, principal.Of(ctx).AgentID, nil)
			switch {
			case err == nil:
				deleted++
			case errs.CodeOf(err) != errs.NotFound: // somebody else deleted it
				return deleted, len(list), err
			}
		}
		return deleted, len(list), err
	})
}
