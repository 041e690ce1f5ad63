package respond

import (
	"reflect"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/decision"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router/contexts"
)

// TestAsksAreTheDomains holds what a hook sends and reads to the domains' own
// types: each member is one of theirs, of the same kind.
func TestAsksAreTheDomains(t *testing.T) {
	for _, pair := range []struct{ ours, theirs reflect.Type }{
		{reflect.TypeFor[action](), reflect.TypeFor[rule.Action]()},
		{reflect.TypeFor[checked](), reflect.TypeFor[guard.Checked]()},
		{reflect.TypeFor[match](), reflect.TypeFor[rule.Match]()},
		{reflect.TypeFor[outcome](), reflect.TypeFor[guard.OutcomeDraft]()},
		{reflect.TypeFor[anEpisode](), reflect.TypeFor[episode.Draft]()},
		{reflect.TypeFor[transcript](), reflect.TypeFor[history.TranscriptDraft]()},
		{reflect.TypeFor[contextRequest](), reflect.TypeFor[contexts.Request]()},
		{reflect.TypeFor[builtContext](), reflect.TypeFor[contexts.Context]()},
		{reflect.TypeFor[failedCommand](), reflect.TypeFor[history.Failure]()},
		{reflect.TypeFor[prompt](), reflect.TypeFor[decision.Prompt]()},
		{reflect.TypeFor[heard](), reflect.TypeFor[decision.Heard]()},
		{reflect.TypeFor[resolution](), reflect.TypeFor[decision.Resolution]()},
		{reflect.TypeFor[failedAnswer](), reflect.TypeFor[history.Answer]()},
	} {
		theirs := map[string]reflect.Kind{}
		for _, f := range reflect.VisibleFields(pair.theirs) {
			theirs[name(f)] = f.Type.Kind()
		}
		for _, f := range reflect.VisibleFields(pair.ours) {
			if kind, has := theirs[name(f)]; !has || kind != f.Type.Kind() {
				t.Errorf("%s.%s is no member of %s, or another kind of one: %v, %v", pair.ours, f.Name, pair.theirs, f.Type.Kind(), kind)
			}
		}
	}
}

func name(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func TestAsksUseTheDomainsValues(t *testing.T) {
	for ours, theirs := range map[string]string{
		decisionWarn: string(rule.DecisionWarn), decisionBlock: string(rule.DecisionBlock),
		outcomeHeeded: string(lesson.OutcomeHeeded), outcomeOverridden: string(lesson.OutcomeOverridden),
		resultFailure: string(learning.ResultFailure),
	} {
		if ours != theirs {
			t.Errorf("%q is %q", ours, theirs)
		}
	}
	if maxTask != contexts.MaxTask || maxTranscript != history.MaxTranscript {
		t.Errorf("%d, %d are %d, %d", maxTask, maxTranscript, contexts.MaxTask, history.MaxTranscript)
	}
}
