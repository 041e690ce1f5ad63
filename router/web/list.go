package web

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/feed"
)

const (
	// pageRows is how many rows a page of a list has, and mostParted how many a part of a detail.
	pageRows   = 50
	mostParted = 200
	// mostLooked is how many pages of a list are looked through for one row that its service does not read by itself.
	mostLooked = 5
)

// table is rows under columns.
type table struct {
	Columns []column
	Rows    []row
	Picks   bool // rows can be chosen
}

// Moments are the rows that tell what happened.
func (t *table) Moments() (moments []feed.Moment) {
	for _, r := range t.Rows {
		if moment, is := r.item.(feed.Moment); is {
			moments = append(moments, moment)
		}
	}
	return moments
}

// row is one line: a record, shown as its columns say. Accept and Decline are what the keys a and d do with it, as the
// inbox's form names it.
type row struct {
	record
	Columns               []column
	Kind, ID, Path, Title string
	Pick, Accept, Decline string
	Unread, Current       bool
	Acts                  []shownAct

	item  any
	rank  int        // of what waits: 0: somebody cannot go on
	items url.Values // and what its checkbox sends
}

// at is the time that the row ends with.
func (r row) at() time.Time {
	at, _ := time.Parse(time.RFC3339, r.Say(r.Columns[len(r.Columns)-1].Member)) // what is no time is none
	return at
}

// listing is what a list shows.
type listing struct {
	table
	Title, Order string
	Notes        []string
	Filters      []filter
	Bulk         []act  // what can be done with the chosen rows
	Removed      string // what was just removed, and can be taken back
	Older, Newer string // the parts of the list before and behind this one
	Ranges       []option
	Lanes        *lanes
	next         string // the cursor of the part behind this one
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

// block is a part of a detail below its fields. What it does not have it does not show.
type block struct {
	ID, Title, Live, Note, Empty string
	First                        bool
	Table                        *table
	Facts                        []shownFact
	Said                         []said
	Text                         string
	Lanes                        *lanes
	More                         []option // links: their value is the path
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
	if p.Path == timelinePath { // the kinds of what happened are a filter
		kind = p.kinds[0]
	}
	t := s.things[cmp.Or(kind, p.kinds[0])]
	if t == nil && s.bound == nil && homes()[kind] != "" { // others have it
		return nil, principal.Unkept("this page")
	}
	if t == nil || !slices.Contains(p.kinds, t.Kind) {
		return nil, errs.InvalidField("kind", "must be one of %s", strings.Join(p.kinds, ", "))
	}
	page := &placeView{Place: p, Thing: t}
	v.Title = t.Many
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
		page.Detail, v.Title = found, short(80, found.Title)
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
		chosen := v.value(f.Name)
		switch choices := s.choices(t.List, f.Name); {
		case f.Name == "persona" && t.memory.Pages.Personas != nil:
			if choices, chosen, err = personas(v, t.memory); err != nil {
				return set, err
			}
			f.Among = options("", chosen, choices)
		case f.Name == "project":
			f.Among = s.projectOptions(v.Context(), chosen)
		default:
			switch f.Name {
			case "kind":
				choices = feed.MomentKinds()
			case "category":
				choices = t.memory.Categories
			}
			if choices != nil {
				f.Among = options(cmp.Or(f.All, "all"), chosen, choices)
			}
		}
		set = append(set, f)
	}
	return set, nil
}

// listOf reads a page of a list.
func (s *Server) listOf(v *visit, t *thing) (l listing, err error) {
	read := (*Server).called
	if t.own.list != nil {
		read = t.own.list
	}
	if l, err = read(s, v, t); err != nil {
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
	return l, s.countTold(v, l.Rows)
}

// called reads a list by its method, narrowed by the form.
func (s *Server) called(v *visit, t *thing) (l listing, err error) {
	form := maps.Clone(v.Form)
	if form.Get("kind") == t.Kind { // it says which list this is
		form.Del("kind")
	}
	if name, value, ok := strings.Cut(t.Default, "="); ok && form.Get("status") == "" && form.Get(name) == "" {
		form.Set(name, value)
	}
	form.Set("limit", strconv.Itoa(pageRows))
	skip := 0
	if t.Page != "" {
		if skip, err = v.number("cursor", 1<<53); err != nil {
			return l, err
		}
		form.Set(t.Page, strconv.Itoa(skip))
		form.Set("limit", strconv.Itoa(pageRows+1))
	}
	answer, err := s.call(v, t.List, "", form, "")
	if err != nil {
		return l, err
	}
	found, next, total := items(answer)
	if l.Rows, err = s.rowsFrom(v, t, found[:min(len(found), pageRows)], ""); err != nil {
		return l, err
	}
	switch more := len(found) > pageRows; {
	case more && t.Page == "after":
		l.next = l.Rows[pageRows-1].ID
	case more:
		l.next = strconv.Itoa(skip + pageRows)
	case t.Page == "":
		l.next = next
	}
	if words := v.value("query"); words != "" && len(l.Rows) == 0 {
		l.Notes = searchNotes("", nil, words, 0)
	}
	if t.Total != "" {
		l.Title = strings.Replace(t.Total, "%s", count(total), 1)
	}
	return l, nil
}

// recordOf is an item as a kind's rows have it.
func (s *Server) recordOf(v *visit, t *thing, item any) (record, error) {
	of, err := recordOf(item)
	if err == nil && t.own.row != nil {
		t.own.row(s, v, item, &of)
	}
	for _, one := range t.Says {
		if of.fits(one.When) && of.Say(one.Name) == "" {
			of.set(one.Name, of.titled(one.Value))
		}
	}
	return of, err
}

// rowsFrom makes the rows of items that fit a condition.
func (s *Server) rowsFrom(v *visit, t *thing, found []any, when string) (rows []row, err error) {
	for _, item := range found {
		of, err := s.recordOf(v, t, item)
		if err != nil {
			return nil, err
		}
		if !of.fits(when) {
			continue
		}
		r := row{record: of, Columns: t.Columns, item: item, ID: of.Say(cmp.Or(t.ID, "id")), Kind: cmp.Or(of.titled(t.Is), t.Kind), Title: of.titled(t.Title)}
		r.Path = pathOf(r.Kind, r.ID)
		rows = append(rows, r)
	}
	return rows, nil
}

// detailOf reads a row, and what whoever looks may do with it.
func (s *Server) detailOf(v *visit, t *thing, id string) (d *detail, err error) {
	var item any
	switch {
	case t.own.read != nil:
		if d, err = t.own.read(s, v, t, id); err == nil {
			d.Kind, d.ID = t.Kind, cmp.Or(d.ID, id)
		}
		return d, err
	case t.Read != "":
		item, err = s.call(v, t.Read, id, v.Form, "")
	case t.memory.Name != "":
		if err = v.keeps(); err == nil {
			item, err = t.memory.Undo.Read(v.Context(), id)
		}
	case t.List == "":
		err = errs.InvalidField("kind", "is required")
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
	of, err := s.recordOf(v, t, item)
	if err != nil {
		return nil, err
	}
	d := &detail{Kind: t.Kind, ID: cmp.Or(of.Say(cmp.Or(t.ID, "id")), id), Title: cmp.Or(of.titled(t.Title), t.One+" "+id)}
	for _, name := range t.Chips {
		d.Chips = append(d.Chips, of.Say(name))
	}
	if d.Facts, err = v.facts(of, slices.Concat(t.Chips, t.Hidden, t.Without, strings.FieldsFunc(t.Title, func(r rune) bool { return strings.ContainsRune("${}/", r) }))...); err != nil {
		return nil, err
	}
	if err := cmp.Or(s.addTold(v, t, d), s.offerEdit(v, t.memory, d, item)); err != nil {
		return nil, err
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
	if p.Kind != "" && t == nil || p.Call != "" && !s.method(p.Call).IsValid() {
		return nil
	}
	b := block{ID: p.ID, Title: p.Title, Live: p.Live, Empty: p.Empty, Text: of.titled(p.Text), First: p.First}
	for _, link := range p.More {
		path := os.Expand(link.Value, func(member string) string { return url.QueryEscape(of.Say(member)) })
		b.More = append(b.More, option{Name: link.Name, Value: path})
	}
	var found []any
	switch {
	case p.Lanes && s.services.Timeline != nil:
		b.Lanes, _, err = s.lanesOf(v, feed.TimelineQuery{Agent: id})
	case p.Of != "":
		found = rowsOf(item, p.Of)
	case p.Kind == "message":
		page, failed := s.services.Mailbox.Log(v.Context(), operational.LogQuery{Agent: id, Limit: p.Most})
		found, _, _ = items(page)
		err = failed
	case t != nil:
		form := url.Values{}
		for name, value := range p.With {
			form.Set(name, of.titled(value))
		}
		answer, failed := s.call(v, cmp.Or(p.Call, t.List), id, form, "")
		found, _, _ = items(answer)
		err = failed
	}
	if errs.CodeOf(err) == errs.Forbidden { // whoever looks may see the rest
		return nil
	}
	if err != nil {
		return err
	}
	if p.Last {
		slices.Reverse(found)
	}
	var rows []row
	if t != nil {
		if rows, err = s.rowsFrom(v, t, found, p.When); err != nil {
			return err
		}
	}
	most := cmp.Or(p.Most, mostParted)
	if n := len(rows) - most; n > 0 && p.Most == 0 {
		b.Note = "And " + count(n) + " more."
	}
	rows = rows[:min(len(rows), most)]
	if len(rows) == 0 && b.Empty == "" && b.Lanes == nil {
		return nil
	}
	var messages []operational.Message
	for _, r := range rows {
		if message, is := r.item.(operational.Message); is {
			messages = append(messages, message)
		}
		if !p.Facts {
			continue
		}
		facts, err := v.facts(r.record, t.Without...)
		if err != nil {
			return err
		}
		b.Facts = append(b.Facts, facts...)
	}
	if len(messages) > 0 {
		b.Said, err = s.asSaid(v, messages)
	} else if b.Facts == nil && b.Text == "" && b.Lanes == nil {
		b.Table = &table{Rows: rows}
		if t != nil {
			b.Table.Columns = t.Columns
		}
	}
	d.Blocks = append(d.Blocks, b)
	return err
}

// listed finds a row in its list.
func (s *Server) listed(v *visit, t *thing, id string) (any, error) {
	form := url.Values{"limit": {strconv.Itoa(learning.MaxLimit)}}
	for range mostLooked {
		answer, err := s.call(v, t.List, "", form, "")
		if err != nil {
			return nil, err
		}
		found, next, _ := items(answer)
		for _, item := range found {
			of, err := recordOf(item)
			if err != nil || of.Say(cmp.Or(t.ID, "id")) == id {
				return item, err
			}
		}
		if next == "" {
			break
		}
		form.Set("cursor", next)
	}
	return nil, errs.Errorf(errs.NotFound, "there is no %s %s here, or no longer", strings.ToLower(t.One), short(80, id))
}

// asking is a visit by the same that asks for something else.
func (v *visit) asking(form url.Values) *visit {
	of := *v
	of.Request = v.WithContext(v.Context()) // a copy
	of.Form = form
	return &of
}

// with is the page's own address with another value of one field; empty takes it out.
func (v *visit) with(name, value string) string {
	query := url.Values{}
	if v.Method == http.MethodGet {
		query = maps.Clone(v.Form)
	}
	query.Del("done")
	query.Del(name)
	if value != "" {
		query.Set(name, value)
	}
	return pathWith(v.URL.Path, query)
}
