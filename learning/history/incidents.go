package history

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
)

// Incidents is the Service on a Store. Load reads what is warned of.
type Incidents struct {
	store Store
	now   clock.Clock

	reading sync.Mutex // held while what is warned of is read: the last to read has read every change

	mu     sync.RWMutex
	warned map[int64]Warning // by features of commands: a check waits for no read of the disk

	vouched bool // see VouchedOnly

	told map[int64]bool // answers that sessions were given; after a restart one may be given again
}

var _ Service = (*Incidents)(nil)

// New makes Incidents.
func New(store Store, options learning.Options) *Incidents {
	return &Incidents{store: store, now: options.WithDefaults().Now, told: map[int64]bool{}}
}

// Load reads what is warned of before a command. It is called after each change.
func (n *Incidents) Load(ctx context.Context) error {
	n.reading.Lock()
	defer n.reading.Unlock()
	uses, err := n.store.Uses(ctx)
	if err != nil {
		return err
	}
	uses = slices.DeleteFunc(uses, func(u Use) bool { return !u.hot() })
	var ids []int64
	for _, u := range uses {
		ids = append(ids, u.Incident)
	}
	slices.Sort(ids)
	incidents, err := n.store.Incidents(ctx, slices.Compact(ids))
	if err != nil {
		return err
	}
	warned := map[int64]Warning{}
	for _, u := range uses {
		if inc, there := incidents[u.Incident]; there && inc.warns() {
			warned[u.Feature] = Warning{Incident: inc, Uses: u.Uses, Failures: u.Failures}
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.warned = warned
	return nil
}

// warns tells whether a command may be warned of because of the incident: somebody accepted it, it is not of one session alone, and it is nothing that passes.
func (inc *Incident) warns() bool {
	return inc.Accepted && inc.Sessions >= warnSessions && !transient.MatchString(inc.Example)
}

// key is the number of an incident.
func key(project, program, err string) int64 {
	of, said := identity(program, err)
	return hashOf(project, of, said)
}

// IDOf is the id of an incident that the database has under a number.
func IDOf(number int64) string { return fmt.Sprintf("%016x", uint64(number)) } //nolint:gosec // the same bits

// NumberOf is the number that IDOf makes an id of.
func NumberOf(id string) (int64, error) {
	n, err := strconv.ParseUint(id, 16, 64)
	if err != nil || len(id) != 16 {
		return 0, errs.InvalidField("id", "is none of an incident: 16 digits of 0 to f")
	}
	return int64(n), nil //nolint:gosec // the same bits
}

func checkDraft(d *Draft) error {
	if err := cmp.Or(check.Name("project", d.Project), check.Required("session_id", d.Session, maxSession)); err != nil {
		return err
	}
	if len(d.Steps) > MaxSteps {
		return &errs.Error{Code: errs.TooLarge, Field: "steps", Message: fmt.Sprintf("are more than %d: send them in parts", MaxSteps)}
	}
	for i, s := range d.Steps {
		at := fmt.Sprintf("steps[%d]", i)
		switch {
		case !slices.Contains([]Outcome{Worked, Failed, Refused, Edited}, s.Outcome):
			return errs.InvalidField(at+".outcome", "must be worked, failed, refused or edited")
		case len(s.Command) > MaxCommand || len(s.Output) > MaxOutput || len(s.ID) > maxSession || len(s.Digest) > maxSession:
			return &errs.Error{Code: errs.TooLarge, Field: at, Message: "has a text that is too long"}
		case !utf8.ValidString(s.Command) || !utf8.ValidString(s.Output) || strings.IndexByte(s.Command, 0) >= 0:
			return errs.InvalidField(at, "must be UTF-8 without NUL")
		}
	}
	if d.Source != nil {
		d.Source.Project = d.Project
		return check.Required("source.id", d.Source.ID, maxSession)
	}
	return nil
}

// maxSession bounds ids that agents give their sessions and calls, in bytes.
const maxSession = 512

// Learn implements Service.
func (n *Incidents) Learn(ctx context.Context, draft Draft) (learned Learned, err error) {
	by, err := principal.Of(ctx).ActingAs("agent_id", draft.AgentID)
	if err != nil {
		return learned, err
	}
	draft.AgentID = by
	if err := checkDraft(&draft); err != nil {
		return learned, err
	}
	return n.learn(ctx, draft)
}

// learn learns from steps of any number.
func (n *Incidents) learn(ctx context.Context, draft Draft) (learned Learned, err error) {
	o := observe(draft.Steps)
	l := &lesson{
		observed: o, draft: draft, chains: o.chains(draft.Project, draft.Session, draft.Begin),
		voice: principal.Of(ctx).Voice(), session: hashOf(draft.Project, draft.Session), now: n.now.Stamp(), failures: map[int]failure{},
	}
	// What the texts say is read before the transaction: everybody's writes wait for that.
	for i, s := range draft.Steps {
		if l.chains[i] == 0 || s.Outcome != Failed {
			continue
		}
		f := o.failed(i)
		if f.class == mistake {
			f.solved, f.others = o.solve(i)
		}
		l.failures[i] = f
	}
	err = n.store.ChangeIncidents(ctx, func(tx Tx) error {
		learned, err = l.apply(tx)
		return err
	})
	if err != nil {
		return Learned{}, err
	}
	return learned, n.Load(ctx)
}

// lesson is what one call of Learn learns from.
type lesson struct {
	*observed
	draft    Draft
	voice    string // whom it is learned of
	chains   []int64
	session  int64
	now      time.Time
	failures map[int]failure
}

// apply learns in a transaction. It may run twice.
func (l *lesson) apply(tx Tx) (learned Learned, err error) {
	known, err := tx.LearnedSteps(l.chains)
	if err != nil {
		return learned, err
	}
	dropCopied(known, l.chains, l.session, l.draft.Begin)
	keys := map[int64]bool{}
	for _, f := range l.failures {
		if f.class == mistake {
			keys[key(l.draft.Project, f.program, f.err)] = true
		}
	}
	incidents, err := tx.Incidents(slices.Collect(maps.Keys(keys)))
	if err != nil {
		return learned, err
	}
	uses := map[int64]*Use{}
	var steps []LearnedStep
	changed := map[int64]bool{}
	here := map[int64]bool{} // incidents that this call saw in the session
	for i := range l.steps {
		chain := l.chains[i]
		if chain == 0 {
			continue
		}
		was, old := known[chain]
		f := l.failures[i]
		step := LearnedStep{Chain: chain, Project: l.draft.Project, Session: l.session}
		if f.class == mistake {
			step.Incident = key(l.draft.Project, f.program, f.err)
		}
		if !old {
			learned.Steps++
			l.use(uses, i, step.Incident)
		} else if step.Incident == 0 || was.Fixed || was.Incident != step.Incident || was.Session != l.session {
			continue
		}
		if step.Incident != 0 {
			inc, there := incidents[step.Incident]
			if !there {
				inc = Incident{ID: IDOf(step.Incident), Project: l.draft.Project, Program: f.program, Error: f.err, First: l.at(i)}
				learned.Incidents++
			}
			if !old {
				if err := l.count(tx, &inc, i, step.Incident, there, here, &learned); err != nil {
					return learned, err
				}
			}
			if f.solved != nil {
				step.Fixed = true
				learned.Fixes++
				inc.solvedBy(f.solved, f.others, l.at(f.solved.at), l.voice, l.draft.AgentID)
			} else if !old {
				inc.attempted(f.others)
			}
			incidents[step.Incident], changed[step.Incident] = inc, true
		}
		if !old || step.Fixed {
			steps = append(steps, step)
			known[chain] = step
		}
	}
	var put []Incident
	for _, id := range slices.Sorted(maps.Keys(changed)) {
		put = append(put, incidents[id])
	}
	var list []Use
	for _, u := range uses {
		list = append(list, *u)
	}
	if err := cmp.Or(tx.AddSteps(steps), tx.PutIncidents(put), tx.AddUses(list)); err != nil {
		return learned, err
	}
	if l.draft.Source != nil {
		err = tx.PutSource(*l.draft.Source)
	}
	return learned, err
}

// count counts a failure of an incident.
func (l *lesson) count(tx Tx, inc *Incident, i int, number int64, there bool, here map[int64]bool, learned *Learned) error {
	seen := here[number]
	if !seen && there {
		var err error
		if seen, err = tx.SeenIn(number, l.session); err != nil {
			return err
		}
	}
	f := l.failures[i]
	learned.Failures++
	if !seen {
		if there {
			learned.Repeats++
		}
		inc.Sessions++
		here[number] = true
	}
	inc.Count++
	inc.Voices = heard(inc.Voices, l.voice)
	inc.Last = learning.Later(inc.Last, l.at(i))
	inc.Example, inc.Command = check.Head(f.line, 2*maxError), stored(l.steps[i].Command)
	for k := range inc.Fixes {
		if f := &inc.Fixes[k]; len(f.Steps) == 0 && same(f.Command, inc.Command) {
			f.Failed++ // what worked once failed in its turn
		}
	}
	return nil
}

// dropCopied counts the first two steps of a copied session as copied, which alone nothing tells.
func dropCopied(known map[int64]LearnedStep, chains []int64, session int64, begin bool) {
	chains = slices.DeleteFunc(slices.Clone(chains), func(chain int64) bool { return chain == 0 })
	if len(chains) < 3 || !begin {
		return
	}
	third, copied := known[chains[2]]
	for _, chain := range chains[:2] {
		if _, old := known[chain]; !old && copied && third.Session != session {
			known[chain] = LearnedStep{Chain: chain, Session: third.Session, Fixed: true}
		}
	}
}

// at is when a step was, as far as it is known; no later than now.
func (l *lesson) at(i int) time.Time {
	if at := l.steps[i].At; at != nil && at.Before(l.now) && at.Year() > 2000 {
		return at.UTC().Truncate(time.Millisecond)
	}
	return l.now
}

// use counts how the command at i went, and its programs: of one that failed the one that failed, unless the error names something else.
func (l *lesson) use(uses map[int64]*Use, i int, incident int64) {
	command, programs := l.steps[i].Command, l.view(i).programs
	if f := l.failures[i]; incident != 0 {
		if programs = []string{f.program}; namesOther(f.line, command, f.program) {
			programs = nil
		}
	}
	for _, feature := range features(l.draft.Project, command, programs) {
		u := uses[feature]
		if u == nil {
			u = &Use{Feature: feature, Project: l.draft.Project}
			uses[feature] = u
		}
		u.Uses++
		switch {
		case incident != 0:
			u.Failures++
			u.Since, u.Incident = 0, incident
		case l.steps[i].Outcome == Worked:
			u.Since++
		}
	}
}

// leastSame is the share of words, with paths and numbers replaced, that two forms of one command have in common at least.
const leastSame = 0.8

// same tells whether two commands are one, whatever paths and numbers they name and whatever message they leave.
func same(a, b string) bool { return a == b || alike(form(a), form(b)) >= leastSame }

// form is what of a command holds for the next session too.
func form(command string) string { return normal(saying.ReplaceAllString(command, "$1 …")) }

// saying is what a command says to people, such as a commit's.
var saying = lazyregexp.New(`(\s(?:-\w*m|--(?:message|title|body|subject|notes)))[ =](?:"(?:[^"\\]|\\.)*"?|'[^']*'?)`)

// solvedBy keeps what made the incident's command go through, as a voice taught it that spoke in an agent's name.
func (inc *Incident) solvedBy(found *solution, others []string, at time.Time, voice, by string) {
	inc.Solved++
	inc.attempted(others)
	if found.edit {
		inc.Edits++
		return
	}
	fix := Fix{Command: stored(found.command), Worked: 1, Last: at}
	for _, s := range found.steps {
		fix.Steps = append(fix.Steps, stored(s))
	}
	fix.Risky, fix.Foreign = risky.MatchString(fix.commands()), learning.Foreign(fix.commands())
	// Another token's words are confirmed by the same words alone: nobody puts others, however alike, in their place.
	known := slices.IndexFunc(inc.Fixes, func(f Fix) bool { return f.commands() == fix.commands() })
	if known < 0 {
		known = slices.IndexFunc(inc.Fixes, func(f Fix) bool { return f.aloneOf(voice) && same(f.text(), fix.text()) })
	}
	if known < 0 {
		inc.Fixes, known = append(inc.Fixes, fix), len(inc.Fixes)
		inc.Fixes[known].Voices = []string{}
	} else {
		was := inc.Fixes[known]
		fix.Worked, fix.Failed, fix.Voices, fix.By, fix.Accepted, fix.Person = was.Worked+1, was.Failed, was.Voices, was.By, was.Accepted, was.Person
		inc.Fixes[known] = fix
	}
	f := &inc.Fixes[known]
	f.Voices = heard(f.Voices, voice)
	if by != "" && len(f.By) < maxTeachers && !slices.Contains(f.By, by) {
		f.By = append(slices.Clone(f.By), by)
	}
	inc.rank()
}

// withheld tells whether no agent should be told the fix. Of one that was stored, Risky says what was known of such commands then.
func (f *Fix) withheld() bool {
	return f.Risky || risky.MatchString(f.commands()) || !f.Person && learning.Foreign(f.commands()) != ""
}

// commands is all that the fix runs.
func (f *Fix) commands() string { return strings.Join(append(slices.Clone(f.Steps), f.Command), "\n") }

// text is what two fixes are compared by.
func (f Fix) text() string {
	if len(f.Steps) > 0 {
		return strings.Join(f.Steps, " ")
	}
	return f.Command
}

// worth orders fixes: how much oftener one worked than it failed.
func (f Fix) worth() int { return f.Worked - f.Failed }

// rank puts the best fixes first, those that more than one token stands by before all others, and drops what there is no
// room for: first of the token that taught most of the others.
func (inc *Incident) rank() {
	slices.SortStableFunc(inc.Fixes, func(a, b Fix) int {
		return cmp.Or(b.standing()-a.standing(), b.worth()-a.worth(), b.Last.Compare(a.Last))
	})
	for len(inc.Fixes) > maxFixes {
		taught := map[string]int{}
		for _, f := range inc.Fixes {
			if f.standing() == 0 {
				taught[f.Voices[0]]++
			}
		}
		most, worst := 0, len(inc.Fixes)-1
		for i, f := range inc.Fixes {
			if f.standing() == 0 && taught[f.Voices[0]] >= most {
				most, worst = taught[f.Voices[0]], i
			}
		}
		inc.Fixes = slices.Delete(inc.Fixes, worst, worst+1)
	}
}

// attempted keeps what failed in the command's place, and lowers a fix that did.
func (inc *Incident) attempted(others []string) {
	for _, other := range others {
		other = stored(other)
		for k := range inc.Fixes {
			if f := &inc.Fixes[k]; same(f.text(), other) {
				f.Failed++
			}
		}
		known := slices.IndexFunc(inc.Others, func(a Attempt) bool { return same(a.Command, other) })
		if known < 0 {
			inc.Others = append(inc.Others, Attempt{other, 1})
		} else {
			inc.Others[known].Count++
		}
	}
	slices.SortStableFunc(inc.Others, func(a, b Attempt) int { return b.Count - a.Count })
	inc.Others = inc.Others[:min(len(inc.Others), maxAttempts)]
	inc.rank()
}

// List implements Service.
func (n *Incidents) List(ctx context.Context, filter Filter) (page Page, err error) {
	if err := cmp.Or(
		principal.Of(ctx).Need(principal.ScopeRead), check.Name("project", filter.Project), check.SetLimit(&filter.Limit, DefaultLimit, MaxLimit),
	); err != nil {
		return page, err
	}
	filter.Every = (filter.Every || filter.Waiting) && filter.Project == ""
	if err := n.find(ctx, filter, &page); err != nil {
		return page, err
	}
	page.Count = len(page.Incidents)
	page.Sessions, page.Recurring, page.Times, err = n.store.CountIncidents(ctx, filter)
	return page, err
}

// find fills a page with the incidents that a filter selects.
func (n *Incidents) find(ctx context.Context, filter Filter, page *Page) error {
	if err := check.Text("query", filter.Query, maxQuery); err != nil {
		return err
	}
	after, err := readCursor(filter.Cursor)
	if err != nil {
		return err
	}
	words := strings.Fields(strings.ToLower(filter.Query))
	if filter.Waiting {
		filter.Sessions = max(filter.Sessions, warnSessions)
	}
	page.Incidents = []Incident{}
	part := filter
	part.Limit++ // one more tells whether there is a next page
	for looked := 0; ; {
		found, err := n.store.ListIncidents(ctx, part, after, words)
		if err != nil {
			return err
		}
		for i := range found {
			if len(page.Incidents) == filter.Limit || looked == MaxLooked && (len(words) > 0 || filter.Waiting) {
				page.Next = after.cursor()
				return nil
			}
			looked++
			after = &found[i]
			if found[i].says(words) && (!filter.Waiting || found[i].waits()) {
				page.Incidents = append(page.Incidents, found[i])
			}
		}
		if len(found) < part.Limit {
			return nil
		}
	}
}

// waits tells whether somebody should decide whether the incident may warn: nobody did, and it would teach something.
func (inc Incident) waits() bool {
	if inc.Accepted || inc.Declined || transient.MatchString(inc.Example) {
		return false
	}
	inc.Accepted = true
	inc.Fixes = slices.Clone(inc.Fixes)
	for i := range inc.Fixes {
		inc.Fixes[i].Accepted, inc.Fixes[i].Person = "a person", true // whom it waits for
	}
	return inc.teaches(asker{}) != nil
}

// says tells whether the texts that people know an incident by have all of some words.
func (inc *Incident) says(words []string) bool {
	if len(words) == 0 {
		return true
	}
	texts := []string{inc.Program, inc.Error, inc.Example, inc.Command, inc.ID}
	for _, f := range inc.Fixes {
		texts = append(append(texts, f.Command), f.Steps...)
	}
	all := strings.ToLower(strings.Join(texts, "\n"))
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(all, word) })
}

// cursor says where a list goes on behind an incident, which may have moved by then.
func (inc *Incident) cursor() string {
	return fmt.Sprintf("%d.%d.%s", inc.Sessions, inc.Last.UnixMilli(), inc.ID)
}

// readCursor returns what a list goes on behind; nil: it begins.
func readCursor(cursor string) (*Incident, error) {
	if cursor == "" {
		return nil, nil
	}
	parts := strings.Split(cursor, ".")
	if len(parts) == 3 {
		sessions, err := strconv.Atoi(parts[0])
		last, wrong := strconv.ParseInt(parts[1], 10, 64)
		_, none := NumberOf(parts[2])
		if err == nil && wrong == nil && none == nil {
			return &Incident{ID: parts[2], Sessions: sessions, Last: time.UnixMilli(last)}, nil
		}
	}
	return nil, errs.InvalidField("cursor", "is not one that a list answered")
}

// Incident returns one. It needs ScopeRead.
func (n *Incidents) Incident(ctx context.Context, id string) (Incident, error) {
	number, err := NumberOf(id)
	if err = cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), err); err != nil {
		return Incident{}, err
	}
	found, err := n.store.Incidents(ctx, []int64{number})
	if err != nil {
		return Incident{}, err
	}
	one, there := found[number]
	if !there {
		return Incident{}, errs.Errorf(errs.NotFound, "no incident has this id")
	}
	return one, nil
}

// Accept implements Service.
func (n *Incidents) Accept(ctx context.Context, d Decision) (decided Decided, err error) {
	by, err := principal.Of(ctx).ActingAs("by", d.By)
	if err != nil {
		return decided, err
	}
	if err := check.Name("project", d.Project); err != nil {
		return decided, err
	}
	if d.Seen < 0 || d.Seen == 0 && len(d.IDs) == 0 {
		return decided, errs.InvalidField("ids", "must name incidents, or seen be the least number of sessions")
	}
	if d.Undo && d.Decline {
		return decided, errs.InvalidField("decline", "takes an acceptance back too: undo beside it says nothing")
	}
	var named []int64
	for _, id := range d.IDs {
		number, err := NumberOf(id)
		if err != nil {
			return decided, err
		}
		named = append(named, number)
	}
	a := accepterOf(principal.Of(ctx), by)
	if done := learning.Accepted; !d.Undo {
		if d.Decline {
			done = learning.Declined
		}
		ctx = learning.Noting(ctx, n.now.Stamp(), done, "incident", d.IDs...)
	}
	err = n.store.ChangeIncidents(ctx, func(tx Tx) error {
		decided = Decided{}
		own := 0 // incidents that only the caller's own token taught
		ids := slices.Clone(named)
		if d.Seen > 0 {
			more, err := tx.IncidentsOf(d.Project, d.Seen)
			if err != nil {
				return err
			}
			ids = append(ids, more...)
		}
		found, err := tx.Incidents(ids)
		if err != nil {
			return err
		}
		if len(found) == 0 && len(named) > 0 {
			return errs.Errorf(errs.NotFound, "no incident has this id")
		}
		var put []Incident
		for _, number := range slices.Sorted(maps.Keys(found)) {
			inc := found[number]
			if inc.Declined && !slices.Contains(named, number) {
				continue // somebody decided on this one by itself
			}
			was, vouched, may := inc, false, true
			inc.Accepted, inc.Declined, inc.By = !d.Undo && !d.Decline, d.Decline, by
			if !inc.Accepted {
				inc.By = ""
				inc.doubt()
			} else if vouched, may = inc.vouch(a, slices.Contains(named, number)); !may {
				own++
				continue
			}
			if inc.Accepted == was.Accepted && inc.Declined == was.Declined && !vouched {
				continue
			}
			put = append(put, inc)
		}
		if own > 0 && len(put) == 0 {
			return a.refused
		}
		decided.Changed = len(put)
		return tx.PutIncidents(put)
	})
	if err != nil {
		return Decided{}, err
	}
	return decided, n.Load(ctx)
}

// Sources implements Service.
func (n *Incidents) Sources(ctx context.Context, filter SourceFilter) (page SourcePage, err error) {
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return page, err
	}
	if len(filter.IDs) > MaxSourceIDs {
		return page, errs.InvalidField("ids", "must be at most %d", MaxSourceIDs)
	}
	page.Sources, err = n.store.IncidentSources(ctx, filter.IDs)
	page.Count = len(page.Sources)
	return page, err
}

// Forget implements Service.
func (n *Incidents) Forget(ctx context.Context, project string) (gone Forgotten, err error) {
	ctx = committer.Essential(ctx) // it makes room
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeCaptain), check.Name("project", project)); err != nil {
		return gone, err
	}
	if err = n.store.ChangeIncidents(ctx, func(tx Tx) error {
		gone.Incidents, gone.Steps, err = tx.Forget(project)
		return err
	}); err != nil {
		return Forgotten{}, err
	}
	return gone, n.Load(ctx)
}
