package store

import (
	"context"
	"maps"
	"slices"

	"gorm.io/gorm"

	"skillrouter/internal/eventlog"
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
	raise func(earlier []operational.Escalation, draft operational.EscalationDraft) operational.Escalation,
) ([]operational.Escalation, error) {
	var raised []operational.Escalation
	err := s.write(ctx, func(tx *gorm.DB) (err error) {
		if raised, err = raiseAll(tx, drafts, raise); err != nil {
			return err
		}
		return saveCursor(tx, cursor)
	}, nil)
	return raised, err
}

// escalationBatch is how many escalations one INSERT holds: each has some twenty columns.
const escalationBatch = 64

// matter is what there is one open escalation of.
type matter struct{ lesson, pattern, to string }

// raiseAll raises drafts in their order, and returns the escalations that are new. However many there are, they are looked up by one
// statement and written by a few: they come by the hundred when much is learned at once.
func raiseAll(tx *gorm.DB, drafts []operational.EscalationDraft,
	raise func(earlier []operational.Escalation, draft operational.EscalationDraft) operational.Escalation,
) (raised []operational.Escalation, err error) {
	rows, err := earlierEscalations(tx, drafts)
	if err != nil {
		return nil, err
	}
	var created, grown []*escalationRow
	for _, draft := range drafts {
		of := matter{draft.LessonID, draft.PatternID, draft.To}
		earlier := make([]operational.Escalation, len(rows[of]))
		for i, r := range rows[of] {
			earlier[i] = r.escalation()
		}
		e := raise(earlier, draft)
		row := rowOfEscalation(e)
		place := slices.IndexFunc(rows[of], func(r *escalationRow) bool { return r.ID == e.ID })
		if place < 0 {
			rows[of], created = append(rows[of], &row), append(created, &row)
			continue
		}
		before := rows[of][place]
		row.Announced = before.Announced && row.PriorityRank >= before.PriorityRank // one that grew worse is announced anew
		if *before = row; row.Num != 0 && !slices.Contains(grown, before) {
			grown = append(grown, before)
		}
	}
	for _, row := range grown {
		if err := tx.Model(&escalationRow{}).Where("num = ?", row.Num).
			Select("reason", "priority", "priority_rank", "occurrences", "announced", "last_raised_at").Updates(row).Error; err != nil {
			return nil, err
		}
	}
	if len(created) == 0 {
		return nil, nil
	}
	if err := tx.CreateInBatches(created, escalationBatch).Error; err != nil {
		return nil, err
	}
	raised = make([]operational.Escalation, len(created))
	changes, events := make([]escalationChangeRow, len(created)), make([]eventlog.Event, len(created))
	for i, row := range created {
		raised[i] = row.escalation()
		e := &raised[i]
		changes[i] = escalationChangeRow{EscalationID: e.ID, ToStatus: string(e.Status), Notes: e.Reason, At: millis(e.CreatedAt)}
		events[i] = operational.EscalationEvent(operational.EventEscalationRaised, *e, e.SourceAgent, e.CreatedAt)
	}
	if err := tx.CreateInBatches(changes, escalationBatch).Error; err != nil {
		return nil, err
	}
	return raised, appendEvents(tx, events)
}

// earlierEscalations returns the escalations of each matter that drafts are of, oldest first.
func earlierEscalations(tx *gorm.DB, drafts []operational.EscalationDraft) (map[matter][]*escalationRow, error) {
	lessons, patterns := map[string]bool{}, map[string]bool{}
	for _, draft := range drafts {
		lessons[draft.LessonID], patterns[draft.PatternID] = true, true
	}
	var rows []escalationRow
	err := tx.Where("lesson_id IN ? AND pattern_id IN ?", slices.Sorted(maps.Keys(lessons)), slices.Sorted(maps.Keys(patterns))).Order("num").Find(&rows).Error
	earlier := make(map[matter][]*escalationRow, len(rows))
	for i := range rows {
		r := &rows[i]
		of := matter{r.LessonID, r.PatternID, r.EscalatedTo}
		earlier[of] = append(earlier[of], r)
	}
	return earlier, err
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
	q = givenAny(q, "status IN ?", filter.Status)
	q = given(q, "escalated_to = ?", filter.To)
	q = given(q, "lesson_id = ?", filter.LessonID)
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
