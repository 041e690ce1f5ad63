package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// once is what happens once, whatever becomes of the node that writes: a reminder comes due, a lesson is raised to those it concerns, a
// finished task becomes an episode, and a waiting one is one agent's.
type once struct {
	reminders *scheduled
	lessons   raised
	mu        sync.Mutex
	claimed   map[string]string // the agent of each task, as that was told
	claims    int
	faults    []string
}

// onceEvery is how long, at most, each of its callers waits between two calls, so that the memory does not grow with the rounds without end.
const onceEvery = 200 * time.Millisecond

// poster asks any node until ctx ends. With keyed, a call is asked again until it is answered, with a key by which it is done once. Without,
// one that was refused or got no answer has no status.
func (c *team) poster(ctx context.Context, keyed bool) poster {
	return func(path string, body map[string]any) (status int, raw []byte, ok bool) {
		<-time.After(mathrand.N(onceEvery))
		if keyed {
			body["idempotency_key"] = fmt.Sprintf("key-%x", mathrand.Uint64())
		}
		for ctx.Err() == nil {
			switch status, raw, refused, _ := c.ask(context.WithoutCancel(ctx), http.MethodPost, path, body); {
			case !refused:
				return status, raw, true
			case !keyed:
				return 0, nil, true
			}
		}
		return 0, nil, false
	}
}

// run writes until ctx ends.
func (o *once) run(ctx context.Context, t *testing.T, c *team, load *sync.WaitGroup) {
	keyed, unkeyed := c.poster(ctx, true), c.poster(ctx, false)
	load.Go(func() { o.reminders.byTime(t, keyed) })
	load.Go(func() { o.reminders.bySignal(t, keyed) })
	load.Go(func() { o.lessons.report(t, unkeyed) })
	load.Go(func() { finishTasks(unkeyed) })
	load.Go(func() { o.claim(unkeyed) })
}

// claim makes tasks, each of which three agents claim at the same time, through any nodes.
func (o *once) claim(post poster) {
	for {
		status, raw, ok := post("/api/tasks", map[string]any{"title": words(4), "project": "claims"})
		if !ok {
			return
		}
		var task struct {
			ID string `json:"id"`
		}
		if status/100 != 2 || json.Unmarshal(raw, &task) != nil {
			continue
		}
		var claims sync.WaitGroup
		for k := range 3 {
			claims.Go(func() {
				agent := fmt.Sprint("claimer-", k)
				status, raw, _ := post("/api/tasks/"+task.ID+"/claim", map[string]any{"agent_id": agent})
				o.mu.Lock()
				defer o.mu.Unlock()
				switch other := o.claimed[task.ID]; {
				case status/100 == 2 && other != "":
					o.faults = append(o.faults, fmt.Sprintf("task %s was given to %s and to %s", task.ID, other, agent))
				case status/100 == 2:
					o.claimed[task.ID] = agent
				case status != 0 && status != http.StatusConflict:
					o.faults = append(o.faults, fmt.Sprintf("the claim of %s answered %d %s", task.ID, status, raw))
				}
				o.claims++
			})
		}
		claims.Wait()
	}
}

// missed compares what is stored with what was told.
func (o *once) missed(t *testing.T, c *team, writer int) (faults []string) {
	settled(t, c, c.home, o.reminders)
	crossed(t, c.node(writer))
	faults = append(o.faults, o.reminders.faults(t, c.home)...)
	faults = append(faults, crossingFaults(t, c.home, o.lessons.ids)...)
	db := openReadOnly(t, c.home, "operational")
	defer db.Close()
	for _, task := range column[string](t, db, "SELECT task FROM reminders GROUP BY task HAVING count(*) > 1") {
		faults = append(faults, "a reminder was asked for once and is there several times: "+task)
	}
	has := map[string]string{}
	for _, row := range column[string](t, db, "SELECT id || ' ' || agent_id FROM tasks WHERE project = 'claims' AND agent_id <> ''") {
		id, agent, _ := strings.Cut(row, " ")
		has[id] = agent
	}
	for id, agent := range o.claimed {
		if has[id] != agent {
			faults = append(faults, fmt.Sprintf("task %s was given to %s and is %q's", id, agent, has[id]))
		}
	}
	t.Logf("%d reminders by time, %d by signals; %d claims of %d tasks", len(o.reminders.number), len(o.reminders.sent), o.claims, len(has))
	return faults
}
