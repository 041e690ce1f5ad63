package comms

import "github.com/skillrouter/skillrouter/operational"

// Count returns how many agents are in each state, every state named.
func (p *Presence) Count() map[operational.AgentState]int {
	counts := map[operational.AgentState]int{}
	for _, state := range operational.AgentStates() {
		counts[state] = 0
	}
	now := p.now()
	for _, m := range p.roster.all() {
		counts[m.agent(now).State]++
	}
	return counts
}
