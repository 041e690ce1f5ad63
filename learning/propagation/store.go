package propagation

import (
	"context"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Store has the lessons. learning/store implements it on learning.db.
type Store interface {
	// LessonBriefs returns the lessons with the ids that exist and are not retired, in no order.
	LessonBriefs(ctx context.Context, ids []string) ([]LessonBrief, error)
	// ReportedDomains returns the domains of the lessons that an agent reported last, one for each lesson.
	ReportedDomains(ctx context.Context, agent string) ([]string, error)
}

// LessonBrief is as much of a lesson as says whom it concerns.
type LessonBrief struct {
	ID              string
	Number          int64
	Type            learning.LessonType
	Domain          string
	Category        string
	Title           string
	Solution        string // at most MaxBriefSolution bytes of it
	Severity        learning.Severity
	Tags            []string
	SourceAgent     string
	Trust           learning.Trust
	Level           lesson.Level
	Transferability int
}

// MaxBriefSolution bounds how much of a solution a brief holds, in bytes: who
// wants the whole asks for the lesson.
const MaxBriefSolution = 2 << 10
