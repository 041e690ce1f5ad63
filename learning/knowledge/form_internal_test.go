package knowledge

import (
	"encoding/json"
	"testing"
)

// TestFormIsOfItsNumber fails if a row makes another document than before: then
// the form must grow, so that snapshots of earlier versions are built anew, and
// this test be given what is made now.
func TestFormIsOfItsNumber(t *testing.T) {
	row := Knowledge{ID: "k", Category: "c", Title: "t", Content: "content", Tags: []string{"Tag"}, Source: "s", Author: "a", Project: "p", Number: 7}
	got, err := json.Marshal(document(&row))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"ID":"k","Title":"t","Body":"content\nTag","Category":"c","Project":"p","Tags":["tag","\u0000by:a"],"Order":7,"At":0}`; form != 2 || string(got) != want {
		t.Errorf("form %d: %s\nwas %s", form, got, want)
	}
}
