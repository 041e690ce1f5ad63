package app_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/router"
)

// questionsAsked is when the questions are asked: a Wednesday afternoon.
var questionsAsked = time.Date(2026, 11, 18, 15, 0, 0, 0, time.UTC)

// remembering is a call that puts something into the memory that the questions are about.
type remembering struct {
	Ago string          `json:"ago"` // how long before the questions
	Do  string          `json:"do"`  // method and path
	Say json.RawMessage `json:"say"` // {3h} stands for the time three hours after the questions
}

func (r remembering) ago(t *testing.T) time.Duration {
	ago, err := time.ParseDuration(r.Ago)
	if err != nil {
		t.Fatal(err)
	}
	return ago
}

// asking is a question with what its answer must hold. Whatever is given must hold.
type asking struct {
	Ask   string   `json:"ask"`
	First string   `json:"first"` // of the first item's title or text
	Any   []string `json:"any"`   // of the first item's title or text, one of them
	Rows  []string `json:"rows"`  // of the titles that stand first, in any order
	Kind  string   `json:"kind"`  // of the first item
	Says  string   `json:"says"`  // of the summary
}

// holds tells whether an answer is right, where what is looked for may begin so many items after the first.
func (a asking) holds(answer router.Answer, late int) bool {
	if a.Says != "" && !strings.Contains(strings.ToLower(answer.Summary), strings.ToLower(a.Says)) {
		return false
	}
	has := func(i int, part string) bool {
		return strings.Contains(strings.ToLower(itemText(answer.Items[i])), strings.ToLower(part))
	}
	wanted := append(slices.Clone(a.Any), a.Rows...)
	if a.First != "" {
		wanted = append(wanted, a.First)
	}
	if len(wanted) == 0 {
		return a.Kind == "" || len(answer.Items) > 0 && answer.Items[0].Kind == a.Kind
	}
	for i := 0; i <= late && i < len(answer.Items); i++ {
		if a.Kind != "" && answer.Items[i].Kind != a.Kind {
			continue
		}
		if len(a.Rows) == 0 && slices.ContainsFunc(wanted, func(part string) bool { return has(i, part) }) {
			return true
		}
	}
	if len(a.Rows) == 0 || len(answer.Items) < len(a.Rows) {
		return false
	}
	leading := min(len(a.Rows)+late, len(answer.Items))
	for _, part := range a.Rows {
		there := false
		for i := range leading {
			there = there || has(i, part) && (a.Kind == "" || answer.Items[i].Kind == a.Kind)
		}
		if !there {
			return false
		}
	}
	return true
}

// questioned is a router with a memory of every kind.
type questioned struct {
	*serving
	clock atomic.Int64
}

func newQuestioned(t *testing.T, memory, silent string) *questioned {
	t.Helper()
	q := new(questioned)
	q.clock.Store(questionsAsked.Add(-1000 * time.Hour).UnixNano())
	cfg := settings(t)
	cfg.Presence.StaleAfter, cfg.Presence.OfflineAfter = 5*time.Minute, time.Hour
	q.serving = serveAs(t, cfg, app.Options{Version: "test", Now: func() time.Time { return time.Unix(0, q.clock.Load()).UTC() }})
	q.issue()
	later := regexp.MustCompile(`\{(-?\d+h)\}`)
	lines := readLines[remembering](t, memory)
	slices.SortStableFunc(lines, func(a, b remembering) int { return cmp.Compare(b.ago(t), a.ago(t)) })
	for _, line := range lines {
		q.clock.Store(questionsAsked.Add(-line.ago(t)).UnixNano())
		say := later.ReplaceAllStringFunc(string(line.Say), func(span string) string {
			d, _ := time.ParseDuration(strings.Trim(span, "{}"))
			return questionsAsked.Add(d).Format(time.RFC3339)
		})
		method, path, _ := strings.Cut(line.Do, " ")
		if status, said := q.do(admin, method, path, say, nil); status >= http.StatusBadRequest {
			t.Fatalf("%s %s: %d %s", line.Do, say, status, said)
		}
	}
	q.clock.Store(questionsAsked.UnixNano())
	q.eventually(func() bool { // who was silent is stale
		_, said := q.do(admin, http.MethodGet, "/api/agents?state=online", "", nil)
		return !strings.Contains(said, silent)
	})
	return q
}

func readLines[T any](t *testing.T, name string) (list []T) {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "questions", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var one T
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			t.Fatalf("%s: %s: %v", name, lines.Text(), err)
		}
		list = append(list, one)
	}
	return list
}

// putQuestion asks over HTTP.
func (q *questioned) putQuestion(ask string) (answer router.Answer) {
	q.t.Helper()
	text, err := json.Marshal(map[string]string{"query": ask})
	if err != nil {
		q.t.Fatal(err)
	}
	q.must(admin, http.MethodPost, "/query", string(text), &answer)
	return answer
}

// measure asks every question, and returns how many answers are right at once, and among the first three.
func (q *questioned) measure(t *testing.T, list []asking) (first, three int) {
	for _, a := range list {
		answer := q.putQuestion(a.Ask)
		switch {
		case a.holds(answer, 0):
			first++
			three++
			continue
		case a.holds(answer, 2):
			three++
		}
		var titles []string
		for _, item := range answer.Items[:min(len(answer.Items), 5)] {
			titles = append(titles, fmt.Sprintf("%s %q", item.Kind, item.Title))
		}
		t.Logf("%q wants %s\n\t%s: %s\n\t%s", a.Ask, jsonOf(a), answer.QueryType, answer.Summary, strings.Join(titles, ", "))
	}
	return first, three
}

// TestQuestions asks what people ask of a memory of every kind. The bounds are what was reached. Each file was written before the
// engine was changed for it: blind.jsonl when the engine was finished, harbour.jsonl over another memory after that.
func TestQuestions(t *testing.T) {
	type asked struct {
		file         string
		first, three int
	}
	for _, world := range []struct {
		memory, silent string // who is silent for so long that it is stale
		asked          []asked
	}{
		{"memory.jsonl", "cobalt", []asked{{"sixty.jsonl", 58, 60}, {"blind.jsonl", 30, 30}, {"shop_blind.jsonl", 22, 26}}},
		{"harbour_memory.jsonl", "tern", []asked{{"harbour.jsonl", 79, 80}, {"harbour_blind.jsonl", 48, 50}}},
	} {
		q := newQuestioned(t, world.memory, world.silent)
		other := q.putQuestion("who is online")
		for _, asked := range world.asked {
			list := readLines[asking](t, asked.file)
			first, three := q.measure(t, list)
			t.Logf("%s: of %d answers %d are right at once, %d among the first three", asked.file, len(list), first, three)
			if first < asked.first || three < asked.three {
				t.Errorf("%s: %d and %d are right, and were %d and %d", asked.file, first, three, asked.first, asked.three)
			}
			// The control: an answer to another question is none to this one.
			for _, a := range list {
				if !strings.Contains(a.Ask, "online") && a.holds(other, 0) {
					t.Errorf("the agents that are online answer %q", a.Ask)
				}
			}
		}
		if world.memory == "harbour_memory.jsonl" {
			q.measureClass(t, 193)
		}
	}
}

// measureClass holds how many of the labelled questions are told to be of their class.
func (q *questioned) measureClass(t *testing.T, least int) {
	list := readLines[struct{ Query, Label string }](t, "class.jsonl")
	right := 0
	for _, one := range list {
		if answer := q.putQuestion(one.Query); string(answer.QueryType) == one.Label {
			right++
		} else {
			t.Logf("%q is taken for %s, and is %s", one.Query, answer.QueryType, one.Label)
		}
	}
	if t.Logf("class.jsonl: of %d questions %d are of the class that is told", len(list), right); right < least {
		t.Errorf("%d are of the class that is told, and %d were", right, least)
	}
}

func itemText(item router.Item) string { return item.Title + "\n" + item.Text }
