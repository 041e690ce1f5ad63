package lesson

import (
	"encoding/json"
	"testing"
)

// TestFormIsOfItsNumber fails if a row makes another document than before: then
// the form must grow, so that snapshots of earlier versions are built anew, and
// this test be given what is made now.
func TestFormIsOfItsNumber(t *testing.T) {
	row := Lesson{
		ID: "l", Domain: "d", Category: "c", Title: "t", Context: "context", Action: "action", Outcome: "outcome", RootCause: "root", Solution: "solution", Body: "body",
		Alternatives: []string{"other"}, RelatedCommands: []string{"make"}, Contexts: []string{"ci"}, Tags: []string{"Tag"}, Project: "p", Number: 7,
	}
	got, err := json.Marshal(document(&row))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"ID":"l","Title":"t","Body":"context\naction\noutcome\nroot\nsolution\nbody\nother\nmake\nci\nTag\nc\nd","Category":"d","Project":"p","Tags":["tag"],"Order":7,"At":0}`; form != 3 || string(got) != want {
		t.Errorf("form %d: %s\nwas %s", form, got, want)
	}
}
