package rule

// Rules returns how many rules there are.
func (g *Guard) Rules() int {
	g.rules.mu.RLock()
	defer g.rules.mu.RUnlock()
	return len(g.rules.byID)
}
