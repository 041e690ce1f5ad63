package act

import "strings"

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
	if !spoken(strings.Trim(words[0], ".,:;!")) {
		return "", false
	}
	at := -1
	for i := 1; i < len(words)-1; i++ {
		before := strings.ToLower(words[i-1])
		name := strings.TrimLeft(words[i], "`'\"")
		if name == strings.ToLower(name) && KnownProgram(Program(name)) && (cues()[strings.Trim(before, ".,;")] || strings.HasSuffix(before, ":")) {
			at = i
			break
		}
	}
	if at < 0 {
		return "", false
	}
	said := strings.ToLower(strings.Join(words[:at], " ")) + " "
	for w := range intents() {
		intended = intended || strings.HasPrefix(said, w+" ")
	}
	for w := range strings.FieldsSeq(said) {
		intended = intended && !negations()[strings.Trim(w, ".,:;!()")]
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
