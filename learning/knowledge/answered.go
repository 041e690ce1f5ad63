package knowledge

import (
	"cmp"
	"context"
	"time"

	"skillrouter/internal/clock"
	"skillrouter/internal/principal"
	"skillrouter/learning"
)

// AnswerService learns from use: which entry answered which question. Answered
// implements it beside the database, router/client over HTTP.
type AnswerService interface {
	// Answered says that an entry answered a question, or did not. The same and like
	// questions find it from the next search on. It needs ScopeAgent. An agent has one
	// voice on a question to an entry: its last.
	Answered(ctx context.Context, id string, use AnswerDraft) (AnswerLearned, error)
	// Questions lists what an entry answered, the latest first. It needs ScopeRead.
	Questions(ctx context.Context, id string) (AnswerList, error)
	// Unlearn takes back what was learned of an entry: the caller's own voices, or with
	// ScopeCaptain all. It needs ScopeAgent.
	Unlearn(ctx context.Context, id string) (AnswersGone, error)
}

// AnswerDraft is what a client says of an entry that it was shown.
type AnswerDraft struct {
	Query   string `json:"query,omitempty"`    // the question; without one only a use is counted
	Helpful *bool  `json:"helpful,omitempty"`  // whether it answered it; nil: it did
	AgentID string `json:"agent_id,omitempty"` // whose voice it is; empty: the token's
}

// AnswerVoice is one voice on what an entry answered.
type AnswerVoice struct {
	EntryID  string    `json:"-"`
	Key      string    `json:"-"`        // the same for questions of the same words
	Question string    `json:"question"` // without secrets, at most MaxGapQuestion bytes
	AgentID  string    `json:"agent_id,omitempty"`
	Helpful  bool      `json:"helpful"`
	At       time.Time `json:"at"`
}

// AnswerLearned says what became of a draft.
type AnswerLearned struct {
	ID        string `json:"id"`
	Learned   bool   `json:"learned"`   // false: it had no question to learn from
	Questions int    `json:"questions"` // voices that are kept of the entry now
}

// AnswerList is what an entry answered.
type AnswerList struct {
	Answers []AnswerVoice `json:"answers"`
	Count   int           `json:"count"`
}

// AnswersGone says how many voices were taken back.
type AnswersGone struct {
	Deleted int64 `json:"deleted"`
}

// Bounds of what is learned from use. Together they say what one agent can do:
// for MaxAnswersByAgent questions, and those like them, it lifts an entry by at
// most answeredMost/2 of the best score.
const (
	// MaxAnswersOfEntry is how many voices are kept of an entry, the last.
	MaxAnswersOfEntry = 40
	// MaxAnswersByAgent is how many of them may be one agent's, its last.
	MaxAnswersByAgent = 5
	// MaxAnswersOfAgent is how many voices of one agent are kept on all entries, its last.
	MaxAnswersOfAgent = 500
	// MaxAnswers is how many are kept of everybody, the last.
	MaxAnswers = 50_000
)

// AnswerBounds are how many voices are kept.
type AnswerBounds struct{ OfEntry, ByAgent, OfAgent, All int }

// AnswerStore keeps voices. learning/store implements it on learning.db, and
// deletes them with their entry.
type AnswerStore interface {
	// AddAnswer stores a voice in place of the same agent's on the same question to the same
	// entry, drops the oldest beyond the bounds, and returns the entries whose voices
	// changed. An entry that is not there is a NotFound error.
	AddAnswer(ctx context.Context, a AnswerVoice, bounds AnswerBounds) (changed []string, err error)
	// Answers returns the voices on entries, of all where ids is nil, the oldest first.
	Answers(ctx context.Context, ids []string) ([]AnswerVoice, error)
	// Knowledge returns the entries with these ids that are there.
	Knowledge(ctx context.Context, ids []string) ([]Knowledge, error)
	// DeleteAnswers deletes an agent's voices on an entry, or everybody's, and counts them.
	DeleteAnswers(ctx context.Context, id, agentID string, everybody bool) (int64, error)
}

var _ AnswerService = (*Answered)(nil)

// NewAnswered makes an Answered that knows what the store holds. count is told
// of each use; it may be nil.
func NewAnswered(ctx context.Context, store AnswerStore, count func(ids ...string), now clock.Clock) (*Answered, error) {
	now = now.Given()
	if count == nil {
		count = func(...string) {}
	}
	a := &Answered{store: store, count: count, now: now, entries: map[string][]*askedQuestion{}, byStem: map[string]map[*askedQuestion]struct{}{}}
	return a, a.Load(ctx)
}

// Load reads the voices from the store: those that another router took in, too.
func (a *Answered) Load(ctx context.Context) error {
	all, err := a.store.Answers(ctx, nil)
	if err != nil {
		return err
	}
	of := map[string][]AnswerVoice{}
	a.mu.RLock()
	for id := range a.entries {
		of[id] = nil // unless there are some still
	}
	a.mu.RUnlock()
	for _, one := range all {
		of[one.EntryID] = append(of[one.EntryID], one)
	}
	for id, voices := range of {
		a.learn(id, voices)
	}
	return nil
}

// Answered implements AnswerService.
func (a *Answered) Answered(ctx context.Context, id string, use AnswerDraft) (AnswerLearned, error) {
	caller := principal.Of(ctx)
	if err := cmp.Or(caller.Need(principal.ScopeAgent), learning.CheckID("id", id)); err != nil {
		return AnswerLearned{}, err
	}
	author, err := caller.ActingAs("agent_id", use.AgentID)
	if err != nil {
		return AnswerLearned{}, err
	}
	one := AnswerVoice{EntryID: id, AgentID: principal.KindOf(author), Helpful: use.Helpful == nil || *use.Helpful, At: a.now.Stamp()}
	if use.Query != "" {
		if err := learning.CheckQuery(use.Query); err != nil {
			return AnswerLearned{}, err
		}
	}
	one.Question = learning.GapQuestion(use.Query)
	var learned bool
	one.Key, learned = learning.GapID(one.Question, "")
	a.changing.Lock()
	defer a.changing.Unlock()
	if learned {
		changed, err := a.store.AddAnswer(ctx, one, AnswerBounds{MaxAnswersOfEntry, MaxAnswersByAgent, MaxAnswersOfAgent, MaxAnswers})
		if err != nil {
			return AnswerLearned{}, err
		}
		if err := a.read(ctx, changed); err != nil {
			return AnswerLearned{}, err
		}
	} else if there, err := a.store.Knowledge(ctx, []string{id}); err != nil {
		return AnswerLearned{}, err
	} else if len(there) == 0 {
		return AnswerLearned{}, NoEntry()
	}
	if one.Helpful {
		a.count(id)
	}
	return AnswerLearned{ID: id, Learned: learned, Questions: a.voices(id)}, nil
}

// Questions implements AnswerService.
func (a *Answered) Questions(ctx context.Context, id string) (AnswerList, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), learning.CheckID("id", id)); err != nil {
		return AnswerList{}, err
	}
	kept, err := a.store.Answers(ctx, []string{id})
	list := AnswerList{Answers: make([]AnswerVoice, 0, len(kept)), Count: len(kept)}
	for i := len(kept) - 1; i >= 0; i-- {
		list.Answers = append(list.Answers, kept[i])
	}
	return list, err
}

// Unlearn implements AnswerService.
func (a *Answered) Unlearn(ctx context.Context, id string) (AnswersGone, error) {
	caller := principal.Of(ctx)
	if err := cmp.Or(caller.Need(principal.ScopeAgent), learning.CheckID("id", id)); err != nil {
		return AnswersGone{}, err
	}
	a.changing.Lock()
	defer a.changing.Unlock()
	gone, err := a.store.DeleteAnswers(ctx, id, principal.KindOf(caller.AgentID), caller.Has(principal.ScopeCaptain))
	if err != nil {
		return AnswersGone{}, err
	}
	return AnswersGone{Deleted: gone}, a.read(ctx, []string{id})
}

// read learns entries anew from the store.
func (a *Answered) read(ctx context.Context, ids []string) error {
	kept, err := a.store.Answers(ctx, ids)
	if err != nil {
		return err
	}
	of := map[string][]AnswerVoice{}
	for _, one := range kept {
		of[one.EntryID] = append(of[one.EntryID], one)
	}
	for _, id := range ids {
		a.learn(id, of[id])
	}
	return nil
}
