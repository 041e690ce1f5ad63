package mcpserver_test

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// houseExperiences is the experience service in memory, as small as the tools' tests need it.
type houseExperiences struct {
	experience.Service // what no tool calls
	house              *house

	mu   sync.Mutex
	list []experience.Experience
}

func (h *houseExperiences) Record(ctx context.Context, d experience.Draft) (experience.Recorded, error) {
	if err := h.house.enter(ctx, d.OperationType); err != nil {
		return experience.Recorded{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	e := experience.Experience{
		Number: int64(len(h.list) + 1), EpisodeID: "e", OperationType: d.OperationType, ServerName: d.ServerName, Outcome: d.Outcome, Notes: d.Notes,
		QualityScore: d.QualityScore, DurationMS: d.DurationMS, Utility: 0.5, AgentID: d.AgentID, Timestamp: noon.UnixMilli(),
	}
	if d.Problem != nil {
		e.Problem, _ = json.Marshal(d.Problem)
	}
	h.list = append(h.list, e)
	return experience.Recorded{EpisodeID: e.Number, Recorded: true, Utility: e.Utility, Patterns: []string{"p"}, Redacted: []string{"token"}}, nil
}

func (h *houseExperiences) Recall(ctx context.Context, f experience.Filter) (experience.Recall, error) {
	if err := h.house.enter(ctx, f.OperationType); err != nil {
		return experience.Recall{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	found := experience.Recall{Episodes: []experience.Experience{}, Patterns: []experience.Pattern{}, AverageUtility: 0.5}
	for _, e := range h.list {
		if f.OperationType == "" || f.OperationType == e.OperationType {
			found.Episodes = append(found.Episodes, e)
			found.Patterns = []experience.Pattern{{Number: 1, Type: lesson.PatternSuccess, Description: e.OperationType}}
		}
	}
	found.Count = len(found.Episodes)
	return found, nil
}

func (h *houseExperiences) Applicable(_ context.Context, q experience.ApplicableQuery) (experience.Applicable, error) {
	if q.OperationType == "" && q.Context == nil {
		return experience.Applicable{Lessons: []experience.ApplicableLesson{}}, nil
	}
	return experience.Applicable{
		Lessons: []experience.ApplicableLesson{{Number: 1, Statement: "s", Contexts: []string{q.OperationType}, CurrentConfidence: 0.7}},
		Summary: experience.ConfidenceSummary{High: 1},
	}, nil
}

func (h *houseExperiences) Apply(_ context.Context, number int64, _ lesson.ApplicationDraft) (lesson.Applied, error) {
	if number != 1 {
		return lesson.Applied{}, errs.Errorf(errs.NotFound, "there is no lesson %d", number)
	}
	return lesson.Applied{Applied: true, LessonNumber: 1, PreviousConfidence: 0.5, NewConfidence: 0.6, TotalApplications: 1, SuccessRate: 1, Deprecated: true}, nil
}

func (h *houseExperiences) Learn(_ context.Context, d experience.LearnDraft) (experience.Learned, error) {
	number := int64(1)
	return experience.Learned{LessonNumber: 1, Created: len(d.EpisodeIDs) > 3, InitialConfidence: 0.5, PatternID: &number}, nil
}
