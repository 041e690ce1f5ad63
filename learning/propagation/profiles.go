package propagation

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"skillrouter"
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
	agents map[string]*Profile
	users  map[string]map[string]bool // word → agents
}

// fit is an agent whose past work a text fits.
type fit struct {
	agent string
	score float64
	words []string // some of those that they share
}

func newProfiles() profiles {
	return profiles{agents: map[string]*Profile{}, users: map[string]map[string]bool{}}
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
	p.make(profile.AgentID)
	*p.agents[profile.AgentID] = profile
	for word := range profile.Words {
		p.use(word, profile.AgentID)
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
			p.use(strings.Clone(term), agent)
		}
	}
	if len(profile.Words) > MaxProfileWords {
		forget(profile.Words, MaxProfileWords/2, func(word string) { p.unuse(word, agent) })
	}
}

// fitting returns the agents but the author whose past work the words fit, the best first.
func (p *profiles) fitting(terms []string, author string) []fit {
	told := 0
	shared := map[string][]string{}
	for _, term := range terms {
		users := p.users[term]
		if len(users) >= commonWord {
			continue
		}
		told++
		for agent := range users {
			if agent != author {
				shared[agent] = append(shared[agent], term)
			}
		}
	}
	var fits []fit
	for agent, words := range shared {
		if score := float64(len(words)) / float64(told); len(words) >= fitWords && score >= FitThreshold {
			fits = append(fits, fit{agent, score, words[:min(len(words), whyWords)]})
		}
	}
	skillrouter.Sort(fits, func(a, b fit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.agent, b.agent))
	})
	return fits[:min(len(fits), MaxRecipients)]
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
func (p *profiles) make(agent string) *Profile {
	if known := p.agents[agent]; known != nil {
		return known
	}
	if len(p.agents) >= MaxProfiles {
		var oldest *Profile
		for _, profile := range p.agents {
			if oldest == nil || profile.Updated.Before(oldest.Updated) {
				oldest = profile
			}
		}
		for word := range oldest.Words {
			p.unuse(word, oldest.AgentID)
		}
		delete(p.agents, oldest.AgentID)
	}
	profile := &Profile{AgentID: agent, Domains: map[string]int{}, Words: map[string]int{}}
	p.agents[agent] = profile
	return profile
}

func (p *profiles) use(word, agent string) {
	users := p.users[word]
	if users == nil {
		users = map[string]bool{}
		p.users[word] = users
	}
	users[agent] = true
}

func (p *profiles) unuse(word, agent string) {
	users := p.users[word]
	if delete(users, agent); len(users) == 0 {
		delete(p.users, word)
	}
}

// forget keeps the most used of counts, halves these, and tells of the others:
// so what was used long ago gives way.
func forget(counts map[string]int, keep int, gone func(key string)) {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
	for i, key := range keys {
		if i < keep {
			counts[key] = (counts[key] + 1) / 2
			continue
		}
		delete(counts, key)
		gone(key)
	}
}
