package lease_test

import (
	"fmt"
	"log/slog"
	"testing"

	"github.com/skillrouter/skillrouter/comms/lease"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

// TestAnAgentHoldsNoLargePart: what keeps the others from a large part of a project is a captain's, also as a list of patterns, and
// where nobody knows the project's files.
func TestAnAgentHoldsNoLargePart(t *testing.T) {
	x := newTeam(t)
	files := []string{"README.md", "Makefile"}
	for i := range 60 {
		files = append(files, fmt.Sprintf("src/a%d.go", i), fmt.Sprintf("docs/d%d.md", i), fmt.Sprintf("web/w%d.ts", i))
	}
	for i := range 10 {
		files = append(files, fmt.Sprintf("deploy/x%d.yaml", i))
	}
	leases, err := lease.Open(t.Context(), x.store, x.presence, x.mailbox, slog.New(slog.DiscardHandler), lease.Options{Now: x.now, Files: func(folder string) []string {
		if folder == "/shop" {
			return files
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	take := func(near bool, folder string, patterns ...string) error {
		p := principal.Principal{AgentID: "eve", Scopes: []principal.Scope{principal.ScopeAgent}}
		if near {
			p = p.FromNear()
		}
		_, err := leases.Take(principal.With(t.Context(), p), operational.LeaseDraft{Project: "shop", Folder: folder, Patterns: patterns})
		return err
	}
	for _, c := range []struct {
		near     bool
		folder   string
		patterns []string
		refused  bool
	}{
		{true, "/shop", []string{"**/*.*"}, true},
		{true, "/shop", []string{"**/*a*", "**/*e*", "**/*i*", "**/*o*", "**/*u*"}, true},
		{true, "/shop", []string{"src/**"}, true}, // 60 of 192
		{true, "/shop", []string{"src/a1*.go", "docs/d1*.md", "web/w1*.ts", "src/a2*.go"}, true},
		{true, "/shop", []string{"**/*.go"}, true},
		{true, "/shop", []string{"src", "docs"}, true},
		{true, "/shop", []string{"deploy/**"}, false},
		{true, "/shop", []string{"**/*.yaml"}, false},
		{true, "/shop", []string{"src/a1.go", "README.md"}, false},
		{true, "/elsewhere", []string{"**/*.*"}, true},
		{true, "/elsewhere", []string{"**/*.go"}, true},
		{false, "/shop", []string{"**/*.go", "**/*.md"}, true}, // another machine's folder is not looked into
		{false, "/shop", []string{"*.*"}, true},
		{false, "/shop", []string{"{**/*.go,src/a.go}"}, true},
		{false, "", []string{"src/auth/**"}, false},
		{false, "", []string{"**/*_test.go"}, false},
		{false, "", []string{"go.mod"}, false},
	} {
		err := take(c.near, c.folder, c.patterns...)
		if refused := errs.CodeOf(err) == errs.Forbidden; refused != c.refused || err != nil && !refused {
			t.Errorf("%v in %q, near %v: %v", c.patterns, c.folder, c.near, err)
		}
	}
	captain := principal.With(t.Context(), principal.Principal{AgentID: "lead", Scopes: []principal.Scope{principal.ScopeCaptain}})
	if _, err := leases.Take(captain, operational.LeaseDraft{Project: "other", Patterns: []string{"**/*.*"}}); err != nil {
		t.Errorf("a captain: %v", err)
	}
}

// TestLeasesOfAToken: the sessions of one token hold together what one agent may.
func TestLeasesOfAToken(t *testing.T) {
	x := newTeam(t)
	ctx := as(t, "eve")
	refused := 0
	for i := range lease.MaxOfAgent + 10 {
		_, err := x.leases.Take(ctx, operational.LeaseDraft{AgentID: fmt.Sprintf("eve:%d", i), Project: "shop", Patterns: []string{fmt.Sprintf("f%d.go", i)}})
		if errs.CodeOf(err) == errs.RateLimited {
			refused++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if refused != 10 {
		t.Errorf("%d leases of one token are refused, want 10", refused)
	}
	if _, err := x.try("evelyn", operational.LeaseDraft{Patterns: []string{"other.go"}}); err != nil {
		t.Errorf("another agent: %v", err)
	}
}
