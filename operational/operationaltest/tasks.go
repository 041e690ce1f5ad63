package operationaltest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

// Tasks runs the contract of TaskService over worlds that fresh makes.
func Tasks(t *testing.T, fresh func(t *testing.T) World[operational.TaskService]) {
	for name, run := range map[string]func(*testing.T, World[operational.TaskService]){
		"life of a task":      taskLife,
		"transitions":         taskTransitions,
		"who may do what":     taskRights,
		"input is checked":    taskInput,
		"next by priority":    taskNext,
		"one after another":   taskOrder,
		"no double claims":    taskRace,
		"filters":             taskFilters,
		"by id and number":    taskRefs,
		"captain reassigns":   taskReassign,
		"claiming is stable":  taskReclaim,
		"secrets are cut out": taskSecrets,
	} {
		t.Run(name, func(t *testing.T) { run(t, fresh(t)) })
	}
}

func ref(task operational.Task) string { return fmt.Sprint(task.Number) }

func taskLife(t *testing.T, w World[operational.TaskService]) {
	a := agent("builder-1")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	check := must[operational.Task](t)
	task := check(svc.Create(ctx, operational.TaskDraft{Title: " Write the importer ", Project: "router", Priority: 3}))
	if task.Status != operational.TaskPending || task.Number != 1 || task.Title != "Write the importer" || task.CreatedBy != "builder-1" {
		t.Fatalf("a new task is %+v", task)
	}
	task = check(svc.Claim(ctx, ref(task), operational.TaskClaim{}))
	if task.Status != operational.TaskClaimed || task.AgentID != "builder-1" || task.ClaimedAt == nil {
		t.Fatalf("a claimed task is %+v", task)
	}
	half := 50.0
	task = check(svc.Progress(ctx, ref(task), operational.TaskProgress{Progress: &half, Note: "half"}))
	if task.Status != operational.TaskInProgress || task.Progress != 50 || task.Note != "half" {
		t.Fatalf("a task in progress is %+v", task)
	}
	task = check(svc.Block(ctx, ref(task), operational.TaskBlock{Reason: "needs a key"}))
	if task.Status != operational.TaskBlocked || task.BlockedReason != "needs a key" {
		t.Fatalf("a blocked task is %+v", task)
	}
	task = check(svc.Unblock(ctx, ref(task), operational.TaskNote{}))
	if task.Status != operational.TaskInProgress || task.BlockedReason != "" {
		t.Fatalf("an unblocked task is %+v", task)
	}
	task = check(svc.Complete(ctx, ref(task), operational.TaskResult{Result: "done"}))
	if task.Status != operational.TaskCompleted || task.Result != "done" || task.Progress != 100 || task.FinishedAt == nil || task.AgentID != "builder-1" {
		t.Fatalf("a completed task is %+v", task)
	}
	if stored := check(svc.Task(ctx, task.ID)); cmp.Diff(task, stored) != "" {
		t.Fatalf("what is stored differs from what was answered:\n%s", cmp.Diff(task, stored))
	}
}

// taskTransitions tries every change in every status against the table of what is allowed.
func taskTransitions(t *testing.T, w World[operational.TaskService]) {
	a := agent("builder-1")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	check := must[operational.Task](t)
	changes := map[string]func(ref string) (operational.Task, error){
		"progress": func(r string) (operational.Task, error) {
			return svc.Progress(ctx, r, operational.TaskProgress{Note: "going on"})
		},
		"block": func(r string) (operational.Task, error) {
			return svc.Block(ctx, r, operational.TaskBlock{Reason: "stuck"})
		},
		"unblock": func(r string) (operational.Task, error) { return svc.Unblock(ctx, r, operational.TaskNote{}) },
		"complete": func(r string) (operational.Task, error) {
			return svc.Complete(ctx, r, operational.TaskResult{Result: "done"})
		},
		"fail": func(r string) (operational.Task, error) {
			return svc.Fail(ctx, r, operational.TaskFailure{Error: "no"})
		},
		"release": func(r string) (operational.Task, error) { return svc.Release(ctx, r, operational.TaskNote{}) },
		"cancel":  func(r string) (operational.Task, error) { return svc.Cancel(ctx, r, operational.TaskNote{}) },
		"restore": func(r string) (operational.Task, error) { return svc.Restore(ctx, r, operational.TaskNote{}) },
	}
	to := map[operational.TaskStatus]map[string]operational.TaskStatus{
		operational.TaskPending: {"block": operational.TaskBlocked, "cancel": operational.TaskCancelled},
		operational.TaskClaimed: {
			"progress": operational.TaskInProgress, "block": operational.TaskBlocked, "complete": operational.TaskCompleted,
			"fail": operational.TaskFailed, "release": operational.TaskPending, "cancel": operational.TaskCancelled,
		},
		operational.TaskInProgress: {
			"progress": operational.TaskInProgress, "block": operational.TaskBlocked, "complete": operational.TaskCompleted,
			"fail": operational.TaskFailed, "release": operational.TaskPending, "cancel": operational.TaskCancelled,
		},
		operational.TaskBlocked: {
			"block": operational.TaskBlocked, "unblock": operational.TaskInProgress,
			"fail": operational.TaskFailed, "release": operational.TaskPending, "cancel": operational.TaskCancelled,
		},
		operational.TaskCompleted: {}, operational.TaskFailed: {}, operational.TaskCancelled: {"restore": operational.TaskPending},
	}
	route := map[operational.TaskStatus][]string{
		operational.TaskPending: nil, operational.TaskClaimed: {"claim"}, operational.TaskInProgress: {"claim", "progress"},
		operational.TaskBlocked: {"claim", "block"}, operational.TaskCompleted: {"claim", "complete"},
		operational.TaskFailed: {"claim", "fail"}, operational.TaskCancelled: {"cancel"},
	}
	for from, allowed := range to {
		for name, change := range changes {
			task := check(svc.Create(ctx, operational.TaskDraft{Title: string(from) + " " + name}))
			for _, step := range route[from] {
				if step == "claim" {
					check(svc.Claim(ctx, ref(task), operational.TaskClaim{}))
					continue
				}
				check(changes[step](ref(task)))
			}
			got, err := change(ref(task))
			want, ok := allowed[name]
			if !ok {
				if errs.CodeOf(err) != errs.Conflict || !strings.Contains(errs.MessageOf(err), string(from)) {
					t.Errorf("%s of a %s task: error %v, want a conflict that names the state", name, from, err)
				}
				if stored := check(svc.Task(ctx, ref(task))); stored.Status != from {
					t.Errorf("the refused %s of a %s task left it %s", name, from, stored.Status)
				}
				continue
			}
			if err != nil || got.Status != want {
				t.Errorf("%s of a %s task: %s, error %v, want %s", name, from, got.Status, err, want)
			}
		}
	}
}

func taskRights(t *testing.T, w World[operational.TaskService]) {
	one, two := agent("builder-1"), agent("builder-2")
	check := must[operational.Task](t)
	as := func(p principal.Principal) operational.TaskService { return w.As(p) }
	create := func(p principal.Principal, d operational.TaskDraft) (operational.Task, error) {
		return as(p).Create(w.Context(t.Context(), p), d)
	}
	task := check(create(one, operational.TaskDraft{Title: "mine", AgentID: "builder-1"}))

	refuses(t, errs.Forbidden)(as(two).Complete(w.Context(t.Context(), two), ref(task), operational.TaskResult{}))
	refuses(t, errs.Forbidden)(as(two).Complete(w.Context(t.Context(), two), ref(task), operational.TaskResult{AgentID: "builder-1"}))
	refuses(t, errs.Conflict)(as(two).Claim(w.Context(t.Context(), two), ref(task), operational.TaskClaim{}))
	refuses(t, errs.Forbidden)(as(two).Claim(w.Context(t.Context(), two), ref(task), operational.TaskClaim{AgentID: "builder-1"}))
	refuses(t, errs.Forbidden)(as(two).Reassign(w.Context(t.Context(), two), ref(task), operational.TaskAssignment{AgentID: "builder-2"}))
	refuses(t, errs.Forbidden)(create(two, operational.TaskDraft{Title: "for another", AgentID: "builder-1"}))
	refuses(t, errs.Forbidden)(create(two, operational.TaskDraft{Title: "in another's name", CreatedBy: "builder-1"}))
	refuses(t, errs.Forbidden)(create(onlooker, operational.TaskDraft{Title: "by one who may only read"}))
	if got := check(as(onlooker).Task(w.Context(t.Context(), onlooker), ref(task))); got.AgentID != "builder-1" {
		t.Errorf("an onlooker sees the holder %q", got.AgentID)
	}
	refuses(t, errs.Forbidden)(as(onlooker).Cancel(w.Context(t.Context(), onlooker), ref(task), operational.TaskNote{}))
	if _, err := as(nobody).List(w.Context(t.Context(), nobody), operational.TaskFilter{}); err == nil {
		t.Error("a call without any right lists tasks")
	}

	// A captain moves what another holds, but not in the name of one who does not hold it.
	refuses(t, errs.Conflict)(as(captain).Complete(w.Context(t.Context(), captain), ref(task), operational.TaskResult{AgentID: "builder-2"}))
	if got := check(as(captain).Release(w.Context(t.Context(), captain), ref(task), operational.TaskNote{})); got.Status != operational.TaskPending || got.AgentID != "" {
		t.Errorf("released by the captain it is %+v", got)
	}
	// The creator may cancel what nobody holds, another agent may not.
	refuses(t, errs.Forbidden)(as(two).Cancel(w.Context(t.Context(), two), ref(task), operational.TaskNote{}))
	check(as(one).Cancel(w.Context(t.Context(), one), ref(task), operational.TaskNote{Note: "not wanted"}))
}

func taskInput(t *testing.T, w World[operational.TaskService]) {
	a := agent("builder-1")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	over := 100.5
	for name, c := range map[string]struct {
		call  func() error
		code  errs.Code
		field string
	}{
		"no title": {func() error { _, err := svc.Create(ctx, operational.TaskDraft{Title: "  "}); return err }, errs.Invalid, "title"},
		"long title": {func() error {
			_, err := svc.Create(ctx, operational.TaskDraft{Title: strings.Repeat("x", operational.MaxTaskTitle+1)})
			return err
		}, errs.TooLarge, "title"},
		"priority": {func() error { _, err := svc.Create(ctx, operational.TaskDraft{Title: "x", Priority: 11}); return err }, errs.Invalid, "priority"},
		"project": {func() error {
			_, err := svc.Create(ctx, operational.TaskDraft{Title: "x", Project: "a\nb"})
			return err
		}, errs.Invalid, "project"},
		"limit": {func() error { _, err := svc.List(ctx, operational.TaskFilter{Limit: -1}); return err }, errs.Invalid, "limit"},
		"after": {func() error { _, err := svc.List(ctx, operational.TaskFilter{After: -1}); return err }, errs.Invalid, "after"},
		"status": {func() error {
			_, err := svc.List(ctx, operational.TaskFilter{Status: []operational.TaskStatus{"lost"}})
			return err
		}, errs.Invalid, "status"},
		"progress":         {func() error { _, err := svc.Progress(ctx, "1", operational.TaskProgress{Progress: &over}); return err }, errs.Invalid, "progress"},
		"no progress":      {func() error { _, err := svc.Progress(ctx, "1", operational.TaskProgress{}); return err }, errs.Invalid, "progress"},
		"no reason":        {func() error { _, err := svc.Block(ctx, "1", operational.TaskBlock{}); return err }, errs.Invalid, "reason"},
		"no error":         {func() error { _, err := svc.Fail(ctx, "1", operational.TaskFailure{}); return err }, errs.Invalid, "error"},
		"ref":              {func() error { _, err := svc.Task(ctx, "the-big-one"); return err }, errs.Invalid, "id"},
		"unknown":          {func() error { _, err := svc.Task(ctx, "999"); return err }, errs.NotFound, ""},
		"claim of unknown": {func() error { _, err := svc.Claim(ctx, "999", operational.TaskClaim{}); return err }, errs.NotFound, ""},
		"nothing waits":    {func() error { _, err := svc.ClaimNext(ctx, operational.TaskClaim{}); return err }, errs.NotFound, ""},
	} {
		err := c.call()
		if errs.CodeOf(err) != c.code || (c.field != "" && errs.FieldOf(err) != c.field) {
			t.Errorf("%s: error %v of field %q, want code %q and field %q", name, err, errs.FieldOf(err), c.code, c.field)
		}
	}
	// A captain that is no agent must say for whom it claims.
	open := principal.Open()
	refuses(t, errs.Invalid)(w.As(open).ClaimNext(w.Context(t.Context(), open), operational.TaskClaim{}))
}

func taskNext(t *testing.T, w World[operational.TaskService]) {
	a := agent("builder-1")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	check := must[operational.Task](t)
	for _, d := range []operational.TaskDraft{
		{Title: "low", Priority: -5},
		{Title: "first"},
		{Title: "second"},
		{Title: "urgent", Priority: 9},
		{Title: "elsewhere", Priority: 10, Project: "other"},
	} {
		check(svc.Create(ctx, d))
	}
	var got []string
	got = append(got, check(svc.ClaimNext(ctx, operational.TaskClaim{Project: "other"})).Title)
	for range 4 {
		got = append(got, check(svc.ClaimNext(ctx, operational.TaskClaim{})).Title)
	}
	if diff := cmp.Diff([]string{"elsewhere", "urgent", "first", "second", "low"}, got); diff != "" {
		t.Errorf("order of claims (-want +got):\n%s", diff)
	}
	refuses(t, errs.NotFound)(svc.ClaimNext(ctx, operational.TaskClaim{}))
}

// taskOrder: a task that waits says for what and cannot be claimed, one that is finished frees it, and none waits for itself.
func taskOrder(t *testing.T, w World[operational.TaskService]) {
	a := agent("builder-1")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	check := must[operational.Task](t)
	image := check(svc.Create(ctx, operational.TaskDraft{Title: "build the image"}))
	push := check(svc.Create(ctx, operational.TaskDraft{Title: "push it", After: []string{ref(image), image.ID, "#" + ref(image)}, Priority: 5}))
	deploy := check(svc.Create(ctx, operational.TaskDraft{Title: "deploy it", After: []string{ref(push), ref(image)}, Priority: 9}))
	if diff := cmp.Diff([][]string{{image.ID}, {"#1 build the image"}, {push.ID, image.ID}, {"#2 push it", "#1 build the image"}}, [][]string{push.After, push.WaitsFor, deploy.After, deploy.WaitsFor}); diff != "" {
		t.Errorf("what they wait for (-want +got):\n%s", diff)
	}
	ready := func() (titles []string) {
		list, err := svc.Ready(ctx, operational.TaskFilter{})
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range list {
			titles = append(titles, task.Title)
		}
		return titles
	}
	if got := ready(); len(got) != 1 || got[0] != "build the image" {
		t.Errorf("ready: %q", got)
	}
	for what, refused := range map[string]func() (operational.Task, error){
		"claim of one that waits": func() (operational.Task, error) { return svc.Claim(ctx, ref(push), operational.TaskClaim{}) },
		"made and claimed": func() (operational.Task, error) {
			return svc.Create(ctx, operational.TaskDraft{Title: "x", AgentID: a.AgentID, After: []string{ref(image)}})
		},
		"a circle": func() (operational.Task, error) {
			return svc.Wait(ctx, ref(image), operational.TaskOrder{After: []string{ref(deploy)}})
		},
		"itself": func() (operational.Task, error) {
			return svc.Wait(ctx, ref(push), operational.TaskOrder{After: []string{ref(push)}})
		},
		"nothing there": func() (operational.Task, error) {
			return svc.Create(ctx, operational.TaskDraft{Title: "x", After: []string{"99"}})
		},
		"no task's name": func() (operational.Task, error) {
			return svc.Create(ctx, operational.TaskDraft{Title: "x", After: []string{"build the image"}})
		},
		"too many": func() (operational.Task, error) {
			return svc.Create(ctx, operational.TaskDraft{Title: "x", After: make([]string, operational.MaxAfter+1)})
		},
	} {
		task, err := refused()
		wanted := map[string]string{
			"claim of one that waits": "task 2 waits for #1 build the image", "made and claimed": "it waits for #1 build the image", "nothing there": `"99"`, "no task's name": `"build the image"`,
			"a circle": "build the image → #3 deploy it → build the image", "itself": "push it → push it", "too many": "50",
		}[what]
		if err == nil || !strings.Contains(errs.MessageOf(err), wanted) {
			t.Errorf("%s: %v, %v", what, task, err)
		}
	}
	if next := check(svc.ClaimNext(ctx, operational.TaskClaim{})); next.ID != image.ID {
		t.Errorf("the next is %q", next.Title)
	}
	refuses(t, errs.NotFound)(svc.ClaimNext(ctx, operational.TaskClaim{}))
	check(svc.Complete(ctx, ref(image), operational.TaskResult{}))
	if got := ready(); len(got) != 1 || got[0] != "push it" {
		t.Errorf("ready behind the first: %q", got)
	}
	if freed := check(svc.Wait(ctx, ref(deploy), operational.TaskOrder{})); len(freed.After)+len(freed.WaitsFor) > 0 {
		t.Errorf("it waits still: %v", freed)
	}
	if got := ready(); len(got) != 2 || got[0] != "deploy it" {
		t.Errorf("ready when nothing is waited for: %q", got)
	}
	check(svc.Cancel(ctx, ref(push), operational.TaskNote{}))
	refuses(t, errs.Conflict)(svc.Wait(ctx, ref(push), operational.TaskOrder{After: []string{ref(deploy)}}))
	dig := check(svc.Create(ctx, operational.TaskDraft{Title: "dig"}))
	pour := check(svc.Create(ctx, operational.TaskDraft{Title: "pour", After: []string{ref(dig)}}))
	check(svc.Cancel(ctx, ref(pour), operational.TaskNote{}))
	if freed := check(svc.Wait(ctx, ref(dig), operational.TaskOrder{After: []string{ref(pour)}})); freed.WaitsFor != nil { // what is finished waits no more
		t.Errorf("it waits for %v", freed.WaitsFor)
	}
	b := agent("builder-2")
	refuses(t, errs.Forbidden)(w.As(b).Wait(w.Context(t.Context(), b), ref(deploy), operational.TaskOrder{}))
}

// taskRace lets 64 agents claim 100 tasks at once, by name and as the next
// one: each task must be handed out exactly once.
func taskRace(t *testing.T, w World[operational.TaskService]) {
	const claimers, tasks = 64, 100
	svc, ctx := w.As(captain), w.Context(t.Context(), captain)
	for i := range tasks {
		must[operational.Task](t)(svc.Create(ctx, operational.TaskDraft{Title: fmt.Sprint("task ", i)}))
	}
	var mu sync.Mutex
	holders := map[int64][]string{}
	var wg sync.WaitGroup
	for i := range claimers {
		wg.Go(func() {
			id := fmt.Sprint("agent-", i)
			svc, ctx := svc, ctx
			for n := int64(0); ; n++ {
				var task operational.Task
				var err error
				byName := n < 10
				if byName {
					task, err = svc.Claim(ctx, fmt.Sprint(n*7%tasks+1), operational.TaskClaim{AgentID: id})
				} else {
					task, err = svc.ClaimNext(ctx, operational.TaskClaim{AgentID: id})
				}
				switch code := errs.CodeOf(err); {
				case err == nil:
					mu.Lock()
					holders[task.Number] = append(holders[task.Number], id)
					mu.Unlock()
				case byName && code == errs.Conflict:
				case !byName && code == errs.NotFound:
					return
				default:
					t.Errorf("%s: %v", id, err)
					return
				}
			}
		})
	}
	wg.Wait()
	if len(holders) != tasks {
		t.Errorf("%d of %d tasks were claimed", len(holders), tasks)
	}
	for number, ids := range holders {
		if len(ids) != 1 {
			t.Errorf("task %d was claimed by %v", number, ids)
			continue
		}
		if task := must[operational.Task](t)(svc.Task(ctx, fmt.Sprint(number))); task.AgentID != ids[0] {
			t.Errorf("task %d was given to %s and is stored as held by %s", number, ids[0], task.AgentID)
		}
	}
}

func taskFilters(t *testing.T, w World[operational.TaskService]) {
	svc, ctx := w.As(captain), w.Context(t.Context(), captain)
	check := must[operational.Task](t)
	for _, d := range []operational.TaskDraft{
		{Title: "Fix the LOGIN form", Project: "web"},
		{Title: "Äpfel zählen", Description: "100% of them_all", Project: "web", Priority: 2},
		{Title: "Write docs", AgentID: "writer"},
		{Title: "Old work", AgentID: "writer", Project: "web"},
	} {
		check(svc.Create(ctx, d))
	}
	check(svc.Complete(ctx, "4", operational.TaskResult{}))
	yes, no := true, false
	for name, c := range map[string]struct {
		filter operational.TaskFilter
		want   []int64
	}{
		"all, open first by priority": {operational.TaskFilter{}, []int64{2, 1, 3, 4}},
		"open":                        {operational.TaskFilter{Open: &yes}, []int64{2, 1, 3}},
		"finished":                    {operational.TaskFilter{Open: &no}, []int64{4}},
		"status":                      {operational.TaskFilter{Status: []operational.TaskStatus{operational.TaskClaimed, operational.TaskCompleted}}, []int64{3, 4}},
		"agent":                       {operational.TaskFilter{AgentID: "writer", Open: &yes}, []int64{3}},
		"unheld":                      {operational.TaskFilter{Unheld: true}, []int64{2, 1}},
		"project":                     {operational.TaskFilter{Project: "web", Open: &yes}, []int64{2, 1}},
		"text in another case":        {operational.TaskFilter{Text: "form login"}, []int64{1}},
		"text beyond ASCII":           {operational.TaskFilter{Text: "ÄPFEL"}, []int64{2}},
		"a percent sign is itself":    {operational.TaskFilter{Text: "0%"}, []int64{2}},
		"an underscore is itself":     {operational.TaskFilter{Text: "m_a"}, []int64{2}},
		"no such text":                {operational.TaskFilter{Text: "%" + "x"}, nil},
		"any word, more first":        {operational.TaskFilter{AnyOf: []string{"Zählen", "apfel", "docs", "write"}}, []int64{3, 2}},
		"limit":                       {operational.TaskFilter{Limit: 1}, []int64{2}},
		"after an open one":           {operational.TaskFilter{After: 2}, []int64{1, 3, 4}},
		"after one, limited":          {operational.TaskFilter{After: 1, Limit: 1}, []int64{3}},
		"after the last open one":     {operational.TaskFilter{After: 3}, []int64{4}},
		"after a finished one":        {operational.TaskFilter{After: 4}, nil},
	} {
		list, err := svc.List(ctx, c.filter)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got []int64
		for _, task := range list {
			got = append(got, task.Number)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	summary := must[operational.TaskSummary](t)(svc.Summary(ctx, operational.TaskFilter{}))
	if summary.Total != 4 || summary.Open != 3 || summary.ByStatus[operational.TaskClaimed] != 1 || len(summary.ByStatus) != len(operational.TaskStatuses()) {
		t.Errorf("the summary is %+v", summary)
	}
}

func taskRefs(t *testing.T, w World[operational.TaskService]) {
	svc, ctx := w.As(captain), w.Context(t.Context(), captain)
	check := must[operational.Task](t)
	task := check(svc.Create(ctx, operational.TaskDraft{Title: "named"}))
	for _, r := range []string{task.ID, "1", "#1"} {
		if got := check(svc.Task(ctx, r)); got.ID != task.ID {
			t.Errorf("%q names %+v", r, got)
		}
	}
}

func taskReassign(t *testing.T, w World[operational.TaskService]) {
	svc, ctx := w.As(captain), w.Context(t.Context(), captain)
	check := must[operational.Task](t)
	task := check(svc.Create(ctx, operational.TaskDraft{Title: "handed on", AgentID: "one"}))
	check(svc.Block(ctx, ref(task), operational.TaskBlock{Reason: "one is gone"}))
	got := check(svc.Reassign(ctx, ref(task), operational.TaskAssignment{AgentID: "two", Note: "take over"}))
	if got.AgentID != "two" || got.Status != operational.TaskClaimed || got.BlockedReason != "" || got.Note != "take over" {
		t.Errorf("reassigned it is %+v", got)
	}
	one := agent("one")
	refuses(t, errs.Forbidden)(w.As(one).Complete(w.Context(t.Context(), one), ref(task), operational.TaskResult{}))
	check(svc.Cancel(ctx, ref(task), operational.TaskNote{}))
	refuses(t, errs.Conflict)(svc.Reassign(ctx, ref(task), operational.TaskAssignment{AgentID: "one"}))
}

func taskReclaim(t *testing.T, w World[operational.TaskService]) {
	a := agent("builder-1")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	check := must[operational.Task](t)
	check(svc.Create(ctx, operational.TaskDraft{Title: "once"}))
	first := check(svc.Claim(ctx, "1", operational.TaskClaim{}))
	if again := check(svc.Claim(ctx, "1", operational.TaskClaim{})); cmp.Diff(first, again) != "" {
		t.Errorf("claiming again changed the task:\n%s", cmp.Diff(first, again))
	}
	refuses(t, errs.Conflict)(svc.Claim(ctx, "1", operational.TaskClaim{Project: "other"}))
}

// taskSecrets says a secret wherever a task takes text.
func taskSecrets(t *testing.T, w World[operational.TaskService]) {
	a := agent("builder-1")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	check := must[operational.Task](t)
	hidden := func(what, text string) {
		t.Helper()
		if strings.Contains(text, secret) || !strings.Contains(text, "[redacted") {
			t.Errorf("the %s is %q", what, text)
		}
	}
	task := check(svc.Create(ctx, operational.TaskDraft{Title: "Deploy, password=" + secret, Description: "export API_KEY=" + secret}))
	told := func(task operational.Task) operational.Task {
		t.Helper()
		if len(task.Redacted) == 0 {
			t.Errorf("the answer says nothing of what was cut out of %+v", task)
		}
		return task
	}
	told(task)
	hidden("title", task.Title)
	hidden("description", task.Description)
	if claimed := check(svc.Claim(ctx, ref(task), operational.TaskClaim{})); len(claimed.Redacted) > 0 {
		t.Errorf("the answer to a claim says what was cut out before: %v", claimed.Redacted)
	}
	hidden("note", told(check(svc.Progress(ctx, ref(task), operational.TaskProgress{Note: "used password=" + secret}))).Note)
	hidden("reason", told(check(svc.Block(ctx, ref(task), operational.TaskBlock{Reason: "password=" + secret + " is refused"}))).BlockedReason)
	told(check(svc.Unblock(ctx, ref(task), operational.TaskNote{Note: "password=" + secret})))
	hidden("error", told(check(svc.Fail(ctx, ref(task), operational.TaskFailure{Error: "login with password=" + secret}))).Error)
	hidden("stored title", check(svc.Task(ctx, task.ID)).Title)
}
