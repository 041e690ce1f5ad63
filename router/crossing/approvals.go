package crossing

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
)

// SignalApproval is the signal by which an agent hears that a person allowed or refused what the guard blocked.
const SignalApproval = "approval"

// decidedTTL is how long such a signal waits: who comes later asks again.
const decidedTTL = time.Hour

// tellDecided tells agents what persons decided of what they asked for.
func (c *Crossing) tellDecided(ctx context.Context, events []eventlog.Event) error {
	for _, event := range events {
		if event.Type != lesson.EventApproval || event.Agent == "" {
			continue
		}
		var told lesson.ApprovalEvent
		if err := json.Unmarshal(event.Data, &told); err != nil {
			c.log.Error("an event of an approval cannot be read and is passed over", "seq", event.Seq, "error", err)
			continue
		}
		what := fmt.Sprintf("%s refused it: do not try it another way.", told.By)
		switch told.State {
		case lesson.ApprovalApproved:
			what = fmt.Sprintf("%s allowed it: do exactly this, once, before %s.", told.By, told.EndsAt.UTC().Format(time.RFC3339))
		case lesson.ApprovalDenied:
		default:
			continue // who used it knows
		}
		// Marshalling strings and numbers cannot fail.
		said, _ := json.Marshal(map[string]any{"approval_id": event.Subject, "number": told.Number, "state": told.State, "decided_by": told.By, "message": what})
		err := c.post(ctx, operational.MessageDraft{
			From: router.MailAgent, To: event.Agent, Signal: SignalApproval, Context: said,
			IdempotencyKey: fmt.Sprintf("approval:%d:%s", told.Number, event.Agent), TTLSeconds: int64(decidedTTL / time.Second),
		})
		if err != nil {
			return err
		}
	}
	return nil
}
