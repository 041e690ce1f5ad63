package router

import (
	"slices"
	"strings"
	"testing"
	"time"

	"skillrouter/operational"
	"skillrouter/router/classify"
)

func TestReadInquiry(t *testing.T) {
	now := time.Date(2026, 11, 18, 10, 30, 0, 0, time.UTC)
	names := []named{{classify.Mention{Kind: classify.MentionAgent, Name: "Builder-2"}, "builder-2"}, {classify.Mention{Kind: classify.MentionProject, Name: "shop"}, "shop"}}
	for query, check := range map[string]func(q inquiry) bool{
		"which agents are stale or offline": func(q inquiry) bool {
			return slices.Equal(q.AgentStates, []operational.AgentState{operational.AgentStale, operational.AgentOffline}) && q.subject() == subjectAgents
		},
		"who has been silent for more than an hour": func(q inquiry) bool { return q.Older == time.Hour && q.subject() == subjectAgents },
		"tasks older than two weeks":                func(q inquiry) bool { return q.Older == 14*24*time.Hour && q.subject() == subjectTasks },
		"blocked or failed tasks": func(q inquiry) bool {
			return slices.Equal(q.TaskStatuses, []operational.TaskStatus{operational.TaskBlocked, operational.TaskFailed})
		},
		"is task number 12 done": func(q inquiry) bool {
			return slices.Equal(q.Numbers, []int64{12}) && q.Firm && q.subject() == subjectTask
		},
		"what about #3 and #4?":           func(q inquiry) bool { return slices.Equal(q.Numbers, []int64{3, 4}) && q.Firm },
		"how many retries has job 9 used": func(q inquiry) bool { return slices.Equal(q.Numbers, []int64{9}) && !q.Firm && q.Count },
		"what is Builder-2 doing": func(q inquiry) bool {
			return slices.Equal(q.Agents, []string{"builder-2"}) && q.subject() == subjectAgent
		},
		"open tasks of shop":            func(q inquiry) bool { return q.Project == "shop" && len(q.Stems) == 0 },
		"open tasks of project nowhere": func(q inquiry) bool { return len(q.Stems) == 0 },
		"unread mail":                   func(q inquiry) bool { return q.Mail && q.subject() == subjectMail },
		"who owns the export ticket":    func(q inquiry) bool { return q.subject() == subjectHolder && slices.Equal(q.Stems, []string{"export"}) },
		"status of the importer rewrite": func(q inquiry) bool {
			return q.Asked && q.subject() == subjectText && slices.Equal(q.Stems, []string{"import", "rewrit"})
		},
		"":                                 func(q inquiry) bool { return !q.stateful() && q.subject() == subjectText },
		strings.Repeat("blocked ", 10_000): func(q inquiry) bool { return len(q.TaskStatuses) == 1 },
		"task 99999999999999999999999999 is blocked": func(q inquiry) bool { return len(q.Numbers) == 0 && len(q.TaskStatuses) == 1 },
		"task -4": func(q inquiry) bool { return slices.Equal(q.Numbers, []int64{4}) }, // a dash before a number is punctuation
	} {
		var given []named
		for _, n := range names {
			if strings.Contains(strings.ToLower(query), strings.ToLower(n.Name)) {
				given = append(given, n)
			}
		}
		if q := readInquiry(query, given, now); !check(q) {
			t.Errorf("%.60q is read as %+v, subject %d", query, q, q.subject())
		}
	}
}

// TestCueTableIsReachable holds that no cue is hidden by one before it.
func TestCueTableIsReachable(t *testing.T) {
	for _, c := range cueTable() {
		for _, p := range c.phrases {
			if strings.Join(classify.Phrase(p), " ") != p {
				t.Errorf("the cue %q is never met: questions are read as %q", p, classify.Phrase(p))
			}
			var alone, read inquiry
			c.says(&alone)
			read.readCues(strings.Fields(p), nil)
			if !read.stateful() && alone.stateful() {
				t.Errorf("the cue %q says nothing", p)
			}
		}
	}
}

func FuzzReadInquiry(f *testing.F) {
	for _, seed := range []string{
		"which agents are stale?", "is task 77 claimed", "agents not seen for more than 2 hours", "project project", "for for for", "older than",
		"who's who's who's", "#", "# #1 #", "task task task 1", "not not checked in", "number of", "what is builder-2 doing",
	} {
		f.Add(seed)
	}
	now := time.Date(2026, 11, 18, 10, 30, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, query string) {
		q := readInquiry(query, []named{{classify.Mention{Kind: classify.MentionAgent, Name: "builder-2"}, "builder-2"}}, now)
		if q.Older < 0 || slices.ContainsFunc(q.Numbers, func(n int64) bool { return n <= 0 }) || len(q.Stems) > classify.MaxPhraseWords {
			t.Fatalf("%q is read as %+v", query, q)
		}
		if s := q.subject(); s < subjectText || s > subjectOverdue {
			t.Fatalf("%q has the subject %d", query, s)
		}
		readSighted(question{text: query, now: now})
	})
}
