package consolidate

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"skillrouter/internal/lazyregexp"
	"skillrouter/tfidf/wordlist"
)

// The categories of stated values.
const (
	categoryCommands = "commands"
	categoryNetwork  = "network"
	categoryTooling  = "tooling"
	categoryPaths    = "paths"
	categorySettings = "settings"
)

//go:embed words.txt
var rulesWords string

// slots are nouns that have a value, so that "the X is Y" states one even if Y is a plain word.
var slots = wordlist.Set(rulesWords, "nouns with a value")

// slotNoun tells whether a subject ends with a noun that has a value.
func slotNoun(subject string) bool {
	words := subjectWords(subject)
	return len(words) > 0 && slots()[words[len(words)-1]]
}

var (
	possessive = lazyregexp.New(`(?i)^(.+?)(?:'s|s') (.+)$`)
	ofPhrase   = lazyregexp.New(`(?i)^(.+?) (?:of|for|in|on) (?:the |our |this |my |all )?(.+)$`)
	dottedKey  = lazyregexp.New(`^[A-Za-z_][\w-]*(?:\.[\w-]+)+$`)
	envKey     = lazyregexp.New(`^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$`)
	keyWord    = lazyregexp.New(`^[a-z0-9][a-z0-9_.+/-]*$`)
)

// articles stand before what is spoken of and say nothing of it.
var articles = wordlist.Set(rulesWords, "articles")

// nobody are words that point at something else than they name, or that
// subjects of opinions and stories begin with. Nothing is stored under them.
var nobody = wordlist.Set(rulesWords, "no subjects")

// subjectWords are the words of a subject, in lower case, without articles.
func subjectWords(subject string) []string {
	words := strings.Fields(strings.ToLower(strings.NewReplacer("`", "", "*", "", "\"", "", "(", " ", ")", " ", "'s", "", ",", "").Replace(subject)))
	for len(words) > 0 && articles()[words[0]] {
		words = words[1:]
	}
	return words
}

// maxSubject bounds a subject, in words. What takes more to say is no name.
const maxSubject = 5

// factKey names what a subject speaks of: "the port of the API" is api.port. slot
// tells whether it ends with a noun that has a value.
func factKey(subject, attribute string) (key string, slot bool) {
	subject = strings.TrimSpace(subject)
	bare := strings.Trim(subject, "`*\"'")
	if dottedKey.MatchString(bare) || envKey.MatchString(bare) {
		return strings.ToLower(bare), true
	}
	if strings.ContainsAny(subject, ",;:?!()") {
		return "", false
	}
	if attribute == "" {
		if m := possessive.FindStringSubmatch(subject); m != nil {
			return joinKey(m[1], m[2])
		}
		if m := ofPhrase.FindStringSubmatch(subject); m != nil {
			if key, slot := joinKey(m[2], m[1]); slot {
				return key, slot
			}
			return "", false
		}
	}
	words := subjectWords(subject)
	if attribute == "command" && len(words) > 0 && len(words) <= maxSubject && !slices.ContainsFunc(words, func(w string) bool { return !keyWord.MatchString(w) || pointing()[w] }) {
		return "project." + strings.TrimSuffix(keyOf(singularTests(words)), "_command") + "_command", true
	}
	if len(words) == 0 || len(words) > maxSubject || !nameable(words) {
		return "", false
	}
	if attribute != "" {
		if words[len(words)-1] == attribute {
			words = words[:len(words)-1]
			if len(words) == 0 {
				return "project." + attribute, true
			}
		}
		return keyOf(words) + "." + attribute, true
	}
	head := words[len(words)-1]
	switch {
	case head == "command" || head == "cmd":
		if len(words) == 1 {
			return "", false
		}
		return "project." + keyOf(words[:len(words)-1]) + "_command", true
	case len(words) == 1:
		return "project." + head, slots()[head]
	case compounds()[strings.Join(words, " ")]:
		return "project." + keyOf(words), true
	}
	return keyOf(words[:len(words)-1]) + "." + strings.Trim(head, "."), slots()[head]
}

// isFigure tells whether a text is a number, with or without its unit.
func isFigure(text string) bool {
	text = strings.Trim(text, " .!`")
	return numeric.MatchString(text) || grouped.MatchString(text) || measured.MatchString(text)
}

// joinKey names a part of a whole.
func joinKey(whole, part string) (string, bool) {
	w, p := subjectWords(whole), subjectWords(part)
	if len(w) == 0 || len(p) == 0 || len(w)+len(p) > maxSubject+1 || !nameable(w) || !nameable(p) {
		return "", false
	}
	if p[len(p)-1] == "command" {
		return "project." + keyOf(slices.Concat(w, p)), true
	}
	return keyOf(w) + "." + keyOf(p), slots()[p[len(p)-1]]
}

// singularTests calls what is run by one name: "the tests" and "the test suite" are "test".
func singularTests(words []string) []string {
	if text := strings.Join(words, " "); text == "tests" || text == "test suite" || text == "all tests" || text == "run the tests" || text == "test" {
		return []string{"test"}
	}
	for len(words) > 1 && (words[0] == "run" || words[0] == "the") {
		words = words[1:]
	}
	if len(words) > 1 && words[1] == "the" {
		words = slices.Delete(slices.Clone(words), 1, 2)
	}
	return words
}

func keyOf(words []string) string {
	return strings.Trim(strings.Join(words, "_"), "._-/")
}

// nameable tells whether words can be a name: none points elsewhere, none is a verb or a conjunction.
func nameable(words []string) bool {
	if nobody()[words[0]] && len(words) == 1 || pointing()[words[0]] {
		return false
	}
	for _, w := range words {
		if !keyWord.MatchString(w) || unnameable()[w] {
			return false
		}
	}
	return !nobody()[words[len(words)-1]]
}

var (
	pointing   = wordlist.Set(rulesWords, "pronouns")
	unnameable = wordlist.Set(rulesWords, "no part of a name")
)

// compounds are names of two words of which the second alone says too little.
var compounds = wordlist.Phrases(rulesWords, "names of two words")

var (
	numeric  = lazyregexp.New(`^-?\d{1,15}(?:\.\d{1,10})?$`)
	grouped  = lazyregexp.New(`^\d{1,3}(?:,\d{3})+$`)
	measured = lazyregexp.New(`(?i)^\d+(?:\.\d+)? ?(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|days?|weeks?|kb|mb|gb|tb|kib|mib|gib|%|percent|req/s|rps|requests per \w+|characters|chars|spaces|columns|rows|bytes|users|usd|eur|px)$`)
	address  = lazyregexp.New(`^(?:https?|wss?|postgres(?:ql)?|mysql|redis|amqp|s3|gs|git|ssh|file)://\S+$`)
	pathLike = lazyregexp.New(`^[~.]?/?[\w@.-]+(?:/[\w@.*-]+)+/?$|^/\w[\w./-]*$|^[\w-]+\.(?:ya?ml|toml|json|env|ini|cfg|conf|md|py|go|ts|js|sql|lock|txt|xml)$`)
	hostLike = lazyregexp.New(`^[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?$|^\w[\w.-]*:\d{2,5}$`)
	idLike   = lazyregexp.New(`^[A-Za-z][\w.@+-]*(?:[\d_.+@-])[\w.@+-]*$|^v?\d+(?:\.\d+)+[\w.-]*$`)
	proper   = lazyregexp.New(`^[A-Z][\w.+#-]*(?: (?:[A-Z][\w.+#-]*|\d[\w.]*))*$`)
	plain    = lazyregexp.New(`^[a-z][a-z0-9-]{1,30}$`)
)

// stateWords are what things are for a while, or in somebody's eyes: no values.
var stateWords = wordlist.Set(rulesWords, "states")

// factValue reads a value; slot tells whether a plain word is one, because of
// what it is said of. word tells that it is a plain word.
func factValue(text string, slot bool) (value any, word, ok bool) {
	text = strings.TrimSpace(text)
	text = strings.TrimRight(text, " .!,")
	quoted := false
	if n := len(text); n > 2 && (text[0] == '`' || text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] && !strings.ContainsAny(text[1:n-1], string(text[0])) {
		text, quoted = strings.TrimSpace(text[1:n-1]), true
	} else if m := leadingCode.FindStringSubmatch(text); m != nil && slot {
		text, quoted = m[1], true // `make test` in the root folder
	}
	text = strings.Trim(text, "<>*")
	if text == "" || len(text) > maxSentence || strings.ContainsAny(text, "\x00\n") {
		return nil, false, false
	}
	switch {
	case numeric.MatchString(text):
		return json.Number(text), false, quoted || slot
	case grouped.MatchString(text):
		return json.Number(strings.ReplaceAll(text, ",", "")), false, slot
	case text == "true" || text == "false":
		b, _ := strconv.ParseBool(text) // one of both
		return b, false, slot || quoted
	case quoted:
		return text, false, true
	case address.MatchString(text), measured.MatchString(text):
		return text, false, true
	}
	for _, article := range []string{"the ", "a ", "an ", "our ", "port ", "version "} {
		if rest, cut := strings.CutPrefix(text, article); cut && slot {
			if article == "port " || article == "version " {
				return factValue(rest, slot)
			}
			return nil, false, false // "the port is the one that …"
		}
	}
	switch {
	case stateWords()[strings.ToLower(text)]:
		return nil, false, false
	case pathLike.MatchString(text), hostLike.MatchString(text) && slot, idLike.MatchString(text) && slot:
		return text, false, true
	case proper.MatchString(text) && slot && !nobody()[strings.ToLower(text)]:
		return text, true, true
	case plain.MatchString(text) && slot && !nobody()[text] && !unnameable()[text] && !strings.HasSuffix(text, "ing") && !strings.HasSuffix(text, "ed"):
		return text, true, true
	}
	return nil, false, false
}

var leadingCode = lazyregexp.New("^(?:port |branch |version )?`([^`]+)`(?:,? (?:in|on|from|at|for|because|so|since|which|with|and) .*| \\([^)]*\\)| (?:branch|command|file|folder|directory|port|database|schema|table))?$")

func factCategory(key string, value any) string {
	text, _ := value.(string)
	head := key[strings.LastIndex(key, ".")+1:]
	switch {
	case strings.HasSuffix(head, "command"):
		return categoryCommands
	case slices.Contains([]string{"port", "host", "hostname", "url", "endpoint", "address", "domain", "base_url"}, head), strings.Contains(text, "://"), strings.HasSuffix(head, "_port"), strings.HasSuffix(head, "_url"), strings.HasSuffix(head, "_host"):
		return categoryNetwork
	case slices.Contains([]string{"path", "file", "directory", "folder", "dir", "entrypoint"}, head):
		return categoryPaths
	case slices.Contains([]string{"version", "package_manager", "test_runner", "formatter", "linter", "framework", "language", "database", "orm"}, head), strings.HasPrefix(key, "project.uses."):
		return categoryTooling
	}
	return categorySettings
}

// tools are what well-known programs are to a project that uses them.
var tools = sync.OnceValue(func() map[string]string {
	of := map[string]string{}
	for key, names := range wordlist.Pairs(rulesWords, "tools") {
		for name := range strings.FieldsSeq(names) {
			of[name] = key
		}
	}
	return of
})

// usesFact states what a project uses something for.
func usesFact(name, purpose string) (statement, bool) {
	key := tools()[strings.ToLower(name)]
	if purpose != "" {
		words := subjectWords(purpose)
		if len(words) == 0 || len(words) > 4 || !nameable(words) {
			return statement{}, false
		}
		if key == "" || !generalPurpose()[strings.Join(words, " ")] {
			key = keyOf(words)
		}
	}
	if key == "" || nobody()[strings.ToLower(name)] || unnameable()[strings.ToLower(name)] {
		return statement{}, false
	}
	return statement{key: "project." + key, category: categoryTooling, value: name, word: tools()[strings.ToLower(name)] == ""}, true
}

// generalPurpose are purposes that a tool's own kind says better.
var generalPurpose = wordlist.Set(rulesWords, "general purposes")

// pronounOf is the key of the one stated value that "it" can mean: the latest of the same kind.
func pronounOf(subject, value string, stated map[string]*statedFact) string {
	words := subjectWords(subject)
	if s := strings.ToLower(strings.TrimSpace(subject)); s != "it" && s != "that" && (len(words) != 1 || !pointing()[words[0]]) {
		return ""
	}
	v, _, ok := factValue(value, true)
	if !ok {
		return ""
	}
	key, latest := "", -1
	for k, f := range stated {
		_, number := v.(json.Number)
		_, was := f.value.(json.Number)
		if turn := f.turns[len(f.turns)-1]; number && was && turn > latest {
			key, latest = k, turn
		} else if turn == latest && number && was {
			key = "" // two were stated at once
		}
	}
	return key
}
