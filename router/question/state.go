package question

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/classify"
	"github.com/skillrouter/skillrouter/router/decision"
	"github.com/skillrouter/skillrouter/router/kind"
	"github.com/skillrouter/skillrouter/router/search"
)

// state is what the rows say to a question.
type state struct {
	items   []router.Item
	summary string
	note    string  // what was looked for
	source  string  // where it is kept
	settled bool    // it is the answer, also if there is no row
	sure    bool    // it goes before what the search finds, whatever that is
	overlap float64 // how much of the question's other words the best row has
	missing bool    // the question was of rows, and none has its other words
}

// namedInSummary is how many things a summary names; the items list the rest.
const namedInSummary = 6

// overdueAfter is how long a message that wants an acknowledgement may wait.
const overdueAfter = time.Minute

// countedMailboxes bounds for how many agents waiting messages are counted: each is a query.
const countedMailboxes = 50

// state answers a question from the rows that it asks for.
func (a *Asker) state(ctx context.Context, q *question) (state, error) {
	r := &q.reading
	if r.mine && len(r.agents) == 0 && q.agent != "" && slices.Contains([]string{router.KindTask, "agent", router.KindReminder, "lease", router.KindMessage}, r.kind) {
		r.agents = []string{q.agent}
	}
	if len(r.numbers) > 0 && (r.kind == "" || r.kind == router.KindTask) {
		return a.numbered(ctx, q)
	}
	switch {
	case q.caller.Walled():
	case r.asked == "attention" && a.sources.Decisions != nil:
		return a.attention(ctx)
	case r.asked == "next" && a.sources.Tasks != nil:
		return a.next(ctx, q)
	case r.asked == "load" && a.sources.Tasks != nil && len(r.agents) == 0 && r.when == "":
		return a.load(ctx, q)
	case r.kind == kindMemory && r.count && len(r.stems) == 0:
		return a.everything(ctx, q)
	case r.kind == router.KindMessage && a.sources.Mail != nil && r.members["waiting"] != nil:
		return a.mail(ctx, q)
	}
	if r.kind == "" {
		a.guess(q)
	}
	if r.kind == "holder" {
		return a.holders(ctx, q)
	}
	if r.kind == router.KindEpisode && r.session != "" {
		if err := a.chooseSession(ctx, q); err != nil {
			return state{}, err
		}
	}
	at := slices.IndexFunc(a.tables, func(t table) bool { return t.kind == r.kind })
	if at < 0 || q.class != "" && classOf(r.kind) != q.class || q.caller.Walled() && !a.tables[at].walled {
		return state{}, nil
	}
	return a.rows(ctx, q, &a.tables[at])
}

// warm is how recent a session's last episode is while the session may still be the present one, and so not the last.
const warm = 30 * time.Minute

// chooseSession has the question ask for the episodes of the latest session, or of the one before if that still goes on.
func (a *Asker) chooseSession(ctx context.Context, q *question) error {
	if a.sources.Episodes == nil {
		return nil
	}
	filter := episode.Filter{Project: q.project, Limit: learning.MaxLimit - 1}
	if len(q.reading.agents) == 1 {
		filter.AgentID = q.reading.agents[0]
	}
	latest, _, err := a.sources.Episodes.List(ctx, filter, "")
	if err != nil || len(latest) == 0 {
		return err
	}
	chosen := latest[0].SessionID
	if q.reading.session == "last" && q.now.Sub(latest[0].CreatedAt) < warm {
		for _, e := range latest {
			if e.SessionID != chosen {
				chosen = e.SessionID
				break
			}
		}
	}
	q.reading.members["session_id"], q.reading.state = []string{chosen}, "of session "+chosen
	return nil
}

// guess finds what a question asks for that names neither a kind nor a state.
func (a *Asker) guess(q *question) {
	r := &q.reading
	if r.mine && len(r.agents) == 0 && q.agent != "" && len(r.stems) == 0 {
		r.agents = []string{q.agent}
	}
	switch {
	case len(r.agents) > 0 && r.past:
		r.kind, r.noun = router.KindEpisode, true
	case len(r.agents) > 0:
		r.kind, r.noun = "agent", true
	case r.who && len(r.stems) > 0:
		r.kind = "holder"
	case r.who:
		r.kind = "agent"
	}
}

// rows answers from the rows of one kind.
func (a *Asker) rows(ctx context.Context, q *question, t *table) (state, error) {
	w := &wanted{reading: q.reading, project: cmp.Or(q.reading.project, q.project), now: q.now}
	w.members = maps.Clone(w.members)
	if len(w.agents) == 1 {
		w.agent = w.agents[0]
	}
	if t.kind == "agent" && len(w.agents) > 0 { // how it is is the answer, whatever is asked of it
		w.members, w.state = map[string][]string{}, ""
		return a.agentsNamed(ctx, q, w, t)
	}
	said := w.state
	if len(t.usual) > 0 && w.members[t.usual[0]] == nil && !(len(w.agents) > 0 && w.past) {
		w.members[t.usual[0]] = t.usual[1:]
		if t.kind == router.KindTask || t.kind == router.KindReminder {
			said = strings.TrimPrefix(said+" and open", " and ")
		}
	}
	found, total, err := a.listed(ctx, q, w, t)
	if err != nil {
		return state{}, err
	}
	if len(found) == 0 && len(w.state) == 0 && len(t.usual) > 0 { // "how many tasks": none is open
		delete(w.members, t.usual[0])
		said = ""
		if found, total, err = a.fitting(ctx, w, t); err != nil {
			return state{}, err
		}
	}
	s := state{settled: len(w.stems) == 0, source: router.SourceOperational, overlap: 1}
	if t.learned {
		s.source = router.SourceLearning
	}
	verdict := ""
	if len(w.stems) > 0 {
		var fit []router.Item
		if fit, s.overlap, verdict, err = a.byWords(ctx, w, t, found); err != nil {
			return state{}, err
		}
		if len(fit) == 0 {
			return state{missing: w.noun, note: fmt.Sprintf("no %s has the words %s", t.one, strings.Join(w.rest, ", "))}, nil
		}
		if verdict == verdictNo {
			other := *w
			other.members, other.state = map[string][]string{}, ""
			w, said = &other, ""
		}
		found, total, s.settled = fit, len(fit), true
	} else if w.all && w.members["status"] != nil && t.kind == router.KindTask {
		return a.allDone(ctx, q, t)
	}
	s.sure = s.settled && (w.noun || len(w.stems) == 0) && s.overlap == 1
	s.items = found
	s.note = "looked for " + t.many
	if said != "" {
		s.note += " that are " + said
	}
	s.summary = verdict + a.summaryOf(w, t, found, total, said)
	if verdict == verdictNo && t.kind == router.KindTask {
		s.summary = sentence(verdict + taskSaid(found[0]))
	}
	if len(w.agents) > 1 {
		s.summary = fmt.Sprintf("%s may be any of %s. %s", router.ShortAgent(w.agents[0]), strings.Join(w.agents, ", "), s.summary)
	}
	return s, nil
}

// What a summary begins with that answers yes or no.
const verdictYes, verdictNo = "Yes: ", "No: "

// byWords selects from the rows those that have a question's other words, and tells how much of them the best has. Where none
// has, the rows that the search does not know by these words are looked through, and those in another state, to say no.
func (a *Asker) byWords(ctx context.Context, w *wanted, t *table, found []router.Item) (fit []router.Item, overlap float64, verdict string, err error) {
	if fit, overlap = holding(w.stems, found); len(fit) == 0 { // who wrote it, for one, is not among the words of a search
		if found, _, err = a.fitting(ctx, w, t); err != nil {
			return nil, 0, "", err
		}
		fit, overlap = holding(w.stems, found)
	}
	switch {
	case len(fit) > 0:
	case len(w.other) == len(w.stems): // "which environments do we scan"
		return found, 1, "", nil
	case len(w.other) > 0:
		fit, overlap = holding(slices.DeleteFunc(slices.Clone(w.stems), func(stem string) bool { return slices.Contains(w.other, stem) }), found)
	}
	switch {
	case !w.yesNo || w.state == "":
		return fit, overlap, "", nil
	case len(fit) > 0:
		return fit, overlap, verdictYes, nil
	}
	other := *w // "is the importer done": it may be in another state
	other.members, other.state = map[string][]string{}, ""
	all, _, err := a.fitting(ctx, &other, t)
	fit, overlap = holding(w.stems, all)
	return fit, overlap, verdictNo, err
}

// listed lists the rows that a question wants. Nothing is selected from all rows of a kind: so many are counted, and few read.
// Where words select, the search finds the rows.
func (a *Asker) listed(ctx context.Context, q *question, w *wanted, t *table) ([]router.Item, int, error) {
	plain := len(w.members) == 0 && len(w.agents) == 0 && w.when == "" && w.project == "" && w.older == 0
	if plain && len(w.stems) == 0 {
		if total, counted, err := a.count(ctx, t.kind); counted {
			w.few = q.limit
			items, read, listErr := a.fitting(ctx, w, t)
			return items[:min(len(items), q.limit)], max(total, read), cmp.Or(err, listErr)
		}
	}
	if plain && len(w.stems) > 0 && slices.Contains(search.Kinds(), t.kind) {
		found, err := a.search.Search(ctx, search.Query{Query: strings.Join(w.rest, " "), Kinds: []string{t.kind}, PreferProject: q.prefer, Limit: search.MaxFound})
		var items []router.Item
		for _, hit := range found.Results {
			items = append(items, itemOf(hit))
		}
		return items, len(items), err
	}
	return a.fitting(ctx, w, t)
}

// count is how many rows of a kind the caller may find, where that is known without reading them.
func (a *Asker) count(ctx context.Context, name string) (n int, counted bool, err error) {
	at := slices.IndexFunc(a.kinds, func(m kind.Memory) bool { return m.Name == name && m.Shelf != nil })
	if at >= 0 {
		n, err = a.kinds[at].Size(ctx)
	}
	return n, at >= 0, err
}

// fitting lists the rows that a question wants, but for its other words.
func (a *Asker) fitting(ctx context.Context, w *wanted, t *table) ([]router.Item, int, error) {
	priority := w.members["priority"]
	if t.kind == router.KindTask {
		delete(w.members, "priority")
	}
	items, total, err := t.list(ctx, w)
	if err != nil {
		return nil, 0, err
	}
	read := len(items)
	items = slices.DeleteFunc(items, func(item router.Item) bool {
		for member, values := range w.members {
			if !slices.Contains(values, saidOf(item.Fields[member])) {
				return true
			}
		}
		created, _ := time.Parse(time.RFC3339Nano, saidOf(item.Fields["created_at"]))
		n := saidOf(item.Fields["priority"])
		switch {
		case len(priority) > 0 && t.kind == router.KindTask && (n == "0" || strings.HasPrefix(n, "-") != (priority[0] == "low")):
			return true
		case w.older > 0 && t.kind == router.KindTask && w.now.Sub(created) < w.older:
			return true
		case len(w.agents) > 0 && !slices.Contains(w.agents, item.AgentID):
			return true
		case t.kind == "agent" || w.when == "" || item.At.IsZero():
			return false
		case t.kind == router.KindTask && w.created:
			return !inside(w.span, created)
		case t.kind == router.KindTask:
			return !operational.TaskStatus(saidOf(item.Fields["status"])).Open() && !inside(w.span, item.At)
		}
		return !inside(w.span, item.At) && !inside(w.span, created)
	})
	for i := range items {
		delete(items[i].Fields, "working") // it only selects
	}
	if w.oldest {
		slices.SortStableFunc(items, func(x, y router.Item) int {
			number := func(item router.Item) string { return fmt.Sprintf("%20s", saidOf(item.Fields["number"])) }
			return cmp.Or(cmp.Compare(saidOf(x.Fields["created_at"]), saidOf(y.Fields["created_at"])), cmp.Compare(number(x), number(y)))
		})
	}
	if len(items) < read || total < len(items) {
		total = len(items)
	}
	return items, total, nil
}

func inside(span learning.TimeRange, t time.Time) bool {
	return !t.IsZero() && (span.From.IsZero() || !t.Before(span.From)) && (span.To.IsZero() || t.Before(span.To))
}

// leastHeld is how much of the words a row must have to be one that is meant.
const leastHeld = 0.6

// holding returns the items that have enough of the stems, those that have more first, and how much the first has.
func holding(stems []string, items []router.Item) (fit []router.Item, overlap float64) {
	held := map[string]float64{}
	for _, item := range items {
		if has := overlapOf(stems, item); has >= leastHeld {
			held[item.Kind+item.ID] = has
			fit = append(fit, item)
		}
	}
	slices.SortStableFunc(fit, func(x, y router.Item) int { return cmp.Compare(held[y.Kind+y.ID], held[x.Kind+x.ID]) })
	if len(fit) > 0 {
		overlap = held[fit[0].Kind+fit[0].ID]
	}
	return fit, overlap
}

func overlapOf(stems []string, item router.Item) float64 {
	texts := []string{item.Title, item.Text, item.AgentID, item.Project}
	for _, member := range []string{"domain", "category", "note", "blocked_reason", "error", "result", "role", "model", "location", "environment", "cve", "escalated_to", "related_commands"} {
		texts = append(texts, saidOf(item.Fields[member]))
	}
	return classify.Overlap(stems, strings.Join(texts, " "))
}

// summaryOf says in words what there is.
func (a *Asker) summaryOf(w *wanted, t *table, items []router.Item, total int, said string) string {
	s := capital(router.Amount(total, t.one, t.many))
	if total >= mostRows && total == len(items) && !t.counted {
		s = fmt.Sprintf("%d %s or more", total, t.many)
	}
	if env := w.one("environment"); env != "" {
		s += " in " + env
	}
	if len(w.agents) == 1 && t.kind != "agent" {
		s += " of " + w.agents[0]
	}
	if w.project != "" {
		s += " in project " + w.project
	}
	verb := "are"
	if total <= 1 {
		verb = "is"
	}
	if w.older > 0 && t.kind == "agent" {
		said = strings.TrimPrefix(said+" and silent for "+lasting(w.older), " and ")
	}
	if said != "" {
		s += " " + verb + " " + said
	} else if total == 0 && w.cve != "" {
		s += " names " + w.cve
	} else if total == 0 {
		s += " is there"
	}
	if w.when != "" {
		s += " (" + w.when + ")"
	}
	names := make([]string, 0, namedInSummary)
	for _, item := range items[:min(len(items), namedInSummary)] {
		names = append(names, itemSaid(item, w.now))
	}
	return sentence(s + severities(t, items) + enumerated(names, total))
}

// severities counts findings by their severity.
func severities(t *table, items []router.Item) string {
	var parts []string
	for _, severity := range operational.Severities() {
		n := 0
		for _, item := range items {
			if t.kind == router.KindFinding && saidOf(item.Fields["severity"]) == string(severity) {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, severity))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// agentsNamed answers how the agents are that a question names, and which tasks they have: the open ones, or those that have
// the question's other words.
func (a *Asker) agentsNamed(ctx context.Context, q *question, w *wanted, t *table) (state, error) {
	s := state{settled: true, sure: true, overlap: 1, source: router.SourceOperational, note: "looked for " + strings.Join(w.agents, ", ") + " and what they hold"}
	whole := *w
	whole.project = "" // who is named is meant, whatever project they are in
	items, _, err := a.fitting(ctx, &whole, t)
	var said []string
	for _, id := range w.agents {
		var open, matching []router.Item
		if a.sources.Tasks != nil && !q.caller.Walled() && err == nil {
			var all []router.Item
			all, _, err = a.sources.listTasks(ctx, &wanted{agent: id})
			matching, _ = holding(w.stems, all)
			for _, task := range all {
				if operational.TaskStatus(saidOf(task.Fields["status"])).Open() {
					open = append(open, task)
				}
			}
		}
		if at := slices.IndexFunc(items, func(item router.Item) bool { return item.ID == id }); at >= 0 {
			s.items = append(s.items, items[at])
			said = append(said, agentSaid(items[at], q.now))
		} else if len(open) > 0 {
			said = append(said, fmt.Sprintf("%s has never checked in and holds %s", id, router.Amount(len(open), "task", "tasks")))
		}
		if len(w.stems) > 0 && len(matching) > 0 {
			open = matching
			said = append(said, taskSaid(matching[0]))
		}
		s.items = append(s.items, open...)
	}
	if len(said) == 0 {
		said = []string{fmt.Sprintf("%s holds no task", strings.Join(w.agents, ", "))}
	}
	s.summary = sentence(strings.Join(said, "; "))
	if len(w.agents) > 1 && router.ShortAgent(w.agents[0]) == router.ShortAgent(w.agents[1]) {
		s.summary = fmt.Sprintf("%s may be any of %s. %s", router.ShortAgent(w.agents[0]), strings.Join(w.agents, ", "), s.summary)
	}
	return s, err
}

// enumerated says ": a, b and 3 more" of so many things; nothing for no names.
func enumerated(names []string, total int) string {
	if len(names) == 0 {
		return ""
	}
	s := ": " + strings.Join(names, ", ")
	if more := total - len(names); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// itemSaid names a row with what matters of it.
func itemSaid(item router.Item, now time.Time) string {
	field := func(member string) string { return saidOf(item.Fields[member]) }
	s := shorten(item.Title)
	switch item.Kind {
	case "agent":
		if state := field("state"); state != string(operational.AgentOnline) && state != string(operational.AgentStarting) {
			return fmt.Sprintf("%s (%s ago)", s, lasting(now.Sub(item.At)))
		}
		if doing := doingOf(item); doing != "" {
			return s + " (" + doing + ")"
		}
		return s
	case router.KindTask:
		s = "#" + field("number") + fmt.Sprintf(" %q", s)
		if item.AgentID != "" {
			s += " by " + item.AgentID
		}
		if why := cmp.Or(field("blocked_reason"), field("error")); why != "" {
			s += ": " + shorten(why)
		}
		return s
	case router.KindFinding:
		return router.FindingPhrase(operational.Finding{
			Title: item.Title, CVE: field("cve"), Location: field("location"),
			Severity: operational.Severity(field("severity")), Status: operational.FindingStatus(field("status")),
		})
	case router.KindReminder:
		if at, err := time.Parse(time.RFC3339Nano, field("scheduled_for")); err == nil {
			s += " (" + at.In(now.Location()).Format("2006-01-02 15:04") + ")"
		}
	}
	if by := item.AgentID; by != "" && item.Kind != router.KindFact && item.Kind != router.KindKnowledge && item.Kind != router.KindProcedure && item.Kind != router.KindEpisode {
		s += " by " + by
	}
	return s
}

// doingOf is what an agent says that it does, or else the task that it holds.
func doingOf(item router.Item) string {
	head, _, _ := strings.Cut(item.Text, "\n")
	return shorten(head)
}

// agentSaid says in a few words how an agent is.
func agentSaid(item router.Item, now time.Time) string {
	s := fmt.Sprintf("%s is %s", item.ID, saidOf(item.Fields["state"]))
	if state := saidOf(item.Fields["state"]); state == string(operational.AgentStale) || state == string(operational.AgentOffline) {
		s += ", last seen " + lasting(now.Sub(item.At)) + " ago"
	}
	if saidOf(item.Fields["should_stop"]) == "true" {
		s += ", told to stop"
	}
	if doing := saidOf(item.Fields["current_task"]); doing != "" {
		s += ", doing: " + shorten(doing)
	}
	switch held, _ := item.Fields["tasks"].([]int64); len(held) {
	case 0:
		return s + ", and holds no task"
	case 1:
		_, task, _ := strings.Cut("\n"+item.Text, "\n#")
		return s + ", and holds #" + task
	default:
		return fmt.Sprintf("%s, and holds %d tasks", s, len(held))
	}
}

func taskPhrase(number int64, title string) string {
	return fmt.Sprintf("#%d %q", number, shorten(title))
}

// numbered answers on the tasks whose numbers a question has.
func (a *Asker) numbered(ctx context.Context, q *question) (state, error) {
	s := state{note: "looked for tasks by number", source: router.SourceOperational, settled: true, sure: true, overlap: 1}
	if a.sources.Tasks == nil || q.caller.Walled() {
		return state{}, nil
	}
	var said []string
	for _, number := range q.reading.numbers[:min(len(q.reading.numbers), q.limit)] {
		task, err := a.sources.Tasks.Task(ctx, fmt.Sprint(number))
		if errs.CodeOf(err) == errs.NotFound {
			said = append(said, fmt.Sprintf("there is no task %d", number))
			continue
		}
		if err != nil {
			return state{}, err
		}
		items, _, err := itemsOf(router.KindTask, []operational.Task{task}, taskShape, nil)
		if err != nil {
			return state{}, err
		}
		s.items = append(s.items, items...)
		verdict := ""
		if want := q.reading.members["status"]; q.reading.yesNo && len(want) > 0 {
			verdict = "no: "
			if slices.Contains(want, string(task.Status)) || task.Status.Open() && task.AgentID != "" && slices.Contains(want, string(operational.TaskClaimed)) {
				verdict = "yes: "
			}
		}
		said = append(said, verdict+taskSaid(items[0]))
	}
	s.summary = sentence(capital(strings.Join(said, "; ")))
	return s, nil
}

// taskSaid says how a task stands.
func taskSaid(item router.Item) string {
	field := func(member string) string { return saidOf(item.Fields[member]) }
	status := operational.TaskStatus(field("status"))
	s := fmt.Sprintf("task #%s %q is %s", field("number"), shorten(item.Title), strings.ReplaceAll(string(status), "_", " "))
	if item.AgentID != "" && status.Open() {
		s += ", held by " + item.AgentID
	} else if item.AgentID != "" {
		s += " by " + item.AgentID
	}
	if status == operational.TaskInProgress || status == operational.TaskBlocked {
		s += ", " + field("progress") + " % done"
	}
	if why := field("blocked_reason"); why != "" {
		s += " (" + shorten(why) + ")"
	}
	return s
}

// allDone answers whether all tasks are done with those that are not.
func (a *Asker) allDone(ctx context.Context, q *question, t *table) (state, error) {
	open := *q
	open.reading.all, open.reading.state, open.reading.members = false, "", map[string][]string{}
	s, err := a.rows(ctx, &open, t)
	verdict := "No: "
	if len(s.items) == 0 || saidOf(s.items[0].Fields["status"]) == string(operational.TaskCompleted) {
		verdict, s.items = "Yes: ", nil
	}
	s.summary = verdict + s.summary
	return s, err
}

// next answers which task would be claimed next, and those after it.
func (a *Asker) next(ctx context.Context, q *question) (state, error) {
	project := cmp.Or(q.reading.project, q.project)
	rows, err := a.sources.Tasks.List(ctx, operational.TaskFilter{Status: []operational.TaskStatus{operational.TaskPending}, Project: project, Limit: q.limit})
	s := state{note: "looked for the waiting tasks by priority", source: router.SourceOperational, settled: true, sure: true, overlap: 1, summary: "No task is waiting."}
	if err == nil && len(rows) > 0 {
		s.summary = fmt.Sprintf("Next is %s, priority %d.", taskPhrase(rows[0].Number, rows[0].Title), rows[0].Priority)
	}
	s.items, _, err = itemsOf(router.KindTask, rows, taskShape, err)
	return s, err
}

// load answers how much there is to do, and who does it.
func (a *Asker) load(ctx context.Context, q *question) (state, error) {
	project := cmp.Or(q.reading.project, q.project)
	items, _, err := a.sources.listAgents(ctx, &wanted{project: project, now: q.now})
	if err != nil {
		return state{}, err
	}
	counts, err := a.sources.Tasks.Summary(ctx, operational.TaskFilter{Project: project})
	states, free := map[string]int{}, 0
	present := slices.DeleteFunc(items, func(item router.Item) bool {
		states[saidOf(item.Fields["state"])]++
		if item.Fields["activity"] == "idle" {
			free++
		}
		return saidOf(item.Fields["state"]) == string(operational.AgentOffline)
	})
	heldBy := func(item router.Item) int { held, _ := item.Fields["tasks"].([]int64); return len(held) }
	slices.SortStableFunc(present, func(x, y router.Item) int { return heldBy(y) - heldBy(x) })
	return state{
		items: present, settled: true, sure: true, overlap: 1, source: router.SourceOperational, note: "counted agents by state and tasks by status",
		summary: fmt.Sprintf("%s online (%d idle), %d stale, %d offline; %s in progress or claimed, %d blocked, %d waiting.",
			capital(router.Amount(states[string(operational.AgentOnline)], "agent is", "agents are")), free,
			states[string(operational.AgentStale)], states[string(operational.AgentOffline)],
			router.Amount(counts.ByStatus[operational.TaskInProgress]+counts.ByStatus[operational.TaskClaimed], "task is", "tasks are"),
			counts.ByStatus[operational.TaskBlocked], counts.ByStatus[operational.TaskPending]),
	}, err
}

// attention answers what waits for a person.
func (a *Asker) attention(ctx context.Context) (state, error) {
	waiting, err := a.sources.Decisions.Waiting(ctx)
	if err != nil {
		return state{}, err
	}
	s := state{settled: true, sure: true, overlap: 1, source: router.SourceOperational, note: "gathered what waits for a person"}
	var matters []operational.Escalation
	for _, m := range waiting.Escalations {
		matters = append(matters, m.Escalation)
	}
	approvals, _, wrong := itemsOf("approval", waiting.Approvals, approvalShape, nil)
	escalations, _, wrong2 := itemsOf("escalation", matters, escalationShape, wrong)
	tasks, _, err := itemsOf(router.KindTask, waiting.Blocked, taskShape, wrong2)
	if err != nil {
		return state{}, err
	}
	s.items = slices.Concat(approvals, escalations, tasks)
	for _, one := range waiting.Items() { // those of which no text is shown elsewhere
		if one.Kind != decision.KindApproval && one.Kind != decision.KindEscalation && one.Kind != decision.KindTask {
			s.items = append(s.items, router.Item{Kind: string(one.Kind), ID: one.ID, Title: one.Title, Project: one.Project, At: one.Since})
		}
	}
	kinds, order := map[string]int{}, []string{}
	for _, item := range s.items {
		if kinds[item.Kind]++; kinds[item.Kind] == 1 {
			order = append(order, item.Kind)
		}
	}
	words := map[string][2]string{
		"approval": {"command is blocked and may be allowed", "commands are blocked and may be allowed"}, "escalation": {"escalation is pending", "escalations are pending"},
		"incident": {"recurring failure waits", "recurring failures wait"}, "conflict": {"contradiction waits", "contradictions wait"}, "proposal": {"proposal waits", "proposals wait"},
		"agent": {"agent is stale", "agents are stale"}, "task": {"task is blocked", "tasks are blocked"},
	}
	var said []string
	for _, kind := range order {
		said = append(said, router.Amount(kinds[kind], words[kind][0], words[kind][1]))
	}
	s.summary = "Nothing waits for you."
	if len(said) > 0 {
		s.summary = sentence(capital(strings.Join(said, ", ")))
	}
	return s, nil
}

// everything counts the rows of every kind.
func (a *Asker) everything(ctx context.Context, q *question) (state, error) {
	s := state{settled: true, sure: true, overlap: 1, source: router.SourceLearning, note: "counted the memories of each kind"}
	var said []string
	for i := range a.tables {
		if t := &a.tables[i]; t.learned && (!q.caller.Walled() || t.walled) {
			_, total, err := a.listed(ctx, q, &wanted{now: q.now}, t)
			if err != nil {
				return state{}, err
			}
			said = append(said, router.Amount(total, t.one, t.many))
		}
	}
	s.summary = sentence(capital(strings.Join(said, ", ")))
	return s, nil
}

// holders answers who has, or works at, what a question names: tasks, agents and leases.
func (a *Asker) holders(ctx context.Context, q *question) (state, error) {
	s := state{source: router.SourceOperational, note: "looked for who has or does " + strings.Join(q.reading.rest, " ")}
	var all []router.Item
	for i := range a.tables {
		t := &a.tables[i]
		if t.kind != router.KindTask && t.kind != "agent" && t.kind != "lease" || q.caller.Walled() && !t.walled {
			continue
		}
		items, _, err := a.fitting(ctx, &wanted{reading: reading{members: map[string][]string{}}, project: q.project, now: q.now}, t)
		if err != nil {
			return s, err
		}
		all = append(all, items...)
	}
	edits := classify.HasAny(classify.Phrase(q.text), "edit", "edits", "editing", "file", "files", "path", "folder", "sources")
	over := func(item router.Item) int {
		if edits && item.Kind == "lease" {
			return -1
		}
		if status := operational.TaskStatus(saidOf(item.Fields["status"])); item.Kind == router.KindTask && !status.Open() {
			return 1
		}
		return 0
	}
	s.items, s.overlap = holding(q.reading.stems, all)
	slices.SortStableFunc(s.items, func(x, y router.Item) int { return over(x) - over(y) })
	if s.settled = len(s.items) > 0; s.settled {
		var said []string
		for _, item := range s.items[:min(len(s.items), namedInSummary)] {
			by := item.AgentID
			item.AgentID = ""
			switch {
			case item.Kind == "agent":
				said = append(said, agentSaid(item, q.now))
			case q.reading.about && item.Kind == router.KindTask:
				item.AgentID = by
				said = append(said, taskSaid(item))
			case by == "":
				said = append(said, "nobody holds "+itemSaid(item, q.now))
			case over(item) > 0:
				said = append(said, by+" had "+itemSaid(item, q.now))
			default:
				said = append(said, by+" holds "+itemSaid(item, q.now))
			}
		}
		s.summary = sentence(strings.Join(said, "; "))
	}
	return s, nil
}

// onlyOwn is said of a mailbox that the caller may not know of.
const onlyOwn = "Only an agent itself, or a captain, may ask what waits in its mailbox."

// mail answers how many messages wait for whom, or which wait for too long.
func (a *Asker) mail(ctx context.Context, q *question) (state, error) {
	r := &q.reading
	s := state{settled: true, sure: true, overlap: 1, source: router.SourceOperational}
	captain := q.caller.Has(principal.ScopeCaptain)
	if slices.Contains(r.members["waiting"], "overdue") {
		from := q.caller.AgentID
		if captain {
			from = ""
		} else if from == "" {
			s.summary = onlyOwn
			return s, nil
		}
		age := cmp.Or(r.older, overdueAfter)
		awaited, err := a.sources.Mail.Awaited(ctx, from, q.now.Add(-age), q.now, q.limit, countedMailboxes)
		var names []string
		for _, m := range awaited {
			if len(r.agents) > 0 && !slices.ContainsFunc(r.agents, func(id string) bool { return slices.Contains(m.Waiting, id) || m.From == id }) {
				continue
			}
			s.items = append(s.items, router.Item{
				Kind: router.KindMessage, ID: m.ID, Title: m.Signal + " from " + m.From, AgentID: m.From, At: m.CreatedAt,
				Fields: map[string]any{"seq": m.Seq, "to_agent_id": m.To, "waiting": m.Waiting, "age_ms": q.now.Sub(m.CreatedAt).Milliseconds()},
			})
			names = append(names, fmt.Sprintf("%s from %s to %s (%s)", m.Signal, m.From, strings.Join(m.Waiting[:min(len(m.Waiting), 3)], ", "), lasting(q.now.Sub(m.CreatedAt))))
		}
		s.note = "looked for messages that want an acknowledgement and have waited for " + lasting(age)
		s.summary = capital(router.Amount(len(s.items), "message is", "messages are")) + " overdue" + enumerated(names, len(names)) + "."
		return s, err
	}
	agents := slices.Clone(r.agents)
	if len(agents) == 0 && q.agent != "" && !captain {
		agents = []string{q.agent}
	}
	if len(agents) == 0 && a.sources.Agents != nil {
		all, err := a.sources.Agents.Agents(ctx, operational.AgentFilter{Limit: countedMailboxes})
		if err != nil {
			return state{}, err
		}
		for _, one := range all[:min(len(all), countedMailboxes)] {
			agents = append(agents, one.ID)
		}
	}
	asked := len(agents)
	agents = slices.DeleteFunc(agents, func(id string) bool { return q.caller.ActAs(id) != nil })
	if len(agents) == 0 && asked > 0 {
		s.summary = onlyOwn
		return s, nil
	}
	waits, err := a.sources.Mail.Waiting(ctx, agents, q.now)
	if err != nil {
		return state{}, err
	}
	s.note = "counted the messages that are not acknowledged"
	var names []string
	total := 0
	slices.SortStableFunc(agents, func(x, y string) int { return waits[y] - waits[x] })
	for _, id := range agents {
		n := waits[id]
		if total += n; n == 0 && len(r.agents) == 0 {
			continue
		}
		s.items = append(s.items, router.Item{
			Kind: "agent", ID: id, Title: id, AgentID: id, Text: capital(router.Amount(n, "message waits", "messages wait")), Fields: map[string]any{"unacknowledged": n},
		})
		names = append(names, fmt.Sprintf("%s (%d)", id, n))
	}
	s.summary = capital(router.Amount(total, "message waits", "messages wait"))
	if len(r.agents) == 1 && len(agents) == 1 {
		s.summary += " for " + agents[0] + "."
	} else {
		s.summary += enumerated(names, len(names)) + "."
	}
	return s, nil
}

// shortText is how much of a text a summary repeats, in bytes.
const shortText = 80

// shorten cuts a text to a line of a summary.
func shorten(s string) string {
	return check.Clip(strings.Join(strings.Fields(s), " "), shortText)
}

// sentence ends a text with a full stop, unless it has an end.
func sentence(s string) string {
	if strings.HasSuffix(s, "…") || s != "" && strings.IndexByte(".?!", s[len(s)-1]) >= 0 {
		return s
	}
	return s + "."
}

func capital(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// lasting says how long a duration is, to the unit that matters.
func lasting(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
