package escalation

import (
	"fmt"
	"strings"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"skillrouter/learning"
	"skillrouter/learning/condition"
	"skillrouter/learning/lesson"
)

// env is what a condition sees of a lesson. It holds only what is
// short, so that no condition can be made to run long by what a lesson says.
type env struct {
	Type            string   `expr:"lesson_type"`
	Severity        string   `expr:"severity"`
	Level           string   `expr:"level"`
	Status          string   `expr:"status"`
	Domain          string   `expr:"domain"`
	Category        string   `expr:"category"`
	Title           string   `expr:"title"`
	SourceAgent     string   `expr:"source_agent"`
	Project         string   `expr:"project"`
	Trust           string   `expr:"trust"`
	Tags            []string `expr:"tags"`
	Confidence      float64  `expr:"confidence"`
	Occurrences     int      `expr:"occurrence_count"`
	Transferability int      `expr:"transferability"`
	TimesApplied    int      `expr:"times_applied"`
	TimesSucceeded  int      `expr:"times_succeeded"`
	Validated       bool     `expr:"validated"`
	BlockAction     bool     `expr:"block_action"`
}

func conditionEnv(l lesson.Lesson) env {
	return env{
		Type: string(l.Type), Severity: string(l.Severity), Level: string(l.Level), Status: string(l.Status),
		Domain: learning.FoldDomain(l.Domain), Category: learning.FoldDomain(l.Category), Title: l.Title, SourceAgent: l.SourceAgent,
		Project: l.Project, Trust: string(l.Trust), Tags: learning.FoldTags(l.Tags), Confidence: l.Confidence, Occurrences: int(l.Occurrences),
		Transferability: l.Transferability, TimesApplied: int(l.TimesApplied), TimesSucceeded: int(l.TimesSucceeded),
		Validated: l.Validated, BlockAction: l.BlockAction,
	}
}

// sampleLessons are what every condition is tried on when it is loaded: one
// that says nothing, and one of every severity and type that says much.
func sampleLessons() []lesson.Lesson {
	samples := []lesson.Lesson{{}}
	tags := make([]string, learning.MaxTags)
	for i := range tags {
		tags[i] = fmt.Sprint("tag", i)
	}
	for i, kind := range learning.LessonTypes() {
		severities := learning.Severities()
		samples = append(samples, lesson.Lesson{
			ID: "sample", Number: 1, Type: kind, Severity: severities[i%len(severities)], Level: lesson.LevelPrinciple, Status: lesson.StatusCanonical,
			Domain: "project", Category: "deployment", Title: strings.Repeat("a long title ", learning.MaxTitle/16), SourceAgent: "CLAUDE_CODE",
			Tags: tags, Confidence: 1, Belief: lesson.Belief{InitialConfidence: 1, ConfidenceAt: time.UnixMilli(0)},
			Occurrences: 1 << 40, Transferability: 5, TimesApplied: 1 << 40, TimesSucceeded: 1 << 40, Validated: true, BlockAction: true,
			Project: "p", Trust: learning.TrustAgent,
		})
	}
	return samples
}

// lessonGrammar is the language of the escalations' conditions.
var lessonGrammar = condition.Grammar{
	Operators: []string{"==", "!=", "<", "<=", ">", ">=", "and", "&&", "or", "||", "in", "contains", "startsWith", "endsWith"},
	Loops:     []string{"any", "all", "none", "one", "count"},
	Functions: []string{"lower", "upper", "len"},
	Lists:     []string{"tags"},
	Folded:    []string{"domain", "category", "tags"},
}

// compileLessonCondition compiles a condition over a lesson.
func compileLessonCondition(c string) (program *vm.Program, err error) {
	if _, err := lessonGrammar.Parse(c); err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			program, err = nil, fmt.Errorf("is no expression: %v", p)
		}
	}()
	return expr.Compile(c, expr.Env(env{}), expr.AsBool(), expr.MaxNodes(condition.Nodes))
}
