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
	"skillrouter/operational"
	"skillrouter/router/kind"
	"skillrouter/router/search"
)

const (
	// pageHits is how many hits a search of all kinds shows, and mixedRows how many rows of each kind the list of all has at most.
	pageHits  = 20
	mixedRows = 20
	// toldShown is how many tellings of a memory its page shows.
	toldShown = 20
)

var memoryColumns = columnsOf(" | | | w20", "Memory | | | t", "Project | | | w112 x", "Confidence | | | w88 n x", "Told | | | w56 n x", "Changed | | | w64 n")

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
	if len(s.services.Kinds) == 0 {
		return
	}
	s.put(thing{
		Place: memoryPath, Kind: "memory", One: "Memory", Many: "All", Live: "knowledge. fact. episode. procedure. lesson. pattern.", Filters: []string{"q | Search as you type", "project | Project"},
		Empty: "There is nothing here yet.", Command: `skillrouter remember "Use pnpm, not npm" "The lockfile is pnpm-lock.yaml."`, list: s.allMemory,
		read: func(*visit, string) (*detail, error) { return nil, errs.InvalidField("kind", "is required") },
	})
	for _, of := range s.services.Kinds {
		if of.Pages.List == nil || of.Undo.Read == nil || of.Undo.Remove == nil {
			continue
		}
		t := thing{
			Place: memoryPath, Kind: of.Name, One: sentence(of.Name), Many: sentence(of.Plural), Live: of.Name + ".", Empty: "There is nothing here yet.", Filters: []string{"q | Search as you type"},
			list: func(v *visit) (listing, error) { return s.memories(v, of) },
			read: func(v *visit, id string) (*detail, error) { return s.recorded(v, of, id) },
			Acts: []act{removing(of)},
		}
		if of.OfProject {
			t.Filters = append(t.Filters, "project | Project")
		}
		if of.Pages.Personas != nil {
			t.Filters = append(t.Filters, "persona | Whose")
			s.among[of.Name+"/persona"] = func(v *visit) ([]option, error) { return personas(v, of) }
		} else {
			t.Filters = append(t.Filters, "author | Written by")
		}
		t.Filters = append(t.Filters, "category | Category")
		if of.Categories != nil {
			s.among[of.Name+"/category"] = func(v *visit) ([]option, error) {
				return options("every type", v.value("category"), of.Categories), nil
			}
		}
		if of.Name == "knowledge" && s.services.Knowledge != nil {
			t.New = &act{Verb: "new", Say: "Remember something", Call: "Knowledge.Store", Set: "source=written in the dashboard", Done: "It is remembered. Agents are told of it where it fits.", Fields: []string{
				"title* | In one line", "content* | What agents should know | text", "category* | Category | line | note", "project | Project; empty: every project",
			}}
		}
		s.put(t)
	}
	s.own["incident"] = func(t *thing) bool {
		plain := *t
		t.list, t.more = func(v *visit) (listing, error) { return s.incidents(v, &plain) }, s.incident
		s.among["incident/project"] = s.incidentProjects
		if inbox := s.placeAt(inboxPath); s.services.Incidents != nil { // it is decided on there, too
			inbox.kinds = append(inbox.kinds, t.Kind)
		}
		return s.services.Incidents != nil
	}
	s.own["lesson"] = func(t *thing) bool {
		plain := *t
		t.list, t.more = func(v *visit) (listing, error) { return s.lessons(v, &plain) }, s.lesson
		return s.services.Lessons != nil
	}
	s.own["pattern"] = func(t *thing) bool {
		t.more = s.pattern
		return s.services.Patterns != nil
	}
	s.memoryActs()
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
	names, err := of.Pages.Personas(v.Context())
	whose := personaOf(v, names)
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

func personaOf(v *visit, names []string) string {
	if slices.Contains(names, episode.EveryPersona) {
		return cmp.Or(v.value("persona"), episode.EveryPersona)
	}
	return cmp.Or(v.value("persona"), check.DefaultPersona)
}

// keeps refuses whoever may not read memories.
func (v *visit) keeps() error { return v.principal().Keeping().Need(principal.ScopeRead) }

// memories lists a kind: the rows in their order, or those that fit the words that are typed.
func (s *Server) memories(v *visit, of kind.Memory) (l listing, err error) {
	if err := v.keeps(); err != nil {
		return l, err
	}
	ctx, words, persona := v.Context(), v.value("q"), v.value("persona")
	if of.Pages.Restore != nil {
		l.Removed = v.value("removed")
	}
	if of.Pages.Personas != nil {
		names, err := of.Pages.Personas(ctx)
		if err != nil {
			return l, err
		}
		persona = personaOf(v, names)
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
	l.Columns = memoryColumns
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
		for _, item := range references(r.Kind, r.ID) {
			items, owner[item] = append(items, item), i
		}
	}
	came, err := s.services.Tellings.Came(v.Context(), items)
	told := make([]int, len(rows))
	for _, day := range came {
		if i, ok := owner[operational.ToldRef{Kind: day.Kind, ID: day.ID}]; ok {
			told[i] += day.Shown
		}
	}
	for i, n := range told {
		if n > 0 && rows[i].Kind != "pattern" && rows[i].Kind != "incident" {
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
	for _, of := range s.services.Kinds {
		if of.Pages.List == nil || project != "" && !of.OfProject || s.things[of.Name] == nil {
			continue
		}
		listing := kind.Listing{Project: project, Limit: mixedRows}
		if of.Pages.Personas != nil {
			names, err := of.Pages.Personas(v.Context())
			if err != nil {
				return l, err
			}
			listing.Persona = personaOf(v, names)
		}
		found, err := of.Pages.List(v.Context(), listing)
		if err != nil {
			return l, err
		}
		for _, hit := range found.Hits {
			l.Rows = append(l.Rows, memoryRow(of.Name, hit, ""))
		}
	}
	for _, kind := range []string{"lesson", "pattern", "incident"} {
		if t := s.things[kind]; t != nil && (project == "" || kind != "pattern") {
			found, err := s.listOf(v, t)
			if err != nil {
				return l, err
			}
			l.Rows = append(l.Rows, found.Rows...)
		}
	}
	slices.SortStableFunc(l.Rows, func(a, b row) int { return b.Cells[5].At.Compare(a.Cells[5].At) })
	if len(l.Rows) > pageRows {
		l.Rows, l.Notes = l.Rows[:pageRows], []string{"These are the latest. Choose a kind to see all of it."}
	}
	l.Columns, l.Order = memoryColumns, "Newest first"
	return l, s.countTold(v, l.Rows)
}

// searchHit is why a hit was found.
type searchHit struct {
	Relevance string
	Why       []learning.Reason // the weightiest first
	Alike     []cell            // what says nearly the same
	Also      []search.Ref
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
		more := &searchHit{Relevance: percent(hit.Relevance), Also: hit.Also, Why: slices.SortedStableFunc(slices.Values(hit.Why), func(a, b learning.Reason) int { return cmp.Compare(b.Weight, a.Weight) })}
		more.Why = more.Why[:min(len(more.Why), maxReasons)]
		for _, id := range one.More {
			more.Alike = append(more.Alike, cell{Text: id, Path: pathOf(hit.Kind, id), Code: true})
		}
		r.Cells[1].More = more
		l.Rows = append(l.Rows, r)
	}
	l.Columns = slices.Clone(memoryColumns)
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

// recorded shows one memory: what it says and said, where it was told, and what may say the same.
func (s *Server) recorded(v *visit, of kind.Memory, id string) (*detail, error) {
	if err := v.keeps(); err != nil {
		return nil, err
	}
	record, err := of.Undo.Read(v.Context(), id)
	if err != nil {
		return nil, err
	}
	facts, err := v.facts(record, of.Page.Title)
	d := &detail{Title: id, Chips: []string{of.Name}, Facts: facts}
	if err != nil {
		return nil, err
	}
	if title := memberOf(record, of.Page.Title); title != "" {
		d.Title = title
	}
	d.Acts = s.acts(v, s.things[of.Name], id, nil)
	return d, s.surround(v, of, d, record)
}

// memberOf is what a member of a record says.
func memberOf(record any, name string) string {
	members, _ := membersOf(record) // of what was read before
	for _, m := range members {
		if m.Name == name {
			return m.Value
		}
	}
	return ""
}

// surround adds to a memory what stands around it: its form, what it said before, and where it was told.
func (s *Server) surround(v *visit, of kind.Memory, d *detail, record any) error {
	id := cmp.Or(d.ID, v.value("id"))
	if of.Pages.Change != nil {
		if v.principal().Has(principal.ScopeAgent) {
			d.Edit = link(memoryPath, "kind", of.Name, "id", id, "edit", "1")
		}
		if v.value("edit") != "" || v.acted == editPath {
			if err := v.principal().Keeping().Need(principal.ScopeAgent); err != nil {
				return err
			}
			form, err := s.editForm(v, of, record, id)
			if err != nil {
				return err
			}
			d.Form, d.Edit = form, ""
		}
	}
	if !v.principal().Walled() {
		told, err := s.toldBlocks(v, of.Name, id)
		if err != nil {
			return err
		}
		d.Blocks = append(d.Blocks, told...)
	}
	if of.Pages.List == nil { // of lessons the history says it
		return nil
	}
	versions := block{ID: "history", Title: "What it said before", Empty: "What it said before a change is not kept."}
	if of.Pages.Versions != nil {
		versions.Empty = "It was never changed."
		rows, err := s.versionRows(v, of, id, record)
		if err != nil {
			return err
		}
		versions.Table = plainTable("Said since | w112;By | w128 x;What was different | t; | w144")
		versions.Table.Rows = rows
	}
	d.Blocks = append(d.Blocks, versions)
	return nil
}

// toldBlocks are the latest tellings of a memory, and what came of all that are kept.
func (s *Server) toldBlocks(v *visit, of, id string) ([]block, error) {
	if s.services.Tellings == nil {
		return nil, nil
	}
	ctx, items := v.Context(), references(of, id)
	told, err := s.services.Tellings.Told(ctx, operational.TellingQuery{Items: items, Limit: toldShown})
	if err != nil {
		return nil, err
	}
	came, err := s.services.Tellings.Came(ctx, items)
	figures := plainTable("When" + worthColumns)
	for _, moment := range operational.ToldMoments() {
		var sum operational.ToldCounts
		for _, day := range came {
			if day.Moment == moment {
				sum.Add(day.ToldCounts)
			}
		}
		if sum.Shown > 0 {
			figures.add(append([]cell{head("", string(moment), "")}, worthCells(sum)...)...)
		}
	}
	latest := plainTable("When | w72;Agent | w144;Moment | w104 x;About | t x;Project | w112 x")
	for _, t := range told {
		latest.add(at(t.At), head(whoPath(t.Agent), t.Agent, ""), cell{Chip: string(t.Moment)}, text(short(160, t.About)), cell{Text: t.Project, Path: s.timelineOf("project", t.Project)})
	}
	blocks := []block{{ID: "told", Title: "Where it was told, and what came of it", Live: "session.", Table: figures, Empty: "No session has received it yet."}}
	if len(latest.Rows) > 0 {
		blocks = append(blocks, block{ID: "tellings", Title: "The latest tellings", Live: "session.", Table: latest})
	}
	return blocks, err
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
