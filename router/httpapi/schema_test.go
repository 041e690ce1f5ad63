package httpapi_test

import (
	"encoding/json"
	"testing"

	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

// TestSchemasOfBothDomains mounts routes of both domains whose types have a
// name in common. Two types under one name stop the process at its start; here
// each must have a schema, and its own.
func TestSchemasOfBothDomains(t *testing.T) {
	s := httpapi.New(httpapi.Services{
		Auth:    secrets{},
		Lessons: struct{ lesson.Service }{}, Recon: struct{ operational.ReconService }{},
	}, httpapi.Options{})
	var document struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]any `json:"properties"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(call(s, "GET", "/openapi.json", nil, "").Body.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	for name, property := range map[string]string{"ReportedLesson": "lesson_id", "OperationalReported": "reopened"} {
		if document.Components.Schemas[name].Properties[property] == nil {
			t.Errorf("%s has no %s: %+v", name, property, document.Components.Schemas[name])
		}
	}
}
