package client_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/client/clienttest"
)

// TestMemoryContract holds memories, contexts and figures to their promise over
// HTTP and a whole router: what was answered before they are asked for is in them.
func TestMemoryContract(t *testing.T) {
	as := clients(t)
	agent := func(name string) *client.Client {
		return as(principal.Principal{AgentID: name, Scopes: []principal.Scope{principal.ScopeAgent}})
	}
	ctx := t.Context()
	hades, other := agent("HADES"), agent("other")
	report := func(c *client.Client, title string, change func(*lesson.Draft)) {
		t.Helper()
		draft := lesson.Draft{
			Type: learning.LessonFailure, Domain: "docker", Category: "volumes", Title: title, Context: "it was " + title, Action: "a", Outcome: "o",
		}
		if change != nil {
			change(&draft)
		}
		if _, err := client.Send(ctx, c, lesson.Service.Report, draft); err != nil {
			t.Fatal(err)
		}
	}
	for name, memory := range map[string]func() (router.Memory, error){
		"nobody reported": func() (router.Memory, error) { return client.Send(ctx, hades, router.MemoryService.Memory, "HADES") },
		"nobody knows": func() (router.Memory, error) {
			return client.Send(ctx, hades, router.MemoryService.Memory, "no.such:agent")
		},
	} {
		if m, err := memory(); err != nil || m.LessonsCount != 0 || m.Critical == nil || m.Recent == nil || m.AntiPatterns == nil || m.LastUpdated.IsZero() {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
	report(hades, "the volume has another owner", nil)
	for i := range 30 { // each is there as soon as it was answered
		title := fmt.Sprintf("number %d of what a stranger never saw", i)
		report(other, title, func(d *lesson.Draft) {
			d.Domain, d.Severity, d.Type, d.RelatedCommands = "billing", learning.SeverityCritical, learning.LessonAntiPattern, []string{fmt.Sprintf("billctl purge-%d --all", i)}
		})
		m, err := client.Send(ctx, hades, router.MemoryService.Memory, "HADES")
		if err != nil || m.Domain != "docker" || m.LessonsCount != i+2 || len(m.Critical) != i+1 || m.Critical[0].Title != title || m.AntiPatterns[0].WhyBad != "it was "+title {
			t.Fatalf("%d: %+v, %v", i, m, err)
		}
	}
	session, err := client.Send(ctx, hades, router.MemoryService.SessionContext, router.SessionQuery{Agent: "HADES", Domains: []string{"billing", "Nothing here"}})
	if err != nil || len(session.CriticalAntiPatterns) != 30 || len(session.LastSessionLessons) != 1 || len(session.RecentFailures) != 1 ||
		len(session.DomainLessons["docker"]) != 1 || len(session.DomainLessons["billing"]) != router.TopicLessons || session.DomainLessons["nothing here"] == nil {
		t.Errorf("%+v, %v", session, err)
	}
	figures, err := client.Ask(ctx, hades, router.MemoryService.Figures)
	if err != nil || figures.Pending == 0 {
		t.Errorf("%+v, %v", figures, err)
	}
	refusals := map[string]func(ctx context.Context, m router.MemoryService) error{
		"agent": func(ctx context.Context, m router.MemoryService) error {
			_, err := m.Memory(ctx, "two words")
			return err
		},
		"domains": func(ctx context.Context, m router.MemoryService) error {
			_, err := m.SessionContext(ctx, router.SessionQuery{Domains: strings.Split(strings.Repeat("x,", router.MaxTopics)+"x", ",")})
			return err
		},
	}
	for field, ask := range refusals {
		if err := ask(ctx, clienttest.Memory{C: hades}); errs.CodeOf(err) != errs.Invalid || errs.FieldOf(err) != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestMemoryNeedsAToken holds what agents learned from those who have no token, once there is one.
func TestMemoryNeedsAToken(t *testing.T) {
	address, owner := serve(t)
	admin := dial(t, address, client.Options{Token: owner})
	if _, err := client.Send(t.Context(), admin, operational.TokenService.Issue, operational.TokenDraft{Scopes: []principal.Scope{principal.ScopeRead}}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/agent/HADES/memory", "/claude-code/context", "/lessons/stats", "/lessons", "/patterns", "/escalations", "/check/ledger", "/check/rules", "/api/lessons", "/api/stats"} {
		answer, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusUnauthorized {
			t.Errorf("%s answers %d", path, answer.StatusCode)
		}
	}
}
