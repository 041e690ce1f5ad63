package web

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"skillrouter"
	"skillrouter/router/feed"
	"skillrouter/router/kind"
)

const memoryItemPath = "/ui/memory"

// rememberedPages are the pages of a memory of any kind: what it says, who wrote it, and how it is taken back. A
// kind joins by being in the registry.
func (s *Server) rememberedPages() {
	if len(s.services.Kinds) == 0 {
		return
	}
	s.page(memoryItemPath, "memory.html", "Memory", s.remembered)
	s.notice("memory-removed", "It is removed: agents are no longer told of it.")
	s.action(memoryItemPath+"/remove", memoryItemPath, func(v *visit) (string, error) {
		of, err := s.kindOf(v.value("kind"))
		if err == nil && v.value("sure") == "" {
			err = skillrouter.InvalidField("sure", "must be ticked: this cannot be undone here")
		}
		if err == nil {
			err = of.Undo.Remove(v.context(), v.value("id"))
		}
		return link("/ui/search", "kind", v.value("kind"), "done", "memory-removed"), err
	})
}

// kindOf is a kind of memory whose rows are read one at a time.
func (s *Server) kindOf(name string) (kind.Memory, error) {
	i := slices.IndexFunc(s.services.Kinds, func(m kind.Memory) bool { return m.Name == name && m.Undo.Read != nil && m.Undo.Remove != nil })
	if i < 0 {
		return kind.Memory{}, skillrouter.InvalidField("kind", "names no kind of memory that has pages")
	}
	return s.services.Kinds[i], nil
}

// memoryPath is the page of a memory. Of a fact and a procedure the id may lack the persona.
func memoryPath(of, id string) string {
	if of == "lesson" || of == "pattern" {
		return link("/ui/"+of, "id", id)
	}
	if (of == "fact" || of == "procedure") && !strings.Contains(id, "/") {
		id = skillrouter.DefaultPersona + "/" + id
	}
	return link(memoryItemPath, "kind", of, "id", id)
}

// rememberedView is what the page of a memory shows.
type rememberedView struct {
	Kind, ID, Title, Text string
	Members               []memoryMember
	Told                  []feed.Moment
}

type memoryMember struct{ Name, Value string }

func (s *Server) remembered(v *visit) (any, error) {
	if err := v.principal().Need(skillrouter.ScopeRead); err != nil {
		return nil, err
	}
	of, err := s.kindOf(v.value("kind"))
	if err != nil {
		return nil, err
	}
	row, err := of.Undo.Read(v.context(), v.value("id"))
	if err != nil {
		return nil, err
	}
	members, err := membersOf(row)
	if err != nil {
		return nil, err
	}
	page := rememberedView{Kind: of.Name, ID: v.value("id")}
	for _, m := range members {
		switch m.Name {
		case of.Page.Title:
			page.Title = m.Value
		case of.Page.Text:
			page.Text = m.Value
		default:
			page.Members = append(page.Members, m)
		}
	}
	if page.Title == "" {
		page.Title = page.ID
	}
	v.title = short(80, page.Title)
	page.Told, err = s.toldOf(v.context(), page.Kind, page.ID)
	return page, err
}

// toldOf are the latest moments at which agents were told a memory.
func (s *Server) toldOf(ctx context.Context, of, id string) (told []feed.Moment, err error) {
	if s.services.Timeline == nil {
		return nil, nil
	}
	found, err := s.services.Timeline.Timeline(ctx, feed.TimelineQuery{Kinds: []string{feed.KindTold, feed.KindFailure}, Limit: feed.MaxMoments})
	for _, m := range found.Moments {
		for _, item := range m.Items {
			if item.Kind == of && memoryPath(of, item.ID) == memoryPath(of, id) && len(told) < latestMoments {
				m.Items = nil // all else that was told with it
				told = append(told, m)
				break
			}
		}
	}
	return told, err
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
		if json.Unmarshal(value, &m.Value) != nil {
			m.Value = string(value)
		}
		if m.Value != "" && m.Value != "null" && m.Value != "[]" && m.Value != "{}" && m.Value != "0" {
			members = append(members, m)
		}
	}
	return members, nil
}
