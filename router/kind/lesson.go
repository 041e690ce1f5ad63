package kind

import (
	"cmp"
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/internal/tally"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router"
)

// Lesson is what is known of lessons.
var Lesson = Kind{
	Name: router.KindLesson, Plural: "lessons", Searched: 1, Exported: 3, OfProject: true, Walled: true, HasTags: true, HasAuthor: true,
	Decode: decoded[lesson.Lesson],
	Page: Page{
		Folder: "lessons", Title: "title", Key: []string{"id"},
		Parts: []Part{{"Context", "context"}, {"What was done", "action_taken"}, {"Outcome", "outcome"}, {"Root cause", "root_cause"}, {"Solution", "solution"}, {"Notes", "body"}},
		Drop:  []string{"number", "confidence"},
	},
	Counted: 7, Held: router.HeldMemory{
		Type: router.TeamLessons, Team: true, Keep: "lessons are the whole team's, and the guard's rules: retire them one at a time",
	},
}

// Lessons are the lessons of a service.
func Lessons(service *lesson.Lessons, rows interface {
	// LessonsAfter returns lessons of a project (of all, if it is empty) whose Number is greater than after, in order, retired ones too.
	LessonsAfter(ctx context.Context, project string, after int64, limit int) ([]lesson.Lesson, error)
	LessonHoldings(ctx context.Context, persona string) ([]tally.Tally, error)
},
) Memory {
	return Memory{
		Kind: Lesson.holding(rows.LessonHoldings, nil), Words: service, Shelf: service,
		Search: func(ctx context.Context, q Question) (Found, error) {
			results, err := service.Relevant(ctx, lesson.Query{
				Context: q.Text, Domain: q.Category, Project: q.Project, PreferProject: q.Prefer, Tags: q.Tags, Agent: q.AgentID, Since: q.Span.From, Until: q.Span.To, Narrow: true,
				Limit: q.Limit, Explain: q.Explain, Corpus: q.Corpus,
			})
			return Found{Notice: results.Notice, Corrected: results.Corrected, Hits: hitsOf(results.Results, func(h lesson.Hit) Hit {
				return Hit{
					ID: h.ID, Title: h.Title, Text: Paragraphs(h.Context, h.Action, h.Outcome, h.Solution), Category: h.Domain, Project: h.Project, Author: h.SourceAgent,
					Trust: string(h.Trust), At: h.LastOccurred, Score: h.Score, Evidence: h.Evidence, Why: h.Why,
				}
			})}, err
		},
		Export: paged(func(ctx context.Context, project string, now time.Time, last lesson.Lesson, limit int) ([]lesson.Lesson, error) {
			page, err := rows.LessonsAfter(ctx, project, last.Number, limit)
			for i := range page {
				page[i].Confidence = page[i].At(now)
			}
			return page, err
		}),
		Import: taken(service.Take),
		Undo: Undo{func(ctx context.Context, id string) (any, error) {
			l, err := service.Lesson(ctx, id)
			l.Confidence = 0
			return l, err
		}, func(ctx context.Context, id string) error {
			_, err := service.Retire(ctx, id, lesson.RetirementDraft{Reason: Undone})
			return unlessOver(err)
		}},
		Pages: Pages{
			Fields: []Field{
				{Member: "title"},
				{Member: "category"},
				{Member: "context", Form: Text},
				{Member: "action_taken", Form: Text},
				{Member: "outcome", Form: Text},
				{Member: "root_cause", Form: Text},
				{Member: "solution", Form: Text},
				{Member: "body", Form: Text},
				{Member: "severity", Among: safetext.Strings(learning.Severities())},
				{Member: "alternatives", Form: List},
				{Member: "tags", Form: List},
				{Member: "related_files", Form: List},
				{Member: "related_commands", Form: List},
			},
			Change: changing(service.Edit),
		},
	}
}

// Pattern is what is known of patterns. In an export they stand behind the lessons and episodes that they gather.
var Pattern = Kind{
	Name: router.KindPattern, Plural: "patterns", Exported: 4,
	Decode: decoded[lesson.PatternRecord],
	Page: Page{
		Folder: "patterns", Title: "pattern_name", Key: []string{"id"}, Text: "description",
		Parts: []Part{{"Recommended action", "recommended_action"}}, Drop: []string{"number", "confidence", "episode_ids"},
	},
}

// Patterns are the patterns of a service.
func Patterns(service *lesson.Patterns, rows interface {
	// PatternsAfter returns patterns whose Number is greater than after, in order, with their evidence.
	PatternsAfter(ctx context.Context, after int64, limit int) ([]lesson.PatternRecord, error)
},
) Memory {
	return Memory{
		Kind: Pattern,
		Export: paged(func(ctx context.Context, _ string, now time.Time, last lesson.PatternRecord, limit int) ([]lesson.PatternRecord, error) {
			page, err := rows.PatternsAfter(ctx, last.Number, limit)
			for i := range page {
				page[i].Confidence = page[i].At(now)
			}
			return page, err
		}),
		Import: taken(service.Take),
		Undo: Undo{func(ctx context.Context, id string) (any, error) {
			p, err := service.Pattern(ctx, id)
			p.Confidence = 0
			return p, err
		}, func(ctx context.Context, id string) error {
			by := cmp.Or(principal.Of(ctx).AgentID, "captain")
			_, err := service.Deprecate(ctx, id, lesson.ConfirmationDraft{By: by, Notes: Undone})
			return unlessOver(err)
		}},
	}
}
