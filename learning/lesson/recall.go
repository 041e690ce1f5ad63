package lesson

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// RecallStore reads what goes into an agent's memory. learning/store implements it on learning.db.
type RecallStore interface {
	// RecentFor returns the latest lessons that an agent should know, newest first.
	RecentFor(ctx context.Context, scope RecallScope, limit int) ([]Lesson, error)
	// CountFor counts the lessons that an agent should know.
	CountFor(ctx context.Context, scope RecallScope) (int, error)
	// ListLessons is a PipelineStore's.
	ListLessons(ctx context.Context, filter Filter, before int64, at time.Time) ([]Lesson, error)
	// ByTopic returns, for each topic in lower case, the latest lessons whose domain or
	// category it is, or which have it as a tag, newest first. Tags are looked at in the latest RecallTagged lessons.
	ByTopic(ctx context.Context, topics []string, limit int) (map[string][]Lesson, error)
	// Figures counts lessons and patterns; the times say since when a lesson is of today, and of this week.
	LessonFigures(ctx context.Context, today, week time.Time) (Figures, error)
}

// RecallScope says whose memory it is: the agent's own lessons, those of its
// domain, and those for everybody. Retired ones are in nobody's.
type RecallScope struct {
	Agent  string
	Domain string // empty: it has none
}

// Figures are the figures of MNEMOSYNE's mnemosyne_dashboard.
type Figures struct {
	Total             int `json:"total_lessons"`
	Failures          int `json:"failures"`
	Successes         int `json:"successes"`
	AntiPatterns      int `json:"anti_patterns"`
	ConfirmedPatterns int `json:"confirmed_patterns"`
	Pending           int `json:"pending_escalations"`
	Today             int `json:"lessons_today"`     // in the last 24 hours
	ThisWeek          int `json:"lessons_this_week"` // in the last 7 days
}

// RecallTagged is in how many of the latest lessons a topic is looked for among
// the tags: there is no index of tags, and older ones are found by a search.
const RecallTagged = 5000

// Spellings returns the ways in which a name is usually written: as it is, in
// lower case, in upper case, and with a capital. Domains are kept as their
// authors wrote them, and an index finds what is written alike.
func Spellings(name string) []string {
	if name = strings.TrimSpace(name); name == "" {
		return nil
	}
	lower := strings.ToLower(name)
	first, size := utf8.DecodeRuneInString(lower)
	list := []string{}
	for _, spelling := range []string{name, lower, strings.ToUpper(name), string(unicode.ToUpper(first)) + lower[size:]} {
		if !slices.Contains(list, spelling) {
			list = append(list, spelling)
		}
	}
	return list
}
