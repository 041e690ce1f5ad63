package operation_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/skillrouter/skillrouter/internal/operation"
)

type color string

func (color) Choices() []string { return []string{"red", "blue"} }

type draft struct {
	Title   string          `json:"title" doc:"What it is"`
	By      string          `json:"by,omitempty" actor:"true"`
	Project string          `json:"project,omitempty" here:"project"`
	Color   color           `json:"color,omitempty"`
	Colors  []color         `json:"colors,omitempty"`
	Share   *float64        `json:"share,omitempty" range:"0,1"`
	Limit   int             `query:"limit" minimum:"0" maximum:"1000"`
	Number  int64           `json:"number,omitempty" range:"0,"`
	Size    string          `json:"size,omitempty" enum:"small,large"`
	Open    *bool           `query:"open" enum:"true,false"`
	Data    json.RawMessage `json:"data,omitempty" object:"true"`
	Hidden  string          `json:"-"`
	untold  string
}

// TestFields reads each tag, and sets a field by what it gave.
func TestFields(t *testing.T) {
	in := draft{untold: "x"}
	fields := map[string]operation.Field{}
	var names []string
	for _, f := range operation.Fields(&in) {
		fields[f.Name] = f
		names = append(names, f.Name)
	}
	if want := []string{"title", "by", "project", "color", "colors", "share", "limit", "number", "size", "open", "data"}; !slices.Equal(names, want) {
		t.Errorf("fields %q, want %q", names, want)
	}
	if f := fields["title"]; f.Doc != "What it is" || f.Actor || f.Here != "" {
		t.Errorf("title: %+v", f)
	}
	if !fields["by"].Actor || fields["project"].Here != "project" || !fields["data"].Object {
		t.Error("a tag was not read")
	}
	for name, want := range map[string][]string{"color": {"red", "blue"}, "colors": {"red", "blue"}, "size": {"small", "large"}, "open": nil, "title": nil} {
		if got := fields[name].Choices; !slices.Equal(got, want) {
			t.Errorf("%s may be %q, want %q", name, got, want)
		}
	}
	if f := fields["share"]; f.Min == nil || *f.Min != 0 || f.Max == nil || *f.Max != 1 {
		t.Error("the range was not read")
	}
	if f := fields["number"]; f.Min == nil || f.Max != nil {
		t.Error("an open range was not read")
	}
	if f := fields["limit"]; f.Max == nil || *f.Max != 1000 {
		t.Error("the bounds were not read")
	}
	fields["title"].Value.SetString("set")
	var other draft
	for _, f := range operation.Fields(&other) { // the type is known now, and its values are not
		if f.Name == "title" {
			f.Value.SetString("other")
		}
	}
	if in.Title != "set" || other.Title != "other" {
		t.Error("the field is another's")
	}
}
