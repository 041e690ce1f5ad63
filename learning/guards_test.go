package learning_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/learningtest"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// guards is a guard on a database of its own.
type guards struct {
	*guard.Guards
	memory
	now *time.Time
}

func openGuards(t *testing.T) guards {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	g := guards{memory: open(t, t.TempDir(), func() time.Time { return now }), now: &now}
	g.Guards = g.again(t)
	return g
}

// again is another guard on the same database, as after a restart.
func (g guards) again(t *testing.T) *guard.Guards {
	made := guard.NewGuards(t.Context(), g.store, guard.GuardsOptions{Options: learning.Options{Now: func() time.Time { return *g.now }}, Retention: 90 * 24 * time.Hour})
	if err := made.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return made
}

func antiPattern(id, title string, commands ...string) lesson.Lesson {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	return lesson.Lesson{
		ID: id, Type: learning.LessonAntiPattern, Domain: "infrastructure", Category: "cache", Title: title, Context: "It was rebuilt for a week", Action: "wiped it",
		Outcome: "BLOCKED", RelatedCommands: commands, Severity: learning.SeverityCritical, Trust: learning.TrustAgent, Level: lesson.LevelCase,
		Status: lesson.StatusCandidate, Transferability: 3, Belief: lesson.Belief{InitialConfidence: 1, DecayConstant: 0.01, ConfidenceAt: at},
		LastOccurred: at, CreatedAt: at, UpdatedAt: at,
	}
}

// report stores lessons as lesson.Service would, as far as the guard sees it.
func (g guards) report(t *testing.T, force bool, lessons ...lesson.Lesson) {
	t.Helper()
	for _, l := range lessons {
		if _, err := g.CheckRule(t.Context(), l, force); err != nil {
			t.Fatal(err)
		}
		err := g.store.Change(t.Context(), func(tx lesson.PipelineTx) error {
			return tx.InsertLesson(&l, learning.Fingerprint{})
		}, func() { g.KeepRules(l) })()
		if err != nil {
			t.Fatal(err)
		}
	}
}

func asAgent(t *testing.T, agent string, scopes ...principal.Scope) context.Context {
	if len(scopes) == 0 {
		scopes = []principal.Scope{principal.ScopeAgent}
	}
	return principal.With(t.Context(), principal.Principal{AgentID: agent, Scopes: scopes})
}

func (g guards) check(t *testing.T, agent, command string) guard.Checked {
	t.Helper()
	c, err := g.Check(asAgent(t, agent), rule.Action{Command: command, Context: "work", Domain: "infrastructure"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// override checks as the agent and says that it was done all the same.
func (g guards) override(t *testing.T, agent, command string, result learning.Result) guard.Settled {
	t.Helper()
	c := g.check(t, agent, command)
	s, err := g.Outcome(asAgent(t, agent), guard.OutcomeDraft{CheckID: c.CheckID, Outcome: lesson.OutcomeOverridden, Result: result})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (g guards) rule(t *testing.T, id string) guard.Rule {
	t.Helper()
	r, err := g.Rule(asAgent(t, "reader", principal.ScopeRead), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestGuardsFollowLessons(t *testing.T) {
	g := openGuards(t)
	if got := g.check(t, "a", "cachectl wipe --all").Decision; got != rule.DecisionAllow {
		t.Fatal(got)
	}
	l := antiPattern("l1", "Never wipe the cache", "cachectl wipe --all")
	l.Alternatives, l.Solution = []string{"cachectl expire"}, "Let it age"
	g.report(t, false, l)
	c := g.check(t, "a", "sudo cachectl --all wipe")
	if !c.Blocked || c.Decision != rule.DecisionBlock || len(c.Matches) != 1 || c.Matches[0].RuleID != "l1" || c.CheckID == "" ||
		fmt.Sprint(c.Alternatives) != "[cachectl expire Let it age]" || c.Warnings[0] != "⚠️ Never wipe the cache: It was rebuilt for a week" || fmt.Sprint(c.Lanes) != "[deterministic]" {
		t.Errorf("%+v", c)
	}
	edited := l
	edited.RelatedCommands = []string{"cachectl drop"}
	g.KeepRules(edited)
	if g.check(t, "a", "cachectl wipe --all").Blocked || !g.check(t, "a", "cachectl drop").Blocked {
		t.Error("an edit of the lesson is no edit of the rule")
	}
	retired := edited
	retired.Status = lesson.StatusRetired
	g.KeepRules(retired)
	if g.check(t, "a", "cachectl drop").Blocked {
		t.Error("the rule of a retired lesson blocks")
	}
	again := guards{g.again(t), g.memory, g.now}
	rules := func(g guards) int {
		page, err := g.Rules(asAgent(t, "a"), guard.RuleFilter{})
		if err != nil {
			t.Fatal(err)
		}
		return page.Total
	}
	if !again.check(t, "a", "cachectl wipe --all").Blocked || rules(again) != rules(g)+1 {
		t.Error("the rule is not there after a restart")
	}
}

func TestGuardsRefuseRules(t *testing.T) {
	g := openGuards(t)
	for name, c := range map[string]struct {
		change func(l *lesson.Lesson)
		field  string // "" is kept
		note   string
	}{
		"a broken pattern":       {func(l *lesson.Lesson) { l.TriggerPattern = "(a" }, "trigger_pattern", ""},
		"a costly pattern":       {func(l *lesson.Lesson) { l.TriggerPattern = strings.Repeat("(a?|b?){60}", 76) + "c{1,3}" }, "trigger_pattern", ""},
		"a pattern for all":      {func(l *lesson.Lesson) { l.TriggerPattern = ".*" }, "trigger_pattern", ""},
		"prose":                  {func(l *lesson.Lesson) { l.RelatedCommands = nil }, "", "can only warn"},
		"a command that is none": {func(l *lesson.Lesson) { l.RelatedCommands = append(l.RelatedCommands, "git") }, "", `"git" is no trigger`},
		"all of a program":       {func(l *lesson.Lesson) { l.RelatedCommands = append(l.RelatedCommands, "git …") }, "", `"git …" is no trigger`},
		"commands for all": {func(l *lesson.Lesson) {
			l.RelatedCommands = []string{"ls -la", "cat README.md", "git status", "git diff", "git log --oneline -5", "grep -rn main .", "docker ps", "kubectl get pods"}
		}, "", "no rule is made of it"},
		"nothing to recognise by": {func(l *lesson.Lesson) { l.RelatedCommands, l.Title = nil, "Never" }, "", "nothing to recognise"},
	} {
		t.Run(name, func(t *testing.T) {
			l := antiPattern("l1", "Never wipe the cache", "cachectl wipe --all")
			c.change(&l)
			notes, err := g.CheckRule(t.Context(), l, false)
			if errs.FieldOf(err) != c.field || (err == nil) != (c.field == "") {
				t.Errorf("field %q: %v", errs.FieldOf(err), err)
			}
			if err == nil && !strings.Contains(strings.Join(notes, "; "), c.note) {
				t.Errorf("notes %q", notes)
			}
		})
	}
}

// TestGuardsForcedRuleStays: that a rule was forced is known after a restart.
func TestGuardsForcedRuleStays(t *testing.T) {
	g := openGuards(t)
	l := antiPattern("l1", "Never use git here at all", "git")
	g.report(t, true, l)
	again := guards{g.again(t), g.memory, g.now}
	for name, g := range map[string]guards{"at once": g, "after a restart": again} {
		if !g.check(t, "a", "git push").Blocked || !g.rule(t, "l1").Forced {
			t.Errorf("%s: %+v", name, g.rule(t, "l1"))
		}
	}
}

func TestGuardsDemote(t *testing.T) {
	g := openGuards(t)
	g.report(t, false, antiPattern("l1", "Never wipe the cache", "cachectl wipe --all"))
	for range 5 {
		if s := g.override(t, "a", "cachectl wipe --all", learning.ResultSuccess); s.Rules[0].Demoted {
			t.Fatalf("one agent alone demoted a critical rule: %+v", s)
		}
	}
	before := g.rule(t, "l1")
	if before.Confidence >= lesson.DemotionConfidence || before.Demoted || !before.Blocks || before.TimesTriggered != 5 || before.OverriddenSuccess != 5 || before.Precision >= 0.8 {
		t.Fatalf("%+v", before)
	}
	s := g.override(t, "b", "cachectl wipe --all", learning.ResultSuccess)
	if len(s.Rules) != 1 || !s.Rules[0].Demoted {
		t.Fatalf("%+v", s)
	}
	after := g.rule(t, "l1")
	if !after.Demoted || after.Blocks || after.DemotedAt == nil || after.DemotedReason == "" || g.check(t, "a", "cachectl wipe --all").Decision != rule.DecisionWarn {
		t.Errorf("%+v", after)
	}
	restarted := guards{g.again(t), g.memory, g.now}
	if restarted.check(t, "a", "cachectl wipe --all").Decision != rule.DecisionWarn || !restarted.rule(t, "l1").Demoted {
		t.Error("the demotion is forgotten after a restart")
	}
	// It is said: in the history, and by an event that escalates it.
	changes, err := g.store.LessonChanges(t.Context(), "l1", 100)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, c := range changes {
		kinds[c.Kind]++
	}
	if kinds["overridden"] < 3 || kinds["demoted"] != 1 {
		t.Errorf("history %v", kinds)
	}
	events, err := g.store.Events(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, e := range events {
		if e.Type == lesson.EventRuleDemoted {
			var data lesson.Event
			if err := json.Unmarshal(e.Data, &data); err != nil || len(data.Escalate) != 1 || data.Escalate[0].To != "captain" || data.Escalate[0].Priority != learning.SeverityCritical || e.Subject != "l1" {
				t.Errorf("%v %s", err, e.Data)
			}
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
	// What its lesson says may change; that it is demoted stays.
	edited := antiPattern("l1", "Never wipe the cache", "cachectl wipe --all", "cachectl drop")
	g.KeepRules(edited)
	if g.check(t, "a", "cachectl drop").Decision != rule.DecisionWarn {
		t.Error("an edit took the demotion away")
	}
	// Nor is it taken away by retiring the lesson and restoring it, now or after a restart.
	edited.Status = lesson.StatusRetired
	g.KeepRules(edited)
	edited.Status = lesson.StatusCandidate
	if g.KeepRules(edited); g.check(t, "a", "cachectl drop").Decision != rule.DecisionWarn || !g.rule(t, "l1").Demoted {
		t.Error("a retirement took the demotion away")
	}
	// A captain lets it block again.
	if _, err := g.RestoreRule(asAgent(t, "a"), "l1", guard.RestorationDraft{}); errs.CodeOf(err) != errs.Forbidden {
		t.Error(err)
	}
	r, err := g.RestoreRule(asAgent(t, "boss", principal.ScopeCaptain), "l1", guard.RestorationDraft{Notes: "the cache is back"})
	if err != nil || r.Demoted || !r.Blocks || !g.check(t, "a", "cachectl drop").Blocked {
		t.Errorf("%+v %v", r, err)
	}
}

func TestGuardsDemoteByCaptain(t *testing.T) {
	g := openGuards(t)
	g.report(t, false, antiPattern("l1", "Never wipe the cache", "cachectl wipe --all"))
	for i := range 3 {
		c := g.check(t, "a", "cachectl wipe --all")
		s, err := g.Outcome(asAgent(t, "boss", principal.ScopeCaptain), guard.OutcomeDraft{CheckID: c.CheckID, Outcome: lesson.OutcomeOverridden, Result: learning.ResultSuccess})
		if err != nil || s.Rules[0].Demoted != (i == 2) {
			t.Fatalf("%d: %+v %v", i, s, err)
		}
	}
}

func TestGuardsDemoteBuiltins(t *testing.T) {
	g := openGuards(t)
	if _, err := g.SetPacks(asAgent(t, "boss", principal.ScopeCaptain), guard.PackDraft{Names: []string{"core"}, Mode: rule.ModeOff}); err != nil {
		t.Fatal(err) // it would block the same
	}
	for i := range 4 {
		g.override(t, fmt.Sprint("agent", i), "rm -rf /data", learning.ResultSuccess)
	}
	r := g.rule(t, "builtin:data-directories")
	if !r.Demoted || r.Confidence >= lesson.DemotionConfidence {
		t.Errorf("%+v", r)
	}
	again := guards{g.again(t), g.memory, g.now}
	if again.check(t, "a", "rm -rf /data").Decision != rule.DecisionWarn || again.rule(t, r.ID).Confidence != r.Confidence {
		t.Errorf("after a restart: %+v", again.rule(t, r.ID))
	}
}

// TestGuardsWarnOfLowSeverity: a rule of low severity only warns where its pack blocks, in the service as in the copy for hooks.
func TestGuardsWarnOfLowSeverity(t *testing.T) {
	g := openGuards(t)
	if _, err := g.SetPacks(asAgent(t, "boss", principal.ScopeCaptain), guard.PackDraft{Names: []string{"core"}, Mode: rule.ModeBlock}); err != nil {
		t.Fatal(err)
	}
	const low = "pack:core:git.file"
	if c := g.check(t, "a", "git checkout -- README.md"); c.Decision != rule.DecisionWarn || g.rule(t, low).Blocks || g.rule(t, low).Demoted {
		t.Errorf("%+v, %+v", c, g.rule(t, low))
	}
	if c := g.check(t, "a", "git reset --hard HEAD~3"); !c.Blocked {
		t.Errorf("its pack does not block: %+v", c)
	}
}

// TestGuardsKeepPacks: what was said of packs in projects holds after a restart and in the copy for hooks; what was said of a pack
// that this version does not have keeps no other from being used.
func TestGuardsKeepPacks(t *testing.T) {
	g := openGuards(t)
	boss := asAgent(t, "boss", principal.ScopeCaptain)
	for _, err := range []error{
		second(g.SetPacks(boss, guard.PackDraft{Names: []string{"docker"}, Mode: rule.ModeBlock, Project: "infra"})),
		g.store.Change(t.Context(), func(tx lesson.PipelineTx) error {
			return tx.PutPackState(lesson.PackState{Name: "later", Mode: rule.ModeBlock})
		}, nil)(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	again := guards{g.again(t), g.memory, g.now}
	list, err := again.Packs(boss, guard.PackFilter{Project: "infra"})
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]guard.Pack{}
	for _, p := range list.Packs {
		shown[p.Name] = p
	}
	if _, later := shown["later"]; shown["docker"].Mode != rule.ModeBlock || later {
		t.Errorf("%+v", list)
	}
	copied := again.Copy()
	if copied.Packs["docker"] != rule.ModeOff || copied.Projects["docker"]["infra"] != rule.ModeBlock || len(copied.Rules) > 0 {
		t.Errorf("%+v", copied)
	}
}

// TestGuardsNameWhatNobodyLifts: what somebody reported of a command does not hide what a pack says of another one, nor
// what decides who may allow the action.
func TestGuardsNameWhatNobodyLifts(t *testing.T) {
	g := openGuards(t)
	g.report(t, false, antiPattern("l1", "Never remove the home", "rm -rf ~/"), antiPattern("l2", "Never approve", "skillrouter check approve NAME"), antiPattern("l3", "Never reset", "git reset --hard"))
	for command, want := range map[string][]string{
		"rm -rf ~/":                     {"l1", "pack:core:files.root"},
		"skillrouter check approve abc": {"l2", "pack:core:guard.approve"},
		"git reset --hard":              {"l3"},
		"git reset --hard; git push -f": {"l3", "pack:core:git.publish"},
	} {
		var got []string
		for _, m := range g.check(t, "a", command).Matches {
			if m.Blocks {
				got = append(got, m.RuleID)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}

func TestGuardsOutcomeOnce(t *testing.T) {
	g := openGuards(t)
	g.report(t, false, antiPattern("l1", "Never wipe the cache", "cachectl wipe --all"))
	c := g.check(t, "a", "cachectl wipe --all")
	say := func(ctx context.Context, o lesson.Outcome, r learning.Result) (guard.Settled, error) {
		return g.Outcome(ctx, guard.OutcomeDraft{CheckID: c.CheckID, Outcome: o, Result: r})
	}
	if _, err := say(asAgent(t, "b"), lesson.OutcomeOverridden, ""); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("another agent: %v", err)
	}
	if s, err := say(asAgent(t, "a"), lesson.OutcomeOverridden, ""); err != nil || s.Duplicate {
		t.Errorf("%+v %v", s, err)
	}
	if s, err := say(asAgent(t, "a"), lesson.OutcomeOverridden, learning.ResultFailure); err != nil || s.Duplicate || len(s.Rules) != 1 {
		t.Errorf("its result: %+v %v", s, err)
	}
	if s, err := say(asAgent(t, "a"), lesson.OutcomeOverridden, learning.ResultFailure); err != nil || !s.Duplicate {
		t.Errorf("again: %+v %v", s, err)
	}
	if s, err := say(asAgent(t, "a"), lesson.OutcomeOverridden, ""); err != nil || !s.Duplicate || s.Result != learning.ResultFailure {
		t.Errorf("again without the result: %+v %v", s, err)
	}
	for _, o := range []lesson.Outcome{lesson.OutcomeHeeded, lesson.OutcomeOverridden} {
		if _, err := say(asAgent(t, "a"), o, learning.ResultSuccess); errs.CodeOf(err) != errs.Conflict {
			t.Errorf("another outcome: %v", err)
		}
	}
	if r := g.rule(t, "l1"); r.Overridden != 1 || r.OverriddenFailure != 1 || r.Heeded != 0 || r.Precision <= 0.8 {
		t.Errorf("%+v", r)
	}
}

func TestGuardsLedger(t *testing.T) {
	g := openGuards(t)
	g.report(t, false, antiPattern("l1", "Never wipe the cache", "cachectl wipe --all"))
	g.check(t, "a", "ls")
	g.check(t, "b", "cachectl wipe --all # password=hunter2hunter2")
	long := g.check(t, "a", "echo "+strings.Repeat("€", 3000)+"\x01\xff")
	page, err := g.Ledger(captainly(t), lesson.LedgerFilter{})
	if err != nil || page.Count != 3 || page.Next != "" {
		t.Fatalf("%+v %v", page, err)
	}
	texts := map[rule.Decision]string{}
	for _, c := range page.Checks {
		texts[c.Decision] += c.Action
		if len(c.Action) > guard.MaxRecorded {
			t.Errorf("%d bytes are kept", len(c.Action))
		}
	}
	if strings.Contains(texts[rule.DecisionBlock], "hunter2") || !strings.Contains(texts[rule.DecisionBlock], "cachectl wipe") {
		t.Errorf("%q", texts)
	}
	if s, err := g.Outcome(asAgent(t, "a"), guard.OutcomeDraft{CheckID: long.CheckID, Outcome: lesson.OutcomeHeeded}); err != nil || len(s.Rules) != 0 {
		t.Errorf("of a check that found nothing: %+v %v", s, err)
	}
	for name, c := range map[string]struct {
		filter lesson.LedgerFilter
		want   int
	}{
		"agent":    {lesson.LedgerFilter{Agent: "a"}, 2},
		"rule":     {lesson.LedgerFilter{RuleID: "l1"}, 1},
		"decision": {lesson.LedgerFilter{Decision: rule.DecisionAllow}, 2},
		"outcome":  {lesson.LedgerFilter{Outcome: lesson.OutcomeHeeded}, 1},
		"since":    {lesson.LedgerFilter{Since: g.now.Add(time.Hour)}, 0},
	} {
		if page, err := g.Ledger(asAgent(t, "a"), c.filter); err != nil || page.Count != c.want {
			t.Errorf("%s: %+v %v", name, page, err)
		}
	}
	first, err := g.Ledger(asAgent(t, "a"), lesson.LedgerFilter{Limit: 2})
	if err != nil || first.Count != 2 || first.Next == "" {
		t.Fatalf("%+v %v", first, err)
	}
	if rest, err := g.Ledger(asAgent(t, "a"), lesson.LedgerFilter{Limit: 2, Cursor: first.Next}); err != nil || rest.Count != 1 || rest.Next != "" {
		t.Errorf("%+v %v", rest, err)
	}
}

// TestGuardsSweep: checks are kept for the retention, and no longer; what the rules counted stays.
func TestGuardsSweep(t *testing.T) {
	g := openGuards(t)
	for range 3 {
		g.check(t, "a", "rm -rf /data")
	}
	*g.now = g.now.Add(89 * 24 * time.Hour)
	g.check(t, "a", "rm -rf /data")
	*g.now = g.now.Add(2 * 24 * time.Hour)
	if _, err := g.Ledger(asAgent(t, "a"), lesson.LedgerFilter{}); err != nil { // which writes what waits: checks are written behind their verdicts
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	swept := make(chan error)
	go func() { swept <- g.Run(ctx) }()
	for { // it sweeps when it starts
		page, err := g.Ledger(asAgent(t, "a"), lesson.LedgerFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if page.Count == 1 {
			break
		}
	}
	stop()
	if err := <-swept; err != nil {
		t.Error(err)
	}
	if r := g.rule(t, "builtin:data-directories"); r.TimesTriggered != 4 || r.LastTriggered == nil {
		t.Errorf("%+v", r)
	}
}

// fullDisk is a store that nothing can be written to.
type fullDisk struct{ lesson.PipelineStore }

func (fullDisk) Change(context.Context, func(lesson.PipelineTx) error, func()) func() error {
	return func() error {
		return errs.Wrap(errs.StorageFull, errors.New("ENOSPC"), "the disk is full")
	}
}

func TestGuardsCheckOnFullDisk(t *testing.T) {
	m := open(t, t.TempDir(), time.Now)
	g := guard.NewGuards(t.Context(), fullDisk{m.store}, guard.GuardsOptions{})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- g.Run(ctx) }()
	c, err := g.Check(asAgent(t, "a"), rule.Action{Command: "rm -rf /data"})
	if err != nil || !c.Blocked || c.CheckID == "" {
		t.Errorf("%+v %v", c, err)
	}
	for g.LedgerState().Failing == "" { // it is written behind the verdict
		runtime.Gosched()
	}
	c, err = g.Check(asAgent(t, "a"), rule.Action{Command: "ls"})
	if err != nil || c.Decision != rule.DecisionAllow || c.CheckID == "" || len(c.Warnings) != 1 ||
		!strings.Contains(c.Warnings[0], "ledger") || strings.Contains(c.Warnings[0], "ENOSPC") {
		t.Errorf("%+v %v", c, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestGuardsPatterns(t *testing.T) {
	g := openGuards(t)
	failed := antiPattern("f1", "The queue was purged again", "queuectl purge orders")
	failed.Type, failed.Severity = learning.LessonFailure, learning.SeverityCritical
	if err := g.store.Change(t.Context(), func(tx lesson.PipelineTx) error { return tx.InsertLesson(&failed, learning.Fingerprint{}) }, nil)(); err != nil {
		t.Fatal(err)
	}
	p := lesson.Pattern{ID: "p1", Number: 7, Type: lesson.PatternAntiPattern, Status: lesson.PatternEmerging, Name: "Purging the orders queue", LessonIDs: []string{"f1"}, Belief: failed.Belief, Prevention: []string{"Drain it"}}
	keep := func() { g.KeepPattern(p, []lesson.Lesson{failed}) }
	if keep(); g.check(t, "a", "queuectl purge orders").Decision != rule.DecisionAllow {
		t.Error("a pattern that nobody confirmed is a rule")
	}
	p.Status = lesson.PatternConfirmed
	if keep(); !g.check(t, "a", "queuectl purge orders").Blocked || g.rule(t, "p1").PatternID != "p1" {
		t.Error("a confirmed one is none")
	}
	p.Status = lesson.PatternDeprecated
	if keep(); g.check(t, "a", "queuectl purge orders").Decision != rule.DecisionAllow {
		t.Error("a deprecated one is a rule")
	}
	// One that was demoted is demoted when it is confirmed again, after a restart too.
	p.Status = lesson.PatternConfirmed
	keep()
	for range 2 {
		g.override(t, "a", "queuectl purge orders", learning.ResultSuccess)
		g.override(t, "b", "queuectl purge orders", learning.ResultSuccess)
	}
	if !g.rule(t, "p1").Demoted {
		t.Fatalf("%+v", g.rule(t, "p1"))
	}
	for name, g := range map[string]guards{"at once": g, "after a restart": {g.again(t), g.memory, g.now}} {
		p.Status = lesson.PatternDeprecated
		g.KeepPattern(p, []lesson.Lesson{failed})
		p.Status = lesson.PatternConfirmed
		if g.KeepPattern(p, []lesson.Lesson{failed}); !g.rule(t, "p1").Demoted || g.check(t, "a", "queuectl purge orders").Decision != rule.DecisionWarn {
			t.Errorf("%s: a confirmation took the demotion away: %+v", name, g.rule(t, "p1"))
		}
	}
}

func TestGuardsConcurrently(t *testing.T) {
	g := openGuards(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- g.Run(ctx) }()
	var wait sync.WaitGroup
	for w := range 4 {
		wait.Go(func() {
			agent := fmt.Sprint("agent", w)
			for i := range 15 {
				id := fmt.Sprintf("l%d-%d", w, i)
				l := antiPattern(id, "Never wipe cache "+id, "cachectl wipe "+id)
				g.report(t, false, l)
				if !g.check(t, agent, "cachectl wipe "+id).Blocked {
					t.Errorf("the rule %s is not seen once it was reported", id)
				}
				g.override(t, agent, "rm -rf /data", learning.ResultFailure)
				g.check(t, agent, "ls")
			}
		})
	}
	wait.Wait()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if r := g.rule(t, "builtin:data-directories"); r.TimesTriggered != 60 || r.Overridden != 60 || r.OverriddenFailure != 60 {
		t.Errorf("%+v", r)
	}
	if page, err := g.Ledger(asAgent(t, "x"), lesson.LedgerFilter{Decision: rule.DecisionAllow, Limit: 200}); err != nil || page.Count != 60 {
		t.Errorf("%d %v", page.Count, err)
	}
}

func TestGuardContract(t *testing.T) {
	learningtest.RunGuard(t, func(t *testing.T) guard.Service { return openGuards(t).Guards })
}

// TestGuardsRestoreByConfirmation: a captain who confirms a demoted rule's lesson lets it block again; an agent does not.
func TestGuardsRestoreByConfirmation(t *testing.T) {
	g := openGuards(t)
	g.report(t, false, antiPattern("l1", "Never wipe the cache", "cachectl wipe --all"))
	demote := func() {
		t.Helper()
		for i := range 20 {
			if s := g.override(t, fmt.Sprint("a", i%2), "cachectl wipe --all", learning.ResultSuccess); s.Rules[0].Demoted {
				return
			}
		}
		t.Fatal("it was never demoted")
	}
	demote()
	lessons := lesson.NewLessons(g.store, lesson.Options{Options: learning.Options{Now: func() time.Time { return *g.now }}, Rules: g.Guards})
	confirm := func(ctx context.Context) lesson.Lesson {
		t.Helper()
		l, err := lessons.Validate(ctx, "l1", lesson.ValidationDraft{Type: lesson.ValidationConfirmed})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	if confirm(asAgent(t, "b")); !g.rule(t, "l1").Demoted {
		t.Error("an agent's word let it block again")
	}
	if confirm(asAgent(t, "boss", principal.ScopeCaptain)); g.rule(t, "l1").Demoted || !g.check(t, "a", "cachectl wipe --all").Blocked {
		t.Errorf("%+v", g.rule(t, "l1"))
	}
	again := guards{g.again(t), g.memory, g.now}
	if !again.check(t, "a", "cachectl wipe --all").Blocked {
		t.Error("the restoration is forgotten after a restart")
	}
	count := func() (n int) {
		events, err := g.store.Events(t.Context(), 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Type == lesson.EventRuleRestored {
				n++
			}
		}
		return n
	}
	if n := count(); n != 1 {
		t.Errorf("told %d times", n)
	}
	if confirm(asAgent(t, "boss", principal.ScopeCaptain)); count() != 1 {
		t.Error("a rule that blocks was restored")
	}
	if demote(); !g.rule(t, "l1").Demoted {
		t.Error("it cannot be demoted a second time")
	}
}

// TestResetEndsEveryPermission: what a person allowed ends with his passphrase, however many were given and revoked since.
func TestResetEndsEveryPermission(t *testing.T) {
	g := openGuards(t)
	at := *g.now
	err := g.store.Change(t.Context(), func(tx lesson.PipelineTx) error {
		for i := range 1001 {
			p := lesson.Permission{ID: fmt.Sprint("p", i), AgentKind: "a", Folder: "/w", RuleIDs: []string{}, Exact: "x", CreatedAt: at, EndsAt: at.Add(24 * time.Hour)}
			if err := tx.AddPermission(&p); err != nil {
				return err
			}
			if p.RevokedAt = &at; i == 0 {
				continue
			}
			if err := tx.RevokePermission(p); err != nil {
				return err
			}
		}
		return nil
	}, nil)()
	if err != nil {
		t.Fatal(err)
	}
	*g.now = at.Add(time.Hour)
	if err := g.EndPermissions(principal.With(t.Context(), principal.System()), *g.now); err != nil {
		t.Fatal(err)
	}
	err = g.store.Change(t.Context(), func(tx lesson.PipelineTx) error {
		p, ok, err := tx.PermissionOf("p0")
		if !ok || p.RevokedAt == nil {
			t.Errorf("it holds still: %+v", p)
		}
		return err
	}, nil)()
	if err != nil {
		t.Fatal(err)
	}
}
