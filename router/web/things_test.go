package web

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/router/decision"
)

// misnamed lists what a description names that is not there: methods of services, and fields of what these take.
func misnamed(things []thing) (faults []string) {
	services := reflect.TypeFor[Services]()
	for _, t := range things {
		takes := func(name string) (fields []string, ok bool) {
			service, method, _ := strings.Cut(name, ".")
			field, ok := services.FieldByName(service)
			if !ok {
				return nil, false
			}
			of, ok := field.Type.MethodByName(method)
			if !ok {
				return nil, false
			}
			for i := range of.Type.NumIn() {
				if in := of.Type.In(i); in.Kind() == reflect.Struct {
					for _, f := range operation.Fields(reflect.New(in).Interface()) {
						fields = append(fields, f.Name)
					}
				}
			}
			return fields, true
		}
		names, ok := takes(t.List)
		if _, read := takes(t.Read); t.List != "" && !ok || t.Read != "" && !read {
			faults = append(faults, t.Kind+": "+t.List+" "+t.Read)
		}
		for _, f := range t.Filters {
			if name := f.Name; t.List != "" && name != "q" && !slices.Contains(names, name) {
				faults = append(faults, t.Kind+": filter "+name)
			}
		}
		acts := t.Acts
		if t.New != nil {
			acts = append(slices.Clone(acts), *t.New)
		}
		for _, a := range acts {
			if a.Call == "" {
				continue
			}
			names, ok := takes(a.Call)
			if !ok {
				faults = append(faults, t.Kind+": "+a.Call)
			}
			for _, f := range a.Fields {
				said := (f.Name == "text" || f.Name == "reason") && slices.Contains(names, "context") || slices.Contains(slices.Collect(maps.Values(a.Set)), "@"+f.Name)
				if name := f.Name; name != "sure" && name != "by" && name != a.Text && !said && !slices.Contains(names, name) {
					faults = append(faults, t.Kind+": "+a.Verb+": field "+name)
				}
			}
		}
		for _, p := range t.Parts {
			_, ok := takes(p.Call)
			if p.Call != "" && !ok || p.Text == "" && !p.Lanes && !slices.ContainsFunc(things, func(of thing) bool { return of.Kind == p.Kind }) {
				faults = append(faults, t.Kind+": part "+p.ID)
			}
		}
		if waiting := reflect.TypeFor[decision.Waiting](); t.Waits.Of != "" {
			if _, ok := waiting.FieldByName(t.Waits.Of); !ok {
				faults = append(faults, t.Kind+": waits "+t.Waits.Of)
			}
		}
		for _, c := range t.Columns {
			if c.Class == "" {
				faults = append(faults, t.Kind+": column "+c.Name)
			}
		}
	}
	return faults
}

// TestThings resolves all that things.yaml names; the compiler does not.
func TestThings(t *testing.T) {
	things := described().Things
	if len(things) < 15 {
		t.Fatalf("%d things", len(things))
	}
	if faults := misnamed(things); len(faults) > 0 {
		t.Errorf("there is no %q", faults)
	}
	wrong := []thing{{Kind: "x", List: "Tasks.Lost", Filters: []filter{{Name: "nothing"}}, Acts: []act{{Verb: "v", Call: "Tasks.Cancel", Fields: []field{{Name: "nowhere"}}}}, Parts: []part{{Kind: "lost"}, {Kind: "x", Call: "Tasks.Lost"}}, Waits: wait{Of: "Lost"}}}
	if faults := misnamed(wrong); len(faults) != 6 {
		t.Errorf("of six mistakes %q are found", faults)
	}
}

// TestRecord reads members of every sort. What is no text in a list, and no time, says nothing that misleads.
func TestRecord(t *testing.T) {
	of, err := recordOf(struct {
		Name    string         `json:"name"`
		Numbers []int          `json:"numbers"`
		Tags    []string       `json:"tags"`
		None    map[string]int `json:"none"`
		No      bool           `json:"no"`
		Never   time.Time      `json:"never"`
		At      time.Time      `json:"at"`
		Count   int            `json:"count"`
		After   struct{ Share float64 }
	}{Name: "a $name ${count}", Numbers: []int{1, 2}, Tags: []string{"x", "y"}, None: map[string]int{}, At: time.Unix(0, 0).UTC(), After: struct{ Share float64 }{0.5}})
	if err != nil {
		t.Fatal(err)
	}
	of.set("more", "is said")
	for name, want := range map[string]string{
		"name": "a $name ${count}", "numbers": "[1,2]", "tags": "x, y", "none": "", "no": "", "never": "", "at": "1970-01-01T00:00:00Z", "count": "0", "After.Share": "0.5",
		"more": "is said", "none/no/=fixed": "fixed", "nothing": "", "name.inner": "",
	} {
		if got := of.Say(name); got != want {
			t.Errorf("%s says %q, want %q", name, got, want)
		}
	}
	if got := of.titled("#${count} ${name}: ${none}"); got != "#0 a $name ${count}:" { // what a member says is no pattern
		t.Errorf("the title is %q", got)
	}
	if !of.fits("count=;tags!=z") || of.fits("more=") {
		t.Error("a condition is read otherwise")
	}
}

// TestToldRulesLeadToTheirChecks: the list of checks is narrowed to the rule that was told.
func TestToldRulesLeadToTheirChecks(t *testing.T) {
	for _, kind := range []string{"rule", "guard"} {
		if got := toldPath(kind, "builtin:rm"); got != "/ui/guard?kind=check&rule_id=builtin%3Arm" {
			t.Errorf("a %s leads to %s", kind, got)
		}
	}
}
