package lease

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/operational"
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
	j := judging{at: l.now(), agent: agent, findings: map[string]Claim{}}
	l.judge(&j, files...)
	return j.answer()
}

// judge finds what speaks against changes of files, those first that others hold.
func (l *Leases) judge(j *judging, files ...ChangedFile) {
	l.mu.RLock()
	for _, f := range files {
		if g, ok := f.glob(); ok {
			l.look(j, f, g)
		}
	}
	l.mu.RUnlock()
	done := !j.blocked() // what is blocked is not done
	for _, f := range files {
		if _, ok := f.glob(); ok && j.agent != "" && !f.Recursive && !f.Pattern {
			l.recent.edit(j, f, done)
		}
	}
}

// glob is the file as a pattern; ok is false where it lies in no repository.
func (f ChangedFile) glob() (Glob, bool) {
	if f.Pattern {
		g, err := either(f.Path)
		return g, err == nil
	}
	return Path(f.Path, f.Recursive)
}

// judging is one check under way.
type judging struct {
	at       time.Time
	agent    string
	findings map[string]Claim // the worst of each lease, and of each file that somebody changes now
}

func (j *judging) find(f Claim) {
	key := fmt.Sprintf("%d %s", f.LeaseID, f.AgentID)
	if f.LeaseID == 0 {
		key += " " + f.Path
	}
	if _, known := j.findings[key]; !known || f.Blocks {
		j.findings[key] = f
	}
}

// blocked tells whether what is judged is stopped.
func (j *judging) blocked() bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(j.findings)), func(f Claim) bool { return f.Blocks })
}

// answer is what was found, what blocks first.
func (j *judging) answer() Judged {
	out := Judged{Blocked: j.blocked(), Claims: slices.Collect(maps.Values(j.findings))}
	slices.SortFunc(out.Claims, func(a, b Claim) int {
		switch {
		case a.Blocks && !b.Blocks:
			return -1
		case b.Blocks && !a.Blocks:
			return 1
		}
		return cmp.Or(cmp.Compare(a.LeaseID, b.LeaseID), strings.Compare(a.AgentID, b.AgentID), strings.Compare(a.Path, b.Path))
	})
	out.Claims = append([]Claim{}, out.Claims[:min(len(out.Claims), maxClaims)]...)
	return out
}

// look finds the leases of others that a file falls under; mu is held.
func (l *Leases) look(j *judging, f ChangedFile, g Glob) {
	for _, project := range f.Projects {
		l.overlapping(project, g, func(h *held, pattern string) {
			if h.AgentID == j.agent {
				return
			}
			end, until, s := l.state(h, j.at)
			if end != "" && (end == operational.LeaseReleased || end == operational.LeaseLeft || j.at.Sub(until) > momentAgo) {
				return
			}
			found := Claim{LeaseID: h.ID, AgentID: h.AgentID, Path: f.Path, Pattern: pattern, Why: h.Why, Until: until.UTC().Truncate(time.Millisecond)}
			switch {
			case end != "":
				found.Case = CaseEnded
			case h.Shared:
				found.Case = CaseShared
			case h.Folder != "" && f.Folder != "" && h.Folder != f.Folder:
				found.Case = CaseWorktree
			case j.at.Sub(h.heard(s)) >= s.Patience:
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
func (r *recent) edit(j *judging, f ChangedFile, done bool) {
	if len(f.Projects) == 0 {
		return
	}
	key := f.Projects[0] + "\x00" + f.Folder + "\x00" + folded(path.Clean(f.Path))
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.edits[key]
	if c == nil || len(c.by)+len(c.told) >= maxOfFile { // anybody may name anybody
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
	if done {
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
