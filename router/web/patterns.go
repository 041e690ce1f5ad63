package web

import (
	"strconv"

	"skillrouter/internal/errs"
	"skillrouter/learning"
	"skillrouter/learning/experience"
	"skillrouter/learning/lesson"
)

func (s *Server) patternPages() {
	s.page("/ui/patterns", "patterns.html", "Patterns", s.patterns)
	s.page("/ui/pattern", "pattern.html", "Pattern", s.pattern)
	s.section(memory, "Patterns", "/ui/patterns")
	s.notice("pattern-confirmed", "The pattern is confirmed.")
	s.notice("pattern-deprecated", "The pattern is deprecated. It is kept.")
	s.action("/ui/pattern/confirm", "/ui/pattern", func(v *visit) (string, error) {
		id := v.value("id")
		_, err := s.services.Patterns.Confirm(v.context(), id, lesson.ConfirmationDraft{By: v.by(), Notes: v.value("notes")})
		return link("/ui/pattern", "id", id, "done", "pattern-confirmed"), err
	})
	s.action("/ui/pattern/deprecate", "/ui/pattern", func(v *visit) (string, error) {
		id := v.value("id")
		_, err := s.services.Patterns.Deprecate(v.context(), id, lesson.ConfirmationDraft{By: v.by(), Notes: v.value("notes")})
		return link("/ui/pattern", "id", id, "done", "pattern-deprecated"), err
	})
}

// patternList is what the list of patterns shows.
type patternList struct {
	Patterns        []lesson.Pattern
	Domain          string
	Types, Statuses []option
	pager
}

func (s *Server) patterns(v *visit) (any, error) {
	filter := lesson.PatternFilter{Type: lesson.PatternType(v.value("type")), Domain: v.value("domain"), Limit: learning.DefaultListing + 1}
	if status := v.value("status"); status != "" {
		filter.Statuses = []lesson.PatternStatus{lesson.PatternStatus(status)}
	}
	if cursor := v.value("cursor"); cursor != "" {
		var err error
		if filter.Offset, err = strconv.Atoi(cursor); err != nil {
			return nil, errs.InvalidField("cursor", "is not one that a listing answered")
		}
	}
	found, err := s.services.Patterns.List(v.context(), filter)
	if err != nil {
		return nil, err
	}
	next := ""
	if further := filter.Offset + learning.DefaultListing; len(found) > learning.DefaultListing && further <= lesson.MaxOffset {
		found, next = found[:learning.DefaultListing], strconv.Itoa(further)
	}
	return patternList{
		Patterns: found, Domain: filter.Domain,
		Types:    options("every type", v.value("type"), lesson.PatternTypes()),
		Statuses: options("all in use", v.value("status"), lesson.PatternStatuses()),
		pager:    v.pages("/ui/patterns", next, "Latest", "", "type", "status", "domain"),
	}, nil
}

// patternPage is what a pattern's page shows.
type patternPage struct {
	Pattern     lesson.Pattern
	Lessons     []lesson.Lesson
	More        []string // ids of further lessons
	Experiences []experience.Experience
	Further     []int64 // numbers of further episodes
}

// patternEvidence is how many pieces of evidence are shown with their titles; each is a reading.
const patternEvidence = 10

func (s *Server) pattern(v *visit) (any, error) {
	ctx := v.context()
	pattern, err := s.services.Patterns.Pattern(ctx, v.value("id"))
	if err != nil {
		return nil, err
	}
	v.title = short(80, pattern.Name)
	page := patternPage{Pattern: pattern}
	for _, id := range pattern.LessonIDs {
		if s.services.Lessons != nil && len(page.Lessons) < patternEvidence {
			if lesson, err := s.services.Lessons.Lesson(ctx, id); err == nil {
				page.Lessons = append(page.Lessons, lesson)
				continue
			}
		}
		page.More = append(page.More, id)
	}
	for _, number := range pattern.EpisodeIDs {
		if s.services.Experiences != nil && len(page.Experiences) < patternEvidence {
			if experience, err := s.services.Experiences.Experience(ctx, number); err == nil {
				page.Experiences = append(page.Experiences, experience)
				continue
			}
		}
		page.Further = append(page.Further, number)
	}
	return page, nil
}
