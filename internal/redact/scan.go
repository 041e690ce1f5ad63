package redact

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// redactText is what the redaction knows of secrets; what its lines say is told in it.
//
//go:embed redact.txt
var redactText string

// A rule finds the secrets that one literal text leads to, its trigger.
type rule struct {
	trigger string
	folded  bool // the trigger is in lower case, and is met in any
	// find looks around the trigger at i.
	find func(f *finder, r *rule, i int)
	kind string
	// form is what follows the trigger of a token, and before what stands in front of it.
	form, before *lazyregexp.Regexp
	// solid is the least run of letters and digits together in a token, with a digit: words joined by dashes have none.
	solid int
	// accepts says which values are secrets; nil: all but placeholders.
	accepts func(value string) bool
}

// lookup is what the redactor looks up.
type lookup struct {
	rules   []rule
	begin   [1 << 15]uint16 // the list of rules whose triggers begin with three bytes, folded; most have none
	lists   [][]int
	names   []secretName    // longer ones first
	stages  map[string]bool // what may follow a name
	joined  map[string]bool // what may stand before a short name without a separator
	vendors map[string]bool // beginnings of tokens of vendors that nobody listed
}

// tables reads them when a text is first looked through: the program is started
// for each of an agent's steps, and most of its starts look through none.
var tables func() *lookup

func init() { tables = sync.OnceValue(readTables) }

func readTables() *lookup {
	words := func(heading string) []string {
		return strings.Fields(strings.Join(wordlist.Lines(redactText, heading), " "))
	}
	t := &lookup{
		joined: wordlist.Set(redactText, "joined")(), vendors: wordlist.Set(redactText, "vendors")(),
		lists: make([][]int, 1), stages: wordlist.Set(redactText, "stages")(),
	}
	for form, triggers := range wordlist.Pairs(redactText, "tokens") {
		said := append(strings.Fields(form), "0")
		before, after, infix := strings.Cut(said[1], ">")
		if !infix {
			before, after = "", before
		}
		solid, _ := strconv.Atoi(said[2])
		for trigger := range strings.FieldsSeq(triggers) {
			t.add(rule{
				trigger: trigger, find: (*finder).token, kind: said[0], solid: solid,
				form: lazyregexp.New("^" + after), before: lazyregexp.New(strings.TrimPrefix(before, "<") + "$"),
			})
		}
	}
	for _, heading := range []string{"names", "weak names"} {
		for kind, names := range wordlist.Pairs(redactText, heading) {
			for name := range strings.FieldsSeq(names) {
				t.names = append(t.names, secretName{name, kind, heading == "weak names"})
			}
		}
	}
	slices.SortStableFunc(t.names, func(a, b secretName) int { return len(b.suffix) - len(a.suffix) })
	for _, trigger := range words("ends of names") {
		t.add(rule{trigger: trigger, folded: true, find: (*finder).name})
	}
	for kind, said := range wordlist.Pairs(redactText, "said") {
		for word := range strings.SplitSeq(said, ", ") {
			t.add(rule{trigger: word, folded: true, find: (*finder).said, kind: kind})
		}
	}
	for command := range wordlist.Pairs(redactText, "options") {
		t.add(rule{trigger: strings.ReplaceAll(command, `"`, ""), folded: true, find: (*finder).phrase, kind: "password", form: forms()[command], accepts: optional})
	}
	for said := range wordlist.Pairs(redactText, "led to") {
		kind, rest, _ := strings.Cut(said, " ")
		check, trigger, _ := strings.Cut(rest, " ")
		t.add(rule{trigger: strings.Trim(trigger, `"`), folded: true, find: (*finder).phrase, kind: kind, form: forms()[said], accepts: checks[check]})
	}
	t.add(rule{trigger: marker, find: (*finder).mark})
	return t
}

// add has a rule looked at where its trigger may begin.
func (t *lookup) add(r rule) {
	for rest := range 1 << (5 * max(0, 3-len(r.trigger))) {
		three := []byte{r.trigger[0], byte(rest >> 5), byte(rest)}
		copy(three[1:], r.trigger[1:])
		at := &t.begin[startOf(three[0], three[1], three[2])]
		if *at == 0 {
			*at = uint16(len(t.lists)) //nolint:gosec // there are hundreds
			t.lists = append(t.lists, nil)
		}
		if list := &t.lists[*at]; !slices.Contains(*list, len(t.rules)) {
			*list = append(*list, len(t.rules))
		}
	}
	t.rules = append(t.rules, r)
}

// startOf folds three bytes into an index, in which the case does not count.
func startOf(a, b, c byte) int { return int(a&31)<<10 | int(b&31)<<5 | int(c&31) }

// finder is one pass over a text.
type finder struct {
	text   string
	spans  []span
	edits  []edit // what stands between the parts of what may be one token
	inner  bool   // this text was decoded: it is not done again
	id     bool   // this is a name or an id
	end    int    // no secret begins before it
	spent  int    // how many bytes expressions have looked at
	looked int    // the end of the name that was looked at last
}

// cut notes that text[from:to] is a secret.
func (f *finder) cut(from, to int, kind string) {
	f.spans = append(f.spans, span{from, to, kind})
	f.end = to
}

const (
	// maxSecretValue is the length of the longest value that is cut, but for tokens and key blocks.
	maxSecretValue = 512
	// maxBlock is how long the block of a private key may be.
	maxBlock = 64 << 10
	// mostSpent is how many bytes expressions look at for each byte of the text, beyond the first: triggers in a row
	// would have the same bytes looked at again and again.
	mostSpent, freelySpent = 12, 1 << 15
	// leastRead is what a form that does not match is taken to read.
	leastRead = 16
)

// window returns what an expression may look at from i on, on one line or, with lines, on several.
func (f *finder) window(i, most int, lines bool) string {
	if f.spent > freelySpent+mostSpent*i {
		return ""
	}
	text := f.text[i:min(len(f.text), i+most)]
	if !lines {
		if end := strings.IndexByte(text, '\n'); end >= 0 {
			text = text[:end]
		}
	}
	return text
}

// find matches a form, and counts what it read.
func (f *finder) match(form *lazyregexp.Regexp, i, most int, lines bool) []int {
	m := form.Compiled().FindStringSubmatchIndex(f.window(i, most, lines))
	if f.spent += leastRead; m != nil {
		f.spent += m[1]
	}
	return m
}

// look goes through the text once.
func (f *finder) look() {
	t, text := tables(), f.text
	for i := 0; i+2 < len(text); i++ {
		c := text[i]
		if (c == '"' || c == '\'' || c == '\n') && !f.inner {
			f.joint(i)
		}
		list := t.begin[startOf(c, text[i+1], text[i+2])]
		if list == 0 || i < f.end {
			continue
		}
		for _, n := range t.lists[list] {
			r := &t.rules[n]
			if said := text[i:min(len(text), i+len(r.trigger))]; said == r.trigger || r.folded && strings.EqualFold(said, r.trigger) {
				if r.find(f, r, i); i < f.end {
					break
				}
			}
		}
	}
}

// mark steps over what is redacted already.
func (f *finder) mark(_ *rule, i int) {
	f.end = i + 1 + max(0, strings.IndexByte(f.text[i:min(len(f.text), i+64)], ']'))
}

// token looks for a token whose fixed part stands at i.
func (f *finder) token(r *rule, i int) {
	from, to := i, i+len(r.trigger)
	if before := r.before.Compiled().String(); before != "$" {
		m := r.before.Compiled().FindStringIndex(f.text[max(f.end, i-40, 0):i])
		if m == nil {
			return
		}
		from = max(f.end, i-40, 0) + m[0]
	} else if i > 0 && isAlnum(f.text[i-1]) {
		return
	}
	// A run of token bytes begins once: what follows a dash was looked at with it.
	if i > 0 && f.text[i-1] == '-' && from == i && len(r.trigger) < 5 && (f.id || strings.HasPrefix(r.form.Compiled().String(), `^[\w-]`)) {
		return
	}
	m := f.match(r.form, to, 4*maxSecretValue, false)
	if m == nil {
		return
	}
	body := strings.TrimRight(f.text[to:to+m[1]], "-")
	to += len(body)
	if to < len(f.text) && isAlnum(f.text[to]) && isAlnum(f.text[to-1]) ||
		strings.Trim(body, "xX*.") == "" || r.solid > 0 && (!mixed(body) || !solid(body, r.solid) || r.solid >= 16 && !random(body)) {
		return
	}
	f.cut(from, to, r.kind)
}

// begins tells whether text begins with the prefix of a token, and has more of it; with whole, whether it is one.
func begins(text string, whole bool) bool {
	if len(text) < 4 {
		return false
	}
	return slices.ContainsFunc(tables().lists[tables().begin[startOf(text[0], text[1], text[2])]], func(n int) bool {
		r := &tables().rules[n]
		if r.before == nil || len(r.trigger) < 3 || r.before.Compiled().String() != "$" || len(text) <= len(r.trigger) || !strings.HasPrefix(text, r.trigger) {
			return false
		}
		if !whole {
			return true
		}
		f := finder{text: text}
		f.token(r, 0)
		return len(f.spans) > 0
	})
}

// leastOpaque is the least length of a run without a form or a name that is looked at.
const leastOpaque = 24

// opaque looks at the long runs of letters and digits that the pass left: for
// secrets in base64, and for keys of vendors that nobody listed.
func (f *finder) opaque() {
	known := f.spans
	for end := leastOpaque; end <= len(f.text); {
		from := end
		for from > end-leastOpaque && isOpaque(f.text[from-1]) {
			from--
		}
		if end-from < leastOpaque { // no run begins before from, and so none is long enough before this
			end = from + leastOpaque
			continue
		}
		to := run(f.text, end, isOpaque)
		end = to + leastOpaque
		// A name or a parameter may stand before the value.
		from += strings.LastIndexByte(strings.TrimRight(f.text[from:to], "="), '=') + 1
		for len(known) > 0 && known[0].to <= from {
			known = known[1:]
		}
		if to-from >= leastOpaque && (len(known) == 0 || known[0].from >= to) {
			if kind := f.opaqueKind(f.text[from:to]); kind != "" {
				f.spans = append(f.spans, span{from, to, kind})
			}
		}
	}
}

// opaqueKind returns what secret a run of opaque bytes is, or "". Ids of sessions, calls and messages are random too: a
// random run is a secret only behind a prefix that says so.
func (f *finder) opaqueKind(value string) string {
	if text := decode(value); text != "" && !f.inner {
		inner := finder{text: text, inner: true}
		if inner.look(); len(inner.spans) > 0 {
			return inner.spans[0].kind
		}
	}
	cut := strings.LastIndexByte(value, '_')
	if f.id || cut < 2 || cut > 16 || len(value)-cut <= 24 {
		return ""
	}
	tail := value[cut+1:]
	for part := range strings.SplitSeq(value[:cut], "_") {
		if tables().vendors[part] && run(tail, 0, isAlnum) == len(tail) && mixed(tail) && random(tail) && !matches("hex", tail) {
			return "token"
		}
	}
	return ""
}
