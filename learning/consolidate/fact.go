package consolidate

import (
	_ "embed"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"skillrouter/internal/lazyregexp"
	"skillrouter/learning/fact"
	"skillrouter/learning/incident"
	"skillrouter/tfidf/wordlist"
)

// statedFact is what a transcript says of one key. What is stated later takes the place of what was stated before.
type statedFact struct {
	key, text  string // text is the value as it was stated
	value      any
	word       bool // the value is a plain word
	confidence float64
	turns      []int
	quotes     []string
}

// The times to live of stated values, in seconds.
const (
	ttlStated  = 30 * 86400 // commands, names, settings: a month, and then it should be seen again
	ttlNetwork = 7 * 86400  // ports, hosts and addresses move sooner
)

// Bounds of what is looked at: a transcript of megabytes takes a second and not a minute.
const (
	maxSaid     = 20_000 // lines of prose
	maxStated   = 500    // keys
	maxSentence = 240    // bytes of a sentence that states one value
	maxSubject  = 5      // words of a subject: what takes more to say is no name
)

// forms are the ways in which people state values, the most telling first; each catches the subject and the value. A
// configured model finds more of them.
var forms = []struct {
	pattern   *lazyregexp.Regexp
	attribute string
}{
	{lazyregexp.New("(?i)^(?:to |you can |we |always |please )*(?:run|start) (?:the |all |our )?([a-z][a-z -]{2,30}?) (?:with|using|via|by running|by)[:,]? `([^`]+)`"), "command"},
	{lazyregexp.New("(?i)^(?:to|for) (?:run )?((?:the )?(?:tests?|build|deploy|lint|format|release|migrate|install|seed)[a-z -]{0,30}?),? (?:we |you |just |always |please |should |need to )*(?:use|run|call|execute):? `([^`]+)`"), "command"},
	{lazyregexp.New("(?i)^(?:the |our |all )?([a-z][a-z -]{2,30}?) (?:is|are) (?:run|started|built|deployed) (?:with|using|via|by) `([^`]+)`"), "command"},
	{lazyregexp.New("(?i)^(.{2,50}?) (?:now |is |are )*(?:listens?|listening|runs?|running|served|exposed|uses|is)? ?(?:now )?(?:on|at)? ?(?:the )?(?:port |localhost:|127\\.0\\.0\\.1:|0\\.0\\.0\\.0:|:)`?(\\d{2,5})`?(?: (?:now|locally|instead|by default))*(?:,? not `?[\\w]+`?)?[.!]?$"), "port"},
	{lazyregexp.New(`(?i)^(.{2,50}?) (?:is|are|lives?|runs?|is (?:hosted|reachable|available|deployed)) (?:at|on|under) <?(https?://[^\s>]+?)>?[.!]?$`), "url"},
	{lazyregexp.New("(?i)^(.{2,50}?) (?:lives?|is|are|is (?:located|stored|kept)) (?:in|at|under) (`[^`]+`|\\S*/\\S*)[.!]?$"), "path"},
	{lazyregexp.New("^`?([A-Za-z][\\w.-]{1,60})`? ?(?:==?|:=) ?(`[^`]+`|\"[^\"]+\"|'[^']+'|[^\\s,;=]+)[.!]?$"), assignedValue},
	{lazyregexp.New("(?i)^(.{2,60}?)(?: is| are| (?:has been|was|were|got) (?:changed|set|moved|switched|updated|renamed) to| changed to| defaults? to| is set to| is called)(?: now| always| currently| actually| still)* (.{1,120}?)(?:,? (?:now|instead|by default|everywhere))?(?:,? (?:and )?not `?[\\w./-]+`?)?[.!]?$"), ""},
}

// assignedValue is the attribute of what was written as "x = y".
const assignedValue = "="

//go:embed words.txt
var rulesWords string

// What is known of words.
var (
	slots      = wordlist.Set(rulesWords, "nouns with a value")
	articles   = wordlist.Set(rulesWords, "articles")
	nobody     = wordlist.Set(rulesWords, "no subjects")
	unnameable = wordlist.Set(rulesWords, "no part of a name")
	stateWords = wordlist.Set(rulesWords, "states")
	compounds  = wordlist.Phrases(rulesWords, "names of two words")
)

var (
	openers    = lazyregexp.New(`(?i)^(?:(?:no|nope|wait|actually|sorry|correction|ok(?:ay)?|so|well|also|yes|and|but|note|fyi|remember|important|by the way|for the record|please (?:note|remember))(?: that)?[,:]? )+`)
	doubts     = lazyregexp.New(`(?i)\b(?:if|whether|maybe|perhaps|possibly|probably|might|may|could|would|should|seems?|looks like|i think|i guess|i believe|i assume|suppose|unless|apparently|not sure|e\.g\.|for example|for instance|will be|isn't|aren't|is not|are not|don't|doesn't|no longer|let me|there (?:is|are))\b`)
	dottedKey  = lazyregexp.New(`^(?:[A-Za-z_][\w-]*(?:\.[\w-]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)$`)
	possessive = lazyregexp.New(`(?i)^(.+?)(?:'s|s') (.+)$`)
	ofPhrase   = lazyregexp.New(`(?i)^(.+?) (?:of|for) (?:the |our |this )?(.+)$`)
	keyWord    = lazyregexp.New(`^[a-z0-9][a-z0-9_.+/-]*$`)
	numeric    = lazyregexp.New(`^-?\d{1,15}(?:\.\d{1,10})?$`)
	telling    = lazyregexp.New(`^\w[\w+.-]*://\S+$|^\d+(?:\.\d+)? ?[A-Za-z%]{1,12}$|^[~.]?/?[\w@.-]+(?:/[\w@.*-]+)+/?$|^[\w-]+(?:\.[\w-]+)+(?::\d+)?$`)
	proper     = lazyregexp.New(`^[A-Z][\w.+#-]*(?: (?:[A-Z][\w.+#-]*|\d[\w.]*))*$`)
	plainValue = lazyregexp.New(`^[a-z][a-z0-9-]{1,30}$`)
	saysIt     = lazyregexp.New("(?i)^(?:it|that)(?:'s| is)(?: now| actually)* `?(\\d+)`?(?: now)?(?:,? not `?\\w+`?)?[.!]?$")
)

// facts proposes the values that somebody states.
func (s *scene) facts() (drafts []ProposalDraft) {
	var stated []*statedFact
	for i, line := range s.said {
		if len(stated) >= maxStated || line.role == roleTool || i >= maxSaid/2 && i < len(s.said)-maxSaid/2 {
			continue // of an endless transcript, its beginning and its end
		}
		for _, sentence := range sentences(line.text) {
			f := factOf(sentence, stated)
			if f == nil || secretName(f.key) {
				continue
			}
			f.confidence = map[string]float64{roleUser: factUser, roleSystem: factSystem, roleAssistant: factAssistant}[line.role]
			if f.confidence += factQuoted; f.word {
				f.confidence += factWord - factQuoted
			}
			f.turns, f.quotes = []int{line.turn}, []string{sentence}
			at := slices.IndexFunc(stated, func(o *statedFact) bool { return o.key == f.key })
			switch {
			case at < 0:
				stated = append(stated, f)
			case strings.EqualFold(stated[at].text, f.text):
				if was := stated[at]; was.turns[len(was.turns)-1] != line.turn {
					was.confidence, was.turns, was.quotes = max(was.confidence, f.confidence)+factAgain, append(was.turns, line.turn), append(was.quotes, sentence)
				}
				continue
			default:
				stated[at] = f
			}
			f.corrects(stated)
		}
	}
	for _, f := range stated {
		value, err := json.Marshal(f.value)
		if err != nil {
			continue
		}
		if slices.ContainsFunc(s.steps, func(step incident.Step) bool { return step.Command == f.text && step.Outcome == incident.Worked }) {
			f.confidence += factProved
		}
		category, ttl := f.category(), int64(ttlStated)
		if category == "network" {
			ttl = ttlNetwork
		}
		drafts = append(drafts, ProposalDraft{
			Kind: ProposalFact, Fact: &fact.Draft{Key: f.key, Value: value, Category: category, TTL: &ttl}, Confidence: f.confidence, Evidence: f.quotes, Turns: f.turns,
		})
	}
	return drafts
}

// corrects has the addresses that hold a port say the one that was stated now: those of the same thing.
func (f *statedFact) corrects(stated []*statedFact) {
	thing, isPort := strings.CutSuffix(f.key, ".port")
	for _, other := range stated {
		text, isText := other.value.(string)
		at, err := url.Parse(text)
		if !isPort || !isText || err != nil || at.Host == "" || at.Port() == "" || at.Port() == f.text || !(strings.HasPrefix(other.key, thing+".") || strings.HasPrefix(other.key, thing+"_")) {
			continue
		}
		at.Host = at.Hostname() + ":" + f.text
		other.value, other.text = at.String(), at.String()
		other.turns, other.quotes = append(other.turns, f.turns...), append(other.quotes, f.quotes...)
	}
}

// factOf is what a sentence states; nil: nothing. A sentence that asks, denies or supposes states nothing.
func factOf(sentence string, stated []*statedFact) *statedFact {
	text := strings.TrimLeft(openers.ReplaceAllString(sentence, ""), "*_ ")
	if len(sentence) > maxSentence || len(text) < 5 || strings.HasSuffix(text, "?") || strings.Contains(text, "[redacted") || doubts.MatchString(text) {
		return nil
	}
	if m := saysIt.FindStringSubmatch(text); m != nil { // "No, it's 9090" is the number that was stated last
		for _, other := range slices.Backward(stated) {
			if _, number := other.value.(json.Number); number {
				return &statedFact{key: other.key, text: m[1], value: json.Number(m[1])}
			}
		}
		return nil
	}
	for _, form := range forms {
		m := form.pattern.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		key, slot := factKey(m[1], form.attribute)
		quoted := m[2]
		if form.attribute == "command" {
			quoted = "`" + m[2] + "`"
		}
		f := &statedFact{key: key}
		if key == "" || !f.take(quoted, slot || form.attribute != "") {
			return nil
		}
		return f
	}
	return nil
}

// subjectWords are the words of a subject, in lower case, without articles.
func subjectWords(subject string) []string {
	words := strings.Fields(strings.ToLower(strings.NewReplacer("`", "", "*", "", "\"", "").Replace(subject)))
	for len(words) > 0 && articles()[words[0]] {
		words = words[1:]
	}
	return words
}

// factKey names what a subject speaks of: "the port of the API" is api.port. slot tells whether it ends with a noun that has a value.
func factKey(subject, attribute string) (key string, slot bool) {
	bare := strings.Trim(strings.TrimSpace(subject), "`*\"'")
	if dottedKey.MatchString(bare) {
		return strings.ToLower(bare), true
	}
	if m := possessive.FindStringSubmatch(bare); m != nil && attribute == "" {
		bare = m[1] + " " + strings.Join(subjectWords(m[2]), "_")
	} else if m := ofPhrase.FindStringSubmatch(bare); m != nil && attribute == "" {
		bare = m[2] + " " + strings.Join(subjectWords(m[1]), "_")
	}
	words := subjectWords(bare)
	if attribute == "port" || attribute == "url" || attribute == "path" {
		words = append(words, attribute)
		words = slices.Compact(words)
	}
	command := attribute == "command" || len(words) > 1 && words[len(words)-1] == "command"
	if len(words) == 0 || len(words) > maxSubject+1 || !command && (nobody()[words[len(words)-1]] || nobody()[words[0]] && len(words) < 3) ||
		slices.ContainsFunc(words, func(w string) bool { return !keyWord.MatchString(w) || unnameable()[w] && w != "run" }) {
		return "", false
	}
	head, rest := words[len(words)-1], strings.Join(words[:len(words)-1], "_")
	last := head[strings.LastIndexByte(head, '_')+1:]
	switch {
	case command:
		if head != "command" {
			rest = strings.Join(words, "_")
		}
		return "project." + strings.TrimSuffix(rest, "s") + "_command", true
	case rest == "":
		return "project." + head, slots()[head] || attribute == assignedValue
	case compounds()[strings.Join(words, " ")]:
		return "project." + rest + "_" + head, true
	}
	return rest + "." + strings.Trim(head, "."), slots()[last]
}

// take reads a value; slot tells whether a plain word is one, because of what it is said of.
func (f *statedFact) take(text string, slot bool) bool {
	text = strings.TrimRight(strings.TrimSpace(text), " .!,")
	for _, before := range []string{"port ", "version "} {
		text = strings.TrimPrefix(text, before)
	}
	quoted := false
	if n := len(text); n > 2 && strings.IndexByte("`\"'", text[0]) >= 0 && text[n-1] == text[0] && !strings.ContainsAny(text[1:n-1], text[:1]) {
		text, quoted = strings.TrimSpace(text[1:n-1]), true
	}
	f.text, f.value = text, text
	switch {
	case text == "" || strings.ContainsAny(text, "\x00\n") || stateWords()[strings.ToLower(text)] && !quoted:
		return false
	case numeric.MatchString(text):
		f.value = json.Number(text)
		return slot || quoted || strings.Contains(f.key, ".") && !strings.HasPrefix(f.key, "project.")
	case text == "true" || text == "false":
		f.value = text == "true"
		return slot || quoted
	case quoted, telling.MatchString(text):
		return quoted || slot || strings.Contains(text, "://") || strings.Contains(text, "/")
	}
	f.word = true
	return slot && (proper.MatchString(text) || plainValue.MatchString(text)) && !nobody()[strings.ToLower(text)] && !unnameable()[text]
}

// category is what kind of value it is.
func (f *statedFact) category() string {
	head := f.key[strings.LastIndexAny(f.key, "._")+1:]
	switch {
	case head == "command":
		return "commands"
	case slices.Contains([]string{"port", "host", "hostname", "url", "endpoint", "address", "domain"}, head) || strings.Contains(f.text, "://"):
		return "network"
	case slices.Contains([]string{"path", "file", "directory", "folder", "dir"}, head):
		return "paths"
	}
	return "settings"
}
