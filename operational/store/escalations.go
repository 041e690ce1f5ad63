package store

import (
	"context"

	"gorm.io/gorm"

	"skillrouter/operational"
)

var _ operational.EscalationStore = (*Store)(nil)

type escalationRow struct {
	Num             int64 `gorm:"primaryKey;autoIncrement"`
	ID              string
	LessonID        string
	PatternID       string
	Title           string
	Domain          string
	SourceAgent     string
	EscalatedTo     string
	Reason          string
	Priority        string
	PriorityRank    int
	Status          string
	Occurrences     int64
	Announced       bool
	ReviewedBy      string
	ReviewedAt      *int64
	ReviewNotes     string
	ResolvedBy      string
	ResolvedAt      *int64
	ResolutionNotes string
	CreatedAt       int64 `gorm:"autoCreateTime:false"`
	LastRaisedAt    int64
}

func (escalationRow) TableName() string { return "escalations" }

type escalationChangeRow struct {
	Seq          int64 `gorm:"primaryKey"`
	EscalationID string
	FromStatus   string
	ToStatus     string
	By           string
	Notes        string
	At           int64
}

func (escalationChangeRow) TableName() string { return "escalation_changes" }

func rowOfEscalation(e operational.Escalation) escalationRow {
	return escalationRow{
		Num: e.Number, ID: e.ID, LessonID: e.LessonID, PatternID: e.PatternID, Title: e.Title, Domain: e.Domain, SourceAgent: e.SourceAgent,
		EscalatedTo: e.To, Reason: e.Reason, Priority: string(e.Priority), PriorityRank: e.Priority.Rank(), Status: string(e.Status),
		Occurrences: e.Occurrences, ReviewedBy: e.ReviewedBy, ReviewedAt: millisPtr(e.ReviewedAt), ReviewNotes: e.ReviewNotes,
		ResolvedBy: e.ResolvedBy, ResolvedAt: millisPtr(e.ResolvedAt), ResolutionNotes: e.Notes,
		CreatedAt: millis(e.CreatedAt), LastRaisedAt: millis(e.LastRaised),
	}
}

func (r escalationRow) escalation() operational.Escalation {
	return operational.Escalation{
		ID: r.ID, Number: r.Num, LessonID: r.LessonID, PatternID: r.PatternID, Title: r.Title, Domain: r.Domain, SourceAgent: r.SourceAgent,
		To: r.EscalatedTo, Reason: r.Reason, Priority: operational.EscalationPriority(r.Priority), Status: operational.EscalationStatus(r.Status),
		Occurrences: r.Occurrences, ReviewedBy: r.ReviewedBy, ReviewedAt: fromMillisPtr(r.ReviewedAt), ReviewNotes: r.ReviewNotes,
		ResolvedBy: r.ResolvedBy, ResolvedAt: fromMillisPtr(r.ResolvedAt), Notes: r.ResolutionNotes,
		CreatedAt: fromMillis(r.CreatedAt), LastRaised: fromMillis(r.LastRaisedAt),
	}
}

// RaiseEscalations implements operational.EscalationStore.
func (s *Store) RaiseEscalations(ctx context.Context, drafts []operational.EscalationDraft, cursor operational.Cursor,
	raise func(latest *operational.Escalation, draft operational.EscalationDraft) operational.Escalation,
) ([]operational.Escalation, error) {
	var raised []operational.Escalation
	err := s.write(ctx, func(tx *gorm.DB) error {
		raised = nil
		for _, draft := range drafts {
			e, err := raiseOne(tx, draft, raise)
			if err != nil {
				return err
			}
			if e != nil {
				raised = append(raised, *e)
			}
		}
		return saveCursor(tx, cursor)
	}, nil)
	return raised, err
}

// raiseOne raises one draft and returns the escalation if it is a new one.
func raiseOne(tx *gorm.DB, draft operational.EscalationDraft,
	raise func(latest *operational.Escalation, draft operational.EscalationDraft) operational.Escalation,
) (*operational.Escalation, error) {
	var before []escalationRow
	err := tx.Where("lesson_id = ? AND pattern_id = ? AND escalated_to = ? AND reason = ?", draft.LessonID, draft.PatternID, draft.To, draft.Reason).
		Order("num DESC").Limit(1).Find(&before).Error
	if err != nil {
		return nil, err
	}
	var latest *operational.Escalation
	if len(before) == 1 {
		e := before[0].escalation()
		latest = &e
	}
	e := raise(latest, draft)
	row := rowOfEscalation(e)
	if len(before) == 1 && e.ID == before[0].ID {
		row.Announced = before[0].Announced && row.PriorityRank >= before[0].PriorityRank // one that grew worse is announced anew
		return nil, tx.Model(&escalationRow{}).Where("num = ?", before[0].Num).
			Select("priority", "priority_rank", "occurrences", "announced", "last_raised_at").Updates(&row).Error
	}
	if err := tx.Create(&row).Error; err != nil {
		return nil, err
	}
	e.Number = row.Num
	change := escalationChangeRow{EscalationID: e.ID, ToStatus: row.Status, Notes: e.Reason, At: row.CreatedAt}
	if err := tx.Create(&change).Error; err != nil {
		return nil, err
	}
	return &e, appendEvent(tx, operational.EscalationEvent(operational.EventEscalationRaised, e, e.SourceAgent, e.CreatedAt))
}

// Escalation implements operational.EscalationStore.
func (s *Store) Escalation(ctx context.Context, id string) (operational.Escalation, error) {
	var row escalationRow
	if err := s.read.WithContext(ctx).Where("id = ?", id).Take(&row).Error; err != nil {
		return operational.Escalation{}, notFound(err, "there is no such escalation")
	}
	e := row.escalation()
	var err error
	e.History, err = listOf(s.read.WithContext(ctx).Where("escalation_id = ?", id).Order("seq"), func(c escalationChangeRow) operational.EscalationChange {
		return operational.EscalationChange{From: operational.EscalationStatus(c.FromStatus), To: operational.EscalationStatus(c.ToStatus), By: c.By, Notes: c.Notes, At: fromMillis(c.At)}
	})
	return e, err
}

// ListEscalations implements operational.EscalationStore.
func (s *Store) ListEscalations(ctx context.Context, filter operational.EscalationFilter) ([]operational.Escalation, error) {
	q := s.read.WithContext(ctx).Order("priority_rank, num DESC").Limit(filter.Limit)
	if len(filter.Status) > 0 {
		q = q.Where("status IN ?", filter.Status)
	}
	if filter.To != "" {
		q = q.Where("escalated_to = ?", filter.To)
	}
	if filter.LessonID != "" {
		q = q.Where("lesson_id = ?", filter.LessonID)
	}
	return listOf(q, escalationRow.escalation)
}

// CountEscalations implements operational.EscalationStore.
func (s *Store) CountEscalations(ctx context.Context, status operational.EscalationStatus) (int, error) {
	var n int64
	err := s.read.WithContext(ctx).Model(&escalationRow{}).Where("status = ?", status).Count(&n).Error
	return int(n), err
}

// ChangeEscalation implements operational.EscalationStore.
func (s *Store) ChangeEscalation(ctx context.Context, id, event string, change func(*operational.Escalation) (*operational.EscalationChange, error)) (operational.Escalation, error) {
	var e operational.Escalation
	err := s.write(ctx, func(tx *gorm.DB) error {
		var row escalationRow
		if err := tx.Where("id = ?", id).Take(&row).Error; err != nil {
			return refuse(notFound(err, "there is no such escalation"))
		}
		e = row.escalation()
		step, err := change(&e)
		if err != nil || step == nil {
			return refuse(err)
		}
		changed := rowOfEscalation(e)
		err = tx.Model(&escalationRow{}).Where("num = ?", row.Num).Select("*").Omit("num", "id", "announced", "created_at").Updates(&changed).Error
		if err != nil {
			return err
		}
		err = tx.Create(&escalationChangeRow{
			EscalationID: id, FromStatus: string(step.From), ToStatus: string(step.To), By: step.By, Notes: step.Notes, At: millis(step.At),
		}).Error
		if err != nil {
			return err
		}
		return appendEvent(tx, operational.EscalationEvent(event, e, step.By, step.At))
	}, nil)
	if err != nil {
		return operational.Escalation{}, err
	}
	return e, nil
}

// UnannouncedEscalations implements operational.EscalationStore.
func (s *Store) UnannouncedEscalations(ctx context.Context, limit int) ([]operational.Escalation, error) {
	return listOf(s.read.WithContext(ctx).Where("NOT announced").Order("num").Limit(limit), escalationRow.escalation)
}

// MarkAnnounced implements operational.EscalationStore.
func (s *Store) MarkAnnounced(ctx context.Context, numbers []int64) error {
	if len(numbers) == 0 {
		return nil
	}
	return s.write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE escalations SET announced = true WHERE num IN ?", numbers).Error
	}, nil)
}
