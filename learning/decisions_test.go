package learning_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/decision"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/knowledge"
)

// deciding is a project in which people decide.
type deciding struct {
	t         *testing.T
	base      *knowledge.Base
	decisions *decision.Decisions
}

func decides(t *testing.T) deciding {
	m := open(t, t.TempDir(), time.Now)
	return deciding{t, m.knowledge, decision.New(m.knowledge, func(number int64) string { return fmt.Sprint("k", number) })}
}

func (d deciding) hear(as principal.Principal, prompt decision.Prompt) []decision.Resolution {
	d.t.Helper()
	prompt.Project = "shop"
	heard, err := d.decisions.Hear(principal.With(d.t.Context(), as), prompt)
	if err != nil {
		d.t.Fatal(err)
	}
	return heard.Resolutions
}

// holds compares what is in force, newest first.
func (d deciding) holds(want ...string) []knowledge.Knowledge {
	d.t.Helper()
	found, err := d.base.InForce(principal.With(d.t.Context(), principal.Open()), "shop")
	if err != nil {
		d.t.Fatal(err)
	}
	var got []string
	for _, e := range found {
		got = append(got, e.Title)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		d.t.Error(diff)
	}
	return found
}

// TestDecisionsStay: what a person decides stays until it is changed or taken back; changed twice, the last holds.
func TestDecisionsStay(t *testing.T) {
	d := decides(t)
	says := func(text string) []decision.Resolution {
		return d.hear(principal.Open(), decision.Prompt{Text: text, AgentID: "claude-code:red-ant", SessionID: "s1"})
	}
	if kept := says("Good morning, should we always use pnpm?"); len(kept) != 0 {
		t.Errorf("a question is kept: %+v", kept)
	}
	says("We decided to use pnpm. The lock file of npm breaks the build.")
	says("From now on use tabs in Go files. Never push to the mirror.")
	for _, e := range d.holds("Never push to the mirror.", "From now on use tabs in Go files.", "We decided to use pnpm.")[:2] {
		if e.Content != e.Title {
			t.Errorf("one of two sentences is told with the other: %+v", e)
		}
		if err := d.base.Delete(principal.With(t.Context(), principal.Open()), e.ID); err != nil {
			t.Fatal(err)
		}
	}
	says("Never push to main.")
	said := d.holds("Never push to main.", "We decided to use pnpm.")
	if pnpm := said[1]; pnpm.Category != "decision" || !pnpm.Said() || pnpm.Source != "said at a prompt of claude-code:red-ant, session s1" || pnpm.Content != "We decided to use pnpm. The lock file of npm breaks the build." || said[0].Category != "constraint" {
		t.Errorf("%+v", said)
	}
	if kept := says("please never push to main!"); len(kept) != 0 {
		t.Errorf("what is in force is kept again: %+v", kept)
	}
	if kept := says("We decided to use yarn instead of pnpm"); len(kept) != 1 || !cmp.Equal(kept[0].Instead, []string{"We decided to use pnpm."}) {
		t.Errorf("%+v", kept)
	}
	says("ok, we decided to use npm rather than yarn")
	d.holds("ok, we decided to use npm rather than yarn", "Never push to main.")
	says("You can push to main again.")
	says("We decided to use pnpm. The lock file of npm breaks the build.")
	d.holds("You can push to main again.", "We decided to use pnpm.")
	says("We decided to use npm instead of pnpm.")
	says("We decided to use pnpm instead of npm.")
	d.holds("We decided to use pnpm instead of npm.", "You can push to main again.")
	if kept := says("You may delete the branch again."); len(kept) != 0 {
		t.Errorf("what nobody forbade is taken back: %+v", kept)
	}
}

// TestDecisionsOfFolders: what is decided in one folder of a repository says nothing of another; at the root it is said of both.
func TestDecisionsOfFolders(t *testing.T) {
	d := decides(t)
	in := func(folder, text string) {
		t.Helper()
		if kept := d.hear(principal.Open(), decision.Prompt{Text: text, Place: learning.Place{Folder: folder, Branch: "v2"}}); len(kept) != 1 {
			t.Fatalf("%s: %+v", text, kept)
		}
	}
	in("packages/web", "We decided to deploy the service on Tuesday.")
	in("packages/api", "We decided to deploy the service on Friday.")
	in("packages/web2", "We decided to deploy the service on Monday.")
	if list := d.holds("We decided to deploy the service on Monday.", "We decided to deploy the service on Friday.", "We decided to deploy the service on Tuesday."); len(list) == 3 {
		if want := (learning.Place{Folder: "packages/api", Branch: "v2"}); list[1].Place != want {
			t.Errorf("it was decided in %+v", list[1].Place)
		}
	}
	in("packages/web/src", "We decided to deploy the service on Thursday.")
	d.holds("We decided to deploy the service on Thursday.", "We decided to deploy the service on Monday.", "We decided to deploy the service on Friday.")
	in("", "We decided to deploy the service on Sunday.")
	d.holds("We decided to deploy the service on Sunday.")
	if _, err := d.decisions.Hear(principal.With(t.Context(), principal.Open()), decision.Prompt{Text: "We decided to wait.", Place: learning.Place{Branch: "a\x00b"}}); errs.CodeOf(err) != errs.Invalid {
		t.Error("a branch with a NUL:", err)
	}
}

// TestDecisionsAreTakenBack: one word takes a decision back, and what it stood in the place of is in force again.
func TestDecisionsAreTakenBack(t *testing.T) {
	d := decides(t)
	ctx := principal.With(t.Context(), principal.Open())
	d.hear(principal.Open(), decision.Prompt{Text: "We decided to use pnpm."})
	kept := d.hear(principal.Open(), decision.Prompt{Text: "We decided to use yarn instead of pnpm."})
	undone, err := d.decisions.Undo(ctx, decision.Undo{Handle: kept[0].Handle, Project: "shop"})
	if err != nil || undone.Text != kept[0].Text || !cmp.Equal(undone.Instead, []string{"We decided to use pnpm."}) {
		t.Errorf("%+v, %v", undone, err)
	}
	d.holds("We decided to use pnpm.")
	if _, err := d.decisions.Undo(ctx, decision.Undo{Project: "shop"}); err != nil {
		t.Error(err)
	}
	d.holds()
	for _, handle := range []string{"", "k99", kept[0].Handle} {
		if _, err := d.decisions.Undo(ctx, decision.Undo{Handle: handle, Project: "shop"}); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("%q: %v", handle, err)
		}
	}
}

// TestWhoDecides: a prompt of a program is no person's, an agent's token vouches for no person, and changes no more than its own.
func TestWhoDecides(t *testing.T) {
	d := decides(t)
	agent := principal.Principal{AgentID: "codex", Scopes: []principal.Scope{principal.ScopeAgent}}
	d.hear(principal.Open(), decision.Prompt{Text: "We decided to use pnpm.", AgentID: "claude-code:owl"})
	d.hear(principal.Open(), decision.Prompt{Text: "Never push to main.", Unattended: true})
	d.hear(agent, decision.Prompt{Text: "Always sign commits.", AgentID: "codex:fox"})
	for i, e := range d.holds("Always sign commits.", "Never push to main.", "We decided to use pnpm.") {
		if want := i == 2; e.Said() != want || (e.Trust == learning.TrustPerson) != want {
			t.Errorf("%s is a person's: %v, %s", e.Title, e.Said(), e.Trust)
		}
	}
	if kept := d.hear(agent, decision.Prompt{Text: "We decided to use yarn instead of pnpm.", AgentID: "codex:fox"}); len(kept[0].Instead) != 0 {
		t.Errorf("an agent's token changed what it did not hear: %+v", kept)
	}
	ctx := principal.With(t.Context(), agent)
	pnpm := d.holds("We decided to use yarn instead of pnpm.", "Always sign commits.", "Never push to main.", "We decided to use pnpm.")[3]
	if _, err := d.decisions.Undo(ctx, decision.Undo{Handle: pnpm.ID, Project: "shop"}); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("an agent's token takes back what it did not hear: %v", err)
	}
	if _, err := d.decisions.Hear(ctx, decision.Prompt{Text: "Never push to main.", AgentID: "claude-code:owl", Project: "shop"}); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("an agent speaks as another: %v", err)
	}
}

// TestWhatStaysIsNotProposed: what was kept at a prompt is not proposed again at the session's end.
func TestWhatStaysIsNotProposed(t *testing.T) {
	m := open(t, t.TempDir(), time.Now)
	ctx := principal.With(t.Context(), principal.Open())
	d := deciding{t, m.knowledge, decision.New(m.knowledge, func(int64) string { return "" })}
	d.hear(principal.Open(), decision.Prompt{Text: "We decided to use pnpm."})
	c := history.NewConsolidation(m.store, history.Ports{Episodes: m.episodes, InForce: d.decisions.InForce}, history.ConsolidationOptions{})
	done, err := c.Consolidate(ctx, history.TranscriptDraft{Project: "shop", Text: "User: We decided to use pnpm. We decided to keep orders in Postgres.\nAssistant: Fine.", Ended: true})
	if err != nil || len(done.Proposals) != 1 || done.Proposals[0].Evidence[0] != "We decided to keep orders in Postgres." {
		t.Errorf("%+v, %v", done.Proposals, err)
	}
}
