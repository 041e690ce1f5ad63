package history

import (
	"context"
	"reflect"
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
)

// Replay measures on sessions that took place what they would have been told: at each session's start the
// sessions before it have been learned from, and nothing of itself. It is for one goroutine.
type Replay struct {
	incidents *Incidents
	store     Store
	accept    int
	now       time.Time
	here      map[int64]bool // incidents that the session had
	Replayed
}

// Replayed is what a replay measured.
type Replayed struct {
	Sessions int               `json:"sessions"`
	Lines    int               `json:"brief_lines"` // of all briefs
	Total    ReplayedCounts    `json:"total"`
	Each     []ReplayedSession `json:"each"`
}

// ReplayedSession is what a replay measured in one session.
type ReplayedSession struct {
	Session string `json:"session_id"`
	Project string `json:"project,omitempty"`
	ReplayedCounts
}

// ReplayedCounts counts what would have been told, and what it could have been told of.
type ReplayedCounts struct {
	Commands int `json:"commands"` // that ran to their end, without those that a resumed session copied
	Mistakes int `json:"mistakes"` // failures that can be told the next time
	Repeats  int `json:"repeats"`  // mistakes that an earlier session had made
	Warned   int `json:"warned"`   // repeats that a warning came before

	Known    int `json:"known"`    // repeats that are the first of their kind in their session, and went through earlier
	Named    int `json:"named"`    // known ones that the brief at the start names
	Fixable  int `json:"fixable"`  // known ones that a command made go through earlier
	Answered int `json:"answered"` // fixable ones that are answered with what worked

	Compared int `json:"compared"` // answered ones that a command made go through in this session too
	Same     int `json:"same"`     // of the compared, those where the answer names this command or its like
	Saved    int `json:"saved"`    // calls between these failures and that command

	Fine  int `json:"fine"`  // commands that went well
	False int `json:"false"` // of these, those that a warning came before
}

// add adds what was measured elsewhere.
func (c *ReplayedCounts) add(d *ReplayedCounts) {
	counts, more := reflect.ValueOf(c).Elem(), reflect.ValueOf(d).Elem()
	for i := range counts.NumField() {
		counts.Field(i).SetInt(counts.Field(i).Int() + more.Field(i).Int())
	}
}

// ReplayedShare is a part of what could have been told.
type ReplayedShare struct {
	Name     string // lower case
	Part, Of int
	Share    float64 // from 0 to 1; of nothing 0
}

// Shares are what would have been told of what could have been, and at last the warnings that were false.
func (c *ReplayedCounts) Shares() []ReplayedShare {
	share := func(name string, part, of int) ReplayedShare {
		return ReplayedShare{name, part, of, float64(part) / float64(max(1, of))}
	}
	return []ReplayedShare{
		share("named at the start, of those that went through earlier", c.Named, c.Known),
		share("answered with what worked, of those that a command mended", c.Answered, c.Fixable),
		share("mended by the same again, of those mended both times", c.Same, c.Compared),
		share("warned of before, of all that came back", c.Warned, c.Repeats),
		share("warned of, and went well", c.False, c.Fine),
	}
}

// NewReplay makes a Replay on an empty store, which lets incidents warn once they were seen in at least so many sessions; 0: none.
func NewReplay(store Store, accept int) *Replay {
	r := &Replay{store: store, accept: accept, now: time.Unix(1e9, 0), Replayed: Replayed{Each: []ReplayedSession{}}}
	r.incidents = New(store, learning.Options{Now: func() time.Time { return r.now }})
	return r
}

// Session measures a session, and learns from it then. The draft holds all of its steps.
func (r *Replay) Session(ctx context.Context, d Draft) (learned Learned, err error) {
	ctx = principal.With(ctx, principal.Owner(true))
	o := observe(d.Steps)
	chains := o.chains(d.Project, d.Session, d.Begin)
	var known map[int64]LearnedStep
	err = r.store.ChangeIncidents(ctx, func(tx Tx) error {
		known, err = tx.LearnedSteps(chains)
		return err
	})
	if err != nil {
		return learned, err
	}
	dropCopied(known, chains, hashOf(d.Project, d.Session), d.Begin)
	brief, err := r.incidents.Brief(ctx, BriefQuery{Project: d.Project})
	if err != nil {
		return learned, err
	}
	var counts ReplayedCounts
	r.here = map[int64]bool{}
	for i := range d.Steps {
		if _, copied := known[chains[i]]; !copied && chains[i] != 0 {
			if err := r.step(ctx, &d, o, i, brief.Shown, &counts); err != nil {
				return learned, err
			}
		}
	}
	if counts.Commands > 0 {
		r.Each = append(r.Each, ReplayedSession{d.Session, d.Project, counts})
		r.Total.add(&counts)
		r.Sessions++
		r.Lines += len(brief.Shown)
	}
	r.tick(d.Steps)
	if learned, err = r.incidents.learn(ctx, d); err != nil || r.accept <= 0 {
		return learned, err
	}
	_, err = r.incidents.Accept(ctx, Decision{Project: d.Project, Seen: r.accept})
	return learned, err
}

// tick moves the clock to where the session ended, or on by a second where its record does not say when that was.
func (r *Replay) tick(steps []Step) {
	r.now = r.now.Add(time.Second)
	for _, s := range steps {
		if s.At != nil && s.At.After(r.now) && s.At.Before(time.Now().Add(24*time.Hour)) {
			r.now = *s.At
		}
	}
}

// step measures the command at i.
func (r *Replay) step(ctx context.Context, d *Draft, o *observed, i int, brief []string, c *ReplayedCounts) error {
	s := o.steps[i]
	c.Commands++
	warning := r.incidents.Warn(d.Project, s.Command)
	if s.Outcome == Worked {
		c.Fine++
		if warning != nil {
			c.False++
		}
		return nil
	}
	failed := o.failed(i)
	if failed.class != mistake {
		return nil
	}
	k, err := r.incidents.recall(ctx, d.Project, "", o, i, failed)
	if err != nil {
		return err
	}
	c.Mistakes++
	within := slices.ContainsFunc(k.keys, func(key int64) bool { return r.here[key] })
	r.here[key(d.Project, failed.program, failed.err)] = true
	if len(k.found) == 0 {
		return nil
	}
	c.Repeats++
	if warning != nil {
		c.Warned++
	}
	if within || !slices.ContainsFunc(k.found, func(inc *Incident) bool { return inc.Solved > 0 }) {
		return nil
	}
	c.Known++
	if slices.ContainsFunc(k.found, func(inc *Incident) bool { return slices.Contains(brief, inc.ID) }) {
		c.Named++
	}
	if !slices.ContainsFunc(k.found, func(inc *Incident) bool { return len(inc.Fixes) > 0 }) {
		return nil
	}
	c.Fixable++
	if k.fix == nil {
		return nil
	}
	c.Answered++
	if now, _ := o.solve(i); now != nil && !now.edit {
		c.Compared++
		if stay := k.of.staying(k.fix, s.Command); k.fix.like(now) || stay != "" && same(stay, stored(now.command)) {
			c.Same++
			for j := i + 1; j < now.at; j++ {
				if o.steps[j].counts() {
					c.Saved++
				}
			}
		}
	}
	return nil
}

// sameFix is the share of words that two commands have in common which are one fix: the rest are often paths.
const sameFix = 0.5

// like tells whether what made a command go through is what the fix says.
func (f *Fix) like(now *solution) bool {
	for _, told := range append(slices.Clone(f.Steps), f.Command) {
		for _, ran := range append(slices.Clone(now.steps), now.command) {
			if ran = stored(ran); same(told, ran) || alike(told, ran) >= sameFix {
				return true
			}
		}
	}
	return false
}

// Happened is what the steps of a session did of an incident, by their places.
type Happened struct {
	Again []int // a command failed in the same way
	Ran   []int // the incident's program ran, and went through
}

// Happened says what the steps of a session did of these incidents, by their ids. Ids of none are passed over.
func (n *Incidents) Happened(ctx context.Context, draft Draft, ids []string) (map[string]Happened, error) {
	var numbers []int64
	for _, id := range ids {
		if number, err := NumberOf(id); err == nil {
			numbers = append(numbers, number)
		}
	}
	if len(numbers) == 0 {
		return nil, nil
	}
	known, err := n.store.Incidents(ctx, numbers)
	if err != nil {
		return nil, err
	}
	all := map[string]Happened{}
	o := observe(draft.Steps)
	for i, s := range draft.Steps {
		switch s.Outcome {
		case Failed:
			f := o.failed(i)
			if f.class != mistake {
				continue
			}
			for _, program := range append([]string{f.program}, o.view(i).programs...) {
				if inc, is := known[key(draft.Project, program, f.err)]; is {
					h := all[inc.ID]
					h.Again = append(h.Again, i)
					all[inc.ID] = h
					break
				}
			}
		case Worked:
			for _, inc := range known {
				if slices.Contains(o.view(i).programs, inc.Program) {
					h := all[inc.ID]
					h.Ran = append(h.Ran, i)
					all[inc.ID] = h
				}
			}
		}
	}
	return all, nil
}

// Follows tells whether a command that ran is what a fix told: the same, or with another path.
func Follows(told, ran string) bool {
	told, ran = oneLine(told), oneLine(stored(ran))
	return told == ran || same(told, ran) || alike(told, ran) >= sameFix
}
