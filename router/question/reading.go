package question

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/classify"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

//go:embed words.txt
var wordsText string

// phrase is a way to say something, as words.
type phrase []string

// says is what phrases say of the rows of a kind.
type says struct {
	kind    string
	name    string // the first phrase: what it is called in a summary
	beside  bool   // only where a noun or another phrase names the kind
	member  string
	values  []string
	phrases []phrase
}

// vocabulary is what words.txt says.
type vocabulary struct {
	nouns  []says
	noun   map[string]string // the kind of each noun that is one word
	stems  map[string]bool   // of the nouns of agents and tasks
	states []says
	asked  []says
	empty  map[string]bool
}

// known is words.txt, read when the first question comes.
var known = sync.OnceValue(func() *vocabulary {
	phrases := func(text string) (list []phrase) {
		for one := range strings.SplitSeq(text, ";") {
			list = append(list, strings.Fields(one))
		}
		slices.SortStableFunc(list, func(a, b phrase) int { return len(b) - len(a) }) // a longer one says more
		return list
	}
	w := &vocabulary{noun: map[string]string{}, stems: map[string]bool{}, empty: wordlist.Words(strings.Join(wordlist.Lines(wordsText, "empty"), " "))}
	for kind, text := range wordlist.Pairs(wordsText, "nouns") {
		w.nouns = append(w.nouns, says{kind: kind, phrases: phrases(text)})
		for _, p := range w.nouns[len(w.nouns)-1].phrases {
			if len(p) == 1 {
				w.noun[p[0]] = kind
				if _, stems := classify.Content(p, nil); kind == router.KindTask || kind == "agent" {
					for _, stem := range stems {
						w.stems[stem] = true
					}
				}
			}
		}
	}
	for key, text := range wordlist.Pairs(wordsText, "states") {
		kind, state, _ := strings.Cut(key, " ")
		member, values, _ := strings.Cut(state, "=")
		name, _, _ := strings.Cut(text, ";")
		s := says{name: name, member: member, values: strings.Split(values, "|"), phrases: phrases(text)}
		s.kind, s.beside = strings.CutSuffix(kind, "~")
		w.states = append(w.states, s)
	}
	for name, text := range wordlist.Pairs(wordsText, "asked") {
		w.asked = append(w.asked, says{kind: name, phrases: phrases(text)})
	}
	return w
})

// reading is a question about state as it was understood.
type reading struct {
	kind    string              // whose rows are asked for; empty: it names none
	noun    bool                // it names the kind, and not only a state
	named   bool                // by the kind's own name
	asked   string              // a question that is about no one kind: attention, next, load
	members map[string][]string // what the rows must say: one of the values in each member
	state   string              // the same in the question's own words
	agents  []string            // that it names: those that a name may mean
	numbers []int64             // of tasks
	project string
	scanned []string // the environment that it names, and the words that do
	span    learning.TimeRange
	when    string        // the span in the question's own words
	older   time.Duration // silent, or waiting, for longer than this
	oldest  bool
	created bool // the span is of when it was made
	about   bool // asks how what it names stands
	cve     string
	session string // last or this
	count   bool   // asks how many
	yesNo   bool   // is answered by yes or no
	all     bool
	who     bool // asks for a person
	mine    bool
	past    bool
	rest    []string // the words that say something else, and their stems
	stems   []string
	other   []string // those stems that are a noun of another kind
}

// read reads a question. names are the things in it that the stores know.
func read(text string, names []named, now time.Time) reading {
	all := classify.Phrase(text)
	r := reading{members: map[string][]string{}}
	spoken := map[string]bool{} // words of names
	scanned := func(name string) bool {
		return slices.ContainsFunc(names, func(n named) bool { return n.Kind == classify.MentionEnvironment && strings.EqualFold(n.Stored, name) })
	}
	for _, n := range names {
		switch n.Kind {
		case classify.MentionAgent:
			r.agents = append(r.agents, n.Stored)
		case classify.MentionProject:
			if scanned(n.Stored) || !projectSaid(all, n.Name) {
				continue
			}
			r.project = n.Stored
		case classify.MentionEnvironment:
			r.scanned = append([]string{n.Stored}, classify.Phrase(n.Name)...)
			continue
		default: // titles are text, and numbers are read below
			continue
		}
		for _, w := range classify.Phrase(n.Name) {
			spoken[w] = true
		}
	}
	list := r.readNumbers(all)
	for i, w := range list {
		if cve := strings.ToUpper(w); strings.HasPrefix(cve, "CVE-") && strings.Count(cve, "-") == 2 {
			r.cve, list = cve, slices.Delete(slices.Clone(list), i, i+1)
			break
		}
	}
	list = r.readAge(list)
	if span, from, to := learning.Timespan(list, now); to > 0 {
		r.span, r.when, list = span, strings.Join(list[from:to], " "), slices.Concat(list[:from], list[to:])
	}
	list = slices.DeleteFunc(denied(list), func(w string) bool { return spoken[w] })
	has := func(phrases ...string) bool { return classify.HasAny(list, phrases...) }
	r.count = has("how many", "number of", "count", "how much")
	r.yesNo = len(list) > 0 && classify.WordSet("is are was were did does do has have am any anything")[list[0]]
	r.all = has("are all", "is everything", "is all")
	r.who = has("who", "whose", "whom", "anyone", "anybody", "someone", "somebody", "everyone", "everybody", "nobody", "which agent", "which agents")
	r.mine = has("my", "mine", "i", "me") && !has("show me", "give me", "tell me", "remind me")
	r.past = has("did", "was", "were", "happened", "had")
	r.oldest = has("oldest", "longest")
	r.created = has("created", "added", "opened", "filed", "new")
	r.about = has("how much of", "status of", "progress of", "state of", "where are we", "how far", "eta of")
	if r.session = sessionAsked(list); r.session != "" {
		list = slices.DeleteFunc(list, func(w string) bool { return sessionWords[w] })
	}
	r.choose(list)
	if r.session != "" && len(r.stems) == 0 {
		r.kind, r.noun, r.asked, r.members = router.KindEpisode, true, "", map[string][]string{}
	}
	return r
}

var sessionWords = classify.WordSet("session run last previous prior this current")

// sessionAsked tells which session a question is of: the last or this one; empty if of none.
func sessionAsked(words []string) string {
	for _, noun := range []string{"session", "run"} {
		if classify.HasAny(words, "last "+noun, "previous "+noun, "prior "+noun) {
			return "last"
		}
		if classify.HasAny(words, "this "+noun, "current "+noun) {
			return "this"
		}
	}
	return ""
}

// projectSaid tells whether a project's name is meant as one: many are common words.
func projectSaid(words []string, name string) bool {
	parts := classify.Phrase(name)
	i := classify.At(words, parts...)
	after := i + len(parts)
	return i > 0 && (words[i-1] == "project" || after == len(words) && classify.WordSet("in of for project")[words[i-1]]) ||
		i >= 0 && after < len(words) && words[after] == "project"
}

// denied has each "not" stand right before what it denies: "not yet been fixed" is "not fixed".
func denied(words []string) (plain []string) {
	for _, w := range words {
		if !betweenNot[w] || len(plain) == 0 || plain[len(plain)-1] != "not" {
			plain = append(plain, w)
		}
	}
	return plain
}

var betweenNot = classify.WordSet("yet been being fully all completely entirely actually currently really")

// readNumbers takes "task 77" and "#77" out of the words.
func (r *reading) readNumbers(words []string) (rest []string) {
	for i := 0; i < len(words); i++ {
		at, firm := i, strings.HasPrefix(words[i], "#")
		if !firm && classify.Numbered[words[i]] && i+1 < len(words) {
			if at++; words[at] == "number" && at+1 < len(words) {
				at++
			}
			firm = true
		}
		if n, err := strconv.ParseInt(strings.TrimPrefix(words[at], "#"), 10, 64); firm && err == nil && n > 0 {
			r.numbers, i = append(r.numbers, n), at
			continue
		}
		rest = append(rest, words[i])
	}
	return rest
}

// readAge takes "for more than ten minutes" and "older than a week" out of the words.
func (r *reading) readAge(words []string) []string {
	for i, w := range words {
		if w != "for" && w != "older" && w != "longer" && (w != "in" || !classify.Has(words, "not")) {
			continue
		}
		at := i + 1
		for at < len(words) && classify.WordSet("more over than longer at least the last")[words[at]] {
			at++
		}
		if at+1 < len(words) {
			if age := learning.Length(words[at], words[at+1]); age > 0 {
				r.older = age
				return append(slices.Clone(words[:i]), words[at+2:]...)
			}
		}
	}
	return words
}

// candidates are the kinds that the words may ask for. It notes whether a noun names one.
func (r *reading) candidates(words []string) (candidates []string) {
	candidate := func(kind string) {
		if !slices.Contains(candidates, kind) {
			candidates = append(candidates, kind)
		}
	}
	type at struct {
		place int
		kind  string
	}
	var nouns []at
	for _, n := range known().nouns {
		if i, _ := first(words, n.phrases); i >= 0 {
			nouns = append(nouns, at{i, n.kind})
		}
	}
	slices.SortStableFunc(nouns, func(a, b at) int { return a.place - b.place })
	for _, n := range nouns {
		if n.kind != kindMemory || r.without(n.kind, words) {
			candidate(n.kind)
		}
	}
	switch {
	case len(r.numbers) > 0:
		candidate(router.KindTask)
	case r.cve != "":
		candidate(router.KindFinding)
	}
	r.noun = len(candidates) > 0
	for _, s := range known().states {
		if i, _ := first(words, s.phrases); r.noun && r.who && i >= 0 && s.kind == "agent" && !s.beside { // "is anyone free for a new task"
			candidate(s.kind)
		}
	}
	if !r.noun {
		if r.when != "" && len(r.agents) == 0 && !r.who && r.without(router.KindEpisode, words) { // "errors of this week"
			candidate(router.KindEpisode)
		}
		for _, s := range known().states {
			if i, _ := first(words, s.phrases); i >= 0 && (!s.beside || (r.who || len(r.agents) > 0) && s.kind == "agent" || len(r.scanned) > 0 && s.kind == router.KindFinding) {
				candidate(s.kind)
			}
		}
		if len(r.scanned) > 0 && len(candidates) == 0 && !r.who && !classify.HasAny(words, "where is", "where are") {
			candidate(router.KindFinding)
		}
	}
	return candidates
}

// choose finds the kind that explains the most of the words, and what it is to say.
func (r *reading) choose(words []string) {
	candidates := r.candidates(words)
	if len(candidates) == 0 {
		candidates = []string{""}
	}
	var best reading
	unread := func(tried *reading) int {
		if tried.who { // they are of what who it is does
			return len(tried.stems) - len(tried.other)
		}
		return len(tried.stems)
	}
	for i, kind := range candidates {
		tried := *r
		tried.explain(kind, words)
		if i == 0 || unread(&tried) < unread(&best) {
			best = tried
		}
	}
	*r = best
	r.noun = r.noun || r.kind == router.KindEpisode
	working := slices.Contains(strings.Split(r.state, " and "), "being worked on")
	switch {
	case !r.noun && len(r.stems) > 0 && (r.who && (r.kind == router.KindTask || r.kind == "agent") || r.about && (r.kind == "" || r.kind == router.KindTask)):
		r.kind = "holder"
	case !r.noun && working && len(r.agents) > 0: // "what is red working on"
		r.kind, r.state, r.members = "agent", "", map[string][]string{}
	case !r.noun && working && r.who: // "what is everybody working on"
		r.kind, r.state, r.members = "agent", "at work", map[string][]string{"working": {"true"}}
	}
	r.asked = askedOf(words)
}

// kindMemory stands for all kinds together.
const kindMemory = "memory"

// without tells whether the words say nothing beside a kind and its state.
func (r *reading) without(kind string, words []string) bool {
	tried := *r
	tried.explain(kind, words)
	return len(tried.stems) == 0
}

// askedOf is the question about no one kind that the words are; empty if they are none.
func askedOf(words []string) string {
	for _, a := range known().asked {
		i, p := first(words, a.phrases)
		if i < 0 {
			continue
		}
		_, stems := classify.Content(slices.Concat(words[:i], words[i+len(p):]), known().empty)
		stems = slices.DeleteFunc(stems, func(stem string) bool { return a.kind != "attention" && known().stems[stem] })
		if len(stems) == 0 {
			return a.kind
		}
	}
	return ""
}

// explain has the words say what they say of a kind, and keeps the rest.
func (r *reading) explain(kind string, words []string) {
	r.kind, r.members = kind, map[string][]string{}
	used := make([]bool, len(words))
	use := func(phrases []phrase) bool {
		i, p := first(words, phrases)
		if i < 0 || len(p) == 1 && used[i] { // a longer phrase says it
			return false
		}
		for j := range p {
			used[i+j] = true
		}
		return true
	}
	type match struct {
		says
		place, length int
	}
	var matches []match
	for _, s := range known().states {
		if i, p := first(words, s.phrases); s.kind == kind && i >= 0 {
			matches = append(matches, match{s, i, len(p)})
		}
	}
	slices.SortStableFunc(matches, func(a, b match) int { return b.length - a.length }) // a longer phrase says more
	var said []string
	for _, m := range matches {
		if slices.Contains(used[m.place:m.place+m.length], true) {
			continue
		}
		for j := range m.length {
			used[m.place+j] = true
		}
		either := m.place > 0 && words[m.place-1] == "or" || m.place+m.length < len(words) && words[m.place+m.length] == "or" // "stale or offline"
		if r.members[m.member] != nil && m.member != "severity" && !either {
			continue
		}
		r.members[m.member] = append(r.members[m.member], m.values...)
		said = append(said, m.name)
	}
	for _, n := range known().nouns {
		if n.kind == kind {
			for _, p := range n.phrases {
				use([]phrase{p})
			}
		}
	}
	if (kind == router.KindFinding || kind == "scan") && len(r.scanned) > 0 {
		r.members["environment"] = r.scanned[:1]
		use([]phrase{r.scanned[1:]})
	}
	if kind == router.KindFinding && r.cve != "" {
		r.members["cve"] = []string{r.cve}
	}
	r.state, r.named = strings.Join(said, " and "), classify.HasAny(words, kind, kind+"s")
	var rest []string
	others := map[string]bool{}
	for i, w := range words {
		if used[i] {
			continue
		}
		rest = append(rest, w)
		others[w] = known().noun[w] != "" && known().noun[w] != kind
	}
	r.rest, r.stems = classify.Content(rest, known().empty)
	r.other = nil
	for i, w := range r.rest {
		if others[w] {
			r.other = append(r.other, r.stems[i])
		}
	}
}

// first is where the words hold one of the phrases, the longest first; −1 if none.
func first(words []string, phrases []phrase) (int, phrase) {
	for _, p := range phrases {
		if i := classify.At(words, p...); i >= 0 {
			return i, p
		}
	}
	return -1, nil
}
