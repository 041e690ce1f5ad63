package lesson

import (
	"sync"

	"skillrouter/learning"
)

// prints remembers the fingerprints of all lessons, so that a report of a new
// one need not ask the database whether it is there. A print that no lesson has
// any more may be among them: then the database is asked, and says so.
type prints struct {
	mu    sync.Mutex
	known map[learning.Fingerprint]struct{}
	whole bool // every lesson's is there; false until the first Rebuild has read them
}

func (p *prints) add(prints ...learning.Fingerprint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = map[learning.Fingerprint]struct{}{}
	}
	for _, print := range prints {
		p.known[print] = struct{}{}
	}
}

// complete says that every lesson's print was added.
func (p *prints) complete() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.whole = true
}

// without tells whether surely no lesson has the print.
func (p *prints) without(print learning.Fingerprint) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, known := p.known[print]
	return p.whole && !known
}
