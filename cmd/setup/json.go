package setup

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
)

// jsonEdit puts members into an object and elements into lists of a JSON file,
// which may have comments and trailing commas; both stay.
type jsonEdit struct {
	members  []member
	elements []element
}

// member is one of an object's members.
type member struct {
	path  []string // of objects, which are made where they are missing
	value string   // JSON
	// weak is set if the member only has to be there: a value that somebody gave it stays.
	weak bool
}

// element is one of a list's elements.
type element struct {
	path  []string // of the list, which is made if it is missing
	value string   // JSON; empty: what an earlier version wrote there is taken out
	// ours tells one that we wrote, now or in an earlier version.
	ours func(text []byte) bool
}

// and is both edits of one file.
func (e jsonEdit) and(more jsonEdit) jsonEdit {
	return jsonEdit{slices.Concat(e.members, more.members), slices.Concat(e.elements, more.elements)}
}

// standsAt finds the line in hujson's messages.
var standsAt = lazyregexp.New(`^hujson: line (\d+), column \d+: `)

func parseJSON(path string, text []byte) (hujson.Value, *hujson.Object, error) {
	if text = bytes.TrimPrefix(text, []byte("\ufeff")); len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	} else if text[len(text)-1] != '\n' {
		text = append(bytes.Clone(text), '\n')
	}
	root, err := hujson.Parse(text)
	if err != nil {
		said, line := err.Error(), 0
		if m := standsAt.FindStringSubmatch(said); m != nil {
			line, _ = strconv.Atoi(m[1])
			said = said[len(m[0]):]
		}
		return root, nil, refused(path, line, "this is no JSON: %s", said)
	}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return root, nil, refused(path, 1, "this is no JSON object")
	}
	return root, object, nil
}

// packed is a value as text, which begins and ends as the text that it was read from: with a byte order mark, without a last line's break.
func packed(root hujson.Value, text []byte) []byte {
	out, mark := root.Pack(), []byte("\ufeff")
	body, marked := bytes.CutPrefix(text, mark)
	if len(body) > 0 && body[len(body)-1] != '\n' {
		out = bytes.TrimSuffix(out, []byte("\n"))
	}
	if marked {
		out = append(mark, out...)
	}
	return out
}

func (e jsonEdit) put(path string, text []byte) ([]byte, error) {
	root, object, err := parseJSON(path, text)
	if err != nil {
		return nil, err
	}
	w := jsonWriter{path: path, text: text, unit: indentOf(object)}
	for _, m := range e.members {
		parent, err := w.object(object, m.path[:len(m.path)-1])
		if err != nil {
			return nil, err
		}
		w.set(parent, m.path[len(m.path)-1], m.value, len(m.path), m.weak)
	}
	for _, el := range e.elements {
		if el.value == "" {
			w.changed = drop(object, &hujson.Object{}, el) || w.changed
			continue
		}
		if err := w.join(object, el); err != nil {
			return nil, err
		}
	}
	if !w.changed && text != nil {
		return text, nil
	}
	return packed(root, text), nil
}

func (e jsonEdit) cut(path string, text, before []byte) ([]byte, error) {
	root, object, err := parseJSON(path, text)
	if err != nil {
		return nil, err
	}
	_, former, err := parseJSON(path, before)
	if err != nil {
		former = &hujson.Object{}
	}
	changed := false
	for _, el := range e.elements {
		if drop(object, former, el) {
			changed = true
		}
	}
	for _, m := range slices.Backward(e.members) {
		now, had := at(object, m.path), at(former, m.path)
		switch {
		case now == nil:
		case m.weak && (!changed || had != nil || len(object.Members) > 1+len(former.Members)):
			// Whoever came to have something else in the file needs it.
		case had != nil && !same(had.Pack(), now.Pack()):
			now.Value, changed = had.Value, true
		case had == nil:
			remove(object, former, m.path)
			changed = true
		}
	}
	if !changed {
		return text, nil
	}
	return packed(root, text), nil
}

// drop takes our elements out of a list, and the list away if it was none before.
func drop(object, former *hujson.Object, el element) (changed bool) {
	list := listAt(object, el.path)
	if list == nil {
		return false
	}
	for i := len(list.Elements) - 1; i >= 0; i-- {
		if el.ours(list.Elements[i].Pack()) {
			if note := comments(list.Elements[i].BeforeExtra); note != nil { // somebody's words stay
				keepNote(list, i, note)
			}
			list.Elements = slices.Delete(list.Elements, i, i+1)
			changed = true
		} else if trimGroup(list.Elements[i], el.ours) {
			changed = true
		}
	}
	if changed && len(list.Elements) == 0 && comments(list.AfterExtra) == nil && at(former, el.path) == nil {
		remove(object, former, el.path)
	}
	return changed
}

// trimGroup takes our hooks out of a group ({"matcher": …, "hooks": […]}) that
// holds others as well.
func trimGroup(group hujson.Value, ours func([]byte) bool) (changed bool) {
	object, ok := group.Value.(*hujson.Object)
	if !ok {
		return false
	}
	list := listAt(object, []string{"hooks"})
	if list == nil {
		return false
	}
	before := len(list.Elements)
	list.Elements = slices.DeleteFunc(list.Elements, func(v hujson.Value) bool { return ours(v.Pack()) })
	return len(list.Elements) < before
}

// keepNote hands the comment before an element on to what follows.
func keepNote(list *hujson.Array, at int, note hujson.Extra) {
	if at+1 < len(list.Elements) {
		list.Elements[at+1].BeforeExtra = before(note, list.Elements[at+1].BeforeExtra)
		return
	}
	list.AfterExtra = before(note, list.AfterExtra)
}

// jsonWriter writes into a parsed text.
type jsonWriter struct {
	path    string
	text    []byte
	unit    string // one step of indentation
	changed bool
}

// object returns the object at a path, and makes what is missing of it.
func (w *jsonWriter) object(at *hujson.Object, path []string) (*hujson.Object, error) {
	for depth, name := range path {
		i := find(at, name)
		if i < 0 {
			w.add(at, name, "{}", depth+1)
			i = len(at.Members) - 1
		}
		next, ok := at.Members[i].Value.Value.(*hujson.Object)
		if !ok {
			return nil, refused(w.path, lineOf(w.text, at.Members[i].Value.StartOffset), "%q is no object", name)
		}
		at = next
	}
	return at, nil
}

func (w *jsonWriter) set(parent *hujson.Object, name, value string, depth int, weak bool) {
	i := find(parent, name)
	switch {
	case i < 0:
		w.add(parent, name, value, depth)
	case weak, same(parent.Members[i].Value.Pack(), []byte(value)):
	default:
		parent.Members[i].Value.Value = w.value(value, depth).Value
		w.changed = true
	}
}

// join sees that the list holds the element once, in the place where it is.
func (w *jsonWriter) join(root *hujson.Object, el element) error {
	parent, err := w.object(root, el.path[:len(el.path)-1])
	if err != nil {
		return err
	}
	name := el.path[len(el.path)-1]
	i := find(parent, name)
	if i < 0 {
		w.add(parent, name, "["+el.value+"]", len(el.path))
		return nil
	}
	list, ok := parent.Members[i].Value.Value.(*hujson.Array)
	if !ok {
		return refused(w.path, lineOf(w.text, parent.Members[i].Value.StartOffset), "%q is no list", name)
	}
	placed := false
	for at := 0; at < len(list.Elements); at++ {
		if !el.ours(list.Elements[at].Pack()) {
			continue
		}
		switch {
		case placed: // written twice
			list.Elements = slices.Delete(list.Elements, at, at+1)
			at--
			w.changed = true
		case !same(list.Elements[at].Pack(), []byte(el.value)):
			list.Elements[at].Value = w.value(el.value, len(el.path)+1).Value
			w.changed = true
		}
		placed = true
	}
	if placed {
		return nil
	}
	// What somebody joined theirs to is not ours any more; our part of it is written anew.
	for _, group := range list.Elements {
		trimGroup(group, el.ours)
	}
	w.changed = true
	added := w.value(el.value, len(el.path)+1)
	added.BeforeExtra = append(comments(list.AfterExtra), []byte("\n"+strings.Repeat(w.unit, len(el.path)+1))...)
	if n := len(list.Elements); n > 0 && list.Elements[n-1].AfterExtra != nil {
		added.AfterExtra = hujson.Extra{}
	}
	list.Elements = append(list.Elements, added)
	list.AfterExtra = hujson.Extra("\n" + strings.Repeat(w.unit, len(el.path)))
	return nil
}

// add appends a member, on a line of its own.
func (w *jsonWriter) add(parent *hujson.Object, name, value string, depth int) {
	w.changed = true
	m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}, Value: w.value(value, depth)}
	// A comment that closed the object stays with the member that it stood behind.
	m.Name.BeforeExtra = append(comments(parent.AfterExtra), []byte("\n"+strings.Repeat(w.unit, depth))...)
	m.Value.BeforeExtra = hujson.Extra(" ")
	if n := len(parent.Members); n > 0 && parent.Members[n-1].Value.AfterExtra != nil {
		m.Value.AfterExtra = hujson.Extra{} // a trailing comma stays one
	}
	parent.Members = append(parent.Members, m)
	parent.AfterExtra = hujson.Extra("\n" + strings.Repeat(w.unit, depth-1))
}

// value is a JSON text, indented as what stands at a depth.
func (w *jsonWriter) value(text string, depth int) hujson.Value {
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text), strings.Repeat(w.unit, depth), w.unit); err != nil {
		panic("setup: " + err.Error()) // it is ours
	}
	parsed, err := hujson.Parse(out.Bytes())
	if err != nil {
		panic("setup: " + err.Error())
	}
	return parsed
}

// find is the last member of a name, which is the one that readers take; -1 if there is none.
func find(object *hujson.Object, name string) int {
	for i, m := range slices.Backward(object.Members) {
		if literal, ok := m.Name.Value.(hujson.Literal); ok && literal.String() == name {
			return i
		}
	}
	return -1
}

// at is the value at a path, or nil.
func at(object *hujson.Object, path []string) *hujson.Value {
	for {
		i := find(object, path[0])
		if i < 0 {
			return nil
		}
		value, next := &object.Members[i].Value, false
		if path = path[1:]; len(path) == 0 {
			return value
		}
		if object, next = value.Value.(*hujson.Object); !next {
			return nil
		}
	}
}

// listAt is the list at a path, or nil.
func listAt(object *hujson.Object, path []string) *hujson.Array {
	if value := at(object, path); value != nil {
		list, _ := value.Value.(*hujson.Array)
		return list
	}
	return nil
}

// remove takes a member away; a comment before it stays. So does the object that it leaves empty, unless it was there before.
func remove(object, former *hujson.Object, path []string) {
	parent, above := object, path[:len(path)-1]
	if len(above) > 0 {
		parent = at(object, above).Value.(*hujson.Object) // it holds the member
	}
	i := find(parent, path[len(above)])
	note, last := comments(parent.Members[i].Name.BeforeExtra), i == len(parent.Members)-1
	parent.Members = slices.Delete(parent.Members, i, i+1)
	switch {
	case note == nil:
	case last:
		parent.AfterExtra = before(note, parent.AfterExtra)
	default:
		parent.Members[i].Name.BeforeExtra = before(note, parent.Members[i].Name.BeforeExtra)
	}
	if len(above) > 0 && len(parent.Members) == 0 && comments(parent.AfterExtra) == nil && at(former, above) == nil {
		remove(object, former, above)
	}
}

// comments is what a person wrote between two values, without the white space
// behind it; nil if it is white space alone. A line's comment keeps its end.
func comments(extra hujson.Extra) hujson.Extra {
	trimmed := bytes.TrimRight(extra, " \t\r\n")
	if len(trimmed) == 0 {
		return nil
	}
	return slices.Clone(trimmed)
}

// before is a comment and what follows it, on a line of its own: a comment may
// end only with its line.
func before(note, rest hujson.Extra) hujson.Extra {
	if !bytes.HasPrefix(rest, []byte("\n")) {
		note = append(note, '\n')
	}
	return append(note, rest...)
}

// same tells whether two JSON texts mean the same.
func same(a, b []byte) bool {
	x, y := canonical(a), canonical(b)
	return x != nil && bytes.Equal(x, y)
}

// canonical is a JSON text in the one form that all of its meaning have; nil if
// it is none.
func canonical(text []byte) []byte {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(standard(text)))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return nil
	}
	out, err := json.Marshal(value)
	if err != nil {
		return nil
	}
	return out
}

// standard is a JSON text without comments and trailing commas; nil if it is none.
func standard(text []byte) []byte {
	plain, err := hujson.Standardize(bytes.Clone(text))
	if err != nil {
		return nil
	}
	return plain
}

// indentOf is one step of a text's indentation, as its first member shows it.
func indentOf(object *hujson.Object) string {
	if len(object.Members) > 0 {
		before := string(object.Members[0].Name.BeforeExtra)
		if at := strings.LastIndexByte(before, '\n'); at >= 0 && strings.TrimLeft(before[at+1:], " \t") == "" && len(before[at+1:]) > 0 {
			return before[at+1:]
		}
	}
	return "  "
}
