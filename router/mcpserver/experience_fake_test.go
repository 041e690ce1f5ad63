package mcpserver_test

import (
	"context"
	"encoding/json"
	"sync"

	"skillrouter"
	"skillrouter/learning"
)

// houseExperiences is the experience service in memory, as small as the tools' tests need it.
type houseExperiences struct {
	learning.ExperienceService // what no tool calls
	house                      *house

	mu   sync.Mutex
	list []learning.Experience
}

func (h *houseExperiences) Record(ctx context.Context, d learning.ExperienceDraft) (learning.Recorded, error) {
	if err := h.house.enter(ctx, d.OperationType); err != nil {
		return learning.Recorded{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	e := learning.Experience{
		Number: int64(len(h.list) + 1), EpisodeID: "e", OperationType: d.OperationType, ServerName: d.ServerName, Outcome: d.Outcome, Notes: d.Notes,
		QualityScore: d.QualityScore, DurationMS: d.DurationMS, Utility: 0.5, AgentID: d.AgentID, Timestamp: noon.UnixMilli(),
	}
	if d.Problem != nil {
		e.Problem, _ = json.Marshal(d.Problem)
	}
	h.list = append(h.list, e)
	return learning.Recorded{EpisodeID: e.Number, Recorded: true, Utility: e.Utility, Patterns: []string{"p"}, Redacted: []string{"token"}}, nil
}

func (h *houseExperiences) Recall(ctx context.Context, f learning.ExperienceFilter) (learning.Recall, error) {
	if err := h.house.enter(ctx, f.OperationType); err != nil {
		return learning.Recall{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	found := learning.Recall{Episodes: []learning.Experience{}, Patterns: []learning.ExperiencePattern{}, AverageUtility: 0.5}
	for _, e := range h.list {
		if f.OperationType == "" || f.OperationType == e.OperationType {
			found.Episodes = append(found.Episodes, e)
			found.Patterns = []learning.ExperiencePattern{{Number: 1, Type: learning.PatternSuccess, Description: e.OperationType}}
		}
	}
	found.Count = len(found.Episodes)
	return found, nil
}

func (h *houseExperiences) Applicable(_ context.Context, q learning.ApplicableQuery) (learning.Applicable, error) {
	if q.OperationType == "" && q.Context == nil {
		return learning.Applicable{Lessons: []learning.ApplicableLesson{}}, nil
	}
	return learning.Applicable{
		Lessons: []learning.ApplicableLesson{{Number: 1, Statement: "s", Contexts: []string{q.OperationType}, CurrentConfidence: 0.7}},
		Summary: learning.ConfidenceSummary{High: 1},
	}, nil
}

func (h *houseExperiences) Apply(_ context.Context, number int64, _ learning.ApplicationDraft) (learning.Applied, error) {
	if number != 1 {
		return learning.Applied{}, skillrouter.Errorf(skillrouter.NotFound, "there is no lesson %d", number)
	}
	return learning.Applied{Applied: true, LessonNumber: 1, PreviousConfidence: 0.5, NewConfidence: 0.6, TotalApplications: 1, SuccessRate: 1, Deprecated: true}, nil
}

func (h *houseExperiences) Learn(_ context.Context, d learning.LearnDraft) (learning.Learned, error) {
	number := int64(1)
	return learning.Learned{LessonNumber: 1, Created: len(d.EpisodeIDs) > 3, InitialConfidence: 0.5, PatternID: &number}, nil
}
