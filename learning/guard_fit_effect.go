package learning

import (
	"path"
	"slices"
	"strings"
)

// effectFits compares what two acts do.
func (r *GuardRule) effectFits(want, got *guardEffect, rule, act *guardAct, action *Action) guardFit {
	switch want.kind {
	case guardEffectDelete:
		if got.kind == guardEffectDelete {
			return guardDeleteFits(want, got)
		}
	case guardEffectWrite:
		return guardWriteFits(want, got)
	case guardEffectDevice:
		if got.kind == guardEffectDevice {
			w, g := guardSpelling.Replace(want.path), got.path
			return guardFitIf(strings.HasPrefix(g, w) || strings.HasPrefix(w, g) || strings.HasSuffix(w, "X") || strings.HasPrefix(w, "/dev/…") || guardNameFits(g, w) || strings.ContainsAny(w, "<*"))
		}
	case guardEffectService:
		if got.kind != guardEffectService || !guardNameFits(got.word, want.word) && !guardNameFits(want.word, got.word) && !guardPlaceholder(want.word) {
			return guardNone
		}
		switch {
		case want.verb == got.verb && want.path == got.path:
			return guardFull
		case want.verb == got.verb, want.verb == "restart" && got.verb == "stop", want.verb == "stop" && got.verb == "restart":
			return guardNear
		}
	case guardEffectPower:
		return guardFitIf(got.kind == want.kind && got.verb == want.verb)
	case guardEffectSQL:
		if got.kind == guardEffectSQL {
			return r.statementFits(want, got, rule, act, action)
		}
	case guardEffectObjects:
		if got.kind != guardEffectObjects || want.whole && !got.whole {
			return guardNone
		}
		rel := guardRelate(want.path, got.path)
		if got.soft && rel == guardSame {
			return guardNear
		}
		return guardFitIf(rel == guardSame || rel == guardInside || rel == guardAbove && got.whole || guardPlaceholder(strings.Trim(want.path, "/")))
	case guardEffectHooks:
		switch {
		case got.kind != guardEffectHooks:
		case got.verb == "config":
			return guardNear
		default:
			return guardFitIf(got.verb == want.verb || r.title["hook"])
		}
	case guardEffectForce:
		if got.kind != guardEffectForce {
			return guardNone
		}
		switch {
		case want.word == "" || !r.title.names(want.word):
			return guardFull
		case got.word == want.word || guardNameFits(got.word, want.word):
			return guardFull
		case got.word == "" || got.word == "HEAD" || strings.HasPrefix(got.word, "$") || strings.ContainsRune(got.word, guardUnknown):
			return guardNear
		}
	case guardEffectDownload:
		return guardFitIf(got.kind == want.kind)
	case guardEffectMode:
		if got.kind != guardEffectMode || got.verb != want.verb || want.whole && !got.whole {
			return guardNone
		}
		if r.title.names(want.verb) && !r.title.names(want.path) && want.path != "/" {
			return guardFull
		}
		switch guardRelate(want.path, got.path) {
		case guardSame:
			return guardFull
		case guardInside:
			return guardFitIf(len(guardParts(want.path)) > 0)
		case guardAbove:
			return guardFitIf(got.whole)
		}
	case guardEffectHTTP:
		if got.kind != guardEffectHTTP || got.verb != want.verb {
			return guardNone
		}
		w := strings.TrimSuffix(want.path, "/")
		return guardFitIf(got.path == w || strings.HasPrefix(got.path, w+"/") || guardPlaceholder(path.Base(w)) && path.Dir(w) == path.Dir(got.path))
	}
	return guardNone
}

func guardDeleteFits(want, got *guardEffect) guardFit {
	rel := guardRelate(want.path, got.path)
	depth := len(guardParts(want.path))
	if depth == 0 || want.path == "~" || guardOnlyPattern(want.path) {
		// A rule about everything says nothing about a part of it.
		if got.whole && strings.TrimSuffix(got.path, "/"+string(guardAnyText)) == strings.TrimSuffix(want.path, "/") {
			return guardFull
		}
		if got.path == want.path || rel == guardSame || rel == guardAbove {
			return guardFitIf(got.whole && got.word == "")
		}
		return guardNone
	}
	fit := guardNone
	switch rel {
	case guardSame:
		fit = guardFull
		if want.whole && !got.whole && !guardPatterned(got.path) {
			fit = guardNear // without -r it would be refused
		}
	case guardInside:
		if !want.whole {
			return guardNone
		}
		fit = guardNear
		if got.whole || guardPatterned(got.path) {
			fit = guardFull
		}
	case guardAbove:
		if !got.whole {
			return guardNone
		}
		fit = guardFull
		if got.word != "" && !guardNameFits(got.word, path.Base(want.path)) {
			return guardNone
		}
	case guardPerhaps:
		fit = guardNear
	}
	if got.soft && fit == guardFull && rel != guardSame {
		fit = guardNear
	}
	return fit
}

func guardOnlyPattern(p string) bool {
	for _, part := range guardParts(p) {
		if part != string(guardAnyText) && part != ".." {
			return false
		}
	}
	return true
}

func guardWriteFits(want, got *guardEffect) guardFit {
	if got.kind != guardEffectWrite && got.kind != guardEffectDelete {
		return guardNone
	}
	switch guardRelate(want.path, got.path) {
	case guardSame:
		return guardFull
	case guardInside:
		return guardFitIf(len(guardParts(want.path)) > 1)
	case guardAbove:
		return guardFitIf(got.kind == guardEffectDelete && got.whole && got.word == "")
	case guardPerhaps:
		return guardNear
	}
	return guardNone
}

// guardVerbKin says which verbs do what a rule's verb does, or more.
var guardVerbKin = map[string][]string{
	"DROP": {"TRUNCATE", "DELETE"}, "TRUNCATE": {"DROP", "DELETE"}, "DELETE": {"TRUNCATE", "DROP"},
	"UPDATE": {"REPLACE", "MERGE", "UPSERT"}, "INSERT": {"REPLACE", "MERGE", "UPSERT", "COPY", "LOAD"}, "REPLACE": {"UPDATE", "INSERT", "MERGE", "UPSERT"}, "ALTER": {"DROP", "RENAME"}, "RENAME": {"ALTER", "DROP"},
	"GRANT": {"REVOKE"}, "COPY": {"INSERT", "LOAD"},
}

// statementFits compares two SQL statements.
func (r *GuardRule) statementFits(want, got *guardEffect, rule, act *guardAct, action *Action) guardFit {
	w, g := want.sql, got.sql
	reached := guardFull
	switch {
	case len(want.targets) == 0:
	case want.targets.same(got.targets):
		if told := r.told(want.targets); len(told) > 0 && !told.same(got.targets) {
			// The title says which connection is meant, and this one has only the rest in common.
			if len(got.targets) >= len(want.targets) {
				return guardNone
			}
			reached = guardNear
		}
	case len(got.targets) == 0 && !g.hidden:
		// A statement without a connection: the context may say which, and a table that the title names says enough.
		reached = guardNear
		if r.targetMentioned(want.targets, action) || !r.onTarget && slices.ContainsFunc(w.names, r.title.names) {
			reached = guardFull
		}
	default:
		return guardNone
	}
	if g.hidden {
		// What runs cannot be seen. On a connection that may not be changed at all, running it is the act.
		if len(want.targets) == 0 {
			return guardNone
		}
		if r.onTarget {
			return reached
		}
		return min(reached, guardNear)
	}
	if r.onTarget && len(want.targets) > 0 && reached == guardFull && want.targets.same(got.targets) {
		return guardFull
	}
	if len(w.names) == 0 { // a verb alone, as "DROP TABLE", means whatever it is done to
		switch {
		case w.verb != g.verb || w.object != g.object:
			return guardNone
		case g.prose:
			reached = guardNear
		}
		return r.boundedFits(w, g, reached)
	}
	table := slices.ContainsFunc(g.names, func(n string) bool {
		return slices.Contains(w.names, n) || slices.ContainsFunc(w.names, guardPlaceholder)
	})
	wider := g.verb == "DROP" && (g.object == "database" || g.object == "schema") && w.object == "table" && len(want.targets) > 0 && want.targets.same(append(slices.Clone(got.targets), g.names...))
	if !table && !wider {
		return guardNone
	}
	if table && w.object != g.object && (w.object == "database" || g.object == "database" || w.object == "schema" || g.object == "schema") {
		return guardNone
	}
	if !r.anyWrite && w.verb != g.verb && !wider {
		if !slices.Contains(guardVerbKin[w.verb], g.verb) || g.verb == "DELETE" && g.bounded {
			return guardNone
		}
	}
	return r.boundedFits(w, g, reached)
}

// boundedFits is how well a statement fits that is bounded where the rule's is not.
func (r *GuardRule) boundedFits(w, g *guardStatement, reached guardFit) guardFit {
	if w.verb == g.verb && !w.bounded && g.bounded && !r.anyWrite {
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
func (r *GuardRule) told(targets guardTargets) (told guardTargets) {
	for _, t := range targets {
		if r.title.names(t) {
			told = append(told, t)
		}
	}
	return told
}

// targetMentioned reports whether the action's context or arguments name the connection.
func (r *GuardRule) targetMentioned(targets guardTargets, action *Action) bool {
	words := guardTitle{}
	for _, w := range guardSplitName(action.Context) {
		words[guardStemWord(w)] = true
	}
	for _, v := range action.Args {
		if text, ok := v.(string); ok && len(text) < 200 {
			for _, w := range guardSplitName(text) {
				words[guardStemWord(w)] = true
			}
		}
	}
	for _, t := range targets {
		for _, w := range guardSplitName(t) {
			if len(w) > 2 && words[guardStemWord(w)] && r.title[guardStemWord(w)] {
				return true
			}
		}
	}
	return false
}
