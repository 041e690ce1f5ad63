package web

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"skillrouter/internal/check"
	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/learning"
	"skillrouter/learning/episode"
	"skillrouter/learning/fact"
	"skillrouter/learning/lesson"
	"skillrouter/operational"
	"skillrouter/router/kind"
	"skillrouter/router/search"
	"skillrouter/router/value"
)

const (
	// anyMemory is the kind of the list of all memories; what its acts do is done with a row of any kind of memory.
	anyMemory = "memory"
	// pageHits is how many hits a search of all kinds shows, and mixedRows how many rows of each kind the list of all has at most.
	pageHits  = 20
	mixedRows = 20
	// toldShown is how many tellings of a memory its page shows.
	toldShown = 20
)

// memorySize counts what is remembered, as far as whoever looks may know of it.
func (s *Server) memorySize(v *visit) (total int, err error) {
	for _, m := range s.services.Kinds {
		if s.things[m.Name] == nil || m.Shelf == nil || s.things[m.Name].Place != memoryPath {
			continue
		}
		own, err := m.Shelf.Within(v.Context())
		if err != nil {
			return 0, err
		}
		if own != nil {
			total += own.Len()
		} else {
			total += m.Shelf.Len()
		}
	}
	return total, nil
}

// memoryThings are all kinds of memory. A kind joins by being in the registry.
func (s *Server) memoryThings() {
	s.own[anyMemory] = func(t *thing) {
		t.list, t.do = s.allMemory, s.changeMemory
		t.read = func(*visit, string) (*detail, error) { return nil, errs.InvalidField("kind", "is required") }
	}
	for _, of := range s.services.Kinds {
		if of.Pages.List != nil && of.Undo.Read != nil && of.Undo.Remove != nil {
			s.kinds = append(s.kinds, s.memoryThing(of))
		}
	}
	s.own["lesson"] = func(t *thing) {
		plain := *t
		t.list, t.more = func(v *visit) (listing, error) { return s.lessons(v, &plain) }, s.lesson
	}
	s.own["incident"] = func(t *thing) {
		plain := *t
		t.list, t.more = func(v *visit) (listing, error) { return s.incidents(v, &plain) }, s.incident
		s.among["incident/project"] = s.incidentProjects
	}
	s.own["fix"] = func(t *thing) { t.row = fixed }
}

// memoryThing is a kind of the registry.
func (s *Server) memoryThing(of kind.Memory) thing {
	t := thing{
		Place: memoryPath, Kind: of.Name, One: sentence(of.Name), Many: sentence(of.Plural), Live: of.Name + ".", Empty: "There is nothing here yet.", Filters: []filter{{Name: "q", Label: "Search as you type"}},
		list: func(v *visit) (listing, error) { return s.memories(v, of) },
		read: func(v *visit, id string) (*detail, error) { return s.recorded(v, of, id) },
		Acts: []act{removing(of)},
	}
	if of.OfProject {
		t.Filters = append(t.Filters, filter{Name: "project", Label: "Project"})
	}
	if of.Pages.Personas != nil {
		t.Filters = append(t.Filters, filter{Name: "persona", Label: "Whose"})
		s.among[of.Name+"/persona"] = func(v *visit) ([]option, error) { return personas(v, of) }
	} else {
		t.Filters = append(t.Filters, filter{Name: "author", Label: "Written by"})
	}
	t.Filters = append(t.Filters, filter{Name: "category", Label: "Category"})
	if of.Categories != nil {
		s.among[of.Name+"/category"] = func(v *visit) ([]option, error) {
			return options("every type", v.value("category"), of.Categories), nil
		}
	}
	if of.Name == "knowledge" && s.services.Knowledge != nil {
		t.New = &act{Verb: "new", Say: "Remember something", Call: "Knowledge.Store", Set: map[string]string{"source": "written in the dashboard"}, Done: "It is remembered. Agents are told of it where it fits.", Fields: []field{
			{Name: "title", Label: "In one line", Form: "line", Required: true},
			{Name: "content", Label: "What agents should know", Form: "text", Required: true},
			{Name: "category", Label: "Category", Form: "line", Value: "note", Required: true},
			{Name: "project", Label: "Project; empty: every project", Form: "line"},
		}}
	}
	return t
}

// kindOf is a kind of memory whose rows are read one at a time.
func (s *Server) kindOf(name string) (kind.Memory, error) {
	i := slices.IndexFunc(s.services.Kinds, func(m kind.Memory) bool { return m.Name == name && m.Undo.Read != nil && m.Undo.Remove != nil })
	if i < 0 {
		return kind.Memory{}, errs.InvalidField("kind", "names no kind of memory that has pages")
	}
	return s.services.Kinds[i], nil
}

// personas are those whose rows can be shown; where nobody says, everybody's are, if they can be listed together.
func personas(v *visit, of kind.Memory) ([]option, error) {
	names, whose, err := persona(v, of)
	if !slices.Contains(names, whose) {
		names = append(names, whose)
	}
	list := options("", whose, names)
	for i := range list {
		if list[i].Value == episode.EveryPersona {
			list[i].Name = "everybody"
		}
	}
	return list, err
}

// persona is whose rows of a kind are shown, and all who have some; empty: they are everybody's.
func persona(v *visit, of kind.Memory) (names []string, whose string, err error) {
	if of.Pages.Personas == nil {
		return nil, v.value("persona"), nil
	}
	names, err = of.Pages.Personas(v.Context())
	if slices.Contains(names, episode.EveryPersona) {
		return names, cmp.Or(v.value("persona"), episode.EveryPersona), err
	}
	return names, cmp.Or(v.value("persona"), check.DefaultPersona), err
}

// keeps refuses whoever may not read memories.
func (v *visit) keeps() error { return v.principal().Keeping().Need(principal.ScopeRead) }

// memories lists a kind: the rows in their order, or those that fit the words that are typed.
func (s *Server) memories(v *visit, of kind.Memory) (l listing, err error) {
	if err := v.keeps(); err != nil {
		return l, err
	}
	ctx, words := v.Context(), v.value("q")
	_, persona, err := persona(v, of)
	if err != nil {
		return l, err
	}
	if of.Pages.Restore != nil {
		l.Removed = v.value("removed")
	}
	var found kind.Found
	if words == "" {
		l.Order = "Newest first"
		if of.Pages.Personas != nil {
			l.Order = "By name"
		}
		found, err = of.Pages.List(ctx, kind.Listing{Project: v.value("project"), Persona: persona, Category: v.value("category"), Author: v.value("author"), Cursor: v.value("cursor"), Limit: pageRows})
		l.next = found.Next
	} else {
		l.Order = "The likeliest first"
		found, err = of.Search(learning.NotAsked(ctx), kind.Question{ // what is half typed is no question
			Text: words, Project: v.value("project"), Persona: persona, Category: v.value("category"), AgentID: v.value("author"), Limit: pageRows, Caller: v.principal(), Now: s.now(),
		})
		l.Notes = searchNotes(found.Notice, found.Corrected, words, len(found.Hits))
	}
	if err != nil {
		return l, err
	}
	l.Columns = s.things[anyMemory].Columns
	for _, hit := range found.Hits {
		l.Rows = append(l.Rows, memoryRow(of.Name, hit, ""))
	}
	return l, s.countTold(v, l.Rows)
}

// searchNotes say what should be known of how it was searched.
func searchNotes(notice string, corrected map[string]string, words string, found int) (notes []string) {
	if notice != "" {
		notes = append(notes, notice)
	}
	for _, word := range slices.Sorted(maps.Keys(corrected)) {
		notes = append(notes, "Nothing matches “"+word+"”. These are results for “"+corrected[word]+"”.")
	}
	if found == 0 {
		notes = append(notes, "Nothing here has “"+short(200, words)+"”.")
	}
	return notes
}

// memoryRow is a row of any kind of memory.
func memoryRow(of string, hit kind.Hit, confidence string) row {
	title := cmp.Or(hit.Title, hit.ID)
	name := head(pathOf(of, hit.ID), title, short(200, hit.Text))
	if hit.SupersededBy != "" {
		name.Chip = "superseded"
	}
	return row{ID: hit.ID, Kind: of, Title: title, Path: name.Path, Cells: []cell{{Icon: of, Sub: of}, name, text(hit.Project), text(confidence), {}, at(hit.At)}}
}

// countTold fills in how often the rows of a page were told to agents.
func (s *Server) countTold(v *visit, rows []row) error {
	if s.services.Tellings == nil || v.principal().Walled() || len(rows) == 0 {
		return nil
	}
	var items []operational.ToldRef
	owner := map[operational.ToldRef]int{}
	for i, r := range rows {
		if r.Kind != "pattern" && r.Kind != "incident" { // their columns say how often they were seen
			for _, item := range references(r.Kind, r.ID) {
				items, owner[item] = append(items, item), i
			}
		}
	}
	came, err := s.services.Tellings.Came(v.Context(), items)
	told := map[int]int{}
	for _, sum := range came {
		told[owner[operational.ToldRef{Kind: sum.Kind, ID: sum.ID}]] += sum.Shown
	}
	for i, n := range told {
		if n > 0 {
			rows[i].Cells[4] = text(count(n))
		}
	}
	return err
}

// allMemory lists every kind: the latest of each or, where something is asked, what a search of all finds.
func (s *Server) allMemory(v *visit) (l listing, err error) {
	if err := v.keeps(); err != nil {
		return l, err
	}
	if words := v.value("q"); words != "" && s.services.Search != nil {
		return s.searched(v, words)
	}
	project := v.value("project")
	for _, name := range s.placeAt(memoryPath).kinds {
		if name == anyMemory || project != "" && !kind.Named(name).OfProject && name != "incident" {
			continue
		}
		found, err := s.listOf(v, s.things[name])
		if err != nil {
			return l, err
		}
		l.Rows = append(l.Rows, found.Rows[:min(mixedRows, len(found.Rows))]...)
	}
	slices.SortStableFunc(l.Rows, func(a, b row) int { return b.Cells[5].At.Compare(a.Cells[5].At) })
	if len(l.Rows) > pageRows {
		l.Rows, l.Notes = l.Rows[:pageRows], []string{"These are the latest. Choose a kind to see all of it."}
	}
	l.Order = "Newest first"
	return l, nil
}

// searchHit is why a hit was found.
type searchHit struct {
	Why   []learning.Reason // the weightiest first
	Alike []cell            // what says nearly the same
	Also  []search.Ref
}

// maxReasons bounds the reasons that a hit shows.
const maxReasons = 8

func (s *Server) searched(v *visit, words string) (l listing, err error) {
	ctx := v.Context()
	if v.Header.Get("Sec-Fetch-Site") != "same-origin" || v.Header.Get("Hx-Request") != "" {
		ctx = learning.NotAsked(ctx) // a question that leaves a gap is asked whole, on a page of ours: not by a link of another site, and not while it is typed
	}
	found, err := s.services.Search.Search(ctx, search.Query{Query: words, Project: v.value("project"), Limit: pageHits, Explain: true})
	if err != nil {
		return l, err
	}
	l.Order, l.Notes = "The likeliest first", searchNotes(found.Notice, found.Corrected, words, len(found.Results))
	for _, one := range learning.FoldFound(found.Results) {
		hit := found.Results[one.At]
		r := memoryRow(hit.Kind, kind.Hit{ID: hit.ID, Title: hit.Title, Text: hit.Snippet, Project: hit.Project, At: hit.At, SupersededBy: hit.SupersededBy}, percent(hit.Relevance))
		more := &searchHit{Also: hit.Also, Why: slices.SortedStableFunc(slices.Values(hit.Why), func(a, b learning.Reason) int { return cmp.Compare(b.Weight, a.Weight) })}
		more.Why = more.Why[:min(len(more.Why), maxReasons)]
		for _, id := range one.More {
			more.Alike = append(more.Alike, cell{Text: id, Path: pathOf(hit.Kind, id), Code: true})
		}
		r.Cells[1].More = more
		l.Rows = append(l.Rows, r)
	}
	l.Columns = slices.Clone(s.things[anyMemory].Columns)
	l.Columns[3].Name = "Relevance"
	for _, step := range found.Repairs {
		l.Notes = append(l.Notes, step.Detail)
	}
	for _, k := range found.Kinds {
		if k.LeftOut != "" {
			l.Notes = append(l.Notes, "Not searched: "+k.LeftOut+".")
		}
	}
	return l, nil
}

// recorded shows one memory: what it says and said, and where it was told.
func (s *Server) recorded(v *visit, of kind.Memory, id string) (*detail, error) {
	if err := v.keeps(); err != nil {
		return nil, err
	}
	item, err := of.Undo.Read(v.Context(), id)
	if err != nil {
		return nil, err
	}
	t := *s.things[of.Name]
	t.Title = "${" + of.Page.Title + "}"
	t.more = func(v *visit, item any, d *detail) error {
		d.ID, d.Chips = id, []string{of.Name}
		return cmp.Or(s.offerEdit(v, of, d, item), s.addTold(v, of.Name, d), s.addVersions(v, of, d, item))
	}
	return s.detailFrom(v, &t, id, item)
}

// addTold adds to a detail the latest tellings of a memory, and what came of all that are kept.
func (s *Server) addTold(v *visit, of string, d *detail) error {
	if s.services.Tellings == nil || v.principal().Walled() {
		return nil
	}
	ctx, refs := v.Context(), references(of, d.ID)
	told, err := s.services.Tellings.Told(ctx, operational.TellingQuery{Items: refs, Limit: toldShown})
	if err != nil {
		return err
	}
	came, err := s.services.Tellings.Came(ctx, refs)
	if err != nil {
		return err
	}
	var moments []value.Moment
	for _, moment := range operational.ToldMoments() {
		sum := value.Moment{Moment: moment}
		for _, day := range came {
			if day.Moment == moment {
				sum.Add(day.ToldCounts)
			}
		}
		moments = append(moments, sum)
	}
	shown := struct {
		Moments  []value.Moment        `json:"moments"`
		Tellings []operational.Telling `json:"tellings"`
	}{moments, told}
	err = s.addPart(v, part{ID: "told", Title: "Where it was told, and what came of it", Live: "session.", Kind: "told", Of: "moments", When: "shown!=", Empty: "No session has received it yet."}, d.ID, shown, nil, d)
	if err == nil && len(told) > 0 {
		err = s.addPart(v, part{ID: "tellings", Title: "The latest tellings", Live: "session.", Kind: "telling", Of: "tellings"}, d.ID, shown, nil, d)
	}
	return err
}

// references are what tellings may name a memory by. Of a fact and a procedure of the default persona they may lack the persona.
func references(of, id string) (items []operational.ToldRef) {
	kinds := []string{of}
	if of == "lesson" {
		kinds = []string{"lesson", "principle", "guard", "rule"}
	}
	ids := []string{id}
	if of == "fact" || of == "procedure" {
		if name, common := strings.CutPrefix(id, fact.ID(check.DefaultPersona, "")); common {
			ids = append(ids, name)
		}
	}
	for _, of := range kinds {
		for _, id := range ids {
			items = append(items, operational.ToldRef{Kind: of, ID: id})
		}
	}
	return items
}

// lessons lists lessons or, if there are words, those that fit these and the filters.
func (s *Server) lessons(v *visit, t *thing) (l listing, err error) {
	words := v.value("q")
	if words == "" {
		if l, err = s.called(v, t, v.Form); err == nil {
			err = s.countTold(v, l.Rows)
		}
		return l, err
	}
	found, err := s.services.Lessons.Relevant(learning.NotAsked(v.Context()), lesson.Query{Context: words, Domain: v.value("domain"), Narrow: true, Limit: learning.MaxLimit}) // what is half typed is no question
	if err != nil {
		return l, err
	}
	var wanted []string
	for _, filter := range []string{"lesson_type", "level", "status"} {
		if chosen := v.value(filter); chosen != "" {
			wanted = append(wanted, filter+"="+chosen)
		}
	}
	for _, hit := range found.Results {
		if tag := v.value("tag"); tag == "" || slices.Contains(hit.Tags, tag) {
			l.items = append(l.items, hit.Lesson)
		}
	}
	l.Order = "The likeliest first"
	l.Rows, err = s.rowsFrom(v, t, l.items, strings.Join(wanted, ";"))
	l.Rows = l.Rows[:min(pageRows, len(l.Rows))]
	return l, err
}
