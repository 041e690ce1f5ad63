package experience

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/strictjson"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Store keeps episodes with their outcomes and what comes of them.
// learning/store implements it on learning.db.
type Store interface {
	lesson.PipelineStore
	// ChangeExperiences is a lesson.PipelineStore's Change that knows experiences.
	ChangeExperiences(ctx context.Context, decide func(tx Tx) error, after func()) (wait func() error)
	Reader
}

// Experiences is the Service beside the database. Its episodes,
// patterns and lessons are those of everybody: what it records is searched
// among all episodes, and what it learns is a lesson like any other. Run
// forgets what has been kept long enough.
type Experiences struct {
	store    Store
	episodes *episode.Episodes
	lessons  *lesson.Lessons
	options  Options
	log      *slog.Logger
	now      clock.Clock
}

// Options are the settings of Experiences. The zero value keeps everything for ever.
type Options struct {
	learning.Options
	// KeepEpisodes is how long an experience is kept, and twice as long if its utility
	// is KeepUtility or more; 0: for ever.
	KeepEpisodes time.Duration
	// KeepPatterns is how long a pattern is kept after it was last seen; 0: for ever.
	KeepPatterns time.Duration
}

var _ Service = (*Experiences)(nil)

// NewExperiences makes Experiences that are searched through episodes and teach lessons.
func NewExperiences(store Store, episodes *episode.Episodes, lessons *lesson.Lessons, options Options) *Experiences {
	options.Options = options.WithDefaults()
	return &Experiences{store: store, episodes: episodes, lessons: lessons, options: options, log: options.Log, now: options.Now}
}

// Record implements Service. It needs ScopeAgent. Secrets are cut
// out of all texts before they are stored.
func (x *Experiences) Record(ctx context.Context, draft Draft) (Recorded, error) {
	author, err := principal.Of(ctx).ActingAs("agent_id", draft.AgentID)
	if err != nil {
		return Recorded{}, err
	}
	p, err := prepare(draft, author)
	if err != nil {
		return Recorded{}, err
	}
	at := x.now.Stamp()
	p.episode.ID = check.NewID()
	if p.episode.SessionID, err = x.episodes.Sessions.Enter(ctx, author, "", at); err != nil {
		return Recorded{}, err
	}
	p.experience.EpisodeID, p.experience.At, p.experience.Timestamp, p.episode.CreatedAt = p.episode.ID, at, at.UnixMilli(), at
	var recorded Recorded
	var stored episode.Episode
	err = x.store.ChangeExperiences(ctx, func(tx Tx) error {
		experience, episode := p.experience, p.episode
		triggered, err := record(tx, &experience, &episode, p)
		recorded = Recorded{EpisodeID: experience.Number, Recorded: true, Utility: experience.Utility, Patterns: appendNew([]string{}, triggered), Redacted: p.redacted}
		stored = episode
		return err
	}, func() { x.episodes.Put(stored) })()
	return recorded, err
}

// record scores an experience by those before it, stores it, and returns the text of
// the pattern that it forms or joins. What it reads does not grow with what is stored.
func record(tx Tx, e *Experience, episode *episode.Episode, p prepared) (triggered string, err error) {
	operation, err := tx.Operation(e.OperationType, e.At.Add(-RecencyWindow))
	if err != nil {
		return "", err
	}
	same, seen, err := tx.SameProblem(e.OperationType, p.fingerprint, NoveltyWindow)
	if err != nil {
		return "", err
	}
	e.Novelty = novelty(same, seen)
	e.Effectiveness = effectiveness(e.Outcome, e.QualityScore)
	e.Generalizability = generalizability(p.dependencies, p.triggers, operation.Episodes)
	e.Utility = utility(e.Novelty, e.Effectiveness, e.Generalizability)
	episode.Importance = e.Utility
	if err := tx.InsertExperience(e, episode, p.fingerprint); err != nil {
		return "", err
	}
	operation = operation.With(e.Outcome, e.Utility, e.At)
	if err := tx.SetOperation(operation); err != nil {
		return "", err
	}
	event := eventlog.Event{Type: lesson.EventExperienceRecorded, Subject: e.EpisodeID, Agent: e.AgentID, Project: e.Project, At: e.At}
	event = event.With(lesson.ExperienceEvent{EpisodeID: e.Number, OperationType: e.OperationType, Utility: e.Utility})
	triggered, more, err := gather(tx, operation.Window, *e)
	if err != nil {
		return "", err
	}
	return triggered, tx.AddEvents(append([]eventlog.Event{event}, more...)...)
}

// Experience implements Service. It needs ScopeRead.
func (x *Experiences) Experience(ctx context.Context, number int64) (Experience, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), checkNumber("id", number)); err != nil {
		return Experience{}, err
	}
	found, ok, err := x.store.ExperienceOf(ctx, number)
	if err == nil && !ok {
		err = errs.Errorf(errs.NotFound, "there is no episode %d with an outcome", number)
	}
	return found, err
}

// Recall implements Service. It needs ScopeRead.
func (x *Experiences) Recall(ctx context.Context, filter Filter) (Recall, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), checkFilter(&filter)); err != nil {
		return Recall{}, err
	}
	found, err := x.store.Experiences(ctx, filter)
	if err != nil {
		return Recall{}, err
	}
	recall := Recall{Episodes: found, Count: len(found), Patterns: []Pattern{}}
	for _, e := range found {
		recall.AverageUtility += e.Utility / float64(len(found))
	}
	if filter.Outcome == "" {
		total, err := x.store.TotalExperiences(ctx, filter.OperationType)
		if err != nil {
			return Recall{}, err
		}
		recall.Total = &total
	}
	if filter.OperationType == "" && filter.Outcome == "" {
		return recall, nil
	}
	operationType, related := filter.OperationType, lesson.PatternFilter{Limit: filter.Patterns}
	if operationType == "" || filter.ByOutcome {
		operationType, related.Type = "", kindOfOutcome(filter.Outcome)
	}
	patterns, _, err := x.store.ExperiencePatterns(ctx, operationType, related)
	recall.Patterns = patternViews(patterns, x.now.Stamp())
	return recall, err
}

// kindOfOutcome is the kind of the patterns that come with experiences that went so.
func kindOfOutcome(outcome learning.Result) lesson.PatternType {
	switch outcome {
	case learning.ResultSuccess:
		return lesson.PatternSuccess
	case learning.ResultFailure:
		return lesson.PatternFailure
	case learning.ResultPartial:
		return lesson.PatternCorrelation
	}
	return ""
}

// Patterns implements Service. It needs ScopeRead.
func (x *Experiences) Patterns(ctx context.Context, filter lesson.PatternFilter) (Patterns, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), checkListing(&filter)); err != nil {
		return Patterns{}, err
	}
	found, total, err := x.store.ExperiencePatterns(ctx, "", filter)
	list := Patterns{Patterns: patternViews(found, x.now.Stamp()), Count: len(found), Total: total}
	if end := filter.Offset + len(found); int64(end) < total && len(found) > 0 && end <= lesson.MaxOffset {
		list.Next = end
	}
	return list, err
}

// checkListing checks what patterns are asked for, and sets its limit.
func checkListing(filter *lesson.PatternFilter) error {
	if err := check.SetLimit(&filter.Limit, MaxShown, MaxShown); err != nil {
		return err
	}
	checked := *filter
	checked.Limit = 1
	return lesson.CheckPatternFilter(&checked)
}

// Pattern implements Service. It needs ScopeRead.
func (x *Experiences) Pattern(ctx context.Context, number int64) (Pattern, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), checkNumber("id", number)); err != nil {
		return Pattern{}, err
	}
	found, ok, err := x.store.PatternOf(ctx, strconv.FormatInt(number, 10))
	if err == nil && !ok {
		err = errs.Errorf(errs.NotFound, "there is no pattern %d", number)
	}
	if err != nil {
		return Pattern{}, err
	}
	return patternView(found, x.now.Stamp()), nil
}

// Stats implements Service. It needs ScopeRead.
func (x *Experiences) Stats(ctx context.Context) (Stats, error) {
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return Stats{}, err
	}
	return x.store.CountExperiences(ctx, x.now.Stamp())
}

func patternViews(patterns []lesson.Pattern, at time.Time) []Pattern {
	views := make([]Pattern, 0, len(patterns))
	for _, p := range patterns {
		views = append(views, patternView(p, at))
	}
	return views
}

func patternView(p lesson.Pattern, at time.Time) Pattern {
	made := p.Made
	if made == nil {
		made = &lesson.PatternAsMade{Type: p.Type, Description: p.Description, EpisodeIDs: p.EpisodeIDs, Frequency: p.Frequency, InitialConfidence: p.InitialConfidence}
	}
	return Pattern{
		Number: p.Number, PatternID: p.ID, Type: made.Type, Description: made.Description, EpisodeIDs: made.EpisodeIDs, Frequency: made.Frequency,
		LastSeen: p.LastSeen.UnixMilli(), CreatedAt: p.CreatedAt.UnixMilli(), InitialConfidence: made.InitialConfidence,
		DecayConstant: p.DecayConstant, LastValidated: latest(p.LastSeen, p.LastValidated), TimesApplied: p.TimesApplied,
		TimesSucceeded: p.TimesSucceeded, Weight: p.Weight, CurrentConfidence: p.Belief.At(at), Status: p.Status, OperationType: p.OperationType,
		KindNow: p.Type, DescriptionNow: p.Description,
	}
}

// latest is the later of two times in Unix milliseconds; the second may be none.
func latest(a time.Time, b *time.Time) int64 {
	if b != nil {
		a = learning.Later(a, *b)
	}
	return a.UnixMilli()
}

// experienceEpisode renders an experience as the episode that it is to the
// sidecar's clients, so that they read and find it: a failure is an error, anything
// else an outcome, and its importance is its utility.
func experienceEpisode(e Experience, problem *Problem, solution *Solution, metadata *Metadata) episode.Episode {
	var content strings.Builder
	line := func(name, value string) {
		if value != "" {
			content.WriteString(name + ": " + value + "\n")
		}
	}
	object := func(name string, members map[string]any) {
		if len(members) > 0 {
			text, _ := strictjson.Plain(members) // it was marshalled before
			line(name, string(text))
		}
	}
	title := e.OperationType + " " + string(e.Outcome)
	if problem != nil {
		if problem.Query != "" {
			title += ": " + problem.Query
		}
		line("Problem", problem.Query)
		object("Constraints", problem.Constraints)
		object("Context", problem.Context)
	}
	if solution != nil {
		if problem == nil || problem.Query == "" {
			title += strings.TrimRight(": "+solution.Approach, ": ")
		}
		line("Solution", solution.Approach)
		line("Tool", solution.Tool)
		object("Parameters", solution.Params)
	}
	outcome := string(e.Outcome)
	if e.QualityScore != nil {
		outcome += fmt.Sprintf(", quality %.3g", *e.QualityScore)
	}
	if e.DurationMS != nil {
		outcome += fmt.Sprintf(", %d ms", *e.DurationMS)
	}
	line("Outcome", outcome)
	line("Server", e.ServerName)
	if metadata != nil {
		line("Environment", metadata.Environment)
		line("Dependencies", strings.Join(metadata.Dependencies, ", "))
		line("Triggers", strings.Join(metadata.Triggers, ", "))
	}
	line("Notes", e.Notes)
	kind := episode.EventOutcome
	if e.Outcome == learning.ResultFailure {
		kind = episode.EventError
	}
	return episode.Episode{
		AgentID: e.AgentID, Persona: learning.DefaultPersona, EventType: kind, Project: e.Project,
		Title: check.Head(check.OneLine(title), learning.MaxTitle), Content: strings.TrimSuffix(content.String(), "\n"),
	}
}

// takenEpisode is an episode that was checked.
type takenEpisode struct {
	episode     episode.Episode
	experience  *Experience
	fingerprint int64
}

// Take takes in episodes of another router, with their outcomes. Their figures
// count from then on; patterns are carried by themselves. It needs ScopeCaptain.
func (x *Experiences) Take(ctx context.Context, records []EpisodeRecord, t learning.Taking) ([]learning.Taken, error) {
	now := x.now.Stamp()
	return learning.Taker[EpisodeRecord, takenEpisode, Tx]{
		ID:     func(r *EpisodeRecord) string { return r.ID },
		Check:  func(r EpisodeRecord) (takenEpisode, error) { return takeEpisode(r, now) },
		Change: x.store.ChangeExperiences,
		Put: func(tx Tx, _ int, e *takenEpisode) (bool, error) {
			numbers, err := tx.EpisodeNumbers([]string{e.episode.ID})
			if _, there := numbers[e.episode.ID]; err != nil || there {
				return there, err
			}
			event, err := insertTaken(tx, e, now)
			if err != nil {
				return false, err
			}
			return false, tx.AddEvents(event)
		},
		Stored: func(stored []takenEpisode) {
			for _, e := range stored {
				x.episodes.Put(e.episode)
			}
		},
	}.Take(ctx, records, t)
}

func insertTaken(tx Tx, e *takenEpisode, now time.Time) (eventlog.Event, error) {
	event := eventlog.Event{Type: learning.EventEpisodeRecorded, Subject: e.episode.ID, Agent: e.episode.AgentID, Project: e.episode.Project, At: now}
	if e.experience == nil {
		return event, tx.InsertEpisode(&e.episode)
	}
	x := *e.experience
	operation, err := tx.Operation(x.OperationType, now.Add(-RecencyWindow))
	if err != nil {
		return event, err
	}
	if err := tx.InsertExperience(&x, &e.episode, e.fingerprint); err != nil {
		return event, err
	}
	return event, tx.SetOperation(operation.With(x.Outcome, x.Utility, x.At))
}

func takeEpisode(r EpisodeRecord, now time.Time) (t takenEpisode, err error) {
	if err := cmp.Or(
		learning.CheckID("id", r.ID),
		learning.CheckAuthor("agent_id", r.AgentID),
		episode.CheckSession(r.SessionID),
	); err != nil {
		return t, err
	}
	learning.Moments(now, now, &r.CreatedAt)
	if r.Experience == nil {
		t.episode, err = episode.Prepare(episode.Draft{
			Persona: r.Persona, EventType: r.EventType, Event: r.Event, Title: r.Title, Content: r.Content, Context: r.Context, Learned: r.Learned,
			Project: r.Project, Importance: &r.Importance,
		}, r.CreatedAt)
	} else {
		t, err = take(*r.Experience, r.AgentID, r.CreatedAt)
	}
	t.episode.ID, t.episode.AgentID, t.episode.SessionID, t.episode.CreatedAt = r.ID, r.AgentID, r.SessionID, r.CreatedAt
	return t, err
}

func take(x Experience, author string, at time.Time) (t takenEpisode, err error) {
	draft := Draft{
		OperationType: x.OperationType, ServerName: x.ServerName, Outcome: x.Outcome, QualityScore: x.QualityScore, DurationMS: x.DurationMS,
		Notes: x.Notes, Project: x.Project,
	}
	for _, part := range []struct {
		field string
		text  json.RawMessage
		into  any
	}{{"problem", x.Problem, &draft.Problem}, {"solution", x.Solution, &draft.Solution}, {"metadata", x.Metadata, &draft.Metadata}} {
		if len(part.text) > 0 {
			if err := json.Unmarshal(part.text, part.into); err != nil {
				return t, errs.InvalidField("experience."+part.field, "cannot be read")
			}
		}
	}
	if err := cmp.Or(
		check.Range("experience.novelty_score", x.Novelty, 0, 1),
		check.Range("experience.effectiveness_score", x.Effectiveness, 0, 1),
		check.Range("experience.generalizability_score", x.Generalizability, 0, 1),
		check.Range("experience.utility_score", x.Utility, 0, 1),
	); err != nil {
		return t, err
	}
	p, err := prepare(draft, author)
	if err != nil {
		return t, err
	}
	e := p.experience
	e.Novelty, e.Effectiveness, e.Generalizability, e.Utility = x.Novelty, x.Effectiveness, x.Generalizability, x.Utility
	e.At, e.Timestamp = at, at.UnixMilli()
	t.episode, t.experience, t.fingerprint = p.episode, &e, p.fingerprint
	t.episode.Importance = e.Utility
	return t, nil
}

// EpisodeRecord is an episode as it is carried: with its outcome, if it is an experience.
type EpisodeRecord struct {
	episode.Episode
	Experience *Experience `json:"experience,omitempty"`
}
