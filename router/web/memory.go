package web

// memoryPages registers the pages of what is remembered and learned.
func (s *Server) memoryPages() {
	s.with(s.services.Search, s.searchPages)
	s.rememberedPages()
	s.with(s.services.Lessons, s.lessonPages)
	if s.services.Incidents != nil {
		s.incidentPages()
	}
	s.with(s.services.Patterns, s.patternPages)
	s.with(s.services.Guard, s.guardPages)
	s.with(s.services.Escalations, s.escalationPages)
	s.with(s.services.Consolidation, s.proposalPages)
	s.with(s.services.Gaps, s.gapPages)
	s.with(s.services.Value, s.valuePages)
	s.with(s.services.Incidents, s.replayPages)
	s.with(s.services.Transfer, s.importPages)
	s.figurePages()
}

// option is an entry of a list to choose from.
type option struct {
	Value, Name string
	Chosen      bool
}

// options makes the entries of a list: one for all, and the values.
func options[T ~string](all, chosen string, values []T) []option {
	list := make([]option, 0, len(values)+1)
	if all != "" {
		list = append(list, option{Name: all, Chosen: chosen == ""})
	}
	for _, value := range values {
		list = append(list, option{Value: string(value), Name: words(value), Chosen: chosen == string(value)})
	}
	return list
}

// older is the path of the page's next part: what it was asked for, from another cursor on.
func (v *visit) older(path, cursor string, fields ...string) string {
	if cursor == "" {
		return ""
	}
	pairs := []string{"cursor", cursor}
	for _, field := range fields {
		pairs = append(pairs, field, v.value(field))
	}
	return link(path, pairs...)
}

// first is the path of the page's first part, if this is a later one.
func (v *visit) first(path string, fields ...string) string {
	if v.value("cursor") == "" {
		return ""
	}
	var pairs []string
	for _, field := range fields {
		pairs = append(pairs, field, v.value(field))
	}
	return link(path, pairs...)
}
