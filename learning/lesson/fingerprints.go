package lesson

import (
	"sync"

	"skillrouter/learning"
)

// fingerprints remembers the fingerprints of all lessons, so that a report of a new
// one need not ask the database whether it is there. A fingerprint that no lesson has
// any more may be among them: then the database is asked, and says so.
type fingerprints struct {
	mu       sync.Mutex
	known    map[learning.Fingerprint]struct{}
	complete bool // every lesson's is there; false until the first Rebuild has read them
}

func (p *fingerprints) add(added ...learning.Fingerprint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known == nil {
		p.known = map[learning.Fingerprint]struct{}{}
	}
	for _, fingerprint := range added {
		p.known[fingerprint] = struct{}{}
	}
}

// setComplete says that every lesson's fingerprint was added.
func (p *fingerprints) setComplete() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complete = true
}

// without tells whether surely no lesson has the fingerprint.
func (p *fingerprints) without(fingerprint learning.Fingerprint) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, known := p.known[fingerprint]
	return p.complete && !known
}
