package feed

import (
	"encoding/json"

	"skillrouter/internal/eventlog"
	"skillrouter/learning/lesson"
)

// The events that the experience server names. In the feed they bear these names, with
// exactly the data that the seed lists; the name that they have in their log
// is their Kind.
const (
	ExperienceRecorded = "experience_recorded"
	PatternEmerged     = "pattern_emerged"
	LessonExtracted    = "lesson_extracted"
	LessonValidated    = "lesson_validated"
	LessonDeprecated   = "lesson_deprecated"
)

// experienceName returns the name and the data that the experience server gives an event,
// or false if it gives it none.
func experienceName(e eventlog.Event) (name string, data json.RawMessage, ok bool) {
	var told any
	switch e.Type {
	case lesson.EventExperienceRecorded:
		var from lesson.ExperienceEvent
		if json.Unmarshal(e.Data, &from) != nil {
			return "", nil, false
		}
		name, told = ExperienceRecorded, struct {
			EpisodeID int64   `json:"episode_id"`
			Utility   float64 `json:"utility_score"`
		}{from.EpisodeID, from.Utility}
	case lesson.EventPatternEmerged:
		var from lesson.PatternEvent
		if json.Unmarshal(e.Data, &from) != nil {
			return "", nil, false
		}
		name, told = PatternEmerged, struct {
			PatternID   int64  `json:"pattern_id"`
			Description string `json:"description"`
		}{from.Number, from.Description}
	case lesson.EventReported, lesson.EventValidated, lesson.EventApplied, lesson.EventRetired:
		var from lesson.Event
		if json.Unmarshal(e.Data, &from) != nil {
			return "", nil, false
		}
		name, told = lessonName(e.Type, from)
	default:
		return "", nil, false
	}
	data, err := json.Marshal(told)
	return name, data, err == nil
}

// lessonName is experienceName for the events of lessons.
func lessonName(kind string, from lesson.Event) (name string, told any) {
	switch kind {
	case lesson.EventReported:
		return LessonExtracted, struct {
			LessonID   int64   `json:"lesson_id"`
			Statement  string  `json:"statement"`
			Confidence float64 `json:"confidence"`
		}{from.Number, from.Title, from.Confidence}
	case lesson.EventRetired:
		return LessonDeprecated, struct {
			LessonID int64  `json:"lesson_id"`
			Reason   string `json:"reason"`
		}{from.Number, from.Reason}
	}
	previous := from.Confidence
	if from.Previous != nil {
		previous = *from.Previous
	}
	return LessonValidated, struct {
		LessonID int64   `json:"lesson_id"`
		Previous float64 `json:"previous_confidence"`
		New      float64 `json:"new_confidence"`
	}{from.Number, previous, from.Confidence}
}
