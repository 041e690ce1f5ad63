package fact

import (
	"hash/maphash"
	"sync"
)

// Bounds of the facts that are kept in memory. Agents ask for the same few
// again and again, and a map answers in a hundredth of the database's time.
const (
	recentBytes   = 32 << 20 // of all of them together, as far as they are counted
	recentLargest = 128 << 10
	recentParts   = 16  // locks, so that readers do not wait for each other
	recentExtra   = 512 // bytes that a fact takes besides its texts
)

// recentFacts are facts as they were last committed. What is here is never
// older than the database: every write puts its fact here after its commit, in
// commit order, and what a reader found in the database it keeps only if no
// write came in between.
type recentFacts struct {
	seed  maphash.Seed
	parts [recentParts]recentPart
}

type recentPart struct {
	mu      sync.RWMutex
	facts   map[string]Fact
	size    int
	changes uint64 // how many writes there were
}

func newRecentFacts() *recentFacts {
	r := &recentFacts{seed: maphash.MakeSeed()}
	for i := range r.parts {
		r.parts[i].facts = map[string]Fact{}
	}
	return r
}

func (r *recentFacts) part(id string) *recentPart {
	return &r.parts[maphash.String(r.seed, id)%recentParts]
}

// get returns a fact. Its value is shared and must not be changed.
func (r *recentFacts) get(id string) (Fact, bool) {
	p := r.part(id)
	p.mu.RLock()
	defer p.mu.RUnlock()
	fact, ok := p.facts[id]
	return fact, ok
}

// look is called before a fact is read from the database; keep is given what it returns.
func (r *recentFacts) look(id string) uint64 {
	p := r.part(id)
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.changes
}

// keep keeps what was read from the database, unless something was written since.
func (r *recentFacts) keep(id string, fact Fact, seen uint64) {
	p := r.part(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changes == seen {
		p.set(id, fact)
	}
}

// put keeps what was written.
func (r *recentFacts) put(id string, fact Fact) {
	p := r.part(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changes++
	p.set(id, fact)
}

// drop takes out what was deleted.
func (r *recentFacts) drop(id string) {
	p := r.part(id)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changes++
	p.remove(id)
}

// held is how many facts are here.
func (r *recentFacts) held() (n int) {
	for i := range r.parts {
		p := &r.parts[i]
		p.mu.RLock()
		n += len(p.facts)
		p.mu.RUnlock()
	}
	return n
}

func (p *recentPart) set(id string, fact Fact) {
	p.remove(id)
	size := sizeOf(fact)
	if size > recentLargest {
		return
	}
	for other := range p.facts { // which ones go is left to the map's order: it differs each time
		if p.size+size <= recentBytes/recentParts {
			break
		}
		p.remove(other)
	}
	p.facts[id] = fact
	p.size += size
}

func (p *recentPart) remove(id string) {
	if old, ok := p.facts[id]; ok {
		p.size -= sizeOf(old)
		delete(p.facts, id)
	}
}

func sizeOf(f Fact) int {
	return recentExtra + len(f.Persona) + 2*len(f.Key) + len(f.Category) + len(f.Value) + len(f.Probe) + len(f.Source) + len(f.Author)
}
