package learning

// Frequencies returns in how many entries each stem occurs, and how many entries there are.
func (k *KnowledgeBase) Frequencies(stems []string) (frequencies []int, entries int) {
	return k.kept.Index().Frequencies(stems)
}

// Frequencies returns in how many lessons each stem occurs, and how many lessons there are.
func (l *Lessons) Frequencies(stems []string) (frequencies []int, lessons int) {
	return l.kept.Index().Frequencies(stems)
}

// Frequencies returns in how many episodes each stem occurs, and how many episodes there are.
func (l *Episodes) Frequencies(stems []string) (frequencies []int, episodes int) {
	return l.kept.Index().Frequencies(stems)
}

// Frequencies returns in how many facts each stem occurs, of every persona, and how many facts there are.
func (f *Facts) Frequencies(stems []string) (frequencies []int, facts int) {
	return f.found.index.Frequencies(stems)
}
