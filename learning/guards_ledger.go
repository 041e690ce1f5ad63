package learning

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"skillrouter"
)

// Bounds of the ledger.
const (
	// maxPending bounds the checks that wait to be written with nobody waiting for them.
	maxPending = 4096
	// ledgerWait bounds how long a check waits for a place among the writes.
	ledgerWait = 2 * time.Second
	// ledgerGather is how long the first check that nobody waits for is held back for others
	// to join its transaction.
	ledgerGather = 25 * time.Millisecond
	// ledgerSweepEvery and ledgerSweepStep: old checks are removed a few at a time, so that no writer waits long.
	ledgerSweepEvery = time.Hour
	ledgerSweepStep  = 500
	// maxShown bounds what is redacted of an action, in bytes, before it is cut to MaxRecorded.
	maxShown = 16 << 10
	// maxReason bounds what is kept of a match's reason, in bytes.
	maxReason = 500
)

// guardLedger writes checks. What found something is written before it is
// answered; what found nothing is written soon after, so that asking costs no
// wait for the disk. A check that cannot be written is answered all the same.
type guardLedger struct {
	store     PipelineStore
	now       func() time.Time
	log       *slog.Logger
	retention time.Duration
	kick      chan struct{}

	mu      sync.Mutex
	pending []CheckRecord
	failing string // why the last write failed, "" if it did not

	flushing sync.Mutex // held by the one flush that is under way
}

func newGuardLedger(store PipelineStore, now func() time.Time, log *slog.Logger, retention time.Duration) *guardLedger {
	return &guardLedger{store: store, now: now, log: log, retention: retention, kick: make(chan struct{}, 1)}
}

// enter takes a check in, and says what its agent should know if it is not kept.
func (l *guardLedger) enter(ctx context.Context, record CheckRecord) (note string) {
	if record.Decision == DecisionAllow {
		return l.queue(record)
	}
	// The check was made: it belongs in the ledger even if its client has gone.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ledgerWait)
	defer cancel()
	event := skillrouter.Event{Type: EventActionChecked, Subject: record.ID, Agent: record.Agent, Project: record.Project, At: record.At}
	shown := GuardEvent{Decision: record.Decision}
	for _, m := range record.Matches {
		shown.RuleIDs = append(shown.RuleIDs, m.RuleID)
	}
	var err error
	if event.Data, err = json.Marshal(shown); err == nil {
		err = l.store.Change(ctx, func(tx PipelineTx) error {
			if err := tx.AddChecks(record); err != nil {
				return err
			}
			return tx.AddEvents(event)
		}, nil)()
	}
	l.report(err)
	if err != nil {
		return unwritten(skillrouter.MessageOf(err))
	}
	return ""
}

// unwritten is what an agent is told whose check is not in the ledger.
func unwritten(why string) string { return "this check is not in the ledger: " + why }

func (l *guardLedger) queue(record CheckRecord) (note string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) >= maxPending {
		return unwritten("too many wait to be written")
	}
	l.pending = append(l.pending, record)
	select {
	case l.kick <- struct{}{}:
	default: // somebody knows already
	}
	if l.failing != "" {
		return unwritten(l.failing)
	}
	return ""
}

// flush writes what waits. Who needs to read a check that it was just told of calls it first.
func (l *guardLedger) flush(ctx context.Context) {
	l.flushing.Lock()
	defer l.flushing.Unlock()
	l.mu.Lock()
	records := l.pending
	l.pending = nil
	l.mu.Unlock()
	if len(records) == 0 {
		return
	}
	l.report(l.store.Change(context.WithoutCancel(ctx), func(tx PipelineTx) error { return tx.AddChecks(records...) }, nil)())
}

// report remembers whether writing works, and logs it when that changes.
func (l *guardLedger) report(err error) {
	l.mu.Lock()
	was := l.failing
	l.failing = ""
	if err != nil {
		l.failing = skillrouter.MessageOf(err)
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
func (l *guardLedger) run(ctx context.Context) error {
	sweeping := time.NewTicker(ledgerSweepEvery)
	defer sweeping.Stop()
	l.sweep(ctx)
	gathering := time.NewTimer(0)
	defer gathering.Stop()
	for {
		select {
		case <-ctx.Done():
			l.flush(ctx)
			return nil
		case <-l.kick:
			gathering.Reset(ledgerGather)
			select {
			case <-gathering.C:
			case <-ctx.Done():
			}
			l.flush(ctx)
		case <-sweeping.C:
			l.sweep(ctx)
		}
	}
}

// sweep removes the checks that are older than the retention, in steps between
// which other writes have their turn.
func (l *guardLedger) sweep(ctx context.Context) {
	if l.retention <= 0 {
		return
	}
	before, all := l.now().Add(-l.retention), 0
	for ctx.Err() == nil {
		removed := 0
		err := l.store.Change(ctx, func(tx PipelineTx) (err error) {
			removed, err = tx.RemoveChecks(before, ledgerSweepStep)
			return err
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
func recorded(a Action, v Verdict) CheckRecord {
	text := a.Command
	if a.Tool != "" && len(a.Args) > 0 {
		if args, err := json.Marshal(a.Args); err == nil {
			text = strings.TrimSpace(text + " " + string(args))
		}
	}
	r := CheckRecord{
		Project: a.Project, Domain: a.Domain, Tool: a.Tool, Decision: v.Decision, Notes: v.Notes,
		Action: keepable(text, MaxRecorded), Context: keepable(a.Context, MaxRecorded), Matches: make([]Match, len(v.Matches)),
	}
	for i, m := range v.Matches {
		m.Reason = keepable(m.Reason, maxReason)
		r.Matches[i] = m
	}
	return r
}

// keepable makes a text fit to be stored, in at most so many bytes.
func keepable(text string, most int) string {
	text, _ = skillrouter.Redact(strings.ToValidUTF8(text[:min(len(text), maxShown)], "�"))
	text = strings.ReplaceAll(text, "\x00", " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most-len("…")], "") + "…"
	}
	return text
}

// Ledger implements GuardService. It needs ScopeRead.
func (g *Guards) Ledger(ctx context.Context, filter LedgerFilter) (LedgerPage, error) {
	if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeRead); err != nil {
		return LedgerPage{}, err
	}
	for field, value := range map[string]string{"agent": filter.Agent, "project": filter.Project} {
		if err := skillrouter.CheckName(field, value); err != nil {
			return LedgerPage{}, err
		}
	}
	if filter.RuleID != "" {
		if err := checkID("rule_id", filter.RuleID); err != nil {
			return LedgerPage{}, err
		}
	}
	if filter.Decision != "" {
		if err := skillrouter.CheckOneOf("decision", filter.Decision, []Decision{DecisionAllow, DecisionWarn, DecisionBlock}); err != nil {
			return LedgerPage{}, err
		}
	}
	if filter.Outcome != "" {
		if err := skillrouter.CheckOneOf("outcome", filter.Outcome, Outcomes()); err != nil {
			return LedgerPage{}, err
		}
	}
	if err := checkSpan(filter.Since, filter.Until); err != nil {
		return LedgerPage{}, err
	}
	limit, err := skillrouter.Limit(filter.Limit, DefaultRuleLimit, MaxLimit)
	if err != nil {
		return LedgerPage{}, err
	}
	var before int64
	if filter.Cursor != "" {
		if before, err = strconv.ParseInt(filter.Cursor, 10, 64); err != nil || before < 1 {
			return LedgerPage{}, skillrouter.InvalidField("cursor", "is none that a page was answered with")
		}
	}
	g.ledger.flush(ctx)
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
	return page, nil
}
