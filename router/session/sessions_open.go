package session

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/procedure"
	"github.com/skillrouter/skillrouter/operational"
)

// gather lists what a session's agent has open. It asks as the router itself:
// whoever may end the session may know what it leaves.
func (s *Sessions) gather(ctx context.Context, session operational.Session) (operational.Handover, error) {
	ctx = principal.With(ctx, principal.System())
	h := operational.Handover{Tasks: []operational.OpenItem{}, Messages: []operational.OpenItem{}, Steps: []operational.OpenItem{}, Reminders: []operational.OpenItem{}}
	for _, part := range []func(context.Context, operational.Session, *operational.Handover) error{s.openTasks, s.openMessages, s.openSteps, s.openReminders} {
		if err := part(ctx, session, &h); err != nil {
			return h, err
		}
	}
	return h, nil
}

func (s *Sessions) openTasks(ctx context.Context, session operational.Session, h *operational.Handover) error {
	filter := operational.TaskFilter{AgentID: session.AgentID, Open: new(true), Limit: operational.MaxOpenItems}
	tasks, err := s.ports.Tasks.List(ctx, filter)
	if err != nil {
		return err
	}
	for _, t := range tasks {
		h.Tasks = append(h.Tasks, operational.NewOpenItem("task", strconv.FormatInt(t.Number, 10), t.Title, string(t.Status), t.CreatedAt))
	}
	h.TaskCount = len(tasks)
	if len(tasks) == operational.MaxOpenItems {
		summary, err := s.ports.Tasks.Summary(ctx, filter)
		h.TaskCount = max(h.TaskCount, summary.Open)
		return err
	}
	return nil
}

func (s *Sessions) openMessages(ctx context.Context, session operational.Session, h *operational.Handover) error {
	messages, count, err := s.ports.Mail.Unacked(ctx, session.AgentID, operational.MaxOpenItems)
	for _, m := range messages {
		title := m.Signal + " from " + m.From
		if text := cmp.Or(m.Text(), string(m.Context)); text != "" {
			title += ": " + text
		}
		h.Messages = append(h.Messages, operational.NewOpenItem("message", m.ID, title, "unacknowledged", m.CreatedAt))
	}
	h.MessageCount = count
	return err
}

func (s *Sessions) openSteps(ctx context.Context, session operational.Session, h *operational.Handover) error {
	if s.ports.Procedures == nil {
		return nil
	}
	runs, err := s.ports.Procedures.Runs(ctx, procedure.RunFilter{AgentID: session.AgentID, Status: procedure.RunRunning, Limit: operational.MaxOpenItems})
	for _, run := range runs {
		for _, step := range run.Steps {
			if step.Status != procedure.StepPending && step.Status != procedure.StepHandedOut {
				continue
			}
			h.StepCount++
			if len(h.Steps) == operational.MaxOpenItems {
				continue
			}
			since := run.StartedAt
			if step.HandedOutAt != nil {
				since = *step.HandedOutAt
			}
			h.Steps = append(h.Steps, operational.NewOpenItem("step", fmt.Sprintf("%s#%d", run.ID, step.Index), run.Procedure+": "+step.Name, string(step.Status), since))
		}
	}
	return err
}

func (s *Sessions) openReminders(ctx context.Context, session operational.Session, h *operational.Handover) error {
	if s.ports.Reminders == nil {
		return nil
	}
	reminders, err := s.ports.Reminders.List(ctx, operational.ReminderFilter{AgentID: session.AgentID, Open: true, Limit: operational.MaxLimit})
	for _, r := range reminders {
		if r.AgentID != session.AgentID && (r.AgentID != "" || r.CreatedBy != session.AgentID) {
			continue // for whoever fits, and not of this agent's making
		}
		h.ReminderCount++
		if len(h.Reminders) == operational.MaxOpenItems {
			continue
		}
		h.Reminders = append(h.Reminders, operational.NewOpenItem("reminder", strconv.FormatInt(r.Number, 10), r.Task, string(r.Status), r.CreatedAt))
	}
	return err
}

// passOn hands the tasks of a session's agent on. A captain puts them upon the
// successor; an agent gives its own back, for the successor to claim.
func (s *Sessions) passOn(ctx context.Context, ended *Ended) {
	from, to := ended.AgentID, ended.Successor
	if from == to || to == "" {
		return
	}
	tasks, err := s.ports.Tasks.List(principal.With(ctx, principal.System()), operational.TaskFilter{AgentID: from, Open: new(true), Limit: operational.MaxLimit})
	if err != nil {
		ended.Notices = append(ended.Notices, "the tasks could not be listed: "+errs.MessageOf(err))
		return
	}
	captain := principal.Of(ctx).Has(principal.ScopeCaptain)
	for _, t := range tasks {
		if captain {
			_, err = s.ports.Tasks.Reassign(ctx, t.ID, operational.TaskAssignment{AgentID: to, Note: "handed over by session " + ended.ID})
		} else {
			_, err = s.ports.Tasks.Release(ctx, t.ID, operational.TaskNote{AgentID: from, Note: "for " + to + ", handed over by session " + ended.ID})
		}
		switch {
		case err != nil:
			ended.Notices = append(ended.Notices, fmt.Sprintf("task %d stays where it is: %s", t.Number, errs.MessageOf(err)))
		case captain:
			ended.Reassigned = append(ended.Reassigned, t.Number)
		default:
			ended.Released = append(ended.Released, t.Number)
		}
	}
}

// consolidate makes memory of a session's transcript.
func (s *Sessions) consolidate(ctx context.Context, transcript history.TranscriptDraft, ended *Ended) {
	if s.ports.Consolidation == nil {
		ended.Notices = append(ended.Notices, "transcript: nothing consolidates here, and it was not kept")
		return
	}
	transcript.SessionID, transcript.AgentID, transcript.Persona = ended.ID, ended.AgentID, ended.Persona
	transcript.Project = cmp.Or(transcript.Project, ended.Project)
	done, err := s.ports.Consolidation.Consolidate(ctx, transcript)
	if err != nil {
		if errs.CodeOf(err) == errs.Internal {
			s.log.ErrorContext(ctx, "a transcript was not consolidated", "session", ended.ID, "error", err)
		}
		ended.Notices = append(ended.Notices, "transcript: it was not consolidated: "+errs.MessageOf(err)+"; end the session with it again")
		return
	}
	ended.Consolidated = &done
}
