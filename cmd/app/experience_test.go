package app_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
)

// TestExperienceClient goes through the experience server's table of endpoints as a client of
// the original does: with its paths, its fields and its integer ids.
func TestExperienceClient(t *testing.T) {
	s := serve(t)
	get := func(path string) (out map[string]any) {
		t.Helper()
		s.must("", http.MethodGet, path, "", &out)
		return out
	}
	post := func(path, body string, want int) (out map[string]any) {
		t.Helper()
		status, raw := s.do("", http.MethodPost, path, body, nil)
		if status != want {
			t.Fatalf("POST %s: %d %s", path, status, raw)
		}
		if err := json.Unmarshal([]byte(raw), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	number := func(v any) string {
		t.Helper()
		f, ok := v.(float64)
		if !ok || f <= 0 || f != math.Trunc(f) {
			t.Fatalf("%v is no integer id", v)
		}
		return fmt.Sprint(int64(f))
	}
	fields := func(what string, v any, names ...string) {
		t.Helper()
		object, _ := v.(map[string]any)
		for _, name := range names {
			if _, ok := object[name]; !ok {
				t.Errorf("%s has no %s: %v", what, name, v)
			}
		}
	}

	if h := get("/health"); h["status"] != "healthy" || h["stats"].(map[string]any)["patterns"] != 0.0 || h["stats"].(map[string]any)["lessons"] != 0.0 {
		t.Errorf("health: %v", h)
	}
	if stats := get("/api/stats"); fmt.Sprint(stats) != "map[avgUtility:0 episodes:0 highConfidenceLessons:0 lessons:0 patterns:0]" {
		t.Errorf("stats: %v", stats)
	}

	// A full experience, and what a client in Python sends of a bare one.
	first := post("/api/experience", `{"operation_type":"build","server_name":"neurogenesis","problem":{"query":"compile","constraints":{"time":5},"context":{"os":null}},
		"solution":{"tool":"make","params":{"j":4},"approach":"parallel"},"outcome":"success","metadata":{"environment":"ci","dependencies":["gcc"],"triggers":["push"]},
		"quality_score":0.9,"duration_ms":1500,"notes":"fine"}`, http.StatusCreated)
	id := number(first["episode_id"])
	if first["recorded"] != true || math.Abs(first["utility_score"].(float64)-(0.3+0.5*0.96+0.2*0.45)) > 1e-9 {
		t.Errorf("recorded %v", first)
	}
	bare := `{"operation_type":"build","server_name":null,"problem":null,"solution":null,"outcome":"success","metadata":null,"quality_score":null,"duration_ms":null,"notes":null}`
	post("/api/experience", bare, http.StatusCreated)
	third := post("/api/experience", bare, http.StatusCreated)
	if len(third["patterns_triggered"].([]any)) != 1 {
		t.Errorf("the third triggered %v", third)
	}
	post("/api/experience", `{"operation_type":"ci/c++ 100%","outcome":"failure"}`, http.StatusCreated)

	one := get("/api/episodes/" + id)
	fields("an episode", one, "id", "timestamp", "operation_type", "server_name", "problem", "solution", "outcome", "metadata", "quality_score", "duration_ms",
		"notes", "novelty_score", "effectiveness_score", "generalizability_score", "utility_score")
	if one["problem"].(map[string]any)["query"] != "compile" || one["timestamp"].(float64) < 1.6e12 {
		t.Errorf("the episode is %v", one)
	}
	for path, want := range map[string]int{
		"/api/episodes": 4, "/api/episodes?limit=2": 2, "/api/episodes?limit=2&offset=3": 1, "/api/episodes/type/build": 3, "/api/episodes/type/build?outcome=failure": 0,
		"/api/episodes/outcome/success": 3, "/api/episodes/outcome/failure?operation_type=build": 0, "/api/episodes/outcome/failure?type=build": 0, "/api/episodes/outcome/success?type=build": 3, "/api/episodes/outcome/success?limit=1": 1, "/api/episodes/type/build?offset=2": 1, "/api/episodes/type/ci%2Fc++%20100%25": 1, "/api/episodes/type/nothing": 0,
	} {
		if got := get(path); len(got["episodes"].([]any)) != want || got["count"] != float64(want) {
			t.Errorf("%s: %v", path, got)
		}
	}
	patterns := get("/api/patterns")["patterns"].([]any)
	if len(patterns) != 1 {
		t.Fatalf("patterns: %v", patterns)
	}
	fields("a pattern", patterns[0], "id", "pattern_type", "description", "episode_ids", "frequency", "last_seen", "created_at", "initial_confidence", "decay_constant",
		"last_validated", "times_applied", "times_succeeded", "discrimination_weight")
	if got := get("/api/patterns/" + number(patterns[0].(map[string]any)["id"])); got["pattern_type"] != "success" || len(got["episode_ids"].([]any)) != 3 {
		t.Errorf("the pattern is %v", got)
	}
	if a, b := get("/api/patterns/type/success"), get("/api/patterns/type/failure"); a["count"] != 1.0 || b["count"] != 0.0 {
		t.Errorf("patterns by type: %v, %v", a, b)
	}

	learned := post("/api/lessons/learn", `{"pattern_description":"parallel builds work","episode_ids":[1,2,3],"lesson_statement":"Build in parallel"}`, http.StatusCreated)
	lesson := number(learned["lesson_id"])
	if learned["created"] != true || learned["initial_confidence"] != 0.9 {
		t.Errorf("learned %v", learned)
	}
	number(learned["pattern_id"])
	post("/api/lessons/learn", `{"pattern_description":"trees","episode_ids":[2,3,4],"lesson_statement":"Begin with a clean tree"}`, http.StatusCreated)
	lessons := get("/api/lessons")
	if len(lessons["lessons"].([]any)) != 2 {
		t.Errorf("lessons: %v", lessons)
	}
	for _, l := range lessons["lessons"].([]any) {
		fields("a lesson", l, "id", "statement", "pattern_id", "contexts", "initial_confidence", "decay_constant", "last_validated", "times_applied", "times_succeeded",
			"created_at", "deprecated_at")
	}
	if l := get("/api/lessons/" + lesson); l["statement"] != "Build in parallel" || l["deprecated_at"] != nil {
		t.Errorf("the lesson is %v", l)
	}
	for name, got := range map[string]map[string]any{
		"GET":              get("/api/lessons/applicable?operation_type=build&min_confidence=0.1"),
		"GET with JSON":    get("/api/lessons/applicable?context=%7B%22operation%22%3A%22build%22%7D"),
		"GET with members": get("/api/lessons/applicable?operation=build"),
		"POST":             post("/api/lessons/applicable", `{"context":{"operation":"build"},"operation_type":null,"min_confidence":null}`, http.StatusOK),
	} {
		list := got["lessons"].([]any)
		if len(list) != 2 || list[0].(map[string]any)["statement"] != "Build in parallel" || math.Abs(list[0].(map[string]any)["current_confidence"].(float64)-0.9) > 1e-4 {
			t.Errorf("%s: %v", name, got)
		}
		if fmt.Sprint(got["confidence_summary"]) != "map[high:2 low:0 medium:0]" {
			t.Errorf("%s: %v", name, got["confidence_summary"])
		}
	}
	applied := post("/api/lessons/"+lesson+"/apply", `{"outcome":"partial","notes":null}`, http.StatusOK)
	prior := 1 - math.Log(2)/5
	want := prior*applied["previous_confidence"].(float64) + (1-prior)*(0.7*0.5+0.3*0.5)
	if applied["applied"] != true || number(applied["lesson_id"]) != lesson || applied["total_applications"] != 1.0 || applied["success_rate"] != 0.5 ||
		math.Abs(applied["new_confidence"].(float64)-want) > 1e-9 {
		t.Errorf("applied %v, want %v", applied, want)
	}
	if stats := get("/api/stats"); stats["episodes"] != 4.0 || stats["patterns"] != 3.0 || stats["lessons"] != 2.0 || stats["highConfidenceLessons"] != 2.0 {
		t.Errorf("stats: %v", stats)
	}
	if stats := get("/health")["stats"].(map[string]any); stats["episodes"] != 4.0 || stats["patterns"] != 3.0 || stats["lessons"] != 2.0 {
		t.Errorf("health: %v", stats)
	}
}

// TestExperienceRefusals holds bad input on the experience server's paths to 400 or 404 with {error}.
func TestExperienceRefusals(t *testing.T) {
	s := serve(t)
	for _, test := range []struct {
		method, path, body string
		status             int
		names              string
	}{
		{"POST", "/api/experience", `{"operation_type":"a","outcome":"great"}`, 400, "outcome"},
		{"POST", "/api/experience", `{"operation_type":"a"}`, 400, "outcome"},
		{"POST", "/api/experience", `{"operation_type":"a","outcome":null}`, 400, "outcome"},
		{"POST", "/api/experience", `{"outcome":"success"}`, 400, "operation_type"},
		{"POST", "/api/experience", `{"operation_type":" ","outcome":"success"}`, 400, "operation_type"},
		{"POST", "/api/experience", `{"operation_type":"a","outcome":"success","quality_score":1.7}`, 400, "quality_score"},
		{"POST", "/api/experience", `{"operation_type":"a","outcome":"success","quality_score":"NaN"}`, 400, "quality_score"},
		{"POST", "/api/experience", `{"operation_type":"a","outcome":"success","quality_score":NaN}`, 400, "invalid character"},
		{"POST", "/api/experience", `{"operation_type":"a","outcome":"success","duration_ms":-1}`, 400, "duration_ms"},
		{"POST", "/api/experience", `{"operation_type":"a","outcome":"success","problem":"p"}`, 400, "problem"},
		{"POST", "/api/experience", `{"operation_type":"a","outcome":"success","metadata":{"triggers":"t"}}`, 400, "triggers"},
		{"POST", "/api/experience", `{"operation_type":"a","outcome":"success","mood":"good"}`, 400, "mood"},
		{"POST", "/api/experience", `{"operation_type":"a","outcome":"success","notes":"\u0000"}`, 400, "notes"},
		{"POST", "/api/experience", "{\"operation_type\":\"a\",\"outcome\":\"success\",\"notes\":\"\xff\"}", 400, "UTF-8"},
		{"POST", "/api/experience", `{"operation_type":"a","outcome":"success","notes":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "notes"},
		{"POST", "/api/experience", `{"operation_type":"a","outcome":"success","notes":"` + strings.Repeat("x", 5<<20) + `"}`, 413, ""},
		{"POST", "/api/experience", `{"operation_type":"a","outcome":"success","problem":{"context":` + strings.Repeat(`{"a":`, 199) + `1` + strings.Repeat(`}`, 199) + `}}`, 201, ""},
		{"POST", "/api/experience", `{"operation_type":"a","outcome":"success","problem":{"context":` + strings.Repeat(`{"a":`, 200) + `1` + strings.Repeat(`}`, 200) + `}}`, 400, "nested deeper than 200"},
		{"POST", "/api/experience", `{"operation_type":"a","outcome":"success","problem":{"context":` + strings.Repeat(`{"a":`, 20000) + `1` + strings.Repeat(`}`, 20000) + `}}`, 400, ""},
		{"POST", "/api/experience", `[]`, 400, ""},
		{"POST", "/api/experience", `null`, 400, ""},
		{"POST", "/api/experience", ``, 400, ""},
		{"GET", "/api/episodes?limit=0.5", "", 400, "limit"},
		{"GET", "/api/episodes?limit=201", "", 400, "limit"},
		{"GET", "/api/episodes?offset=-1", "", 400, "offset"},
		{"GET", "/api/episodes?offset=99999999999", "", 400, "offset"},
		{"GET", "/api/episodes?page=2", "", 400, "page"},
		{"GET", "/api/episodes/abc", "", 400, "id"},
		{"GET", "/api/episodes/0", "", 400, "id"},
		{"GET", "/api/episodes/-1", "", 400, "id"},
		{"GET", "/api/episodes/1.0", "", 400, "id"},
		{"GET", "/api/episodes/99999999999999999999", "", 400, "id"},
		{"GET", "/api/episodes/4711", "", 404, "4711"},
		{"GET", "/api/episodes/outcome/great", "", 400, "outcome"},
		{"GET", "/api/episodes/type/" + strings.Repeat("x", 200), "", 400, "operation_type"},
		{"GET", "/api/patterns/4711", "", 404, "4711"},
		{"GET", "/api/patterns/x", "", 400, "id"},
		{"GET", "/api/patterns?limit=10001", "", 400, "limit"},
		{"GET", "/api/patterns?offset=-1", "", 400, "offset"},
		{"GET", "/api/lessons?limit=10001", "", 400, "limit"},
		{"GET", "/api/patterns/type/odd", "", 400, "pattern_type"},
		{"GET", "/api/lessons/4711", "", 404, ""},
		{"GET", "/api/lessons/x", "", 400, "id"},
		{"POST", "/api/lessons/4711/apply", `{"outcome":"success"}`, 404, ""},
		{"POST", "/api/lessons/x/apply", `{"outcome":"success"}`, 400, "id"},
		{"POST", "/api/lessons/1/apply", `{"outcome":"great"}`, 400, "outcome"},
		{"POST", "/api/lessons/1/apply", `{}`, 400, "outcome"},
		{"POST", "/api/lessons/applicable", `{"min_confidence":1.7}`, 400, "min_confidence"},
		{"POST", "/api/lessons/applicable", `{"context":"x"}`, 400, "context"},
		{"GET", "/api/lessons/applicable?min_confidence=NaN", "", 400, "min_confidence"},
		{"GET", "/api/lessons/applicable?context=%7B", "", 400, "context"},
		{"POST", "/api/lessons/learn", `{"pattern_description":"d","episode_ids":[1,2],"lesson_statement":"s"}`, 400, "episode_ids"},
		{"POST", "/api/lessons/learn", `{"pattern_description":"d","episode_ids":[7001,7002,7003],"lesson_statement":"s"}`, 400, "episode_ids"},
		{"POST", "/api/lessons/learn", `{"pattern_description":"d","episode_ids":["1","2","3"],"lesson_statement":"s"}`, 400, "episode_ids"},
		{"POST", "/api/lessons/learn", `{"episode_ids":[1,2,3],"lesson_statement":"s"}`, 400, "pattern_description"},
	} {
		name := test.method + " " + test.path
		status, raw := s.do("", test.method, test.path, test.body, nil)
		if status/100 == 2 && status == test.status {
			continue
		}
		var problem struct {
			Error string `json:"error"`
		}
		if err := json.Unmarshal([]byte(raw), &problem); err != nil || status != test.status || problem.Error == "" || !strings.Contains(problem.Error, test.names) {
			t.Errorf("%s %.80s: %d %.300s, want %d that names %q", name, test.body, status, raw, test.status, test.names)
		}
	}
}

// TestToolGateway calls tools over HTTP: with their arguments bare and wrapped.
func TestToolGateway(t *testing.T) {
	s := serve(t)
	var list struct {
		Tools []map[string]any `json:"tools"`
		Count int              `json:"count"`
	}
	s.must("", http.MethodGet, "/api/tools", "", &list)
	sets := map[any]int{}
	for _, tool := range list.Tools {
		if tool["name"] == "" || tool["description"] == "" || tool["inputSchema"] == nil {
			t.Errorf("listed %v", tool)
		}
		sets[tool["toolset"]]++
	}
	if list.Count != len(list.Tools) || sets["core"] < 8 || sets["experience"] != 6 {
		t.Errorf("%d tools: %v", list.Count, sets)
	}
	for _, test := range []struct {
		name, body string
		status     int
		result     string
	}{
		{"record_experience", `{"arguments":{"operation_type":"build","outcome":"success"}}`, 200, `"episode_id":1`},
		{"record_experience", `{"operation_type":"build","outcome":"success"}`, 200, `"episode_id":2`},
		{"recall_by_type", `{"operation_type":"build"}`, 200, `"count":2`},
		{"get_lessons", ``, 200, `"confidence_summary"`},
		{"get_lessons", `{"arguments":null}`, 200, `"confidence_summary"`},
		{"search_knowledge", `{"query":"x"}`, 200, `"results":[]`},
		{"record_experience", `{"operation_type":"build","outcome":"great"}`, 400, "outcome"},
		{"record_experience", `{"arguments":{"outcome":"success"}}`, 400, "operation_type is required"},
		{"record_experience", `{"arguments":[1]}`, 400, "arguments"},
		{"apply_lesson", `{"lesson_id":4711,"outcome":"success"}`, 404, ""},
		{"no_such_tool", `{}`, 404, "no_such_tool"},
	} {
		status, raw := s.do("", http.MethodPost, "/api/tools/"+test.name, test.body, nil)
		var answer struct {
			Success *bool           `json:"success"`
			Result  json.RawMessage `json:"result"`
			Error   string          `json:"error"`
		}
		err := json.Unmarshal([]byte(raw), &answer)
		text := answer.Error
		if test.status == 200 {
			text = string(answer.Result)
		}
		if err != nil || status != test.status || answer.Success == nil || *answer.Success != (test.status == 200) || !strings.Contains(text, test.result) || text == "" {
			t.Errorf("%s %s: %d %s, want %d with %s", test.name, test.body, status, raw, test.status, test.result)
		}
	}
}

// TestToolGatewayRefusals sends what is no object of arguments.
func TestToolGatewayRefusals(t *testing.T) {
	s := serve(t)
	for _, body := range []string{`[]`, `{`, `null`, `"x"`, `7`, "{\"a\":\"\xff\"}", `{"arguments":[1]}`} {
		status, raw := s.do("", http.MethodPost, "/api/tools/get_lessons", body, nil)
		var problem struct {
			Success bool   `json:"success"`
			Error   string `json:"error"`
		}
		if err := json.Unmarshal([]byte(raw), &problem); err != nil || status != 400 || problem.Error == "" || problem.Success {
			t.Errorf("%s: %d %s", body, status, raw)
		}
	}
}

// TestTraceIsAnswered checks the header of https://www.w3.org/TR/trace-context/.
func TestTraceIsAnswered(t *testing.T) {
	s := serve(t)
	for given, want := range map[string]bool{
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01": true,
		"": false,
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331":       false,
		"00-00000000000000000000000000000000-b7ad6b7169203331-01":    false,
		"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01":    false,
		"00-0AF7651916CD43DD8448EB211C80319C-B7AD6B7169203331-01":    false,
		"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01":    false,
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-ab": false,
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.app.URL()+"/api/stats", nil)
		if err != nil {
			t.Fatal(err)
		}
		if given != "" {
			r.Header.Set("traceparent", given)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		got := answer.Header.Get("traceparent")
		if !want && got != "" || want && (len(got) != 55 || got[:36] != given[:36] || got[36:52] == given[36:52] || got[52:] != given[52:]) {
			t.Errorf("%q is answered by %q", given, got)
		}
	}
}
