package router

import (
	"slices"
	"strconv"
	"strings"
)

// A handle is a short name for a row of memory: a letter for its kind, and the row's number in Crockford's base 32. The database
// numbers a row in the transaction that writes it and gives no number twice, so that a handle needs no table of its own.
// A fact has the number of its value; an older value's leads to the fact too.

// handleLetters are the kinds that have handles. A lesson keeps its letter whatever its level, and as a rule of the guard.
var handleLetters = map[string]byte{
	KindKnowledge: 'k', KindFact: 'f', KindEpisode: 'e', KindProcedure: 'p', KindLesson: 'r', KindPattern: 'r', KindPrinciple: 'r', KindGuard: 'r',
}

// handleKinds are the kinds by their letters.
var handleKinds = map[byte]string{'k': KindKnowledge, 'f': KindFact, 'e': KindEpisode, 'p': KindProcedure, 'r': KindLesson}

// The digits of strconv's base 32 and of Crockford's, which leaves out the letters that look like others.
const (
	plainDigits     = "0123456789abcdefghijklmnopqrstuv"
	crockfordDigits = "0123456789abcdefghjkmnpqrstvwxyz"
)

// lookalikes are the letters that Crockford reads as digits.
var lookalikes = strings.NewReplacer("o", "0", "i", "1", "l", "1")

// HandleOf is the handle of a row; empty if its kind has none, or the row no number.
func HandleOf(kind string, number int64) string {
	letter := handleLetters[kind]
	if letter == 0 || number <= 0 {
		return ""
	}
	return string(letter) + strings.Map(func(r rune) rune {
		return rune(crockfordDigits[strings.IndexRune(plainDigits, r)])
	}, strconv.FormatInt(number, 32))
}

// ParseHandle reads a handle as people type it: capitals count as small letters, O as 0, I and L as 1. ok is false for what is none.
func ParseHandle(text string) (kind string, number int64, ok bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if len(text) < 2 || handleKinds[text[0]] == "" {
		return "", 0, false
	}
	digits := strings.Map(func(r rune) rune {
		at := strings.IndexRune(crockfordDigits, r)
		if at < 0 {
			return '!'
		}
		return rune(plainDigits[at])
	}, lookalikes.Replace(text[1:]))
	number, err := strconv.ParseInt(digits, 32, 64)
	return handleKinds[text[0]], number, err == nil && number > 0
}

// ShortAgent is an agent's name without what runs it: young-lark of claude-code:young-lark.
func ShortAgent(id string) string { return id[strings.LastIndexByte(id, ':')+1:] }

// AgentsNamed returns those of the agents that a part of their name means: the one of that id, else those whose name
// without what runs them is it, else those that have it between signs, such as lark of claude-code:young-lark. Case does
// not count. More than one is ambiguous.
func AgentsNamed(part string, ids []string) (found []string) {
	part = strings.ToLower(part)
	if part == "" {
		return nil
	}
	for _, is := range []func(id string) bool{
		func(id string) bool { return id == part },
		func(id string) bool { return ShortAgent(id) == part },
		func(id string) bool {
			return slices.Contains(strings.FieldsFunc(ShortAgent(id), func(r rune) bool { return strings.ContainsRune("-._", r) }), part)
		},
		func(id string) bool { return strings.HasPrefix(id, part+":") || strings.HasSuffix(id, ":"+part) },
	} {
		for _, id := range ids {
			if is(strings.ToLower(id)) {
				found = append(found, id)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}
