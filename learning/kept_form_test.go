package learning_test

import (
	"testing"
	"time"

	"skillrouter/learning"
)

// TestKeptFormsAreOfTheirNumber fails if a row makes another document than
// before: then the form of the kind must grow, so that snapshots of earlier
// versions are built anew, and this test be given what is made now.
func TestKeptFormsAreOfTheirNumber(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000)
	got := learning.KeptDocuments(
		learning.Knowledge{ID: "k", Category: "c", Title: "t", Content: "content", Tags: []string{"Tag"}, Source: "s", Author: "a", Project: "p", Number: 7},
		learning.Episode{
			ID: "e", SessionID: "s", AgentID: "a", Persona: "pe", EventType: "action", Event: "ev", Title: "t", Content: "content",
			Context: []byte(`{"x":"y"}`), Learned: "learned", Project: "p", CreatedAt: at, Number: 7,
		},
		learning.Lesson{
			ID: "l", Domain: "d", Category: "c", Title: "t", Context: "context", Action: "action", Outcome: "outcome", RootCause: "root", Solution: "solution", Body: "body",
			Alternatives: []string{"other"}, RelatedCommands: []string{"make"}, Contexts: []string{"ci"}, Tags: []string{"Tag"}, Project: "p", Number: 7,
		},
		learning.StoredProcedure{
			Number: 7, Persona: "pe", Name: "n",
			Body: learning.ProcedureBody{Description: "d", Category: "c", Steps: []learning.Step{{Name: "s", Description: "sd", Action: "sa", Run: "sr"}}},
		},
	)
	want := map[learning.KeptKind]string{
		learning.KeptKnowledge:  `2 {"ID":"k","Title":"t","Body":"content\nTag","Category":"c","Project":"p","Tags":["tag","\u0000by:a"],"Order":7,"At":0}<nil>`,
		learning.KeptEpisodes:   `1 {"ID":"e","Title":"t","Body":"content\nLearned: learned\nx: y","Category":"action","Project":"p","Tags":["agent:a","persona:pe","session:s","event:ev"],"Order":7,"At":1700000000000}<nil>`,
		learning.KeptLessons:    `2 {"ID":"l","Title":"t","Body":"context\naction\noutcome\nroot\nsolution\nbody\nother\nmake\nci\nTag\nc","Category":"d","Project":"p","Tags":["tag"],"Order":7,"At":0}<nil>`,
		learning.KeptProcedures: `2 {"ID":"pe/n","Title":"n: d","Body":"s\nsd\nsa\nsr\n","Category":"c","Project":"","Tags":["pe"],"Order":7,"At":0}<nil>`,
	}
	for kind, text := range want {
		if got[kind] != text {
			t.Errorf("%s are made into %s\nand were into %s", kind, got[kind], text)
		}
	}
	if len(got) != len(want) {
		t.Errorf("made of rows: %q", got)
	}
}
