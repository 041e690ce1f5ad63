package rule

import (
	"slices"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/learning/guard/act"
)

// index holds rules by what they are recognised by: each rule stands in the list of every key that it has, so that a change costs
// what the rule itself costs, however many there are.
type index struct {
	mu     sync.RWMutex // held to read while a check compares, which so sees the rules as they are at one time
	byID   map[string]*Rule
	lists  map[key][]entry
	packed int // rules of packs that name a harm
}

// key is what a rule is recognised by: the kind of lookup, and what is looked up.
type key struct {
	by   lookup
	kind act.EffectKind
	text string
}

type lookup uint8

const (
	byEffect   lookup = iota // an effect of a kind
	byWords                  // a program, or a program and its subcommand
	byStanding               // a word that stands in a text which cannot be read
	byHarm
	byPattern
	byJudge
)

// entry is one act of one trigger of a rule.
type entry struct {
	rule    *Rule
	trigger int
	act     int
}

func newIndex(rules []*Rule) *index {
	x := &index{byID: map[string]*Rule{}, lists: map[key][]entry{}}
	for _, r := range rules {
		x.put(r)
	}
	return x
}

// put takes a rule in, in the place of the one with its id; the lock is held.
func (x *index) put(r *Rule) {
	x.remove(r.Draft.ID)
	x.byID[r.Draft.ID] = r
	r.keys(func(k key, e entry) { x.lists[k] = append(x.lists[k], e) })
	if r.harm != "" {
		x.packed++
	}
}

// remove takes out the rule of that id, if there is one; the lock is held.
func (x *index) remove(id string) {
	r := x.byID[id]
	if r == nil {
		return
	}
	delete(x.byID, id)
	r.keys(func(k key, e entry) {
		list := x.lists[k]
		if last := len(list) - 1; last == 0 {
			delete(x.lists, k)
		} else { // the order of a list says nothing
			list[slices.Index(list, e)] = list[last]
			list[last] = entry{}
			x.lists[k] = list[:last]
		}
	})
	if r.harm != "" {
		x.packed--
	}
}

// keys passes on what the rule is recognised by, and which of its acts by each.
func (r *Rule) keys(add func(key, entry)) {
	if r.pattern != nil {
		add(key{by: byPattern}, entry{rule: r})
	}
	if r.judge != nil {
		add(key{by: byJudge}, entry{rule: r})
	}
	if r.harm != "" {
		add(key{by: byHarm, text: string(r.harm)}, entry{rule: r})
	}
	for i, words := range r.standing {
		if run := standingKey(words); run != "" {
			add(key{by: byStanding, text: run}, entry{rule: r, trigger: i})
		}
	}
	for t, acts := range r.triggers {
		for i, a := range acts {
			e := entry{r, t, i}
			if !r.byEffect(a) {
				add(key{by: byWords, text: wordKey(a, fixedWords(a) > 0)}, e)
				continue
			}
			var seen [act.EffectKinds]bool
			for _, effect := range a.Effects {
				if !seen[effect.Kind] {
					seen[effect.Kind] = true
					add(key{by: byEffect, kind: effect.Kind}, e)
				}
			}
		}
	}
}

// wordKey is what rules that are compared by words are indexed by.
func wordKey(a *act.Act, sub bool) string {
	if sub && len(a.Words) > 0 && !placeholder(a.Words[0]) {
		return a.Name + " " + a.Words[0]
	}
	return a.Name
}

// standing are the rules of which a word that must stand in a text stands in this one, which is in lower case.
func (x *index) standing(text string) map[*Rule]bool {
	found := map[*Rule]bool{}
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < 0x80 && !wordByte(byte(r)) }) {
		for _, e := range x.lists[key{by: byStanding, text: word}] {
			found[e.rule] = true
		}
	}
	return found
}

// standingKey is one run of word characters of the words that must all
// stand in a text: the longest, because the longest are the rarest. A text
// without this run as a word of its own does not hold the words.
func standingKey(words []string) (key string) {
	for _, w := range words {
		for run := range strings.FieldsFuncSeq(w, func(r rune) bool { return r < 0x80 && !wordByte(byte(r)) }) {
			if len(run) > len(key) {
				key = run
			}
		}
	}
	return key
}

// wordByte reports whether a byte of a lower-case text belongs to a word.
func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' || b == '_' || b == '-' || b >= 0x80
}

// Put adds rules, each in the place of the one with its id if there is one. Every
// check that begins after Put has returned sees all of them; one that compares already sees none.
func (g *Guard) Put(rules ...*Rule) {
	if len(rules) == 0 {
		return
	}
	g.changing.Lock()
	defer g.changing.Unlock()
	g.rules.mu.Lock()
	for _, r := range rules {
		g.rules.put(r)
	}
	g.rules.mu.Unlock()
	g.similar.Put(told(rules)...)
}

// told are the rules whose wording somebody wrote of what happened. That of a pack is general, and
// would be like many a text.
func told(rules []*Rule) []*Rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r *Rule) bool { return r.packed })
}

// Remove takes the rules with the ids out, for every check that begins after it has returned.
func (g *Guard) Remove(ids ...string) {
	g.changing.Lock()
	defer g.changing.Unlock()
	g.rules.mu.Lock()
	for _, id := range ids {
		g.rules.remove(id)
	}
	g.rules.mu.Unlock()
	g.similar.Remove(ids...)
}
