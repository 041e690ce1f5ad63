// Package value says what the memory is worth to agents: what they were told, what they used of it, which mistakes came back all the
// same, and what it cost in tokens. It believes the records of sessions, what became of the guard's checks, and who says that an entry
// helped. The figures lie with the tellings (operational.Tellings); this package has the rules of what counts as what.
package value

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
)

// Service says what the memory is worth. Values implements it beside the database, router/client over HTTP.
type Service interface {
	// Value counts. It needs ScopeRead. A caller that is bound to projects sees only what belongs to these and was told in them.
	Value(ctx context.Context, query Query) (Report, error)
}

// Query says what is counted.
type Query struct {
	Days    int    `query:"days" minimum:"0" maximum:"90" doc:"So many days of UTC, today among them; 0: 7"`
	Project string `query:"project" doc:"Empty: all"`
}

// Counts are figures of items that were told. One that was told twice counts twice.
type Counts = operational.ToldCounts

// Item is what came of an item.
type Item struct {
	Kind  string `json:"kind"`
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	Counts
	Retire  bool   `json:"retire,omitempty"`      // shown often and never of use: proposed for retirement
	Command string `json:"retire_with,omitempty"` // the command by which a person retires it
}

// Moment is what came of what was told at one moment.
type Moment struct {
	Moment operational.ToldMoment `json:"moment"`
	Counts
}

// Day is what came of what was told on a day.
type Day struct {
	Day time.Time `json:"day"`
	Counts
}

// Report is what the memory is worth.
type Report struct {
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until"`
	Project  string    `json:"project,omitempty"`
	Sessions int       `json:"sessions"` // that were told something
	Total    Counts    `json:"total"`
	Around   int       `json:"tokens_around"` // of the total's tokens, those of the words around the items
	Moments  []Moment  `json:"moments"`
	Days     []Day     `json:"by_day"` // each day, also one on which nothing was told
	Items    []Item    `json:"items"`  // those of most use first
	Count    int       `json:"count"`  // items, also of those that Items has no room for
	Retire   int       `json:"retire"` // how many of Items are proposed for retirement
}

// Bounds of a report.
const (
	// DefaultDays is what is counted where nobody says how many.
	DefaultDays = 7
	// RetireAfter is how often an item is told without any use, until it is proposed for retirement. Only tellings of which it is known what
	// came of them count.
	RetireAfter = 20
	// MaxItems is how many items a report lists; those that are proposed for retirement are among them first. MaxRetire bounds these.
	MaxItems  = 200
	MaxRetire = 100
)

// Values is the Service on tellings.
type Values struct {
	tellings *operational.Tellings
	now      clock.Clock
}

var _ Service = (*Values)(nil)

// New makes Values.
func New(tellings *operational.Tellings, now clock.Clock) *Values {
	return &Values{tellings, now.Given()}
}

// Value implements Service.
func (v *Values) Value(ctx context.Context, query Query) (Report, error) {
	caller := principal.Of(ctx).Keeping()
	if err := cmp.Or(caller.Need(principal.ScopeRead), check.Name("project", query.Project)); err != nil {
		return Report{}, err
	}
	if query.Days < 0 || query.Days > operational.RetainedDays {
		return Report{}, errs.InvalidField("days", "must lie between 1 and %d", operational.RetainedDays)
	}
	until := operational.DayOf(v.now()) + 1
	asked := operational.ToldQuery{Since: until - int64(cmp.Or(query.Days, DefaultDays)), Until: until, Projects: caller.Projects(), Own: caller.Walled()}
	if query.Project != "" {
		asked.Projects = []string{query.Project}
		if !caller.Sees(query.Project) {
			asked.Projects = []string{}
		}
	}
	sums, err := v.tellings.Sums(ctx, asked)
	if err != nil {
		return Report{}, err
	}
	r := Report{Since: dayTime(asked.Since), Until: dayTime(until), Project: query.Project, Sessions: sums.Sessions, Moments: []Moment{}, Items: itemsOf(sums.Items)}
	r.count(asked.Since, until, sums.Days)
	if err := v.propose(ctx, r.Items); err != nil {
		return Report{}, err
	}
	slices.SortStableFunc(r.Items, func(a, b Item) int {
		return cmp.Or(b.Used+b.Prevented-a.Used-a.Prevented, b.Shown-a.Shown, cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	r.Count = len(r.Items)
	r.cut()
	return r, nil
}

func dayTime(day int64) time.Time { return time.Unix(0, 0).UTC().AddDate(0, 0, int(day)) }

// count fills in the figures by day and by moment.
func (r *Report) count(since, until int64, days []operational.ToldSum) {
	for day := since; day < until; day++ {
		r.Days = append(r.Days, Day{Day: dayTime(day)})
	}
	moments := map[operational.ToldMoment]*Counts{}
	for _, d := range days {
		if d.Kind == "" { // the words around the items are no item
			d.ToldCounts = Counts{Tokens: d.Tokens}
			r.Around += d.Tokens
		}
		if moments[d.Moment] == nil {
			moments[d.Moment] = &Counts{}
		}
		for _, c := range []*Counts{&r.Total, moments[d.Moment], &r.Days[d.Day-since].Counts} {
			c.Add(d.ToldCounts)
		}
	}
	for _, moment := range operational.ToldMoments() {
		if c := moments[moment]; c != nil {
			r.Moments = append(r.Moments, Moment{moment, *c})
		}
	}
}

// itemsOf joins what was told of an item at different moments.
func itemsOf(told []operational.ToldSum) []Item {
	items := []Item{}
	at := map[operational.ToldRef]int{}
	for _, d := range told {
		ref := operational.ToldRef{Kind: d.Kind, ID: d.ID}
		i, known := at[ref]
		if !known {
			i = len(items)
			at[ref] = i
			items = append(items, Item{Kind: d.Kind, ID: d.ID, Title: d.Title})
		}
		items[i].Add(d.ToldCounts)
	}
	return items
}

// retirements are the commands by which items of a kind are retired. Rules are not among them: one that stops nobody may be why. What
// failed in a project is told while it comes back, what happened once is no advice, and facts expire.
var retirements = map[string]string{
	router.KindKnowledge: "skillrouter knowledge delete %s", router.KindProcedure: "skillrouter procedures delete %s",
	router.KindLesson: retireLesson, router.KindPattern: retireLesson, router.KindPrinciple: retireLesson,
}

const retireLesson = "skillrouter lessons retire %s told often and never used"

// propose proposes those for retirement that were told often and, as far as is kept, never of use.
func (v *Values) propose(ctx context.Context, items []Item) error {
	var asked []operational.ToldRef
	for _, i := range items {
		if retirements[i.Kind] != "" && i.Judged >= RetireAfter && i.Used == 0 && i.Prevented == 0 && len(asked) < MaxRetire {
			asked = append(asked, operational.ToldRef{Kind: i.Kind, ID: i.ID})
		}
	}
	if len(asked) == 0 {
		return nil
	}
	ever, err := v.tellings.Sums(ctx, operational.ToldQuery{Until: operational.DayOf(v.now()) + 1, Items: asked})
	if err != nil {
		return err
	}
	for _, of := range itemsOf(ever.Items) {
		i := slices.IndexFunc(items, func(i Item) bool { return i.Kind == of.Kind && i.ID == of.ID })
		if of.Used == 0 && of.Prevented == 0 && slices.Contains(asked, operational.ToldRef{Kind: of.Kind, ID: of.ID}) {
			items[i].Retire, items[i].Command = true, fmt.Sprintf(retirements[of.Kind], of.ID)
		}
	}
	return nil
}

// cut keeps as many items as a report lists.
func (r *Report) cut() {
	for _, i := range r.Items {
		if i.Retire {
			r.Retire++
		}
	}
	room := MaxItems - r.Retire
	r.Items = slices.DeleteFunc(r.Items, func(i Item) bool {
		if !i.Retire {
			room--
		}
		return !i.Retire && room < 0
	})
}

// Operations is how the methods of a Service are called from outside.
var Operations = operation.Of("incidents", "/api/value",
	operation.Get("", "What agents were told, what they used of it, which mistakes came back all the same, and what is proposed for retirement", Service.Value).Keeps())
