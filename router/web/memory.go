package web

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/kind"
	"github.com/skillrouter/skillrouter/router/search"
	"github.com/skillrouter/skillrouter/router/value"
)

const (
	// anyMemory is the kind of the list of all memories; what its acts do is done with a row of any kind of memory.
	anyMemory = "memory"
	// pageHits is how many hits a search of all kinds shows, mixedRows how many rows of each kind the list of all has at
	// most, and toldShown how many tellings of a memory its page shows.
	pageHits  = 20
	mixedRows = 20
	toldShown = 20
)

// memorySize counts what is remembered, as far as whoever looks may know of it.
func (s *Server) memorySize(v *visit) (total int, err error) {
	for _, m := range s.services.Kinds {
		if t := s.things[m.Name]; t == nil || m.Shelf == nil || t.Place != memoryPath {
			continue
		}
		n, err := m.Size(v.Context())
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// memoryThing is a kind of the registry, which has what all of them have, as far as its service knows of it.
func (s *Server) memoryThing(all thing, of kind.Memory) thing {
	t := *s.things["remembered"]
	t.Kind, t.Place, t.One, t.Many, t.Live = of.Name, all.Place, sentence(of.Name), sentence(of.Plural), of.Name+"."
	t.own = hooks{list: (*Server).memories, row: func(_ *Server, _ *visit, _ any, r *record) {
		r.set("icon", of.Name)
		if of.Pages.Restore != nil {
			r.set("kept", "true")
		}
	}}
	t.Title = "${Title/" + of.Page.Title + "}"
	t.Filters = slices.DeleteFunc(slices.Clone(t.Filters), func(f filter) bool {
		return f.Name == "project" && !of.OfProject || f.Name == "persona" && of.Pages.Personas == nil || f.Name == "author" && of.Pages.Personas != nil
	})
	if of.Name != "knowledge" || s.services.Knowledge == nil {
		t.New = nil
	}
	return t
}

// kindOf is a kind of memory whose rows are read one at a time.
func (s *Server) kindOf(name string) (kind.Memory, error) {
	if t := s.things[name]; t != nil && t.memory.Name != "" {
		return t.memory, nil
	}
	return kind.Memory{}, errs.InvalidField("kind", "names no kind of memory that has pages")
}

// personas are those whose rows of a kind can be shown, and whose are; empty: they are everybody's. Where nobody says,
// everybody's are shown, if they can be listed together.
func personas(v *visit, of kind.Memory) (names []string, whose string, err error) {
	if of.Pages.Personas == nil {
		return nil, "", nil
	}
	names, err = of.Pages.Personas(v.Context())
	if whose = v.value("persona"); whose == "" && slices.Contains(names, episode.EveryPersona) {
		whose = episode.EveryPersona
	}
	whose = cmp.Or(whose, check.DefaultPersona)
	if !slices.Contains(names, whose) {
		names = append(names, whose)
	}
	return names, whose, err
}

// keeps refuses whoever may not read memories.
func (v *visit) keeps() error { return v.principal().Keeping().Need(principal.ScopeRead) }

// memories lists a kind: the rows in their order, or those that fit the words that are typed.
func (s *Server) memories(v *visit, t *thing) (l listing, err error) {
	if err := v.keeps(); err != nil {
		return l, err
	}
	ctx, words, of := v.Context(), v.value("q"), t.memory
	if words == "" && t.List != "" {
		return s.called(v, t)
	}
	_, persona, err := personas(v, of)
	if err != nil {
		return l, err
	}
	if of.Pages.Restore != nil {
		l.Removed = v.value("removed")
	}
	var found kind.Found
	if words == "" {
		found, err = of.Pages.List(ctx, kind.Listing{Project: v.value("project"), Persona: persona, Category: v.value("category"), Author: v.value("author"), Cursor: v.value("cursor"), Limit: pageRows})
		if l.next, l.Order = found.Next, "Newest first"; of.Pages.Personas != nil {
			l.Order = "By name"
		}
	} else {
		l.Order = "The likeliest first"
		found, err = of.Search(learning.NotAsked(ctx), kind.Question{ // what is half typed is no question
			Text: words, Project: v.value("project"), Persona: persona, Category: v.value("category"), AgentID: v.value("author"), Limit: learning.MaxLimit, Caller: v.principal(), Now: s.now(),
		})
		l.Notes = searchNotes(found.Notice, found.Corrected, words, len(found.Hits))
	}
	if err != nil {
		return l, err
	}
	rows := make([]any, len(found.Hits))
	for i, hit := range found.Hits {
		if rows[i] = hit; t.Read == "" {
			continue
		}
		if rows[i], err = s.call(v, t.Read, hit.ID, nil, ""); err != nil { // its list shows more than a hit has
			return l, err
		}
	}
	var wanted []string // a search knows of no such filter
	for _, f := range t.Filters {
		if chosen := v.value(f.Name); chosen != "" && t.List != "" && f.Name != "q" {
			wanted = append(wanted, f.Name+"/"+f.Name+"s="+chosen)
		}
	}
	l.Rows, err = s.rowsFrom(v, t, rows, strings.Join(wanted, ";"))
	l.Rows = l.Rows[:min(len(l.Rows), pageRows)]
	return l, err
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

// countTold fills in how often the rows of a page were told to agents.
func (s *Server) countTold(v *visit, rows []row) error {
	var items []operational.ToldRef
	owner := map[operational.ToldRef]int{}
	for i, r := range rows {
		if t := s.things[r.Kind]; t != nil && t.Told && r.Kind != "incident" { // its list says how often it was seen
			for _, item := range references(r.Kind, r.ID) {
				items, owner[item] = append(items, item), i
			}
		}
	}
	if s.services.Tellings == nil || v.principal().Walled() || len(items) == 0 {
		return nil
	}
	came, err := s.services.Tellings.Came(v.Context(), items)
	told := map[int]int{}
	for _, sum := range came {
		told[owner[operational.ToldRef{Kind: sum.Kind, ID: sum.ID}]] += sum.Shown
	}
	for i, n := range told {
		rows[i].set("told", count(n))
	}
	return err
}

// allMemory lists every kind: the latest of each or, where something is asked, what a search of all finds.
func (s *Server) allMemory(v *visit, t *thing) (l listing, err error) {
	if err := v.keeps(); err != nil {
		return l, err
	}
	if words := v.value("q"); words != "" && s.services.Search != nil {
		return s.searched(v, words)
	}
	project, asked := v.value("project"), maps.Clone(v.Form)
	asked.Del("kind")
	for _, name := range s.placeAt(memoryPath).kinds {
		if name == t.Kind || project != "" && !kind.Named(name).OfProject && name != "incident" {
			continue
		}
		found, err := s.listOf(v.asking(maps.Clone(asked)), s.things[name])
		if err != nil {
			return l, err
		}
		for _, r := range found.Rows[:min(mixedRows, len(found.Rows))] {
			r.Columns = slices.Clone(r.Columns)
			for i, c := range r.Columns {
				if c.Name != t.Columns[i].Name && c.As != "time" { // a column has what its head says
					r.Columns[i] = column{Class: c.Class}
				}
			}
			l.Rows = append(l.Rows, r)
		}
	}
	slices.SortStableFunc(l.Rows, func(a, b row) int { return b.at().Compare(a.at()) })
	if len(l.Rows) > pageRows {
		l.Rows, l.Notes = l.Rows[:pageRows], []string{"These are the latest. Choose a kind to see all of it."}
	}
	return l, nil
}

// searched lists what a search of all kinds finds. What says nearly the same is folded into the likeliest.
func (s *Server) searched(v *visit, words string) (l listing, err error) {
	ctx := v.Context()
	if v.Header.Get("Sec-Fetch-Site") != "same-origin" || v.Header.Get("Hx-Request") != "" {
		ctx = learning.NotAsked(ctx) // a question that leaves a gap is asked whole, on a page of ours: not by a link of another site, and not while it is typed
	}
	found, err := s.services.Search.Search(ctx, search.Query{Query: words, Project: v.value("project"), Limit: pageHits, Explain: true})
	if err != nil {
		return l, err
	}
	hit := s.things["hit"]
	l.Columns, l.Order, l.Notes = hit.Columns, "The likeliest first", searchNotes(found.Notice, found.Corrected, words, len(found.Results))
	for _, one := range learning.FoldAlike(len(found.Results), func(i int) learning.Saying { return found.Results[i].Says() }) {
		slices.SortStableFunc(found.Results[one.At].Why, func(a, b learning.Reason) int { return cmp.Compare(b.Weight, a.Weight) })
		rows, err := s.rowsFrom(v, hit, []any{found.Results[one.At]}, "")
		if err != nil {
			return l, err
		}
		rows[0].set("alike", strings.Join(one.More, " "))
		l.Rows = append(l.Rows, rows...)
	}
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

// addTold adds to a detail the latest tellings of a memory, and what came of all that are kept.
func (s *Server) addTold(v *visit, t *thing, d *detail) error {
	if !t.Told || s.services.Tellings == nil || v.principal().Walled() {
		return nil
	}
	refs := references(t.Kind, d.ID)
	told, err := s.services.Tellings.Told(v.Context(), operational.TellingQuery{Items: refs, Limit: toldShown})
	if err != nil {
		return err
	}
	came, err := s.services.Tellings.Came(v.Context(), refs)
	if err != nil {
		return err
	}
	shown := struct {
		Moments  []value.Moment        `json:"moments"`
		Tellings []operational.Telling `json:"tellings"`
	}{Tellings: told}
	for _, moment := range operational.ToldMoments() {
		sum := value.Moment{Moment: moment}
		for _, day := range came {
			if day.Moment == moment {
				sum.Add(day.ToldCounts)
			}
		}
		shown.Moments = append(shown.Moments, sum)
	}
	for _, p := range s.things["told"].Parts {
		err = cmp.Or(err, s.addPart(v, p, d.ID, shown, nil, d))
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
	if name, common := strings.CutPrefix(id, fact.ID(check.DefaultPersona, "")); common && (of == "fact" || of == "procedure") {
		ids = append(ids, name)
	}
	for _, of := range kinds {
		for _, id := range ids {
			items = append(items, operational.ToldRef{Kind: of, ID: id})
		}
	}
	return items
}

// fixed says of what worked instead of a command all that was run.
func fixed(_ *Server, _ *visit, item any, of *record) {
	f := item.(history.Fix)
	of.set("command", strings.Join(append(slices.Clone(f.Steps), f.Command), "\n"))
}

const (
	editPath = "/ui/" + anyMemory + "/edit"
	// maxEdited bounds what a field of the form holds, in bytes: a form may send MaxForm, and a byte may take three.
	maxEdited = 100_000
)

// changeMemory does what an act of any kind of memory says. Which kind it is, the form says.
func (s *Server) changeMemory(v *visit, verb, id string) error {
	of, err := s.kindOf(v.value("kind"))
	switch {
	case err != nil:
		return err
	case verb == "edit":
		return s.edit(v, of, id)
	case verb == "revert" && of.Pages.Versions != nil:
		return of.Revert(v.Context(), id, v.value("version"))
	case verb == "restore" && of.Pages.Restore != nil:
		return of.Pages.Restore(v.Context(), id)
	case verb == "remove":
		if of.Pages.Restore != nil {
			v.removed = id
		}
		return of.Undo.Remove(v.Context(), id)
	}
	return errs.InvalidField("kind", "names no kind of memory that this is done with")
}

// offerEdit adds to a memory where it is changed, or the form that does it, and what it said before.
func (s *Server) offerEdit(v *visit, of kind.Memory, d *detail, item any) error {
	if of.Name == "" {
		return nil
	}
	may := v.principal().Keeping().Need(principal.ScopeAgent)
	switch editing := v.value("edit") != "" || v.acted == editPath; {
	case editing && may != nil:
		return may
	case !editing && may == nil:
		d.Edit = link(memoryPath, "kind", of.Name, "id", d.ID, "edit", "1")
	case editing:
		mark, err := of.Mark(item)
		if err != nil {
			return err
		}
		d.Form = &shownAct{act: act{Say: "Save", First: true}, Action: editPath, ID: d.ID, Kind: of.Name, Hidden: []option{{Name: "mark", Value: mark}}}
		if d.Form.Inputs, err = editFields(of, item); err != nil {
			return err
		}
		for i := range d.Form.Inputs {
			f := &d.Form.Inputs[i]
			// A form that was refused keeps what was typed, unless somebody else changed the memory.
			if typed, sent := v.Form[f.Name]; v.Method == http.MethodPost && sent && errs.CodeOf(v.fault) != errs.Conflict {
				f.Value = plainLines(typed[0])
			}
			for c := range f.Choices {
				f.Choices[c].Chosen = f.Choices[c].Value == f.Value
			}
		}
	}
	if of.Pages.List == nil { // its page has its history
		return nil
	}
	return s.addVersions(v, of, d, item)
}

// editFields are the members of a memory as a form shows them.
func editFields(of kind.Memory, item any) (fields []field, err error) {
	said, err := of.Members(item)
	for _, f := range of.Pages.Fields {
		one := field{Name: f.Member, Label: words(f.Member), Form: string(f.Form), Value: shownIn(f.Form.Write(said[f.Member])), Own: true}
		if f.Among != nil {
			one.Form, one.Choices = "choice", options("", "", f.Among)
		}
		if len(one.Value) > maxEdited {
			one.Form, one.Value = "long", ""
		}
		fields = append(fields, one)
	}
	return fields, err
}

// edit changes what was typed otherwise than it is shown. What the page could only show otherwise than it is, stays.
func (s *Server) edit(v *visit, of kind.Memory, id string) error {
	item, err := of.Undo.Read(v.Context(), id)
	if err != nil {
		return err
	}
	shown, err := editFields(of, item)
	if err != nil {
		return err
	}
	members := map[string]json.RawMessage{}
	for i, f := range of.Pages.Fields {
		typed, sent := v.Form[f.Member]
		if !sent || shown[i].Form == "long" || strings.TrimSpace(plainLines(typed[0])) == strings.TrimSpace(shown[i].Value) {
			continue
		}
		if members[f.Member], err = f.Read(plainLines(typed[0])); err != nil {
			return err
		}
	}
	return of.Edit(v.Context(), id, v.value("mark"), members)
}

// addVersions adds to a memory what it said before, each with what the one after it says otherwise.
func (s *Server) addVersions(v *visit, of kind.Memory, d *detail, item any) error {
	b := block{ID: "history", Title: "What it said before", Empty: "What it said before a change is not kept."}
	if of.Pages.Versions != nil {
		before, err := of.Before(v.Context(), d.ID, item)
		if err != nil {
			return err
		}
		columns := s.things["version"].Columns
		b.Empty, b.Table = "It was never changed.", &table{Columns: columns}
		for _, version := range before {
			var differs []string
			for _, said := range version.Differs {
				differs = append(differs, words(said.Member)+": "+cmp.Or(said.Said, "nothing"))
			}
			r := row{Columns: columns, Acts: []shownAct{{act: act{Say: "Say this again"}, Action: "/ui/" + anyMemory + "/revert", ID: d.ID, Kind: of.Name, Hidden: []option{{Name: "version", Value: version.ID}}}}}
			r.set("at", stampOf(version.At))
			r.set("author", version.Author)
			r.set("differs", strings.Join(differs, "\n"))
			b.Table.Rows = append(b.Table.Rows, r)
		}
	}
	d.Blocks = append(d.Blocks, b)
	return nil
}

// plainLines has lines end as ours do: browsers send them with a carriage return.
func plainLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// shownIn is a text as a page shows it, and so as a form sends it back.
func shownIn(text string) string { return plainLines(safetext.Visible(text)) }
