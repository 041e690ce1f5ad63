package escalation_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/condition"
	"github.com/skillrouter/skillrouter/learning/escalation"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// plainLesson is a lesson that no default rule speaks of.
func plainLesson(change func(*lesson.Lesson)) lesson.Lesson {
	l := lesson.Lesson{
		ID: "l1", Type: learning.LessonDiscovery, Severity: learning.SeverityMedium, Level: lesson.LevelCase, Status: lesson.StatusCandidate,
		Domain: "infrastructure", Category: "docker", Title: "Volumes keep their owner", SourceAgent: "CHRONOS",
		Tags: []string{"docker"}, Confidence: 0.8, Occurrences: 1, Transferability: 3,
	}
	if change != nil {
		change(&l)
	}
	return l
}

func TestDefaultEscalations(t *testing.T) {
	rules, err := escalation.DefaultRules(escalation.Options{
		Supervisors: map[string]string{"Security": "AEGIS"}, Known: func(agent string) bool { return agent == "supervisor:infrastructure" },
	})
	if err != nil {
		t.Fatal(err)
	}
	const medium, high, critical = learning.SeverityMedium, learning.SeverityHigh, learning.SeverityCritical
	for _, c := range []struct {
		name   string
		change func(*lesson.Lesson)
		want   []lesson.Escalation
	}{
		{"nothing to tell", nil, nil},
		{"critical", func(l *lesson.Lesson) { l.Severity = critical }, []lesson.Escalation{
			{To: "captain", Reason: "Critical issue", Priority: critical}, {To: "supervisor:infrastructure", Reason: "Domain issue", Priority: critical},
		}},
		{"high", func(l *lesson.Lesson) { l.Severity = high }, []lesson.Escalation{{To: "supervisor:infrastructure", Reason: "Domain issue", Priority: high}}},
		{"anti-pattern", func(l *lesson.Lesson) { l.Type = learning.LessonAntiPattern }, []lesson.Escalation{{To: "captain", Reason: "New anti-pattern", Priority: medium}}},
		{"three times", func(l *lesson.Lesson) { l.Occurrences = 3 }, nil},
		{"four times", func(l *lesson.Lesson) { l.Occurrences = 4 }, []lesson.Escalation{{To: "captain", Reason: "Recurring issue", Priority: medium}}},
		{"project", func(l *lesson.Lesson) { l.Domain = "Project" }, []lesson.Escalation{{To: "captain", Reason: "Project impact", Priority: medium}}},
		{"deadline", func(l *lesson.Lesson) { l.Tags = []string{"a", "Deadline"} }, []lesson.Escalation{{To: "captain", Reason: "Deadline risk", Priority: medium}}},
		{"launch", func(l *lesson.Lesson) { l.Tags = []string{"launch"} }, []lesson.Escalation{{To: "captain", Reason: "Launch impact", Priority: medium}}},
		{"failure, unsure", func(l *lesson.Lesson) { l.Type, l.Confidence = learning.LessonFailure, 0.8 }, nil},
		{"failure, confirmed", func(l *lesson.Lesson) { l.Type, l.Confidence = learning.LessonFailure, 0.81 }, []lesson.Escalation{{To: "supervisor:infrastructure", Reason: "Confirmed failure", Priority: medium}}},
		{"a supervisor who is named", func(l *lesson.Lesson) { l.Severity, l.Domain = high, "SECURITY" }, []lesson.Escalation{{To: "AEGIS", Reason: "Domain issue", Priority: high}}},
		{"a supervisor who never came", func(l *lesson.Lesson) { l.Severity, l.Domain = critical, "docker" }, []lesson.Escalation{
			{To: "captain", Reason: "Critical issue", Priority: critical}, {To: "captain", Reason: "Domain issue", Priority: critical},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, rules.For(plainLesson(c.change))); diff != "" {
				t.Errorf("escalations (-want +got):\n%s", diff)
			}
		})
	}
	everything := plainLesson(func(l *lesson.Lesson) {
		l.Type, l.Severity, l.Confidence, l.Occurrences, l.Domain, l.Tags = learning.LessonFailure, critical, 1, 9, "project", []string{"launch", "deadline"}
	})
	if diff := cmp.Diff([]string{"captain"}, lesson.EscalatedTo(rules.For(everything))); diff != "" {
		t.Errorf("agents of a lesson that concerns all (-want +got):\n%s", diff)
	}
	original, err := escalation.DefaultRules(escalation.Options{Rename: escalation.Originals})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ARIA", "VARYS"}, lesson.EscalatedTo(original.For(everything))); diff != "" {
		t.Errorf("the originals' agents (-want +got):\n%s", diff)
	}
	var none escalation.Rules
	if got := none.For(everything); got != nil {
		t.Errorf("no rules escalate %v", got)
	}
}

func TestEscalationFile(t *testing.T) {
	rule := func(condition string) string {
		return "rules:\n  ARIA:\n    - condition: \"" + condition + "\"\n      reason: why\n"
	}
	for _, c := range []struct {
		name, text string
		wrong      string // a part of the message; empty: it is accepted
	}{
		{"empty", "", ""},
		{"loops over tags", rule("any(tags, # startsWith 'db')"), ""},
		{"functions", rule("lower(source_agent) == 'aria' or len(tags) > 3"), ""},
		{"conditional", rule("validated ? confidence > 0.5 : confidence > 0.9"), ""},
		{"a list of numbers", rule("occurrence_count in [3, 4] and title != upper(title)"), ""},
		{"a number among texts", rule("severity in ['high', 3]"), ""},
		{"a loop that counts", rule("count(tags, # == 'a') > 'b'"), "mismatched types"},
		{"a condition of two kinds", rule("(validated ? 'a' : 1) == 'a'"), ""},
		{"a function of a number", rule("lower(confidence) == 'a'"), "cannot use float64 as argument"},
		{"a member", rule("tags[0] == 'a'"), "no value has members"},
		{"nothing", rule("title == None"), "None is not accepted here"},
		{"unknown field", rule("severities == 'high'"), "unknown name severities"},
		{"no condition", rule("1 + 1"), "operator + is not accepted"},
		{"not a truth", rule("confidence"), "expected bool"},
		{"wrong type", rule("confidence == 'high'"), "mismatched types"},
		{"regular expression", rule("title matches '(a+)+$'"), "operator matches is not accepted"},
		{"a long list", rule("1 in 1..100000000"), "operator .. is not accepted"},
		{"a loop in a loop", rule("any(tags, any(tags, # == 'a'))"), "function any is not accepted"},
		{"a loop over another list", rule("any(['a'], # == title)"), "takes tags and a condition"},
		{"a function with a cost", rule("repeat(title, 1000000) == ''"), "function repeat is not accepted"},
		{"a variable", rule("let x = title; x == ''"), "is not accepted here"},
		{"capitals that never fit", rule("'Launch' in tags"), "compared in lower case"},
		{"capitals in a list", rule("domain in ['ops', 'Project']"), "compared in lower case"},
		{"too long", rule("title == '" + strings.Repeat("x", condition.MaxLength) + "'"), "longer than"},
		{"unknown key", "rules:\n  ARIA:\n    - condition: 'true'\n      reason: r\n      to: X\n", "unknown field"},
		{"repeated key", "rules:\n  ARIA: []\n  ARIA: []\n", "already defined"},
		{"no reason", "rules:\n  ARIA:\n    - condition: 'true'\n", "reason is required"},
		{"no agent's id", "rules:\n  'A B':\n    - {condition: 'true', reason: r}\n", "no agent's id"},
		{"an agent without rules", "agents: {x: Y}\nrules: {}\n", "no group of rules"},
		{"the supervisor as an agent", "agents: {domain_supervisor: Y}\nrules: {domain_supervisor: []}\n", "no single agent"},
		{"alias", "agents: &a {}\nrules: *a\n", "aliases"},
		{"a list", "- a\n", "rules.yaml"},
		{"not UTF-8", "rules: \xff", "UTF-8"},
		{"too large", "# " + strings.Repeat("x", escalation.MaxFile), "larger than"},
		{"too many", "rules:\n  A:\n" + strings.Repeat("    - {condition: 'true', reason: r}\n", escalation.MaxRules+1), "more than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := escalation.LoadRules("rules.yaml", []byte(c.text), escalation.Options{})
			if c.wrong == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if errs.CodeOf(err) != errs.Invalid || !strings.Contains(errs.MessageOf(err), c.wrong) {
				t.Errorf("error %v does not say %q", err, c.wrong)
			}
		})
	}
}

func TestSupervisor(t *testing.T) {
	var asked string
	rules, err := escalation.DefaultRules(escalation.Options{Known: func(agent string) bool {
		asked = agent
		return check.AgentID("agent_id", agent) == nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	for domain, want := range map[string]string{
		"Infrastructure":     "supervisor:infrastructure",
		" project ":          "supervisor:project",
		"project_management": "supervisor:project_management",
		"data & ML / ops":    "supervisor:data-ml-ops",
		"日本":                 "captain",
	} {
		if got := rules.Supervisor(domain); got != want {
			t.Errorf("supervisor of %q is %q, want %q; asked for %q", domain, got, want, asked)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if err := check.AgentID("agent_id", rules.Supervisor(rapid.String().Draw(t, "domain"))); err != nil {
			t.Fatal(err)
		}
	})
}
