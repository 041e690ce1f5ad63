package operational

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"skillrouter"
)

// Bounds of what is kept of tellings.
const (
	// MaxTellings is how many are kept: at 500 bytes each they are 10 MB, and of a busy team a month.
	MaxTellings = 20_000
	// MaxToldItems is how many items of one telling are kept, and MaxToldText how much of each text, in bytes.
	MaxToldItems = 50
	MaxToldText  = 200
	// tellingGather is how long the first one is held back for others to join its transaction, and
	// maxTellingsWaiting how many may wait: beyond it they are dropped, for no agent waits for this.
	tellingGather      = 200 * time.Millisecond
	maxTellingsWaiting = 1024
)

// ToldMoment is when an agent was told something.
type ToldMoment string

// The moments.
const (
	ToldAtStart   ToldMoment = "start"   // a session began
	ToldAtPrompt  ToldMoment = "prompt"  // a person sent a prompt
	ToldAtFailure ToldMoment = "failure" // a command failed
	ToldAsked     ToldMoment = "asked"   // it asked for a context
)

// ToldItem is a memory that an agent was told.
type ToldItem struct {
	Kind  string `json:"kind"`
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
}

// Telling is what the router told an agent, and when. Of a failure that nothing was known of it has no items.
type Telling struct {
	Number    int64
	Agent     string
	Project   string
	SessionID string
	Moment    ToldMoment
	About     string // of a failure: the command
	Items     []ToldItem
	Tokens    int
	At        time.Time
	Withheld  bool // another agent than the caller was told it, and so its texts are not here
}

// TellingQuery selects tellings, the newest first; empty fields select everything.
type TellingQuery struct {
	Before  int64 // only smaller numbers; 0: from the newest
	Agent   string
	Project string
	Failed  *bool // only failures, or all but these
	Since   time.Time
	Until   time.Time
	Limit   int
}

// TellingStore keeps tellings.
type TellingStore interface {
	// AddTellings stores tellings in their order, and removes the oldest of more than most.
	AddTellings(ctx context.Context, tellings []Telling, most int64) error
	// Tellings returns what the query selects.
	Tellings(ctx context.Context, q TellingQuery) ([]Telling, error)
}

// Tellings keeps what agents were told. It is written behind the answers: no agent waits for it, and a kill loses
// what was told in the last moment.
type Tellings struct {
	store TellingStore
	now   skillrouter.Clock
	log   *slog.Logger
	kick  chan struct{}

	flushing sync.Mutex // held by the one flush that is under way
	failing  bool

	mu      sync.Mutex
	waiting []Telling
}

// NewTellings makes Tellings on a store. Run must be started for them to be kept.
func NewTellings(store TellingStore, now skillrouter.Clock, log *slog.Logger) *Tellings {
	if now == nil {
		now = time.Now
	}
	return &Tellings{store: store, now: now, log: cmp.Or(log, slog.New(slog.DiscardHandler)), kick: make(chan struct{}, 1)}
}

// Note takes a telling in, and never waits.
func (t *Tellings) Note(told Telling) {
	told.At = t.now.Stamp()
	told.About = toldText(told.About)
	items := told.Items
	told.Items = make([]ToldItem, 0, min(len(items), MaxToldItems))
	for _, item := range items[:min(len(items), MaxToldItems)] {
		told.Items = append(told.Items, ToldItem{item.Kind, item.ID, toldText(item.Title)})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if told.Moment == ToldAtFailure && len(told.Items) > 0 { // what memory has of it is asked for after what is known of the failure itself
		for i := range t.waiting {
			w := &t.waiting[i]
			if w.Moment == ToldAtFailure && len(w.Items) == 0 && w.Agent == told.Agent && strings.HasPrefix(told.About, w.About) {
				w.Items, w.Tokens = told.Items, told.Tokens
				return
			}
		}
	}
	if len(t.waiting) >= maxTellingsWaiting {
		return
	}
	t.waiting = append(t.waiting, told)
	select {
	case t.kick <- struct{}{}:
	default: // somebody knows already
	}
}

// toldText makes a text fit to be kept: one short line without secrets.
func toldText(text string) string {
	text, _ = skillrouter.Redact(skillrouter.Head(text, 8*MaxToldText))
	return skillrouter.Head(strings.Join(strings.Fields(text), " "), MaxToldText)
}

// Run writes what is noted until ctx ends, and then what still waits.
func (t *Tellings) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			t.flush(context.WithoutCancel(ctx))
			return nil
		case <-t.kick:
			_ = skillrouter.Pause(ctx, tellingGather) // what waits is written in any case
			t.flush(ctx)
		}
	}
}

func (t *Tellings) flush(ctx context.Context) {
	t.flushing.Lock()
	defer t.flushing.Unlock()
	t.mu.Lock()
	told := t.waiting
	t.waiting = nil
	t.mu.Unlock()
	if len(told) == 0 {
		return
	}
	err := t.store.AddTellings(context.WithoutCancel(ctx), told, MaxTellings)
	if err != nil && !t.failing {
		t.log.Warn("what agents were told cannot be kept for the timeline", "error", err)
	}
	t.failing = err != nil
}

// Told returns what the query selects, with what still waited. What another agent than the caller was told has
// no texts, but for captains.
func (t *Tellings) Told(ctx context.Context, q TellingQuery) ([]Telling, error) {
	caller := skillrouter.PrincipalOf(ctx)
	if err := caller.Need(skillrouter.ScopeRead); err != nil {
		return nil, err
	}
	t.flush(ctx)
	found, err := t.store.Tellings(ctx, q)
	for i := range found {
		if caller.ActAs(found[i].Agent) != nil {
			found[i].About, found[i].Items, found[i].Withheld = "", nil, true
		}
	}
	return found, err
}
