package web

import (
	"cmp"
	_ "embed"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/router/kind"
)

//go:embed things.yaml
var thingsText []byte

// described is what the file says. The file is the program's own, and a test resolves all that it names: it cannot fail.
var described = sync.OnceValue(func() (of struct {
	Things                       []thing
	Moved, Labels, Names         map[string]string
	Tones                        map[string][]string
	Codes, Shares, Silent, Apart []string
},
) {
	if err := yaml.Unmarshal(thingsText, &of); err != nil {
		panic("things.yaml: " + err.Error())
	}
	return of
})

// thing is one kind of row that the dashboard shows, described by data: what its list has, how one row is read, and what
// can be done with it. One without a place is only shown in the parts of others.
type thing struct {
	Kind, Place, One, Many string
	Also                   string   // another place that shows it
	Is                     string   // the kind whose pages its rows lead to, if another
	Needs                  string   // the service that it is there with, where it names no method
	Live                   string   // the list is fetched again after events whose types begin with one of these words
	Empty, Command         string   // what is said where there is nothing, and the command that changes it
	List, Read             string   // methods of services
	Default                string   // what the list is asked for where its first filter says nothing
	Page                   string   // how the list goes on: after a number, skip or offset; empty: by a cursor
	ID, Title, Order       string   // ID: the members that a row is known by
	Total                  string   // what is said of how many there are
	Told                   bool     // its page says where it was told
	Filters                []filter // see the file
	Columns                []column
	Says                   []saying // members that others make
	Chips, Hidden          []string // members that a detail shows as words, and that its forms send back
	Without                []string // members that a detail does not show
	Parts                  []part
	Waits                  wait // it is among what waits for a person
	Acts                   []act
	New                    *act // makes a row

	own    hooks
	memory kind.Memory // of a kind of memory
}

// hooks are what a kind has of its own that no description says.
type hooks struct {
	list func(s *Server, v *visit, t *thing) (listing, error)            // in the place of List
	read func(s *Server, v *visit, t *thing, id string) (*detail, error) // in the place of Read
	row  func(s *Server, v *visit, item any, of *record)                 // adds members to a record
	do   func(s *Server, v *visit, verb, id string) error                // what its acts do that call no method
}

// own are the hooks of the kinds that have some.
var own = map[string]hooks{
	"agent":   {read: (*Server).agent, row: (*Server).unreadOf},
	"check":   {list: (*Server).checks, row: brief},
	"fix":     {row: fixed},
	"lesson":  {list: (*Server).memories},
	"matter":  {list: (*Server).matters},
	"message": {read: (*Server).thread},
	"moment":  {list: (*Server).timeline},
	anyMemory: {list: (*Server).allMemory, do: (*Server).changeMemory},
	"session": {row: untilItsEnd},
	"thread":  {list: (*Server).threads, read: (*Server).thread},
}

// saying is a member of a row that fits a condition, where the row has none of this name.
type saying struct{ Name, When, Value string }

// UnmarshalYAML reads "name | when | value".
func (s *saying) UnmarshalYAML(read func(any) error) error {
	return cut(read, &s.Name, &s.When, &s.Value)
}

// part is a table of a detail, below its fields: of rows that a member of the item has, or that a method lists.
type part struct {
	ID, Title, Live string
	Empty           string // what is said where there is nothing; empty: the part is not there then
	Kind            string // what its rows are
	Of              string // the member
	Call            string // the method, which takes the item's id, or what With says
	With            map[string]string
	When            string   // only these rows, as an act's
	Most            int      // of them; 0: mostParted
	Last            bool     // the last row comes first
	Facts           bool     // the rows are shown by their fields
	Lanes           bool     // in the place of rows: what an agent did in the last hours, drawn
	First           bool     // it stands before the fields
	Text            string   // in the place of rows: a pattern, as a title
	More            []option // links below it: their value is the pattern of a path
}

// act is what can be done: a button or, with fields, a form behind it.
type act struct {
	Verb, Say, Note              string
	Call, Text                   string            // the method, and the field that is its text
	Set                          map[string]string // what it is always told; behind an @ stands a field of the form, or sender
	Refuses                      map[string]string // what its form may not say: another act does it
	When, Done                   string            // of which rows, and the sentence afterwards
	Danger, First, Bulk          bool              // Bulk: it can be done with many rows of the inbox
	Person, Captain, All, Undoes bool              // who is offered it; All: nobody who is bound to projects. Undoes: the key u does it
	Back                         bool              // it leads back to the list
	Fields                       []field
}

// field is an input of a form.
type field struct {
	Name, Label, Form string // line, text, list, number, raw, check, choice, long, by, hiddenBy
	Value             string
	Required          bool
	Own               bool // its value is the row's, and no address fills it in
	Choices           []option
}

// UnmarshalYAML reads "name | Label | form | value", with * behind a name that is required.
func (f *field) UnmarshalYAML(read func(any) error) error {
	err := cut(read, &f.Name, &f.Label, &f.Form, &f.Value)
	f.Name, f.Required = strings.CutSuffix(f.Name, "*")
	f.Form = cmp.Or(f.Form, "line")
	return err
}

// filter is a field above a list that narrows it.
type filter struct {
	Name, Label, All string
	Among            []option // nil: it is typed
}

// UnmarshalYAML reads "name | Label | entry for no value".
func (f *filter) UnmarshalYAML(read func(any) error) error {
	return cut(read, &f.Name, &f.Label, &f.All)
}

// column is a column of a list. Its class says how wide it is, and x that a phone has no room for it. The template "cell"
// knows how a member is shown.
type column struct{ Name, Member, As, Class, Sub string }

// UnmarshalYAML reads "Name | member | how it is shown | class"; what is shown below the member may stand behind how.
func (c *column) UnmarshalYAML(read func(any) error) error {
	err := cut(read, &c.Name, &c.Member, &c.As, &c.Class)
	c.As, c.Sub, _ = strings.Cut(c.As, " ")
	return err
}

// cut cuts a description at its bars. The last parts may be missing. The library would format the whole file for each text
// that it hands over as bytes, a fifth of a second of each start.
func cut(read func(any) error, into ...*string) error {
	var whole string
	err := read(&whole)
	for i, part := range strings.SplitN(whole, "|", len(into)) {
		*into[i] = strings.TrimSpace(part)
	}
	return err
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

// place is an entry of the navigation with the kinds of things that it shows, the first at first.
type place struct {
	Path, Name, Key, file string
	does                  string // what is done there, for who looks for it
	kinds                 []string
	split                 bool // a detail stands beside the list
	own                   func(v *visit) (any, error)
	count                 func(v *visit) (int, error)
}

// describe puts the things of the file whose services are there at their places.
func (s *Server) describe() {
	for _, t := range described().Things {
		there := t.Needs == "" || !reflect.ValueOf(s.services).FieldByName(t.Needs).IsZero()
		for _, name := range []string{t.List, t.Read} {
			there = there && (name == "" || s.method(name).IsValid())
		}
		if t.own = own[t.Kind]; there {
			s.put(t)
		}
		for _, of := range s.services.Kinds { // a kind of memory joins by being in the registry
			if there && t.Kind == anyMemory && of.Pages.List != nil {
				s.put(s.memoryThing(t, of))
			}
		}
	}
	for _, t := range described().Things {
		if t.Also != "" && s.things[t.Kind] != nil {
			also := s.placeAt(t.Also)
			also.kinds = append(also.kinds, t.Kind)
		}
	}
}

// put registers a thing and what can be done with it.
func (s *Server) put(t thing) {
	for _, of := range s.services.Kinds {
		if of.Name == t.Kind && of.Pages.Change != nil {
			t.memory = of
		}
	}
	s.things[t.Kind] = &t
	if t.Place == "" {
		return
	}
	home := s.placeAt(t.Place)
	home.kinds = append(home.kinds, t.Kind)
	if t.New != nil {
		s.perform(&t, *t.New)
	}
	for _, a := range t.Acts {
		if t.memory.Name == "" || a.Call != "" { // what is done with any kind of memory is registered once
			s.perform(&t, a)
		}
	}
}

func (s *Server) placeAt(path string) *place {
	return s.places[slices.IndexFunc(s.places, func(p *place) bool { return p.Path == path })]
}

// actPath is where an act is sent.
func (t *thing) actPath(a act) string {
	if t.memory.Name != "" && a.Call == "" {
		return "/ui/" + anyMemory + "/" + a.Verb
	}
	return "/ui/" + t.Kind + "/" + a.Verb
}

// perform registers an act.
func (s *Server) perform(t *thing, a act) {
	path, code := t.actPath(a), t.Kind+"-"+a.Verb
	s.notices[code] = a.Done
	s.actions[path] = action{back: t.Place, do: func(v *visit) (string, error) {
		id, kind := v.value("id"), t.Kind
		if kind == anyMemory { // the form says of which kind the row is
			kind = v.value("kind")
		}
		v.Form.Set("kind", kind)
		v.acted = path
		made := t.New != nil && t.New.Verb == a.Verb
		if id == "" && !made { // without one it could be for everybody
			return "", errs.InvalidField("id", "is required")
		}
		for _, f := range a.Fields {
			if f.Required && v.value(f.Name) == "" {
				return "", errs.InvalidField(f.Name, "is required")
			}
			if refused := a.Refuses[f.Name]; refused != "" && v.value(f.Name) == refused {
				return "", errs.InvalidField(f.Name, "of this name has a button of its own")
			}
		}
		answer, err := s.carryOut(v, t, a, id, v.Form)
		if err != nil {
			return "", err
		}
		if made {
			of, err := recordOf(answer)
			if err != nil {
				return "", err
			}
			id = of.Say(cmp.Or(t.ID, "id"))
		}
		to := pathOf(kind, id)
		if a.Back || to == "" {
			to = link(t.Place, "kind", kind, "removed", v.removed)
		}
		return done(to, code), nil
	}}
}

// carryOut does what an act says with a form: with what it offers, and nothing else that the method takes.
func (s *Server) carryOut(v *visit, t *thing, a act, id string, sent url.Values) (any, error) {
	if a.Call == "" {
		return nil, t.own.do(s, v, a.Verb, id)
	}
	form := url.Values{"by": sent["by"]}
	for _, f := range a.Fields {
		form[f.Name] = sent[f.Name]
	}
	for _, name := range t.Hidden {
		form[name] = sent[name]
	}
	for name, value := range a.Set {
		if of, given := strings.CutPrefix(value, "@"); of == "sender" {
			value = cmp.Or(v.principal().AgentID, boardAgent)
		} else if given {
			value = v.value(of)
		}
		form.Set(name, value)
	}
	return s.call(v, a.Call, id, form, strings.TrimSpace(form.Get(a.Text)))
}

// done adds to a path of ours the code of what is said there.
func done(path, code string) string {
	if strings.Contains(path, "?") {
		return path + "&done=" + code
	}
	return path + "?done=" + code
}

// shownAct is an act with the address of its row.
type shownAct struct {
	act
	Inputs           []field
	Action, ID, Kind string
	Open             bool // it was just refused: the form is shown with what was typed
	Hidden           []option
}

// Unique tells the forms of an act apart that a page has several of.
func (a shownAct) Unique() string {
	if len(a.Hidden) > 0 {
		return a.Hidden[0].Value
	}
	return a.ID
}

// acts are what whoever looks can do with a row.
func (s *Server) acts(v *visit, t *thing, id string, of record) (shown []shownAct) {
	for _, a := range t.Acts {
		if one := s.shown(v, t, a, id, of); one != nil && a.Say != "" {
			shown = append(shown, *one)
		}
	}
	return shown
}

// shown is an act as it is offered; nil: it is not.
func (s *Server) shown(v *visit, t *thing, a act, id string, of record) *shownAct {
	p := v.principal()
	_, refused := p.AsPerson()
	if !p.Has(principal.ScopeAgent) || a.Captain && !p.Has(principal.ScopeCaptain) || a.Person && refused != nil || a.All && p.Walled() || of != nil && !of.fits(a.When) {
		return nil
	}
	one := &shownAct{act: a, Action: t.actPath(a), ID: id, Kind: t.Kind}
	one.Open = v.acted == one.Action
	for _, name := range t.Hidden {
		one.Hidden = append(one.Hidden, option{Name: name, Value: of.Say(name)})
	}
	for _, f := range a.Fields {
		if f.Form == "choice" {
			f.Choices = options("", v.value(f.Name), s.choices(a.Call, f.Name))
		}
		one.Inputs = append(one.Inputs, f)
	}
	return one
}
