package act

import "strings"

// cues are the words of a sentence behind which a command may stand.
var cues = map[string]bool{
	"run": true, "running": true, "execute": true, "executing": true, "with": true, "using": true, "via": true, "by": true, "do": true, "use": true, "command": true, "then": true, "and": true, "issue": true, "call": true, "invoke": true, "type": true,
}

// intents open a sentence that says what its writer is about to do.
var intents = []string{
	"i will ", "i'll ", "i’ll ", "i am going to ", "i'm going to ", "i’m going to ", "i plan to ", "i want to ", "i need to ", "i intend to ", "let me ", "let's ", "let’s ", "we will ", "we'll ", "we should ", "we need to ",
	"going to ", "next i ", "next, i ", "next step: ", "now i ", "now run ", "now, ", "then run ", "next: ", "next, run ", "plan: ", "step ", "please run ", "please execute ", "run ", "running ", "execute ", "executing ", "proceed to ", "proceeding to ",
}

// negations are words by which a sentence speaks of an act that it does not mean to do.
var negations = []string{
	"never", "not", "don't", "don’t", "won't", "won’t", "cannot", "can't", "avoid", "without", "instead", "rather", "document", "explain", "describe", "warn", "why", "whether", "how", "what", "if", "forbid", "forbids", "prevent", "stop", "block", "blocks", "mention", "review", "check", "test", "rule", "?",
}

// Sentence finds the command in a sentence that says in words what its
// writer does: "I will clear it with rm -rf /x". Intended reports whether the
// sentence says no more than that it is about to be done.
func Sentence(text string) (command string, intended bool) {
	line := strings.TrimSpace(text)
	if len(line) > MaxCommand || strings.ContainsRune(line, '\n') {
		return "", false
	}
	words := strings.Fields(line)
	if len(words) < 4 || KnownProgram(Program(words[0])) && Program(words[0]) == words[0] {
		return "", false
	}
	for _, r := range strings.Trim(words[0], ".,:;!") {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '\'' && r != '’' {
			return "", false
		}
	}
	at := -1
	for i := 1; i < len(words)-1; i++ {
		before := strings.ToLower(words[i-1])
		name := strings.TrimLeft(words[i], "`'\"")
		if name == strings.ToLower(name) && KnownProgram(Program(name)) && (cues[strings.Trim(before, ".,;")] || strings.HasSuffix(before, ":")) {
			at = i
			break
		}
	}
	if at < 0 {
		return "", false
	}
	said := strings.ToLower(strings.Join(words[:at], " ")) + " "
	for _, w := range intents {
		intended = intended || strings.HasPrefix(said, w)
	}
	for w := range strings.FieldsSeq(said) {
		for _, n := range negations {
			intended = intended && strings.Trim(w, ".,:;!()") != n
		}
	}
	intended = intended && !strings.HasSuffix(line, "?")
	command = strings.Join(words[at:], " ")
	if q := words[at][0]; q == '`' || q == '\'' || q == '"' {
		command = command[1:]
		if end := strings.IndexByte(command, q); end >= 0 {
			return command[:end], intended
		}
	}
	for _, end := range []string{". ", ", ", "; ", " so that ", " because ", " in order to ", " to free "} {
		command, _, _ = strings.Cut(command, end)
	}
	return strings.TrimRight(command, ".!,;"), intended
}
