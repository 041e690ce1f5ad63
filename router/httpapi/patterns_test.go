package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

// patternDesk remembers what it was asked. The service itself is held to its
// contract elsewhere.
type patternRecorder struct {
	ref    string
	draft  lesson.ConfirmationDraft
	filter lesson.PatternFilter
	found  []lesson.Pattern
}

func (d *patternRecorder) Pattern(_ context.Context, ref string) (lesson.Pattern, error) {
	d.ref = ref
	if ref == "none" {
		return lesson.Pattern{}, errs.Errorf(errs.NotFound, "no pattern has this id")
	}
	return lesson.Pattern{ID: "p1"}, nil
}

func (d *patternRecorder) Add(_ context.Context, _ lesson.PatternDraft) (lesson.Pattern, error) {
	return lesson.Pattern{ID: "p1"}, nil
}

func (d *patternRecorder) Edit(_ context.Context, ref string, _ lesson.PatternPatch) (lesson.Pattern, error) {
	d.ref = ref
	return lesson.Pattern{ID: "p1"}, nil
}

func (d *patternRecorder) List(_ context.Context, filter lesson.PatternFilter) ([]lesson.Pattern, error) {
	d.filter = filter
	return d.found, nil
}

func (d *patternRecorder) Confirm(_ context.Context, ref string, draft lesson.ConfirmationDraft) (lesson.Pattern, error) {
	d.ref, d.draft = ref, draft
	return lesson.Pattern{ID: "p1", Status: lesson.PatternConfirmed}, nil
}

func (d *patternRecorder) Deprecate(_ context.Context, ref string, draft lesson.ConfirmationDraft) (lesson.Pattern, error) {
	d.ref, d.draft = ref, draft
	return lesson.Pattern{ID: "p1", Status: lesson.PatternDeprecated}, nil
}

func TestPatternRoutes(t *testing.T) {
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		want               string
		ref, by, notes     string
	}{
		"emerging, none":       {http.MethodGet, "/patterns/emerging", "", 200, "[]", "", "", ""},
		"all, none":            {http.MethodGet, "/patterns", "", 200, `{"patterns":[],"count":0}`, "", "", ""},
		"confirm by the query": {http.MethodPost, "/patterns/p1/confirm?confirmed_by=Damon%20W.", "", 200, `"status":"confirmed"`, "p1", "Damon W.", ""},
		"confirm by the body":  {http.MethodPost, "/patterns/7/confirm", `{"confirmed_by":"ARIA","notes":"yes"}`, 200, `"status":"confirmed"`, "7", "ARIA", "yes"},
		"confirm, with null":   {http.MethodPost, "/patterns/7/confirm", `{"confirmed_by":"ARIA","notes":null}`, 200, `"status":"confirmed"`, "7", "ARIA", ""},
		"the body outweighs":   {http.MethodPost, "/patterns/7/confirm?confirmed_by=a&notes=b", `{"confirmed_by":"c"}`, 200, `"status":"confirmed"`, "7", "c", "b"},
		"deprecate":            {http.MethodPost, "/patterns/p1/deprecate?confirmed_by=ARIA", "", 200, `"status":"deprecated"`, "p1", "ARIA", ""},
		"an id of any letters": {http.MethodGet, "/patterns/a%2Fb%25", "", 200, `"id":"p1"`, "a/b%", "", ""},
		"none of that id":      {http.MethodGet, "/patterns/none", "", 404, `"code":"not_found"`, "none", "", ""},
		"an unknown member":    {http.MethodPost, "/patterns/p1/confirm", `{"by":"ARIA"}`, 400, "by is no field of this request", "", "", ""},
		"a limit in words":     {http.MethodGet, "/patterns/emerging?limit=many", "", 400, "limit", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := &patternRecorder{}
			s := httpapi.New(httpapi.Services{Patterns: d}, httpapi.Options{})
			header := map[string]string{}
			if c.body != "" {
				header = asJSON
			}
			w := call(s, c.method, c.path, header, c.body)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("%d %s, want %d and %s", w.Code, w.Body, c.status, c.want)
			}
			if d.ref != c.ref || d.draft != (lesson.ConfirmationDraft{By: c.by, Notes: c.notes}) {
				t.Errorf("asked for %q with %+v", d.ref, d.draft)
			}
		})
	}
	d := &patternRecorder{}
	s := httpapi.New(httpapi.Services{Patterns: d}, httpapi.Options{})
	w := call(s, http.MethodGet, "/patterns?status=confirmed,deprecated&pattern_type=anti_pattern&domain=d&limit=3&offset=4", nil, "")
	if d.filter.Type != lesson.PatternAntiPattern || len(d.filter.Statuses) != 2 || d.filter.Domain != "d" || d.filter.Limit != 3 || d.filter.Offset != 4 {
		t.Errorf("%+v: %d %s", d.filter, w.Code, w.Body)
	}
	call(s, http.MethodGet, "/patterns/emerging", nil, "")
	if len(d.filter.Statuses) != 1 || d.filter.Statuses[0] != lesson.PatternEmerging {
		t.Errorf("%+v", d.filter)
	}
}
