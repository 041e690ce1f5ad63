package rule

import (
	"path"
	"slices"
	"strings"

	"skillrouter/learning/guard/act"
	"skillrouter/tfidf/wordlist"
)

// effectFits compares what two acts do.
func (r *Rule) effectFits(want, got *act.Effect, rule, of *act.Act, action *Action) guardFit {
	switch want.Kind {
	case act.EffectDelete:
		if got.Kind == act.EffectDelete {
			return deleteFits(want, got)
		}
	case act.EffectWrite:
		return writeFits(want, got)
	case act.EffectDevice:
		if got.Kind == act.EffectDevice {
			w, g := act.Spelling.Replace(want.Path), got.Path
			return fitIf(strings.HasPrefix(g, w) || strings.HasPrefix(w, g) || strings.HasSuffix(w, "X") || strings.HasPrefix(w, "/dev/…") || act.NameFits(g, w) || strings.ContainsAny(w, "<*"))
		}
	case act.EffectService:
		if got.Kind != act.EffectService || !act.NameFits(got.Word, want.Word) && !act.NameFits(want.Word, got.Word) && !placeholder(want.Word) {
			return none
		}
		switch {
		case want.Verb == got.Verb && want.Path == got.Path:
			return full
		case want.Verb == got.Verb, want.Verb == "restart" && got.Verb == "stop", want.Verb == "stop" && got.Verb == "restart":
			return near
		}
	case act.EffectPower:
		return fitIf(got.Kind == want.Kind && got.Verb == want.Verb)
	case act.EffectSQL:
		if got.Kind == act.EffectSQL {
			return r.statementFits(want, got, rule, of, action)
		}
	case act.EffectObjects:
		if got.Kind != act.EffectObjects || want.Whole && !got.Whole {
			return none
		}
		rel := act.Relate(want.Path, got.Path)
		if got.Soft && rel == act.Same {
			return near
		}
		return fitIf(rel == act.Same || rel == act.Inside || rel == act.Above && got.Whole || placeholder(strings.Trim(want.Path, "/")))
	case act.EffectHooks:
		switch {
		case got.Kind != act.EffectHooks:
		case got.Verb == "config":
			return near
		default:
			return fitIf(got.Verb == want.Verb || r.title["hook"])
		}
	case act.EffectForce:
		if got.Kind != act.EffectForce {
			return none
		}
		switch {
		case want.Word == "" || !r.title.Names(want.Word):
			return full
		case got.Word == want.Word || act.NameFits(got.Word, want.Word):
			return full
		case got.Word == "" || got.Word == "HEAD" || strings.HasPrefix(got.Word, "$") || strings.ContainsRune(got.Word, act.Unknown):
			return near
		}
	case act.EffectDownload:
		return fitIf(got.Kind == want.Kind)
	case act.EffectMode:
		if got.Kind != act.EffectMode || got.Verb != want.Verb || want.Whole && !got.Whole {
			return none
		}
		if r.title.Names(want.Verb) && !r.title.Names(want.Path) && want.Path != "/" {
			return full
		}
		switch act.Relate(want.Path, got.Path) {
		case act.Same:
			return full
		case act.Inside:
			return fitIf(len(act.Parts(want.Path)) > 0)
		case act.Above:
			return fitIf(got.Whole)
		}
	case act.EffectHTTP:
		if got.Kind != act.EffectHTTP || got.Verb != want.Verb {
			return none
		}
		w := strings.TrimSuffix(want.Path, "/")
		return fitIf(got.Path == w || strings.HasPrefix(got.Path, w+"/") || placeholder(path.Base(w)) && path.Dir(w) == path.Dir(got.Path))
	}
	return none
}

func deleteFits(want, got *act.Effect) guardFit {
	rel := act.Relate(want.Path, got.Path)
	depth := len(act.Parts(want.Path))
	if depth == 0 || want.Path == "~" || onlyPattern(want.Path) {
		// A rule about everything says nothing about a part of it.
		if got.Whole && strings.TrimSuffix(got.Path, "/"+string(act.AnyText)) == strings.TrimSuffix(want.Path, "/") {
			return full
		}
		if got.Path == want.Path || rel == act.Same || rel == act.Above {
			return fitIf(got.Whole && got.Word == "")
		}
		return none
	}
	fit := none
	switch rel {
	case act.Same:
		fit = full
		if want.Whole && !got.Whole && !act.Patterned(got.Path) {
			fit = near // without -r it would be refused
		}
	case act.Inside:
		if !want.Whole {
			return none
		}
		fit = near
		if got.Whole || act.Patterned(got.Path) {
			fit = full
		}
	case act.Above:
		if !got.Whole {
			return none
		}
		fit = full
		if got.Word != "" && !act.NameFits(got.Word, path.Base(want.Path)) {
			return none
		}
	case act.Perhaps:
		fit = near
	}
	if got.Soft && fit == full && rel != act.Same {
		fit = near
	}
	return fit
}

func onlyPattern(p string) bool {
	for _, part := range act.Parts(p) {
		if part != string(act.AnyText) && part != ".." {
			return false
		}
	}
	return true
}

func writeFits(want, got *act.Effect) guardFit {
	if got.Kind != act.EffectWrite && got.Kind != act.EffectDelete {
		return none
	}
	switch act.Relate(want.Path, got.Path) {
	case act.Same:
		return full
	case act.Inside:
		return fitIf(len(act.Parts(want.Path)) > 1)
	case act.Above:
		return fitIf(got.Kind == act.EffectDelete && got.Whole && got.Word == "")
	case act.Perhaps:
		return near
	}
	return none
}

// verbKin says which verbs do what a rule's verb does, or more.
var verbKin = wordlist.Sets(words, "kin of verbs")

// statementFits compares two SQL statements.
func (r *Rule) statementFits(want, got *act.Effect, rule, of *act.Act, action *Action) guardFit {
	w, g := want.SQL, got.SQL
	reached := full
	switch {
	case len(want.Targets) == 0:
	case want.Targets.Same(got.Targets):
		if told := r.told(want.Targets); len(told) > 0 && !told.Same(got.Targets) {
			// The title says which connection is meant, and this one has only the rest in common.
			if len(got.Targets) >= len(want.Targets) {
				return none
			}
			reached = near
		}
	case len(got.Targets) == 0 && !g.Hidden:
		// A statement without a connection: the context may say which, and a table that the title names says enough.
		reached = near
		if r.targetMentioned(want.Targets, action) || !r.onTarget && slices.ContainsFunc(w.Names, r.title.Names) {
			reached = full
		}
	default:
		return none
	}
	if g.Hidden {
		// What runs cannot be seen. On a connection that may not be changed at all, running it is the act.
		if len(want.Targets) == 0 {
			return none
		}
		if r.onTarget {
			return reached
		}
		return min(reached, near)
	}
	if r.onTarget && len(want.Targets) > 0 && reached == full && want.Targets.Same(got.Targets) {
		return full
	}
	if len(w.Names) == 0 { // a verb alone, as "DROP TABLE", means whatever it is done to
		switch {
		case w.Verb != g.Verb || w.Object != g.Object:
			return none
		case g.Prose:
			reached = near
		}
		return r.boundedFits(w, g, reached)
	}
	table := slices.ContainsFunc(g.Names, func(n string) bool {
		return slices.Contains(w.Names, n) || slices.ContainsFunc(w.Names, placeholder)
	})
	wider := g.Verb == "DROP" && (g.Object == "database" || g.Object == "schema") && w.Object == "table" && len(want.Targets) > 0 && want.Targets.Same(append(slices.Clone(got.Targets), g.Names...))
	if !table && !wider {
		return none
	}
	if table && w.Object != g.Object && (w.Object == "database" || g.Object == "database" || w.Object == "schema" || g.Object == "schema") {
		return none
	}
	if !r.anyWrite && w.Verb != g.Verb && !wider {
		if !verbKin()[w.Verb][g.Verb] || g.Verb == "DELETE" && g.Bounded {
			return none
		}
	}
	return r.boundedFits(w, g, reached)
}

// boundedFits is how well a statement fits that is bounded where the rule's is not.
func (r *Rule) boundedFits(w, g *act.Statement, reached guardFit) guardFit {
	if w.Verb == g.Verb && !w.Bounded && g.Bounded && !r.anyWrite {
		for _, all := range []string{"where", "unbounded", "all", "whole", "every", "mas", "entir"} {
			if r.title[all] {
				return none
			}
		}
		return min(reached, near)
	}
	return reached
}

// told are the targets that the title names.
func (r *Rule) told(targets act.Targets) (told act.Targets) {
	for _, t := range targets {
		if r.title.Names(t) {
			told = append(told, t)
		}
	}
	return told
}

// targetMentioned reports whether the action's context or arguments name the connection.
func (r *Rule) targetMentioned(targets act.Targets, action *Action) bool {
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
