package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"skillrouter/internal/errs"
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
	remove := act{Verb: "remove", path: memoryPath + "/remove", Say: "Remove", Danger: true, Note: "This is final: nothing of it is kept, nor what it said before. If it is wrong, change it instead.", Fields: []string{"sure* | Yes: no agent is to be told of it again | check"}}
	if of.Pages.Restore != nil {
		remove.Note = "What it says stays in the data folder: you can take this back on the page that follows. The figures of its runs begin anew."
	}
	return remove
}

// memoryActs registers what is done with memories of any kind. Which kind it is, the form says.
func (s *Server) memoryActs() {
	for _, do := range []struct {
		name, sentence string
		can            func(of kind.Memory) bool
		do             func(v *visit, of kind.Memory, id string) error
	}{
		{"edit", "It is changed.", func(of kind.Memory) bool { return of.Pages.Change != nil }, s.edit},
		{"revert", "It says again what it said then.", func(of kind.Memory) bool { return of.Pages.Versions != nil }, func(v *visit, of kind.Memory, id string) error {
			return of.Revert(v.Context(), id, v.value("version"))
		}},
		{"restore", "It is there again.", func(of kind.Memory) bool { return of.Pages.Restore != nil }, func(v *visit, of kind.Memory, id string) error {
			return of.Pages.Restore(v.Context(), id)
		}},
		{"remove", "It is removed: agents are no longer told of it.", func(kind.Memory) bool { return true }, func(v *visit, of kind.Memory, id string) error {
			if v.value("sure") == "" {
				return errs.InvalidField("sure", "must be ticked: read what becomes of it")
			}
			return of.Undo.Remove(v.Context(), id)
		}},
	} {
		s.notice("memory-"+do.name, do.sentence)
		path := memoryPath + "/" + do.name
		s.action(path, memoryPath, func(v *visit) (string, error) {
			v.acted = path
			of, err := s.kindOf(v.value("kind"))
			if err == nil && !do.can(of) {
				err = errs.InvalidField("kind", "names no kind of memory that this is done with")
			}
			id := v.value("id")
			if err == nil {
				err = do.do(v, of, id)
			}
			to := pathOf(of.Name, id)
			if do.name == "remove" {
				to = link(memoryPath, "kind", of.Name)
				if of.Pages.Restore != nil {
					to = link(memoryPath, "kind", of.Name, "removed", id)
				}
			}
			return done(to, "memory-"+do.name), err
		})
	}
}

// editForm is the form by which a memory is changed.
func (s *Server) editForm(v *visit, of kind.Memory, record any, id string) (*shownAct, error) {
	mark, err := of.Mark(record)
	if err != nil {
		return nil, err
	}
	form := &shownAct{act: act{Say: "Save", First: true}, Action: editPath, ID: id, Kind: of.Name, Hidden: []option{{Name: "mark", Value: mark}}}
	form.Inputs, err = editFields(of, record)
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
	return form, err
}

// editFields are the members of a memory as a form shows them.
func editFields(of kind.Memory, record any) (fields []field, err error) {
	said, err := of.Members(record)
	if err != nil {
		return nil, err
	}
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
	return fields, nil
}

// edit changes what was typed otherwise than it is shown. What the page could only show otherwise than it is, stays.
func (s *Server) edit(v *visit, of kind.Memory, id string) error {
	record, err := of.Undo.Read(v.Context(), id)
	if err != nil {
		return err
	}
	shown, err := editFields(of, record)
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

// versionRows are what a memory said before, each with what the one after it says otherwise.
func (s *Server) versionRows(v *visit, of kind.Memory, id string, record any) (rows []row, err error) {
	before, err := of.Pages.Versions(v.Context(), id)
	if err != nil {
		return nil, err
	}
	next, err := of.Members(record)
	if err != nil {
		return nil, err
	}
	for _, version := range before {
		said, err := of.Members(version.Row)
		if err != nil {
			return nil, err
		}
		var differs []string
		for _, f := range of.Pages.Fields {
			if string(said[f.Member]) != string(next[f.Member]) {
				differs = append(differs, words(f.Member)+": "+cmp.Or(written(f.Form, said[f.Member]), "nothing"))
			}
		}
		r := row{Cells: []cell{at(version.At), agentCell(version.Author), head("", cmp.Or(strings.Join(differs, "\n"), "nothing that is changed here"), ""), {}}}
		r.Acts = []shownAct{{act: act{Say: "Say this again"}, Action: memoryPath + "/revert", ID: id, Kind: of.Name, Hidden: []option{{Name: "version", Value: version.ID}}}}
		rows, next = append(rows, r), said
	}
	return rows, nil
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
	switch f.Form {
	case kind.List:
		list := []string{}
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" {
				list = append(list, line)
			}
		}
		return json.Marshal(list)
	case kind.Number:
		if _, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil {
			return nil, errs.InvalidField(f.Member, "must be a number")
		}
		return asJSON(f.Member, text)
	case kind.Raw:
		if strings.TrimSpace(text) == "" {
			return json.RawMessage("null"), nil
		}
		return asJSON(f.Member, text)
	case kind.Line:
		text = strings.TrimSpace(text)
	}
	return json.Marshal(text)
}

// asJSON is a text that is JSON already.
func asJSON(member, text string) (json.RawMessage, error) {
	var out bytes.Buffer
	if json.Compact(&out, []byte(text)) != nil {
		return nil, errs.InvalidField(member, "must be JSON: a text stands in quotes")
	}
	return out.Bytes(), nil
}

// plainLines has lines end as ours do: browsers send them with a carriage return.
func plainLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// shownIn is a text as a page shows it, and so as a form sends it back.
func shownIn(text string) string { return plainLines(safetext.Visible(text)) }
