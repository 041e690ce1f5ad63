package crossing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/propagation"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
)

// SignalLesson is the signal by which a lesson reaches an agent that is there.
const SignalLesson = "lesson"

// Bounds of what lessons may put into mailboxes. Whatever is not signalled is
// found in the agent's memory all the same.
const (
	// MaxLessonSignals bounds how many agents are told of one lesson.
	MaxLessonSignals = 64
	// MaxSignalsPerMinute bounds how often one agent is told of lessons: more than one in
	// two seconds is read by nobody.
	MaxSignalsPerMinute = 30
	// lessonSignalTTL is how long such a signal waits: who comes later reads the memory.
	lessonSignalTTL = 24 * time.Hour
	// maxToldSolution bounds what is told of a solution, in bytes: who wants the whole asks for the lesson.
	maxToldSolution = 512
	// newcomerAge is how long ago an agent that has not sent a heartbeat yet may have been heard of.
	newcomerAge = 2 * time.Minute
)

// notifier knows who is there to be told, and how often each was told of late.
type notifier struct {
	live      []string
	allowance map[string]allowance
}

// allowance is how many signals an agent got in the minute that began then.
type allowance struct {
	began time.Time
	sent  int
}

// notify tells the agents that are there of the lessons that reach them, but those that the same lesson is escalated to.
func (c *Crossing) notify(ctx context.Context, notices []propagation.Notice, escalated []operational.EscalationDraft) error {
	if len(notices) == 0 || c.ports.Agents == nil {
		return nil
	}
	if err := c.lookAround(ctx); err != nil {
		return err
	}
	sending, sendCtx := errgroup.WithContext(ctx)
	sending.SetLimit(couriers)
	for _, notice := range notices {
		told := 0
		for _, agent := range c.notices.live {
			if told == MaxLessonSignals {
				break
			}
			asked := func(e operational.EscalationDraft) bool { return e.LessonID == notice.Lesson.ID && e.To == agent }
			if agent == notice.Lesson.SourceAgent || slices.ContainsFunc(escalated, asked) || !c.mayTell(agent) {
				continue
			}
			why, err := c.ports.Lessons.Why(ctx, notice, agent)
			if err != nil {
				return errors.Join(err, sending.Wait())
			}
			if why == "" {
				continue
			}
			told++
			c.tell(agent)
			sending.Go(func() error { return c.post(sendCtx, lessonMessage(notice.Lesson, agent, why)) })
		}
	}
	return sending.Wait()
}

// lookAround lists the agents that are there. It does so for each batch of
// notices: who has just come in is told as well.
func (c *Crossing) lookAround(ctx context.Context) error {
	h, now := &c.notices, c.now()
	agents, err := c.ports.Agents.Agents(ctx, operational.AgentFilter{Limit: operational.MaxLimit})
	if err != nil {
		return err
	}
	h.live = h.live[:0]
	for _, a := range agents {
		if a.State == operational.AgentOnline || a.State == operational.AgentStarting && now.Sub(a.LastSeen) < newcomerAge {
			h.live = append(h.live, a.ID)
		}
	}
	maps.DeleteFunc(h.allowance, func(_ string, a allowance) bool { return now.Sub(a.began) > time.Minute || now.Before(a.began) })
	return nil
}

func (c *Crossing) mayTell(agent string) bool {
	a, told := c.notices.allowance[agent]
	return !told || a.sent < MaxSignalsPerMinute
}

func (c *Crossing) tell(agent string) {
	a, told := c.notices.allowance[agent]
	if !told {
		a.began = c.now()
	}
	a.sent++
	c.notices.allowance[agent] = a
}

// lessonMessage is how a lesson reaches an agent. Its text is what another
// agent wrote, and says whose and how far it may be trusted.
func lessonMessage(l lesson.Lesson, agent, why string) operational.MessageDraft {
	// Marshalling strings and numbers cannot fail.
	said, _ := json.Marshal(map[string]any{
		"lesson_id": l.ID, "number": l.Number, "lesson_type": l.Type, "title": l.Title, "severity": l.Severity, "domain": l.Domain,
		"solution": check.Head(l.Solution, maxToldSolution), "source_agent": l.SourceAgent, "trust": l.Trust, "why": why,
	})
	matter := string(l.Level)
	if l.Severity == learning.SeverityCritical {
		matter += "!" // one that became critical is told again
	}
	return operational.MessageDraft{
		From: router.MailAgent, To: agent, Signal: SignalLesson, Context: said,
		IdempotencyKey: fmt.Sprintf("lesson:%d:%s:%s", l.Number, matter, agent), TTLSeconds: int64(lessonSignalTTL / time.Second),
	}
}
