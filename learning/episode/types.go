package episode

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/tfidf"
)

// EventTypes lists the event types of episodes.
func EventTypes() []string {
	return []string{EventAction, EventError, EventDecision, EventOutcome}
}

func checkEventType(eventType string) error {
	if !slices.Contains(EventTypes(), eventType) {
		return errs.InvalidField("event_type", "must be one of %s", strings.Join(EventTypes(), ", "))
	}
	return nil
}

// CheckSession refuses a session's id that is no id.
func CheckSession(id string) error {
	if strings.TrimSpace(id) != id {
		return errs.InvalidField("session_id", "may not begin or end with white space")
	}
	return check.Name("session_id", id)
}

// rendered is what was learned and the context as text, a line for each member.
func (e *Episode) rendered() string {
	var out strings.Builder
	line := func(name, text string) {
		if text = strings.TrimSpace(text); text != "" {
			out.WriteString(name + ": " + text + "\n")
		}
	}
	line("Learned", e.Learned)
	for name, value := range members(e.Context) {
		line(check.OneLine(name), plainValue(value))
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// searched is the text that an episode is found by: all that it says.
func (e *Episode) searched() string {
	more := e.rendered()
	if more == "" || strings.Contains(e.Content, more) {
		return e.Content
	}
	return e.Content + "\n" + more
}

func (q *Query) unfiltered() bool {
	return q.SessionID == "" && q.AgentID == "" && (q.Persona == "" || q.Persona == EveryPersona || q.Persona == learning.DefaultPersona) &&
		q.EventType == "" && q.Event == "" && q.Since.IsZero() && q.Until.IsZero() && q.TimeRange == ""
}

// Service is what can be done with episodes. Episodes implements it
// beside the database, router/client over HTTP.
type Service interface {
	// Record stores what happened.
	Record(ctx context.Context, draft Draft) (Episode, error)
	// Recent returns the latest episodes, newest first, up to MaxAnswer bytes of them.
	Recent(ctx context.Context, filter Filter) ([]Episode, error)
	// Search finds the episodes that fit the query best, best first.
	Search(ctx context.Context, query Query) (Results, error)
	// Episode returns one, by its id or its number in decimal.
	Episode(ctx context.Context, ref string) (Episode, error)
	// Edit changes what an episode says, and returns it as it is then.
	Edit(ctx context.Context, ref string, patch Patch) (Episode, error)
	// Delete deletes an episode.
	Delete(ctx context.Context, ref string) error
}

// The event types of the sidecar's episodes. Others are refused.
const (
	EventAction   = "action"
	EventError    = "error"
	EventDecision = "decision"
	EventOutcome  = "outcome"
)

// Episode is something that happened.
type Episode struct {
	ID         string          `json:"id"`
	Number     int64           `json:"number"` // grows with each episode, without gaps in meaning: order of recording
	SessionID  string          `json:"session_id"`
	AgentID    string          `json:"agent_id"`
	Persona    string          `json:"persona"` // whose memory it is, in the words of the persona's memory
	EventType  string          `json:"event_type"`
	Event      string          `json:"event,omitempty"` // the persona memory's free name, such as mrr-drop-investigation
	Title      string          `json:"title"`
	Content    string          `json:"content"`
	Context    json.RawMessage `json:"context,omitempty"` // an object
	Learned    string          `json:"learned,omitempty"`
	Project    string          `json:"project,omitempty"`
	Importance float64         `json:"importance"` // 0 to 1
	CreatedAt  time.Time       `json:"created_at"`
	learning.Place
}

// Draft is what a client may say of a new episode. It needs an
// EventType, a Title and a Content (the sidecar), or an Event (the persona's memory), of
// which the others then follow.
type Draft struct {
	SessionID string          `json:"session_id,omitempty" help:"Session; the agent's current one if none is named"` // empty: the agent's current session
	AgentID   string          `json:"agent_id,omitempty" actor:"true"`
	Persona   string          `json:"persona,omitempty" doc:"Whose memory; default \"default\""` // empty: DefaultPersona
	EventType string          `json:"event_type,omitempty" among:"action,error,decision,outcome"`
	Event     string          `json:"event,omitempty" doc:"A short name, such as mrr-drop-investigation"`
	Title     string          `json:"title,omitempty"`
	Content   string          `json:"content,omitempty" long:"true"`
	Context   json.RawMessage `json:"context,omitempty" doc:"Symptom, cause, resolution and the like" object:"true"` // an object, at most MaxContext bytes
	Learned   string          `json:"learned,omitempty" doc:"In a sentence"`
	Project   string          `json:"project,omitempty" here:"project"`
	learning.Place
	Importance *float64 `json:"importance,omitempty" help:"Importance, 0 to 1 (default 0.5)"` // nil means DefaultImportance
}

// CurrentSession stands, as a session id, for the session that an agent is in:
// the one that it began and has not ended or, if it began none, the one of its
// last episode, unless that is longer ago than SessionIdle.
const CurrentSession = "current"

// Filter selects recent episodes; empty fields select everything.
type Filter struct {
	SessionID string    `json:"session_id,omitempty" doc:"current: the session that agent_id, or the token's agent, is in" help:"Only this session's"` // CurrentSession: that of AgentID or, if that is empty, of the caller
	AgentID   string    `json:"agent_id,omitempty" help:"Only this agent's"`
	Persona   string    `json:"persona,omitempty" doc:"Whose memory; empty or *: everybody's"` // empty and EveryPersona: of all
	Project   string    `json:"project,omitempty" help:"Only this project's"`
	Within    []string  `json:"-"` // only those of these projects; nil: of any
	EventType string    `json:"event_type,omitempty" doc:"action, error, decision or outcome" among:"action,error,decision,outcome" help:"Only this type"`
	Event     string    `json:"event,omitempty" doc:"An event's whole name, such as mrr-drop-investigation" help:"Only this event, such as mrr-drop-investigation"`
	Since     time.Time `json:"since,omitzero" doc:"Not before this time"`
	Until     time.Time `json:"until,omitzero" doc:"Before this time"`
	TimeRange string    `json:"time_range,omitempty" doc:"7d, 24h, 2w, 3mo, 1y, today, yesterday, last week, 2026-01-15 or 2026-01-01..2026-02-01; days are UTC's"` // as ParseTimeRange reads it; within Since and Until
	Before    int64     `json:"-"`                                                                                                                                  // only those of a smaller number; 0: from the latest
	Limit     int       `json:"limit,omitempty" doc:"1 to 200; 0: 10" usual:"10,200"`                                                                               // 1 to MaxLimit; 0 means DefaultEpisodeLimit
}

// Query asks for past episodes.
type Query struct {
	Query         string    `json:"query"`
	SessionID     string    `json:"session_id,omitempty" help:"Only this session's"` // this and the others select as those of an Filter do
	AgentID       string    `json:"agent_id,omitempty" help:"Only this agent's"`
	Persona       string    `json:"persona,omitempty" doc:"Default \"default\"; \"*\": everybody's"`
	Project       string    `json:"project,omitempty" help:"Only this project's"`
	PreferProject string    `json:"prefer_project,omitempty"` // as knowledge.Query's
	EventType     string    `json:"event_type,omitempty" among:"action,error,decision,outcome" help:"Only this type"`
	Event         string    `json:"event,omitempty" help:"Only this event, such as mrr-drop-investigation"`
	Since         time.Time `json:"since,omitzero"`
	Until         time.Time `json:"until,omitzero"`
	TimeRange     string    `json:"time_range,omitempty" doc:"\"7d\", \"2w\", \"3mo\", \"last week\", or \"2026-01-01..2026-02-01\" (UTC)"`
	Limit         int       `json:"limit,omitempty"` // 1 to MaxLimit; 0 means DefaultEpisodeLimit
	Explain       bool      `json:"explain,omitempty"`
	// MinRelevance keeps out what is less relevant, from 0 to 1.
	MinRelevance float64 `json:"min_relevance,omitempty"`
	// Shown keeps out what people are not shown: see learning.Relevant.
	Shown bool `json:"shown,omitempty"`

	Corpus *tfidf.Corpus `json:"-"` // as knowledge.Query's
}

// Hit is an episode that was found.
type Hit struct {
	Episode
	RelevanceScore float64           `json:"relevance_score"` // as knowledge.Hit's
	Relevance      float64           `json:"relevance"`       // as knowledge.Hit's
	Why            []learning.Reason `json:"why,omitempty"`
	Evidence       tfidf.Evidence    `json:"-"` // as knowledge.Hit's
}

// Says is what the hit says, to be compared with what others say.
func (h *Hit) Says() learning.Saying {
	return learning.Saying{ID: h.ID, Kind: "episode", Where: h.Project, Text: h.Title + "\n" + h.Content}
}

// Results is the answer to an Query.
type Results struct {
	Results   []Hit             `json:"results"`
	Count     int               `json:"count"`
	LeftOut   int               `json:"left_out,omitempty"` // how many more would have made the answer larger than MaxAnswer
	Corrected map[string]string `json:"corrected,omitempty"`
	Notice    string            `json:"notice,omitempty"` // as knowledge.Results'
	Repairs   []learning.Repair `json:"tried,omitempty"`  // as knowledge.Results'
	NoMatch   bool              `json:"-"`                // as knowledge.Results'
}

// DefaultImportance is what an episode weighs if nobody says.
const DefaultImportance = 0.5 // the sidecar

// Store keeps episodes. learning/store implements it on learning.db.
type Store interface {
	shelf.IndexStore
	// AddEpisode stores an episode and its event durably, gives it its number, and calls
	// after with it when it is committed, in commit order, before it returns.
	AddEpisode(ctx context.Context, episode Episode, event eventlog.Event, after func(Episode)) (Episode, error)
	// Episodes returns the episodes with the ids that exist, in no order.
	Episodes(ctx context.Context, ids []string) ([]Episode, error)
	// RecentEpisodes returns the episodes that fit the filter, whose Limit is set, newest
	// first; up to MaxAnswer bytes of them.
	RecentEpisodes(ctx context.Context, filter Filter) ([]Episode, error)
	// EpisodeOf returns the episode with an id or a number; ok is false if there is none.
	EpisodeOf(ctx context.Context, ref string) (episode Episode, ok bool, err error)
	// ChangeEpisodes does what decide says of the episodes with these ids or numbers, durably and in
	// one transaction; one that is not there has no id. after is called with it as AddEpisode's is.
	ChangeEpisodes(ctx context.Context, refs []string, decide func(old []Episode) ([]Change, error), after func([]Change)) ([]Change, error)
	// LastEpisode returns the last episode that the agent recorded; ok is false if there is none.
	LastEpisode(ctx context.Context, agentID string) (episode Episode, ok bool, err error)
	// ScanEpisodes visits what is searched of every episode, oldest first, chunk by
	// chunk. visit may keep the chunk.
	ScanEpisodes(ctx context.Context, visit func(chunk []Episode) error) error
	// LastEpisodeNumber returns the greatest number that is there, or 0.
	LastEpisodeNumber(ctx context.Context) (int64, error)
	// ClearEpisodes deletes episodes, with the event that told returns for their ids, in
	// one transaction. after is called with their ids, as AddEpisode's is. It returns how many.
	ClearEpisodes(ctx context.Context, clearing Clearing, told func(ids []string) eventlog.Event, after func(ids []string)) (int, error)
}

// EventExperiencesSwept tells that experiences were forgotten; its Data is an experience.SweptEvent.
const EventExperiencesSwept = "experience.swept"
