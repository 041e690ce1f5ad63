package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"skillrouter/internal/check"
	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/learning"
	"skillrouter/operational"
	"skillrouter/router/kind"
)

const (
	memoryItemPath = "/ui/memory"
	memoryEditPath = "/ui/memory/edit"
)

// rememberedPages are the pages of memories of any kind: all kinds, the rows of one, and a single one: what it says,
// what it said, who wrote it, where it was told, and how it is changed or taken back. A kind joins by being in the registry.
func (s *Server) rememberedPages() {
	if len(s.services.Kinds) == 0 {
		return
	}
	s.page(memoryItemPath, "memory.html", "All memory", s.memory)
	s.section(memory, "All memory", memoryItemPath)
	s.page(memoryEditPath, "edit.html", "Change it", s.editing)
	s.notice("memory-changed", "It is changed.")
	s.notice("memory-reverted", "It says again what it said then.")
	s.notice("memory-merged", "The two are one now.")
	s.notice("memory-parted", "The two are apart again.")
	s.notice("memory-removed", "It is removed: agents are no longer told of it.")
	s.notice("memory-restored", "It is there again.")
	s.action(memoryEditPath, memoryEditPath, s.edit)
	for _, act := range []struct {
		name, done string
		can        func(of kind.Memory) bool
		do         func(v *visit, of kind.Memory, id string) error
	}{
		{"revert", "memory-reverted", func(of kind.Memory) bool { return of.Pages.Versions != nil }, func(v *visit, of kind.Memory, id string) error {
			return of.Revert(v.context(), id, v.value("version"))
		}},
		{"merge", "memory-merged", func(of kind.Memory) bool { return of.Pages.Merge != nil }, func(v *visit, of kind.Memory, id string) error {
			if of.Pages.Part == nil && v.value("sure") == "" {
				return errs.InvalidField("sure", "must be ticked: this cannot be undone here")
			}
			return of.Pages.Merge(v.context(), id, v.value("from"))
		}},
		{"part", "memory-parted", func(of kind.Memory) bool { return of.Pages.Part != nil }, func(v *visit, of kind.Memory, id string) error {
			return of.Pages.Part(v.context(), id)
		}},
		{"restore", "memory-restored", func(of kind.Memory) bool { return of.Pages.Restore != nil }, func(v *visit, of kind.Memory, id string) error {
			return of.Pages.Restore(v.context(), id)
		}},
	} {
		s.action(memoryItemPath+"/"+act.name, memoryItemPath, func(v *visit) (string, error) {
			of, err := s.kindOf(v.value("kind"))
			if err == nil && !act.can(of) {
				err = errs.InvalidField("kind", "names no kind of memory that this is done with")
			}
			if err == nil {
				err = act.do(v, of, v.value("id"))
			}
			return done(memoryPath(of.Name, v.value("id")), act.done), err
		})
	}
	s.action(memoryItemPath+"/remove", memoryItemPath, func(v *visit) (string, error) {
		of, err := s.kindOf(v.value("kind"))
		if err == nil && v.value("sure") == "" {
			err = errs.InvalidField("sure", "must be ticked: read what becomes of it")
		}
		if err == nil {
			err = of.Undo.Remove(v.context(), v.value("id"))
		}
		to := listPath(of)
		if of.Pages.Restore != nil {
			to = link(memoryItemPath, "kind", of.Name, "removed", v.value("id"))
		}
		return done(to, "memory-removed"), err
	})
}

// done adds to a path of ours the code of what is said there.
func done(path, code string) string {
	if strings.Contains(path, "?") {
		return path + "&done=" + code
	}
	return path + "?done=" + code
}

// listPath is the list of a kind.
func listPath(of kind.Memory) string {
	switch {
	case of.Pages.List != nil:
		return link(memoryItemPath, "kind", of.Name)
	case of.Name == "reminder", of.Name == "lesson", of.Name == "pattern":
		return "/ui/" + of.Name + "s"
	}
	return memoryItemPath
}

// kindOf is a kind of memory whose rows are read one at a time.
func (s *Server) kindOf(name string) (kind.Memory, error) {
	i := slices.IndexFunc(s.services.Kinds, func(m kind.Memory) bool { return m.Name == name && m.Undo.Read != nil && m.Undo.Remove != nil })
	if i < 0 {
		return kind.Memory{}, errs.InvalidField("kind", "names no kind of memory that has pages")
	}
	return s.services.Kinds[i], nil
}

// memoryPath is the page of a memory. Of a fact and a procedure the id may lack the persona.
func memoryPath(of, id string) string {
	if of == "lesson" || of == "pattern" || of == "incident" {
		return link("/ui/"+of, "id", id)
	}
	if (of == "fact" || of == "procedure") && !strings.Contains(id, "/") {
		id = check.DefaultPersona + "/" + id
	}
	return link(memoryItemPath, "kind", of, "id", id)
}

// rememberedView is what the page of a memory shows.
type rememberedView struct {
	Kind, Name, ID, Title, Text string
	List                        string // the list of its kind
	Members                     []memoryMember
	Editable                    bool
	Into                        *memoryHit // what stands in its place
	Parts                       bool       // a merge can be taken back
	Alike                       []memoryHit
	Versions                    []memoryVersion
	Versioned                   bool // what it said before is kept
	Restores, Final             bool // that it was removed can be taken back, or never
	toldView
}

type memoryMember struct {
	Name, Value string
	At          *time.Time // if it is one
	Path        string     // of what it names, if that has a page
}

// memoryVersion is what a memory said before, as far as it differs from what it said next.
type memoryVersion struct {
	kind.Version
	Members []memoryMember
}

// toldView is where a memory was told, and what came of it.
type toldView struct {
	Told []operational.Telling
	Came []cameOf
}

// cameOf is what came of telling a memory at one moment.
type cameOf struct {
	Moment operational.ToldMoment
	operational.ToldCounts
}

// memory is the index, a list, or one item, as the query says.
func (s *Server) memory(v *visit) (any, error) {
	if err := v.principal().Keeping().Need(principal.ScopeRead); err != nil {
		return nil, err
	}
	var page memoryView
	var err error
	if v.value("kind") == "" && v.value("id") == "" {
		page.Kinds, err = s.memoryKinds(v.context())
		return page, err
	}
	of, err := s.kindOf(v.value("kind"))
	if err != nil {
		return nil, err
	}
	if v.value("id") == "" {
		if of.Pages.List == nil {
			return nil, errs.InvalidField("id", "is required: this kind has a list of its own, %s", listPath(of))
		}
		page.List, err = s.memories(v, of)
		return page, err
	}
	page.Item, err = s.remembered(v, of)
	return page, err
}

func (s *Server) remembered(v *visit, of kind.Memory) (*rememberedView, error) {
	ctx := v.context()
	row, err := of.Undo.Read(ctx, v.value("id"))
	if err != nil {
		return nil, err
	}
	members, err := membersOf(row)
	if err != nil {
		return nil, err
	}
	page := &rememberedView{
		Kind: of.Name, Name: words(of.Name), ID: v.value("id"), List: listPath(of), Editable: of.Pages.Change != nil, Parts: of.Pages.Part != nil, Versioned: of.Pages.Versions != nil,
		Restores: of.Pages.Restore != nil, Final: of.Pages.List != nil && of.Pages.Restore == nil, // kinds with pages of their own retire
	}
	for _, m := range members {
		switch m.Name {
		case of.Page.Title:
			page.Title = m.Value
		case of.Page.Text:
			page.Text = m.Value
		default:
			switch m.Name {
			case "number":
				if v.principal().Walled() { // it runs through all projects
					continue
				}
			case "agent_id", "author":
				m.Path = link(agentPath, "id", m.Value)
			case "project":
				m.Path = link(timelinePath, "project", m.Value)
			case "session_id": // episodes may name one that nobody began
				if s.services.Sessions != nil {
					if _, err := s.services.Sessions.Session(ctx, m.Value); err == nil {
						m.Path = link("/ui/session", "id", m.Value)
					}
				}
			}
			page.Members = append(page.Members, m)
		}
	}
	page.Title = cmp.Or(page.Title, page.ID)
	v.title = short(80, page.Title)
	if of.Pages.Merge != nil {
		if err := s.beside(ctx, of, page, row); err != nil {
			return nil, err
		}
	}
	if page.Versioned {
		if page.Versions, err = versionsOf(ctx, of, page.ID, row); err != nil {
			return nil, err
		}
	}
	page.toldView, err = s.toldOf(ctx, page.Kind, page.ID)
	return page, err
}

// alike is how many memories are shown that may say the same, and alikeBytes how much of a text they are looked for by.
const (
	alike      = 5
	alikeBytes = 512
)

// beside finds what stands in a memory's place and, where nothing does, what may say the same.
func (s *Server) beside(ctx context.Context, of kind.Memory, page *rememberedView, row any) error {
	if of.Pages.Into != nil {
		id, err := of.Pages.Into(ctx, page.ID)
		if err != nil {
			return err
		}
		if id != "" {
			page.Into = &memoryHit{kind.Hit{ID: id, Title: id}, memoryPath(of.Name, id)}
			if other, err := of.Undo.Read(ctx, id); err == nil {
				members, err := membersOf(other)
				if err != nil {
					return err
				}
				for _, m := range members {
					if m.Name == of.Page.Title {
						page.Into.Title = m.Value
					}
				}
			}
			return nil
		}
	}
	// What belongs to no project is looked for among all, of which some are left out.
	question := kind.Question{Text: page.Title + "\n" + check.Head(page.Text, alikeBytes), Limit: 4 * alike, Caller: principal.Of(ctx), Now: s.now()}
	members, err := membersOf(row)
	if err != nil {
		return err
	}
	for _, m := range members {
		switch m.Name {
		case "project":
			question.Project = m.Value
		case "persona":
			question.Persona = m.Value
		}
	}
	if of.Page.Text == "" { // a fact has none, and is like one that has its value
		for _, m := range members {
			if m.Name == "value" {
				question.Text = page.Title + "\n" + check.Head(m.Value, alikeBytes)
			}
		}
	}
	found, err := of.Search(learning.NotAsked(ctx), question)
	if errs.CodeOf(err) == errs.Invalid { // the text holds no word
		return nil
	}
	for _, hit := range rowsOf(of, found.Hits) {
		if memoryPath(of.Name, hit.ID) != memoryPath(of.Name, page.ID) && hit.SupersededBy == "" && hit.Project == question.Project && len(page.Alike) < alike {
			page.Alike = append(page.Alike, hit)
		}
	}
	return err
}

// versionsOf are what a memory said before, each with what the one after it says otherwise.
func versionsOf(ctx context.Context, of kind.Memory, id string, row any) (versions []memoryVersion, err error) {
	before, err := of.Pages.Versions(ctx, id)
	if err != nil {
		return nil, err
	}
	next, err := of.Members(row)
	if err != nil {
		return nil, err
	}
	for _, version := range before {
		said, err := of.Members(version.Row)
		if err != nil {
			return nil, err
		}
		one := memoryVersion{Version: version}
		for _, f := range of.Pages.Fields {
			if string(said[f.Member]) != string(next[f.Member]) {
				one.Members = append(one.Members, memoryMember{Name: f.Member, Value: written(f.Form, said[f.Member])})
			}
		}
		versions, next = append(versions, one), said
	}
	return versions, nil
}

// toldShown is how many tellings of a memory its page shows.
const toldShown = 20

// toldOf are the latest tellings of a memory, and what came of all that are kept.
func (s *Server) toldOf(ctx context.Context, of, id string) (view toldView, err error) {
	if s.services.Tellings == nil {
		return view, nil
	}
	items := references(of, id)
	if view.Told, err = s.services.Tellings.Told(ctx, operational.TellingQuery{Items: items, Limit: toldShown}); err != nil {
		return view, err
	}
	came, err := s.services.Tellings.Came(ctx, items)
	for _, moment := range operational.ToldMoments() {
		c := cameOf{Moment: moment}
		for _, day := range came {
			if day.Moment == moment {
				c.Add(day.ToldCounts)
			}
		}
		if c.Shown > 0 {
			view.Came = append(view.Came, c)
		}
	}
	return view, err
}

// membersOf are the members of a record in its own order, without those that are empty.
func membersOf(row any) (members []memoryMember, err error) {
	text, err := json.Marshal(row)
	if err != nil {
		return nil, err
	}
	read := json.NewDecoder(bytes.NewReader(text))
	if _, err := read.Token(); err != nil { // {
		return nil, err
	}
	for read.More() {
		name, err := read.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := read.Decode(&value); err != nil {
			return nil, err
		}
		m := memoryMember{Name: asText(name)}
		var list []string
		if json.Unmarshal(value, &list) == nil {
			m.Value = strings.Join(list, ", ")
		} else if json.Unmarshal(value, &m.Value) != nil {
			m.Value = string(value)
		}
		if at, err := time.Parse(time.RFC3339, m.Value); err == nil {
			m.At = &at
		}
		if m.Value != "" && m.Value != "null" && m.Value != "[]" && m.Value != "{}" && m.Value != "0" {
			members = append(members, m)
		}
	}
	return members, nil
}
