package operational

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
)

// Bounds of what is kept of tellings.
const (
	// MaxTold is how many rows are kept, one for each telling and each item of it: at 250 bytes each they are 30 MB, and
	// of a busy team a month. RetainedDays is how many days are kept.
	MaxTold      = 120_000
	RetainedDays = 90
	// MaxToldItems is how many items of one telling are kept, and MaxToldText how much of each text, in bytes.
	MaxToldItems = 50
	MaxToldText  = 200
	// maxToldGives and maxToldGive bound the commands that are kept of an item, and each in bytes.
	maxToldGives = 4
	maxToldGive  = 300
	// leastToldGive is how short a command may be of which only the beginning was told, in bytes.
	leastToldGive = 16
	// maxToldCounted is how much of a text is counted in tokens, in bytes.
	maxToldCounted = 16 << 10
	// tellingGather is how long the first one is held back for others to join its transaction, and
	// maxTellingsWaiting how many may wait: beyond it they are dropped, for no agent waits for this.
	tellingGather      = 200 * time.Millisecond
	maxTellingsWaiting = 1024
	// readTime bounds what is read at a stop too, which does not end with it: a server that falls silent would hold the stop up.
	readTime = 5 * time.Second
)

// ToldMoment is when an agent was told something.
type ToldMoment string

// The moments.
const (
	ToldAtStart   ToldMoment = "start"   // a session began
	ToldAtPrompt  ToldMoment = "prompt"  // a person sent a prompt
	ToldAtFailure ToldMoment = "failure" // a command failed
	ToldAsked     ToldMoment = "asked"   // it asked for a context
	ToldAtCommand ToldMoment = "command" // the guard warned before a command, or stopped it
	ToldBySearch  ToldMoment = "search"  // it searched
)

// ToldMoments lists the moments in the order in which a session meets them.
func ToldMoments() []ToldMoment {
	return []ToldMoment{ToldAtStart, ToldAtPrompt, ToldAtFailure, ToldAtCommand, ToldAsked, ToldBySearch}
}

// ToldItem is a memory that an agent was told.
type ToldItem struct {
	Kind  string `json:"kind"`
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	Own   bool   `json:"-"` // it belongs to the project that it was told in
	// Tokens are those that it took of what was told. Gives are commands that it gives.
	Tokens int      `json:"-"`
	Gives  []string `json:"-"`
	Number int64    `json:"-"` // its own, once it is stored
	ToldResult
	// Text is what was told, of which tokens are counted behind the answer; empty: Tokens has them.
	Text string `json:"-"`
}

var inCode = lazyregexp.New("`([^`\n]+)`")

// Gives are the commands of a text: what stands between backticks and has two words or more. Of one that was cut it is the beginning.
func Gives(text string) (commands []string) {
	if strings.IndexByte(text, '`') < 0 {
		return nil
	}
	for _, found := range inCode.FindAllStringSubmatch(text, -1) {
		command, cut := strings.CutSuffix(strings.Join(strings.Fields(found[1]), " "), "…")
		if strings.Contains(command, " ") && (!cut || len(command) >= leastToldGive) && !slices.Contains(commands, command) {
			commands = append(commands, command)
		}
	}
	return commands
}

// ToldResult is what came of an item that was told.
type ToldResult struct {
	Judged   bool `json:"-"` // it is known what came of it
	Used     bool `json:"-"` // what it says was done, and went well
	Went     bool `json:"-"` // what it warns of did not happen where it could have
	Repeated bool `json:"-"` // what it warns of happened all the same
}

// Telling is what the router told an agent, and when. Of a failure that nothing was known of it has no items.
type Telling struct {
	Number    int64 // later ones have higher numbers
	Agent     string
	Project   string
	SessionID string
	Moment    ToldMoment
	About     string // of a failure: the command; of a command: the guard's check
	Items     []ToldItem
	Tokens    int // of everything that was told; 0: those of the items
	Around    int // of the tokens, those of the words around the items
	At        time.Time
	Withheld  bool // another agent than the caller was told it, and so its texts are not here
}

// TellingQuery selects tellings, the newest first; empty fields select everything.
type TellingQuery struct {
	Before    int64 // only smaller numbers; 0: from the newest
	Agent     string
	Project   string
	SessionID string
	Check     string       // only what was told before the command of this check of the guard
	Items     []ToldRef    // only where one of these was told
	Moments   []ToldMoment // only what was told then
	Since     time.Time
	Until     time.Time
	Limit     int
}

// ToldSum is what tellings come to: of a day at a moment, or of an item at a moment.
type ToldSum struct {
	Day    int64 // since 1970, UTC
	Moment ToldMoment
	Kind   string // of a day: empty for the words around the items
	ID     string
	Title  string
	ToldCounts
}

// ToldCounts are figures of items that were told. One that was told twice counts twice.
type ToldCounts struct {
	Shown     int `json:"shown"`
	Judged    int `json:"judged"`    // of these, those of which is known what came of them
	Used      int `json:"used"`      // of the judged: what they say was done, and went well
	Prevented int `json:"prevented"` // of the judged: what they warn of did not happen again
	Repeated  int `json:"repeated"`  // of the judged: what they warn of happened all the same
	Tokens    int `json:"tokens"`
}

// Add adds figures.
func (c *ToldCounts) Add(d ToldCounts) {
	c.Shown += d.Shown
	c.Judged += d.Judged
	c.Used += d.Used
	c.Prevented += d.Prevented
	c.Repeated += d.Repeated
	c.Tokens += d.Tokens
}

// ToldQuery selects days.
type ToldQuery struct {
	Since    int64     // this day and later ones
	Until    int64     // days before this one
	Projects []string  // only these; nil: all, and what belongs to none
	Own      bool      // only items that belong to the project that they were told in
	Items    []ToldRef // only these; nil: all
}

// ToldSums are what days come to.
type ToldSums struct {
	Sessions int       // that were told something
	Items    []ToldSum // by moment, kind and ID
	Days     []ToldSum // by day and moment, and by whether Kind is empty
}

// ToldRef names an item.
type ToldRef struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
}

// ToldKeep says how much is kept.
type ToldKeep struct {
	Rows  int64 // of more, the oldest are removed
	Since int64 // and no day before this
}

// TellingStore keeps tellings.
type TellingStore interface {
	// AddTellings stores tellings in their order, and removes what is not kept.
	AddTellings(ctx context.Context, tellings []Telling, keep ToldKeep) error
	// Tellings returns what the query selects.
	Tellings(ctx context.Context, q TellingQuery) ([]Telling, error)
	// SettleTold stores what came of items.
	SettleTold(ctx context.Context, items []ToldItem) error
	// ToldSums sums up days.
	ToldSums(ctx context.Context, q ToldQuery) (ToldSums, error)
}

// Tellings keeps what agents were told, and what came of it. It is written behind the answers: no agent waits for it, and a kill loses
// what was told in the last moment.
type Tellings struct {
	store TellingStore
	now   clock.Clock
	log   *slog.Logger
	count func(text string) int
	kick  chan struct{}

	flushing sync.Mutex // held by the one flush, or settlement, that is under way
	failing  bool

	mu      sync.Mutex
	waiting []Telling
	later   []settlement
}

// settlement is what is to be settled once what waits is written.
type settlement struct {
	query TellingQuery
	judge func(tellings []Telling)
}

// TellingOptions are the settings of Tellings. The zero value is usable.
type TellingOptions struct {
	Now   clock.Clock           // time.Now if nil
	Log   *slog.Logger          // discards if nil
	Count func(text string) int // counts the tokens of a text; nil: a quarter of its bytes
}

// NewTellings makes Tellings on a store. Run must be started for them to be kept.
func NewTellings(store TellingStore, options TellingOptions) *Tellings {
	t := &Tellings{store: store, now: options.Now.Given(), log: defaults.Log(options.Log), count: options.Count, kick: make(chan struct{}, 1)}
	if t.count == nil {
		t.count = func(text string) int { return (len(text) + 3) / 4 }
	}
	return t
}

// Note takes a telling in, and never waits.
func (t *Tellings) Note(told Telling) {
	told.At = t.now.Stamp()
	told.About = check.Head(told.About, 8*MaxToldText)
	told.Items = slices.Clone(told.Items[:min(len(told.Items), MaxToldItems)])
	for i := range told.Items { // what waits is bounded
		item := &told.Items[i]
		item.Title, item.Text = check.Head(item.Title, 8*MaxToldText), check.Head(item.Text, maxToldCounted)
		item.Gives = slices.DeleteFunc(slices.Clone(item.Gives[:min(len(item.Gives), maxToldGives)]), func(text string) bool { return len(text) > maxToldGive })
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
	if len(t.waiting) < maxTellingsWaiting {
		t.waiting = append(t.waiting, told)
		committer.Nudge(t.kick)
	}
}

// SettleLater has judge say what came of tellings that a query selects, behind the answer: it sets their items' results.
func (t *Tellings) SettleLater(q TellingQuery, judge func(tellings []Telling)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.later) < maxTellingsWaiting {
		t.later = append(t.later, settlement{q, judge})
		committer.Nudge(t.kick)
	}
}

// Settle has judge say what came of tellings that a query selects, also of those that still waited: it sets their items' results.
func (t *Tellings) Settle(ctx context.Context, q TellingQuery, judge func(tellings []Telling)) error {
	t.flush(ctx)
	t.flushing.Lock()
	defer t.flushing.Unlock()
	return t.settle(ctx, settlement{q, judge})
}

// toldText makes a text fit to be kept: one short line without secrets.
func toldText(text string) string {
	text, _ = redact.Text(text)
	return check.Head(strings.Join(strings.Fields(text), " "), MaxToldText)
}

// Run writes what is noted until ctx ends, and then what still waits.
func (t *Tellings) Run(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			t.flush(context.WithoutCancel(ctx))
			return nil
		case <-t.kick:
			_ = committer.Pause(ctx, tellingGather) // what waits is written in any case
			t.flush(ctx)
		}
	}
}

func (t *Tellings) flush(ctx context.Context) {
	t.flushing.Lock()
	defer t.flushing.Unlock()
	t.mu.Lock()
	told, later := t.waiting, t.later
	t.waiting, t.later = nil, nil
	t.mu.Unlock()
	if len(told) == 0 && len(later) == 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	err := t.add(ctx, told)
	for _, s := range later {
		err = cmp.Or(err, t.settle(ctx, s))
	}
	if err != nil && !t.failing {
		t.log.Warn("what agents were told cannot be kept", "error", err)
	}
	t.failing = err != nil
}

// add writes tellings.
func (t *Tellings) add(ctx context.Context, told []Telling) error {
	if len(told) == 0 {
		return nil
	}
	for i := range told {
		one := &told[i]
		one.Around = one.Tokens
		one.About = toldText(one.About)
		for j := range one.Items {
			item := &one.Items[j]
			if item.Tokens == 0 {
				item.Tokens = t.count(item.Text)
			}
			item.Title, item.Text = toldText(item.Title), ""
			for k := range item.Gives {
				item.Gives[k], _ = redact.Text(item.Gives[k])
			}
			one.Around -= item.Tokens
		}
		if one.Tokens == 0 || len(one.Items) == 0 {
			one.Around = 0
		}
	}
	return t.store.AddTellings(ctx, told, ToldKeep{Rows: MaxTold, Since: DayOf(t.now()) - RetainedDays + 1})
}

// settle has what came of tellings judged, and writes what that changes.
func (t *Tellings) settle(ctx context.Context, s settlement) error {
	reading, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	told, err := t.store.Tellings(reading, s.query)
	if err != nil || len(told) == 0 {
		return err
	}
	before := make([][]ToldItem, len(told))
	for i := range told {
		before[i] = slices.Clone(told[i].Items)
	}
	s.judge(told)
	var changed []ToldItem
	for i := range told {
		for j, item := range told[i].Items {
			if item.ToldResult != before[i][j].ToldResult {
				changed = append(changed, item)
			}
		}
	}
	if len(changed) == 0 {
		return nil
	}
	return t.store.SettleTold(ctx, changed)
}

// DayOf is the number of a time's day.
func DayOf(at time.Time) int64 { return at.Unix() / int64(24*time.Hour/time.Second) }

// Told returns what the query selects, with what still waited. What another agent than the caller was told has
// no texts, but for captains.
func (t *Tellings) Told(ctx context.Context, q TellingQuery) ([]Telling, error) {
	caller := principal.Of(ctx)
	if err := caller.Need(principal.ScopeRead); err != nil {
		return nil, err
	}
	t.flush(ctx)
	found, err := t.store.Tellings(ctx, q)
	for i := range found {
		if caller.ActAs(found[i].Agent) != nil {
			found[i].About, found[i].Items, found[i].Withheld = "", nil, true
		}
	}
	if len(q.Items) > 0 { // that it is among them would say what another agent was told
		found = slices.DeleteFunc(found, func(t Telling) bool { return t.Withheld })
	}
	return found, err
}

// Came returns what came of telling some items, by moment, of all days that are kept. It needs ScopeRead.
func (t *Tellings) Came(ctx context.Context, items []ToldRef) ([]ToldSum, error) {
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return nil, err
	}
	until := DayOf(t.now()) + 1
	sums, err := t.Sums(ctx, ToldQuery{Since: until - RetainedDays, Until: until, Items: items})
	return sums.Items, err
}

// Sums sums up what was told on some days, with what still waited.
func (t *Tellings) Sums(ctx context.Context, q ToldQuery) (ToldSums, error) {
	t.flush(ctx)
	return t.store.ToldSums(ctx, q)
}
