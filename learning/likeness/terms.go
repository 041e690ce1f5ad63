package likeness

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"skillrouter/tfidf/text"
	"skillrouter/tfidf/wordlist"
)

// cache bounds how many words are remembered with their terms: the
// words of a language that are in use, and more. When it is full it starts anew.
const cache = 1 << 14

// words remembers what words were read as: stemming is most of the cost.
type words struct {
	mu    sync.RWMutex
	known map[string]likenessRead
}

// likenessRead is what a word between spaces is read as.
type likenessRead struct {
	terms    []likenessTerm
	exact    uint32 // its hash as it is spelt, if it is a number, path, code or name with signs; else 0
	measured bool   // it is a quantity, such as 35s
}

type likenessTerm struct {
	term string
	hash uint32
	stop bool // it says nothing
	idle bool // it is part of what is exact
}

func (w *words) read(field string) likenessRead {
	w.mu.RLock()
	read, there := w.known[field]
	w.mu.RUnlock()
	if there {
		return read
	}
	read.exact, read.measured = exactly(field)
	for _, term := range text.Terms(field) {
		if name, known := Names()[term]; known {
			term = name
		}
		short := len(term) < 2 || term[0] < utf8.RuneSelf && utf8.RuneCountInString(term) < 2
		read.terms = append(read.terms, likenessTerm{
			term: term, hash: likenessHash("", term),
			stop: short || text.StopWord(term), idle: strings.ContainsAny(term, "0123456789/._"),
		})
	}
	if len(field) > likenessWord {
		return read
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == nil || len(w.known) >= cache {
		w.known = make(map[string]likenessRead)
	}
	w.known[strings.Clone(field)] = read
	return read
}

// exactly returns the hash of a word as it is spelt if it is a number,
// a path, a code, an option or a name with signs in it, else 0.
func exactly(word string) (hash uint32, measured bool) {
	word = strings.Trim(word, "`'\"()[]{}<>,;:.!?…*“”‘’«»")
	digits, letters, upper, signs := 0, 0, 0, 0
	for _, c := range word {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case unicode.IsLetter(c):
			letters++
			if unicode.IsUpper(c) {
				upper++
			}
		case strings.ContainsRune(`/\_:=@.$%#+~`, c):
			signs++
		}
	}
	code := upper == letters && (letters >= 4 && digits+signs > 0 || letters >= 6) // ERR_TIMEOUT and ENOENT; not NEVER
	option := strings.HasPrefix(word, "-") && letters > 0
	name := letters > 0 && signs > 0
	if digits == 0 && !code && !option && !name {
		return 0, false
	}
	measured = digits > 0 && likenessMeasured(word)
	word = strings.ToLower(word)
	return likenessHash("=", word[:min(len(word), likenessWord)]) &^ likenessFlags, measured
}

// likenessMeasured tells whether a word is a quantity, such as 35s, 12.5ms, 40% or 1.2GB.
func likenessMeasured(word string) bool {
	rest := strings.TrimLeft(word, "~<>+-")
	unit := strings.TrimLeft(rest, "0123456789.,")
	if unit == rest {
		return false
	}
	switch strings.ToLower(unit) {
	case "s", "sec", "ms", "µs", "us", "ns", "m", "min", "h", "d", "%", "x", "k", "kb", "mb", "gb", "tb", "kib", "mib", "gib":
		return true
	}
	return false
}

// telling are stems of words that a search drops, and of which one in
// a title in place of another makes another lesson.
var telling = map[string]bool{"up": true, "down": true, "on": true, "off": true, "befor": true, "after": true, "without": true}

// negated tells whether a title forbids or denies.
func negated(title string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(title)) {
		switch strings.Trim(word, ".,:;!?'\"()") {
		case "not", "never", "don't", "don’t", "dont", "avoid", "no", "cannot", "without", "stop":
			return true
		}
	}
	return false
}

//go:embed names.txt
var namesText string

// Names are other names of one thing; keys are stems.
var Names = wordlist.Map(namesText, "")

// likenessHash is FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/), stirred
// by the finaliser of MurmurHash3, for its low bits alone would tell little.
func likenessHash(kind, text string) uint32 {
	h := uint32(2166136261)
	for i := range len(kind) {
		h = (h ^ uint32(kind[i])) * 16777619
	}
	for i := range len(text) {
		h = (h ^ uint32(text[i])) * 16777619
	}
	return stirred(h)
}

func stirred(h uint32) uint32 {
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return h ^ h>>16
}
