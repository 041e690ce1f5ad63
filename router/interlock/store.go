package interlock

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// store acts on a datagram that was admitted, and counts what became of it.
func (m *Mesh) store(ctx context.Context, d admitted) {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			m.counts.refuse(RefusedFailure, d.peer)
			m.log.Error("panic over a datagram", "signal", d.Signal, "sender", d.Sender, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	ctx = principal.With(ctx, principal.Principal{AgentID: author(d.Sender), Scopes: []principal.Scope{principal.ScopeAgent}})
	err := m.act(ctx, d)
	if err == nil {
		m.counts.hear(d, m.now())
		m.log.Debug("heard", "signal", d.Signal.String(), "sender", d.Sender)
		return
	}
	reason := reasonOf(errs.CodeOf(err))
	m.counts.refuse(reason, d.peer)
	if reason == RefusedFailure {
		m.log.Warn("a datagram could not be stored", "signal", d.Signal.String(), "sender", d.Sender, "error", err)
		return
	}
	m.log.Debug("refused", "signal", d.Signal.String(), "sender", d.Sender, "reason", string(reason), "error", err)
}

// reasonOf says what a service's error is to the mesh.
func reasonOf(code errs.Code) Reason {
	switch code {
	case errs.Invalid, errs.TooLarge:
		return RefusedData
	case errs.NotFound, errs.Conflict, errs.Forbidden, errs.PassphraseNeeded, errs.Unauthenticated, errs.RateLimited:
		return RefusedByRule
	}
	return RefusedFailure
}

// act does what the experience server says a signal does.
func (m *Mesh) act(ctx context.Context, d admitted) error {
	switch d.Signal {
	case BuildCompleted, VerificationResult, ValidationApproved, ValidationRejected, OperationComplete:
		_, err := m.services.Experiences.Record(ctx, experienceOf(d))
		return err
	case LessonLearned:
		draft, err := lessonOf(d)
		if err != nil {
			return err
		}
		_, err = m.services.Lessons.Report(ctx, draft)
		return err
	case ClaimVerified:
		return m.judge(ctx, d, lesson.ValidationConfirmed)
	case ClaimRefuted:
		return m.judge(ctx, d, lesson.ValidationRefuted)
	}
	return nil // a heartbeat says that its sender is there, which is counted
}

// judge moves the confidence of the lesson that a claim is about.
func (m *Mesh) judge(ctx context.Context, d admitted, judgement lesson.ValidationType) error {
	members := members(d.Data)
	ref := members.reference("lesson_id", "lesson", "id")
	if ref == "" {
		return errs.InvalidField("lesson_id", "is required: a lesson's number or id")
	}
	notes := members.text("notes", "reason", "message", "evidence", "claim", "statement")
	_, err := m.services.Lessons.Validate(ctx, ref, lesson.ValidationDraft{Type: judgement, Notes: notes, Trust: d.trust})
	return err
}
