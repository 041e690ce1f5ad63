package learning

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"skillrouter"
	"skillrouter/tfidf"
)

// gapIDBytes is how much of the hash names a gap: of MaxGaps questions, two
// share 16 bytes less often than a disk loses them.
const gapIDBytes = 16

// gapQuestion returns what is kept of a question: on one line, without secrets
// and without what would not fit.
func gapQuestion(text string) string {
	// What is cut off cannot be a secret's half: the text is cleaned before it is cut,
	// and only as much of it as can matter.
	text = skillrouter.Head(text, 4*MaxGapQuestion)
	text, _ = skillrouter.Redact(strings.ToValidUTF8(text, ""))
	line := strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || skillrouter.BreaksLine(r) }), " ")
	return skillrouter.Head(line, MaxGapQuestion)
}

// gapID returns the name of a question's gap: the same for the same words in
// another order, number or case, and with other words that say nothing. A
// question of no word, or of a single letter, is none; ok is false then.
func gapID(question, project string) (id string, ok bool) {
	stems, _ := tfidf.QueryTerms(question)
	if len(stems) == 0 || len(stems) == 1 && utf8.RuneCountInString(stems[0]) < 2 {
		return "", false
	}
	slices.Sort(stems)
	sum := sha256.Sum256([]byte(project + "\x00" + strings.Join(stems, " ")))
	return hex.EncodeToString(sum[:gapIDBytes]), true
}

// vain tells whether a search by words found nothing that its asker can have
// meant: no hit, or more than half of the question's words, two at least, stand
// in nothing that is remembered, so that what was found shares only the others.
func vain(found tfidf.Result, hits int, question string) bool {
	if hits == 0 {
		return true
	}
	if len(found.Unknown) < 2 {
		return false
	}
	stems, _ := tfidf.QueryTerms(question)
	return 2*len(found.Unknown) > len(stems)
}
