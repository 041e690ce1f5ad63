package consolidate

import (
	"encoding/json"
	"slices"
	"strings"

	"skillrouter/internal/lazyregexp"
	"skillrouter/learning/fact"
)

// statement is a value that somebody states.
type statement struct {
	key, category string
	value         any
	fleeting      bool
	label         bool // "port: 8080" rather than a sentence
	word          bool // the value is a plain word
}

// statedFact is what the statements of a transcript say of one key.
type statedFact struct {
	statement
	confidence float64
	turns      []int
	quotes     []string
	gone       bool
}

// The times to live of stated values, in seconds.
const (
	ttlStated   = 30 * 86400 // conventions, commands, names: a month, and then it should be seen again
	ttlNetwork  = 7 * 86400  // ports, hosts and addresses move sooner
	ttlFleeting = 86400      // "currently"
)

// Bounds of what is looked at: a transcript of megabytes takes a second and not a minute.
const (
	maxSaid   = 20_000 // lines of prose
	maxStated = 500    // keys
)

// facts finds values that somebody states. What is stated later takes the place
// of what was stated before.
func (s *ruleScene) facts() []ProposalDraft {
	var keys []string
	stated := map[string]*statedFact{}
	lastTurn := map[int][]string{} // keys by the turn that stated them
	for i, line := range s.said {
		if len(keys) == maxStated {
			break
		}
		if i >= maxSaid/2 && i < len(s.said)-maxSaid/2 {
			continue // of an endless transcript, its beginning and its end
		}
		if disputes.MatchString(line.text) && line.role == roleUser {
			for back := line.turn - 1; back >= max(0, line.turn-2); back-- {
				for _, key := range lastTurn[back] {
					if n := len(stated[key].turns); n == 1 { // nobody else said so
						stated[key].gone = true
					}
				}
				if len(lastTurn[back]) > 0 {
					break
				}
			}
		}
		for _, sentence := range sentences(line.text) {
			if key, value, ok := denies(sentence); ok {
				for k, f := range stated {
					if (key == "" || k == key) && render(f.value) == value {
						f.gone = true
					}
				}
			}
			for _, st := range line.statements(sentence, stated) {
				f := stated[st.key]
				if f == nil {
					f = &statedFact{}
					stated[st.key] = f
					keys = append(keys, st.key)
				}
				f.state(st, line, sentence)
				lastTurn[line.turn] = append(lastTurn[line.turn], st.key)
			}
		}
	}
	proved := map[string]bool{}
	for _, h := range s.happened {
		if h.command != nil && (h.command.outcome == outcomeOK || h.command.outcome == outcomeProved) {
			proved[h.command.text] = true
		}
	}
	var drafts []ProposalDraft
	for _, key := range keys {
		f := stated[key]
		if f.gone || secretName(key) {
			continue
		}
		value, err := json.Marshal(f.value)
		if err != nil {
			continue
		}
		if text, ok := f.value.(string); ok && proved[text] {
			f.confidence += factProved
		}
		ttl := int64(ttlStated)
		if f.category == categoryNetwork {
			ttl = ttlNetwork
		}
		if f.fleeting {
			ttl = ttlFleeting
		}
		drafts = append(drafts, ProposalDraft{
			Kind: ProposalFact, Fact: &fact.Draft{Key: key, Value: value, Category: f.category, TTL: &ttl},
			Confidence: bounded(f.confidence), Evidence: f.quotes, Turns: f.turns,
		})
	}
	return drafts
}

// state takes a statement in.
func (f *statedFact) state(st statement, line ruleLine, sentence string) {
	confidence := map[string]float64{roleUser: factUser, roleSystem: factSystem, roleAssistant: factAssistant, roleTool: factTool}[line.role]
	if st.label {
		confidence += factLabel
	}
	if st.word {
		confidence += factWord
	} else {
		confidence += factQuoted
	}
	if st.fleeting {
		confidence += factFleeting
	}
	same := len(f.turns) > 0 && !f.gone && render(f.value) == render(st.value)
	switch {
	case same && !slices.Contains(f.turns, line.turn):
		f.confidence = max(f.confidence, confidence) + factAgain
	case same:
	case len(f.turns) > 0 && !f.gone && line.role == roleTool:
		return // what a program prints unsays nobody
	default:
		f.statement, f.confidence, f.gone = st, confidence, false
		f.quotes = nil
	}
	f.turns, f.quotes = append(f.turns, line.turn), append(f.quotes, sentence)
}

func render(value any) string {
	if text, ok := value.(string); ok {
		return strings.ToLower(text)
	}
	text, _ := json.Marshal(value) // numbers and booleans cannot fail
	return string(text)
}

var (
	disputes = lazyregexp.New(`(?i)^(?:no,? |nope,? |wait,? )?(?:that's|that is|this is|it's) (?:not (?:right|correct|true)|wrong|incorrect|outdated)|^(?:no|nope|wrong)[.!]?$`)
	denied   = lazyregexp.New("(?i)^(.{2,60}?) (?:is|are|does|do)(?:n't| not| no longer)(?: (?:use|on|listen on|run on))? (.{1,80}?)(?: any ?more)?[.!]?$")
	notValue = lazyregexp.New("(?i)(?:,| -|—|\\()? ?(?:and )?not ([`\"']?[\\w./:-]+[`\"']?)\\)?[.!]?$")
)

// denies tells whether a sentence says that something does not have a value.
func denies(sentence string) (key, value string, ok bool) {
	if m := denied.FindStringSubmatch(sentence); m != nil && !strings.HasSuffix(sentence, "?") {
		key, _ := factKey(m[1], "")
		if v, _, ok := factValue(m[2], true); ok {
			return key, render(v), true
		}
	}
	if m := notValue.FindStringSubmatch(sentence); m != nil {
		if v, _, ok := factValue(m[1], true); ok {
			return "", render(v), true
		}
	}
	return "", "", false
}

const (
	quotedForm = "`([^`]+)`"
	startForm  = `(?i)^`
)

// forms are the ways in which people state values, the most telling first. In what they
// state, $1, $2 and $3 stand for what the pattern caught.
var forms = []struct {
	pattern                   *lazyregexp.Regexp
	subject, attribute, value string
}{
	// To run the tests, use `make test`. Run the tests with `make test`.
	{lazyregexp.New(startForm + "(?:to |you can |we |always |please )*(?:run|start|execute|launch) (?:the |all |our )?([a-z][a-z -]{2,30}?) (?:with|using|via|by running|by|,? ?use|,? ?run):? " + quotedForm), "$1", "command", "`$2`"},
	{lazyregexp.New(startForm + "(?:to|for) ((?:build|test|deploy|lint|format|release|migrate|install|start|run|seed|publish|typecheck)[a-z -]{0,30}?),? (?:we |you |just |always |please |should |need to )*(?:use|run|call|execute):? " + quotedForm), "$1", "command", "`$2`"},
	{lazyregexp.New(startForm + "(?:always |please |we )*use " + quotedForm + " to (?:run (?:the )?([a-z ]{3,25})|(build|test|deploy|lint|format|release|migrate|install|start))(?: .{0,30})?[.!]?$"), "$2$3", "command", "`$1`"},
	// Tests are run with `pytest -q`.
	{lazyregexp.New(startForm + "(?:the |our |all )?([a-z][a-z -]{2,30}?) (?:is|are|get|gets) (?:run|started|built|deployed|executed|launched) (?:with|using|via|by|through) " + quotedForm), "$1", "command", "`$2`"},
	// The API listens on port 8080. The database is on 5433.
	{lazyregexp.New(startForm + "(.{2,50}?) (?:now )?(?:listens?|runs?|is running|is listening|is served|is exposed|starts?|is|serves?|binds?) (?:now )?(?:on|at|to) (?:the )?(?:port |localhost:|127\\.0\\.0\\.1:|0\\.0\\.0\\.0:|:)`?(\\d{2,5})`?\\b(?: (?:now|locally|instead|by default|in [a-z]+))*,?(?: not [\\w`]+)?[.!]?$"), "$1", "port", "$2"},
	{lazyregexp.New(startForm + "(.{2,50}?) (?:uses|listens? on|is using) (?:the )?port `?(\\d{2,5})`?[.!]?$"), "$1", "port", "$2"},
	// The staging site is at https://…
	{lazyregexp.New(startForm + "(.{2,50}?) (?:is|are|lives?|runs?|can be (?:found|reached)|is (?:hosted|reachable|available|deployed)) (?:at|on|under) <?(https?://[^\\s>]+?)>?[.!]?$"), "$1", "url", "$2"},
	// The config lives in `config/app.yaml`.
	{lazyregexp.New(startForm + "(.{2,50}?) (?:lives?|is located|are located|is stored|are stored|is kept|are kept|is found|are found|are|is|sits?|go|goes) (?:in|at|under) (?:the )?(`[^`]+`|\\S*/\\S*)(?: (?:directory|folder|file))?[.!]?$"), "$1", "path", "$2"},
	// The API times out after 30 seconds. Tokens expire after 15 minutes.
	{lazyregexp.New(startForm + "(.{2,50}?) (?:times out|expires?|time out) after (\\d+ ?(?:ms|milliseconds|s|secs?|seconds|m|mins?|minutes|h|hours?|days?))[.!]?$"), "$1", "timeout", "$2"},
	// The project requires Node 20.
	{lazyregexp.New(startForm + "(?:the project|this project|this repo|the repo|the app|the build|the service|CI|production|prod|staging|we|it all) (?:requires?|needs?|uses?|runs? on|is on|are on|targets?|is pinned to|runs?) ([A-Z][A-Za-z+#.]{1,20}|[a-z]{2,12}) (?:version )?v?(\\d+(?:\\.\\d+){0,2})\\+?(?: (?:everywhere|now|or (?:later|newer)))?[.!]?$"), "$1", "version", "$2"},
	// X = Y
	{lazyregexp.New("^(?:set |we set |with )?`?([A-Za-z][\\w.-]{1,60})`? ?(?:==?|:=) ?(`[^`]+`|\"[^\"]+\"|'[^']+'|[^\\s,;=]+)`?[.!]?$"), "$1", assignedAttribute, "$2"},
	// port: 8080, test command: `make test`
	{lazyregexp.New("^(?:\\*\\*)?`?([A-Za-z][\\w .-]{1,40}?)`?(?:\\*\\*)?:(?:\\*\\*)? +(`[^`]+`|\"[^\"]+\"|https?://\\S+|\\d[\\w.%]*|true|false)[.!]?$"), "$1", labelAttribute, "$2"},
	// The test command is `pytest -q`. The port of the API has been changed to 9090.
	{lazyregexp.New(startForm + "(.{2,60}?)(?: is| are| has been (?:changed|set|moved|updated) to| (?:was|were|got) (?:changed|moved|switched|updated|renamed) to| changed to| should be set to| defaults? to| is set to| is called| is named|, which is)(?: now| always| currently| actually| still| called| named| set to| equal to| on branch)* (.{1,120}?)(?:,? (?:now|instead|by default|everywhere))?(?:,? (?:and )?not `?[\\w./-]+`?)?[.!]?$"), "$1", "", "$2"},
	// It's 9090.
	{lazyregexp.New("(?i)^(it|that)(?:'s| is)(?: now| actually)* `?(\\d[\\w.]*)`?(?: now)?(?:,? (?:and )?not `?[\\w./-]+`?)?[.!]?$"), "$1", "", "$2"},
}

// Attributes that no subject has: how a value was stated.
const (
	labelAttribute    = "\x00label"
	assignedAttribute = "\x00assigned"
)

// usesForm is "we use pnpm", whose key follows from what pnpm is.
var usesForm = lazyregexp.New("(?i)^(?:we|our team|the team|this (?:project|repo)|the (?:project|repo|codebase)|everyone here) (?:always |only |all |now )?(?:uses?|(?:have )?(?:switched|moved|migrated) to|standardi[sz]ed on) (`[^`]+`|[A-Za-z][\\w.+#-]{1,25}(?: [A-Z][\\w.+#-]{1,20})?)(?: (?:for|as) (?:the |our |all )?([a-z][a-z -]{2,30}?))?(?:,? (?:not|never|instead of|rather than|everywhere|here|now).*)?[.!]?$")

// statements are what a sentence states.
func (l ruleLine) statements(sentence string, stated map[string]*statedFact) []statement {
	if len(sentence) > maxSentence || len(sentence) < 5 || strings.Contains(sentence, "[redacted") {
		return nil
	}
	text, fleeting := opening(sentence)
	if doubtful(text) {
		return nil
	}
	if m := usesForm.FindStringSubmatch(text); m != nil {
		if st, ok := usesFact(strings.Trim(m[1], "`"), strings.TrimSpace(m[2])); ok {
			st.fleeting = fleeting
			return []statement{st}
		}
	}
	for _, form := range forms {
		m := form.pattern.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		caught := strings.NewReplacer("$1", m[1], "$2", m[2], "$3", m[len(m)-1])
		subject, attribute, value := caught.Replace(form.subject), form.attribute, caught.Replace(form.value)
		label := attribute == labelAttribute
		if label {
			attribute = ""
			if !slotNoun(subject) {
				return nil
			}
		}
		if l.role == roleTool && attribute != "port" && attribute != "url" {
			return nil // a program's output is full of things that look like statements
		}
		assigned := attribute == assignedAttribute
		if assigned {
			attribute = ""
		}
		key, slot := factKey(subject, attribute)
		// "The baseline MRR is 75000": of what has a name of several words, a figure is a value.
		slot = slot || assigned || key != "" && isFigure(value) && len(subjectWords(subject)) > 1
		if key == "" {
			// "No, it's 9090": what is spoken of is the one value of its kind that was stated.
			if key = pronounOf(subject, value, stated); key == "" {
				return nil
			}
			slot = true
		}
		v, word, ok := factValue(value, slot || attribute != "")
		if n, isNumber := v.(json.Number); isNumber && strings.HasSuffix(key, "version") {
			v = n.String() // 3.10 is not 3.1
		}
		if !ok {
			return nil
		}
		return []statement{{key: key, category: factCategory(key, v), value: v, fleeting: fleeting, label: label, word: word}}
	}
	return nil
}

// maxSentence bounds a sentence that states one value, in bytes.
const maxSentence = 240

var (
	openers     = lazyregexp.New(`(?i)^(?:(?:no|nope|wait|actually|sorry|correction|oops|hmm|ok(?:ay)?|so|well|also|yes|yeah|right|and|but|note|nb|btw|by the way|fyi|remember|important|reminder|for the record|one more thing|just so you know|good to know|heads up|keep in mind|please (?:note|remember)|note|remember|it turns out|turns out|as of (?:today|now)|from now on|going forward|in this (?:repo|project)|here|first|second|also)(?:[,:.—-]+ *| that | +))+`)
	fleetingly  = lazyregexp.New(`(?i)\b(?:currently|right now|at the moment|for now|today|temporarily|this week|until (?:tomorrow|monday|friday|next)|as of today)\b,? ?`)
	doubts      = lazyregexp.New(`(?i)\b(?:if|whether|maybe|perhaps|possibly|probably|might|may|could|would|should be|should probably|seems?|looks like|i think|i guess|i believe|i assume|assum(?:e|ing)|suppose|supposedly|imagine|let's say|unless|apparently|not sure|e\.g\.|for example|for instance|such as|i wonder|hopefully|guess|likely|unclear|used to|was|were|will be|going to|want|wish|what|which|who|why|how|when|where|never|no longer|cannot|can't|don't|doesn't|isn't|aren't|won't|nothing|nobody|none|try|trying|let me|let's|i'll|we'll)\b`)
	wasChanged  = lazyregexp.New(`(?i)\b(?:was|were) (?:changed|moved|switched|updated|renamed) to\b`)
	notPlain    = lazyregexp.New(`(?i)\bnot\b`)
	trailingNot = lazyregexp.New("(?i),? ?(?:-|—)? ?(?:and )?not `?[\\w./:-]+`?(?: any ?more)?(?:[.!]?$|,| in | here)")
	codeQuote   = lazyregexp.New("`[^`]*`")
)

// opening takes off what sentences begin with, and what says that it will not last.
func opening(sentence string) (text string, fleeting bool) {
	text = openers.ReplaceAllString(sentence, "")
	text = strings.TrimLeft(text, "*_ ")
	text = asides.ReplaceAllString(text, "")
	if plain := fleetingly.ReplaceAllString(text, ""); plain != text {
		return strings.TrimSpace(plain), true
	}
	return strings.TrimSpace(text), false
}

// asides follow a statement and say nothing of it.
var asides = lazyregexp.New("(?i)(?:,? (?:from now on|by the way|btw|then|too|as well|of course|for the record|as you (?:saw|know|can see)|please\\b[^`]*|we (?:changed|moved|switched|set) (?:it|that|them)[^`]*))+[.!]?$")

// doubtful tells whether a sentence asks, denies or supposes.
func doubtful(text string) bool {
	if strings.HasSuffix(text, "?") || text == "" {
		return true
	}
	plain := codeQuote.ReplaceAllString(text, "x")
	plain = wasChanged.ReplaceAllString(plain, "is")
	plain = trailingNot.ReplaceAllString(plain, "")
	if asks.MatchString(plain) || notPlain.MatchString(plain) {
		return true
	}
	return doubts.MatchString(plain)
}

var asks = lazyregexp.New(`(?i)^(?:is|are|does|do|did|can|could|would|will|shall|has|have|should)\b`)
