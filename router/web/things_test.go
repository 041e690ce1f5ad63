package web

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"skillrouter/internal/operation"
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
			if name := split(f, 3)[0]; t.List != "" && name != "q" && !slices.Contains(names, name) {
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
				if name := strings.TrimSuffix(split(f, 4)[0], "*"); name != "sure" && name != "by" && name != a.Text && !slices.Contains(names, name) {
					faults = append(faults, t.Kind+": "+a.Verb+": field "+name)
				}
			}
		}
		for _, c := range columnsOf(t.Columns...) {
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
	wrong := []thing{{Kind: "x", List: "Tasks.Lost", Filters: []string{"nothing | x"}, Acts: []act{{Verb: "v", Call: "Tasks.Cancel", Fields: []string{"nowhere | x"}}}}}
	if faults := misnamed(wrong); len(faults) != 3 {
		t.Errorf("of three mistakes %q are found", faults)
	}
}
