package learning

import (
	"path"
	"slices"
	"strings"

	"skillrouter/learning/guard/act"
	"skillrouter/tfidf/wordlist"
)

// effectFits compares what two acts do.
func (r *GuardRule) effectFits(want, got *act.Effect, rule, of *act.Act, action *Action) guardFit {
	switch want.Kind {
	case act.EffectDelete:
		if got.Kind == act.EffectDelete {
			return guardDeleteFits(want, got)
		}
	case act.EffectWrite:
		return guardWriteFits(want, got)
	case act.EffectDevice:
		if got.Kind == act.EffectDevice {
			w, g := act.Spelling.Replace(want.Path), got.Path
			return guardFitIf(strings.HasPrefix(g, w) || strings.HasPrefix(w, g) || strings.HasSuffix(w, "X") || strings.HasPrefix(w, "/dev/…") || act.NameFits(g, w) || strings.ContainsAny(w, "<*"))
		}
	case act.EffectService:
		if got.Kind != act.EffectService || !act.NameFits(got.Word, want.Word) && !act.NameFits(want.Word, got.Word) && !guardPlaceholder(want.Word) {
			return guardNone
		}
		switch {
		case want.Verb == got.Verb && want.Path == got.Path:
			return guardFull
		case want.Verb == got.Verb, want.Verb == "restart" && got.Verb == "stop", want.Verb == "stop" && got.Verb == "restart":
			return guardNear
		}
	case act.EffectPower:
		return guardFitIf(got.Kind == want.Kind && got.Verb == want.Verb)
	case act.EffectSQL:
		if got.Kind == act.EffectSQL {
			return r.statementFits(want, got, rule, of, action)
		}
	case act.EffectObjects:
		if got.Kind != act.EffectObjects || want.Whole && !got.Whole {
			return guardNone
		}
		rel := act.Relate(want.Path, got.Path)
		if got.Soft && rel == act.Same {
			return guardNear
		}
		return guardFitIf(rel == act.Same || rel == act.Inside || rel == act.Above && got.Whole || guardPlaceholder(strings.Trim(want.Path, "/")))
	case act.EffectHooks:
		switch {
		case got.Kind != act.EffectHooks:
		case got.Verb == "config":
			return guardNear
		default:
			return guardFitIf(got.Verb == want.Verb || r.title["hook"])
		}
	case act.EffectForce:
		if got.Kind != act.EffectForce {
			return guardNone
		}
		switch {
		case want.Word == "" || !r.title.Names(want.Word):
			return guardFull
		case got.Word == want.Word || act.NameFits(got.Word, want.Word):
			return guardFull
		case got.Word == "" || got.Word == "HEAD" || strings.HasPrefix(got.Word, "$") || strings.ContainsRune(got.Word, act.Unknown):
			return guardNear
		}
	case act.EffectDownload:
		return guardFitIf(got.Kind == want.Kind)
	case act.EffectMode:
		if got.Kind != act.EffectMode || got.Verb != want.Verb || want.Whole && !got.Whole {
			return guardNone
		}
		if r.title.Names(want.Verb) && !r.title.Names(want.Path) && want.Path != "/" {
			return guardFull
		}
		switch act.Relate(want.Path, got.Path) {
		case act.Same:
			return guardFull
		case act.Inside:
			return guardFitIf(len(act.Parts(want.Path)) > 0)
		case act.Above:
			return guardFitIf(got.Whole)
		}
	case act.EffectHTTP:
		if got.Kind != act.EffectHTTP || got.Verb != want.Verb {
			return guardNone
		}
		w := strings.TrimSuffix(want.Path, "/")
		return guardFitIf(got.Path == w || strings.HasPrefix(got.Path, w+"/") || guardPlaceholder(path.Base(w)) && path.Dir(w) == path.Dir(got.Path))
	}
	return guardNone
}

func guardDeleteFits(want, got *act.Effect) guardFit {
	rel := act.Relate(want.Path, got.Path)
	depth := len(act.Parts(want.Path))
	if depth == 0 || want.Path == "~" || guardOnlyPattern(want.Path) {
		// A rule about everything says nothing about a part of it.
		if got.Whole && strings.TrimSuffix(got.Path, "/"+string(act.AnyText)) == strings.TrimSuffix(want.Path, "/") {
			return guardFull
		}
		if got.Path == want.Path || rel == act.Same || rel == act.Above {
			return guardFitIf(got.Whole && got.Word == "")
		}
		return guardNone
	}
	fit := guardNone
	switch rel {
	case act.Same:
		fit = guardFull
		if want.Whole && !got.Whole && !act.Patterned(got.Path) {
			fit = guardNear // without -r it would be refused
		}
	case act.Inside:
		if !want.Whole {
			return guardNone
		}
		fit = guardNear
		if got.Whole || act.Patterned(got.Path) {
			fit = guardFull
		}
	case act.Above:
		if !got.Whole {
			return guardNone
		}
		fit = guardFull
		if got.Word != "" && !act.NameFits(got.Word, path.Base(want.Path)) {
			return guardNone
		}
	case act.Perhaps:
		fit = guardNear
	}
	if got.Soft && fit == guardFull && rel != act.Same {
		fit = guardNear
	}
	return fit
}

func guardOnlyPattern(p string) bool {
	for _, part := range act.Parts(p) {
		if part != string(act.AnyText) && part != ".." {
			return false
		}
	}
	return true
}

func guardWriteFits(want, got *act.Effect) guardFit {
	if got.Kind != act.EffectWrite && got.Kind != act.EffectDelete {
		return guardNone
	}
	switch act.Relate(want.Path, got.Path) {
	case act.Same:
		return guardFull
	case act.Inside:
		return guardFitIf(len(act.Parts(want.Path)) > 1)
	case act.Above:
		return guardFitIf(got.Kind == act.EffectDelete && got.Whole && got.Word == "")
	case act.Perhaps:
		return guardNear
	}
	return guardNone
}

// guardVerbKin says which verbs do what a rule's verb does, or more.
var guardVerbKin = wordlist.Sets(guardWords, "kin of verbs")

// statementFits compares two SQL statements.
func (r *GuardRule) statementFits(want, got *act.Effect, rule, of *act.Act, action *Action) guardFit {
	w, g := want.SQL, got.SQL
	reached := guardFull
	switch {
	case len(want.Targets) == 0:
	case want.Targets.Same(got.Targets):
		if told := r.told(want.Targets); len(told) > 0 && !told.Same(got.Targets) {
			// The title says which connection is meant, and this one has only the rest in common.
			if len(got.Targets) >= len(want.Targets) {
				return guardNone
			}
			reached = guardNear
		}
	case len(got.Targets) == 0 && !g.Hidden:
		// A statement without a connection: the context may say which, and a table that the title names says enough.
		reached = guardNear
		if r.targetMentioned(want.Targets, action) || !r.onTarget && slices.ContainsFunc(w.Names, r.title.Names) {
			reached = guardFull
		}
	default:
		return guardNone
	}
	if g.Hidden {
		// What runs cannot be seen. On a connection that may not be changed at all, running it is the act.
		if len(want.Targets) == 0 {
			return guardNone
		}
		if r.onTarget {
			return reached
		}
		return min(reached, guardNear)
	}
	if r.onTarget && len(want.Targets) > 0 && reached == guardFull && want.Targets.Same(got.Targets) {
		return guardFull
	}
	if len(w.Names) == 0 { // a verb alone, as "DROP TABLE", means whatever it is done to
		switch {
		case w.Verb != g.Verb || w.Object != g.Object:
			return guardNone
		case g.Prose:
			reached = guardNear
		}
		return r.boundedFits(w, g, reached)
	}
	table := slices.ContainsFunc(g.Names, func(n string) bool {
		return slices.Contains(w.Names, n) || slices.ContainsFunc(w.Names, guardPlaceholder)
	})
	wider := g.Verb == "DROP" && (g.Object == "database" || g.Object == "schema") && w.Object == "table" && len(want.Targets) > 0 && want.Targets.Same(append(slices.Clone(got.Targets), g.Names...))
	if !table && !wider {
		return guardNone
	}
	if table && w.Object != g.Object && (w.Object == "database" || g.Object == "database" || w.Object == "schema" || g.Object == "schema") {
		return guardNone
	}
	if !r.anyWrite && w.Verb != g.Verb && !wider {
		if !guardVerbKin()[w.Verb][g.Verb] || g.Verb == "DELETE" && g.Bounded {
			return guardNone
		}
	}
	return r.boundedFits(w, g, reached)
}

// boundedFits is how well a statement fits that is bounded where the rule's is not.
func (r *GuardRule) boundedFits(w, g *act.Statement, reached guardFit) guardFit {
	if w.Verb == g.Verb && !w.Bounded && g.Bounded && !r.anyWrite {
		for _, all := range []string{"where", "unbounded", "all", "whole", "every", "mas", "entir"} {
			if r.title[all] {
				return guardNone
			}
		}
		return min(reached, guardNear)
	}
	return reached
}

// told are the targets that the title names.
func (r *GuardRule) told(targets act.Targets) (told act.Targets) {
	for _, t := range targets {
		if r.title.Names(t) {
			told = append(told, t)
		}
	}
	return told
}

// targetMentioned reports whether the action's context or arguments name the connection.
func (r *GuardRule) targetMentioned(targets act.Targets, action *Action) bool {
	words := act.Title{}
	for _, w := range act.SplitName(action.Context) {
		words[act.StemWord(w)] = true
	}
	for _, v := range action.Args {
		if text, ok := v.(string); ok && len(text) < 200 {
			for _, w := range act.SplitName(text) {
				words[act.StemWord(w)] = true
			}
		}
	}
	for _, t := range targets {
		for _, w := range act.SplitName(t) {
			if len(w) > 2 && words[act.StemWord(w)] && r.title[act.StemWord(w)] {
				return true
			}
		}
	}
	return false
}
