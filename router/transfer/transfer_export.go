package transfer

import (
	"context"
	"slices"

	"skillrouter"
	"skillrouter/learning/experience"
	"skillrouter/learning/fact"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/lesson"
	"skillrouter/learning/procedure"
	"skillrouter/operational"
)

// exportPage is how many records are read at a time. Between pages no
// transaction is open: a reader that is slow holds nothing up.
const exportPage = 200

// Export implements TransferService.
func (t *Transfer) Export(ctx context.Context, query ExportQuery, visit func(Record) error) error {
	if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeCaptain); err != nil {
		return err
	}
	if err := query.Check(); err != nil {
		return err
	}
	for _, kind := range Kinds() {
		if len(query.Kinds) > 0 && !slices.Contains(query.Kinds, kind) || query.Project != "" && !kind.ofProjects() {
			continue
		}
		if err := t.export(ctx, kind, query.Project, visit); err != nil {
			return err
		}
	}
	return nil
}

// Check refuses kinds that there are not, and those of which a project has none.
func (q ExportQuery) Check() error {
	for _, kind := range q.Kinds {
		if err := skillrouter.CheckOneOf("kinds", kind, Kinds()); err != nil {
			return err
		}
		if q.Project != "" && !kind.ofProjects() {
			return skillrouter.InvalidField("kinds", "has %s, which belong to no project: leave one of both out", kind)
		}
	}
	return skillrouter.CheckName("project", q.Project)
}

// pages reads one kind page by page.
func pages[T any](read func(after T) ([]T, error), visit func(T) error) error {
	var last T
	for {
		page, err := read(last)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, record := range page {
			if err := visit(record); err != nil {
				return err
			}
		}
		last = page[len(page)-1]
	}
}

func (t *Transfer) export(ctx context.Context, kind Kind, project string, visit func(Record) error) error {
	memory := t.ports.Memory
	switch kind {
	case RecordKnowledge:
		return pages(func(last knowledge.Knowledge) ([]knowledge.Knowledge, error) {
			return memory.KnowledgeAfter(ctx, project, last.Number, exportPage)
		}, func(k knowledge.Knowledge) error { return visit(Record{Kind: kind, Knowledge: &k}) })
	case RecordEpisode:
		return pages(func(last experience.EpisodeRecord) ([]experience.EpisodeRecord, error) {
			return memory.EpisodesAfter(ctx, project, last.Number, exportPage)
		}, func(e experience.EpisodeRecord) error { return visit(Record{Kind: kind, Episode: &e}) })
	case RecordLesson:
		now := t.now()
		return pages(func(last lesson.Lesson) ([]lesson.Lesson, error) {
			return memory.LessonsAfter(ctx, project, last.Number, exportPage)
		}, func(l lesson.Lesson) error {
			l.Confidence = l.At(now)
			return visit(Record{Kind: kind, Lesson: &l})
		})
	case RecordPattern:
		now := t.now()
		return pages(func(last lesson.PatternRecord) ([]lesson.PatternRecord, error) {
			return memory.PatternsAfter(ctx, last.Number, exportPage)
		}, func(p lesson.PatternRecord) error {
			p.Confidence = p.At(now)
			return visit(Record{Kind: kind, Pattern: &p})
		})
	case RecordFact:
		now := t.now()
		return pages(func(last fact.Fact) ([]fact.Fact, error) {
			return memory.FactsAfter(ctx, last.Persona, last.Key, now, exportPage)
		}, func(f fact.Fact) error { return visit(Record{Kind: kind, Fact: &f}) })
	case RecordProcedure:
		var number int64
		return pages(func(procedure.Procedure) (page []procedure.Procedure, err error) {
			page, number, err = memory.ProceduresAfter(ctx, number, exportPage)
			return page, err
		}, func(p procedure.Procedure) error { return visit(Record{Kind: kind, Procedure: &p}) })
	}
	return pages(func(last operational.Reminder) ([]operational.Reminder, error) {
		return t.ports.ReminderRows.RemindersAfter(ctx, project, last.Number, exportPage)
	}, func(r operational.Reminder) error { return visit(Record{Kind: kind, Reminder: &r}) })
}
