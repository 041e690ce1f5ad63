package reminder

import (
	"context"
	"encoding/json"
	"time"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/condition"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/follow"
)

// Pace of judging conditions.
const (
	// judgeEvery is how often every condition is judged, whatever has changed.
	judgeEvery = time.Minute
	// judgePage is how many conditions are judged before what holds comes due. Then there is
	// a pause as long as that took: conditions never take more than half of a core.
	judgePage = 50
	// judgeTimeout bounds the judging of one condition, which is bounded in its work already.
	judgeTimeout = time.Second
)

// CheckCondition tells why a reminder cannot wait for a condition; see condition.Compile.
func CheckCondition(expression string) error {
	_, err := condition.Compile(expression)
	return err
}

// judge judges conditions whenever something changes, until ctx ends.
func (w *Watch) judge(ctx context.Context) error {
	every := time.NewTicker(judgeEvery)
	defer every.Stop()
	for {
		changed, scheduled := w.changed.Wait(), w.ports.Reminders.ConditionBell().Wait()
		if err := w.judgeAll(ctx); err != nil && ctx.Err() == nil {
			w.log.Error("conditions of reminders cannot be judged; trying again", "error", err)
			_ = committer.Pause(ctx, follow.RetryAfter)
			continue
		}
		select {
		case <-changed:
			_ = committer.Pause(ctx, follow.GatherFor)
		case <-scheduled:
		case <-every.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// judgeAll judges what waits for a condition, in pages.
func (w *Watch) judgeAll(ctx context.Context) error {
	for after := int64(0); ; {
		began := time.Now()
		page, err := w.ports.Reminders.Conditions(ctx, after, judgePage)
		if err != nil || len(page) == 0 {
			return err
		}
		var holds []int64
		failed := map[int64]string{}
		for _, r := range page {
			after = r.Number
			held, err := w.holds(ctx, r)
			switch code := errs.CodeOf(err); {
			case err == nil && held:
				holds = append(holds, r.Number)
			case err == nil:
				if r.Note != "" {
					failed[r.Number] = ""
				}
			case code == errs.Invalid || code == errs.TooLarge:
				failed[r.Number] = errs.MessageOf(err)
			case ctx.Err() != nil:
				return err
			default:
				failed[r.Number] = "the condition could not be judged in time, and is tried again"
				w.log.Warn("a condition cannot be judged", "id", r.Number, "error", err)
			}
		}
		if err := w.ports.Reminders.Judge(ctx, holds, failed); err != nil {
			return err
		}
		if len(page) < judgePage {
			return nil
		}
		_ = committer.Pause(ctx, time.Since(began))
	}
}

// holds judges one condition over the facts of its persona. Facts that have
// expired are not there, and the looking is not counted as an access.
func (w *Watch) holds(ctx context.Context, r operational.Reminder) (bool, error) {
	c, err := condition.Compile(r.TriggerValue)
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, judgeTimeout)
	defer cancel()
	return c.Holds(ctx, condition.Env{Fact: func(ctx context.Context, key string) (json.RawMessage, bool, error) {
		fact, ok, err := w.ports.Facts.Fact(ctx, r.Persona, key)
		if err != nil || !ok || !fact.Live(w.now()) {
			return nil, false, err
		}
		return fact.Value, true, nil
	}})
}
