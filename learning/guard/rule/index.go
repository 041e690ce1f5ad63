package rule

import (
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"skillrouter/learning/guard/act"
)

// index holds rules by what they are recognised by. Rules are only ever
// added to its lists; a rule that goes is marked. So adding or removing one
// costs what the rule itself costs, however many there are, and a check that is
// under way goes on with the rules that were there when it began: it sees a
// rule whose time holds its own (see view).
type index struct {
	mu         sync.RWMutex // held while a list is found, never while it is gone through
	byID       map[string]*place
	byEffect   [act.EffectKinds][]entry
	byPath     [act.EffectKinds]map[string][]entry // those of byEffect with a plain path, by pathKey
	pathless   [act.EffectKinds][]entry            // the others of byEffect
	byWords    map[string][]entry
	byStanding map[string][]*place
	byHarm     map[act.Harm][]*place
	patterns   []*place
	judges     []*place
	gone       int // places that no later check sees
}

// place is a rule's time in the index: it is seen from born on, until gone.
type place struct {
	rule *Rule
	born int64
	gone atomic.Int64
}

// entry is one act of one trigger of a rule.
type entry struct {
	place   *place
	trigger int
	act     int
}

// view is the index as it is at one time. Times are the numbers of the changes.
type view struct {
	index *index
	at    int64
	rules int
}

// tidyFrom is how many marked rules an index may hold before it is made
// anew; above it, as many as there are others. So tidying costs each rule that
// goes the adding of one other at most.
const tidyFrom = 64

func newIndex() *index {
	return &index{byID: map[string]*place{}, byWords: map[string][]entry{}, byStanding: map[string][]*place{}, byHarm: map[act.Harm][]*place{}}
}

// add takes a rule in; the lock is held.
func (x *index) add(r *Rule, at int64) {
	p := &place{rule: r, born: at}
	p.gone.Store(math.MaxInt64)
	x.byID[r.Draft.ID] = p
	if r.pattern != nil {
		x.patterns = append(x.patterns, p)
	}
	if r.judge != nil {
		x.judges = append(x.judges, p)
	}
	if r.harm != "" {
		x.byHarm[r.harm] = append(x.byHarm[r.harm], p)
	}
	for _, words := range r.standing {
		if key := standingKey(words); key != "" {
			x.byStanding[key] = append(x.byStanding[key], p)
		}
	}
	for t, acts := range r.triggers {
		for i, a := range acts {
			e := entry{p, t, i}
			if !r.byEffect(a) {
				key := wordKey(a, fixedWords(a) > 0)
				x.byWords[key] = append(x.byWords[key], e)
				continue
			}
			seen := map[string]bool{}
			for _, effect := range a.Effects {
				k := effect.Kind
				if kind := string(rune(k)); !seen[kind] {
					seen[kind] = true
					x.byEffect[k] = append(x.byEffect[k], e)
				}
				key := pathKey(effect)
				if under := string(rune(k)) + key; !seen["/"+under] {
					seen["/"+under] = true
					if key == "" {
						x.pathless[k] = append(x.pathless[k], e)
						continue
					}
					if x.byPath[k] == nil {
						x.byPath[k] = map[string][]entry{}
					}
					x.byPath[k][key] = append(x.byPath[k][key], e)
				}
			}
		}
	}
}

// remove marks the rule of that id, if there is one; the lock is held.
func (x *index) remove(id string, at int64) bool {
	p := x.byID[id]
	if p == nil {
		return false
	}
	p.gone.Store(at)
	delete(x.byID, id)
	x.gone++
	return true
}

// live returns the rules that are not marked; the lock is held.
func (x *index) live() []*Rule {
	all := make([]*Rule, 0, len(x.byID))
	for _, p := range x.byID {
		all = append(all, p.rule)
	}
	return all
}

// sees tells whether a place's time holds the view's.
func (v view) sees(p *place) bool { return p.born <= v.at && v.at < p.gone.Load() }

// effects are the entries of a kind that an effect may fit. The second list may be empty.
func (v view) effects(kind act.EffectKind, effect act.Effect) (entries, more []entry) {
	v.index.mu.RLock()
	defer v.index.mu.RUnlock()
	if key := pathKey(effect); key != "" && (kind == act.EffectDelete || kind == act.EffectWrite) {
		return v.index.byPath[kind][key], v.index.pathless[kind]
	}
	return v.index.byEffect[kind], nil
}

// pathKey is the first two parts of the path that an effect deletes or
// writes, where paths with other first parts can have nothing to do with it: it
// begins at the root, holds no pattern and is nobody's home. Else it is empty.
func pathKey(e act.Effect) string {
	p := e.Path
	if e.Kind != act.EffectDelete && e.Kind != act.EffectWrite || len(p) < 2 || p[0] != '/' || act.Patterned(p) || strings.ContainsRune(p, act.Unknown) {
		return ""
	}
	first, rest, deep := strings.Cut(p[1:], "/")
	if !deep || first == "root" || first == "home" {
		return ""
	}
	second, _, _ := strings.Cut(rest, "/")
	return first + "/" + second
}

func (v view) words(key string) []entry {
	v.index.mu.RLock()
	defer v.index.mu.RUnlock()
	return v.index.byWords[key]
}

func (v view) patterns() []*place {
	v.index.mu.RLock()
	defer v.index.mu.RUnlock()
	return v.index.patterns
}

// harms are the rules of packs that name the harm.
func (v view) harms(h act.Harm) []*place {
	v.index.mu.RLock()
	defer v.index.mu.RUnlock()
	return v.index.byHarm[h]
}

// packed reports whether there are rules of packs.
func (v view) packed() bool {
	v.index.mu.RLock()
	defer v.index.mu.RUnlock()
	return len(v.index.byHarm) > 0
}

func (v view) judges() []*place {
	v.index.mu.RLock()
	defer v.index.mu.RUnlock()
	return v.index.judges
}

// standing are the rules of which a word that must stand in a text stands in
// this one, which is in lower case.
func (v view) standing(text string) map[*place]bool {
	found := map[*place]bool{}
	v.index.mu.RLock()
	defer v.index.mu.RUnlock()
	for i := 0; i < len(text); {
		if !wordByte(text[i]) {
			i++
			continue
		}
		from := i
		for i < len(text) && wordByte(text[i]) {
			i++
		}
		for _, p := range v.index.byStanding[text[from:i]] {
			if v.sees(p) {
				found[p] = true
			}
		}
	}
	return found
}

// all are the rules that the view sees.
func (v view) all() (rules []*Rule) {
	v.index.mu.RLock()
	defer v.index.mu.RUnlock()
	for _, p := range v.index.byID {
		if v.sees(p) {
			rules = append(rules, p.rule)
		}
	}
	return rules
}

// rule returns the rule of an id, or nil.
func (v view) rule(id string) *Rule {
	v.index.mu.RLock()
	defer v.index.mu.RUnlock()
	if p := v.index.byID[id]; p != nil && v.sees(p) {
		return p.rule
	}
	return nil
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
// check that begins after Put has returned sees all of them; one that began
// before sees none. The cost is that of the rules themselves.
func (g *Guard) Put(rules ...*Rule) {
	if len(rules) == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	view := *g.view.Load()
	view.at++
	view.index.mu.Lock()
	for _, r := range rules {
		view.index.remove(r.Draft.ID, view.at)
		view.index.add(r, view.at)
	}
	view.rules = len(view.index.byID)
	view.index.mu.Unlock()
	g.similar.Put(told(rules)...)
	g.view.Store(&view)
	g.tidy()
}

// told are the rules whose wording somebody wrote of what happened. That of a pack is general, and
// would be like many a text.
func told(rules []*Rule) []*Rule {
	return slices.DeleteFunc(slices.Clone(rules), func(r *Rule) bool { return r.packed })
}

// Remove takes the rules with the ids out, for every check that begins after it has returned.
func (g *Guard) Remove(ids ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	view := *g.view.Load()
	view.at++
	view.index.mu.Lock()
	for _, id := range ids {
		view.index.remove(id, view.at)
	}
	view.rules = len(view.index.byID)
	view.index.mu.Unlock()
	g.view.Store(&view)
	g.similar.Remove(ids...)
	g.tidy()
}

// Replace puts other rules in the place of those there are, at once for every later check.
func (g *Guard) Replace(rules []*Rule) {
	g.mu.Lock()
	defer g.mu.Unlock()
	keep := map[string]bool{}
	for _, r := range rules {
		keep[r.Draft.ID] = true
	}
	old := g.view.Load()
	var ids []string
	for _, r := range old.index.live() {
		if !keep[r.Draft.ID] {
			ids = append(ids, r.Draft.ID)
		}
	}
	g.similar.Put(told(rules)...)
	g.view.Store(viewOf(rules, old.at+1))
	g.similar.Remove(ids...)
}

// tidy makes the index anew when more of it is marked than not; the lock is held.
// Checks that are under way keep the old one.
func (g *Guard) tidy() {
	old := g.view.Load()
	if old.index.gone > max(tidyFrom, old.rules) {
		g.view.Store(viewOf(old.index.live(), old.at+1))
	}
}

func viewOf(rules []*Rule, at int64) *view {
	view := &view{index: newIndex(), at: at}
	for _, r := range rules {
		view.index.remove(r.Draft.ID, at)
		view.index.add(r, at)
	}
	view.rules = len(view.index.byID)
	return view
}

// Rules returns how many rules there are.
func (g *Guard) Rules() int { return g.view.Load().rules }

// RuleIDs returns the ids of the rules, in order.
func (g *Guard) RuleIDs() []string {
	view := g.view.Load()
	view.index.mu.RLock()
	defer view.index.mu.RUnlock()
	return slices.Sorted(maps.Keys(view.index.byID))
}
