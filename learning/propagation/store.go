package propagation

import (
	"context"
	"time"

	"skillrouter/learning"
	"skillrouter/learning/lesson"
)

// Store keeps what is known of agents' work, and which lessons fit
// it. learning/store implements it on learning.db.
type Store interface {
	// LessonBriefs returns the lessons with the ids that exist and are not retired, in no order.
	LessonBriefs(ctx context.Context, ids []string) ([]LessonBrief, error)
	// EpisodeBriefs returns who recorded the episodes with the ids that exist, and their titles.
	EpisodeBriefs(ctx context.Context, ids []string) ([]EpisodeBrief, error)
	// AddRecipients stores whom lessons fit; what is stored already stays.
	AddRecipients(ctx context.Context, recipients []Recipient) error
	// Profiles returns up to limit profiles, the latest changed first.
	Profiles(ctx context.Context, limit int) ([]Profile, error)
	// SaveProfiles stores profiles under their agents' ids.
	SaveProfiles(ctx context.Context, profiles []Profile) error
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

// EpisodeBrief is as much of an episode as says what its agent works on.
type EpisodeBrief struct {
	AgentID string
	Title   string
}

// Recipient is an agent whose past work a lesson fits.
type Recipient struct {
	AgentID      string
	LessonNumber int64
	Score        float64 // 0 to 1
}

// Profile is what an agent does, as far as it shows in what it writes.
type Profile struct {
	AgentID string
	Domains map[string]int // how often it reported from each domain
	Words   map[string]int // how often it used each word, as the search reads words
	Updated time.Time
}
