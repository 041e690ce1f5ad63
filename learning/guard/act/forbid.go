package act

import (
	"strings"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/markdown"
)

var (
	// forbids are the words that forbid what follows them.
	forbids = lazyregexp.New(`(?i)\b(?:never|(?:do|must|should|may|can)(?: not|n['’]?t)|cannot|not allowed to|forbidden to|avoid)\b`)
	// forbidden are the words that forbid what stands before them, unless it may not be left out.
	forbidden = lazyregexp.New(`(?i)^[^.;!?]{0,20}?\b(?:is|are|must|may|should)\s+(?:strictly |absolutely |always )?(?:forbidden|prohibited|banned|disallowed|not allowed|off[- ]limits|never|not be)\b(.*)`)
	leftOut   = lazyregexp.New(`(?i)^\s*(?:be\s+)?(?:skip|omit|forg[eo]t|remove|left out|missing|disable|bypass|ignore)`)
	// ended is the end of a sentence.
	ended = lazyregexp.New(`(?s)^.*(?:[.;!?](?:\s|$)|\n)`)
	// turned are words by which a sentence comes to what is right, or to what something else waits for.
	turned = lazyregexp.New(`(?i)[,:(–—-]\s*(?:please )?(?:use|prefer|run|instead|always|rather|but|just|try|do|call|see|only)\b|\b(?:without|before|until|unless|forget(?:ting)?|fail(?:ing)?|skip(?:ping)?|omit|miss|ignore|leave|remove|delete|disable|bypass|instead|but|when|while|after|if|except|only|rather|than|because|edit|modify|change|commit to|push to|rely on|trust|assume)\b`)
	// loneOption is an option alone.
	loneOption = lazyregexp.New(`^--?[A-Za-z][\w-]*(?:[= ]\S+)?$`)
)

// maxForbidding is the most words between what forbids and a command that is forbidden.
const maxForbidding = 8

// Forbidden are the commands that a text forbids: those in backticks that follow "never", "do not" or their like
// in its sentence, or stand before "is forbidden". One that is only named, as what is right or comes first, is none of them. An option belongs to the
// command beside it: alone it is none.
func Forbidden(text string) (commands []string) {
	spans := markdown.Spans(text)
	lead := ""
	var options []string
	begun := 0 // the commands of this sentence
	finish := func() {
		for i := begun; i < len(commands); i++ {
			commands[i] = strings.Join(append([]string{commands[i]}, options...), " ")
		}
		options, begun = nil, len(commands)
	}
	for i, span := range spans {
		if !span.Code {
			if ended.MatchString(span.Text) {
				finish()
				lead = ended.ReplaceAllString(span.Text, "")
			} else {
				lead += span.Text
			}
			continue
		}
		is := false
		if at := forbids.Compiled().FindAllStringIndex(lead, -1); at != nil {
			between := lead[at[len(at)-1][1]:]
			is = !turned.MatchString(between) && len(strings.Fields(between)) <= maxForbidding
		}
		if !is && i+1 < len(spans) {
			after := forbidden.FindStringSubmatch(spans[i+1].Text)
			is = after != nil && !leftOut.MatchString(after[1])
		}
		switch {
		case !is:
		case loneOption.MatchString(span.Text):
			options = append(options, span.Text)
			continue
		case runs(span.Text):
			commands = append(commands, span.Text)
			continue
		}
		if len(options) > 0 && runs(span.Text) { // "never pass `--force` when you `git push`"
			commands = append(commands, span.Text)
		}
	}
	finish()
	return commands
}

// runs tells a piece of code that is a command from a name and from a piece of a program.
func runs(code string) bool {
	first, rest, more := strings.Cut(code, " ")
	switch {
	case LooksSQL(code):
		return true
	case !more:
		return KnownProgram(Program(first)) && first == strings.ToLower(first)
	case !LooksCommand(code, nil):
		return false
	}
	return KnownProgram(Program(first)) || strings.HasPrefix(first, "./") || strings.HasPrefix(first, "/") || strings.HasPrefix(rest, "-") || strings.Contains(rest, " -")
}
