package learning

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/tfidf/text"
)

// Miss is a question that found nothing.
type Miss struct {
	Question string
	Project  string
	AgentID  string // for whom it was asked; empty, or one that the caller may not act as: the caller
}

// MissObserver is told of questions that found nothing. It must return at once.
type MissObserver interface {
	// Missed notes a miss, asked as the context's principal, unless the context says
	// that nobody asked.
	Missed(ctx context.Context, miss Miss)
}

type notAskedKey struct{}

// NotAsked returns a context for searches that nobody asked for, such as those by which a
// service puts an answer together. If such a search finds nothing, that is no gap.
func NotAsked(ctx context.Context) context.Context {
	return context.WithValue(ctx, notAskedKey{}, true)
}

// IsAsked tells whether somebody asked for the searches of a context. See NotAsked.
func IsAsked(ctx context.Context) bool { return ctx.Value(notAskedKey{}) == nil }

type hitsAloneKey struct{}

// HitsAlone returns a context for searches of which nothing but the hits is read: where there are none, words like
// those of the query are tried, and nothing is counted that would only be told.
func HitsAlone(ctx context.Context) context.Context {
	return context.WithValue(ctx, hitsAloneKey{}, true)
}

// IsHitsAlone tells whether nothing but the hits is read. See HitsAlone.
func IsHitsAlone(ctx context.Context) bool { return ctx.Value(hitsAloneKey{}) != nil }

// Repair is one thing that a search tried after it had found nothing.
type Repair struct {
	Step   string `json:"step"`   // see the steps
	Detail string `json:"detail"` // what was tried, for a person
	Found  int    `json:"found"`  // how many fit then, at most MaxLimit
}

// MaxGapQuestion bounds what is kept of a question, in bytes: a pasted stack trace is
// known by its head.
const MaxGapQuestion = 500

// GapIDBytes is how much of the hash names a gap: of ten thousand questions, two
// share 16 bytes less often than a disk loses them.
const GapIDBytes = 16

// GapQuestion returns the part of a question that is stored: on one line, without secrets,
// and cut at the limit.
func GapQuestion(text string) string {
	// What is cut off cannot be a secret's half: the text is cleaned before it is cut,
	// and only as much of it as can matter.
	text = check.Head(text, 4*MaxGapQuestion)
	text, _ = redact.Text(strings.ToValidUTF8(text, ""))
	line := strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || check.BreaksLine(r) }), " ")
	return check.Head(line, MaxGapQuestion)
}

// GapID returns the id of a question's gap. Questions have the same id if they have the same
// words, in any order and case, in the singular or the plural, and with any words without
// meaning between them. ok is false for a question without a word or with a single letter.
func GapID(question, project string) (id string, ok bool) {
	stems, _ := text.QueryTerms(question)
	if len(stems) == 0 || len(stems) == 1 && utf8.RuneCountInString(stems[0]) < 2 {
		return "", false
	}
	slices.Sort(stems)
	sum := sha256.Sum256([]byte(project + "\x00" + strings.Join(stems, " ")))
	return hex.EncodeToString(sum[:GapIDBytes]), true
}
