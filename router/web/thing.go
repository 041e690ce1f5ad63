package web

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-yaml"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/operational"
	"skillrouter/router/feed"
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

// pageRows is how many rows a page of a list has.
const pageRows = 50

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
	Filters                []filter // see the file
	Columns                []column
	Chips, Hidden          []string // members that a detail shows as words, and that its forms send back
	Without                []string // members that a detail does not show
	Parts                  []part
	Waits                  wait // it is among what waits for a person
	Acts                   []act
	New                    *act // makes a row

	list func(v *visit) (listing, error)            // in the place of List
	read func(v *visit, id string) (*detail, error) // in the place of Read
	more func(v *visit, item any, d *detail) error  // adds to a detail
	row  func(v *visit, item any, of *record)       // adds members to a record
	do   func(v *visit, verb, id string) error      // what its acts do that call no method
}

// part is a table of a detail, below its fields: of rows that a member of the item has, or that a method lists.
type part struct {
	ID, Title, Live, Empty string
	Kind                   string // what its rows are
	Of                     string // the member
	Call                   string // the method, which takes the item's id, or what With says
	With                   map[string]string
	When                   string   // only these rows, as an act's
	Last                   bool     // the last row comes first
	More                   []option // links below it: their value is the path
}

// mostParted is how many rows a part has.
const mostParted = 200

// act is what can be done: a button or, with fields, a form behind it.
type act struct {
	Verb, Say, Note              string
	Call, Text                   string            // the method, and the field that is its text
	Set                          map[string]string // what it is always told
	When, Done                   string            // of which rows, and the sentence afterwards
	Danger, First, Bulk          bool              // Bulk: it can be done with many rows of the inbox
	Person, Captain, All, Undoes bool              // who is offered it; All: nobody who is bound to projects. Undoes: the key u does it
	Back                         bool              // it leads back to the list
	Fields                       []field

	path string // where it is sent, if another than its thing's verb
}

// field is an input of a form.
type field struct {
	Name, Label, Form string // line, text, list, number, raw, check, choice, by, hiddenBy
	Value             string
	Required, Long    bool // Long: it is too long for a form
	Own               bool // its value is the row's, and no address fills it in
	Choices           []option
}

// UnmarshalYAML reads "name | Label | form | value", with * behind a name that is required.
func (f *field) UnmarshalYAML(text []byte) error {
	err := cut(text, &f.Name, &f.Label, &f.Form, &f.Value)
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
func (f *filter) UnmarshalYAML(text []byte) error { return cut(text, &f.Name, &f.Label, &f.All) }

// column is a column of a list. Its class says how wide it is, and x that a phone has no room for it.
type column struct{ Name, Member, As, Class string }

// UnmarshalYAML reads "Name | member | how it is shown | class".
func (c *column) UnmarshalYAML(text []byte) error {
	return cut(text, &c.Name, &c.Member, &c.As, &c.Class)
}

// cut cuts a description at its bars. The last parts may be missing.
func cut(text []byte, into ...*string) error {
	var whole string
	err := yaml.Unmarshal(text, &whole)
	for i, part := range strings.SplitN(whole, "|", len(into)) {
		*into[i] = strings.TrimSpace(part)
	}
	return err
}

// table is rows under columns. Each row has a cell for each column.
type table struct {
	Columns []column
	Rows    []row
	Picks   bool // rows can be chosen
}

// table is an empty table of a kind's columns.
func (s *Server) table(kind string) *table { return &table{Columns: s.things[kind].Columns} }

// add adds a row.
func (t *table) add(cells ...cell) { t.Rows = append(t.Rows, row{Cells: cells}) }

// row is one line. Accept and Decline are what the keys a and d do with it, as the inbox's form names it.
type row struct {
	ID, Kind, Path, Title string
	Pick, Accept, Decline string
	Unread, Current       bool
	Cells                 []cell
	Acts                  []shownAct
}

// cell is one field of a row.
type cell struct {
	Text, Sub, Path, Chip, Icon string
	At                          time.Time
	Head, Code                  bool
	Times                       int // how many rows are folded in this one; below 2: it is alone
	More                        *searchHit
}

func head(path, title, sub string) cell { return cell{Head: true, Path: path, Text: title, Sub: sub} }
func text(s string) cell                { return cell{Text: s} }
func at(t time.Time) cell               { return cell{At: t} }
func agentCell(id string) cell          { return cell{Text: id, Path: whoPath(id)} }

// listing is what a list shows.
type listing struct {
	table
	Title, Order string
	Notes        []string
	Filters      []filter
	Bulk         []act  // what can be done with the chosen rows
	Removed      string // what was just removed, and can be taken back
	Older, Newer string // the parts of the list before and behind this one
	next         string // the cursor of the part behind this one
	items        []any
}

// detail is what the page of one row shows.
type detail struct {
	Kind, ID, Title string
	Chips           []string
	Facts           []shownFact
	Blocks          []block
	Acts            []shownAct
	Warning, Edit   string    // Edit: where it is changed
	LogIn           bool      // the passphrase would let whoever looks decide
	Form            *shownAct // it is being changed
}

// shownFact is a named field of a detail.
type shownFact struct {
	Name, Text, Path string
	At               time.Time
	Code             bool
	Links            []cell
}

// block is a part of a detail below its fields. What it does not have it does not show.
type block struct {
	ID, Title, Live, Note, Empty string
	Table                        *table
	Facts                        []shownFact
	Moments                      []feed.Moment
	Said                         []said
	Text                         string
	Lanes                        *lanes
	More                         []option // links: their value is the path
}

// shownAct is an act with the address of its row.
type shownAct struct {
	act
	Inputs           []field
	Action, ID, Kind string
	Open             bool // it was just refused: the form is shown with what was typed
	Hidden           []option
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
		if own := s.own[t.Kind]; there && own != nil {
			own(&t)
		}
		if there {
			s.put(t)
		}
		if there && t.Kind == anyMemory {
			for _, of := range s.kinds {
				s.put(of)
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
	s.things[t.Kind] = &t
	if t.Place != "" {
		home := s.placeAt(t.Place)
		home.kinds = append(home.kinds, t.Kind)
	}
	for _, a := range t.Acts {
		s.perform(&t, a)
	}
	if t.New != nil {
		s.perform(&t, *t.New)
	}
}

func (s *Server) placeAt(path string) *place {
	return s.places[slices.IndexFunc(s.places, func(p *place) bool { return p.Path == path })]
}

// actPath is where an act is sent.
func actPath(kind, verb string) string { return "/ui/" + kind + "/" + verb }

// perform registers an act.
func (s *Server) perform(t *thing, a act) {
	if a.path != "" { // it is another thing's
		return
	}
	path, code := actPath(t.Kind, a.Verb), t.Kind+"-"+a.Verb
	if a.Done != "" {
		s.notices[code] = a.Done
	}
	s.action(path, t.Place, func(v *visit) (string, error) {
		id, kind := v.value("id"), t.Kind
		if kind == anyMemory { // the form says of which kind the row is
			kind = v.value("kind")
		}
		v.Form.Set("kind", kind)
		v.acted = path
		if slices.ContainsFunc(a.Fields, func(f field) bool { return f.Name == "sure" }) && v.value("sure") == "" {
			return "", errs.InvalidField("sure", "must be ticked")
		}
		made, err := s.carryOut(v, t, a, id, v.Form)
		if err != nil {
			return "", err
		}
		if made != nil && t.New != nil && t.New.Verb == a.Verb {
			of, err := recordOf(made)
			if err != nil {
				return "", err
			}
			id = of.say(cmp.Or(t.ID, "id"))
		}
		to := pathOf(kind, id)
		if a.Back || to == "" {
			to = link(t.Place, "kind", kind, "removed", v.removed)
		}
		return done(to, cmp.Or(v.done, code)), nil
	})
}

// carryOut does what an act says with a form: with what it offers, and nothing else that the method takes.
func (s *Server) carryOut(v *visit, t *thing, a act, id string, sent url.Values) (any, error) {
	if a.Call == "" {
		return nil, t.do(v, a.Verb, id)
	}
	form := url.Values{"by": sent["by"]}
	for _, f := range a.Fields {
		form[f.Name] = sent[f.Name]
	}
	for _, name := range t.Hidden {
		form[name] = sent[name]
	}
	for name, value := range a.Set {
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

// placeView is what the page of a place shows: the list of a kind, one row of it, or both.
type placeView struct {
	Place  *place
	Thing  *thing
	Tabs   []option // the place's kinds; Value is the path
	List   *listing
	Detail *detail
	New    *shownAct
}

// placePage is the page of a place.
func (s *Server) placePage(v *visit, p *place) (any, error) {
	kind, id := v.value("kind"), v.value("id")
	t := s.things[cmp.Or(kind, p.kinds[0])]
	if t == nil && s.bound == nil && homes()[kind] != "" { // others have it
		return nil, principal.Unkept("this page")
	}
	if t == nil || !slices.Contains(p.kinds, t.Kind) {
		return nil, errs.InvalidField("kind", "must be one of %s", strings.Join(p.kinds, ", "))
	}
	page := &placeView{Place: p, Thing: t}
	v.title = t.Many
	for i, name := range p.kinds {
		if one := s.things[name]; one.Many != "" {
			path := p.Path
			if i > 0 {
				path = link(p.Path, "kind", name)
			}
			page.Tabs = append(page.Tabs, option{Value: path, Name: one.Many, Chosen: one == t})
		}
	}
	if id != "" || t.Many == "" {
		found, err := s.detailOf(v, t, id)
		if err != nil {
			return nil, err
		}
		page.Detail, v.title = found, short(80, found.Title)
		if !p.split {
			return page, nil
		}
		t = s.things[p.kinds[0]] // beside a detail stands the whole list
	}
	list, err := s.listOf(v, t)
	if err != nil {
		return nil, err
	}
	for i := range list.Rows {
		r := &list.Rows[i]
		r.Current = id != "" && r.Kind == kind && r.ID == id
	}
	if list.Filters, err = s.filters(v, page.Thing); err != nil {
		return nil, err
	}
	page.List = &list
	if t.New != nil && page.Detail == nil {
		if shown := s.shown(v, t, *t.New, "", nil); shown != nil {
			shown.Open = shown.Open || v.Form.Has("new")
			page.New = shown
		}
	}
	return page, nil
}

// filters are the filters of a list as they are set.
func (s *Server) filters(v *visit, t *thing) (set []filter, err error) {
	for _, f := range t.Filters {
		if among := s.among[t.Kind+"/"+f.Name]; among != nil {
			if f.Among, err = among(v); err != nil || f.Among == nil {
				return set, err
			}
		} else if choices := s.choices(t.List, f.Name); choices != nil {
			f.Among = options(cmp.Or(f.All, "all"), v.value(f.Name), choices)
		}
		set = append(set, f)
	}
	return set, nil
}

// listOf reads a page of a list.
func (s *Server) listOf(v *visit, t *thing) (l listing, err error) {
	if t.list != nil {
		l, err = t.list(v)
	} else {
		l, err = s.called(v, t, v.Form)
	}
	if err != nil {
		return l, err
	}
	l.Order = cmp.Or(l.Order, t.Order)
	if l.Columns == nil {
		l.Columns = t.Columns
	}
	if l.next != "" {
		l.Older = v.with("cursor", l.next)
	}
	if v.value("cursor") != "" {
		l.Newer = v.with("cursor", "")
	}
	return l, nil
}

// called reads a list by its method, narrowed by a form.
func (s *Server) called(v *visit, t *thing, form url.Values) (l listing, err error) {
	form = maps.Clone(form)
	if name, value, ok := strings.Cut(t.Default, "="); ok && form.Get("status") == "" && form.Get(name) == "" {
		form.Set(name, value)
	}
	skip := 0
	if t.Page != "" {
		if skip, err = v.number("cursor", 1<<53); err != nil {
			return l, err
		}
		form.Set(t.Page, strconv.Itoa(skip))
		form.Set("limit", strconv.Itoa(pageRows+1))
	} else {
		form.Set("limit", strconv.Itoa(pageRows))
	}
	answer, err := s.call(v, t.List, "", form, "")
	if err != nil {
		return l, err
	}
	found, next, total := items(answer)
	if t.Page != "" && len(found) > pageRows {
		found = found[:pageRows]
		last, err := recordOf(found[pageRows-1])
		if err != nil {
			return l, err
		}
		if next = last.say(cmp.Or(t.ID, "id")); t.Page != "after" {
			next = strconv.Itoa(skip + pageRows)
		}
	}
	l.next, l.items = next, found
	if t.Total != "" {
		l.Title = strings.Replace(t.Total, "%s", count(total), 1)
	}
	l.Rows, err = s.rowsFrom(v, t, found, "")
	return l, err
}

// rowsFrom makes the rows of items that fit a condition.
func (s *Server) rowsFrom(v *visit, t *thing, found []any, when string) (rows []row, err error) {
	for _, item := range found {
		of, err := recordOf(item)
		if err != nil {
			return nil, err
		}
		if t.row != nil {
			t.row(v, item, &of)
		}
		if !of.fits(when) {
			continue
		}
		r := row{ID: of.say(cmp.Or(t.ID, "id")), Kind: t.Kind, Title: of.titled(t.Title)}
		r.Path = pathOf(cmp.Or(t.Is, t.Kind), r.ID)
		for _, c := range t.Columns {
			r.Cells = append(r.Cells, v.cellOf(of, c, r))
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// cellOf shows a member of a record as its column says.
func (v *visit) cellOf(of record, c column, r row) cell {
	as, sub, _ := strings.Cut(c.As, " ")
	said := of.say(c.Member)
	switch as {
	case "head", "code":
		return cell{Head: true, Path: r.Path, Text: cmp.Or(said, r.Title, r.ID), Sub: of.say(sub), Chip: of.say("chip"), Code: as == "code"}
	case "chip":
		return cell{Chip: said}
	case "icon":
		return cell{Icon: said, Sub: said}
	case "agent":
		return agentCell(strings.Split(said, ", ")[0])
	case "told":
		return head(toldPath(operational.ToldItem{Kind: of.say("kind"), ID: of.say("id")}), said, of.say(sub))
	case "time":
		t, _ := time.Parse(time.RFC3339, said) // what is no time is none
		return at(t)
	case "day":
		t, _ := time.Parse(time.RFC3339, said)
		return head("", t.Format("Mon 2 Jan"), "")
	case "share":
		share, err := strconv.ParseFloat(said, 64)
		if err != nil {
			return cell{}
		}
		return text(percent(share))
	case "percent":
		return text(said + " %")
	case "count", "times":
		n, _ := strconv.ParseInt(said, 10, 64)
		if as == "times" {
			return text(count(n) + "×")
		}
		return text(count(n))
	case "rule":
		var rules []struct {
			Title  string
			RuleID string `json:"rule_id"`
		}
		if json.Unmarshal([]byte(said), &rules) != nil || len(rules) == 0 { // none is named
			return cell{}
		}
		return cell{Text: rules[0].Title, Path: link(guardPath, "kind", "check", "rule_id", rules[0].RuleID), Times: len(rules)}
	}
	return text(said)
}

// mostLooked is how many pages of a list are looked through for one row that its service does not read by itself.
const mostLooked = 20

// detailOf reads a row, and what whoever looks may do with it.
func (s *Server) detailOf(v *visit, t *thing, id string) (d *detail, err error) {
	var item any
	switch {
	case t.read != nil:
		d, err = t.read(v, id)
		if err == nil {
			d.Kind, d.ID = t.Kind, cmp.Or(d.ID, id)
		}
		return d, err
	case t.Read != "":
		item, err = s.call(v, t.Read, id, v.Form, "")
	default:
		item, err = s.listed(v, t, id)
	}
	if err != nil {
		return nil, err
	}
	return s.detailFrom(v, t, id, item)
}

// detailFrom shows an item.
func (s *Server) detailFrom(v *visit, t *thing, id string, item any) (*detail, error) {
	of, err := recordOf(item)
	if err != nil {
		return nil, err
	}
	if t.row != nil {
		t.row(v, item, &of)
	}
	d := &detail{Kind: t.Kind, ID: cmp.Or(of.say(cmp.Or(t.ID, "id")), id), Title: cmp.Or(of.titled(t.Title), t.One+" "+id)}
	for _, name := range t.Chips {
		d.Chips = append(d.Chips, of.say(name))
	}
	if d.Facts, err = v.facts(of, slices.Concat(t.Chips, t.Hidden, t.Without, strings.FieldsFunc(t.Title, func(r rune) bool { return strings.ContainsRune("${}", r) }))...); err != nil {
		return nil, err
	}
	if t.more != nil {
		if err := t.more(v, item, d); err != nil {
			return nil, err
		}
	}
	for _, p := range t.Parts {
		if err := s.addPart(v, p, d.ID, item, of, d); err != nil {
			return nil, err
		}
	}
	d.Acts = append(d.Acts, s.acts(v, t, d.ID, of)...)
	_, refused := v.principal().AsPerson()
	if refused != nil && slices.ContainsFunc(t.Acts, func(a act) bool { return a.Person && of.fits(a.When) }) {
		d.Warning, d.LogIn = errs.MessageOf(refused), errs.CodeOf(refused) == errs.PassphraseNeeded
	}
	return d, nil
}

// addPart adds a part to a detail. Nothing is said of rows of a kind that whoever looks is not shown.
func (s *Server) addPart(v *visit, p part, id string, item any, of record, d *detail) (err error) {
	t := s.things[p.Kind]
	if t == nil || p.Call != "" && !s.method(p.Call).IsValid() {
		return nil
	}
	var found []any
	if p.Of != "" {
		found = rowsOf(item, p.Of)
	} else {
		form := url.Values{}
		for name, value := range p.With {
			form.Set(name, of.titled(value))
		}
		answer, err := s.call(v, cmp.Or(p.Call, t.List), id, form, "")
		if err != nil {
			return err
		}
		found, _, _ = items(answer)
	}
	if p.Last {
		slices.Reverse(found)
	}
	b := block{ID: p.ID, Title: p.Title, Live: p.Live, Empty: p.Empty, More: p.More, Table: s.table(p.Kind)}
	if n := len(found) - mostParted; n > 0 {
		found, b.Note = found[:mostParted], "And "+count(n)+" more."
	}
	if b.Table.Rows, err = s.rowsFrom(v, t, found, p.When); err != nil {
		return err
	}
	d.Blocks = append(d.Blocks, b)
	return nil
}

// listed finds a row in its list.
func (s *Server) listed(v *visit, t *thing, id string) (any, error) {
	of := *v
	of.Request = v.WithContext(v.Context()) // a copy, which asks for all of the list
	of.Form = url.Values{}
	for range mostLooked {
		list, err := s.listOf(&of, t)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(list.Rows, func(r row) bool { return r.ID == id }); i >= 0 {
			return list.items[i], nil
		}
		if list.next == "" {
			break
		}
		of.Form.Set("cursor", list.next)
	}
	return nil, errs.Errorf(errs.NotFound, "there is no %s %s here, or no longer", strings.ToLower(t.One), short(80, id))
}

// acts are what whoever looks can do with a row.
func (s *Server) acts(v *visit, t *thing, id string, of record) (shown []shownAct) {
	for _, a := range t.Acts {
		if one := s.shown(v, t, a, id, of); one != nil {
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
	path := cmp.Or(a.path, actPath(t.Kind, a.Verb))
	one := &shownAct{act: a, Action: path, ID: id, Kind: t.Kind, Open: v.acted == path}
	for _, name := range t.Hidden {
		one.Hidden = append(one.Hidden, option{Name: name, Value: of.say(name)})
	}
	for _, f := range a.Fields {
		if f.Form == "choice" {
			f.Choices = options("", v.value(f.Name), s.choices(a.Call, f.Name))
		}
		one.Inputs = append(one.Inputs, f)
	}
	return one
}

// Unique tells the forms of an act apart that a page has several of.
func (a shownAct) Unique() string {
	if len(a.Hidden) > 0 {
		return a.Hidden[0].Value
	}
	return a.ID
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
