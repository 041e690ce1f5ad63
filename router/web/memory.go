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
	s.with(s.services.Verdicts, s.gapPages)
	s.with(s.services.Value, s.valuePages)
	s.with(s.services.Transfer, s.importPages)
	if s.services.Process != nil {
		s.figurePages()
	}
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

// pager leads from a part of a list to those before and behind it. A path is empty where there is none.
type pager struct {
	Older, Newer         string
	NewerName, OlderName string // where they lead, where that is not what the words say
}

// pages is the pager of a list that a cursor pages: each path asks for what the page was asked for.
func (v *visit) pages(path, next, newer, older string, fields ...string) pager {
	p := pager{NewerName: newer, OlderName: older}
	var pairs []string
	for _, field := range fields {
		pairs = append(pairs, field, v.value(field))
	}
	if next != "" {
		p.Older = link(path, append([]string{"cursor", next}, pairs...)...)
	}
	if v.value("cursor") != "" {
		p.Newer = link(path, pairs...)
	}
	return p
}

// turns is the pager of a list whose place is a field of the page's own address; later tells that this is not its first part.
func (v *visit) turns(field, next string, later bool, newer, older string) pager {
	p := pager{NewerName: newer, OlderName: older}
	if next != "" {
		p.Older = v.with(field, next)
	}
	if later {
		p.Newer = v.with(field, "")
	}
	return p
}
