package crossing

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
)

// reasonDemoted is why a rule that lost its right to block is escalated.
const reasonDemoted = "Rule demoted to a warning"

// matter is what makes two drafts the same escalation.
type matter struct{ lesson, to string }

// escalations returns what is to be raised because of the events, each lesson once for each agent.
func (c *Crossing) escalations(events []eventlog.Event) []operational.EscalationDraft {
	var drafts []operational.EscalationDraft
	place := map[matter]int{}
	for _, event := range events {
		for _, draft := range c.draftsOf(event) {
			key := matter{draft.LessonID, draft.To}
			i, seen := place[key]
			if !seen {
				place[key] = len(drafts)
				drafts = append(drafts, draft)
				continue
			}
			drafts[i].Times++
			drafts[i].Reasons = append(drafts[i].Reasons, draft.Reasons...)
			if draft.Priority.Rank() < drafts[i].Priority.Rank() {
				drafts[i].Priority = draft.Priority
			}
		}
	}
	return drafts
}

// draftsOf returns what one event asks to be raised, one draft for each agent.
func (c *Crossing) draftsOf(event eventlog.Event) []operational.EscalationDraft {
	switch event.Type {
	case lesson.EventReported, lesson.EventOccurred, lesson.EventValidated, lesson.EventApplied,
		lesson.EventEdited, lesson.EventPromoted, lesson.EventRetired, lesson.EventRestored, lesson.EventRuleDemoted:
	default:
		return nil
	}
	var told lesson.Event
	if err := json.Unmarshal(event.Data, &told); err != nil {
		c.log.Error("an event of a lesson cannot be read and is passed over", "seq", event.Seq, "type", event.Type, "error", err)
		return nil
	}
	if event.Type == lesson.EventRuleDemoted && len(told.Escalate) == 0 {
		told.Escalate = []lesson.Escalation{{To: c.rules.Supervisor(told.Domain), Reason: reasonDemoted, Priority: told.Severity}}
	}
	drafts := make([]operational.EscalationDraft, 0, len(told.Escalate))
	for _, e := range told.Escalate {
		if i := slices.IndexFunc(drafts, func(d operational.EscalationDraft) bool { return d.To == e.To }); i >= 0 {
			drafts[i].Reasons = append(drafts[i].Reasons, e.Reason)
			continue
		}
		draft := operational.EscalationDraft{
			LessonID: event.Subject, Title: told.Title, Domain: told.Domain, SourceAgent: event.Agent,
			To: e.To, Reasons: []string{e.Reason}, Priority: operational.EscalationPriority(e.Priority), Times: 1,
		}
		if draft.Priority.Rank() < 0 {
			draft.Priority = operational.PriorityMedium
		}
		if err := check.AgentID("to", draft.To); err != nil {
			c.log.Error("an escalation to what is no agent's id is passed over", "seq", event.Seq, "to", draft.To)
			continue
		}
		drafts = append(drafts, draft)
	}
	return drafts
}

// announce puts a message into the mailbox for each escalation that has none
// yet. A kill between the two leaves a message whose key is known, and which
// is not stored again.
func (c *Crossing) announce(ctx context.Context) error {
	for {
		waiting, err := c.ports.Escalations.UnannouncedEscalations(ctx, announceBatch)
		if err != nil || len(waiting) == 0 {
			return err
		}
		sending, sendCtx := errgroup.WithContext(ctx)
		sending.SetLimit(couriers)
		numbers := make([]int64, len(waiting))
		for i, e := range waiting {
			numbers[i] = e.Number
			sending.Go(func() error { return c.post(sendCtx, escalationMessage(e)) })
		}
		if err := sending.Wait(); err != nil {
			return err
		}
		if err := c.ports.Escalations.MarkAnnounced(ctx, numbers); err != nil {
			return err
		}
		if len(waiting) < announceBatch {
			return nil
		}
	}
}

// post sends a message. One that can never be sent, or was sent with another
// text, is given up; any other failure is worth another try.
func (c *Crossing) post(ctx context.Context, draft operational.MessageDraft) error {
	err := c.ports.Send(ctx, draft)
	switch errs.CodeOf(err) {
	case errs.Invalid, errs.TooLarge, errs.Conflict:
		c.log.Warn("a message of the router was not sent", "to", draft.To, "signal", draft.Signal, "key", draft.IdempotencyKey, "error", err)
		return nil
	}
	return err
}

// escalationMessage is how an escalation arrives in its agent's mailbox. It
// holds only what never changes of it but its priority, so that the same one is
// the same message, and one that grew worse is another.
func escalationMessage(e operational.Escalation) operational.MessageDraft {
	// Marshalling strings cannot fail.
	said, _ := json.Marshal(map[string]string{
		"escalation_id": e.ID, "lesson_id": e.LessonID, "pattern_id": e.PatternID, "title": e.Title, "domain": e.Domain,
		"reason": e.Reason, "priority": string(e.Priority), "source_agent": e.SourceAgent,
		"text": fmt.Sprintf("%s (%s, %s)", e.Title, e.Reason, e.Domain),
	})
	return operational.MessageDraft{
		From: router.MailAgent, To: e.To, Signal: operational.SignalEscalation, Context: said,
		IdempotencyKey: "escalation:" + e.ID + ":" + string(e.Priority), ThreadID: e.ID,
	}
}
