package router

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"skillrouter"
	"skillrouter/operational"
	"skillrouter/router/classify"
)

// taskList answers by status: blocked, in progress, finished yesterday, waiting.
func (a *asking) taskList(ctx context.Context) (found, error) {
	statuses := slices.Clone(a.TaskStatuses)
	if len(statuses) == 0 {
		statuses = operational.OpenTaskStatuses()
	}
	slices.SortFunc(statuses, byLife)
	statuses = slices.Compact(statuses)
	allDone := a.All && a.YesNo && slices.Equal(statuses, []operational.TaskStatus{operational.TaskCompleted})
	if allDone { // the answer is what is not
		statuses = operational.OpenTaskStatuses()
	}
	filter := operational.TaskFilter{Status: statuses, Project: a.project, Unheld: a.Unheld, Limit: readTasks}
	if len(a.Agents) > 0 {
		filter.AgentID = a.Agents[0]
	}
	if a.Older == 0 && !a.Created && a.Priority == 0 && a.Age == 0 && len(a.Stems) == 0 {
		filter.Limit = max(a.limit, namedInSummary) // nothing is picked out of what is read
	}
	finished := !slices.ContainsFunc(statuses, operational.TaskStatus.Open)
	if finished && !a.Created && !a.Span.From.IsZero() { // a finished task changes no more: it was changed last when it ended
		filter.Since = a.Span.From
	}
	if finished && !a.Created && !a.Span.To.IsZero() {
		filter.Until = a.Span.To
	}
	tasks, err := a.tasks.List(ctx, filter)
	if err != nil {
		return found{}, err
	}
	summary, err := a.tasks.Summary(ctx, filter)
	if err != nil {
		return found{}, err
	}
	total := summary.Total
	if a.Older > 0 || a.Created || a.Priority != 0 {
		tasks = slices.DeleteFunc(tasks, func(t operational.Task) bool {
			return (a.Older > 0 && a.now.Sub(t.CreatedAt) < a.Older) || (a.Created && !a.Span.holds(t.CreatedAt)) || t.Priority*a.Priority < 0 || (a.Priority != 0 && t.Priority == 0)
		})
		total = len(tasks)
	}
	if a.Age != 0 {
		skillrouter.SortStable(tasks, func(x, y operational.Task) int {
			return a.Age * cmp.Or(x.CreatedAt.Compare(y.CreatedAt), cmp.Compare(x.Number, y.Number))
		})
	}
	var missing string
	if len(a.Stems) > 0 {
		fitting := slices.DeleteFunc(slices.Clone(tasks), func(t operational.Task) bool {
			return classify.Overlap(a.Stems, strings.Join([]string{t.Title, t.Description, t.BlockedReason, t.Note, t.Error, t.Result}, " ")) < classify.LeastOverlap
		})
		if len(fitting) > 0 {
			tasks, total = fitting, len(fitting)
		} else if len(tasks) > 0 {
			missing = fmt.Sprintf(" None of them names %s.", strings.Join(a.Said, ", "))
		}
	}
	f := found{settled: true, note: "looked for tasks that are " + joined(statuses) + a.inProject()}
	var names []string
	for _, t := range tasks {
		f.items = append(f.items, taskItem(t))
		names = append(names, taskLine(t))
	}
	verdict := ""
	if allDone {
		verdict = "Yes: "
		if total > 0 {
			verdict = "No: "
		}
	}
	f.summary = verdict + sentence(fmt.Sprintf("%s%s %s %s%s%s", capital(Amount(total, "task", "tasks")), ofWhom(filter.AgentID)+a.inProject(), verb(total), a.statusAsked(statuses), a.when(finished || a.Created), enumerate(names, total))) + missing
	return f, nil
}

// byLife orders statuses as a task passes through them.
func byLife(x, y operational.TaskStatus) int {
	return slices.Index(operational.TaskStatuses(), x) - slices.Index(operational.TaskStatuses(), y)
}

// verb is that of an Amount: "no task is", "1 task is", "2 tasks are".
func verb(n int) string {
	if n <= 1 {
		return "is"
	}
	return "are"
}

func ofWhom(agent string) string {
	if agent == "" {
		return ""
	}
	return " of " + agent
}

func (a *asking) when(finished bool) string {
	if finished && a.Span.Phrase != "" {
		return " (" + a.Span.Phrase + ")"
	}
	return ""
}

// statusAsked says in a word what was asked for.
func (a *asking) statusAsked(statuses []operational.TaskStatus) string {
	if a.Unheld {
		return "unassigned"
	}
	word := joined(statuses)
	switch {
	case slices.Equal(statuses, operational.OpenTaskStatuses()):
		word = "open"
	case slices.Equal(statuses, []operational.TaskStatus{operational.TaskClaimed, operational.TaskInProgress, operational.TaskBlocked}):
		word = "assigned"
	}
	switch {
	case a.Priority > 0:
		return word + " and urgent"
	case a.Priority < 0:
		return word + " and of low priority"
	}
	return word
}

// numberedTasks answers on the tasks whose numbers the question gives.
func (a *asking) numberedTasks(ctx context.Context) (found, error) {
	f := found{note: "looked for tasks by number", settled: a.Firm}
	var said []string
	for _, number := range a.Numbers[:min(len(a.Numbers), a.limit)] {
		task, err := a.tasks.Task(ctx, fmt.Sprint(number))
		if skillrouter.CodeOf(err) == skillrouter.NotFound {
			if a.Firm {
				said = append(said, fmt.Sprintf("there is no task %d", number))
			}
			continue
		}
		if err != nil {
			return found{}, err
		}
		f.items, f.settled = append(f.items, taskItem(task)), true
		said = append(said, a.verdict(task))
	}
	if len(said) > 0 {
		f.summary = sentence(capital(strings.Join(said, "; ")))
	}
	if !f.settled && len(a.Stems) > 0 {
		return a.byText(ctx)
	}
	return f, nil
}

// verdict says how a task stands and, if the question asks whether it stands
// so, yes or no before it.
func (a *asking) verdict(task operational.Task) string {
	state := taskState(task)
	if len(a.TaskStatuses) == 0 || !a.YesNo {
		return state
	}
	held := task.Status.Open() && task.AgentID != "" && slices.Contains(a.TaskStatuses, operational.TaskClaimed)
	if slices.Contains(a.TaskStatuses, task.Status) || held {
		return "yes: " + state
	}
	return "no: " + state
}

// next answers which task would be claimed next, and those after it.
func (a *asking) next(ctx context.Context) (found, error) {
	tasks, err := a.tasks.List(ctx, operational.TaskFilter{Status: []operational.TaskStatus{operational.TaskPending}, Project: a.project, Limit: max(a.limit, 1)})
	if err != nil {
		return found{}, err
	}
	f := found{settled: true, note: "looked for the waiting tasks by priority" + a.inProject()}
	for _, t := range tasks {
		f.items = append(f.items, taskItem(t))
	}
	if len(tasks) == 0 {
		f.summary = "No task is waiting" + a.inProject() + "."
		return f, nil
	}
	f.summary = fmt.Sprintf("Next is %s, priority %d%s.", taskPhrase(tasks[0]), tasks[0].Priority, a.inProject())
	return f, nil
}

// load answers how much there is to do, and who does it.
func (a *asking) load(ctx context.Context) (found, error) {
	agents, err := a.everyAgent(ctx)
	if err != nil {
		return found{}, err
	}
	held, err := a.heldTasks(ctx)
	if err != nil {
		return found{}, err
	}
	counts, err := a.tasks.Summary(ctx, operational.TaskFilter{Project: a.project})
	if err != nil {
		return found{}, err
	}
	f := found{settled: true, note: "counted agents by state and tasks by status" + a.inProject()}
	states := map[operational.AgentState]int{}
	free := 0
	present := slices.DeleteFunc(slices.Clone(agents), func(one operational.Agent) bool {
		states[one.State]++
		return one.State == operational.AgentOffline
	})
	skillrouter.SortStable(present, func(x, y operational.Agent) int { return len(held[y.ID]) - len(held[x.ID]) })
	for _, one := range present {
		if idle(one, held[one.ID]) {
			free++
		}
		f.items = append(f.items, agentItem(one, held[one.ID]))
	}
	f.summary = fmt.Sprintf("%s online%s (%d idle), %d stale, %d offline; %s in progress or claimed, %d blocked, %d waiting.",
		capital(Amount(states[operational.AgentOnline], "agent is", "agents are")), a.inProject(), free,
		states[operational.AgentStale], states[operational.AgentOffline],
		Amount(counts.ByStatus[operational.TaskInProgress]+counts.ByStatus[operational.TaskClaimed], "task is", "tasks are"),
		counts.ByStatus[operational.TaskBlocked], counts.ByStatus[operational.TaskPending])
	return f, nil
}

func taskItem(t operational.Task) Item {
	fields := map[string]any{"number": t.Number, "status": t.Status, "priority": t.Priority, "progress": t.Progress}
	addTexts(fields, "note", t.Note, "blocked_reason", t.BlockedReason, "result", t.Result, "error", t.Error)
	return Item{Kind: "task", ID: t.ID, Title: t.Title, Content: t.Description, Project: t.Project, AgentID: t.AgentID, At: t.UpdatedAt, Fields: fields}
}

// addTexts adds texts to the fields of an item, each behind its name. An empty one is left out.
func addTexts(fields map[string]any, namesAndTexts ...string) {
	for pair := range slices.Chunk(namesAndTexts, 2) {
		if pair[1] != "" {
			fields[pair[0]] = pair[1]
		}
	}
}

func agentItem(a operational.Agent, held []operational.Task) Item {
	numbers := make([]int64, len(held))
	for i, t := range held {
		numbers[i] = t.Number
	}
	fields := map[string]any{"state": a.State, "tasks": numbers}
	addTexts(fields, "status", a.Status, "role", a.Role, "model", a.Model)
	if a.ShouldStop {
		fields["should_stop"] = true
		if a.StopReason != "" { // it is the agent's own to know
			fields["stop_reason"] = a.StopReason
		}
	}
	if a.CurrentTask != "" {
		fields["current_task"], fields["progress"] = a.CurrentTask, a.Progress
	}
	return Item{Kind: "agent", ID: a.ID, Title: a.ID, Content: a.CurrentTask, Project: a.Project, AgentID: a.ID, At: a.LastSeen, Fields: fields}
}

// taskPhrase names a task: #4 "Write the importer".
func taskPhrase(t operational.Task) string { return fmt.Sprintf("#%d %q", t.Number, shorten(t.Title)) }

// taskLine names a task with who has it and why it stands still.
func taskLine(t operational.Task) string {
	s := taskPhrase(t)
	if t.AgentID != "" {
		s += " by " + t.AgentID
	}
	switch {
	case t.BlockedReason != "":
		s += ": " + shorten(t.BlockedReason)
	case t.Status == operational.TaskFailed && t.Error != "":
		s += ": " + shorten(t.Error)
	}
	return s
}

// taskState says how a task stands.
func taskState(t operational.Task) string {
	s := fmt.Sprintf("task %s is %s", taskPhrase(t), strings.ReplaceAll(string(t.Status), "_", " "))
	if t.AgentID != "" && t.Status.Open() {
		s += ", held by " + t.AgentID
	} else if t.AgentID != "" {
		s += " by " + t.AgentID
	}
	if t.Status == operational.TaskInProgress || t.Status == operational.TaskBlocked {
		s += fmt.Sprintf(", %d %% done", t.Progress)
	}
	if t.BlockedReason != "" {
		s += " (" + shorten(t.BlockedReason) + ")"
	}
	return s
}

// shortText is how much of a text a summary repeats, in bytes.
const shortText = 80

// shorten cuts a text to a line of a summary.
func shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= shortText {
		return s
	}
	return strings.ToValidUTF8(s[:shortText], "") + "…"
}

// enumerate says ": a, b and 3 more" of total things, or nothing for no names.
func enumerate(names []string, total int) string {
	if len(names) == 0 {
		return ""
	}
	shown := names[:min(len(names), namedInSummary)]
	s := ": " + strings.Join(shown, ", ")
	if more := total - len(shown); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// sentence ends a text with a full stop, unless it has an end.
func sentence(s string) string {
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "!") || strings.HasSuffix(s, "…") {
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
