package propagation

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"skillrouter/learning"
	"skillrouter/tfidf/text"
)

// Bounds of profiles.
const (
	// MaxProfiles bounds how many agents' work is known, the latest heard of.
	MaxProfiles = 2000
	// MaxProfileWords bounds the words of one profile. At the bound, the half that is
	// used least is forgotten: what an agent does now outlives what it did once.
	MaxProfileWords = 256
	// MaxProfileDomains bounds the domains of one profile in the same way.
	MaxProfileDomains = 32
	// commonWord is from how many agents on a word tells nothing of any of them.
	commonWord = 256
	// maxTelling bounds the words that are read of one text.
	maxTelling = 64
	// whyWords is how many words a reason names.
	whyWords = 4
)

// profiles is what is known of agents, and which of them use a word.
type profiles struct {
	agents map[string]*known
	users  map[string][]*known // word → agents, in no order
}

// known is a profile, and how many words of a text it was found to share while that is looked at.
type known struct {
	Profile
	shared int
}

// fit is an agent whose past work a text fits.
type fit struct {
	agent string
	score float64
	words []string // some of those that they share
}

func newProfiles() profiles {
	return profiles{agents: map[string]*known{}, users: map[string][]*known{}}
}

// telling returns the words of texts that tell what they are about, as the
// search reads them, each once.
func telling(texts ...string) []string {
	var terms []string
	for _, part := range texts {
		for _, term := range text.Terms(part[:min(len(part), learning.MaxTitle)]) {
			if len(terms) == maxTelling {
				return terms
			}
			if len(term) > 2 && len(term) <= 64 && !text.StopWord(term) && !slices.Contains(terms, term) {
				terms = append(terms, term)
			}
		}
	}
	return terms
}

// load puts a stored profile in.
func (p *profiles) load(profile Profile) {
	of := p.make(profile.AgentID)
	of.Profile = profile
	for word := range profile.Words {
		p.use(word, of)
	}
}

// learn adds a text's words, and the domain that it is of if there is one.
func (p *profiles) learn(agent, domain string, terms []string, at time.Time) {
	profile := p.make(agent)
	profile.Updated = at
	if domain != "" {
		profile.Domains[domain]++
		if len(profile.Domains) > MaxProfileDomains {
			forget(profile.Domains, MaxProfileDomains/2, func(string) {})
		}
	}
	for _, term := range terms {
		if profile.Words[term]++; profile.Words[term] == 1 {
			p.use(strings.Clone(term), profile)
		}
	}
	if len(profile.Words) > MaxProfileWords {
		forget(profile.Words, MaxProfileWords/2, func(word string) { p.unuse(word, profile) })
	}
}

// fitting returns the agents but the author whose past work the words fit, the best first.
func (p *profiles) fitting(terms []string, author string) []fit {
	told := make([]string, 0, len(terms))
	var sharing []*known
	for _, term := range terms {
		users := p.users[term]
		if len(users) >= commonWord {
			continue
		}
		told = append(told, term)
		for _, of := range users {
			if of.shared++; of.shared == 1 {
				sharing = append(sharing, of)
			}
		}
	}
	var fits []fit
	for _, of := range sharing {
		if score := float64(of.shared) / float64(len(told)); of.shared >= fitWords && score >= FitThreshold && of.AgentID != author {
			fits = append(fits, fit{agent: of.AgentID, score: score})
		}
		of.shared = 0
	}
	slices.SortFunc(fits, func(a, b fit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.agent, b.agent))
	})
	fits = fits[:min(len(fits), MaxRecipients)]
	for i := range fits {
		words := p.agents[fits[i].agent].Words
		for _, term := range told {
			if words[term] > 0 && len(fits[i].words) < whyWords {
				fits[i].words = append(fits[i].words, term)
			}
		}
	}
	return fits
}

// domain returns the domain that an agent reported most from, or "".
func (p *profiles) domain(agent string) string {
	profile := p.agents[agent]
	if profile == nil {
		return ""
	}
	best, most := "", 0
	for domain, n := range profile.Domains {
		if n > most || n == most && domain < best {
			best, most = domain, n
		}
	}
	return best
}

// profile returns a copy of an agent's profile.
func (p *profiles) profile(agent string) (Profile, bool) {
	known := p.agents[agent]
	if known == nil {
		return Profile{}, false
	}
	return Profile{AgentID: agent, Domains: maps.Clone(known.Domains), Words: maps.Clone(known.Words), Updated: known.Updated}, true
}

// make returns an agent's profile, and makes room for it if need be.
func (p *profiles) make(agent string) *known {
	if of := p.agents[agent]; of != nil {
		return of
	}
	if len(p.agents) >= MaxProfiles {
		var oldest *known
		for _, of := range p.agents {
			if oldest == nil || of.Updated.Before(oldest.Updated) {
				oldest = of
			}
		}
		for word := range oldest.Words {
			p.unuse(word, oldest)
		}
		delete(p.agents, oldest.AgentID)
	}
	of := &known{Profile: Profile{AgentID: agent, Domains: map[string]int{}, Words: map[string]int{}}}
	p.agents[agent] = of
	return of
}

// use notes that an agent uses a word that it did not use.
func (p *profiles) use(word string, agent *known) { p.users[word] = append(p.users[word], agent) }

func (p *profiles) unuse(word string, agent *known) {
	users := p.users[word]
	at := slices.Index(users, agent)
	if at < 0 {
		return
	}
	if len(users) == 1 {
		delete(p.users, word)
		return
	}
	last := len(users) - 1
	users[at], users[last] = users[last], nil
	p.users[word] = users[:last]
}

// forget keeps the most used of counts, halves these, and tells of the others:
// so what was used long ago gives way.
func forget(counts map[string]int, keep int, gone func(key string)) {
	type count struct {
		key   string
		times int
	}
	sorted := make([]count, 0, len(counts))
	for key, times := range counts {
		sorted = append(sorted, count{key, times})
	}
	slices.SortFunc(sorted, func(a, b count) int {
		return cmp.Or(cmp.Compare(b.times, a.times), strings.Compare(a.key, b.key))
	})
	for i, c := range sorted {
		if i < keep {
			counts[c.key] = (c.times + 1) / 2
			continue
		}
		delete(counts, c.key)
		gone(c.key)
	}
}
