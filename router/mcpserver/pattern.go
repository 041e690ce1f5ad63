package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"skillrouter/learning"
)

type emergingPatterns struct {
	Type   learning.PatternType `json:"pattern_type"`
	Domain string               `json:"domain"`
	Limit  int                  `json:"limit"`
}

type confirmPattern struct {
	Pattern string `json:"pattern"`
	Notes   string `json:"notes"`
}

// pattern is what a model needs of a pattern.
type pattern struct {
	ID          string                 `json:"id"`
	Number      int64                  `json:"number"`
	Name        string                 `json:"pattern_name"`
	Type        learning.PatternType   `json:"pattern_type"`
	Description string                 `json:"description"`
	Domain      string                 `json:"domain,omitempty"`
	Status      learning.PatternStatus `json:"status"`
	Confidence  float64                `json:"confidence"`
	Weight      float64                `json:"discrimination_weight"`
	Frequency   int64                  `json:"occurrence_count"`
	Action      string                 `json:"recommended_action,omitempty"`
	Prevention  []string               `json:"prevention_steps,omitempty"`
	Why         []string               `json:"why,omitempty"`
	LessonIDs   []string               `json:"lesson_ids,omitempty"`
	EpisodeIDs  []int64                `json:"episode_ids,omitempty"`
	LastSeen    time.Time              `json:"last_seen"`
	CutBytes    int                    `json:"cut_bytes,omitempty"` // of the texts, left out of this answer
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
		name: "emerging_patterns", title: "Emerging patterns", set: ToolsetLessons, effect: reads,
		description: "What recurs in the team's lessons and experiences and nobody has confirmed, with why it was taken for a pattern.",
		input: arguments(
			oneOf("pattern_type", "", learning.PatternTypes()...),
			text("domain", ""),
			integer("limit", "Default 50", 1, learning.MaxLimit),
		),
		output: holds("patterns"),
	}, s.emergingPatterns)
	add(s, tool{
		name: "confirm_pattern", title: "Confirm a pattern", set: ToolsetLessons, effect: ensure,
		description: "Say that a pattern is real and should be enforced.",
		input: arguments(
			required(text("pattern", "Its id or number")),
			text("notes", "Why"),
		),
		output: holds("pattern"),
	}, s.confirmPattern)
	add(s, tool{
		name: "deprecate_pattern", title: "Deprecate a pattern", set: ToolsetLessons, effect: ensure,
		description: "Say that a pattern is none, or holds no more.",
		input:       arguments(required(text("pattern", "Its id or number")), text("notes", "Why")),
		output:      holds("pattern"),
	}, s.deprecatePattern)
}

func (s *Server) emergingPatterns(ctx context.Context, in emergingPatterns) (reply[patterns], error) {
	found, err := s.services.Patterns.List(ctx, learning.PatternFilter{
		Type: in.Type, Domain: in.Domain, Statuses: []learning.PatternStatus{learning.PatternEmerging}, Limit: in.Limit,
	})
	if err != nil {
		return reply[patterns]{}, err
	}
	out := patterns{Patterns: []pattern{}}
	for _, p := range found {
		out.Patterns = append(out.Patterns, shownPattern(p))
	}
	if len(out.Patterns) == 0 {
		return reply[patterns]{out, "No pattern emerges."}, nil
	}
	out.Notice = notice
	f := newFence("%s, the latest seen first.", count(len(out.Patterns), "pattern emerges", "patterns emerge"))
	f.addPatterns(out.Patterns)
	return reply[patterns]{out, f.String()}, nil
}

func (s *Server) confirmPattern(ctx context.Context, in confirmPattern) (reply[onePattern], error) {
	confirmed, err := s.services.Patterns.Confirm(ctx, in.Pattern, learning.ConfirmationDraft{By: s.actor(ctx, ""), Notes: in.Notes})
	if err != nil {
		return reply[onePattern]{}, err
	}
	list := []pattern{shownPattern(confirmed)}
	f := newFence("Pattern %d is confirmed.", confirmed.Number)
	f.addPatterns(list)
	return reply[onePattern]{onePattern{list[0], notice}, f.String()}, nil
}

func (s *Server) deprecatePattern(ctx context.Context, in confirmPattern) (reply[onePattern], error) {
	deprecated, err := s.services.Patterns.Deprecate(ctx, in.Pattern, learning.ConfirmationDraft{By: s.actor(ctx, ""), Notes: in.Notes})
	if err != nil {
		return reply[onePattern]{}, err
	}
	list := []pattern{shownPattern(deprecated)}
	f := newFence("Pattern %d is deprecated.", deprecated.Number)
	f.addPatterns(list)
	return reply[onePattern]{onePattern{list[0], notice}, f.String()}, nil
}

// shownPattern copies what may be shortened later: a service may keep its own.
func shownPattern(p learning.Pattern) pattern {
	return pattern{
		ID: p.ID, Number: p.Number, Name: p.Name, Type: p.Type, Description: p.Description, Domain: p.Domain, Status: p.Status,
		Confidence: p.Confidence, Weight: p.Weight, Frequency: p.Frequency, Action: p.Action,
		Prevention: slices.Clone(p.Prevention), Why: slices.Clone(p.Why), LessonIDs: p.LessonIDs, EpisodeIDs: p.EpisodeIDs, LastSeen: p.LastSeen,
	}
}

// addPatterns shortens the patterns to what an answer may hold and appends them.
func (f *fence) addPatterns(list []pattern) {
	texts := make([][]*string, len(list))
	for i := range list {
		p := &list[i]
		texts[i] = []*string{&p.Name, &p.Description, &p.Action}
		for _, more := range [][]string{p.Why, p.Prevention} {
			for j := range more {
				texts[i] = append(texts[i], &more[j])
			}
		}
	}
	for i, left := range fitTexts(texts) {
		list[i].CutBytes = left
	}
	f.explain()
	for i, p := range list {
		f.add(
			fmt.Sprintf("%d. pattern %d, %s, %s, confidence %.2f, seen %d×, last at %s",
				i+1, p.Number, p.Type, p.Status, p.Confidence, p.Frequency, p.LastSeen.UTC().Format(time.RFC3339)),
			attributes("id", p.ID, "domain", p.Domain), p.Name, p.Description, part("Recommended", p.Action),
			part("Prevention", strings.Join(p.Prevention, "; ")), part("Why", strings.Join(p.Why, "; ")), cutNote(p.CutBytes))
	}
}
