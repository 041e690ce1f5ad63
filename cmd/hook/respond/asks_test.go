package respond

import (
	"reflect"
	"strings"
	"testing"

	"skillrouter/learning"
	"skillrouter/router"
	"skillrouter/router/contexts"
)

// TestAsksAreTheDomains holds what a hook sends and reads to the domains' own
// types: each member is one of theirs, of the same kind.
func TestAsksAreTheDomains(t *testing.T) {
	for _, pair := range []struct{ ours, theirs reflect.Type }{
		{reflect.TypeFor[action](), reflect.TypeFor[learning.Action]()},
		{reflect.TypeFor[checked](), reflect.TypeFor[learning.Checked]()},
		{reflect.TypeFor[match](), reflect.TypeFor[learning.Match]()},
		{reflect.TypeFor[outcome](), reflect.TypeFor[learning.OutcomeDraft]()},
		{reflect.TypeFor[episode](), reflect.TypeFor[learning.EpisodeDraft]()},
		{reflect.TypeFor[transcript](), reflect.TypeFor[learning.TranscriptDraft]()},
		{reflect.TypeFor[contextRequest](), reflect.TypeFor[contexts.Request]()},
		{reflect.TypeFor[builtContext](), reflect.TypeFor[contexts.Context]()},
		{reflect.TypeFor[Known](), reflect.TypeFor[router.SessionContext]()},
		{reflect.TypeFor[lesson](), reflect.TypeFor[learning.Lesson]()},
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
		decisionWarn: string(learning.DecisionWarn), decisionBlock: string(learning.DecisionBlock),
		outcomeHeeded: string(learning.OutcomeHeeded), outcomeOverridden: string(learning.OutcomeOverridden),
		resultFailure: string(learning.ResultFailure), mailAgent: router.MailAgent,
	} {
		if ours != theirs {
			t.Errorf("%q is %q", ours, theirs)
		}
	}
	if maxTask != contexts.MaxTask || maxTranscript != learning.MaxTranscript {
		t.Errorf("%d, %d are %d, %d", maxTask, maxTranscript, contexts.MaxTask, learning.MaxTranscript)
	}
}
