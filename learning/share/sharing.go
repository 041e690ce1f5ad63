package share

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Memory is where entries are read from, and where those that were accepted go.
type Memory struct {
	Knowledge *knowledge.Base
	Lessons   *lesson.Lessons
	Episodes  episode.Service
}

// Sharing is the Service beside the database.
type Sharing struct {
	store  Store
	memory Memory
	now    clock.Clock
}

var _ Service = (*Sharing)(nil)

// New makes the service.
func New(store Store, memory Memory, now clock.Clock) *Sharing { return &Sharing{store, memory, now} }

// taker is who stores what was accepted: no person said it, and no agent of this installation.
func taker(ctx context.Context) context.Context {
	return principal.With(ctx, principal.Principal{Scopes: []principal.Scope{principal.ScopeCaptain}})
}

// Known implements Service.
func (s *Sharing) Known(ctx context.Context, project string) ([]Known, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), check.Required("project", project, check.MaxName)); err != nil {
		return nil, err
	}
	return s.store.KnownShared(ctx, project)
}

// Share implements Service.
func (s *Sharing) Share(ctx context.Context, request Request) ([]Entry, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeAgent), check.Required("project", request.Project, check.MaxName), learning.CheckIDs("ids", request.IDs, MaxEntries)); err != nil {
		return nil, err
	}
	entries, rows := []Entry{}, []Known{}
	known, err := s.known(ctx, request.Project)
	if err != nil {
		return nil, err
	}
	for _, id := range request.IDs {
		e, err := s.read(ctx, id, request.Project)
		if err != nil {
			return nil, err
		}
		if e.Supersedes, err = s.store.Superseded(ctx, request.Project, e.ID); err != nil {
			return nil, err
		}
		row := known[e.ID]
		if row.Held && row.Kind != "" {
			e.Kind = row.Kind // an accepted decision is knowledge here
			e.Author = cmp.Or(e.Author, row.Writer)
		}
		if err := e.Clean(); err != nil {
			return nil, notShared(id, errs.FieldOf(err)+" "+errs.MessageOf(err))
		}
		row.Project, row.ID, row.Kind, row.Hash, row.Held, row.At = request.Project, e.ID, e.Kind, e.Hash(), true, s.now.Stamp()
		entries, rows = append(entries, e), append(rows, row)
	}
	return entries, s.store.PutShared(ctx, rows)
}

// read is an entry of this memory as others are told it.
func (s *Sharing) read(ctx context.Context, id, project string) (e Entry, err error) {
	of := ""
	if k, err := s.memory.Knowledge.Entry(ctx, id); err == nil {
		e, of = Entry{ID: k.ID, Kind: KindKnowledge, Title: k.Title, Created: k.CreatedAt, Author: k.Author, Text: k.Content}, k.Project
		e.Title = cmp.Or(e.Title, check.Head(learning.FirstLine(strings.TrimSpace(k.Content)), 200))
	} else if errs.CodeOf(err) != errs.NotFound {
		return e, err
	} else if l, err := s.memory.Lessons.Lesson(ctx, id); err == nil {
		e, of = Entry{ID: l.ID, Kind: KindLesson, Title: l.Title, Created: l.CreatedAt, Author: l.SourceAgent, Text: textOf(&l)}, l.Project
		if l.Status == lesson.StatusRetired {
			return e, notShared(id, "the lesson is retired")
		}
	} else if errs.CodeOf(err) != errs.NotFound {
		return e, err
	} else if d, err := s.memory.Episodes.Episode(ctx, id); err == nil {
		e, of = Entry{ID: d.ID, Kind: KindDecision, Title: d.Title, Created: d.CreatedAt, Author: d.AgentID, Text: joined(d.Content, "", d.Learned)}, d.Project
		if d.EventType != episode.EventDecision {
			return e, notShared(id, "of episodes only decisions are shared, and this is of type "+d.EventType)
		}
	} else if errs.CodeOf(err) != errs.NotFound {
		return e, err
	} else {
		return e, errs.Errorf(errs.NotFound, "no entry, decision or lesson is called %q", id)
	}
	if of != project {
		return e, notShared(id, fmt.Sprintf("it belongs to the project %q, and not to %q", of, project))
	}
	return e, nil
}

// textOf is all that a lesson says as one text.
func textOf(l *lesson.Lesson) string {
	text := ""
	for _, part := range []struct{ name, says string }{
		{"", l.Context},
		{"Done", l.Action},
		{"Outcome", l.Outcome},
		{"Cause", l.RootCause},
		{"Solution", l.Solution},
		{"Instead", strings.Join(l.Alternatives, "; ")},
		{"Commands", strings.Join(l.RelatedCommands, "; ")},
		{"", l.Body},
	} {
		text = joined(text, part.name, part.says)
	}
	return cmp.Or(text, l.Title)
}

// joined is a text with a part of a name below it.
func joined(text, name, part string) string {
	if part = strings.TrimSpace(part); part == "" {
		return text
	}
	if name != "" {
		part = name + ": " + part
	}
	return strings.TrimSpace(text + "\n\n" + part)
}

func (s *Sharing) known(ctx context.Context, project string) (map[string]Known, error) {
	rows, err := s.store.KnownShared(ctx, project)
	known := make(map[string]Known, len(rows))
	for _, row := range rows {
		known[row.ID] = row
	}
	return known, err
}

// Decide implements Service. Each answer is stored by itself: who dies in between finds the others waiting.
func (s *Sharing) Decide(ctx context.Context, decision Decision) ([]Outcome, error) {
	by, err := principal.Of(ctx).AsPerson()
	if err != nil {
		return nil, err
	}
	if len(decision.Answers) == 0 {
		return []Outcome{}, nil
	}
	if err := check.Required("project", decision.Project, check.MaxName); err != nil {
		return nil, err
	}
	known, err := s.known(ctx, decision.Project)
	if err != nil {
		return nil, err
	}
	outcomes := []Outcome{}
	for _, answer := range decision.Answers {
		at, e := s.now.Stamp(), answer.Entry
		outcome := Outcome{ID: e.ID}
		row, err := known[e.ID], error(nil)
		if answer.Gone && row.ID == "" {
			err = errs.Errorf(errs.NotFound, "nothing of this id was shared")
		} else if !answer.Gone {
			err = e.Clean()
		}
		if err == nil {
			err = cmp.Or(check.Text("path", answer.Path, learning.MaxSource), check.Text("commit", answer.Commit, check.MaxName), check.Text("author", answer.Author, learning.MaxSource))
		}
		if err == nil {
			answer.Entry = e
			row.Project, row.ID, row.Kind, row.At, row.By = decision.Project, e.ID, cmp.Or(e.Kind, row.Kind), at, by
			done := learning.Declined
			if answer.Accept {
				done = learning.Accepted
			}
			outcome.Became, err = s.decide(learning.Noting(ctx, at, done, "shared", e.ID+"/"+decision.Project), &row, answer)
		}
		switch code := errs.CodeOf(err); code {
		case "":
			known[e.ID] = row
		case errs.Invalid, errs.TooLarge, errs.Conflict, errs.NotFound, errs.Forbidden:
			outcome.Became, outcome.Reason = "refused", learning.Sentence(err)
		default:
			return outcomes, err
		}
		outcomes = append(outcomes, outcome)
	}
	return outcomes, nil
}

// decide does as a person said of one entry, and brings its row in step.
func (s *Sharing) decide(ctx context.Context, row *Known, answer Answer) (became string, err error) {
	hash := Missing
	if !answer.Gone {
		hash = answer.Entry.Hash()
	}
	switch {
	case !answer.Accept:
		row.Declined = hash
		return "declined", s.put(ctx, row)
	case answer.Gone || answer.Entry.Retired != nil:
		became = "retired"
		if row.Held && row.Hash != "" {
			if err := s.retire(ctx, row); err != nil {
				return "", err
			}
		}
		row.Hash, row.Declined = "", hash
		return became, s.put(ctx, row)
	}
	there, err := s.there(ctx, row, answer.Entry)
	if err != nil {
		return "", err
	}
	// The row comes first, without the hash: who dies in between finds the entry waiting, and its id known for its own.
	row.Held, row.Hash, row.Declined = true, "", ""
	row.Path, row.Commit, row.Author, row.Writer = answer.Path, answer.Commit, answer.Author, answer.Entry.Author
	if err := s.put(ctx, row); err != nil {
		return "", err
	}
	if became, err = s.keep(taker(ctx), row, answer.Entry, there); err != nil {
		return "", err
	}
	row.Hash = hash
	if err := s.put(ctx, row); err != nil {
		return "", err
	}
	return became, s.supersede(taker(ctx), row, answer.Entry)
}

func (s *Sharing) put(ctx context.Context, row *Known) error {
	return s.store.PutShared(ctx, []Known{*row})
}

// there finds what is here under an entry's id, and refuses one that was never shared: whoever writes a file may say any id.
func (s *Sharing) there(ctx context.Context, row *Known, e Entry) (found Entry, err error) {
	found, err = s.read(ctx, e.ID, row.Project)
	switch {
	case errs.CodeOf(err) == errs.NotFound:
		return Entry{}, nil
	case errs.CodeOf(err) == errs.Invalid && row.Held: // a retired lesson, or what was moved to another project since
		return Entry{ID: e.ID, Kind: e.Kind}, nil
	case err != nil && errs.CodeOf(err) != errs.Invalid:
		return found, err
	case !row.Held:
		return found, errs.Errorf(errs.Conflict, "its id is that of an entry here that was never shared")
	case (found.Kind == KindLesson) != (e.Kind == KindLesson):
		return found, errs.Errorf(errs.Conflict, "it was a %s before, and is a %s now", found.Kind, e.Kind)
	}
	return found, nil
}

// Category is that of what others shared and nobody filed here.
const Category = "shared"

// keep stores what was accepted, as what came in from elsewhere. An accepted lesson is a candidate that nothing stands on.
func (s *Sharing) keep(ctx context.Context, row *Known, e Entry, there Entry) (became string, err error) {
	if e.Kind == KindLesson {
		return s.keepLesson(ctx, row, e, there.ID != "")
	}
	source := check.OneLine(fmt.Sprintf("shared by git: commit %s by %.200s, %.1000s", row.Commit, row.Author, row.Path))
	category := Category
	if e.Kind == KindDecision {
		category = "decision"
	}
	draft := knowledge.Draft{ID: e.ID, Category: category, Title: e.Title, Content: e.Text, Source: source, Project: row.Project}
	old, err := s.memory.Knowledge.Entry(ctx, e.ID)
	if errs.CodeOf(err) == errs.NotFound {
		taken, err := s.memory.Knowledge.Take(ctx, []knowledge.Knowledge{{
			ID: draft.ID, Category: draft.Category, Title: draft.Title, Content: draft.Content, Source: draft.Source, Project: draft.Project, CreatedAt: e.Created,
		}}, learning.Taking{})
		if err = cmp.Or(err, refusal(taken)); err != nil {
			return "", err
		}
		if there.Kind == KindDecision { // the episode of this machine says what nobody says any more
			return "updated", s.memory.Episodes.Delete(ctx, e.ID)
		}
		return "stored", nil
	}
	if err != nil {
		return "", err
	}
	draft.Category, draft.Tags = old.Category, old.Tags
	_, err = s.memory.Knowledge.StoreAs(learning.Noting(ctx, row.At, learning.Edited, string(knowledge.IndexKind), e.ID), draft, learning.TrustImported)
	return "updated", err
}

func (s *Sharing) keepLesson(ctx context.Context, row *Known, e Entry, there bool) (string, error) {
	if there {
		none := ""
		old, err := s.memory.Lessons.Lesson(ctx, e.ID)
		if err != nil {
			return "", err
		}
		_, err = s.memory.Lessons.Edit(ctx, e.ID, lesson.Patch{Title: &e.Title, Body: &e.Text, Context: &none, Action: &none, Outcome: &none, RootCause: &none, Solution: &none})
		if err == nil && old.Status == lesson.StatusRetired { // last: undo finds the lesson as this leaves it
			ctx = learning.Noting(ctx, row.At, learning.Retired, "lesson", e.ID)
			_, err = s.memory.Lessons.Restore(ctx, e.ID, "it is shared again by the project's git")
		}
		return "updated", err
	}
	taken, err := s.memory.Lessons.Take(ctx, []lesson.Lesson{{
		ID: e.ID, Type: learning.LessonDiscovery, Domain: "general", Category: Category, Title: e.Title, Body: e.Text, Project: row.Project,
		Belief: lesson.Belief{InitialConfidence: lesson.MediumConfidence, DecayConstant: lesson.DecayConstant}, CreatedAt: e.Created,
	}}, learning.Taking{})
	return "stored", cmp.Or(err, refusal(taken))
}

func refusal(taken []learning.Taken) error {
	if len(taken) > 0 {
		return taken[0].Err
	}
	return nil
}

// retire takes an entry out of use, as the person who said so.
func (s *Sharing) retire(ctx context.Context, row *Known) (err error) {
	if row.Kind == KindLesson {
		_, err = s.memory.Lessons.Retire(ctx, row.ID, lesson.RetirementDraft{Reason: "it was retired in the project's git"})
		if errs.CodeOf(err) == errs.Conflict { // it is retired already
			return nil
		}
	} else if err = s.memory.Knowledge.Delete(ctx, row.ID); errs.CodeOf(err) == errs.NotFound {
		err = s.memory.Episodes.Delete(ctx, row.ID)
	}
	if errs.CodeOf(err) == errs.NotFound {
		return nil
	}
	return err
}

// supersede takes the place of the shared entries that an accepted one names. Of what was never shared it takes no place.
func (s *Sharing) supersede(ctx context.Context, row *Known, e Entry) error {
	if len(e.Supersedes) == 0 {
		return nil
	}
	known, err := s.known(ctx, row.Project)
	if err != nil {
		return err
	}
	for _, id := range e.Supersedes {
		if other := known[id]; !other.Held || other.Gone || id == e.ID {
			continue
		}
		if e.Kind == KindLesson {
			_, err = s.memory.Lessons.Retire(ctx, id, lesson.RetirementDraft{Reason: "another lesson of the project's git stands in its place", SupersededBy: e.ID})
		} else {
			_, err = s.memory.Knowledge.Update(ctx, id, knowledge.Patch{SupersededBy: &e.ID})
		}
		if code := errs.CodeOf(err); code == errs.Unavailable || code == errs.Internal || code == errs.StorageFull {
			return err
		}
	}
	return nil
}
