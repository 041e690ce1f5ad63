package feed

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
)

// TimelineService is what happened to the team, told for people: the events of both databases, the messages, every
// check of the guard and what agents were told, on one line, the newest first. It reads what is stored anyway.
type TimelineService interface {
	Timeline(ctx context.Context, query TimelineQuery) (TimelinePage, error)
}

// TimelineQuery says which moments are asked for.
type TimelineQuery struct {
	Agent   string   `query:"agent" doc:"Only what this agent did, what happened to it, what it was told, and messages to it"`
	Project string   `query:"project" doc:"Only of this project; messages belong to none"`
	Kinds   []string `query:"kind" doc:"Only of these kinds, separated by commas: check, block, approval, failure, told, message, task, session, memory, lesson, escalation, agent, file, reminder, finding, admin"`
	Range   string   `query:"time_range" doc:"Such as today, yesterday, 2h, 7d, or two times joined by .."`
	Before  string   `query:"before" doc:"The next of the page before"`
	Limit   int      `query:"limit" minimum:"0" maximum:"200" doc:"0: 50"`
}

// Bounds of a timeline.
const (
	DefaultMoments = 50
	MaxMoments     = 200
	// timelineReach is how many rows of one log one query looks through, and how many behind that without a
	// moment a page does: no index has every field, and a page must come at once. The next page goes on from there.
	timelineReach = 50_000
)

// Moment is one thing that happened, told for people: who (Agent), did what (Verb), to what (Title), and how (Detail).
type Moment struct {
	ID      string    `json:"id"` // of its log and its number there: it never changes
	At      time.Time `json:"at"`
	Kind    string    `json:"kind"`
	Type    string    `json:"type"` // of the event, as in its log
	Agent   string    `json:"agent_id,omitempty"`
	To      string    `json:"to_agent_id,omitempty"` // of a message; empty: to every agent
	Project string    `json:"project,omitempty"`
	Verb    string    `json:"verb"`
	Title   string    `json:"title,omitempty"`
	Detail  string    `json:"detail,omitempty"`
	State   string    `json:"state,omitempty"` // one word: a decision, a status, an outcome
	// About is what it happened to, such as task, lesson, knowledge, check, message, session; Subject is its id.
	About   string `json:"about,omitempty"`
	Subject string `json:"subject,omitempty"`
	// Items are the memories that an agent was told, or the rules that a check found.
	Items []operational.ToldItem `json:"items,omitempty"`
	Start bool                   `json:"start,omitempty"` // it was told as its session began
	// Withheld: it is another agent's, and so its texts are empty here.
	Withheld bool `json:"withheld,omitempty"`
}

// TimelinePage is a page of the timeline.
type TimelinePage struct {
	Moments []Moment `json:"moments"`
	Next    string   `json:"next,omitempty"` // ask again with before = this for what is older; empty: there is no more
}

// PastLog is the event log of one database, read from its end.
type PastLog interface {
	// PastEvents returns what the query selects, the newest first, and the seq before which the next page begins; 0: there is no more.
	PastEvents(ctx context.Context, q eventlog.Query) ([]eventlog.Event, int64, error)
	// EventTime returns when the first event of at least this seq was.
	EventTime(ctx context.Context, seq int64) (time.Time, bool, error)
	LastEvent(ctx context.Context) (int64, error)
}

// PastMessages is the log of the messages, read from its end.
type PastMessages interface {
	MessageLog(ctx context.Context, q operational.LogQuery) ([]operational.Message, int64, error)
	MessageTime(ctx context.Context, seq int64) (time.Time, bool, error)
	LastSeq(ctx context.Context) (int64, error)
}

// TimelinePorts are what a Timeline reads.
type TimelinePorts struct {
	Learning    PastLog
	Operational PastLog
	Messages    PastMessages
	Checks      interface {
		Ledger(ctx context.Context, filter lesson.LedgerFilter) (guard.LedgerPage, error)
	}
	Tellings interface {
		Told(ctx context.Context, q operational.TellingQuery) ([]operational.Telling, error)
	}
	// Titles returns the titles of memories, of those that are still there, by kind and id.
	Titles map[string]func(ctx context.Context, ids []string) (map[string]string, error)
	Now    clock.Clock
}

// Timeline is the TimelineService over both databases.
type Timeline struct{ ports TimelinePorts }

// NewTimeline makes a Timeline.
func NewTimeline(ports TimelinePorts) *Timeline {
	ports.Now = ports.Now.Given()
	return &Timeline{ports}
}

// line is one of the logs that a timeline is merged of.
type line struct {
	name string
	// page returns moments before a number, the newest first, and the number before which the next page
	// begins; 0: there is no more.
	page func(ctx context.Context, before int64, limit int) ([]numbered, int64, error)

	held   []numbered
	ahead  int64 // before which number the page after held begins; 0: from the newest, or there is none once it has looked
	looked bool
	passed int64 // rows that it has passed over without a moment
	done   bool
}

type numbered struct {
	number int64
	moment Moment
}

// lineNames are the logs in the order of a cursor.
var lineNames = []string{"learning", "operational", "messages", "checks", "told"}

// Timeline implements TimelineService. It needs ScopeRead. Moments of one log come in the order of their numbers; those
// of different logs are merged by their times. Who is bound to projects is told the events of these alone: no messages, checks or tellings. A page may have less than it was asked for though there is more: it has looked at enough.
func (t *Timeline) Timeline(ctx context.Context, query TimelineQuery) (TimelinePage, error) {
	page := TimelinePage{Moments: []Moment{}}
	filter, err := newFilter(principal.Of(ctx), Query{Agent: query.Agent, Project: query.Project})
	if err != nil {
		return page, err
	}
	limit, err := check.Limit(query.Limit, DefaultMoments, MaxMoments)
	if err != nil {
		return page, err
	}
	span, err := learning.ParseTimeRange("time_range", query.Range, t.ports.Now())
	if err != nil {
		return page, err
	}
	lines, err := t.lines(query, &filter, span)
	if err != nil {
		return page, err
	}
	if err := place(lines, query.Before); err != nil {
		return page, err
	}
	for len(page.Moments) < limit {
		next, err := newest(ctx, lines, limit-len(page.Moments))
		if err != nil {
			return page, err
		}
		if next == nil {
			break
		}
		one := next.held[0].moment
		next.held = next.held[1:]
		if one, err = t.met(ctx, lines, one); err != nil {
			return page, err
		}
		page.Moments = append(page.Moments, one)
	}
	page.Next = cursorOf(lines)
	return page, t.entitle(ctx, page.Moments)
}

const (
	// failedTitle is how the episode begins that a hook records of a failure.
	failedTitle = "Failed: "
	// recordedWithin is how long a hook takes from the question of what is known of a failure to its record: two calls, one behind
	// the other. A model that records something itself takes longer.
	recordedWithin = 2 * time.Second
)

// met makes one of a hook's record of a failure and the failure that it asked about just before: the failure, which leads
// to the record, or the record, where the failure may not be told. Any other moment stays as it is.
func (t *Timeline) met(ctx context.Context, lines []*line, one Moment) (Moment, error) {
	titles := t.ports.Titles[one.About]
	if one.Type != learning.EventEpisodeRecorded || titles == nil {
		return one, nil
	}
	for _, l := range lines {
		if len(l.held) == 0 || l.held[0].moment.Kind != KindFailure || l.held[0].moment.Agent != one.Agent || one.At.Sub(l.held[0].moment.At) > recordedWithin {
			continue
		}
		failure := l.held[0].moment
		found, err := titles(ctx, []string{one.Subject})
		did, recorded := strings.CutPrefix(found[one.Subject], failedTitle)
		if err != nil || !recorded {
			return one, err
		}
		if l.held = l.held[1:]; !failure.Withheld {
			failure.At, failure.Title, failure.About, failure.Subject = one.At, did, one.About, one.Subject
			one = failure
		}
		return one, nil
	}
	return one, nil
}

// newest returns the line whose next moment is the newest, or nil if there is none, or if a line has looked at enough
// and may hold a newer one.
func newest(ctx context.Context, lines []*line, limit int) (found *line, err error) {
	for _, l := range lines {
		most := limit
		if len(l.held) == 0 && l.ahead == 0 && l.looked {
			l.done = true
		}
		for len(l.held) == 0 && !l.done {
			if l.passed >= timelineReach {
				return nil, nil
			}
			if l.passed > 0 { // rows that are not told are passed over in great steps
				most = MaxMoments
			}
			before := l.ahead
			if l.held, l.ahead, err = l.page(ctx, before, most); err != nil {
				return nil, err
			}
			l.looked = true
			if len(l.held) == 0 && before > 0 && l.ahead > 0 {
				l.passed += before - l.ahead
			}
			l.done = len(l.held) == 0 && l.ahead == 0
		}
		if len(l.held) > 0 && (found == nil || l.held[0].moment.At.After(found.held[0].moment.At)) {
			found = l
		}
	}
	return found, nil
}

// ended is what a cursor says of a line that has no more.
const ended = "-"

func cursorOf(lines []*line) string {
	parts, more := make([]string, len(lineNames)), false
	for i, name := range lineNames {
		parts[i] = ended
		for _, l := range lines {
			if l.name != name || l.done || l.looked && len(l.held) == 0 && l.ahead == 0 {
				continue
			}
			from := l.ahead
			if len(l.held) > 0 {
				from = l.held[0].number + 1
			}
			parts[i], more = strconv.FormatInt(from, 10), true
		}
	}
	if !more {
		return ""
	}
	return strings.Join(parts, ".")
}

// place puts lines where a cursor says that the page before ended.
func place(lines []*line, cursor string) error {
	if cursor == "" {
		return nil
	}
	wrong := errs.InvalidField("before", "is none that a page was answered with")
	parts := strings.Split(cursor, ".")
	if len(parts) != len(lineNames) {
		return wrong
	}
	for i, part := range parts {
		number, err := strconv.ParseInt(part, 10, 64)
		if part != ended && (err != nil || number < 0) {
			return wrong
		}
		for _, l := range lines {
			if l.name == lineNames[i] {
				l.ahead, l.done = number, part == ended
			}
		}
	}
	return nil
}

// lines are the logs that a query needs.
func (t *Timeline) lines(query TimelineQuery, filter *filter, span learning.TimeRange) (lines []*line, err error) {
	wanted := func(kinds ...string) bool {
		return len(query.Kinds) == 0 || slices.ContainsFunc(kinds, func(kind string) bool { return slices.Contains(query.Kinds, kind) })
	}
	if err := check.Each("kind", query.Kinds, MomentKinds()); err != nil {
		return nil, err
	}
	add := func(name string, page func(ctx context.Context, before int64, limit int) ([]numbered, int64, error)) {
		lines = append(lines, &line{name: name, page: page})
	}
	asked := eventlog.Query{Agent: query.Agent, Project: query.Project, Reach: timelineReach}
	for _, log := range []struct {
		source operational.FeedSource
		log    PastLog
	}{{operational.FeedLearning, t.ports.Learning}, {operational.FeedOperational, t.ports.Operational}} {
		q := asked
		if q.Types = typesOfMoments(query.Kinds); len(query.Kinds) > 0 && len(q.Types) == 0 {
			continue
		}
		add(string(log.source), events(log.source, log.log, q, query.Kinds, filter, span))
	}
	if filter.caller.Walled() {
		return lines, nil
	}
	mail := filter.captain || filter.caller.Has(principal.ScopeAgent) && filter.caller.AgentID != "" // whoever only reads has no mailbox
	if t.ports.Messages != nil && mail && query.Project == "" && wanted(KindMessage) {
		add("messages", t.messages(query, filter, span))
	}
	if t.ports.Checks != nil && wanted(KindCheck, KindBlock) {
		add("checks", t.checks(query, span, !wanted(KindCheck)))
	}
	if t.ports.Tellings != nil && wanted(KindTold, KindFailure) {
		add("told", t.tellings(query, span, wanted(KindTold), wanted(KindFailure)))
	}
	return lines, nil
}

// stretch finds the seqs of a log that a time range spans: all after from, and before to. Times of a log grow with
// its seqs; where a clock was set back, a few beside the range may be missed.
func stretch(ctx context.Context, span learning.TimeRange, last func(context.Context) (int64, error), when func(context.Context, int64) (time.Time, bool, error)) (from, to int64, err error) {
	end, err := last(ctx)
	if err != nil {
		return 0, 0, err
	}
	first := func(t time.Time) int64 {
		return int64(sort.Search(int(end), func(i int) bool {
			at, there, failed := when(ctx, int64(i)+1)
			err = cmp.Or(err, failed)
			return !there || !at.Before(t)
		})) + 1
	}
	if to = end + 1; !span.To.IsZero() {
		to = first(span.To)
	}
	if !span.From.IsZero() {
		from = first(span.From) - 1
	}
	return from, to, err
}

func events(source operational.FeedSource, log PastLog, q eventlog.Query, kinds []string, filter *filter, span learning.TimeRange) func(context.Context, int64, int) ([]numbered, int64, error) {
	from, to := int64(-1), int64(0)
	return func(ctx context.Context, before int64, limit int) (found []numbered, next int64, err error) {
		if from < 0 && span != (learning.TimeRange{}) {
			if from, to, err = stretch(ctx, span, log.LastEvent, log.EventTime); err != nil {
				return nil, 0, err
			}
		}
		q := q
		q.After, q.Before, q.Limit = max(from, 0), before, limit
		if to > 0 && (before == 0 || before > to) {
			q.Before = to
		}
		events, next, err := log.PastEvents(ctx, q)
		for _, e := range events {
			m := momentOf(string(source), e)
			if len(kinds) > 0 && !slices.Contains(kinds, m.Kind) || e.Type == lesson.EventActionChecked { // the ledger tells of a check
				continue
			}
			if filter.sees(newItem(source, e.Seq, e)) {
				found = append(found, numbered{e.Seq, m})
			}
		}
		return found, next, err
	}
}

func (t *Timeline) messages(query TimelineQuery, filter *filter, span learning.TimeRange) func(context.Context, int64, int) ([]numbered, int64, error) {
	from, to := int64(-1), int64(0)
	agent, kind := query.Agent, false
	if agent == "" && !filter.captain {
		agent, kind = filter.caller.AgentID, true // it sees no others
	}
	return func(ctx context.Context, before int64, limit int) (found []numbered, next int64, err error) {
		if from < 0 && span != (learning.TimeRange{}) {
			if from, to, err = stretch(ctx, span, t.ports.Messages.LastSeq, t.ports.Messages.MessageTime); err != nil {
				return nil, 0, err
			}
		}
		if to > 0 && (before == 0 || before > to) {
			before = to
		}
		messages, next, err := t.ports.Messages.MessageLog(ctx, operational.LogQuery{Before: before, Agent: agent, Kind: kind, Limit: limit, Reach: timelineReach})
		if next <= from { // what is older lies outside of the range
			next = 0
		}
		for _, m := range messages {
			item := &Item{Event: Event{Event: eventlog.Event{Type: operational.EventMessageSent, Agent: m.From}}, mail: true, to: m.To}
			if m.Seq > from && filter.sees(item) {
				found = append(found, numbered{m.Seq, momentOfMessage(m)})
			}
		}
		return found, next, err
	}
}

func (t *Timeline) checks(query TimelineQuery, span learning.TimeRange, blocksOnly bool) func(context.Context, int64, int) ([]numbered, int64, error) {
	return func(ctx context.Context, before int64, limit int) (found []numbered, next int64, err error) {
		filter := lesson.LedgerFilter{Agent: query.Agent, Project: query.Project, Since: span.From, Until: span.To, Limit: limit}
		if blocksOnly {
			filter.Decision = rule.DecisionBlock
		}
		if before > 0 {
			filter.Cursor = strconv.FormatInt(before, 10)
		}
		page, err := t.ports.Checks.Ledger(ctx, filter)
		for _, c := range page.Checks {
			found = append(found, numbered{c.Number, momentOfCheck(c)})
		}
		if page.Next != "" && len(found) > 0 {
			next = found[len(found)-1].number
		}
		return found, next, err
	}
}

func (t *Timeline) tellings(query TimelineQuery, span learning.TimeRange, told, failed bool) func(context.Context, int64, int) ([]numbered, int64, error) {
	return func(ctx context.Context, before int64, limit int) (found []numbered, next int64, err error) {
		q := operational.TellingQuery{Before: before, Agent: query.Agent, Project: query.Project, Since: span.From, Until: span.To, Limit: limit}
		if told { // what was told before a command is in the moment of the check
			q.Moments = []operational.ToldMoment{operational.ToldAtStart, operational.ToldAtPrompt, operational.ToldAsked, operational.ToldBySearch}
		}
		if failed {
			q.Moments = append(q.Moments, operational.ToldAtFailure)
		}
		tellings, err := t.ports.Tellings.Told(ctx, q)
		for _, one := range tellings {
			found = append(found, numbered{one.Number, momentOfTelling(one)})
		}
		if len(found) == limit {
			next = found[len(found)-1].number
		}
		return found, next, err
	}
}

// entitle gives moments that name a memory by its id alone its title, if it is still there.
func (t *Timeline) entitle(ctx context.Context, moments []Moment) error {
	for kind, titles := range t.ports.Titles {
		var ids []string
		for _, m := range moments {
			if m.About == kind && m.Title == "" && m.Subject != "" {
				ids = append(ids, m.Subject)
			}
		}
		if len(ids) == 0 {
			continue
		}
		named, err := titles(ctx, ids)
		if err != nil {
			return fmt.Errorf("titles of %s: %w", kind, err)
		}
		for i := range moments {
			if m := &moments[i]; m.About == kind && m.Title == "" {
				m.Title = named[m.Subject]
			}
		}
	}
	for i := range moments {
		m := &moments[i]
		m.Title, m.Detail = check.Head(m.Title, maxMomentText), check.Head(m.Detail, maxMomentText)
	}
	return nil
}
