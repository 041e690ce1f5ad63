package learning

// Frequencies returns in how many entries each stem occurs, and how many entries there are.
func (k *KnowledgeBase) Frequencies(stems []string) (frequencies []int, entries int) {
	return k.kept.Index().Frequencies(stems)
}

// Relax returns words that may be meant in the place of those that nothing has; see tfidf.Index.
func (k *KnowledgeBase) Relax(text string) map[string]string { return k.kept.Index().Relax(text) }

// Relax is KnowledgeBase.Relax for lessons.
func (l *Lessons) Relax(text string) map[string]string { return l.kept.Index().Relax(text) }

// Relax is KnowledgeBase.Relax for episodes.
func (l *Episodes) Relax(text string) map[string]string { return l.kept.Index().Relax(text) }

// Relax is KnowledgeBase.Relax for procedures.
func (p *Procedures) Relax(text string) map[string]string { return p.kept.Index().Relax(text) }

// Relax is KnowledgeBase.Relax for facts.
func (f *Facts) Relax(text string) map[string]string { return f.found.index.Relax(text) }

// Frequencies returns in how many lessons each stem occurs, and how many lessons there are.
func (l *Lessons) Frequencies(stems []string) (frequencies []int, lessons int) {
	return l.kept.Index().Frequencies(stems)
}

// Frequencies returns in how many episodes each stem occurs, and how many episodes there are.
func (l *Episodes) Frequencies(stems []string) (frequencies []int, episodes int) {
	return l.kept.Index().Frequencies(stems)
}

// Frequencies returns in how many procedures each stem occurs, and how many procedures there are.
func (p *Procedures) Frequencies(stems []string) (frequencies []int, procedures int) {
	return p.kept.Index().Frequencies(stems)
}

// Frequencies returns in how many facts each stem occurs, of every persona, and how many facts there are.
func (f *Facts) Frequencies(stems []string) (frequencies []int, facts int) {
	return f.found.index.Frequencies(stems)
}
