package learning

// TellElsewhere has a search that finds nothing say what other kinds have; kind is
// what they call this one. It is called before the first search is made.
func (k *KnowledgeBase) TellElsewhere(kind string, other Elsewhere) { k.repairs.Tell(kind, other) }

// TellElsewhere has a search that finds nothing say what other kinds have; kind is
// what they call this one. It is called before the first search is made.
func (l *Episodes) TellElsewhere(kind string, other Elsewhere) { l.repairs.Tell(kind, other) }

// TellElsewhere has a search that finds nothing say what other kinds have; kind is
// what they call this one. It is called before the first search is made.
func (l *Lessons) TellElsewhere(kind string, other Elsewhere) { l.repairs.Tell(kind, other) }

// TellElsewhere has a search that finds nothing say what other kinds have; kind is
// what they call this one. It is called before the first search is made.
func (f *Facts) TellElsewhere(kind string, other Elsewhere) { f.repairs.Tell(kind, other) }

// TellElsewhere has a search that finds nothing say what other kinds have; kind is
// what they call this one. It is called before the first search is made.
func (p *Procedures) TellElsewhere(kind string, other Elsewhere) { p.repairs.Tell(kind, other) }
