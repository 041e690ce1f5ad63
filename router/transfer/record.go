package transfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"skillrouter"
	"skillrouter/learning/experience"
	"skillrouter/learning/fact"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/lesson"
	"skillrouter/learning/procedure"
	"skillrouter/operational"
)

// Kind is a kind of memory.
type Kind string

// The kinds that are exported and imported.
const (
	RecordKnowledge Kind = "knowledge"
	RecordEpisode   Kind = "episode" // with its outcome, if it is an experience
	RecordLesson    Kind = "lesson"
	RecordPattern   Kind = "pattern"
	RecordFact      Kind = "fact"
	RecordProcedure Kind = "procedure"
	RecordReminder  Kind = "reminder"
)

// Kinds lists every kind, in the order in which they are exported and taken
// in: patterns stand behind the lessons and episodes that they gather.
func Kinds() []Kind {
	return []Kind{RecordKnowledge, RecordEpisode, RecordLesson, RecordPattern, RecordFact, RecordProcedure, RecordReminder}
}

func (k Kind) known() bool { return slices.Contains(Kinds(), k) }

// ofProjects tells whether records of the kind belong to projects.
func (k Kind) ofProjects() bool {
	return k == RecordKnowledge || k == RecordEpisode || k == RecordLesson || k == RecordReminder
}

// Record is one memory of one kind. As JSON it is that memory with its "kind".
type Record struct {
	Kind      Kind
	Knowledge *knowledge.Knowledge
	Episode   *experience.EpisodeRecord
	Lesson    *lesson.Lesson
	Pattern   *lesson.PatternRecord
	Fact      *fact.Fact
	Procedure *procedure.Procedure
	Reminder  *operational.Reminder

	// Fault is what made it impossible to read the record: it is refused, beside the others.
	Fault error
}

// memory returns what the record holds.
func (r *Record) memory() any {
	switch r.Kind {
	case RecordKnowledge:
		return r.Knowledge
	case RecordEpisode:
		return r.Episode
	case RecordLesson:
		return r.Lesson
	case RecordPattern:
		return r.Pattern
	case RecordFact:
		return r.Fact
	case RecordProcedure:
		return r.Procedure
	}
	return r.Reminder
}

// MarshalJSON implements json.Marshaler.
func (r Record) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r.memory()); err != nil {
		return nil, err
	}
	members := bytes.TrimSpace(text.Bytes())
	if len(members) < 2 || members[0] != '{' {
		return nil, errors.New("a record without its memory")
	}
	out := append([]byte(`{"kind":"`), r.Kind...)
	out = append(out, '"')
	if members = members[1:]; members[0] != '}' {
		out = append(out, ',')
	}
	return append(out, members...), nil
}

// UnmarshalJSON implements json.Unmarshaler. It never fails: what is wrong
// with a record is its Fault, so that the others with it can be taken in.
func (r *Record) UnmarshalJSON(text []byte) error {
	var kind struct {
		Kind Kind `json:"kind"`
	}
	if err := json.Unmarshal(text, &kind); err != nil {
		r.Fault = skillrouter.Wrap(skillrouter.Invalid, err, "the record must be an object with a kind")
		return nil
	}
	*r, r.Fault = DecodeRecord(kind.Kind, text)
	r.Kind = kind.Kind
	return nil
}

// DecodeRecord reads a memory of a kind. Members that it does not have are
// refused: a misspelt one would be lost in silence.
func DecodeRecord(kind Kind, text []byte) (r Record, err error) {
	if err := skillrouter.CheckOneOf("kind", kind, Kinds()); err != nil {
		return r, err
	}
	type head struct {
		Kind Kind `json:"kind"`
	}
	r.Kind = kind
	switch kind {
	case RecordKnowledge:
		var in struct {
			head
			knowledge.Knowledge
		}
		err, r.Knowledge = skillrouter.DecodeJSON(text, &in), &in.Knowledge
	case RecordEpisode:
		var in struct {
			head
			experience.EpisodeRecord
		}
		err, r.Episode = skillrouter.DecodeJSON(text, &in), &in.EpisodeRecord
	case RecordLesson:
		var in struct {
			head
			lesson.Lesson
		}
		err, r.Lesson = skillrouter.DecodeJSON(text, &in), &in.Lesson
	case RecordPattern:
		var in struct {
			head
			lesson.PatternRecord
		}
		err, r.Pattern = skillrouter.DecodeJSON(text, &in), &in.PatternRecord
	case RecordFact:
		var in struct {
			head
			fact.Fact
		}
		err, r.Fact = skillrouter.DecodeJSON(text, &in), &in.Fact
	case RecordProcedure:
		var in struct {
			head
			procedure.Procedure
		}
		err, r.Procedure = skillrouter.DecodeJSON(text, &in), &in.Procedure
	case RecordReminder:
		var in struct {
			head
			operational.Reminder
		}
		err, r.Reminder = skillrouter.DecodeJSON(text, &in), &in.Reminder
	}
	return r, err
}
