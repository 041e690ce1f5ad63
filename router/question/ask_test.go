package question_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/operational/store"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/classify"
	"github.com/skillrouter/skillrouter/router/question"
	"github.com/skillrouter/skillrouter/router/routertest/fixture"
	"github.com/skillrouter/skillrouter/router/search"
)

// noon is when the questions are asked: a Wednesday.
var noon = time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)

// team is an installation with agents, tasks and findings in known states.
type team struct {
	store  *store.Store
	agents roster
	tasks  *operational.Tasks
	recon  *operational.Recon
	now    time.Time
	ids    map[string]string // of an item: how the tests call it
}

type roster []operational.Agent

func (r roster) Agents(context.Context, operational.AgentFilter) ([]operational.Agent, error) {
	return r, nil
}

// mailbag is the messages that wait: a count by agent, and those overdue.
type mailbag map[string]int

func (m mailbag) Waiting(_ context.Context, agents []string, _ time.Time) (map[string]int, error) {
	counts := map[string]int{}
	for _, a := range agents {
		counts[a] = m[a]
	}
	return counts, nil
}

func (m mailbag) Awaited(_ context.Context, from string, before, _ time.Time, _, _ int) ([]operational.Awaited, error) {
	awaited := []operational.Awaited{
		{Message: operational.Message{ID: "m1", Seq: 1, From: "captain", To: "red", Signal: "stop", CreatedAt: noon.Add(-10 * time.Minute)}, Waiting: []string{"red"}},
		{Message: operational.Message{ID: "m2", Seq: 2, From: "builder-1", Signal: "message", CreatedAt: noon.Add(-2 * time.Hour)}, Waiting: []string{"blue", "purple"}},
	}
	var old []operational.Awaited
	for _, a := range awaited {
		if a.CreatedAt.Before(before) && (from == "" || from == a.From) {
			old = append(old, a)
		}
	}
	return old, nil
}

// seeded is the team that the questions are about.
func seeded(t *testing.T) *team {
	t.Helper()
	s := &team{store: fixture.OpenStore(t), now: noon.AddDate(0, 0, -20), ids: map[string]string{}}
	clock := func() time.Time { return s.now }
	s.tasks, s.recon = operational.NewTasks(s.store, clock), operational.NewRecon(s.store, clock)
	ctx := principal.With(t.Context(), principal.Open())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, a := range []operational.Agent{
		{ID: "builder-1", State: operational.AgentOnline, Project: "router", Role: "builder", CurrentTask: "importer rewrite", LastSeen: noon.Add(-10 * time.Second)},
		{ID: "builder-2", State: operational.AgentOnline, Project: "router", Role: "builder", LastSeen: noon.Add(-20 * time.Second)},
		{ID: "red", State: operational.AgentOnline, Project: "shop", Role: "scout", CurrentTask: "security sweep", LastSeen: noon.Add(-30 * time.Second)},
		{ID: "sergeant-1", State: operational.AgentOnline, Project: "shop", Role: "sergeant", Status: "idle", LastSeen: noon.Add(-40 * time.Second)},
		{ID: "halted", State: operational.AgentOnline, Project: "shop", CurrentTask: "editing the README", ShouldStop: true, StopReason: "budget", LastSeen: noon.Add(-50 * time.Second)},
		{ID: "starter", State: operational.AgentStarting, Project: "router", LastSeen: noon.Add(-55 * time.Second)},
		{ID: "blue", State: operational.AgentStale, Project: "shop", LastSeen: noon.Add(-12 * time.Minute)},
		{ID: "purple", State: operational.AgentOffline, Project: "router", LastSeen: noon.Add(-3 * time.Hour)},
	} {
		a.StartedAt, a.CreatedAt = noon.AddDate(0, 0, -1), noon.AddDate(0, 0, -1)
		s.agents = append(s.agents, a)
		s.ids[a.ID] = a.ID
		must(s.store.CreateAgent(t.Context(), a, nil, eventlog.Event{Type: "agent.joined", Subject: a.ID, At: noon}, func(operational.AgentRecord, bool) {}))
	}
	days := func(n int) { s.now = noon.AddDate(0, 0, -n) }
	for _, d := range []operational.TaskDraft{
		{Title: "Rewrite the importer", Project: "router", AgentID: "builder-1"},
		{Title: "Fix the login form", Project: "shop", AgentID: "red"},
		{Title: "Security sweep of the shop", Project: "shop", AgentID: "red"},
		{Title: "Write the docs", Project: "router", Priority: 5},
		{Title: "Export page", Project: "shop"},
		{Title: "Migrate the database", Project: "router", AgentID: "builder-1"},
		{Title: "Deploy to staging", Project: "shop", AgentID: "red"},
		{Title: "Old chore"},
		{Title: "Upgrade the runner", Project: "router", AgentID: "blue"},
		{Title: "Clean the cache", Project: "router", AgentID: "purple"},
	} {
		if d.Title == "Export page" {
			days(1)
		}
		task, err := s.tasks.Create(ctx, d)
		must(err)
		s.ids[task.ID] = fmt.Sprint("#", task.Number)
		days(20)
	}
	forty := 40.0
	for _, step := range []struct {
		days int
		do   func() error
	}{
		{9, func() error { _, err := s.tasks.Complete(ctx, "10", operational.TaskResult{}); return err }},
		{3, func() error {
			_, err := s.tasks.Fail(ctx, "7", operational.TaskFailure{Error: "no route to the registry"})
			return err
		}},
		{3, func() error { _, err := s.tasks.Cancel(ctx, "8", operational.TaskNote{}); return err }},
		{1, func() error {
			_, err := s.tasks.Complete(ctx, "6", operational.TaskResult{Result: "moved"})
			return err
		}},
		{0, func() error {
			_, err := s.tasks.Progress(ctx, "1", operational.TaskProgress{Progress: &forty})
			return err
		}},
		{0, func() error {
			_, err := s.tasks.Progress(ctx, "3", operational.TaskProgress{Note: "ports"})
			return err
		}},
		{0, func() error {
			_, err := s.tasks.Block(ctx, "2", operational.TaskBlock{Reason: "needs approval of the captain"})
			return err
		}},
	} {
		days(step.days)
		must(step.do())
	}
	s.seedFindings(t, ctx)
	s.now = noon
	return s
}

func (s *team) seedFindings(t *testing.T, ctx context.Context) {
	t.Helper()
	for _, e := range []operational.EnvironmentDraft{{Name: "prod", Project: "shop"}, {Name: "staging", Project: "shop"}, {Name: "MSS", Kind: "repository", Project: "mss"}} {
		if _, err := s.recon.StoreEnvironment(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	s.now = noon.AddDate(0, 0, -2)
	scan, err := s.recon.StartScan(ctx, operational.ScanDraft{Environment: "prod", Scanner: "nikto", Status: operational.ScanCompleted, Summary: "12 hosts"})
	if err != nil {
		t.Fatal(err)
	}
	s.ids[scan.ID] = "nikto"
	for _, f := range []struct {
		name  string
		days  int
		draft operational.FindingDraft
		then  operational.FindingStatus
	}{
		{"f1", 2, operational.FindingDraft{Environment: "prod", Title: "SQL injection in search", Severity: operational.SeverityCritical, Location: "https://shop.example.com/search", ScanID: scan.ID}, ""},
		{"f2", 2, operational.FindingDraft{Environment: "prod", CVE: "CVE-2023-34362", Title: "MOVEit transfer", Severity: operational.SeverityHigh, Location: "10.0.4.20:8443"}, operational.FindingConfirmed},
		{"f3", 30, operational.FindingDraft{Environment: "prod", Title: "TLS 1.0 enabled", Severity: operational.SeverityLow, Location: "mail.example.com:465"}, ""},
		{"f4", 2, operational.FindingDraft{Environment: "staging", Title: "Redis without authentication", Severity: operational.SeverityHigh, Location: "10.0.9.1:6379"}, ""},
		{"f5", 30, operational.FindingDraft{Environment: "staging", Title: "XSS in the feedback form", Severity: operational.SeverityMedium, Location: "/feedback"}, operational.FindingFixed},
		{"f6", 30, operational.FindingDraft{Environment: "MSS", Title: "Secret in the git history", Severity: operational.SeverityHigh, Location: "config/prod.env:3"}, operational.FindingAccepted},
		{"f7", 0, operational.FindingDraft{Environment: "MSS", Title: "Outdated Apache on the build host", Severity: operational.SeverityMedium, Location: "build-1", Evidence: "Server: Apache/2.2.3"}, ""},
	} {
		s.now = noon.AddDate(0, 0, -f.days)
		reported, err := s.recon.Report(ctx, f.draft)
		if err != nil {
			t.Fatal(err)
		}
		s.ids[reported.ID] = f.name
		if f.then != "" {
			if _, err := s.recon.Decide(ctx, reported.ID, operational.FindingDecision{Status: f.then}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// fixedClassifier holds every question to be of one class.
type fixedClassifier classify.Classification

func (c fixedClassifier) Classify(string, []classify.Mention) classify.Classification {
	return classify.Classification(c)
}

func (s *team) router(classifier classify.Classification, memory *memory) *question.Asker {
	return s.asker(fixedClassifier(classifier), memory, mailbag{"red": 3, "blue": 1})
}

func (s *team) asker(classifier interface {
	Classify(string, []classify.Mention) classify.Classification
}, memory *memory, mail mailbag,
) *question.Asker {
	sources := question.Sources{Agents: s.agents, Tasks: s.tasks, Recon: s.recon, Mail: mail}
	if memory != nil {
		sources.Episodes = memory
	}
	return question.New(classifier, &everything{memory, s}, sources, question.Options{Now: func() time.Time { return s.now }, Names: s.store})
}

// called gives the answer's items by the names that the tests have for them.
func (s *team) called(answer router.Answer) string {
	var names []string
	for _, item := range answer.Items {
		name, ok := s.ids[item.ID]
		if !ok {
			name = item.ID
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

// memory is a small learning store for tests of the router: text is matched by words.
type memory struct {
	knowledge []knowledge.Knowledge
	episodes  []episode.Episode
}

func fits(query, text string) bool {
	for _, w := range strings.Fields(strings.ToLower(query)) {
		if len(w) > 3 && strings.Contains(strings.ToLower(text), w) {
			return true
		}
	}
	return false
}

// List implements question.Episodes.
func (m *memory) List(_ context.Context, f episode.Filter, _ string) ([]episode.Episode, string, error) {
	var list []episode.Episode
	for _, e := range m.episodes { // the tests list them the latest first
		switch {
		case f.AgentID != "" && e.AgentID != f.AgentID, f.Project != "" && e.Project != f.Project, f.SessionID != "" && e.SessionID != f.SessionID,
			!f.Since.IsZero() && e.CreatedAt.Before(f.Since), !f.Until.IsZero() && !e.CreatedAt.Before(f.Until), len(list) >= f.Limit:
			continue
		}
		list = append(list, e)
	}
	return list, "", nil
}

// everything is a search of the memory, and of the team's tasks and findings.
type everything struct {
	*memory
	team *team
}

// Search implements search.Service.
func (m *everything) Search(ctx context.Context, q search.Query) (answer search.Answer, err error) {
	add := func(hit search.Hit) {
		if hit.Relevance = 0.5; fits(q.Query, hit.Title) && (q.Project == "" || hit.Project == q.Project) && (len(q.Kinds) == 0 || slices.Contains(q.Kinds, hit.Kind)) {
			answer.Results = append(answer.Results, hit)
		}
	}
	tasks, err := m.team.tasks.List(ctx, operational.TaskFilter{Limit: operational.MaxLimit})
	if err != nil {
		return answer, err
	}
	for _, one := range tasks {
		add(search.Hit{Kind: router.KindTask, ID: one.ID, Title: one.Title, Project: one.Project})
	}
	findings, err := m.team.recon.Findings(ctx, operational.FindingFilter{Limit: operational.MaxLimit})
	if err != nil {
		return answer, err
	}
	for _, one := range findings {
		add(search.Hit{Kind: router.KindFinding, ID: one.ID, Title: router.FindingPhrase(one), Project: one.Project})
	}
	if m.memory != nil {
		for _, k := range m.knowledge {
			add(search.Hit{Kind: router.KindKnowledge, ID: k.ID, Title: k.Title, Text: k.Content, Project: k.Project})
		}
		for _, e := range m.episodes {
			add(search.Hit{Kind: router.KindEpisode, ID: e.ID, Title: e.Title, Project: e.Project, Author: e.AgentID, At: e.CreatedAt})
		}
	}
	answer.Count = len(answer.Results)
	return answer, nil
}
