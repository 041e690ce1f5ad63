package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

// lessonRecorder remembers what it was asked, and answers with as little as the
// handlers need. The service itself is held to its contract elsewhere.
type lessonRecorder struct {
	reported   []lesson.Draft
	query      lesson.Query
	filter     lesson.Filter
	ref        string
	validation lesson.ValidationDraft
	patch      lesson.Patch
	note       string
	bulkErr    error
}

func (d *lessonRecorder) Report(_ context.Context, draft lesson.Draft) (lesson.Reported, error) {
	if draft.Title == "bad" {
		return lesson.Reported{}, errs.InvalidField("title", "is bad")
	}
	d.reported = append(d.reported, draft)
	return lesson.Reported{LessonID: fmt.Sprintf("l%d", len(d.reported)), Number: int64(len(d.reported)), Status: "recorded", Occurrences: 1, Patterns: 2}, nil
}

func (d *lessonRecorder) ReportAll(ctx context.Context, drafts []lesson.Draft) (lesson.BulkReported, error) {
	out := lesson.BulkReported{Results: []lesson.BulkOutcome{}}
	for i, draft := range drafts {
		reported, err := d.Report(ctx, draft)
		if err != nil {
			out.Refused = append(out.Refused, learning.Refusal{Index: i, Field: errs.FieldOf(err), Error: "title is bad"})
			out.RefusedCount++
			continue
		}
		out.Processed++
		out.Results = append(out.Results, lesson.BulkOutcome{Index: i, Reported: reported})
	}
	return out, d.bulkErr
}

func (d *lessonRecorder) Lesson(_ context.Context, ref string) (lesson.Lesson, error) {
	d.ref = ref
	if ref == "none" {
		return lesson.Lesson{}, errs.Errorf(errs.NotFound, "there is no such lesson")
	}
	return lesson.Lesson{ID: "l1", Number: 1, Confidence: 0.88}, nil
}

func (d *lessonRecorder) List(_ context.Context, f lesson.Filter) (lesson.Page, error) {
	d.filter = f
	return lesson.Page{}, nil
}

func (d *lessonRecorder) Relevant(_ context.Context, q lesson.Query) (lesson.Results, error) {
	d.query = q
	if q.Context == "nothing" {
		return lesson.Results{}, nil
	}
	return lesson.Results{Results: []lesson.Hit{{Lesson: lesson.Lesson{ID: "l1", Title: "T"}, Similarity: 0.5, Recency: 1, Score: 0.65}}, Count: 1, LeftOut: 3}, nil
}

func (d *lessonRecorder) Validate(ctx context.Context, ref string, draft lesson.ValidationDraft) (lesson.Lesson, error) {
	d.validation = draft
	return d.Lesson(ctx, ref)
}

func (d *lessonRecorder) Apply(_ context.Context, ref string, draft lesson.ApplicationDraft) (lesson.Applied, error) {
	d.ref, d.note = ref, draft.Context
	return lesson.Applied{Applied: true, LessonID: "l1", LessonNumber: 1}, nil
}

func (d *lessonRecorder) Edit(ctx context.Context, ref string, patch lesson.Patch) (lesson.Lesson, error) {
	d.patch = patch
	return d.Lesson(ctx, ref)
}

func (d *lessonRecorder) Promote(context.Context, string, lesson.PromotionDraft) (lesson.Lesson, error) {
	return lesson.Lesson{}, errs.Errorf(errs.Conflict, "one more independent case is missing")
}

func (d *lessonRecorder) Retire(ctx context.Context, ref string, draft lesson.RetirementDraft) (lesson.Lesson, error) {
	d.note = draft.Reason
	return d.Lesson(ctx, ref)
}

func (d *lessonRecorder) Restore(ctx context.Context, ref, note string) (lesson.Lesson, error) {
	d.note = note
	return d.Lesson(ctx, ref)
}

func (d *lessonRecorder) Review(_ context.Context, q lesson.ReviewQuery) (lesson.Review, error) {
	d.note = fmt.Sprint(q.StaleDays, q.Domain, q.Limit)
	return lesson.Review{}, nil
}

func (d *lessonRecorder) History(_ context.Context, ref string) ([]lesson.Change, error) {
	d.ref = ref
	return nil, nil
}

func lessonServer(auth secrets) (*httpapi.Server, *lessonRecorder) {
	d := &lessonRecorder{}
	return httpapi.New(httpapi.Services{Auth: auth, Lessons: d}, httpapi.Options{}), d
}

var asJSON = map[string]string{"Content-Type": "application/json"}

const fullLesson = `{"lesson_type":"failure","domain":"docker","category":"containers","title":"Brief description",
	"context":"What was happening","action_taken":"What was tried","outcome":"What happened"`

func TestReportLesson(t *testing.T) {
	for name, c := range map[string]struct {
		body, want string
		status     int
	}{
		"required fields alone": {fullLesson + `}`, `"lesson_id":"l1"`, 200},
		"every answer of the seed": {
			fullLesson + `,"severity":"high","tags":["docker"],"source_agent":"CLAUDE_CODE"}`,
			`{"lesson_id":"l1","number":1,"status":"recorded","duplicate":false,"occurrence_count":1,"patterns_detected":2,"escalated_to":[]}`, 200,
		},
		"null for what is optional": {fullLesson + `,"root_cause":null,"solution":null,"alternatives":null,"severity":null,"tags":null,"source_agent":null,
			"related_files":null,"related_commands":null,"confidence":null}`, `"lesson_id":"l1"`, 200},
		"null for what is required":  {strings.Replace(fullLesson, `"docker"`, `null`, 1) + `}`, `"field":"domain"`, 400},
		"one that is missing":        {strings.Replace(fullLesson, `"domain":"docker",`, ``, 1) + `}`, `domain is required`, 400},
		"unknown field":              {fullLesson + `,"severty":"high"}`, `severty is no field of this request`, 400},
		"number for a text":          {fullLesson + `,"solution":7}`, `"field":"solution"`, 400},
		"text for a list":            {fullLesson + `,"tags":"docker"}`, `"field":"tags"`, 400},
		"refused by the service":     {strings.Replace(fullLesson, "Brief description", "bad", 1) + `}`, `title is bad`, 400},
		"no JSON":                    {`{"lesson_type":`, `unexpected end of JSON input`, 400},
		"not UTF-8":                  {fullLesson + ",\"solution\":\"\xff\"}", `not valid UTF-8`, 400},
		"NaN":                        {fullLesson + `,"confidence":NaN}`, `invalid character 'N'`, 400},
		"seventeen million letters":  {strings.Replace(fullLesson, "Brief", strings.Repeat("x", 17<<20), 1) + `}`, `"code":"too_large"`, 413},
		"a list where a lesson goes": {`[` + fullLesson + `}]`, `"code":"invalid"`, 400},
	} {
		t.Run(name, func(t *testing.T) {
			s, recorder := lessonServer(nil)
			w := call(s, http.MethodPost, "/lessons/report", asJSON, c.body)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("%d %s, want %d and %s", w.Code, w.Body, c.status, c.want)
			}
			if reported := len(recorder.reported); reported > 0 != (c.status == 200) {
				t.Errorf("%d lessons were reported", reported)
			}
		})
	}
}

func TestBulkLessons(t *testing.T) {
	lesson := func(title string) string { return strings.Replace(fullLesson, "Brief description", title, 1) + `}` }
	line := func(title string) string {
		return strings.ReplaceAll(strings.ReplaceAll(lesson(title), "\n", " "), "\t", "")
	}
	for name, c := range map[string]struct {
		kind, body, want string
		status           int
		stored           []string
	}{
		"a list":             {"application/json", `[` + lesson("a") + `,` + lesson("b") + `]`, `"processed":2`, 200, []string{"a", "b"}},
		"lines":              {"application/x-ndjson", line("a") + "\n\n" + line("b") + "\n", `"processed":2`, 200, []string{"a", "b"}},
		"an empty list":      {"application/json", `[]`, `{"processed":0,"results":[],"duplicates":0,"refused":[],"refused_count":0}`, 200, nil},
		"no lines":           {"application/x-ndjson", ``, `"processed":0`, 200, nil},
		"nothing":            {"application/json", ` `, `the body is empty`, 400, nil},
		"bad ones by place":  {"application/json", `[` + lesson("bad") + `,` + lesson("a") + `,{"titel":"x"},` + lesson("bad") + `,` + lesson("b") + `,7]`, `"refused":[{"index":0,"field":"title","error":"title is bad"},{"index":2,"field":"titel","error":"titel is no field of this request"},{"index":3,"field":"title","error":"title is bad"},{"index":5,"error":"the record must be an object, and is of the type number"}],"refused_count":4`, 200, []string{"a", "b"}},
		"places of the good": {"application/json", `[7,` + lesson("a") + `]`, `"results":[{"index":1,"lesson_id":"l1"`, 200, []string{"a"}},
		"null where optional": {
			"application/json", `[` + strings.TrimSuffix(lesson("a"), "}") + `,"root_cause":null,"tags":null}]`,
			`"processed":1`, 200,
			[]string{"a"},
		},
		"broken in the middle": {"application/json", `[` + lesson("a") + `,{"title":`, `the body is not finished`, 400, nil},
		"a lesson alone":       {"application/json", line("a"), `"processed":1`, 200, []string{"a"}},
		"a text":               {"application/json", `"x"`, `neither a JSON array nor`, 400, nil},
		"a body too long":      {"application/json", `[` + lesson("a") + strings.Repeat(" ", 33<<20) + `]`, `"code":"too_large"`, 413, nil},
		"too many":             {"application/x-ndjson", strings.Repeat("{}\n", 50_001), `more than 50000 lessons`, 413, nil},
	} {
		for _, path := range []string{"/lessons/bulk", "/claude-code/session-end"} {
			t.Run(name+path, func(t *testing.T) {
				s, recorder := lessonServer(nil)
				w := call(s, http.MethodPost, path, map[string]string{"Content-Type": c.kind}, c.body)
				if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) {
					t.Errorf("%d %.2000s, want %d and %s", w.Code, w.Body, c.status, c.want)
				}
				var titles []string
				for _, draft := range recorder.reported {
					titles = append(titles, draft.Title)
				}
				if !slices.Equal(titles, c.stored) {
					t.Errorf("reported %v, want %v", titles, c.stored)
				}
			})
		}
	}
}

func TestBulkLessonsThatBreakOff(t *testing.T) {
	s, recorder := lessonServer(nil)
	recorder.bulkErr = errs.Errorf(errs.StorageFull, "the disk is full")
	w := call(s, http.MethodPost, "/lessons/bulk", asJSON, `[`+fullLesson+`}]`)
	if w.Code != http.StatusInsufficientStorage || !strings.Contains(w.Body.String(), `"processed":1`) || !strings.Contains(w.Body.String(), `"code":"storage_full"`) {
		t.Errorf("%d %s: what was stored before is not told", w.Code, w.Body)
	}
	reading := secrets{"r": {AgentID: "r", Scopes: []principal.Scope{principal.ScopeRead}}}
	s, recorder = lessonServer(reading)
	w = call(s, http.MethodPost, "/lessons/bulk", map[string]string{"Content-Type": "application/json", "Authorization": "Bearer r"}, `[`+fullLesson+`}]`)
	if w.Code != http.StatusForbidden || len(recorder.reported) > 0 {
		t.Errorf("a reader: %d %s", w.Code, w.Body)
	}
}

func TestRelevantLessons(t *testing.T) {
	s, recorder := lessonServer(nil)
	w := call(s, http.MethodPost, "/query/relevant", asJSON, `{"context":"c","domain":null,"agent":null,"include_cross_domain":false,"max_results":3}`)
	var list []map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || w.Code != 200 || len(list) != 1 {
		t.Fatalf("%d %s: %v", w.Code, w.Body, err)
	}
	if l := list[0]; l["similarity"] != 0.5 || l["recency_score"] != 1.0 || l["relevance_score"] != 0.65 || l["title"] != "T" {
		t.Errorf("%v", l)
	}
	if q := recorder.query; q.Context != "c" || q.Limit != 3 || q.CrossDomain == nil || *q.CrossDomain {
		t.Errorf("asked %+v", q)
	}
	if w = call(s, http.MethodPost, "/query/relevant", asJSON, `{"context":"nothing"}`); w.Body.String() != "[]" && w.Body.String() != "[]\n" {
		t.Errorf("nothing found: %q, want an empty list", w.Body)
	}
	if recorder.query.CrossDomain != nil {
		t.Error("include_cross_domain was set and nobody said it")
	}
	if w = call(s, http.MethodPost, "/lessons/search", asJSON, `{"context":"c"}`); !strings.Contains(w.Body.String(), `"left_out":3`) {
		t.Errorf("%s", w.Body)
	}
}

func TestValidateLesson(t *testing.T) {
	confirmed, refuted := lesson.ValidationConfirmed, lesson.ValidationRefuted
	for name, c := range map[string]struct {
		query, body string
		want        lesson.ValidationDraft
		answer      string
		status      int
	}{
		"by the query":           {"?validated=true&validated_by=Damon+W.&notes=works", "", lesson.ValidationDraft{Type: confirmed, By: "Damon W.", Notes: "works"}, `"status":"validated"`, 200},
		"as Python spells it":    {"?validated=False&validated_by=a", "", lesson.ValidationDraft{Type: refuted, By: "a"}, `"status":"invalidated"`, 200},
		"as a number":            {"?validated=1&validated_by=a", "", lesson.ValidationDraft{Type: confirmed, By: "a"}, `"status":"validated"`, 200},
		"by the body":            {"", `{"validated":false,"validated_by":"a","notes":null}`, lesson.ValidationDraft{Type: refuted, By: "a"}, `"status":"invalidated"`, 200},
		"by both":                {"?validated=true&validated_by=a", `{"notes":"n"}`, lesson.ValidationDraft{Type: confirmed, By: "a", Notes: "n"}, `"status":"validated"`, 200},
		"the body outweighs":     {"?validated=true&validated_by=a", `{"validated":false}`, lesson.ValidationDraft{Type: refuted, By: "a"}, `"status":"invalidated"`, 200},
		"in more words":          {"?validation_type=outdated&validated_by=a", "", lesson.ValidationDraft{Type: "outdated", By: "a"}, `"status":"invalidated"`, 200},
		"yes, partly":            {"", `{"validated":true,"validation_type":"partial","validated_by":"a"}`, lesson.ValidationDraft{Type: "partial", By: "a"}, `"status":"validated"`, 200},
		"neither":                {"?validated_by=a", "", lesson.ValidationDraft{}, `validated is required`, 400},
		"null":                   {"", `{"validated":null,"validated_by":"a"}`, lesson.ValidationDraft{}, `validated is required`, 400},
		"no truth value":         {"?validated=maybe&validated_by=a", "", lesson.ValidationDraft{}, `validated must be true or false`, 400},
		"contrary":               {"", `{"validated":true,"validation_type":"refuted"}`, lesson.ValidationDraft{}, `says the contrary`, 400},
		"unknown in the query":   {"?validate=true", "", lesson.ValidationDraft{}, `"code":"invalid"`, 400},
		"unknown in the body":    {"", `{"valid":true}`, lesson.ValidationDraft{}, `valid is no field`, 400},
		"text for a truth value": {"", `{"validated":"true"}`, lesson.ValidationDraft{}, `"field":"validated"`, 400},
	} {
		t.Run(name, func(t *testing.T) {
			s, recorder := lessonServer(nil)
			header := map[string]string{}
			if c.body != "" {
				header = asJSON
			}
			w := call(s, http.MethodPost, "/lessons/l1/validate"+c.query, header, c.body)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.answer) || recorder.validation != c.want {
				t.Errorf("%d %s, passed on %+v; want %d, %s, %+v", w.Code, w.Body, recorder.validation, c.status, c.answer, c.want)
			}
		})
	}
}

func TestLessonRoutes(t *testing.T) {
	s, recorder := lessonServer(nil)
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		want               string
		held               func() bool
	}{
		"one":              {"GET", "/lessons/7", "", 200, `"id":"l1"`, func() bool { return recorder.ref == "7" }},
		"id with a slash":  {"GET", "/lessons/a%2Fb%25c+d", "", 200, `"id":"l1"`, func() bool { return recorder.ref == "a/b%c+d" }},
		"id like a verb":   {"GET", "/lessons/%72eview", "", 200, `"id":"l1"`, func() bool { return recorder.ref == "review" }},
		"change of such":   {"POST", "/lessons/a%2Fb/restore", `{"note":"n"}`, 200, `"id":"l1"`, func() bool { return recorder.ref == "a/b" && recorder.note == "n" }},
		"restore, no body": {"POST", "/lessons/l1/restore", "", 200, `"id":"l1"`, func() bool { return recorder.note == "" }},
		"none":             {"GET", "/lessons/none", "", 404, `"code":"not_found"`, func() bool { return true }},
		"list": {"GET", "/lessons?status=candidate,retired&min_confidence=0.5&limit=3&level=case&lesson_type=failure", "", 200, `{"lessons":[],"count":0}`, func() bool {
			return len(recorder.filter.Statuses) == 2 && recorder.filter.MinConfidence == 0.5 && recorder.filter.Limit == 3
		}},
		"list, unknown": {"GET", "/lessons?statuses=candidate", "", 400, `"code":"invalid"`, func() bool { return true }},
		"review":        {"GET", "/lessons/review?stale_days=30&domain=docker&limit=5", "", 200, `{"promotions":[],"stale":[]}`, func() bool { return recorder.note == "30docker5" || recorder.note == "30 docker 5" }},
		"edit": {"PATCH", "/lessons/l1", `{"title":"t","tags":[],"solution":null}`, 200, `"id":"l1"`, func() bool {
			return *recorder.patch.Title == "t" && len(*recorder.patch.Tags) == 0 && recorder.patch.Solution == nil
		}},
		"edit, unknown":       {"PATCH", "/lessons/l1", `{"status":"retired"}`, 400, `status is no field`, func() bool { return true }},
		"apply":               {"POST", "/lessons/1/apply", `{"outcome":"success","context":"p1"}`, 200, `{"id":"l1","applied":true,"lesson_id":1`, func() bool { return recorder.note == "p1" }},
		"promotion refused":   {"POST", "/lessons/1/promote", "", 409, `one more independent case is missing`, func() bool { return true }},
		"retire":              {"POST", "/lessons/1/retire", `{"reason":"old"}`, 200, `"id":"l1"`, func() bool { return recorder.note == "old" }},
		"retire, nothing":     {"POST", "/lessons/1/retire", `{}`, 400, `reason is required`, func() bool { return true }},
		"history":             {"GET", "/lessons/l1/history", "", 200, `{"changes":[],"count":0}`, func() bool { return recorder.ref == "l1" }},
		"wrong method":        {"DELETE", "/lessons/l1", "", 405, `"code":"invalid"`, func() bool { return true }},
		"verb that is no one": {"POST", "/lessons/l1/forget", "", 404, `"code":"not_found"`, func() bool { return true }},
	} {
		t.Run(name, func(t *testing.T) {
			header := map[string]string{}
			if c.body != "" {
				header = asJSON
			}
			w := call(s, c.method, c.path, header, c.body)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.want) || !c.held() {
				t.Errorf("%d %s (asked %+v), want %d and %s", w.Code, w.Body, recorder, c.status, c.want)
			}
		})
	}
}
