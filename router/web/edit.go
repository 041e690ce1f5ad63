package web

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
	"unicode/utf8"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/internal/safetext"
	"skillrouter/router/kind"
)

const (
	editPath = memoryPath + "/edit"
	// maxEdited bounds what a field of the form holds, in characters: a form may send MaxForm bytes, and characters may take nine.
	maxEdited = 50_000
)

// formNames are the names by which the template knows the forms.
var formNames = map[kind.Form]string{kind.Line: "line", kind.Text: "text", kind.List: "list", kind.Number: "number", kind.Raw: "raw"}

// removing is how a memory of a kind is removed, as its page offers it.
func removing(of kind.Memory) act {
	remove := act{Verb: "remove", path: actPath(anyMemory, "remove"), Say: "Remove", Danger: true, Note: "This is final: nothing of it is kept, nor what it said before. If it is wrong, change it instead.", Fields: []field{{Name: "sure", Label: "Yes: no agent is to be told of it again", Form: "check", Required: true}}}
	if of.Pages.Restore != nil {
		remove.Note = "What it says stays in the data folder: you can take this back on the page that follows. The figures of its runs begin anew."
	}
	return remove
}

// changeMemory does what an act of any kind of memory says. Which kind it is, the form says.
func (s *Server) changeMemory(v *visit, verb, id string) error {
	of, err := s.kindOf(v.value("kind"))
	switch {
	case err != nil:
		return err
	case verb == "edit" && of.Pages.Change != nil:
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

// offerEdit adds to a memory where it is changed, or the form that does it.
func (s *Server) offerEdit(v *visit, of kind.Memory, d *detail, item any) error {
	may := v.principal().Keeping().Need(principal.ScopeAgent)
	switch {
	case of.Pages.Change == nil:
		return nil
	case v.value("edit") == "" && v.acted != editPath:
		if may == nil {
			d.Edit = link(memoryPath, "kind", of.Name, "id", d.ID, "edit", "1")
		}
		return nil
	case may != nil:
		return may
	}
	mark, err := of.Mark(item)
	if err != nil {
		return err
	}
	form := &shownAct{act: act{Say: "Save", First: true}, Action: editPath, ID: d.ID, Kind: of.Name, Hidden: []option{{Name: "mark", Value: mark}}}
	form.Inputs, err = editFields(of, item)
	for i := range form.Inputs {
		f := &form.Inputs[i]
		// A form that was refused keeps what was typed, unless somebody else changed the memory.
		if typed, sent := v.Form[f.Name]; v.Method == http.MethodPost && sent && errs.CodeOf(v.fault) != errs.Conflict {
			f.Value = plainLines(typed[0])
		}
		for c := range f.Choices {
			f.Choices[c].Chosen = f.Choices[c].Value == f.Value
		}
	}
	d.Form = form
	return err
}

// editFields are the members of a memory as a form shows them.
func editFields(of kind.Memory, item any) (fields []field, err error) {
	said, err := of.Members(item)
	for _, f := range of.Pages.Fields {
		one := field{Name: f.Member, Label: words(f.Member), Form: formNames[f.Form], Value: shownIn(written(f.Form, said[f.Member])), Own: true}
		if f.Among != nil {
			one.Form, one.Choices = "choice", options("", "", f.Among)
		}
		if utf8.RuneCountInString(one.Value) > maxEdited {
			one.Long, one.Value = true, ""
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
		if !sent || shown[i].Long {
			continue
		}
		text := plainLines(typed[0])
		if strings.TrimSpace(text) == strings.TrimSpace(shown[i].Value) {
			continue
		}
		if members[f.Member], err = read(f, text); err != nil {
			return err
		}
	}
	return of.Edit(v.Context(), id, v.value("mark"), members)
}

// addVersions adds to a memory what it said before, each with what the one after it says otherwise.
func (s *Server) addVersions(v *visit, of kind.Memory, d *detail, item any) error {
	b := block{ID: "history", Title: "What it said before", Empty: "What it said before a change is not kept."}
	if of.Pages.Versions == nil {
		d.Blocks = append(d.Blocks, b)
		return nil
	}
	before, err := of.Pages.Versions(v.Context(), d.ID)
	if err != nil {
		return err
	}
	next, err := of.Members(item)
	if err != nil {
		return err
	}
	b.Empty, b.Table = "It was never changed.", s.table("version")
	for _, version := range before {
		said, err := of.Members(version.Row)
		if err != nil {
			return err
		}
		var differs []string
		for _, f := range of.Pages.Fields {
			if string(said[f.Member]) != string(next[f.Member]) {
				differs = append(differs, words(f.Member)+": "+cmp.Or(written(f.Form, said[f.Member]), "nothing"))
			}
		}
		b.Table.add(at(version.At), agentCell(version.Author), head("", cmp.Or(strings.Join(differs, "\n"), "nothing that is changed here"), ""), cell{})
		b.Table.Rows[len(b.Table.Rows)-1].Acts = []shownAct{{act: act{Say: "Say this again"}, Action: actPath(anyMemory, "revert"), ID: d.ID, Kind: of.Name, Hidden: []option{{Name: "version", Value: version.ID}}}}
		next = said
	}
	d.Blocks = append(d.Blocks, b)
	return nil
}

// written is a member as people write it.
func written(form kind.Form, value json.RawMessage) string {
	var text string
	var list []string
	switch {
	case form == kind.List && json.Unmarshal(value, &list) == nil:
		return strings.Join(list, "\n")
	case (form == kind.Line || form == kind.Text) && json.Unmarshal(value, &text) == nil:
		return text
	case form == kind.Raw && string(value) == "null":
		return ""
	case form == kind.Raw:
		return cmp.Or(indented(value), string(value))
	}
	return string(value)
}

// read is what people wrote as a member.
func read(f kind.Field, text string) (json.RawMessage, error) {
	var value any = text
	switch f.Form {
	case kind.Line:
		value = strings.TrimSpace(text)
	case kind.List:
		list := []string{}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				list = append(list, line)
			}
		}
		value = list
	case kind.Number, kind.Raw:
		if text = strings.TrimSpace(text); text == "" && f.Form == kind.Raw {
			text = "null"
		}
		if !json.Valid([]byte(text)) {
			return nil, errs.InvalidField(f.Member, "must be a number or JSON, in which a text stands in quotes")
		}
		value = json.RawMessage(text)
	}
	return json.Marshal(value)
}

// plainLines has lines end as ours do: browsers send them with a carriage return.
func plainLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// shownIn is a text as a page shows it, and so as a form sends it back.
func shownIn(text string) string { return plainLines(safetext.Visible(text)) }
