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
	"skillrouter/internal/principal"
	"skillrouter/internal/safetext"
	"skillrouter/router/kind"
)

// editView is what the page shows on which a memory is changed.
type editView struct {
	Kind, ID, Title, Path, Mark string
	Fields                      []editField
}

// editField is a member that can be changed.
type editField struct {
	Member, Value string
	Form          string // line, text, list, number, raw or choice
	Choices       []option
	Long          bool // too long for a form: it is not shown
}

// maxEdited bounds what a field of the form holds, in characters: a form may send MaxForm bytes, and characters may take nine.
const maxEdited = 50_000

// formNames are the names by which the template knows the forms.
var formNames = map[kind.Form]string{kind.Line: "line", kind.Text: "text", kind.List: "list", kind.Number: "number", kind.Raw: "raw"}

func (s *Server) editing(v *visit) (any, error) {
	if err := v.principal().Keeping().Need(principal.ScopeAgent); err != nil {
		return nil, err
	}
	of, row, err := s.editable(v)
	if err != nil {
		return nil, err
	}
	page := editView{Kind: of.Name, ID: v.value("id"), Path: memoryPath(of.Name, v.value("id"))}
	if page.Mark, err = of.Mark(row); err != nil {
		return nil, err
	}
	page.Fields, err = editFields(of, row)
	page.Title = page.ID
	for i := range page.Fields {
		f := &page.Fields[i]
		if f.Member == of.Page.Title && f.Value != "" {
			page.Title = f.Value
		}
		// A form that was refused keeps what was typed, unless somebody else changed the memory.
		if typed, sent := v.Form[f.Member]; v.Method == http.MethodPost && sent && errs.CodeOf(v.fault) != errs.Conflict {
			f.Value = plainLines(typed[0])
		}
		if f.Form == "choice" {
			f.Choices = chosen(f.Choices, f.Value)
		}
	}
	v.title = "Change " + short(80, page.Title)
	return page, err
}

// editable is the memory that a form is about.
func (s *Server) editable(v *visit) (of kind.Memory, row any, err error) {
	if of, err = s.kindOf(v.value("kind")); err != nil {
		return of, nil, err
	}
	if of.Pages.Change == nil {
		return of, nil, errs.InvalidField("kind", "names no kind of memory that is changed on a page")
	}
	row, err = of.Undo.Read(v.context(), v.value("id"))
	return of, row, err
}

// editFields are the members of a memory as a form shows them.
func editFields(of kind.Memory, row any) (fields []editField, err error) {
	said, err := of.Members(row)
	if err != nil {
		return nil, err
	}
	for _, f := range of.Pages.Fields {
		field := editField{Member: f.Member, Form: formNames[f.Form], Value: shownIn(written(f.Form, said[f.Member]))}
		if f.Among != nil {
			field.Form, field.Choices = "choice", options("", "", f.Among)
		}
		if utf8.RuneCountInString(field.Value) > maxEdited {
			field.Long, field.Value = true, ""
		}
		fields = append(fields, field)
	}
	return fields, nil
}

func chosen(choices []option, value string) []option {
	for i := range choices {
		choices[i].Chosen = choices[i].Value == value
	}
	return choices
}

// edit changes what was typed otherwise than it is shown. What the page could only show otherwise than it is, stays.
func (s *Server) edit(v *visit) (string, error) {
	of, row, err := s.editable(v)
	if err != nil {
		return "", err
	}
	shown, err := editFields(of, row)
	if err != nil {
		return "", err
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
			return "", err
		}
	}
	return done(memoryPath(of.Name, v.value("id")), "memory-changed"), of.Edit(v.context(), v.value("id"), v.value("mark"), members)
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
