package learning

import (
	"regexp"
	"regexp/syntax"
	"sync"

	"skillrouter"
	"skillrouter/tfidf/wordlist"
)

// Bounds of a rule's pattern. RE2 takes time in proportion to the size of the
// compiled program times the length of the input; an 841-byte pattern with
// nested repetitions compiled to a program that took 127 s over 64 KB. At
// about 20 ns for one instruction and one byte, 2,000 instructions over the 4 KB
// that a pattern is tried on take at worst 160 ms in a rule written to be
// slow, and far below 1 ms in any other.
const (
	guardMaxPattern      = 1000    // bytes
	guardMaxInstructions = 1000    // of the compiled program
	guardMaxPatternInput = 2 << 10 // bytes of one command that a pattern is tried on
)

// guardCompilePattern compiles a rule's pattern, refusing one that is invalid,
// costs too much, or fits everything.
func guardCompilePattern(pattern string, force bool) (*regexp.Regexp, error) {
	if len(pattern) > guardMaxPattern {
		return nil, &skillrouter.Error{Code: skillrouter.TooLarge, Field: "pattern", Message: "is longer than 1000 bytes"}
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, skillrouter.InvalidField("pattern", "is no regular expression (RE2): %v", err)
	}
	program, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, skillrouter.InvalidField("pattern", "is no regular expression (RE2): %v", err)
	}
	if len(program.Inst) > guardMaxInstructions {
		return nil, skillrouter.InvalidField("pattern", "costs too much: it compiles to %d instructions, more than %d; write fewer or smaller repetitions", len(program.Inst), guardMaxInstructions)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, skillrouter.InvalidField("pattern", "is no regular expression (RE2): %v", err)
	}
	fits, example := 0, ""
	for _, everyday := range guardEveryday() {
		if re.MatchString(everyday) {
			fits++
			example = everyday
		}
	}
	if !force && fits*guardEverydayShare >= len(guardEveryday()) {
		return nil, skillrouter.InvalidField("pattern", "fits nearly every command, such as %q: make it narrower, or force it", example)
	}
	return re, nil
}

// guardEverydayShare: a rule that fits a third of the everyday commands, which are
// of some twenty programs, says nothing about any.
const guardEverydayShare = 3

// guardEveryday are commands by which a rule that fits everything is told.
var guardEveryday = sync.OnceValue(func() []string { return wordlist.Lines(guardWords, "everyday commands") })
