package contexts

import (
	"cmp"
	"maps"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/router"
)

// Bounds of what is kept of sessions.
const (
	// maxSessions is how many sessions are known at once; of more, one is forgotten, and may be told something twice.
	maxSessions = 1024
	// maxTold is how many items are kept of a session: more than its window holds.
	maxTold = 4096
)

// reasonTold is why an item is left out that the session has been told, and reasonInstructed why one is that its folder tells agents.
const (
	reasonTold       = "told before"
	reasonInstructed = "in the folder's instructions"
)

// leastInstructed is how many words a text has at least that is looked for in a folder's instructions.
const leastInstructed = 3

// runOn are the words of a text, without marks and in small letters, each between spaces.
func runOn(said string) string {
	words := strings.FieldsFunc(strings.ToLower(said), func(r rune) bool { return !isWordRune(r) })
	return " " + strings.Join(words, " ") + " "
}

// instructed tells whether the folder's instructions say each sentence of an item word for word, or the title of one without a text.
func (c *choice) instructed(r *candidate) bool {
	if c.folder == "" || r.kind == router.KindSession || r.kind == router.KindTask || r.kind == router.KindIncident {
		return false
	}
	said, begin := cmp.Or(r.body, r.title), 0
	if strings.Count(runOn(said), " ") <= leastInstructed {
		return false
	}
	for _, end := range append(sentenceEnds(said), len(said)) {
		if words := runOn(said[begin:end]); strings.TrimSpace(words) != "" && !strings.Contains(c.instructions(), words) {
			return false
		}
		begin = end
	}
	return true
}

// told keeps what each session has been told, so that nothing is told twice: by the fingerprint of each item, whether its
// whole text was told, and not its beginning alone. It is in memory: after a restart of the router a session may be told again.
type told struct {
	mu       sync.Mutex
	sessions map[string]toldTo
}

func newTold() *told { return &told{sessions: map[string]toldTo{}} }

// toldTo is what one session has been told. The zero value knows of none.
type toldTo map[uint64]bool

// session is what a session has been told. forget begins anew: its window was emptied.
func (t *told) session(id string, forget bool) toldTo {
	t.mu.Lock()
	defer t.mu.Unlock()
	if forget {
		delete(t.sessions, id)
	}
	return maps.Clone(t.sessions[id])
}

// tell keeps that items have been told to a session.
func (t *told) tell(id string, items []*rated) {
	if id == "" || len(items) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.sessions[id]
	if known == nil {
		for other := range t.sessions { // any: most that are known have ended
			if len(t.sessions) < maxSessions {
				break
			}
			delete(t.sessions, other)
		}
		known = toldTo{}
		t.sessions[id] = known
	}
	for _, r := range items {
		if len(known) >= maxTold {
			return
		}
		item := fingerprint(&r.candidate)
		known[item] = known[item] || !r.cut
	}
}

// has tells whether the item, as it is now, has been told. A start that goes on repeats no beginning of a text either.
func (t toldTo) has(r *candidate, start bool) bool {
	if len(t) == 0 {
		return false
	}
	complete, known := t[fingerprint(r)]
	return complete || known && start
}

// fingerprint is of what an item says: one that was changed is told again. A rule and the
// lesson that it is of are one, and so are a session and the episode that sums it up.
func fingerprint(r *candidate) uint64 {
	kind := r.kind
	switch {
	case isLesson(kind):
		kind = router.KindGuard
	case kind == router.KindSession:
		kind = router.KindEpisode
	}
	return termHash(kind + "\n" + r.id + "\n" + r.title + "\n" + r.body)
}
