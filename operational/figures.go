package operational

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"skillrouter"
)

// Figures counts what happens over time. It counts in memory and is written once a minute: no agent waits for it, and a kill loses what
// was counted since.
type Figures struct {
	store FigureStore
	now   skillrouter.Clock
	log   *slog.Logger
	looks []FigureLook

	flushing sync.Mutex // held by the one flush that is under way
	trimmed  int64      // the day on which old rows were removed last
	failing  bool

	mu      sync.Mutex
	day     int64
	names   map[Figure]map[string]bool // that were counted this day
	waiting map[figureKey]*FigureCounts
}

type figureKey struct {
	hour   int64
	figure Figure
	name   string
}

// FigureLook adds what is counted elsewhere, and was counted since its last look. It is never called twice at once.
type FigureLook func(ctx context.Context, count func(figure Figure, name string, c FigureCounts))

// FigureOptions are the settings of Figures. The zero value is usable.
type FigureOptions struct {
	Now   skillrouter.Clock // time.Now if nil
	Log   *slog.Logger      // discards if nil
	Looks []FigureLook      // before each writing
}

// NewFigures makes Figures on a store. Run must be started for them to be kept.
func NewFigures(store FigureStore, options FigureOptions) *Figures {
	return &Figures{
		store: store, now: options.Now.Given(), log: skillrouter.GivenLog(options.Log), looks: options.Looks,
		names: map[Figure]map[string]bool{}, waiting: map[figureKey]*FigureCounts{},
	}
}

// Count adds to a figure, now. It never waits.
func (f *Figures) Count(figure Figure, name string, c FigureCounts) {
	f.CountAt(f.now(), figure, name, c)
}

// CountAt adds to a figure at a time. A name that finds no room is counted under none, and so is one of another day than this.
func (f *Figures) CountAt(at time.Time, figure Figure, name string, c FigureCounts) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if day := DayOf(f.now()); day != f.day {
		f.day = day
		clear(f.names)
	}
	if DayOf(at) != f.day || !f.known(figure, name) {
		name = ""
	}
	f.add(figureKey{hourOf(at), figure, name}, c)
}

// known tells whether a name is kept apart this day, and takes in one for which there is room.
func (f *Figures) known(figure Figure, name string) bool {
	const maxName = 64 // bytes: the id of a rule has 36
	names := f.names[figure]
	switch {
	case name == "" || names[name]:
		return true
	case len(name) > maxName || len(names) >= MaxFigureNames:
		return false
	case names == nil:
		names = map[string]bool{}
		f.names[figure] = names
	}
	names[name] = true
	return true
}

func (f *Figures) add(key figureKey, c FigureCounts) {
	const maxWaiting = 4096 // rows that wait while the disk takes none
	sum := f.waiting[key]
	if sum == nil {
		if len(f.waiting) >= maxWaiting {
			return
		}
		sum = &FigureCounts{}
		f.waiting[key] = sum
	}
	sum.Count, sum.Part, sum.Most = sum.Count+c.Count, sum.Part+c.Part, max(sum.Most, c.Most)
}

// Run writes what is counted until ctx ends, and then what still waits.
func (f *Figures) Run(ctx context.Context) error {
	if err := f.remember(ctx); err != nil {
		f.log.WarnContext(ctx, "the names of today's figures could not be read", "error", err)
	}
	const every = time.Minute // a kill loses no more
	for skillrouter.Pause(ctx, every) == nil {
		f.flush(ctx)
	}
	f.flush(ctx)
	return nil
}

// remember takes in the names of this day from before a restart: its rows are added to, and stay bounded.
func (f *Figures) remember(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readTime)
	defer cancel()
	day := DayOf(f.now())
	rows, err := f.store.FigureRows(ctx, FigureRange{Since: day * dayHours, Until: (day + 1) * dayHours, Step: dayHours, Apart: slices.Concat(byName, byProject)})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.day = cmp.Or(f.day, day)
	for _, r := range rows {
		if f.day == day {
			f.known(r.Figure, r.Name)
		}
	}
	return err
}

// readTime bounds what is read at a stop too, which does not end with it: a server that falls silent would hold the stop up.
const readTime = 5 * time.Second

// flush writes what waits. What cannot be written waits on.
func (f *Figures) flush(ctx context.Context) {
	f.flushing.Lock()
	defer f.flushing.Unlock()
	ctx = context.WithoutCancel(ctx)
	reading, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	for _, look := range f.looks {
		look(reading, f.Count)
	}
	f.mu.Lock()
	counted := f.waiting
	f.waiting = make(map[figureKey]*FigureCounts, len(counted))
	f.mu.Unlock()
	if len(counted) == 0 {
		return
	}
	rows := make([]FigureRow, 0, len(counted))
	for key, c := range counted {
		rows = append(rows, FigureRow{Hour: key.hour, Figure: key.figure, Name: key.name, FigureCounts: *c})
	}
	skillrouter.Sort(rows, func(a, b FigureRow) int {
		return cmp.Or(cmp.Compare(a.Hour, b.Hour), cmp.Compare(a.Figure, b.Figure), cmp.Compare(a.Name, b.Name))
	})
	var keep FigureKeep
	day := DayOf(f.now())
	if day != f.trimmed {
		keep = FigureKeep{Days: day*dayHours - FigureHours, Since: (day - RetainedDays + 1) * dayHours}
	}
	err := f.store.AddFigures(ctx, rows, keep)
	if err != nil && !f.failing {
		f.log.Warn("figures over time cannot be kept", "error", err)
	}
	if f.failing = err != nil; err == nil {
		f.trimmed = day
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, c := range counted {
		f.add(key, *c)
	}
}

var _ FigureService = (*Figures)(nil)

// Figures implements FigureService.
func (f *Figures) Figures(ctx context.Context, query FigureQuery) (FigureReport, error) {
	if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeRead); err != nil {
		return FigureReport{}, err
	}
	asked, err := figureRange(query, f.now())
	if err != nil {
		return FigureReport{}, err
	}
	f.flush(ctx)
	rows, err := f.store.FigureRows(ctx, asked)
	if err != nil {
		return FigureReport{}, err
	}
	hourTime := func(hour int64) time.Time { return time.Unix(hour*int64(time.Hour/time.Second), 0).UTC() }
	r := FigureReport{
		Since: hourTime(asked.Since), Until: hourTime(asked.Until), Step: int(asked.Step), Project: query.Project,
		Total: figureSums(query.Project), Tools: []FigureName{}, Rules: []FigureName{},
	}
	for hour := asked.Since; hour < asked.Until; hour += asked.Step {
		r.Points = append(r.Points, FigurePoint{hourTime(hour), figureSums(query.Project)})
	}
	names := map[figureKey]*FigureName{}
	for _, row := range rows {
		i := int((row.Hour - asked.Since) / asked.Step)
		if i < 0 || i >= len(r.Points) {
			continue
		}
		r.Total.add(row)
		r.Points[i].add(row)
		key := figureKey{figure: row.Figure, name: row.Name}
		if names[key] == nil {
			names[key] = &FigureName{Name: row.Name, Points: make([]int64, len(r.Points))}
		}
		one := names[key]
		one.Count, one.Part, one.Points[i] = one.Count+row.Count, one.Part+row.Part, one.Points[i]+row.Count
	}
	r.Total.settle()
	for i := range r.Points {
		r.Points[i].settle()
	}
	for key, one := range names {
		switch key.figure {
		case FigureCalls:
			r.Tools = append(r.Tools, *one)
		case FigureRules:
			r.Rules = append(r.Rules, *one)
		}
	}
	for _, list := range [][]FigureName{r.Tools, r.Rules} {
		slices.SortFunc(list, func(a, b FigureName) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	}
	return r, nil
}
