package rule

import (
	"regexp"
	"regexp/syntax"
	"sync"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// Bounds of a rule's pattern. RE2 takes time in proportion to the size of the
// compiled program times the length of the input; an 841-byte pattern with
// nested repetitions compiled to a program that took 127 s over 64 KB. At
// about 20 ns for one instruction and one byte, 2,000 instructions over the 4 KB
// that a pattern is tried on take at worst 160 ms in a rule written to be
// slow, and far below 1 ms in any other.
const (
	maxPattern      = 1000    // bytes
	maxInstructions = 1000    // of the compiled program
	maxPatternInput = 2 << 10 // bytes of one command that a pattern is tried on
)

// compilePattern compiles a rule's pattern, refusing one that is invalid,
// costs too much, or fits everything.
func compilePattern(pattern string, force bool) (*regexp.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, &errs.Error{Code: errs.TooLarge, Field: "pattern", Message: "is longer than 1000 bytes"}
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, errs.InvalidField("pattern", "is no regular expression (RE2): %v", err)
	}
	tree, _ := syntax.Parse(pattern, syntax.Perl) // it was compiled
	program, _ := syntax.Compile(tree.Simplify()) // from the same
	if len(program.Inst) > maxInstructions {
		return nil, errs.InvalidField("pattern", "costs too much: it compiles to %d instructions, more than %d; write fewer or smaller repetitions", len(program.Inst), maxInstructions)
	}
	fits, example := 0, ""
	for _, everyday := range everyday() {
		if re.MatchString(everyday) {
			fits++
			example = everyday
		}
	}
	if !force && fits*everydayShare >= len(everyday()) {
		return nil, errs.InvalidField("pattern", "fits nearly every command, such as %q: make it narrower, or force it", example)
	}
	return re, nil
}

// everydayShare: a rule that fits a third of the everyday commands, which are
// of some twenty programs, says nothing about any.
const everydayShare = 3

// everyday are commands by which a rule that fits everything is told.
var everyday = sync.OnceValue(func() []string { return wordlist.Lines(words, "everyday commands") })
