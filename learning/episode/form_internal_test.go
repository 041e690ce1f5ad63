package episode

import (
	"encoding/json"
	"testing"
	"time"
)

// TestFormIsOfItsNumber fails if a row makes another document than before: then
// the form must grow, so that snapshots of earlier versions are built anew, and
// this test be given what is made now.
func TestFormIsOfItsNumber(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_000)
	row := Episode{
		ID: "e", SessionID: "s", AgentID: "a", Persona: "pe", EventType: "action", Event: "ev", Title: "t", Content: "content",
		Context: []byte(`{"x":"y"}`), Learned: "learned", Project: "p", CreatedAt: at, Number: 7,
	}
	got, err := json.Marshal(document(&row))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"ID":"e","Title":"t","Body":"content\nLearned: learned\nx: y","Category":"action","Project":"p","Tags":["agent:a","persona:pe","session:s","event:ev"],"Order":7,"At":1700000000000}`; form != 1 || string(got) != want {
		t.Errorf("form %d: %s\nwas %s", form, got, want)
	}
}
