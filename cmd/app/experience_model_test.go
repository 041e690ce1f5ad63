package app_test

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/migrations"
)

// The seed's rules in small, written from what its clients are told, and apart
// from the code under test: no storage, no clock, one list each.
type (
	oldEpisode struct {
		ID                                                int
		Type, Server, Env, Outcome, Query                 string
		Body                                              map[string]any
		Novelty, Effectiveness, Generalizability, Utility float64
	}
	oldPattern struct {
		ID, Frequency, Applied, Succeeded int
		Kind, Text                        string
		Episodes                          []int
		Confidence, Weight                float64
	}
	oldLesson struct {
		ID, Pattern, Applied, Succeeded int
		Statement                       string
		Contexts                        []string
		Confidence                      float64
	}
	// oldServer answers requests by those rules. fault names one that it breaks on purpose.
	oldServer struct {
		fault    string
		episodes []*oldEpisode
		patterns []*oldPattern
		lessons  []*oldLesson
	}
)

type object = map[string]any

func bounded(low, x, high float64) float64 { return math.Max(low, math.Min(high, x)) }

func worth(outcome string) float64 {
	return map[string]float64{"success": 1, "partial": 0.5}[outcome]
}

func kindOf(rate float64) string {
	switch {
	case rate > 0.6:
		return "success"
	case rate < 0.4:
		return "failure"
	}
	return "correlation"
}

// rateOf is the success rate of episodes, of which a partial one is none.
func rateOf(episodes []*oldEpisode) float64 {
	good := 0.0
	for _, e := range episodes {
		if e.Outcome == "success" {
			good++
		}
	}
	return good / float64(len(episodes))
}

// of are the episodes that fit, the newest first.
func (s *oldServer) of(fits func(*oldEpisode) bool) (found []*oldEpisode) {
	for _, e := range slices.Backward(s.episodes) {
		if fits(e) {
			found = append(found, e)
		}
	}
	return found
}

func (s *oldServer) record(body object) object {
	text := func(in any, name string) string {
		o, _ := in.(object)
		t, _ := o[name].(string)
		return t
	}
	items := func(name string) float64 {
		metadata, _ := body["metadata"].(object)
		list, _ := metadata[name].([]any)
		return float64(len(list))
	}
	e := &oldEpisode{
		ID: len(s.episodes) + 1, Type: text(body, "operation_type"), Outcome: text(body, "outcome"), Server: text(body, "server_name"),
		Env: text(body["metadata"], "environment"), Query: text(body["problem"], "query"), Body: body,
	}
	before := s.of(func(o *oldEpisode) bool { return o.Type == e.Type })
	e.Novelty = 1
	if last := before[:min(len(before), 50)]; len(last) > 0 {
		alike := 0.0
		for _, o := range last {
			if o.Query == e.Query {
				alike++
			}
		}
		e.Novelty = math.Max(0.1, 1-alike/float64(len(last)))
	}
	e.Effectiveness = worth(e.Outcome)
	if q, ok := body["quality_score"].(float64); ok {
		e.Effectiveness = 0.6*worth(e.Outcome) + 0.4*q
	}
	e.Generalizability = bounded(0.1, 0.5-math.Min(0.3, items("dependencies")*0.1)+math.Min(0.2, items("triggers")*0.05)+math.Min(0.3, 0.1*math.Log(float64(len(before)+1))), 1)
	e.Utility = 0.3*e.Novelty + 0.5*e.Effectiveness + 0.2*e.Generalizability
	s.episodes = append(s.episodes, e)
	triggered := []any{}
	if p := s.gather(e.Type); p != nil {
		triggered = append(triggered, p.Text)
	}
	return object{"episode_id": e.ID, "recorded": true, "utility_score": e.Utility, "patterns_triggered": triggered}
}

// gather is the pattern of an operation type after one more episode of it.
func (s *oldServer) gather(operation string) *oldPattern {
	all := s.of(func(e *oldEpisode) bool { return e.Type == operation })
	n := float64(len(all))
	weight := rateOf(all) * math.Log(n+1)
	if n < 3 || weight < 0.3 {
		return nil
	}
	i := slices.IndexFunc(s.patterns, func(p *oldPattern) bool { return strings.HasPrefix(p.Text, operation+": ") })
	if i < 0 {
		text := fmt.Sprintf("%s: %d%% success rate over %d episodes", operation, int(math.Floor(rateOf(all)*100+0.5)), len(all))
		s.patterns = append(s.patterns, &oldPattern{ID: len(s.patterns) + 1, Kind: kindOf(rateOf(all)), Text: text, Confidence: math.Min(0.8, 0.4+weight)})
		i = len(s.patterns) - 1
	} else {
		s.patterns[i].Confidence = (s.patterns[i].Confidence + weight) / 2
		if s.fault == "a confidence ends at 1" {
			s.patterns[i].Confidence = math.Min(1, s.patterns[i].Confidence)
		}
		if s.fault == "a kind moves" {
			s.patterns[i].Kind = kindOf(rateOf(all))
		}
	}
	p := s.patterns[i]
	p.Frequency, p.Weight, p.Episodes = len(all), weight, nil
	for _, e := range all {
		p.Episodes = append(p.Episodes, e.ID)
	}
	return p
}

func (s *oldServer) learn(body object) (int, object) {
	var from []*oldEpisode
	var numbers []int
	for _, one := range body["episode_ids"].([]any) {
		numbers = append(numbers, int(one.(float64)))
	}
	for _, e := range s.episodes {
		if slices.Contains(numbers, e.ID) {
			from = append(from, e)
		}
	}
	if len(from) < 3 {
		return http.StatusBadRequest, object{"error": "too few"}
	}
	n := float64(len(from))
	var utility float64
	var places, types []string
	for _, e := range from {
		utility += e.Utility / n
		if e.Server != "" {
			places = append(places, "server:"+e.Server)
		}
		if e.Env != "" {
			places = append(places, "env:"+e.Env)
		}
		types = append(types, "operation:"+e.Type)
	}
	l := &oldLesson{
		ID: len(s.lessons) + 1, Statement: body["lesson_statement"].(string),
		Confidence: bounded(0.3, 0.4+0.3*rateOf(from)+math.Min(0.3, 0.1*math.Log(n+1))+0.2*utility, 0.9),
	}
	for _, c := range append(places, types...) {
		if !slices.Contains(l.Contexts, c) {
			l.Contexts = append(l.Contexts, c)
		}
	}
	text := body["pattern_description"].(string)
	i := slices.IndexFunc(s.patterns, func(p *oldPattern) bool { return strings.Contains(strings.ToLower(p.Text), strings.ToLower(text)) })
	if i < 0 {
		s.patterns = append(s.patterns, &oldPattern{ID: len(s.patterns) + 1, Kind: kindOf(rateOf(from)), Text: text, Confidence: l.Confidence, Weight: rateOf(from) * math.Log(n+1)})
		i = len(s.patterns) - 1
	}
	s.patterns[i].Frequency, s.patterns[i].Episodes, l.Pattern = len(from), numbers, s.patterns[i].ID
	s.lessons = append(s.lessons, l)
	return http.StatusCreated, object{"lesson_id": l.ID, "created": true, "initial_confidence": l.Confidence, "pattern_id": l.Pattern}
}

func (s *oldServer) apply(number int, outcome string) (int, object) {
	if number > len(s.lessons) {
		return http.StatusNotFound, object{"error": "not there"}
	}
	l := s.lessons[number-1]
	half := worth(outcome)
	if s.fault == "a partial success is none" && outcome == "partial" {
		half = 0
	}
	before, sum := l.Confidence, float64(l.Succeeded)+half
	l.Applied++
	rate := sum / float64(l.Applied)
	prior := math.Max(0.3, 1-math.Log(float64(l.Applied+1))/5)
	l.Confidence = bounded(0.1, prior*before+(1-prior)*(0.7*rate+0.3*worth(outcome)), 0.95)
	l.Succeeded = int(math.Floor(sum + 0.5))
	p := s.patterns[l.Pattern-1]
	if s.fault != "a pattern counts no applications" {
		p.Applied++
		if outcome == "success" {
			p.Succeeded++
		}
	}
	return http.StatusOK, object{"applied": true, "lesson_id": l.ID, "previous_confidence": before, "new_confidence": l.Confidence, "total_applications": l.Applied, "success_rate": rate}
}

func (s *oldServer) holds(operation string, context object, least float64) object {
	shown, summary := []any{}, object{"high": 0, "medium": 0, "low": 0}
	all := slices.Clone(s.lessons)
	slices.SortStableFunc(all, func(a, b *oldLesson) int { return cmp.Compare(b.Confidence, a.Confidence) })
	for _, l := range all {
		fits := l.Confidence >= least
		if operation != "" {
			heard := strings.Contains(strings.ToLower(l.Statement+"\n"+strings.Join(l.Contexts, "\n")+"\n"+s.patterns[l.Pattern-1].Text), operation)
			fits = fits && heard
		}
		if context != nil {
			fits = fits && slices.ContainsFunc(l.Contexts, func(c string) bool {
				for name, value := range context {
					if s.fault == "a server finds its own alone" && c == name+":"+fmt.Sprint(value) || s.fault != "a server finds its own alone" && strings.Contains(c, name) {
						return true
					}
				}
				return false
			})
		}
		if !fits {
			continue
		}
		level := "low"
		if l.Confidence >= 0.7 {
			level = "high"
		} else if l.Confidence >= 0.4 {
			level = "medium"
		}
		summary[level] = summary[level].(int) + 1
		shown = append(shown, l.shown())
	}
	return object{"lessons": shown, "confidence_summary": summary}
}

func (l *oldLesson) shown() object {
	return object{
		"id": l.ID, "statement": l.Statement, "pattern_id": l.Pattern, "contexts": l.Contexts, "initial_confidence": l.Confidence, "decay_constant": 0.01,
		"last_validated": 1, "times_applied": l.Applied, "times_succeeded": l.Succeeded, "created_at": 1,
	}
}

func (p *oldPattern) shown() object {
	return object{
		"id": p.ID, "pattern_type": p.Kind, "description": p.Text, "episode_ids": p.Episodes, "frequency": p.Frequency, "initial_confidence": p.Confidence,
		"decay_constant": 0.01, "last_seen": 1, "created_at": 1, "last_validated": 1, "times_applied": p.Applied, "times_succeeded": p.Succeeded, "discrimination_weight": p.Weight,
	}
}

func (s *oldServer) shownPatterns(fits func(*oldPattern) bool) []any {
	shown := []any{}
	all := slices.Clone(s.patterns)
	slices.SortFunc(all, func(a, b *oldPattern) int { return cmp.Or(cmp.Compare(b.Weight, a.Weight), b.ID-a.ID) })
	for _, p := range all {
		if fits(p) {
			shown = append(shown, p.shown())
		}
	}
	return shown
}

func (s *oldServer) recall(found []*oldEpisode, limit int, patterns []any) object {
	shown, mean := []any{}, 0.0
	found = found[:min(len(found), limit)]
	for _, e := range found {
		o := object{
			"id": e.ID, "timestamp": 1, "novelty_score": e.Novelty, "effectiveness_score": e.Effectiveness,
			"generalizability_score": e.Generalizability, "utility_score": e.Utility,
		}
		for name, value := range e.Body {
			o[name] = value
		}
		shown, mean = append(shown, o), mean+e.Utility/float64(len(found))
	}
	return object{"episodes": shown, "count": len(found), "patterns_detected": patterns, "avg_utility": mean}
}

func (s *oldServer) stats() object {
	mean, sure := 0.0, 0
	for _, e := range s.episodes {
		mean += e.Utility / float64(len(s.episodes))
	}
	for _, l := range s.lessons {
		if l.Confidence >= 0.7 {
			sure++
		}
	}
	return object{"episodes": len(s.episodes), "patterns": len(s.patterns), "lessons": len(s.lessons), "avgUtility": mean, "highConfidenceLessons": sure}
}

// asked is a request and the answer that it should have.
type asked struct {
	Method string `json:"m"`
	Path   string `json:"p"`
	Body   object `json:"b,omitempty"`
	Status int    `json:"s"`
	Answer any    `json:"j"`
}

// answer gives a request the answer that the rules say.
func (s *oldServer) answer(method, path string, body object) asked {
	a := asked{Method: method, Path: path, Body: body, Status: http.StatusOK}
	where, query, _ := strings.Cut(path, "?")
	parts := strings.Split(strings.TrimPrefix(where, "/api/"), "/")
	last := parts[len(parts)-1]
	asks := func(name string) string {
		for pair := range strings.SplitSeq(query, "&") {
			if k, v, _ := strings.Cut(pair, "="); k == name {
				return v
			}
		}
		return ""
	}
	of := func(operation, outcome string) []*oldEpisode {
		return s.of(func(e *oldEpisode) bool {
			return (operation == "" || e.Type == operation) && (outcome == "" || e.Outcome == outcome)
		})
	}
	named := func(operation string) []any {
		return s.shownPatterns(func(p *oldPattern) bool { return strings.Contains(p.Text, operation) })
	}
	kind := func(k string) []any { return s.shownPatterns(func(p *oldPattern) bool { return p.Kind == k }) }
	listed := func(patterns []any) object { return object{"patterns": patterns, "count": len(patterns)} }
	switch shape := method + " " + strings.Join(parts[:len(parts)-1], "/"); {
	case path == "/health":
		all := s.stats()
		a.Answer = object{"status": "healthy", "uptime_ms": 1, "timestamp": 1, "version": "", "server": "", "stats": object{"episodes": all["episodes"], "patterns": all["patterns"], "lessons": all["lessons"]}}
	case path == "/api/stats":
		a.Answer = s.stats()
	case path == "/api/experience":
		a.Status, a.Answer = http.StatusCreated, s.record(body)
	case where == "/api/episodes":
		limit := 50
		_, _ = fmt.Sscan(asks("limit"), &limit)
		got := s.recall(of("", ""), limit, nil)
		a.Answer = object{"episodes": got["episodes"], "count": got["count"], "total": len(s.episodes)}
	case shape == "GET episodes/type":
		a.Answer = s.recall(of(last, asks("outcome")), 50, named(last))
	case shape == "GET episodes/outcome":
		related := last
		if last == "partial" {
			related = "correlation"
		}
		a.Answer = s.recall(of(asks("type"), last), 50, kind(related))
	case path == "/api/patterns":
		a.Answer = listed(s.shownPatterns(func(*oldPattern) bool { return true }))
	case shape == "GET patterns/type":
		a.Answer = listed(kind(last))
	case shape == "GET patterns":
		n := 0
		_, _ = fmt.Sscan(last, &n)
		if n > len(s.patterns) {
			a.Status, a.Answer = http.StatusNotFound, object{"error": "not there"}
			break
		}
		a.Answer = s.patterns[n-1].shown()
	case path == "/api/lessons/learn":
		a.Status, a.Answer = s.learn(body)
	case where == "/api/lessons" || where == "/api/lessons/applicable":
		least := 0.0
		_, _ = fmt.Sscan(asks("min_confidence"), &least)
		operation := asks("operation_type")
		if o, ok := body["operation_type"].(string); ok {
			operation = o
		}
		context, _ := body["context"].(object)
		a.Answer = s.holds(operation, context, least)
	case last == "apply":
		n := 0
		_, _ = fmt.Sscan(parts[1], &n)
		a.Status, a.Answer = s.apply(n, body["outcome"].(string))
	case shape == "GET lessons":
		n := 0
		_, _ = fmt.Sscan(last, &n)
		a.Answer = s.lessons[n-1].shown()
	case path == "/api/tools/recall_by_type":
		operation := body["operation_type"].(string)
		a.Answer = object{"success": true, "result": s.recall(of(operation, ""), 50, named(operation))}
	case path == "/api/tools/record_experience":
		a.Answer = object{"success": true, "result": s.record(body)}
	case path == "/api/tools/get_lessons":
		a.Answer = object{"success": true, "result": s.holds("", nil, 0)}
	case path == "/api/tools/apply_lesson":
		_, result := s.apply(int(body["lesson_id"].(float64)), body["outcome"].(string))
		a.Answer = object{"success": true, "result": result}
	default:
		panic("no rule for " + method + " " + path)
	}
	return a
}

// onlyThere are members of which nobody can say the value beforehand.
var onlyThere = []string{"timestamp", "last_seen", "created_at", "last_validated", "uptime_ms", "version", "server", "error"}

// differences lists where an answer lacks what is wanted of it; more members are welcome.
func differences(want, got any, at string) (found []string) {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok {
			return []string{at + " is no object"}
		}
		for name, value := range want {
			have, there := object[name]
			if !there || have == nil {
				found = append(found, at+"."+name+" is not there")
			} else if !slices.Contains(onlyThere, name) {
				found = append(found, differences(value, have, at+"."+name)...)
			}
		}
		return found
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return []string{fmt.Sprintf("%s: %d wanted: %v", at, len(want), got)}
		}
		if strings.HasSuffix(at, ".patterns") || strings.HasSuffix(at, ".patterns_detected") {
			// Equal weights differ by the milliseconds of their episodes' ages: in the order of their numbers, then.
			list = slices.Clone(list)
			for i := 1; i < len(list); i++ {
				if a, b := figure(list[i-1], "discrimination_weight"), figure(list[i], "discrimination_weight"); a < b {
					found = append(found, fmt.Sprintf("%s: weight %g before %g", at, a, b))
				}
			}
			byNumber := func(a, b any) int { return cmp.Compare(figure(a, "id"), figure(b, "id")) }
			want = slices.Clone(want)
			slices.SortFunc(list, byNumber)
			slices.SortFunc(want, byNumber)
		}
		for i := range want {
			found = append(found, differences(want[i], list[i], fmt.Sprintf("%s[%d]", at, i))...)
		}
		return found
	case float64:
		if have, ok := got.(float64); !ok || math.Abs(have-want) > 1e-4 {
			return []string{fmt.Sprintf("%s is %v, not %v", at, got, want)}
		}
		return nil
	}
	if want != got {
		return []string{fmt.Sprintf("%s is %v, not %v", at, got, want)}
	}
	return nil
}

func figure(of any, name string) float64 {
	o, _ := of.(map[string]any)
	f, _ := o[name].(float64)
	return f
}

// plain is a value as JSON gives it back.
func plain(t testing.TB, v any) (out any) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// compare sends a request to the router and lists what its answer lacks.
func (s *serving) compare(t testing.TB, a asked) []string {
	t.Helper()
	body := ""
	if a.Body != nil {
		text, err := json.Marshal(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		body = string(text)
	}
	status, raw := s.do("", a.Method, a.Path, body, nil)
	if status != a.Status {
		return []string{fmt.Sprintf("status %d, not %d: %.300s", status, a.Status, raw)}
	}
	var got any
	if err := json.Unmarshal([]byte(raw), &got); err != nil {
		t.Fatal(err)
	}
	return differences(plain(t, a.Answer), got, "")
}

// chance makes requests of all kinds, of the sort that a client of the seed sends.
type chance struct {
	*rand.Rand
	round int
}

func (c chance) one(of ...string) string { return of[c.IntN(len(of))] }

func (c chance) experience() object {
	body := object{"operation_type": fmt.Sprintf("job%d%s", c.round, c.one("x", "x", "y")), "outcome": c.one("success", "failure", "partial")}
	list := func(name string) []any {
		items := []any{}
		for i := range c.IntN(6) {
			items = append(items, fmt.Sprint(name, i))
		}
		return items
	}
	if c.IntN(2) == 0 {
		body["problem"] = object{"query": c.one("why", "how", "where")}
	}
	if c.IntN(3) == 0 {
		body["solution"] = object{"tool": "lathe", "params": object{"turns": 3}, "approach": "slowly"}
	}
	if c.IntN(2) == 0 {
		metadata := object{"dependencies": list("part"), "triggers": list("bell")}
		if c.IntN(2) == 0 {
			metadata["environment"] = c.one("yard", "hall")
		}
		body["metadata"] = metadata
	}
	if c.IntN(2) == 0 {
		body["quality_score"] = []float64{0, 0.25, 0.4, 0.9, 1}[c.IntN(5)]
	}
	if c.IntN(3) == 0 {
		body["server_name"] = c.one("smith", "mason")
	}
	if c.IntN(4) == 0 {
		body["duration_ms"] = 1 + c.IntN(9000)
	}
	return body
}

// sequence lets the rules answer random requests and gives each pair to take.
func (c chance) sequence(t testing.TB, old *oldServer, rounds int, take func(a asked)) {
	ask := func(method, path string, body object) {
		var sent object
		if body != nil {
			sent = plain(t, body).(object)
		}
		take(old.answer(method, path, sent))
	}
	for c.round = range rounds {
		begin := len(old.episodes)
		for range 3 + c.IntN(9) {
			if body := c.experience(); c.IntN(5) == 0 {
				ask("POST", "/api/tools/record_experience", body)
			} else {
				ask("POST", "/api/experience", body)
			}
		}
		job := fmt.Sprintf("job%d%s", c.round, c.one("x", "y"))
		ask("GET", "/api/episodes?limit=3", nil)
		ask("GET", "/api/patterns", nil)
		ask("GET", "/api/episodes/type/"+job+c.one("", "?outcome=partial"), nil)
		ask("GET", "/api/episodes/outcome/"+c.one("success", "failure", "partial")+c.one("", "?type="+job), nil)
		ask("GET", "/api/patterns/type/"+c.one("success", "failure", "correlation"), nil)
		ask("POST", "/api/tools/recall_by_type", object{"operation_type": job})
		var numbers []any
		for n := range len(old.episodes) - begin {
			if c.IntN(2) == 0 || n < 3 {
				numbers = append(numbers, begin+n+1)
			}
		}
		c.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
		text := c.one("seen in "+job, "Seen In "+job, job+":")
		ask("POST", "/api/lessons/learn", object{"pattern_description": text, "episode_ids": numbers, "lesson_statement": fmt.Sprintf("Rule %d: measure %d times", c.round, 2+c.IntN(100))})
		lesson := len(old.lessons)
		for range c.IntN(9) {
			if outcome := c.one("success", "failure", "failure", "partial"); c.IntN(4) == 0 {
				ask("POST", "/api/tools/apply_lesson", object{"lesson_id": lesson, "outcome": outcome})
			} else {
				ask("POST", fmt.Sprintf("/api/lessons/%d/apply", lesson), object{"outcome": outcome})
			}
		}
		ask("GET", fmt.Sprintf("/api/lessons/%d", lesson), nil)
		ask("GET", fmt.Sprintf("/api/patterns/%d", old.lessons[lesson-1].Pattern), nil)
		ask("GET", "/api/lessons/applicable?operation_type="+job, nil)
		ask("POST", "/api/lessons/applicable", object{"context": []object{{"server": "mason"}, {"env": "yard"}, {"operation": 1}, {"mood": "good"}}[c.IntN(4)]})
		ask("GET", "/api/lessons?min_confidence=0.5", nil)
		ask("GET", "/api/stats", nil)
		ask("POST", "/api/experience", c.experience()) // what was learned shows its own episodes, and the type's pattern all of them
		ask("GET", "/api/episodes/type/"+job, nil)
	}
	ask("GET", "/health", nil)
	ask("GET", "/api/lessons", nil)
	ask("POST", "/api/tools/get_lessons", object{})
}

// TestExperienceAsTheOriginal sends random requests of the experience server's clients to the
// router and holds each answer to the seed's rules, as a small model of them says (O3 to O6).
func TestExperienceAsTheOriginal(t *testing.T) {
	for _, seed := range []uint64{1, 2026} {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			s := serve(t)
			agree, all := 0, 0
			chance{Rand: rand.New(rand.NewPCG(seed, 3))}.sequence(t, &oldServer{}, 15, func(a asked) {
				found := s.compare(t, a)
				if all++; len(found) == 0 {
					agree++
				} else {
					t.Errorf("%s %s %v: %s", a.Method, a.Path, a.Body, strings.Join(found, "; "))
				}
			})
			t.Logf("%d of %d answers agree", agree, all)
		})
	}
}

// TestExperienceModelTellsFaults breaks one rule of the model at a time: the comparison must see it.
func TestExperienceModelTellsFaults(t *testing.T) {
	for _, fault := range []string{
		"a partial success is none", "a confidence ends at 1", "a kind moves", "a pattern counts no applications", "a server finds its own alone",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			var right []asked
			keep := func(a asked) { a.Answer = plain(t, a.Answer); right = append(right, a) }
			chance{Rand: rand.New(rand.NewPCG(1, 3))}.sequence(t, &oldServer{}, 15, keep)
			seen, i := 0, 0
			chance{Rand: rand.New(rand.NewPCG(1, 3))}.sequence(t, &oldServer{fault: fault}, 15, func(a asked) {
				seen += len(differences(plain(t, a.Answer), right[i].Answer, ""))
				i++
			})
			if seen == 0 {
				t.Error("nobody would notice")
			}
		})
	}
}

// TestExperienceScenario replays a recorded session of a workshop: its answers
// were worked out by the rules and are kept as a client would have seen them.
// With -update they are worked out anew.
func TestExperienceScenario(t *testing.T) {
	path := filepath.Join("testdata", "experience.jsonl")
	if *update {
		var lines strings.Builder
		old := &oldServer{}
		for _, line := range workshop {
			var body object
			if line.body != "" {
				if err := json.Unmarshal([]byte(line.body), &body); err != nil {
					t.Fatal(line.body, err)
				}
			}
			text, err := json.Marshal(old.answer(line.method, line.path, body))
			if err != nil {
				t.Fatal(err)
			}
			lines.Write(append(text, '\n'))
		}
		if err := os.WriteFile(path, []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != len(workshop) {
		t.Fatalf("%d answers are kept of %d requests: run with -update", len(lines), len(workshop))
	}
	for i, line := range lines {
		var a asked
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		if found := s.compare(t, a); len(found) > 0 {
			t.Errorf("line %d, %s %s: %s", i+1, a.Method, a.Path, strings.Join(found, "; "))
		}
	}
}

// workshop is the session that TestExperienceScenario replays.
var workshop = []struct{ method, path, body string }{
	{"GET", "/health", ""},
	{"GET", "/api/stats", ""},
	{"GET", "/api/episodes", ""},
	{"GET", "/api/patterns", ""},
	{"GET", "/api/lessons", ""},
	{"POST", "/api/experience", `{"operation_type":"forge","outcome":"success","server_name":"smith","metadata":{"environment":"yard","dependencies":[],"triggers":[]}}`},
	{"POST", "/api/experience", `{"operation_type":"forge","outcome":"success","problem":{"query":"bent nail","constraints":{},"context":{"heat":900}},"solution":{"tool":"hammer","params":{"blows":7},"approach":"cold"}}`},
	{"POST", "/api/experience", `{"operation_type":"forge","outcome":"failure","problem":{"query":"bent nail"},"quality_score":0.2,"duration_ms":700,"notes":"it broke"}`},
	{"GET", "/api/episodes/type/forge", ""},
	{"POST", "/api/experience", `{"operation_type":"forge","outcome":"failure"}`},
	{"POST", "/api/experience", `{"operation_type":"forge","outcome":"failure","metadata":{"dependencies":["coal","air"],"triggers":["bell"]}}`},
	{"GET", "/api/patterns/type/success", ""}, // it was made a success, and stays one
	{"GET", "/api/patterns/type/failure", ""},
	{"POST", "/api/experience", `{"operation_type":"paint","outcome":"partial"}`},
	{"POST", "/api/experience", `{"operation_type":"paint","outcome":"partial","metadata":{"environment":"hall"}}`},
	{"POST", "/api/experience", `{"operation_type":"paint","outcome":"success"}`},
	{"GET", "/api/episodes?limit=2", ""},
	{"GET", "/api/episodes/outcome/partial?type=paint", ""},
	{"GET", "/api/episodes/outcome/failure", ""},
	{"POST", "/api/lessons/learn", `{"pattern_description":"cold iron","episode_ids":[3,1,2],"lesson_statement":"Heat the iron first"}`},
	{"POST", "/api/lessons/learn", `{"pattern_description":"paint","episode_ids":[8,7,6],"lesson_statement":"Let it dry"}`}, // found by its text
	{"POST", "/api/lessons/learn", `{"pattern_description":"two","episode_ids":[1,2],"lesson_statement":"x"}`},
	{"POST", "/api/lessons/1/apply", `{"outcome":"partial"}`},
	{"POST", "/api/lessons/1/apply", `{"outcome":"partial"}`},
	{"POST", "/api/lessons/1/apply", `{"outcome":"success"}`},
	{"GET", "/api/patterns/3", ""},
	{"GET", "/api/patterns/2", ""},
	{"GET", "/api/patterns/77", ""},
	{"POST", "/api/lessons/applicable", `{"context":{"server":"mason"}}`},
	{"POST", "/api/lessons/applicable", `{"context":{"env":"yard"},"operation_type":"paint"}`},
	{"GET", "/api/lessons/applicable?operation_type=forge", ""},
	{"POST", "/api/lessons/2/apply", `{"outcome":"failure"}`},
	{"POST", "/api/lessons/2/apply", `{"outcome":"failure"}`},
	{"POST", "/api/lessons/2/apply", `{"outcome":"failure"}`},
	{"POST", "/api/lessons/2/apply", `{"outcome":"failure"}`},
	{"POST", "/api/lessons/2/apply", `{"outcome":"failure"}`},
	{"POST", "/api/lessons/2/apply", `{"outcome":"failure"}`},
	{"POST", "/api/lessons/2/apply", `{"outcome":"failure"}`},
	{"POST", "/api/lessons/2/apply", `{"outcome":"success"}`}, // out of use by now, and applied all the same
	{"POST", "/api/lessons/99/apply", `{"outcome":"success"}`},
	{"POST", "/api/experience", `{"operation_type":"paint","outcome":"success"}`},
	{"GET", "/api/patterns", ""},
	{"GET", "/api/lessons?min_confidence=0.4", ""},
	{"POST", "/api/tools/get_lessons", `{}`},
	{"POST", "/api/tools/recall_by_type", `{"operation_type":"paint"}`},
	{"GET", "/api/stats", ""},
	{"GET", "/health", ""},
}

// TestAllPatternsAreAll makes more patterns than a page of anything else holds (O6).
func TestAllPatternsAreAll(t *testing.T) {
	s := serve(t)
	const all = 70
	for i := range all {
		for range 3 {
			s.must("", http.MethodPost, "/api/experience", fmt.Sprintf(`{"operation_type":"kind %02d","outcome":"success"}`, i), new(any))
		}
	}
	var list struct {
		Patterns []struct{ ID int }
		Count    int
		Total    int
		Next     int `json:"next_offset"`
	}
	s.must("", http.MethodGet, "/api/patterns", "", &list)
	if len(list.Patterns) != all || list.Count != all || list.Total != all || list.Next != 0 {
		t.Errorf("%d patterns, %d of %d", len(list.Patterns), list.Count, list.Total)
	}
	seen := map[int]bool{}
	for offset, pages := 0, 0; pages < 9; pages++ {
		list.Patterns, list.Next = nil, 0
		s.must("", http.MethodGet, fmt.Sprintf("/api/patterns/type/success?limit=20&offset=%d", offset), "", &list)
		for _, p := range list.Patterns {
			seen[p.ID] = true
		}
		if offset = list.Next; offset == 0 {
			break
		}
	}
	if len(seen) != all || list.Total != all {
		t.Errorf("in pages there are %d of %d", len(seen), list.Total)
	}
}

// TestPatternsOfOneTypeBecomeOne opens a database of when an operation type had a pattern of each kind.
func TestPatternsOfOneTypeBecomeOne(t *testing.T) {
	dir := t.TempDir()
	path := databasetest.Made(t, dir, "learning")
	steps, err := migrations.FS("learning", "sqlite")
	if err != nil {
		t.Fatal(err)
	}
	older, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	older.SetMaxOpenConns(1)
	back, err := goose.NewProvider(goose.DialectSQLite3, older, steps)
	if err == nil {
		_, err = back.DownTo(t.Context(), 15)
	}
	if err := errors.Join(err, older.Close()); err != nil {
		t.Fatal(err)
	}
	for i, kind := range []string{"success", "correlation", "failure"} {
		databasetest.Edit(t, path, fmt.Sprintf(`INSERT INTO patterns (id, pattern_name, pattern_type, description, operation_type, frequency, first_seen, last_seen, status, initial_confidence,
			decay_constant, confidence_at, created_at, updated_at) VALUES ('p%d', 'deploy', '%s', 'deploy is a %[2]s', 'deploy', %[3]d, 1, %[3]d, 'emerging', 0.8, 0.01, 1, 1, 1)`, i+1, kind, 10+i),
			fmt.Sprintf("INSERT INTO pattern_evidence (pattern_id, kind, ref, at) VALUES ('p%d', 'episode', '%d', 1)", i+1, 7+i))
	}
	databasetest.Edit(t, path, `INSERT INTO patterns (id, pattern_name, pattern_type, description, frequency, first_seen, last_seen, status, initial_confidence,
		decay_constant, confidence_at, created_at, updated_at) VALUES ('learned', 'l', 'success', 'a learned one', 3, 1, 1, 'emerging', 0.7, 0.01, 1, 1, 1)`)
	db, err := databasetest.OpenIn(t, dir, "learning", time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var found []struct{ ID, Status, MadeType, MadeText, MadeEpisodes string }
	if err := db.Read.Raw("SELECT id, status, made_type, made_text, made_episodes FROM patterns ORDER BY num").Scan(&found).Error; err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(found); got != "[{p1 deprecated   []} {p2 deprecated   []} {p3 emerging failure deploy is a failure [9]} {learned emerging success a learned one []}]" {
		t.Errorf("the patterns are %s", got)
	}
}
