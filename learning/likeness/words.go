package likeness

import (
	_ "embed"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/tfidf/text"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// Bounds of what is read of a lesson for its likeness.
const (
	likenessText = 4 << 10 // bytes of each field: what a lesson is about stands in its first sentences
	terms        = 96      // distinct terms; the title's, commands' and cause's come first
	likenessWord = 80      // bytes of one exact term
)

// A term is a hash whose lowest bits say where the lesson has it.
const (
	likenessTitle = 1 // in the title
	likenessExact = 2 // a number, path, code, option or word of a command: the same or not, never similar
	likenessCause = 4 // in the root cause
	flagBits      = 3
	likenessFlags = 1<<flagBits - 1
)

// Of is what is compared of a lesson.
type Of struct {
	terms    []uint32 // distinct, ascending, each with its flags
	tags     []uint32 // distinct, with no flags
	commands []uint32 // keys of whole commands
	Domain   uint32
	kind     uint8 // a bit of typeMask
	negated  bool  // the title says not or never
}

// Parts is what is read of a lesson.
type Parts struct {
	Type                                            learning.LessonType
	Title, Domain                                   string
	Cause, Action, Outcome, Context, Solution, Body string
	Tags, Commands                                  []string
	Ran                                             []string // what it ran: its commands, or what was done where that reads as one
}

// Prepare reads a lesson's words. It is to be done before the
// transaction that stores the lesson: it costs more than all that follows.
func Prepare(lesson Parts) Of {
	r := reader{at: make(map[uint32]int, terms)}
	title := Clean(lesson.Title)
	r.read(title, likenessTitle)
	for _, command := range lesson.Commands {
		r.command(Clean(command))
	}
	r.read(Clean(lesson.Cause), likenessCause)
	r.read(Clean(lesson.Action), 0)
	r.loose = true // here a number may be what was measured that day
	r.read(Clean(lesson.Outcome), 0)
	r.read(Clean(lesson.Context), 0)
	r.loose = false
	r.read(Clean(lesson.Solution), 0)
	r.loose = true
	r.read(Clean(lesson.Body), 0)
	slices.Sort(r.terms)

	of := Of{
		terms: slices.Clip(r.terms), Domain: likenessHash("", lesson.Domain), kind: typeMask([]learning.LessonType{lesson.Type}), negated: negated(title),
	}
	for _, command := range lesson.Ran[:min(len(lesson.Ran), MaxPatternCommands)] {
		if plain := PlainCommand(command); plain != "" && !slices.Contains(of.commands, commandKey(plain)) {
			of.commands = append(of.commands, commandKey(plain))
		}
	}
	for _, tag := range learning.FoldTags(lesson.Tags) {
		if t := likenessHash("tag:", tag) &^ likenessFlags; !idleTags[tag] && !slices.Contains(of.tags, t) {
			of.tags = append(of.tags, t)
		}
	}
	return of
}

// typeMask returns a bit for each type; none asks for every one.
func typeMask(types []learning.LessonType) (mask uint8) {
	if len(types) == 0 {
		return ^uint8(0)
	}
	for _, t := range types {
		mask |= 1 << max(slices.Index(learning.LessonTypes(), t), 0)
	}
	return mask
}

// idleTags are what MNEMOSYNE's lesson_reporter.py puts on every lesson of a type.
var idleTags = map[string]bool{
	"anti-pattern": true, "blocked": true, "workaround": true, "discovery": true, "error": true, "automatic": true,
}

// passing is what differs each time the same thing happens: dates, times of day, UUIDs, addresses in memory.
var passing = lazyregexp.New(`(?i)\b\d{4}-\d\d-\d\d(?:[t ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:z|[+-]\d\d:?\d\d)?)?\b|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b|` +
	`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b0x[0-9a-f]{6,16}\b`)

// Clean cuts a text to what is read of it, without what is passing.
func Clean(text string) string {
	text = check.Head(text, likenessText)
	if strings.ContainsAny(text, ":-x") && strings.ContainsAny(text, "0123456789") {
		text = passing.ReplaceAllString(text, " ")
	}
	return text
}

// reader gathers the distinct terms of a lesson.
type reader struct {
	terms []uint32
	at    map[uint32]int // where a term stands in terms
	loose bool           // a quantity is passed over
}

func (r *reader) add(term, flags uint32) {
	term &^= likenessFlags
	if i, there := r.at[term]; there {
		r.terms[i] |= flags
		return
	}
	if len(r.terms) < terms {
		r.at[term] = len(r.terms)
		r.terms = append(r.terms, term|flags)
	}
}

// read adds the words of a text, and what is exact among them.
func (r *reader) read(text string, flags uint32) {
	titled := flags&likenessTitle != 0
	previous := ""
	for field := range strings.FieldsSeq(text) {
		word := readWord(field)
		if word.exact != 0 && !(r.loose && word.measured) {
			r.add(word.exact, flags|likenessExact)
		}
		for _, t := range word.terms {
			// "from A to B" is not "from B to A".
			if titled && !t.stop && (previous == "from" || previous == "to") {
				r.add(likenessHash(previous+">", t.term), flags)
			}
			previous = t.term
			switch {
			case telling[t.term]:
				if titled {
					r.add(likenessHash("title>", t.term), flags)
				}
			case !t.stop && !t.idle:
				r.add(t.hash, flags)
			}
		}
	}
}

// command adds the words of a command, each exact.
func (r *reader) command(text string) {
	for word := range strings.FieldsSeq(text) {
		if word = strings.Trim(strings.ToLower(word), "`'\"(),;"); word != "" && word != "sudo" {
			r.add(likenessHash("=", word[:min(len(word), likenessWord)]), likenessExact)
		}
	}
}

// keys returns the keys under which a lesson is found: its whole root cause,
// its terms, tags and commands.
func (of Of) keys() []uint32 {
	var keys []uint32
	if cause := of.cause(); cause != 0 {
		keys = append(keys, cause)
	}
	for _, t := range of.terms {
		keys = append(keys, termKey(t))
	}
	return append(append(keys, of.tags...), of.commands...)
}

// cause is the key of a lesson's whole root cause; 0: it tells none.
func (of Of) cause() (key uint32) {
	for _, t := range of.terms {
		if t&likenessCause != 0 {
			key = stirred(key ^ t>>flagBits)
		}
	}
	return key
}

// termKey is the key of a term, apart from those of tags.
func termKey(term uint32) uint32 { return term&^likenessFlags | 1 }

// PlainCommand is a command as it is compared with others: spaces of no
// account, and run by whomever. It is empty if it names a program alone.
func PlainCommand(command string) string {
	words := strings.Fields(Clean(command))
	if len(words) > 0 && words[0] == "sudo" {
		words = words[1:]
	}
	if len(words) < 2 {
		return ""
	}
	return strings.Join(words, " ")
}

func commandKey(plain string) uint32 { return likenessHash("run:", plain) }

// MaxPatternCommands is how many commands of a lesson are looked at: those whose failures are counted.
const MaxPatternCommands = 4

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

func readWord(field string) (read likenessRead) {
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
