package act

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

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

//go:embed words.txt
var wordsText string

// What these words are is said in the file.
var (
	// Quiet are options that change how a command speaks, not what it does.
	Quiet = wordlist.Set(wordsText, "quiet options")
	// Saying are the options whose values are read by people.
	Saying = wordlist.Set(wordsText, "options for readers")
	// Consent are options that answer a question beforehand.
	Consent = wordlist.Set(wordsText, "consent")
	// TitleStop are words that say nothing in a title.
	TitleStop = wordlist.Set(wordsText, "title words")

	keywords      = wordlist.Set(wordsText, "keywords")
	cues          = wordlist.Set(wordsText, "cues")
	negations     = wordlist.Set(wordsText, "negations")
	intents       = wordlist.Phrases(wordsText, "intents")
	sentenceWords = wordlist.Set(wordsText, "words of sentences")
	commandVars   = wordlist.Set(wordsText, "variables that hold a command")
	ports         = wordlist.Map(wordsText, "ports")
	disks         = wordlist.Set(wordsText, "disks")
	installed     = wordlist.Set(wordsText, "folders of installed programs")
	unmistakable  = wordlist.Set(wordsText, "unmistakable calls")
	choosing      = wordlist.Set(wordsText, "tests of find")

	sqlWrites   = wordlist.Set(wordsText, "verbs of SQL")
	sqlOpeners  = wordlist.Set(wordsText, "openers of SQL")
	sqlObjects  = wordlist.Set(wordsText, "objects of SQL")
	beforeNames = wordlist.Sets(wordsText, "words before names in SQL")
	afterNames  = wordlist.Sets(wordsText, "words after names in SQL")

	// What programs do with a file that they name, see secret.go.
	keeping   = wordlist.Set(wordsText, "programs that keep secrets")
	naming    = wordlist.Set(wordsText, "programs that name only")
	sending   = wordlist.Set(wordsText, "programs that send")
	searching = wordlist.Set(wordsText, "programs that search")

	kinds        = otherNames("kinds of kubernetes")
	serviceVerbs = otherNames("service verbs")
	calls        = otherNames("calls")
)

// anyOf reports whether one of the words of a list fits.
func anyOf(words map[string]bool, fits func(string) bool) bool {
	for word := range words {
		if fits(word) {
			return true
		}
	}
	return false
}

// otherNames returns what gives, for each word of the lines "name: words", the name. A name is its own.
func otherNames(heading string) func() map[string]string {
	return sync.OnceValue(func() map[string]string {
		names := map[string]string{}
		for name, words := range wordlist.Pairs(wordsText, heading) {
			names[name] = name
			for word := range strings.FieldsSeq(words) {
				names[word] = name
			}
		}
		return names
	})
}

// ProgramsIn are the programs that the words of a text may name, quotes and backslashes removed, in the order of the text.
func ProgramsIn(text string) func(yield func(program string) bool) {
	return func(yield func(string) bool) {
		for word := range strings.FieldsFuncSeq(unquoted.Replace(text), func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.'
		}) {
			name := Program(strings.Trim(word, ".-"))
			if does := calls()[lastName(name)]; does == "remove tree" || does == "remove file" {
				name = "rm"
			}
			if !yield(name) {
				return
			}
		}
	}
}

// harmful are the facts of programs that do a harm which follows from what an act does: "does=…" is one of its words, "=…" is a name.
var harmful = map[Harm]string{
	HarmRoot: "does=remove does=find does=fd does=sync does=copy", HarmTree: "does=remove does=find does=fd does=sync", HarmMirror: "does=sync", HarmSystemFile: "does=remove does=copy does=edit",
	HarmDisk: "does=dd does=format does=partition", HarmOpen: "does=mode =setfacl", HarmOwner: "does=mode =chown =chgrp =chattr =setfacl", HarmProcesses: "=kill =pkill =killall",
	HarmDownload: "=curl =wget", HarmSQLDrop: "sql", HarmSQLAll: "sql", HarmSQLGrant: "sql", "db.drop": "=curl =wget", "cloud.delete": "does=objects",
	"ci.hooks": "=git", "git.publish": "=git", HarmCommit: "=git", HarmSend: "=curl =wget =nc =http =socat =telnet", "system.service": "service does=systemctl", "system.power": "power", HarmApprove: "=skillrouter =curl =wget",
}

// Does reports whether a program can do the harm, by the tables.
func (h Harm) Does(program string) bool {
	if slices.ContainsFunc(harms().rows[program], func(r harmRow) bool { return r.harm == h }) {
		return true
	}
	for _, rows := range harms().places {
		if slices.ContainsFunc(rows, func(r placeRow) bool { return r.harm == h && r.names(program) }) {
			return true
		}
	}
	p := programOf(program)
	for fact := range strings.FieldsSeq(harmful[h]) {
		switch key, word, valued := strings.Cut(fact, "="); {
		case key == "" && word == program, !valued && p.has(key), key != "" && valued && p.says(key, word):
			return true
		}
	}
	return false
}
