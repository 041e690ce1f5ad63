package guard

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/act"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Bounds of the ledger.
const (
	// maxPending bounds the checks that wait to be written, in memory: at 2,000 bytes of each
	// action and context they are some 20 MB. A verdict beyond it goes out all the same.
	maxPending = 4096
	// ledgerGather is how long the first check is held back for others to join its transaction.
	ledgerGather = 25 * time.Millisecond
	// ledgerStep is how many checks one transaction stores, so that no other writer waits long.
	ledgerStep = 256
	// ledgerRetry is how long a ledger that cannot be written is left alone.
	ledgerRetry = time.Second
	// ledgerLate is how long a check may wait before whoever asks is told so. What waits is
	// what a kill of the router loses.
	ledgerLate = time.Second
	// ledgerSweepEvery and ledgerSweepStep: old checks are removed a few at a time, so that no writer waits long.
	ledgerSweepEvery = time.Hour
	ledgerSweepStep  = 500
	// maxShown bounds what is redacted of an action, in bytes, before it is cut to MaxRecorded.
	maxShown = 16 << 10
	// maxReason bounds what is kept of a match's reason, in bytes.
	maxReason = 500
)

// ledger writes checks behind their verdicts: a verdict that waited for
// the disk would come too late for whoever asks, and what is not judged in time
// is done. So a check is the one answer that is not on disk when it is given.
type ledger struct {
	store     lesson.PipelineStore
	now       func() time.Time
	log       *slog.Logger
	retention time.Duration
	kick      chan struct{}
	elsewhere func(ctx context.Context, records []lesson.CheckRecord) error // nil: they are written here

	mu      sync.Mutex
	pending []lesson.CheckRecord // in the order of their verdicts
	writing []lesson.CheckRecord // taken out of pending by the flush that is under way
	oldest  time.Time            // when the first of both was entered
	failing string               // why the last write failed, "" if it did not
	lost    int64

	flushing sync.Mutex // held by the one flush that is under way
}

func newLedger(store lesson.PipelineStore, now func() time.Time, log *slog.Logger, retention time.Duration) *ledger {
	return &ledger{store: store, now: now, log: log, retention: retention, kick: make(chan struct{}, 1)}
}

// LedgerState is how the guard's ledger keeps up with the verdicts.
type LedgerState struct {
	Waiting int           // checks that were answered and are not written yet
	Late    time.Duration // how long the first of them has waited; 0: none waits
	Failing string        // why the last write failed; empty: it did not
	Lost    int64         // checks since the start that will never be written
}

// Well tells whether the ledger keeps up, and has lost nothing.
func (s LedgerState) Well() bool { return s.Lost == 0 && s.Failing == "" && s.Late < ledgerLate }

// LedgerState tells how the ledger is.
func (g *Guards) LedgerState() LedgerState { return g.ledger.state() }

func (l *ledger) state() LedgerState {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := LedgerState{Waiting: len(l.pending) + len(l.writing), Failing: l.failing, Lost: l.lost}
	if s.Waiting > 0 {
		s.Late = time.Since(l.oldest)
	}
	return s
}

// enter takes a check in, and says what its agent should know if it is not
// written as soon as usual. It never waits for the disk. A check that is not
// kept has no place in the ledger.
func (l *ledger) enter(record lesson.CheckRecord) (entered bool, note string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting := len(l.pending) + len(l.writing)
	if waiting >= maxPending {
		l.lost++
		return false, "this check is not in the ledger: too many wait to be written"
	}
	if waiting == 0 {
		l.oldest = time.Now()
	}
	l.pending = append(l.pending, record)
	committer.Nudge(l.kick)
	switch {
	case l.failing != "":
		return true, "this check is not in the ledger yet: " + l.failing
	case time.Since(l.oldest) >= ledgerLate:
		return true, "this check is not in the ledger yet: the disk is slow, or another program holds the database"
	}
	return true, ""
}

// holds tells whether a check waits to be written.
func (l *ledger) holds(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	is := func(c lesson.CheckRecord) bool { return c.ID == id }
	return slices.ContainsFunc(l.pending, is) || slices.ContainsFunc(l.writing, is)
}

// settle writes what waits, for whoever reads what the ledger counts. If the
// ledger is late already, it shows what there is.
func (l *ledger) settle(ctx context.Context) {
	if s := l.state(); s.Waiting > 0 && s.Failing == "" && s.Late < ledgerLate {
		l.flush(ctx)
	}
}

// flush writes what waits, and tells whether all of it was. What cannot be
// written now waits on; what never can be is counted as lost.
func (l *ledger) flush(ctx context.Context) bool {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	alone := 0 // checks that are written each by itself: whichever of them is to blame shall not take the others with it
	for {
		l.mu.Lock()
		n := min(len(l.pending), ledgerStep)
		if alone > 0 {
			n, alone = min(n, 1), alone-1
		}
		records := l.pending[:n:n]
		l.pending, l.writing = l.pending[n:], records
		l.mu.Unlock()
		if n == 0 {
			return true
		}
		err := l.write(ctx, records)
		l.report(err)
		lost := err != nil && !passing(err) && n == 1
		l.mu.Lock()
		l.writing = nil
		switch {
		case lost:
			l.lost++
		case err != nil:
			l.pending = append(slices.Clone(records), l.pending...)
		}
		if (err == nil || lost) && len(l.pending) > 0 {
			l.oldest = time.Now() // no later than when the first of them came
		}
		l.mu.Unlock()
		switch {
		case lost:
			l.log.Error("a check cannot be written to the ledger and is lost", "check_id", records[0].ID, "error", err)
		case err != nil && passing(err):
			return false
		case err != nil:
			alone = n
		}
	}
}

// passing tells whether a write may succeed later.
func passing(err error) bool {
	code := errs.CodeOf(err)
	return code == errs.StorageFull || code == errs.Unavailable
}

// write stores checks with an event for each that found something, in one transaction.
func (l *ledger) write(ctx context.Context, records []lesson.CheckRecord) error {
	if l.elsewhere != nil {
		return l.elsewhere(context.WithoutCancel(ctx), records)
	}
	var events []eventlog.Event
	for _, r := range records {
		events = append(events, checkEvents(r)...)
	}
	// The checks were made: they belong in the ledger even if their clients have gone.
	return l.store.Change(context.WithoutCancel(ctx), func(tx lesson.PipelineTx) error {
		if err := tx.AddChecks(records...); err != nil {
			return err
		}
		if err := storeAsks(tx, records); err != nil {
			return err
		}
		return tx.AddEvents(events...)
	}, nil)()
}

// checkEvents is the event of a check; what is allowed has none.
func checkEvents(r lesson.CheckRecord) []eventlog.Event {
	if r.Decision == rule.DecisionAllow {
		return nil
	}
	shown := lesson.GuardEvent{Decision: r.Decision}
	for _, m := range r.Matches {
		shown.RuleIDs = append(shown.RuleIDs, m.RuleID)
	}
	return []eventlog.Event{eventlog.Event{Type: lesson.EventActionChecked, Subject: r.ID, Agent: r.Agent, Project: r.Project, At: r.At}.With(shown)}
}

// report remembers whether writing works, and logs it when that changes.
func (l *ledger) report(err error) {
	l.mu.Lock()
	was := l.failing
	l.failing = ""
	if err != nil {
		l.failing = errs.MessageOf(err)
	}
	l.mu.Unlock()
	switch {
	case err != nil && was == "":
		l.log.Warn("checks cannot be written to the ledger; actions are judged all the same", "error", err)
	case err == nil && was != "":
		l.log.Info("checks are written to the ledger again")
	}
}

// run writes and sweeps until ctx ends, and then writes what still waits.
func (l *ledger) run(ctx context.Context) error {
	sweeping := time.NewTicker(ledgerSweepEvery)
	defer sweeping.Stop()
	l.sweep(ctx)
	for {
		select {
		case <-ctx.Done():
			l.end(ctx)
			return nil
		case <-l.kick:
			wait := ledgerGather
			for committer.Pause(ctx, wait) == nil && !l.flush(ctx) {
				wait = ledgerRetry
			}
		case <-sweeping.C:
			l.sweep(ctx)
		}
	}
}

// end writes what still waits, once more, and counts as lost what cannot be written.
func (l *ledger) end(ctx context.Context) {
	if l.flush(ctx) {
		return
	}
	l.mu.Lock()
	left, why := len(l.pending), l.failing
	l.pending, l.lost = nil, l.lost+int64(left)
	l.mu.Unlock()
	l.log.Error("checks that were answered are not in the ledger", "lost", left, "why", why)
}

// sweep removes the checks that are older than the retention, in steps between
// which other writes have their turn.
func (l *ledger) sweep(ctx context.Context) {
	if l.retention <= 0 || l.elsewhere != nil {
		return
	}
	before, all := l.now().Add(-l.retention), 0
	for ctx.Err() == nil {
		removed := 0
		err := l.store.Change(ctx, func(tx lesson.PipelineTx) (err error) {
			if removed, err = tx.RemoveChecks(before, ledgerSweepStep); err != nil {
				return err
			}
			return tx.RemoveApprovals(before)
		}, nil)()
		if err != nil {
			if ctx.Err() == nil {
				l.log.Warn("old checks cannot be removed", "error", err)
			}
			return
		}
		all += removed
		if removed < ledgerSweepStep {
			break
		}
	}
	if all > 0 {
		l.log.Info("old checks removed", "checks", all)
	}
}

// recorded is what the ledger keeps of a check: secrets are cut out of it, and it is short.
func recorded(a rule.Action, v rule.Verdict) lesson.CheckRecord {
	text := fullText(a)
	if about := act.About(a.Args); strings.HasPrefix(text, "{") && about != "" {
		text = about + " " + text // which may be cut before it comes to that
	}
	r := lesson.CheckRecord{
		Project: a.Project, Domain: a.Domain, Tool: a.Tool, Decision: v.Decision, Notes: v.Notes,
		Action: keepable(text, MaxRecorded), Context: keepable(a.Context, MaxRecorded), Matches: make([]rule.Match, 0, len(v.Matches)),
	}
	r.Notes = slices.Clone(r.Notes)
	for _, m := range v.Matches {
		if m.Lane == rule.LaneIncident || m.Lane == rule.LaneLease { // they are no rules, which an outcome would move
			r.Notes = append(r.Notes, keepable(m.Title, maxReason))
			continue
		}
		m.Reason = keepable(m.Reason, maxReason)
		r.Matches = append(r.Matches, m)
	}
	return r
}

// keepable makes a text fit to be stored, in at most so many bytes.
func keepable(text string, most int) string {
	text, _ = redact.Text(strings.ToValidUTF8(text[:min(len(text), maxShown)], "�"))
	text = strings.ReplaceAll(text, "\x00", " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most-len("…")], "") + "…"
	}
	return text
}

// Ledger implements Service. It needs ScopeRead, and shows each agent its own actions.
func (g *Guards) Ledger(ctx context.Context, filter lesson.LedgerFilter) (LedgerPage, error) {
	p := principal.Of(ctx)
	err := cmp.Or(p.Need(principal.ScopeRead), check.Names("agent", filter.Agent, "project", filter.Project))
	if err == nil && filter.RuleID != "" {
		err = learning.CheckID("rule_id", filter.RuleID)
	}
	limit, wide := check.Limit(filter.Limit, DefaultRuleLimit, learning.MaxLimit)
	before, gone := learning.ReadCursor(filter.Cursor)
	if err := cmp.Or(
		err,
		check.Optional("decision", filter.Decision, []rule.Decision{rule.DecisionAllow, rule.DecisionWarn, rule.DecisionBlock}),
		check.Optional("outcome", filter.Outcome, lesson.Outcomes()),
		learning.CheckSpan(filter.Since, filter.Until), wide, gone,
	); err != nil {
		return LedgerPage{}, err
	}
	g.ledger.settle(ctx)
	filter.Limit = limit + 1
	checks, err := g.store.ListChecks(ctx, filter, before)
	if err != nil {
		return LedgerPage{}, err
	}
	page := LedgerPage{Checks: checks}
	if len(checks) > limit {
		page.Checks = checks[:limit]
		page.Next = strconv.FormatInt(checks[limit-1].Number, 10)
	}
	page.Count = len(page.Checks)
	for i := range page.Checks {
		page.Checks[i].Withhold(p)
	}
	return page, nil
}
