package procedure

import (
	"encoding/json"
	"testing"
)

// TestFormIsOfItsNumber fails if a row makes another document than before: then
// the form must grow, so that snapshots of earlier versions are built anew, and
// this test be given what is made now.
func TestFormIsOfItsNumber(t *testing.T) {
	row := Stored{
		Number: 7, Persona: "pe", Name: "n",
		Body: Body{Description: "d", Category: "c", Steps: []Step{{Name: "s", Description: "sd", Action: "sa", Run: "sr"}}},
	}
	got, err := json.Marshal(document(&row))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"ID":"pe/n","Title":"n: d","Body":"s\nsd\nsa\nsr\n","Category":"c","Project":"","Tags":["pe"],"Order":7,"At":0}`; form != 2 || string(got) != want {
		t.Errorf("form %d: %s\nwas %s", form, got, want)
	}
}
