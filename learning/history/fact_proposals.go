package history

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/learning/decision"
	"github.com/skillrouter/skillrouter/learning/fact"
)

// statedFact is what a transcript says of one key. What is stated later takes the place of what was stated before.
type statedFact struct {
	key        string
	text       string // the value as it was stated
	number     bool
	category   string
	confidence float64
	turns      []int
	quotes     []string
}

// The times to live of stated values, in seconds.
const (
	ttlStated  = 30 * 86400 // commands: a month, and then it should be seen again
	ttlNetwork = 7 * 86400  // ports and addresses move sooner
)

// Bounds of what is looked at: a transcript of megabytes takes a second and not a minute.
const (
	maxSaid     = 20_000 // lines of prose
	maxStated   = 500    // keys
	maxSentence = 240    // bytes of a sentence that states one value
	maxSubject  = 4      // words of a subject: what takes more to say is no name
)

// forms are the sentences that state a port, an address or a command: whose, and which. A model, where one is configured, finds all others.
var forms = []struct {
	category, attribute string
	pattern             *lazyregexp.Regexp
}{
	{"network", "port", lazyregexp.New("(?i)^(.{2,50}?)(?:'s)? (?:(?:is|are|(?:is |are |now )*(?:listens?|listening|runs?|running|served|exposed)) (?:now )?(?:on|at) (?:the )?port|port(?: is| now)+) `?(\\d{2,5})`?(?: (?:now|locally|instead|by default|from now on))*(?:, (?:we|as|since|because) .*)?[.!]?$")},
	{"network", "url", lazyregexp.New(`(?i)^(.{2,50}?)(?:'s)? (?:(?:url|address) is(?: now)?|(?:is|are|lives?|runs?|is (?:hosted|reachable|available)) (?:now )?(?:at|on|under)) <?(https?://[^\s>]+?)>?[.!]?$`)},
	{"commands", "command", lazyregexp.New("(?i)^(.{2,50}?) command is(?: now)? `([^`]+)`[.!]?$")},
}

var (
	doubts = lazyregexp.New(`(?i)\b(?:if|whether|maybe|perhaps|possibly|probably|might|may|could|would|should|seems?|looks like|i think|i guess|i believe|i assume|suppose|unless|apparently|not sure|e\.g\.|for example|for instance|will be|isn't|aren't|not|don't|doesn't|no longer|let me|there (?:is|are))\b`)
	saysIt = lazyregexp.New("(?i)^(?:it|that)(?:'s| is)(?: now| actually)* `?(\\d{2,5})`?(?: now)?[.!]?$")
	named  = lazyregexp.New(`^(?:the |our |this )?((?:[a-z0-9][a-z0-9_.+/-]*)(?: [a-z0-9][a-z0-9_.+/-]*)*)$`)
	nobody = lazyregexp.New(`^(?:it|this|that|these|those|he|she|they|we|i|you|everything|something|which|what|who)\b`)
)

// facts proposes the ports, addresses and commands that somebody states.
func (s *scene) facts() (drafts []ProposalDraft) {
	var stated []*statedFact
	for i, line := range s.said {
		if len(stated) >= maxStated || line.role == roleTool || i >= maxSaid/2 && i < len(s.said)-maxSaid/2 {
			continue // of an endless transcript, its beginning and its end
		}
		for _, sentence := range decision.Sentences(line.text) {
			f := factOf(sentence, stated)
			if f == nil || secretName(f.key) {
				continue
			}
			f.confidence = map[string]float64{roleUser: factUser, roleSystem: factSystem, roleAssistant: factAssistant}[line.role]
			f.turns, f.quotes = []int{line.turn}, []string{sentence}
			if at := slices.IndexFunc(stated, func(o *statedFact) bool { return o.key == f.key }); at < 0 {
				stated = append(stated, f)
			} else if stated[at].text != f.text {
				stated[at] = f
			}
			f.corrects(stated)
		}
	}
	for _, f := range stated {
		value, ttl := json.RawMessage(f.text), int64(ttlNetwork)
		if !f.number {
			value, _ = json.Marshal(f.text) // a string cannot fail
		}
		if f.category == "commands" {
			ttl = ttlStated
		}
		drafts = append(drafts, ProposalDraft{
			Kind: ProposalFact, Fact: &fact.Draft{Key: f.key, Value: value, Category: f.category, TTL: &ttl}, Confidence: f.confidence, Evidence: f.quotes, Turns: f.turns,
		})
	}
	return drafts
}

// corrects has the address of a thing say the port that was stated now.
func (f *statedFact) corrects(stated []*statedFact) {
	thing, isPort := strings.CutSuffix(f.key, ".port")
	for _, other := range stated {
		at, err := url.Parse(other.text)
		if !isPort || other.key != thing+".url" || err != nil || at.Port() == "" || at.Port() == f.text {
			continue
		}
		at.Host = at.Hostname() + ":" + f.text
		other.text = at.String()
		other.turns, other.quotes = append(other.turns, f.turns...), append(other.quotes, f.quotes...)
	}
}

// factOf is what a sentence states; nil: nothing. A sentence that asks, denies or supposes states nothing.
func factOf(sentence string, stated []*statedFact) *statedFact {
	text := strings.TrimLeft(decision.Openers.ReplaceAllString(sentence, ""), "*_ ")
	if len(sentence) > maxSentence || strings.HasSuffix(text, "?") || strings.Contains(text, "[redacted") || doubts.MatchString(text) {
		return nil
	}
	if m := saysIt.FindStringSubmatch(text); m != nil { // "No, it's 9090" is the port that was stated last
		for _, other := range slices.Backward(stated) {
			if other.number {
				return &statedFact{key: other.key, text: m[1], number: true, category: other.category}
			}
		}
		return nil
	}
	for _, form := range forms {
		m := form.pattern.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		subject := named.FindStringSubmatch(strings.ToLower(strings.NewReplacer("`", "", "*", "", `"`, "").Replace(m[1])))
		if subject == nil || nobody.MatchString(subject[1]) || strings.Count(subject[1], " ") >= maxSubject {
			return nil
		}
		name := strings.ReplaceAll(subject[1], " ", "_")
		key := name + "." + form.attribute
		if form.attribute == "command" {
			key = "project." + name + "_command"
		}
		return &statedFact{key: key, text: m[2], number: form.attribute == "port", category: form.category}
	}
	return nil
}
