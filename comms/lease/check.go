package lease

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"skillrouter/comms"
	"skillrouter/internal/check"
	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/internal/safetext"
	"skillrouter/operational"
)

// Check implements Service. It needs ScopeAgent. A person's changes have no agent.
func (l *Leases) Check(ctx context.Context, edits Changes) (Judged, error) {
	agent, err := principal.Of(ctx).SpeakingAs("agent_id", edits.AgentID)
	if err != nil {
		return Judged{}, err
	}
	if len(edits.Files) > MaxFiles {
		return Judged{}, errs.InvalidField("files", "must be at most %d", MaxFiles)
	}
	for _, f := range edits.Files {
		if err := f.check(); err != nil {
			return Judged{}, err
		}
	}
	return l.Judge(agent, edits.Files), nil
}

func (f ChangedFile) check() error {
	if err := cmp.Or(check.Text("folder", f.Folder, comms.MaxPath), check.Required("path", f.Path, maxPath)); err != nil {
		return err
	}
	if len(f.Projects) > maxProjects {
		return errs.InvalidField("projects", "must be at most %d", maxProjects)
	}
	for _, project := range f.Projects {
		if err := check.Name("projects", project); err != nil {
			return err
		}
	}
	return nil
}

// maxProjects bounds the names of one repository: one for each folder that a file .skillrouter names.
const maxProjects = 16

// Judge is Check for the router's own guard, which has seen who asks. It takes no query and no lock for long.
func (l *Leases) Judge(agent string, files []ChangedFile) Judged {
	now := l.now()
	j := judging{at: now, agent: agent, seen: map[string]bool{}}
	l.mu.RLock()
	for _, f := range files {
		if g, ok := f.glob(); ok {
			l.look(&j, f, g, false)
		}
	}
	l.mu.RUnlock()
	for _, f := range files {
		if g, ok := f.glob(); ok && agent != "" && !f.Recursive && !f.Pattern {
			l.recent.edit(&j, f, g.alts[0].path())
		}
	}
	return j.answer()
}

// glob is the file as a pattern; ok is false where it lies in no repository.
func (f ChangedFile) glob() (Glob, bool) {
	if f.Pattern {
		g, err := either(f.Path)
		return g, err == nil
	}
	return Path(f.Path, f.Recursive)
}

// path is the folded text of a literal pattern.
func (a alternative) path() string {
	var b strings.Builder
	for _, s := range a.segments {
		b.WriteString(s.literal)
		b.WriteByte('/')
	}
	return b.String()
}

// judging is one check under way.
type judging struct {
	at       time.Time
	agent    string
	findings []Claim
	seen     map[string]bool
}

func (j *judging) find(f Claim) {
	key := fmt.Sprintf("%d %s", f.LeaseID, f.AgentID)
	if f.LeaseID == 0 {
		key += " " + f.Path
	}
	if !j.seen[key] || f.Blocks {
		j.seen[key] = true
		j.findings = append(j.findings, f)
	}
}

// answer is what was found: of each lease the worst.
func (j *judging) answer() Judged {
	slices.SortStableFunc(j.findings, func(a, b Claim) int {
		switch {
		case a.Blocks != b.Blocks && a.Blocks:
			return -1
		case a.Blocks != b.Blocks:
			return 1
		}
		return cmp.Or(cmp.Compare(a.LeaseID, b.LeaseID), strings.Compare(a.Path, b.Path))
	})
	out := Judged{Claims: []Claim{}}
	told := map[string]bool{}
	for _, f := range j.findings {
		key := fmt.Sprintf("%d %s", f.LeaseID, f.AgentID)
		if f.LeaseID == 0 {
			key += " " + f.Path
		}
		if told[key] || len(out.Claims) == maxClaims {
			continue
		}
		told[key] = true
		out.Blocked = out.Blocked || f.Blocks
		out.Claims = append(out.Claims, f)
	}
	return out
}

// look finds the leases of others that a file falls under; mu is held. Late asks for those that were held
// at the time.
func (l *Leases) look(j *judging, f ChangedFile, g Glob, late bool) {
	at := j.at
	for _, project := range f.Projects {
		x := l.projects[project]
		if x == nil {
			continue
		}
		x.overlapping(g, func(e entry) {
			h := e.lease
			if h.AgentID == j.agent || at.Before(h.TakenAt) {
				return
			}
			end, until, s := l.state(h, at)
			if late && until.After(at) { // it was held then
				end = ""
			}
			if end != "" && (end == operational.LeaseReleased || end == operational.LeaseLeft || at.Sub(until) > momentAgo) {
				return
			}
			found := Claim{LeaseID: h.ID, AgentID: h.AgentID, Path: f.Path, Pattern: e.pattern, Why: h.Why, Until: until.UTC().Truncate(time.Millisecond)}
			switch {
			case end != "":
				found.Case = CaseEnded
			case h.Shared:
				found.Case = CaseShared
			case h.Folder != "" && f.Folder != "" && h.Folder != f.Folder:
				found.Case = CaseWorktree
			case !late && at.Sub(h.heard(s)) >= s.Patience:
				found.Case = CaseSilent
			default:
				found.Case, found.Blocks = CaseExclusive, true
			}
			j.find(found)
		})
	}
}

// recent remembers who changed which file last. It is in memory alone: it serves for minutes.
type recent struct {
	mu    sync.Mutex
	edits map[string]*changed
}

// changed is the latest change of a file by each of those who changed it lately.
type changed struct {
	by   map[string]time.Time
	told map[string]time.Time // "a b": a was warned of b's
}

// edit notes a change, and finds who else changed the same file a moment ago: each of two is warned of the other once.
func (r *recent) edit(j *judging, f ChangedFile, path string) {
	if len(f.Projects) == 0 {
		return
	}
	key := f.Projects[0] + "\x00" + f.Folder + "\x00" + path
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.edits[key]
	if c == nil {
		if len(r.edits) >= maxEdits {
			r.forget(j.at)
		}
		if r.edits == nil {
			r.edits = map[string]*changed{}
		}
		c = &changed{by: map[string]time.Time{}, told: map[string]time.Time{}}
		r.edits[key] = c
	}
	for other, at := range c.by {
		if other == j.agent || j.at.Sub(at) > editingNow || at.After(j.at) {
			continue
		}
		if told, is := c.told[j.agent+" "+other]; is && j.at.Sub(told) <= editingNow {
			continue
		}
		c.told[j.agent+" "+other] = j.at
		j.find(Claim{AgentID: other, Path: f.Path, Until: at.UTC().Truncate(time.Millisecond), Case: CaseEditing})
	}
	if !slices.ContainsFunc(j.findings, func(f Claim) bool { return f.Blocks }) { // what is blocked is not done
		c.by[j.agent] = j.at
	}
}

// forget drops what is old, or all if that is not enough: what is forgotten is warned of later than it could be.
func (r *recent) forget(now time.Time) {
	for key, c := range r.edits {
		latest := time.Time{}
		for _, at := range c.by {
			if at.After(latest) {
				latest = at
			}
		}
		if now.Sub(latest) > editingNow {
			delete(r.edits, key)
		}
	}
	if len(r.edits) >= maxEdits {
		r.edits = map[string]*changed{}
	}
}

// Late implements Service. It needs ScopeAgent. The holders of leases are told by messages that have the change's id
// as their key, so that a hand-over whose answer was lost, and is made again, tells nobody twice.
func (l *Leases) Late(ctx context.Context, edits LateChanges) (Judged, error) {
	agent, err := principal.Of(ctx).SpeakingAs("agent_id", edits.AgentID)
	if err != nil {
		return Judged{}, err
	}
	if len(edits.Changes) > MaxLate {
		return Judged{}, errs.InvalidField("changes", "must be at most %d", MaxLate)
	}
	for _, e := range edits.Changes {
		if err := cmp.Or(check.Required("id", e.ID, check.MaxName), check.Name("id", e.ID), e.check()); err != nil {
			return Judged{}, err
		}
	}
	now := l.now()
	all := judging{at: now, agent: agent, seen: map[string]bool{}}
	for _, e := range edits.Changes {
		g, ok := e.glob()
		if !ok {
			continue
		}
		at := e.At
		if at.After(now) || at.IsZero() { // clocks may be apart
			at = now
		}
		j := judging{at: at, agent: agent, seen: map[string]bool{}}
		l.mu.RLock()
		l.look(&j, e.ChangedFile, g, true)
		l.mu.RUnlock()
		if agent != "" && !e.Recursive && !e.Pattern {
			l.recent.edit(&j, e.ChangedFile, g.alts[0].path())
		}
		for _, f := range j.answer().Claims {
			f.Blocks = false // it is done
			all.findings = append(all.findings, f)
			err := l.mail.Tell(ctx, news(e, f, cmp.Or(agent, "a person")))
			if err != nil && errs.CodeOf(err) != errs.Conflict { // the same was said in other words
				return Judged{}, err
			}
			if agent != "" {
				err := l.mail.Tell(ctx, notice(e, f, agent))
				if err != nil && errs.CodeOf(err) != errs.Conflict {
					return Judged{}, err
				}
			}
		}
	}
	return all.answer(), nil
}

// notice tells who made the change whom it concerns: the hook that hands it over has answered already.
func notice(e LateChange, f Claim, agent string) operational.MessageDraft {
	text := fmt.Sprintf("While the router was away, at %s, you changed %s, on which %s works too", hour(e.At), f.Path, f.AgentID)
	if f.LeaseID != 0 {
		text += fmt.Sprintf(" by lease %d (%s)%s", f.LeaseID, f.Pattern, because(f.Why))
	}
	// Marshalling strings and numbers cannot fail.
	said, _ := json.Marshal(map[string]any{"text": text + ". They have been told. Look at it before you go on.", "own_change": true, "path": f.Path, "edit_id": e.ID})
	return operational.MessageDraft{
		From: operational.RouterName, To: agent, Signal: SignalLease, Context: said,
		IdempotencyKey: fmt.Sprintf("late:%x", sha256.Sum256(fmt.Appendf(nil, "own\n%s\n%s\n%d\n%s", agent, e.ID, f.LeaseID, f.AgentID))),
	}
}

// news tells the holder of a lease, or who changed the same file, of a change that was made while the router was away.
func news(e LateChange, f Claim, agent string) operational.MessageDraft {
	text := fmt.Sprintf("While the router was away, at %s, %s changed %s", hour(e.At), agent, f.Path)
	if f.LeaseID != 0 {
		text += fmt.Sprintf(", which your lease %d (%s) covers. Look at it before you go on.", f.LeaseID, f.Pattern)
	} else {
		text += ", which you changed too. Look at it before you go on."
	}
	// Marshalling strings and numbers cannot fail.
	said, _ := json.Marshal(map[string]any{"text": text, "lease_id": f.LeaseID, "path": f.Path, "agent_id": agent, "edit_id": e.ID})
	return operational.MessageDraft{
		From: operational.RouterName, To: f.AgentID, Signal: SignalLease, Context: said,
		IdempotencyKey: fmt.Sprintf("late:%x", sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%d\n%s", agent, e.ID, f.LeaseID, f.AgentID))),
	}
}

// Says is a finding in words.
func (f Claim) Says() string {
	what := fmt.Sprintf("%s holds a lease on %q", f.AgentID, f.Pattern)
	switch f.Case {
	case CaseExclusive:
		return fmt.Sprintf("%s until %s", what, hour(f.Until))
	case CaseShared:
		return fmt.Sprintf("%s, a shared one, until %s", what, hour(f.Until))
	case CaseSilent:
		return fmt.Sprintf("%s until %s, and has not been heard of for a while", what, hour(f.Until))
	case CaseWorktree:
		return fmt.Sprintf("%s in another worktree until %s: both changes will meet at the merge", what, hour(f.Until))
	case CaseEnded:
		return fmt.Sprintf("%s held a lease on %q until %s, and may still be at work there", f.AgentID, f.Pattern, hour(f.Until))
	}
	return fmt.Sprintf("%s changed %q at %s", f.AgentID, safetext.Visible(f.Path), hour(f.Until))
}
