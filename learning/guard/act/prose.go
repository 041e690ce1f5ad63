package act

import (
	"slices"
	"strings"
)

// LooksCommand reports whether a lesson's action reads as a command and
// not as prose: it names a known program or one of its related commands' programs, or has options.
func LooksCommand(text string, commands []string) bool {
	text = strings.TrimSpace(text)
	if text == "" {
		return false
	}
	if LooksSQL(text) {
		return true
	}
	if Prose(text) {
		return false
	}
	stmts, err := Parse(Tidy(text))
	if err != nil || len(stmts) == 0 {
		return false
	}
	first, _, _ := strings.Cut(text, " ")
	return KnownProgram(Program(first)) || strings.ContainsAny(first, "/=$.") || strings.Contains(text, " -") ||
		slices.ContainsFunc(commands, func(c string) bool { return strings.HasPrefix(strings.TrimSpace(c), first+" ") || c == first })
}

// QuotedCode returns what stands between backticks.
func QuotedCode(text string) (code []string) {
	parts := strings.Split(text, "`")
	for i := 1; i+1 < len(parts); i += 2 {
		if strings.Contains(strings.TrimSpace(parts[i]), " ") {
			code = append(code, parts[i])
		}
	}
	return code
}

// Prose reports whether a text is a sentence rather than a command.
func Prose(text string) bool {
	words := strings.Fields(text)
	if len(words) < 3 || strings.ContainsAny(text, "|;&><$=") || strings.Contains(text, " -") && !strings.Contains(text, " - ") {
		return false
	}
	first := strings.Trim(words[0], ".,:!?")
	if KnownProgram(Program(first)) && first == strings.ToLower(first) {
		// "find the bug in the parser" starts with a program's name.
		return functionWords(words) >= 2 && !strings.ContainsAny(text, "/'\"")
	}
	return spoken(first) && !strings.HasPrefix(first, "'")
}

// spoken reports whether a word holds letters and apostrophes alone.
func spoken(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '\'' && r != '’'
	})
}

func functionWords(words []string) (n int) {
	for _, w := range words {
		if sentenceWords()[strings.ToLower(strings.Trim(w, ".,:!?"))] {
			n++
		}
	}
	return n
}

// Title holds the stems of a title's words.
type Title map[string]bool

func TitleOf(text string) Title {
	t := Title{}
	for _, w := range SplitName(text) {
		if !TitleStop()[w] {
			t[StemWord(w)] = true
		}
	}
	return t
}

// Names reports whether the title has a part of the name.
func (t Title) Names(name string) bool {
	return slices.ContainsFunc(SplitName(name), func(w string) bool { return (len(w) > 2 || w[0] >= '0' && w[0] <= '9') && t[StemWord(w)] })
}

// SplitName splits a name or a text into lower-case words.
func SplitName(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r < 0x80
	})
}

// StemWord cuts the endings that a title and a name may differ in.
func StemWord(w string) string {
	switch w {
	case "production", "prd":
		return "prod"
	case "directories", "directory", "folder", "folders":
		return "dir"
	}
	for _, end := range []string{"ing", "ies", "ed", "es", "s"} {
		if rest, ok := strings.CutSuffix(w, end); ok && len(rest) > 3 {
			if end == "ies" {
				rest += "y"
			}
			w = rest
			break
		}
	}
	return strings.TrimSuffix(w, "e")
}
