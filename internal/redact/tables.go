package redact

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"skillrouter/tfidf/wordlist"
)

// redactText is what the redaction knows of secrets; what its lines say is told in it.
//
//go:embed redact.txt
var redactText string

// lookup is what the redactor looks up: most of it by a byte or three.
type lookup struct {
	formsBy    [256][]tokenForm  // by the first byte of the prefix
	namesBy    [256][]secretName // by the last byte, longer ones first
	stagesBy   [256][]string     // by the last byte
	saidBy     [256][]saidName   // by the first byte
	options    []commandOption
	connectors map[string]bool
	formats    []string
	trigger    [256]byte
	starts     [1 << 15]bool
}

// tables reads them when a text is first looked through: the program is started
// for each of an agent's steps, and most of its starts look through none.
var tables = sync.OnceValue(func() *lookup {
	t := &lookup{connectors: wordlist.Set(redactText, "connectors")()}
	for form, prefixes := range wordlist.Pairs(redactText, "tokens") {
		words := append(strings.Fields(form), "0")
		solid, _ := strconv.Atoi(words[2])
		for prefix := range strings.FieldsSeq(prefixes) {
			t.formsBy[prefix[0]] = append(t.formsBy[prefix[0]], tokenForm{prefix, words[0], readShape(words[1]), solid})
		}
	}
	for _, heading := range []string{"names", "weak names"} {
		for kind, names := range wordlist.Pairs(redactText, heading) {
			for name := range strings.FieldsSeq(names) {
				last := name[len(name)-1]
				t.namesBy[last] = append(t.namesBy[last], secretName{name, kind, heading == "weak names"})
			}
		}
	}
	for _, names := range t.namesBy {
		slices.SortStableFunc(names, func(a, b secretName) int { return len(b.suffix) - len(a.suffix) })
	}
	for stage := range strings.FieldsSeq(wordlist.Lines(redactText, "stages")[0]) {
		last := stage[len(stage)-1]
		t.stagesBy[last] = append(t.stagesBy[last], stage)
	}
	for kind, words := range wordlist.Pairs(redactText, "said") {
		for word := range strings.SplitSeq(words, ", ") {
			t.saidBy[word[0]] = append(t.saidBy[word[0]], saidName{word, kind})
		}
	}
	for command, options := range wordlist.Pairs(redactText, "options") {
		if quoted, err := strconv.Unquote(command); err == nil {
			command = quoted
		}
		for option := range strings.SplitSeq(options, ", ") {
			t.options = append(t.options, readOption(command, option))
		}
	}
	t.formats = strings.Fields(wordlist.Lines(redactText, "formats")[0])
	t.trigger, t.starts = t.makeTrigger(), t.makeStarts()
	return t
})

// readOption reads how an option takes a secret: "-p VALUE", "-pVALUE", "-u USER:VALUE".
func readOption(command, said string) (o commandOption) {
	o.command = command
	said = strings.TrimSuffix(said, "VALUE")
	if option, user, ok := strings.Cut(said, "USER"); ok {
		said, o.user = option, user[0]
	}
	o.option, o.attached = strings.TrimSuffix(said, " "), !strings.HasSuffix(said, " ")
	return o
}
