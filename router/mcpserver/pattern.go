package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"skillrouter/learning"
	"skillrouter/learning/lesson"
)

// pattern is what a model needs of a pattern.
type pattern struct {
	ID          string               `json:"id"`
	Number      int64                `json:"number"`
	Name        string               `json:"pattern_name"`
	Type        lesson.PatternType   `json:"pattern_type"`
	Description string               `json:"description"`
	Domain      string               `json:"domain,omitempty"`
	Status      lesson.PatternStatus `json:"status"`
	Confidence  float64              `json:"confidence"`
	Weight      float64              `json:"discrimination_weight"`
	Frequency   int64                `json:"occurrence_count"`
	Action      string               `json:"recommended_action,omitempty"`
	Prevention  []string             `json:"prevention_steps,omitempty"`
	Why         []string             `json:"why,omitempty"`
	LessonIDs   []string             `json:"lesson_ids,omitempty"`
	EpisodeIDs  []int64              `json:"episode_ids,omitempty"`
	LastSeen    time.Time            `json:"last_seen"`
	CutBytes    int                  `json:"cut_bytes,omitempty"` // of the texts, left out of this answer
}

type patterns struct {
	Patterns []pattern `json:"patterns"`
	Notice   string    `json:"notice,omitempty"`
}

type onePattern struct {
	Pattern pattern `json:"pattern"`
	Notice  string  `json:"notice"`
}

func (s *Server) addPatternTools() {
	add(s, tool{
		name: "emerging_patterns", title: "Emerging patterns", set: ToolsetLessons, effect: reads, holds: "patterns",
		description: "What recurs in the team's lessons and experiences and nobody has confirmed, with why it was taken for a pattern.",
	}, func(p *params, f *lesson.PatternFilter) {
		f.Statuses = []lesson.PatternStatus{lesson.PatternEmerging}
		p.may("pattern_type", &f.Type, "", among(lesson.PatternTypes()...))
		p.may("domain", &f.Domain, "")
		p.limit(&f.Limit, learning.DefaultListing, learning.MaxLimit)
	}, then(s.services.Patterns.List, func(found []lesson.Pattern) (patterns, string) {
		out := patterns{Patterns: views(found, shownPattern)}
		return out, listing(out.Patterns, &out.Notice, patternEntry, "No pattern emerges.",
			"%s, the latest seen first.", count(len(found), "pattern emerges", "patterns emerge")).String()
	}))
	s.addPatternJudgement("confirm", "Confirm a pattern", "Say that a pattern is real and should be enforced.", s.services.Patterns.Confirm)
	s.addPatternJudgement("deprecate", "Deprecate a pattern", "Say that a pattern is none, or holds no more.", s.services.Patterns.Deprecate)
}

// addPatternJudgement offers to judge a pattern: confirm or deprecate it.
func (s *Server) addPatternJudgement(verb, title, description string, judge func(context.Context, string, lesson.ConfirmationDraft) (lesson.Pattern, error)) {
	add(s, tool{
		name: verb + "_pattern", title: title, set: ToolsetLessons, effect: ensure, holds: "pattern", description: description,
	}, describedOne[string, lesson.ConfirmationDraft]("pattern!", "Its id or number", "notes"), then(changing(judge), func(judged lesson.Pattern) (onePattern, string) {
		out := onePattern{shownPattern(judged), notice}
		text := alone(&out.Pattern, patternEntry, "Pattern %d is %s.", judged.Number, strings.TrimSuffix(verb, "e")+"ed")
		return out, text
	}))
}

// shownPattern copies what may be shortened later: a service may keep its own.
func shownPattern(p lesson.Pattern) pattern {
	return pattern{
		ID: p.ID, Number: p.Number, Name: p.Name, Type: p.Type, Description: p.Description, Domain: p.Domain, Status: p.Status,
		Confidence: p.Confidence, Weight: p.Weight, Frequency: p.Frequency, Action: p.Action,
		Prevention: slices.Clone(p.Prevention), Why: slices.Clone(p.Why), LessonIDs: p.LessonIDs, EpisodeIDs: p.EpisodeIDs, LastSeen: p.LastSeen,
	}
}

func patternEntry(p *pattern) entry {
	texts := slices.Concat([]*string{&p.Name, &p.Description, &p.Action}, each(p.Why), each(p.Prevention))
	return entry{texts, func(cut int) (string, []string) {
		p.CutBytes = cut
		return fmt.Sprintf("pattern %d, %s, %s, confidence %.2f, seen %d×, last at %s",
			p.Number, p.Type, p.Status, p.Confidence, p.Frequency, p.LastSeen.UTC().Format(time.RFC3339)), []string{
			attributes("id", p.ID, "domain", p.Domain), p.Name, p.Description, part("Recommended", p.Action),
			part("Prevention", strings.Join(p.Prevention, "; ")), part("Why", strings.Join(p.Why, "; ")), cutNote(cut),
		}
	}}
}
