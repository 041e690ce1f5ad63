package web

import (
	"strconv"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/operational"
)

const (
	tasksPath = "/ui/tasks"
	taskPath  = "/ui/task"
)

func (s *Server) taskPages() {
	s.page(tasksPath, "tasks.html", "Tasks", s.tasks)
	s.page(taskPath, "task.html", "Task", s.task)
	s.section(operations, "Tasks", tasksPath)
	s.action(tasksPath, tasksPath, s.createTask)
	for verb, change := range map[string]func(v *visit, ref string) error{
		"reassign": func(v *visit, ref string) error {
			_, err := s.services.Tasks.Reassign(v.Context(), ref, operational.TaskAssignment{AgentID: v.value("agent_id"), Note: v.value("note")})
			return err
		},
		"release": func(v *visit, ref string) error {
			_, err := s.services.Tasks.Release(v.Context(), ref, operational.TaskNote{Note: v.value("note")})
			return err
		},
		"unblock": func(v *visit, ref string) error {
			_, err := s.services.Tasks.Unblock(v.Context(), ref, operational.TaskNote{Note: v.value("note")})
			return err
		},
		"cancel": func(v *visit, ref string) error {
			if v.value("sure") == "" {
				return errs.InvalidField("sure", "must be ticked: a task that is cancelled does not come back")
			}
			_, err := s.services.Tasks.Cancel(v.Context(), ref, operational.TaskNote{Note: v.value("note")})
			return err
		},
	} {
		s.action(taskPath+"/"+verb, taskPath, func(v *visit) (string, error) {
			ref := v.value("id")
			return link(taskPath, "id", ref, "done", verb), change(v, ref)
		})
	}
	s.notice("created", "The task waits for somebody to claim it.")
	s.notice("reassign", "The task has another holder.")
	s.notice("release", "The task waits for anybody to claim it.")
	s.notice("unblock", "The task goes on.")
	s.notice("cancel", "The task is cancelled.")
}

// taskList is what the page of the tasks shows.
type taskList struct {
	Tasks []operational.Task
	Tabs  []taskTab
	pager
}

type taskTab struct {
	Name  string
	Count int
	Path  string
	On    bool
}

func (s *Server) tasks(v *visit) (any, error) {
	ctx := v.Context()
	after, err := v.number("after", 1<<53)
	if err != nil {
		return nil, err
	}
	status := v.value("status")
	filter := operational.TaskFilter{AgentID: v.value("agent"), Project: v.value("project"), Text: v.value("text"), After: int64(after), Limit: pageRows + 1}
	whole := filter
	whole.After = 0
	summary, err := s.services.Tasks.Summary(ctx, whole)
	if err != nil {
		return nil, err
	}
	yes, no := true, false
	switch status {
	case "":
		filter.Open = &yes
	case "finished":
		filter.Open = &no
	default:
		filter.Status = []operational.TaskStatus{operational.TaskStatus(status)}
	}
	var list taskList
	if list.Tasks, err = s.services.Tasks.List(ctx, filter); err != nil {
		return nil, err
	}
	next := ""
	if len(list.Tasks) > pageRows {
		list.Tasks = list.Tasks[:pageRows]
		next = strconv.FormatInt(list.Tasks[pageRows-1].Number, 10)
	}
	list.pager = v.turns("after", next, after > 0, "From the beginning", "More")
	tab := func(name, is string, count int) {
		list.Tabs = append(list.Tabs, taskTab{
			name, count, link(tasksPath, "status", is, "agent", filter.AgentID, "project", filter.Project, "text", filter.Text), status == is,
		})
	}
	tab("Open", "", summary.Open)
	for _, one := range operational.OpenTaskStatuses() {
		tab(words(one), string(one), summary.ByStatus[one])
	}
	tab("Finished", "finished", summary.Total-summary.Open)
	for _, one := range operational.TaskStatuses() {
		if !one.Open() {
			tab(words(one), string(one), summary.ByStatus[one])
		}
	}
	return list, nil
}

func (s *Server) createTask(v *visit) (string, error) {
	priority, err := v.signed("priority")
	if err != nil {
		return "", err
	}
	task, err := s.services.Tasks.Create(v.Context(), operational.TaskDraft{
		Title: v.value("title"), Description: v.value("description"), Project: v.value("in_project"), Priority: priority,
	})
	return link(taskPath, "id", strconv.FormatInt(task.Number, 10), "done", "created"), err
}

// taskDetail is what the page of one task shows.
type taskDetail struct {
	operational.Task
	Open    bool
	Blocked bool
	Held    bool
	May     bool // whoever looks may act as its holder, or as anybody
}

func (s *Server) task(v *visit) (any, error) {
	task, err := s.services.Tasks.Task(v.Context(), v.value("id"))
	if err != nil {
		return nil, err
	}
	v.title = "Task #" + strconv.FormatInt(task.Number, 10)
	p := v.principal()
	return taskDetail{
		Task: task, Open: task.Status.Open(), Blocked: task.Status == operational.TaskBlocked, Held: task.AgentID != "",
		May: p.Has(principal.ScopeCaptain) || p.Has(principal.ScopeAgent) && (p.Is(task.AgentID) || task.AgentID == "" && p.Is(task.CreatedBy)),
	}, nil
}
