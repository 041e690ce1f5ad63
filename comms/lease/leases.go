package lease

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/operational"
)

// Leases is the Service beside the database. What is held is in memory too, so that a check costs no query.
type Leases struct {
	store   Store
	holders Holders
	mail    Mail
	now     clock.Clock
	log     *slog.Logger
	files   func(folder string) []string
	kick    chan struct{} // somebody left
	swept   time.Time     // when old ones were deleted last; Run's own

	// change is held by whoever takes or ends leases, from the decision to the commit. It is taken before mu.
	change sync.Mutex

	mu      sync.RWMutex
	held    map[int64]*held
	globs   map[string][]lying // by the project
	ofAgent map[string]map[int64]*held
	active  int
	past    []*held // that ended lately, the first ended first
	recent  recent
}

// held is a lease in memory; mu guards what changes of it.
type held struct {
	operational.Lease
	globs []Glob
}

// lying is a pattern of a lease, beside others of its project in memory: a check looks at all of them.
type lying struct {
	glob Glob
	of   *held
}

var _ Service = (*Leases)(nil)

// Open makes Leases of what is held. Run must be started for leases to lapse.
func Open(ctx context.Context, store Store, holders Holders, mail Mail, log *slog.Logger, options Options) (*Leases, error) {
	l := &Leases{
		store: store, holders: holders, mail: mail, now: options.Now.Given(), files: options.Files, log: log, kick: make(chan struct{}, 1),
		held: map[int64]*held{}, globs: map[string][]lying{}, ofAgent: map[string]map[int64]*held{},
	}
	stored, err := store.HeldLeases(ctx, l.now().Add(-momentAgo))
	if err != nil {
		return nil, err
	}
	for _, lease := range stored {
		globs, err := compileAll(lease.Patterns, lease.Glob)
		if err != nil { // an earlier version took it
			log.Warn("a lease has a pattern that cannot be read, and is ended", "lease_id", lease.ID, "error", err)
			globs = nil
		}
		h := &held{lease, globs}
		if l.put(h); lease.Ended != "" {
			l.bury(h)
		}
	}
	return l, nil
}

func compileAll(patterns []string, classes bool) (globs []Glob, err error) {
	for _, p := range patterns {
		g, err := Compile(p, classes)
		if err != nil {
			return nil, err
		}
		globs = append(globs, g)
	}
	return globs, nil
}

// put takes a lease into memory; mu is held, or nobody else is there yet.
func (l *Leases) put(h *held) {
	l.held[h.ID] = h
	for _, g := range h.globs {
		l.globs[h.Project] = append(l.globs[h.Project], lying{g, h})
	}
	l.active++
	if l.ofAgent[h.AgentID] == nil {
		l.ofAgent[h.AgentID] = map[int64]*held{}
	}
	l.ofAgent[h.AgentID][h.ID] = h
}

// bury puts a lease that has ended among the past ones; mu is held.
func (l *Leases) bury(h *held) {
	l.active--
	if delete(l.ofAgent[h.AgentID], h.ID); len(l.ofAgent[h.AgentID]) == 0 {
		delete(l.ofAgent, h.AgentID)
	}
	if l.past = append(l.past, h); len(l.past) > maxPast {
		l.forget()
	}
}

// forget takes the lease out of memory that ended first; mu is held.
func (l *Leases) forget() {
	gone := l.past[0]
	delete(l.held, gone.ID)
	l.globs[gone.Project] = slices.DeleteFunc(l.globs[gone.Project], func(p lying) bool { return p.of == gone })
	if len(l.globs[gone.Project]) == 0 {
		delete(l.globs, gone.Project)
	}
	l.past = l.past[1:]
}

// overlapping passes on the leases of a project that a pattern overlaps with, each with its pattern that does; mu is held.
func (l *Leases) overlapping(project string, g Glob, found func(h *held, pattern string)) {
	for _, p := range l.globs[project] {
		if p.glob.Overlaps(g) {
			found(p.of, p.glob.text)
		}
	}
}

// state says whether a lease has ended by now, how, and when it did or will.
func (l *Leases) state(h *held, now time.Time) (end operational.LeaseEnd, at time.Time, s comms.Standing) {
	if h.Ended != "" {
		return h.Ended, *h.EndedAt, s
	}
	s = l.holders.Standing(h.AgentID)
	heard := h.heard(s)
	lapses, expires := heard.Add(time.Duration(h.TTLSeconds)*time.Second), h.RenewedAt.Add(MaxHold)
	switch {
	case s.Left.After(h.RenewedAt):
		return operational.LeaseLeft, s.Left, s
	case h.globs == nil, !now.Before(lapses):
		return operational.LeaseLapsed, lapses, s
	case !now.Before(expires):
		return operational.LeaseExpired, expires, s
	case expires.Before(lapses):
		return "", expires, s
	}
	return "", lapses, s
}

// heard is when the holder was heard of last.
func (h *held) heard(s comms.Standing) time.Time {
	if s.Since.After(h.RenewedAt) {
		return s.Since
	}
	return h.RenewedAt
}

// shown is a lease as it may be shown.
func (h *held) shown(expires time.Time) operational.Lease {
	lease := h.Lease
	lease.ExpiresAt = expires.UTC().Truncate(time.Millisecond)
	return lease
}

// Take implements Service. It needs ScopeAgent.
func (l *Leases) Take(ctx context.Context, draft operational.LeaseDraft) (operational.Lease, error) {
	p := principal.Of(ctx)
	agent, err := p.ActingAs("agent_id", draft.AgentID)
	if err != nil {
		return operational.Lease{}, err
	}
	if agent == "" {
		return operational.Lease{}, errs.InvalidField("agent_id", "is required: it says who takes the lease")
	}
	ttl := time.Duration(draft.TTLSeconds) * time.Second
	if draft.TTLSeconds == 0 {
		ttl = DefaultTTL
	}
	if err := cmp.Or(check.Required("project", draft.Project, check.MaxName), check.Name("project", draft.Project),
		check.Text("why", draft.Why, MaxWhy), check.Text("folder", draft.Folder, comms.MaxPath)); err != nil {
		return operational.Lease{}, err
	}
	switch {
	case draft.TTLSeconds < 0 || ttl < MinTTL || ttl > MaxTTL || draft.TTLSeconds > int64(MaxTTL/time.Second):
		return operational.Lease{}, errs.InvalidField("ttl_seconds", "must lie between %d and %d", int(MinTTL.Seconds()), int(MaxTTL.Seconds()))
	case len(draft.Patterns) == 0 || len(draft.Patterns) > MaxPatterns:
		return operational.Lease{}, errs.InvalidField("patterns", "must be 1 to %d", MaxPatterns)
	}
	for _, pattern := range draft.Patterns {
		if err := cmp.Or(check.Text("patterns", pattern, MaxPattern), check.NoSecret("patterns", pattern)); err != nil {
			return operational.Lease{}, err
		}
	}
	globs, err := compileAll(draft.Patterns, draft.Glob)
	if err != nil {
		return operational.Lease{}, err
	}
	if !draft.Shared && !p.Has(principal.ScopeCaptain) {
		if err := l.checkExtent(globs, draft.Folder, p.IsNear()); err != nil {
			return operational.Lease{}, err
		}
	}
	var redaction redact.Redaction
	redaction.Text(&draft.Why, &draft.Folder)

	l.change.Lock()
	defer l.change.Unlock()
	now := l.now().UTC().Truncate(time.Millisecond)
	lease := operational.Lease{
		AgentID: agent, Project: draft.Project, Patterns: draft.Patterns, Glob: draft.Glob, Shared: draft.Shared, Why: draft.Why, Folder: draft.Folder,
		TTLSeconds: int64(ttl / time.Second), TakenAt: now, RenewedAt: now, ExpiresAt: now.Add(ttl),
	}
	former, err := l.mayTake(p, lease, globs, now)
	if err != nil {
		return operational.Lease{}, err
	}
	if former != nil {
		lease.ID, lease.Why, lease.TakenAt = former.ID, cmp.Or(lease.Why, former.Why), former.TakenAt
	}
	lease, err = l.store.TakeLease(ctx, lease, func(stored operational.Lease) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if former != nil {
			former.Lease = stored
			return
		}
		l.put(&held{stored, globs})
	})
	lease.Redacted = redaction.Kinds()
	return lease, err
}

// mayTake says what stands against a lease, and which one it takes again; change is held.
func (l *Leases) mayTake(p principal.Principal, lease operational.Lease, globs []Glob, now time.Time) (former *held, err error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, h := range l.ofAgent[lease.AgentID] {
		if end, _, _ := l.state(h, now); end == "" && h.Project == lease.Project && h.Shared == lease.Shared && h.Glob == lease.Glob && h.Folder == lease.Folder && slices.Equal(h.Patterns, lease.Patterns) {
			former = h
		}
	}
	switch {
	case former != nil:
	case l.active >= MaxLeases:
		return nil, errs.Errorf(errs.Unavailable, "%d leases are held: the router takes no more", MaxLeases)
	case l.heldBy(p, lease.AgentID) >= MaxOfAgent:
		return nil, errs.Errorf(errs.RateLimited, "this agent holds %d leases, with all agents of its token: give some back", MaxOfAgent)
	}
	for _, g := range globs {
		l.overlapping(lease.Project, g, func(h *held, pattern string) {
			if err != nil || h.AgentID == lease.AgentID || h.Shared && lease.Shared {
				return
			}
			if end, until, _ := l.state(h, now); end == "" {
				err = errs.Errorf(errs.Conflict, "%q overlaps with %q, which %s holds until %s (lease %d)%s: ask for it (leases ask), or take other files",
					g, pattern, h.AgentID, hour(until), h.ID, because(h.Why))
			}
		})
	}
	return former, err
}

// heldBy counts the leases of an agent, and of all whom its token may act as.
func (l *Leases) heldBy(p principal.Principal, agent string) (n int) {
	if p.Bound() == "" {
		return len(l.ofAgent[agent])
	}
	for name, leases := range l.ofAgent {
		if p.Is(name) {
			n += len(leases)
		}
	}
	return n
}

// hour is a time as people and models read it.
func hour(t time.Time) string { return t.UTC().Format("15:04 UTC") }

// maxShownWhy bounds what is repeated of a lease's reason, in bytes.
const maxShownWhy = 200

func because(why string) string {
	if why == "" {
		return ""
	}
	return fmt.Sprintf(" for %q", check.Head(check.OneLine(safetext.Visible(why)), maxShownWhy))
}

// Leases implements Service. It needs ScopeRead.
func (l *Leases) Leases(ctx context.Context, filter operational.LeaseFilter) ([]operational.Lease, error) {
	limit, err := check.Limit(filter.Limit, operational.DefaultLimit, operational.MaxLimit)
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), err); err != nil {
		return nil, err
	}
	var near Glob
	if filter.Path != "" {
		if near, err = either(filter.Path); err != nil {
			return nil, errs.InvalidField("path", "%s", errs.MessageOf(err))
		}
	}
	now := l.now()
	found := []operational.Lease{}
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, h := range l.held {
		end, until, _ := l.state(h, now)
		if end != "" || filter.Project != "" && h.Project != filter.Project || filter.AgentID != "" && h.AgentID != filter.AgentID ||
			filter.Path != "" && !slices.ContainsFunc(h.globs, near.Overlaps) {
			continue
		}
		found = append(found, h.shown(until))
	}
	slices.SortFunc(found, func(a, b operational.Lease) int { return cmp.Compare(b.ID, a.ID) })
	return found[:min(limit, len(found))], nil
}

// Release implements Service. Its holder may release a lease, or a captain.
func (l *Leases) Release(ctx context.Context, release operational.LeaseRelease) ([]operational.Lease, error) {
	p := principal.Of(ctx)
	agent, err := p.ActingAs("agent_id", release.AgentID)
	if err != nil {
		return nil, err
	}
	if len(release.IDs) == 0 && agent == "" {
		return nil, errs.InvalidField("lease_ids", "is required: it says which leases are given back")
	}
	if len(release.IDs) > MaxOfAgent {
		return nil, errs.InvalidField("lease_ids", "must be at most %d", MaxOfAgent)
	}
	l.change.Lock()
	defer l.change.Unlock()
	now := l.now().UTC().Truncate(time.Millisecond)
	var ended []operational.Lease
	l.mu.RLock()
	if len(release.IDs) == 0 {
		for id, h := range l.ofAgent[agent] {
			if release.Project == "" || release.Project == h.Project {
				release.IDs = append(release.IDs, id)
			}
		}
	}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(release.IDs))) {
		h := l.held[id]
		switch {
		case h == nil:
			err = cmp.Or(err, error(errs.Errorf(errs.NotFound, "no lease %d is held", id)))
		case p.ActAs(h.AgentID) != nil:
			err = cmp.Or(err, p.ActAs(h.AgentID))
		default:
			if end, until, _ := l.state(h, now); end == "" {
				lease := h.shown(until)
				lease.Ended, lease.EndedAt, lease.Told = operational.LeaseReleased, &now, agent == h.AgentID
				if agent != h.AgentID {
					lease.EndedBy = cmp.Or(agent, "captain")
				}
				ended = append(ended, lease)
			}
		}
	}
	l.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	if err := l.end(ctx, ended); err != nil {
		return nil, err
	}
	if ended == nil {
		ended = []operational.Lease{}
	}
	return ended, nil
}

// end tells the holders of leases that end without their doing, and then stores the ends and takes them over into memory; change
// is held. A message has the lease's number as its key: where the end could not be stored, the next look tells nobody twice.
func (l *Leases) end(ctx context.Context, ended []operational.Lease) error {
	if len(ended) == 0 {
		return nil
	}
	for i, lease := range ended {
		if lease.Told {
			continue
		}
		err := l.mail.Tell(principal.With(ctx, principal.System()), farewell(lease))
		switch errs.CodeOf(err) {
		case "":
		case errs.Invalid, errs.TooLarge, errs.Conflict: // it can never be sent, or was sent with another text
			l.log.Warn("the holder of a lease that has ended was not told", "lease_id", lease.ID, "error", err)
		default:
			return fmt.Errorf("lease %d: %w", lease.ID, err)
		}
		ended[i].Told = true
	}
	return l.store.EndLeases(ctx, ended, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, lease := range ended {
			if h := l.held[lease.ID]; h != nil {
				h.Lease = lease
				l.bury(h)
			}
		}
	})
}

// Ask implements Service. It needs ScopeAgent.
func (l *Leases) Ask(ctx context.Context, question operational.LeaseQuestion) (comms.Sent, error) {
	agent, err := principal.Of(ctx).ActingAs("agent_id", question.AgentID)
	if err != nil {
		return comms.Sent{}, err
	}
	if err := check.Required("text", question.Text, MaxQuestion); err != nil {
		return comms.Sent{}, err
	}
	l.mu.RLock()
	h := l.held[question.ID]
	var lease operational.Lease
	ended := h == nil
	if !ended { // what has ended is remembered for a while
		end, _, _ := l.state(h, l.now())
		lease, ended = h.Lease, end != ""
	}
	l.mu.RUnlock()
	if ended {
		return comms.Sent{}, errs.Errorf(errs.NotFound, "no lease %d is held: the files are free", question.ID)
	}
	said, _ := json.Marshal(map[string]any{"text": question.Text, "lease_id": lease.ID, "patterns": lease.Patterns}) // texts cannot fail
	return l.mail.Send(ctx, operational.MessageDraft{From: agent, To: lease.AgentID, Signal: operational.SignalMessage, Context: said, ThreadID: fmt.Sprintf("lease:%d", lease.ID)})
}

// Nudge has Run look at once, and does not wait for it.
func (l *Leases) Nudge() { committer.Nudge(l.kick) }

// lookEvery is how often leases are looked at that may have lapsed. A check need not wait for it.
const lookEvery = time.Second

// Run ends leases that lapse or whose holders leave, and tells their holders, until ctx ends. It returns nil.
func (l *Leases) Run(ctx context.Context) error {
	ctx = principal.With(ctx, principal.System())
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		if err := l.Look(ctx); err != nil && ctx.Err() == nil {
			l.log.Error("leases that have ended could not be settled", "error", err)
		}
		select {
		case <-look.C:
		case <-l.kick:
		case <-ctx.Done():
			return nil
		}
	}
}

// Look does once what Run does again and again.
func (l *Leases) Look(ctx context.Context) error {
	now := l.now().UTC().Truncate(time.Millisecond)
	err := l.lapse(ctx, now)
	if now.Sub(l.swept) >= time.Hour || now.Before(l.swept) {
		l.swept = now
		for {
			n, failed := l.store.SweepLeases(ctx, now.Add(-retention), sweepStep)
			err = errors.Join(err, failed)
			if failed != nil || n < sweepStep {
				break
			}
		}
	}
	return err
}

// lapse ends what has come to its end.
func (l *Leases) lapse(ctx context.Context, now time.Time) error {
	l.change.Lock()
	defer l.change.Unlock()
	var ended []operational.Lease
	l.mu.RLock()
	for _, leases := range l.ofAgent {
		for _, h := range leases {
			if end, at, _ := l.state(h, now); end != "" {
				lease := h.shown(at)
				at = lease.ExpiresAt
				lease.Ended, lease.EndedAt = end, &at
				ended = append(ended, lease)
			}
		}
	}
	l.mu.RUnlock()
	l.mu.Lock()
	for len(l.past) > 0 && now.Sub(*l.past[0].EndedAt) > momentAgo {
		l.forget()
	}
	l.mu.Unlock()
	slices.SortFunc(ended, func(a, b operational.Lease) int { return cmp.Compare(a.ID, b.ID) })
	return l.end(ctx, ended)
}

// SignalLease is the signal of what the router says of leases.
const SignalLease = "lease"

// maxToldFiles bounds what the text of a farewell names of a lease's patterns, in bytes: all of them stand beside it.
const maxToldFiles = 500

// farewell tells a holder that its lease has ended.
func farewell(lease operational.Lease) operational.MessageDraft {
	files := strings.Join(lease.Patterns, " ")
	if head := check.Head(files, maxToldFiles); len(head) < len(files) {
		files = head + " …"
	}
	var text string
	switch lease.Ended {
	case operational.LeaseReleased:
		text = fmt.Sprintf("Your lease %d of %s was released by %s.", lease.ID, files, lease.EndedBy)
	case operational.LeaseLapsed:
		text = fmt.Sprintf("Your lease %d of %s lapsed at %s: nothing was heard of you for %s. Take it again before you go on.",
			lease.ID, files, hour(*lease.EndedAt), time.Duration(lease.TTLSeconds)*time.Second)
	case operational.LeaseExpired:
		text = fmt.Sprintf("Your lease %d of %s ended at %s: it was held for %s. Take it again if you still work there.", lease.ID, files, hour(*lease.EndedAt), MaxHold)
	default:
		text = fmt.Sprintf("Your lease %d of %s ended with your session at %s.", lease.ID, files, hour(*lease.EndedAt))
	}
	// Marshalling strings and numbers cannot fail.
	said, _ := json.Marshal(map[string]any{"text": text, "lease_id": lease.ID, "patterns": lease.Patterns, "ended": lease.Ended, "project": lease.Project})
	return operational.MessageDraft{
		From: operational.RouterName, To: lease.AgentID, Signal: SignalLease, Context: said, ThreadID: fmt.Sprintf("lease:%d", lease.ID),
		IdempotencyKey: fmt.Sprintf("lease:%d:%d", lease.ID, lease.RenewedAt.UnixMilli()),
	}
}
