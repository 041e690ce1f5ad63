package question

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/classify"
)

// namer counts how often it is asked.
type namer struct {
	names operational.Names
	err   error
	asked int
}

func (n *namer) Names(context.Context, int) (operational.Names, error) {
	n.asked++
	return n.names, n.err
}

func storedNames() operational.Names {
	return operational.Names{
		Agents: []string{"builder-2", "red", "the"}, Projects: []string{"shop"}, Environments: []string{"MSS", "web server"},
		CVEs: []string{"CVE-2023-34362"}, Findings: []string{"SQL injection in search", "XSS"},
		Tasks: []operational.TaskName{{Number: 77, Title: "Rewrite the importer"}, {Number: 5, Title: "Cleanup"}},
	}
}

func TestNamesInQuestions(t *testing.T) {
	n := &names{source: &namer{names: storedNames()}, now: time.Now}
	for query, want := range map[string]string{
		"What is Builder-2's task?":              "agent builder-2",
		"is task 77 claimed":                     "task 77=77",
		"job 77, #5 and #6":                      "task 77=77 task #5=5",
		"rewrite the importer now":               "task rewrite the importer=77",
		"vulnerabilities in mss":                 "environment mss",
		"open ports on the Web Server":           "environment web server",
		"are we exposed to cve-2023-34362?":      "cve cve-2023-34362",
		"the SQL injection in search, again":     "finding sql injection in search",
		"cleanup of xss":                         "", // one word is no title
		"red and red and builder-2 in shop":      "agent red agent builder-2 project shop",
		"the redder the better":                  "",
		"":                                       "",
		strings.Repeat("nothing ", 2000) + "red": "", // what is asked stands in a sentence
	} {
		found, err := n.in(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range found {
			s := f.Kind + " " + f.Name
			if f.Kind == classify.MentionTask {
				s += "=" + f.Stored
			}
			got = append(got, s)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%.60q names %q, want %q", query, strings.Join(got, " "), want)
		}
	}
}

func TestNamesAreBounded(t *testing.T) {
	var many operational.Names
	for i := range 100 {
		many.Agents = append(many.Agents, fmt.Sprint("agent-", i))
	}
	n := &names{source: &namer{names: many}, now: time.Now}
	found, err := n.in(t.Context(), strings.Join(many.Agents, " "))
	if err != nil || len(found) != classify.MaxMentions {
		t.Errorf("%d names were found, error %v", len(found), err)
	}
}

func TestNamesAreReadAgain(t *testing.T) {
	source := &namer{names: storedNames()}
	now := time.Date(2026, 11, 18, 10, 0, 0, 0, time.UTC)
	n := &names{source: source, now: func() time.Time { return now }}
	look := func(want int, why string) {
		t.Helper()
		if _, err := n.in(t.Context(), "red"); err != nil || source.asked != want {
			t.Errorf("%s: the store was read %d times, want %d; error %v", why, source.asked, want, err)
		}
	}
	look(1, "at first")
	look(1, "right after")
	now = now.Add(namesFor)
	look(2, "a while after")
	source.err = errors.New("down")
	now = now.Add(namesFor)
	look(3, "the store is down, and the old names serve")
}
