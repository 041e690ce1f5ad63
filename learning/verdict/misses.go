package verdict

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
)

// Bounds of the background work.
const (
	missesEvery = time.Second // how often misses are written
	// missesWaiting bounds the misses in memory. What comes while there are as many is dropped.
	missesWaiting = 1024
	// gapsEvery is how often gaps are asked again while something is being stored, and
	// gapsStep how many at a time: at most ten questions a second.
	gapsEvery = 5 * time.Second
	gapsStep  = 50
	// missesLast is how long the last misses may take to be written when the process stops.
	missesLast = 500 * time.Millisecond
)

// missKey is what one agent asked.
type missKey struct{ key, agent string }

// Missed implements learning.MissObserver. It takes microseconds, and never waits for the disk.
func (v *Verdicts) Missed(ctx context.Context, miss learning.Miss) {
	caller := principal.Of(ctx)
	if !learning.IsAsked(ctx) || caller.Into("project", &miss.Project) != nil {
		return // nobody asked, or it is in no project that the caller writes into
	}
	at := v.now.Stamp()
	one := Verdict{Subject: learning.GapQuestion(miss.Question), Project: miss.Project, Agent: miss.AgentID, Times: 1, First: at, At: at}
	if one.Agent == "" || caller.ActAs(one.Agent) != nil {
		one.Agent = caller.AgentID // a reader may say for whom it asks, and is not believed
	}
	var ok bool
	if one.Key, ok = gapID(one.Subject, one.Project, caller.Walled()); !ok {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	key := missKey{one.Key, one.Agent}
	before, waits := v.waiting[key]
	if waits {
		one.First, one.Times = before.First, before.Times+1
	} else if len(v.waiting) >= missesWaiting {
		return
	}
	v.waiting[key] = one
}

// gapID is the id of a gap. A question of somebody who sees no other project is another gap than the same question of
// somebody who does: what answers the one may be unknown to the other.
func gapID(question, project string, within bool) (string, bool) {
	if within {
		project = "within\x00" + project
	}
	return learning.GapID(question, project)
}

// Run writes what was missed and asks gaps again when something was stored, until ctx ends; then it writes
// the last misses and returns nil. The store must take writes until it returns.
func (v *Verdicts) Run(ctx context.Context) error {
	writing, asking := time.NewTicker(missesEvery), time.NewTicker(gapsEvery)
	defer writing.Stop()
	defer asking.Stop()
	rung, changed := v.rings(), true // what was stored before the start may answer what was asked before it
	var gaps []Gap
	for ctx.Err() == nil {
		var err error
		select {
		case <-writing.C:
			err = v.Flush(ctx)
		case <-rung:
			rung, changed = v.rings(), true
		case <-asking.C:
			if len(gaps) == 0 && changed && v.options.Changed != nil {
				changed = false
				gaps, err = v.gaps(ctx)
			}
			if err == nil {
				gaps, err = v.ask(ctx, gaps)
			}
		case <-ctx.Done():
		}
		v.warn(ctx, err)
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), missesLast)
	defer cancel()
	v.warn(last, v.Flush(last))
	return nil
}

func (v *Verdicts) rings() <-chan struct{} {
	if v.options.Changed == nil {
		return nil
	}
	return v.options.Changed.Wait()
}

func (v *Verdicts) warn(ctx context.Context, err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		v.log.WarnContext(ctx, "questions that found nothing could not be noted", "error", err)
	}
}

// Flush writes the misses that wait. What cannot be written is lost,
// rather than kept for a disk that is full.
func (v *Verdicts) Flush(ctx context.Context) error {
	v.mu.Lock()
	misses := slices.SortedFunc(maps.Values(v.waiting), func(a, b Verdict) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Key, b.Key)) })
	clear(v.waiting)
	v.mu.Unlock()
	if len(misses) == 0 {
		return nil
	}
	return v.store.AddMisses(ctx, misses)
}

// Ask asks every gap again and forgets those that something answers now.
func (v *Verdicts) Ask(ctx context.Context) error {
	gaps, err := v.gaps(ctx)
	for len(gaps) > 0 && err == nil {
		gaps, err = v.ask(ctx, gaps)
	}
	return err
}

// ask asks the first of some gaps again, forgets those that something answers now, and returns the others.
func (v *Verdicts) ask(ctx context.Context, gaps []Gap) ([]Gap, error) {
	for n := 0; n < gapsStep && len(gaps) > 0; n++ {
		asker := principal.System()
		if id, _ := gapID(gaps[0].Question, gaps[0].Project, true); id == gaps[0].ID {
			asker = asker.Bind([]string{gaps[0].Project})
		}
		ctx := learning.NotAsked(principal.With(ctx, asker))
		for _, finds := range v.options.Finders {
			found, err := finds(ctx, gaps[0].Question, gaps[0].Project)
			if err != nil {
				return gaps, err
			}
			if found {
				if err := v.store.DeleteMisses(ctx, gaps[0].ID); err != nil {
					return gaps, err
				}
				break
			}
		}
		gaps = gaps[1:]
	}
	return gaps, nil
}
