package web

import (
	"cmp"
	_ "embed"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/goccy/go-yaml"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/router/feed"
)

//go:embed things.yaml
var thingsText []byte

// described is what the file says. The file is the program's own, and a test resolves all that it names: it cannot fail.
var described = sync.OnceValue(func() (of struct {
	Things                       []thing
	Moved, Labels                map[string]string
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
// can be done with it.
type thing struct {
	Kind, Place, One, Many string
	Live                   string   // the list is fetched again after events whose types begin with one of these words
	Empty, Command         string   // what is said where there is nothing, and the command that changes it
	List, Read             string   // methods of services
	Default                string   // what the list is asked for where its first filter says nothing
	Page                   string   // how the list goes on: after a number, skip or offset; empty: by a cursor
	ID, Title, Order       string   // ID: the members that a row is known by
	Total                  string   // what is said of how many there are
	Filters, Columns       []string // see the file
	Chips, Hidden          []string // members that a detail shows as words, and that its forms send back
	Acts                   []act
	New                    *act // makes a row

	list func(v *visit) (listing, error)                                 // in the place of List
	read func(v *visit, id string) (*detail, error)                      // in the place of Read
	more func(v *visit, id string, item any, of record, d *detail) error // adds to a detail
	row  func(v *visit, item any, of record)                             // adds members to a record
}

// act is what can be done: a button or, with fields, a form behind it.
type act struct {
	Verb, Say, Note              string
	Call, Set, Text              string // the method, what it is always told, and the field that is its text
	When, Done                   string // of which rows, and the sentence afterwards
	Danger, First, Bulk          bool   // Bulk: it can be done with many rows of the inbox
	Person, Captain, All, Undoes bool   // who is offered it; All: nobody who is bound to projects. Undoes: the key u does it
	Back                         bool   // it leads back to the list
	Fields                       []string

	path string // where it is sent, if another than its thing's verb
	do   func(v *visit, id string) error
}

// field is an input of a form.
type field struct {
	Name, Label, Form string // line, text, list, number, raw, check, choice, by, hiddenBy
	Value             string
	Required, Long    bool // Long: it is too long for a form
	Own               bool // its value is the row's, and no address fills it in
	Choices           []option
}

// split cuts a description into its parts, of which the last may be missing.
func split(text string, parts int) []string {
	list := strings.SplitN(text, "|", parts)
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return append(list, make([]string, parts-len(list))...)
}

// filter is a field above a list that narrows it.
type filter struct {
	Name, Label string
	Among       []option // nil: it is typed
}

// column is a column of a list. Its class says how wide it is, and x that a phone has no room for it.
type column struct{ Name, Member, As, Class string }

func columnsOf(texts ...string) (columns []column) {
	for _, text := range texts {
		p := split(text, 4)
		columns = append(columns, column{p[0], p[1], p[2], p[3]})
	}
	return columns
}

// table is rows under columns. Each row has a cell for each column.
type table struct {
	Caption string
	Columns []column
	Rows    []row
	Picks   bool // rows can be chosen
}

// plainTable is a table of cells.
func plainTable(columns string) *table {
	t := &table{}
	for one := range strings.SplitSeq(columns, ";") {
		p := split(one, 2)
		t.Columns = append(t.Columns, column{Name: p[0], Class: p[1]})
	}
	return t
}

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
	Warning, Edit   string // Edit: where it is changed
	LogIn           bool   // the passphrase would let whoever looks decide
	Among           map[string][]option
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
	kinds                 []string
	split                 bool // a detail stands beside the list
	own                   func(v *visit) (any, error)
	count                 func(v *visit) (int, error)
}

// describe puts the things of the file whose services are there at their places.
func (s *Server) describe() {
	for _, t := range described().Things {
		t.Acts = slices.Clone(t.Acts) // two servers have what is their own
		if t.New != nil {
			made := *t.New
			t.New = &made
		}
		for _, name := range []string{t.List, t.Read} {
			if name != "" && !s.method(name).IsValid() {
				t.Kind = ""
			}
		}
		if own := s.own[t.Kind]; own != nil {
			if !own(&t) {
				continue
			}
		} else if t.Kind == "" || t.List == "" {
			continue
		}
		s.put(t)
	}
}

// put registers a thing and what can be done with it.
func (s *Server) put(t thing) {
	s.things[t.Kind] = &t
	if p := s.placeAt(t.Place); !slices.Contains(p.kinds, t.Kind) {
		p.kinds = append(p.kinds, t.Kind)
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
	if a.do == nil && a.Call == "" {
		return // it is registered elsewhere
	}
	path, code := actPath(t.Kind, a.Verb), t.Kind+"-"+a.Verb
	if a.Done != "" {
		s.notice(code, a.Done)
	}
	s.action(path, t.Place, func(v *visit) (string, error) {
		id := v.value("id")
		v.Form.Set("kind", t.Kind)
		v.acted = path
		if slices.ContainsFunc(a.Fields, func(f string) bool { return strings.HasPrefix(f, "sure") }) && v.value("sure") == "" {
			return "", errs.InvalidField("sure", "must be ticked")
		}
		form := url.Values{"by": v.Form["by"]} // what the form offers, and nothing else that the method takes
		for _, field := range a.Fields {
			name := strings.TrimSuffix(split(field, 4)[0], "*")
			form[name] = v.Form[name]
		}
		for _, name := range t.Hidden {
			form[name] = v.Form[name]
		}
		made, err := s.carryOut(v, a, id, form)
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
		to := pathOf(t.Kind, id)
		if a.Back || to == "" {
			to = link(t.Place, "kind", t.Kind)
		}
		return done(to, cmp.Or(v.done, code)), nil
	})
}

// carryOut does what an act says with a form.
func (s *Server) carryOut(v *visit, a act, id string, form url.Values) (any, error) {
	if a.do != nil {
		return nil, a.do(v, id)
	}
	if name, value, ok := strings.Cut(a.Set, "="); ok {
		form = maps.Clone(form)
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
	for _, text := range t.Filters {
		p := split(text, 3)
		f := filter{Name: p[0], Label: p[1]}
		if among := s.among[t.Kind+"/"+f.Name]; among != nil {
			if f.Among, err = among(v); err != nil || f.Among == nil {
				return set, err
			}
		} else if choices := s.choices(t.List, f.Name); choices != nil {
			f.Among = options(cmp.Or(p[2], "all"), v.value(f.Name), choices)
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
		l, err = s.called(v, t)
	}
	if err != nil {
		return l, err
	}
	l.Order = cmp.Or(l.Order, t.Order)
	if l.Columns == nil {
		l.Columns = columnsOf(t.Columns...)
	}
	if l.next != "" {
		l.Older = v.with("cursor", l.next)
	}
	if v.value("cursor") != "" {
		l.Newer = v.with("cursor", "")
	}
	return l, nil
}

// called reads a list by its method.
func (s *Server) called(v *visit, t *thing) (l listing, err error) {
	form := maps.Clone(v.Form)
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
	l.Rows, err = s.rowsFrom(v, t, found)
	return l, err
}

// rowsFrom makes the rows of items.
func (s *Server) rowsFrom(v *visit, t *thing, found []any) (rows []row, err error) {
	columns := columnsOf(t.Columns...)
	for _, item := range found {
		of, err := recordOf(item)
		if err != nil {
			return nil, err
		}
		if t.row != nil {
			t.row(v, item, of)
		}
		r := row{ID: of.say(cmp.Or(t.ID, "id")), Kind: t.Kind, Title: of.titled(t.Title)}
		if r.Path = pathOf(t.Kind, r.ID); t.Title == "" {
			r.Path = ""
		}
		for _, c := range columns {
			r.Cells = append(r.Cells, v.cellOf(of, c, r))
		}
		if t.Title == "" { // it has no page: what can be done is shown on its line
			r.Acts = s.acts(v, t, r.ID, of)
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
		one := head(r.Path, cmp.Or(said, r.Title, r.ID), of.say(sub))
		if one.Code = as == "code"; of.say("withheld") != "" {
			one.Text, one.Code = "another agent’s command", false
		}
		return one
	case "chip":
		return cell{Chip: said}
	case "icon":
		return cell{Icon: said, Sub: said}
	case "agent":
		return agentCell(strings.Split(said, ", ")[0])
	case "time":
		t, _ := time.Parse(time.RFC3339, said) // what is no time is none
		return at(t)
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
		matches, _ := of[c.Member].([]any)
		for _, m := range matches {
			rule, _ := m.(map[string]any)
			return cell{Text: record(rule).say("title"), Path: link(guardPath, "kind", "check", "rule_id", record(rule).say("rule_id")), Times: len(matches)}
		}
		return cell{}
	}
	return text(said)
}

// mostLooked is how many pages of a list are looked through for one row that its service does not read by itself.
const mostLooked = 20

// detailOf reads a row, and what whoever looks may do with it.
func (s *Server) detailOf(v *visit, t *thing, id string) (d *detail, err error) {
	if t.read != nil {
		if d, err = t.read(v, id); err != nil {
			return nil, err
		}
		d.Kind, d.ID = t.Kind, cmp.Or(d.ID, id)
		return d, nil
	}
	var item any
	if t.Read != "" {
		item, err = s.call(v, t.Read, id, nil, "")
	} else if item, err = s.listed(v, t, id); errors.Is(err, errGone) {
		err = errs.Errorf(errs.NotFound, "there is no %s %s here, or no longer", strings.ToLower(t.One), short(80, id))
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
		t.row(v, item, of)
	}
	d := &detail{Kind: t.Kind, ID: cmp.Or(of.say(cmp.Or(t.ID, "id")), id), Title: cmp.Or(of.titled(t.Title), t.One+" "+id)}
	for _, name := range t.Chips {
		d.Chips = append(d.Chips, of.say(name))
	}
	if d.Facts, err = v.facts(item, slices.Concat(t.Chips, t.Hidden, strings.FieldsFunc(t.Title, func(r rune) bool { return r == '{' || r == '}' }))...); err != nil {
		return nil, err
	}
	if t.more != nil {
		if err := t.more(v, id, item, of, d); err != nil {
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

// errGone says that a list has no row of an id.
var errGone = errors.New("there is no such row")

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
	return nil, errGone
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
	for _, text := range a.Fields {
		parts := split(text, 4)
		name, required := strings.CutSuffix(parts[0], "*")
		f := field{Name: name, Label: parts[1], Form: cmp.Or(parts[2], "line"), Value: parts[3], Required: required}
		if f.Form == "choice" {
			f.Choices = options("", v.value(name), s.choices(a.Call, name))
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
