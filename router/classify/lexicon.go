package classify

import (
	_ "embed"
	"fmt"
	"strings"
)

// The word classes. A word has a set of them, as bits; the first that the
// lexicon gives it is the one that stands for it in word-order features.
const (
	symNone uint8 = iota // a word that the lexicon does not know
	symError
	symSecurity
	symAsset
	symTeam
	symWork
	symState
	symNow
	symPastTime
	symSpan
	symHistory
	symLearning
	symPastVerb
	symBaseVerb
	symGerund
	symThirdPerson
	symTech
	symHuman
	symQuantity
	symSeverity
	symFunction // a word that stands for itself: who, is, did, for, …
	symAgentName
	symTicket
	symTaskName
	symEnvironment
	symFinding
	symCVE
	symErrorCode
	symErrorName
	symAddress
	symHost
	symPath
	symFile
	symFlag
	symCode
	symNumber
	symVersion
	symDate
	symClock
	symQuestion
	symColon
	numSymbols
)

// The roles that a function word can have.
const (
	roleNone uint8 = iota
	roleWh
	roleHow
	roleBePresent
	roleBePast
	roleDoPresent
	roleDoPast
	roleHavePresent
	roleHavePast
	roleModal
	roleNot
	roleFirst
	roleSecond
	roleAnyone
	roleThird
	rolePreposition
	roleConjunction
	roleArticle
	rolePolite
	numRoles
)

var lexiconSections = map[string]uint8{
	"error": symError, "security": symSecurity, "asset": symAsset, "team": symTeam, "work": symWork,
	"state": symState, "now": symNow, "past-time": symPastTime, "span": symSpan, "history": symHistory,
	"learning": symLearning, "past-verb": symPastVerb, "base-verb": symBaseVerb, "gerund": symGerund,
	"third-person": symThirdPerson, "tech": symTech, "human": symHuman, "quantity": symQuantity, "severity": symSeverity,
}

var lexiconRoles = map[string]uint8{
	"wh": roleWh, "how": roleHow, "be-present": roleBePresent, "be-past": roleBePast,
	"do-present": roleDoPresent, "do-past": roleDoPast, "have-present": roleHavePresent,
	"have-past": roleHavePast, "modal": roleModal, "not": roleNot, "first": roleFirst,
	"second": roleSecond, "anyone": roleAnyone, "third": roleThird, "preposition": rolePreposition,
	"conjunction": roleConjunction, "article": roleArticle, "polite": rolePolite,
}

//go:embed classifier_lexicon.txt
var lexiconText string

// lexeme is what the lexicon knows of a word.
type lexeme struct {
	classes uint64 // bit 1<<sym for each word class
	symbol  uint8
	role    uint8
}

// lexicon is the words with a class or a role, by their hash.
type lexicon map[uint32]lexeme

// parseLexicon reads the lexicon's text: sections in brackets, words between
// blanks, and # comments. A word may stand in several sections.
func parseLexicon(text string) (lexicon, error) {
	lex := make(lexicon, 2048)
	var symbol, role uint8
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
			continue
		case line[0] == '[':
			name := strings.Trim(line, "[]")
			symbol, role = lexiconSections[name], lexiconRoles[name]
			if symbol == symNone && role == roleNone {
				return nil, fmt.Errorf("lexicon line %d: no section is called %q", n+1, name)
			}
			continue
		}
		for word := range strings.FieldsSeq(line) {
			h := hash(word)
			l := lex[h]
			if role != roleNone {
				l.symbol, l.role = symFunction, role
			} else {
				if l.symbol == symNone {
					l.symbol = symbol
				}
				l.classes |= 1 << symbol
			}
			lex[h] = l
		}
	}
	return lex, nil
}

// hash is 32-bit FNV-1a.
func hash(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

// mix combines two hashes in order (the finaliser of MurmurHash3).
func mix(a, b uint32) uint32 {
	h := a*0x85ebca6b ^ (b + 0x9e3779b9 + a<<6 + a>>2)
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	return h ^ h>>16
}
