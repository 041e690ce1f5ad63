package rule

import (
	"path"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/learning/guard/act"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// effectFits compares what two acts do.
func (r *Rule) effectFits(want, got *act.Effect, action *Action) guardFit {
	if want.Kind == act.EffectWrite { // which deleting does as well
		return writeFits(want, got)
	}
	if want.Kind != got.Kind {
		return none
	}
	switch want.Kind {
	case act.EffectDelete:
		return deleteFits(want, got)
	case act.EffectDevice:
		return deviceFits(want, got)
	case act.EffectService:
		return serviceFits(want, got)
	case act.EffectPower:
		return fitIf(want.Verb == got.Verb)
	case act.EffectSQL:
		return r.statementFits(want, got, action)
	case act.EffectObjects:
		return objectsFit(want, got)
	case act.EffectHooks:
		if got.Verb == "config" {
			return near
		}
		return fitIf(got.Verb == want.Verb || r.title["hook"])
	case act.EffectForce:
		return r.forceFits(want, got)
	case act.EffectDownload:
		return full
	case act.EffectMode:
		return r.modeFits(want, got)
	case act.EffectHTTP:
		return requestFits(want, got)
	}
	return none
}

func deviceFits(want, got *act.Effect) guardFit {
	w, g := act.Spelling.Replace(want.Path), got.Path
	return fitIf(strings.HasPrefix(g, w) || strings.HasPrefix(w, g) || strings.HasSuffix(w, "X") || strings.HasPrefix(w, "/dev/…") || act.NameFits(g, w) || strings.ContainsAny(w, "<*"))
}

func serviceFits(want, got *act.Effect) guardFit {
	if !act.NameFits(got.Word, want.Word) && !act.NameFits(want.Word, got.Word) && !placeholder(want.Word) {
		return none
	}
	switch {
	case want.Verb == got.Verb && want.Path == got.Path:
		return full
	case want.Verb == got.Verb, want.Verb == "restart" && got.Verb == "stop", want.Verb == "stop" && got.Verb == "restart":
		return near
	}
	return none
}

func objectsFit(want, got *act.Effect) guardFit {
	if want.Recursive && !got.Recursive {
		return none
	}
	rel := act.Relate(want.Path, got.Path)
	if got.Soft && rel == act.Same {
		return near
	}
	return fitIf(rel == act.Same || rel == act.Inside || rel == act.Above && got.Recursive || placeholder(strings.Trim(want.Path, "/")))
}

// forceFits compares the branches that two acts overwrite.
func (r *Rule) forceFits(want, got *act.Effect) guardFit {
	switch {
	case want.Word == "" || !r.title.Names(want.Word):
		return full
	case got.Word == want.Word || act.NameFits(got.Word, want.Word):
		return full
	case got.Word == "" || got.Word == "HEAD" || strings.HasPrefix(got.Word, "$") || strings.ContainsRune(got.Word, act.Unknown):
		return near
	}
	return none
}

// modeFits compares the permissions that two acts set.
func (r *Rule) modeFits(want, got *act.Effect) guardFit {
	if got.Verb != want.Verb || want.Recursive && !got.Recursive {
		return none
	}
	if r.title.Names(want.Verb) && !r.title.Names(want.Path) && want.Path != "/" {
		return full
	}
	return pathFits(want.Path, got.Path, len(act.Parts(want.Path)) > 0, got.Recursive, none)
}

// pathFits compares paths. inside and above tell whether something below the rule's path, and a folder that holds it, fit.
func pathFits(want, got string, inside, above bool, perhaps guardFit) guardFit {
	switch act.Relate(want, got) {
	case act.Same:
		return full
	case act.Inside:
		return fitIf(inside)
	case act.Above:
		return fitIf(above)
	case act.Perhaps:
		return perhaps
	}
	return none
}

func requestFits(want, got *act.Effect) guardFit {
	if got.Verb != want.Verb {
		return none
	}
	w := strings.TrimSuffix(want.Path, "/")
	return fitIf(got.Path == w || strings.HasPrefix(got.Path, w+"/") || placeholder(path.Base(w)) && path.Dir(w) == path.Dir(got.Path))
}

func deleteFits(want, got *act.Effect) guardFit {
	if want.Path == anything {
		return fitIf(!want.Recursive || got.Recursive)
	}
	rel := act.Relate(want.Path, got.Path)
	depth := len(act.Parts(want.Path))
	named := func(part string) bool { return part != string(act.AnyText) && part != ".." }
	if depth == 0 || want.Path == "~" || !slices.ContainsFunc(act.Parts(want.Path), named) {
		// A rule about everything says nothing about a part of it.
		if got.Recursive && strings.TrimSuffix(got.Path, "/"+string(act.AnyText)) == strings.TrimSuffix(want.Path, "/") {
			return full
		}
		if got.Path == want.Path || rel == act.Same || rel == act.Above {
			return fitIf(got.Recursive && got.Word == "")
		}
		return none
	}
	fit := none
	switch rel {
	case act.Same:
		fit = full
		if want.Recursive && !got.Recursive && !act.Patterned(got.Path) {
			fit = near // without -r it would be refused
		}
	case act.Inside:
		if !want.Recursive {
			return none
		}
		fit = near
		if got.Recursive || act.Patterned(got.Path) {
			fit = full
		}
	case act.Above:
		if !got.Recursive {
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

func writeFits(want, got *act.Effect) guardFit {
	if got.Kind != act.EffectWrite && got.Kind != act.EffectDelete {
		return none
	}
	return pathFits(want.Path, got.Path, len(act.Parts(want.Path)) > 1, got.Kind == act.EffectDelete && got.Recursive && got.Word == "", near)
}

// verbKin says which verbs do what a rule's verb does, or more.
var verbKin = wordlist.Sets(words, "kin of verbs")

// statementFits compares two SQL statements.
func (r *Rule) statementFits(want, got *act.Effect, action *Action) guardFit {
	w, g := want.SQL, got.SQL
	reached := r.connectionFits(want, got, action)
	switch {
	case reached == none:
		return none
	case g.Hidden && len(want.Targets) == 0:
		return none // what runs cannot be seen
	case g.Hidden && !r.onTarget:
		return min(reached, near)
	case g.Hidden: // on a connection that may not be changed at all, running it is the act
		return reached
	case r.onTarget && len(want.Targets) > 0 && reached == full && want.Targets.Same(got.Targets):
		return full
	case len(w.Names) > 0:
		if !r.tableFits(want, got) {
			return none
		}
	case w.Verb != g.Verb || w.Object != g.Object: // a verb alone, as "DROP TABLE", means whatever it is done to
		return none
	case g.Prose:
		reached = near
	}
	return r.boundedFits(w, g, reached)
}

// connectionFits compares what the statements are sent to.
func (r *Rule) connectionFits(want, got *act.Effect, action *Action) guardFit {
	switch {
	case len(want.Targets) == 0:
		return full
	case want.Targets.Same(got.Targets):
		told := r.told(want.Targets)
		if len(told) == 0 || told.Same(got.Targets) {
			return full
		}
		// The title says which connection is meant, and this one has only the rest in common.
		if len(got.Targets) >= len(want.Targets) {
			return none
		}
		return near
	case len(got.Targets) == 0 && !got.SQL.Hidden:
		// A statement without a connection: the context may say which, and a table that the title names says enough.
		if r.targetMentioned(want.Targets, action) || !r.onTarget && slices.ContainsFunc(want.SQL.Names, r.title.Names) {
			return full
		}
		return near
	}
	return none
}

// tableFits reports whether a statement does to a table of the rule's, or to
// the database that holds it, what the rule's does, or more.
func (r *Rule) tableFits(want, got *act.Effect) bool {
	w, g := want.SQL, got.SQL
	shared := slices.ContainsFunc(g.Names, func(n string) bool {
		return slices.Contains(w.Names, n) || slices.ContainsFunc(w.Names, placeholder)
	})
	if !shared {
		return g.Verb == "DROP" && holdsTables(g.Object) && w.Object == "table" && len(want.Targets) > 0 && want.Targets.Same(append(slices.Clone(got.Targets), g.Names...))
	}
	if w.Object != g.Object && (holdsTables(w.Object) || holdsTables(g.Object)) {
		return false
	}
	if r.anyWrite || w.Verb == g.Verb {
		return true
	}
	return verbKin()[w.Verb][g.Verb] && !(g.Verb == "DELETE" && g.Bounded)
}

// holdsTables tells of what an SQL statement is about whether it is more than one table.
func holdsTables(object string) bool { return object == "database" || object == "schema" }

// boundedFits is how well a statement fits that is bounded where the rule's is not.
func (r *Rule) boundedFits(w, g *act.Statement, reached guardFit) guardFit {
	if w.Verb == g.Verb && !w.Bounded && g.Bounded && !r.anyWrite {
		if slices.ContainsFunc([]string{"where", "unbounded", "all", "whole", "every", "mas", "entir"}, func(all string) bool { return r.title[all] }) {
			return none
		}
		return min(reached, near)
	}
	return reached
}

// told are the targets that the title names.
func (r *Rule) told(targets act.Targets) act.Targets {
	return slices.DeleteFunc(slices.Clone(targets), func(t string) bool { return !r.title.Names(t) })
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
	return slices.ContainsFunc(act.SplitName(strings.Join(targets, " ")), func(w string) bool { return len(w) > 2 && words[act.StemWord(w)] && r.title[act.StemWord(w)] })
}
