package lesson

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"skillrouter"
	"skillrouter/learning"
)

// supervisorPrefix begins the id of a domain's supervisor that nobody named.
const supervisorPrefix = "supervisor:"

// SupervisorOf is the id of the agent that supervises a domain unless the
// settings name another: "supervisor:" and the domain in lower case, what no
// id may hold as a hyphen. A domain that would lose letters by this, or is too
// long for an id, keeps apart from others by a hash.
func SupervisorOf(domain string) string {
	domain = learning.FoldDomain(domain)
	var slug strings.Builder
	lost := false
	for _, r := range domain {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_':
			slug.WriteRune(r)
		default:
			lost = lost || r > '~'
			if s := slug.String(); s != "" && !strings.HasSuffix(s, "-") {
				slug.WriteByte('-')
			}
		}
	}
	id := supervisorPrefix + strings.TrimSuffix(slug.String(), "-")
	if !lost && id != supervisorPrefix && len(id) <= skillrouter.MaxAgentID {
		return id
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(domain)) // a hash takes everything
	hash := fmt.Sprintf("%08x", sum.Sum32())
	if id == supervisorPrefix {
		return id + hash
	}
	return strings.TrimSuffix(id[:min(len(id), skillrouter.MaxAgentID-len(hash)-1)], "-") + "-" + hash
}

// EscalatedTo lists the agents of escalations, each once, in their order.
func EscalatedTo(escalations []Escalation) []string {
	agents := make([]string, 0, len(escalations))
	for _, e := range escalations {
		if !slices.Contains(agents, e.To) {
			agents = append(agents, e.To)
		}
	}
	return agents
}
