package app_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/learning/procedure"
)

const (
	runRounds = 10 // how often the router is killed while procedures are run
	runAgents = 6
	runSteps  = 12
	longPath  = "/api/procedures/default/long"
)

// handing is one handing out of a step.
type handing struct {
	run            string
	index, attempt int
}

// reported is what an agent said of a step.
type reported struct {
	attempt int
	status  procedure.StepStatus
	result  string
}

// witness is what the agents saw: answers, and nothing that the router was killed over.
type witness struct {
	mu     sync.Mutex
	begun  map[string]bool
	handed map[handing]int
	acked  map[string]map[int]reported
	ended  map[string]procedure.RunStatus
	faults []string
}

func newWitness() *witness {
	return &witness{begun: map[string]bool{}, handed: map[handing]int{}, acked: map[string]map[int]reported{}, ended: map[string]procedure.RunStatus{}}
}

func (w *witness) fault(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faults = append(w.faults, fmt.Sprintf(format, args...))
}

// got notes an answer that hands out a step, or ends the run.
func (w *witness) got(run *procedure.Run) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun[run.ID] = true
	switch {
	case run.Status != procedure.RunRunning:
		w.ended[run.ID] = run.Status
	case run.Next != nil && run.Next.Status == procedure.StepHandedOut:
		w.handed[handing{run.ID, run.Next.Index, run.Next.Attempt}]++
	}
}

func (w *witness) ack(run string, index int, said reported) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.acked[run] == nil {
		w.acked[run] = map[int]reported{}
	}
	w.acked[run][index] = said
}

// runner is an agent that runs procedures and outlives the router. It keeps
// one run at a time, and forgets now and then how far it was.
type runner struct {
	name string
	seen *witness
	run  *procedure.Run // nil: none, or it does not know
	// unsaid is the report that was sent and not answered.
	unsaid *reported
	// lost: it does not know whether it has a run, or what it was handed.
	lost bool
}

// work runs procedures until the router is gone.
func (a *runner) work(ctx context.Context, p *process) {
	for a.step(ctx, p) {
	}
	a.lost = a.lost || a.unsaid == nil || rand.IntN(2) == 0
	if a.lost {
		a.run, a.unsaid = nil, nil
	}
}

// step does the next thing; false: the router was killed over it, or a fault ends the agent.
func (a *runner) step(ctx context.Context, p *process) bool {
	switch {
	case a.lost:
		return a.find(ctx, p)
	case a.run == nil:
		return a.call(ctx, p, longPath+"/runs", map[string]any{"agent_id": a.name}, http.StatusCreated)
	case a.unsaid == nil:
		next := a.run.Next
		a.unsaid = &reported{attempt: next.Attempt, status: procedure.StepSucceeded, result: fmt.Sprintf(`"%s %d %x"`, a.name, next.Index, rand.Uint64())}
		if next.Index%4 == 3 && rand.IntN(12) == 0 {
			a.unsaid.status = procedure.StepFailed // of the steps 4, 8 and 12 only the eighth ends the run
		}
	}
	id, index, said := a.run.ID, a.run.Next.Index, *a.unsaid
	ok := a.call(ctx, p, fmt.Sprintf("/api/runs/%s/steps/%d", id, index), map[string]any{
		"attempt": said.attempt, "status": said.status, "result": json.RawMessage(said.result),
	}, http.StatusOK)
	if ok {
		a.seen.ack(id, index, said)
		a.unsaid = nil
	}
	return ok
}

// call changes the run, and notes what it is handed then.
func (a *runner) call(ctx context.Context, p *process, path string, body any, want int) bool {
	status, raw, err := p.post(ctx, path, body)
	if err != nil {
		return false
	}
	var run procedure.Run
	if status != want || json.Unmarshal(raw, &run) != nil || run.ID == "" {
		a.seen.fault("%s answers %d %s", path, status, raw)
		return false
	}
	a.seen.got(&run)
	if a.run = &run; run.Status != procedure.RunRunning {
		a.run = nil
	}
	return true
}

// find looks which run the agent has. What was handed out to it there it does
// not know to have done, and asks for it again.
func (a *runner) find(ctx context.Context, p *process) bool {
	status, raw, err := p.get(ctx, "/api/runs?status=running&agent_id="+a.name)
	if err != nil {
		return false
	}
	var list struct {
		Runs []procedure.Run `json:"runs"`
	}
	if status != http.StatusOK || json.Unmarshal(raw, &list) != nil || len(list.Runs) > 1 {
		a.seen.fault("%s has one run at a time, and now %d: %d %.200s", a.name, len(list.Runs), status, raw)
		return false
	}
	if len(list.Runs) == 0 {
		a.lost = false
		return true
	}
	before := list.Runs[0].Next
	if status, raw, err = p.post(ctx, "/api/runs/"+list.Runs[0].ID+"/next", nil); err != nil {
		return false
	} else if status != http.StatusConflict {
		a.seen.fault("a step that was handed out is handed out once more without being asked for again: %d %s", status, raw)
		return false
	}
	if !a.call(ctx, p, "/api/runs/"+list.Runs[0].ID+"/next", map[string]any{"again": true}, http.StatusOK) {
		return false
	}
	if next := a.run.Next; before == nil || next.Index != before.Index || next.Attempt != before.Attempt+1 {
		a.seen.fault("step %+v was asked for again, and answered with %+v", before, next)
	}
	a.lost = false
	return true
}

// TestKillRuns kills the router again and again while agents run procedures.
func TestKillRuns(t *testing.T) {
	path, data, seen := program(t, buildProgram), t.TempDir(), newWitness()
	saveLong(t, path, data)
	p := killRuns(t, path, data, seen, runRounds)
	said := statistics(t, p)
	for _, fault := range append(seen.faults, seen.compare(t, data, said)...) {
		t.Error(fault)
	}
	reports, again := 0, 0
	for _, of := range seen.acked {
		reports += len(of)
	}
	for h := range seen.handed {
		if h.attempt > 1 {
			again++
		}
	}
	t.Logf("%d runs, %d of them ended; %d reports acknowledged, %d steps handed out again", len(seen.begun), len(seen.ended), reports, again)
	if reports < 20*runRounds || again < runRounds/2 || len(seen.ended) < runRounds {
		t.Error("this is no load")
	}
	p.kill()
	// The negative controls: what a fault would have left, each of which the check must notice.
	for _, lie := range []struct{ name, change, want string }{
		{"a report is lost", `UPDATE run_steps SET result = NULL WHERE (run, idx) = (SELECT run, idx FROM run_steps WHERE status = 'succeeded' ORDER BY run, idx LIMIT 1)`, "was reported as"},
		{"a run is lost", `DELETE FROM runs WHERE num = (SELECT min(num) FROM runs)`, "is gone"},
		{"a step is handed out twice", `INSERT INTO events (type, subject, agent_id, project, at, data) SELECT type, subject, agent_id, project, at, data FROM events WHERE type = 'run.step' ORDER BY seq DESC LIMIT 1`, "handed out as"},
		{"a step is skipped", `UPDATE run_steps SET status = 'pending', ended_at = NULL WHERE idx = 0 AND run = (SELECT max(run) FROM run_steps WHERE idx = 1 AND status = 'succeeded')`, "was skipped"},
		{"a run is not counted", `UPDATE runs SET status = CASE status WHEN 'failed' THEN 'succeeded' ELSE 'failed' END, ended_at = started_at WHERE num = (SELECT min(num) FROM runs WHERE status IN ('failed', 'succeeded'))`, "the statistics of version 1"},
		{"a run's steps are lost", `DELETE FROM run_steps WHERE run = (SELECT min(num) FROM runs)`, "has 0 steps"},
	} {
		lied := t.TempDir()
		if err := copyFiles(lied, data); err != nil {
			t.Fatal(err)
		}
		undo(t, lied, "learning", lie.change)
		if noticed := strings.Join(seen.compare(t, lied, said), "\n"); !strings.Contains(noticed, lie.want) {
			t.Errorf("%s, and the check says only %q", lie.name, noticed)
		}
	}
	said.StepStats[5].Succeeded++
	if noticed := seen.compare(t, data, said); len(noticed) != 1 || !strings.Contains(noticed[0], "step-6") {
		t.Errorf("a step is counted twice, and the check says %q", noticed)
	}
}

// TestKillRunsNoticesEarlyAcknowledgement is the other negative control.
func TestKillRunsNoticesEarlyAcknowledgement(t *testing.T) {
	noticed(t, func() []string {
		data, seen := t.TempDir(), newWitness()
		saveLong(t, program(t, buildProgram), data)
		p := killRuns(t, program(t, buildAckEarly), data, seen, 3)
		return append(seen.faults, seen.compare(t, data, statistics(t, p))...)
	})
}

// saveLong saves the procedure that is run: of its steps that can fail, the eighth ends the run.
func saveLong(t *testing.T, path, data string) {
	t.Helper()
	steps := make([]procedure.Step, runSteps)
	for i := range steps {
		steps[i] = procedure.Step{Action: fmt.Sprint("Do number ", i), OnFailure: procedure.OnFailureContinue}
	}
	steps[7].OnFailure = ""
	p := start(t, path, data)
	if status, raw, err := p.call(t.Context(), http.MethodPut, longPath, map[string]any{"steps": steps}); err != nil || status != http.StatusCreated {
		t.Fatalf("%d %s %v", status, raw, err)
	}
	p.kill()
}

func statistics(t *testing.T, p *process) (said procedure.Procedure) {
	t.Helper()
	if status, raw, err := p.get(t.Context(), longPath); err != nil || status != http.StatusOK || json.Unmarshal(raw, &said) != nil {
		t.Fatalf("%d %s %v", status, raw, err)
	}
	return said
}

// killRuns has agents run a procedure while the router is killed, and returns one that runs afterwards.
func killRuns(t *testing.T, path, data string, seen *witness, rounds int) *process {
	t.Helper()
	agents := make([]*runner, runAgents)
	for i := range agents {
		agents[i] = &runner{name: fmt.Sprint("runner-", i), seen: seen}
	}
	for range rounds {
		p := start(t, path, data)
		var load sync.WaitGroup
		for _, a := range agents {
			load.Go(func() { a.work(t.Context(), p) })
		}
		<-time.After(shortestRound + rand.N(longestRound-shortestRound))
		p.kill()
		load.Wait()
		http.DefaultClient.CloseIdleConnections()
	}
	return start(t, path, data)
}

// compare holds the runs, their events and the statistics to what the agents saw.
func (w *witness) compare(t *testing.T, data string, said procedure.Procedure) (faults []string) {
	t.Helper()
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	db := openReadOnly(t, data, "learning")
	defer db.Close()
	if verdict := column[string](t, db, "PRAGMA integrity_check"); len(verdict) != 1 || verdict[0] != "ok" {
		say("integrity_check says %q", verdict)
	}
	runs := runsIn(t, db)
	for id, run := range runs {
		if len(run.steps) != runSteps {
			say("run %s has %d steps", id, len(run.steps))
			delete(runs, id)
		}
	}
	for h, times := range w.handed {
		if times > 1 {
			say("%+v was handed out %d times and did not say so", h, times)
		}
		if run := runs[h.run]; run != nil && run.steps[h.index].attempt < h.attempt {
			say("%+v was handed out and is forgotten", h)
		}
	}
	for id := range w.begun {
		run := runs[id]
		if run == nil {
			say("the acknowledged run %s is gone", id)
			continue
		}
		if ended, ok := w.ended[id]; ok && run.status != ended {
			say("run %s ended as %s and is %s", id, ended, run.status)
		}
		for index, said := range w.acked[id] {
			if step := run.steps[index]; step.status != said.status || step.result != said.result || step.attempt != said.attempt {
				say("step %d of run %s was reported as %+v and is %+v", index, id, said, step)
			}
		}
	}
	var counted struct {
		runs, succeeded int64
		steps           [runSteps]procedure.StepStats
	}
	for id, run := range runs {
		var handed []handing
		for i, step := range run.steps {
			if i > 0 && step.status != procedure.StepPending && run.steps[i-1].status != procedure.StepSucceeded && run.steps[i-1].status != procedure.StepFailed {
				say("run %s is at step %d (%s), and the one before was skipped: it is %s", id, i, step.status, run.steps[i-1].status)
			}
			for attempt := range step.attempt {
				handed = append(handed, handing{id, i, attempt + 1})
			}
			if run.status == procedure.RunRunning {
				continue
			}
			of := &counted.steps[i]
			of.Unknown += int64(max(step.attempt-1, 0))
			switch step.status {
			case procedure.StepSucceeded:
				of.Succeeded++
			case procedure.StepFailed:
				of.Failed++
			}
		}
		if fmt.Sprint(handed) != fmt.Sprint(run.told) {
			say("the steps of run %s say that they were handed out as %v, the events %v", id, handed, run.told)
		}
		if run.starts != 1 || run.ends > 1 || (run.ends == 1) != (run.status != procedure.RunRunning) {
			say("run %s is %s and has %d starts and %d ends", id, run.status, run.starts, run.ends)
		}
		switch run.status {
		case procedure.RunSucceeded:
			counted.succeeded++
			counted.runs++
		case procedure.RunFailed:
			counted.runs++
		}
	}
	if said.Version != 1 || said.Runs != counted.runs || said.Succeeded != counted.succeeded {
		say("the statistics of version %d say %d of %d runs, and there are %d of %d", said.Version, said.Succeeded, said.Runs, counted.succeeded, counted.runs)
	}
	for i, of := range said.StepStats {
		if want := counted.steps[i]; of.Succeeded != want.Succeeded || of.Failed != want.Failed || of.Unknown != want.Unknown || of.Skipped != 0 {
			say("the statistics of %s say %+v, and the runs %+v", of.Name, of, want)
		}
	}
	return faults
}

// runIn is a run as it is stored, and as the events tell of it.
type runIn struct {
	status       procedure.RunStatus
	steps        []reported
	told         []handing
	starts, ends int
}

func runsIn(t *testing.T, db *sql.DB) map[string]*runIn {
	t.Helper()
	runs := map[string]*runIn{}
	each := func(query string, visit func(scan func(...any) error) error) {
		t.Helper()
		rows, err := db.QueryContext(t.Context(), query)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			if err := visit(rows.Scan); err != nil {
				t.Fatal(err)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	each("SELECT id, status FROM runs", func(scan func(...any) error) error {
		var id string
		var run runIn
		err := scan(&id, &run.status)
		runs[id] = &run
		return err
	})
	each("SELECT r.id, s.status, s.attempt, coalesce(s.result, '') FROM run_steps s JOIN runs r ON r.num = s.run ORDER BY r.num, s.idx", func(scan func(...any) error) error {
		var id string
		var step reported
		err := scan(&id, &step.status, &step.attempt, &step.result)
		runs[id].steps = append(runs[id].steps, step)
		return err
	})
	each("SELECT type, subject, data FROM events WHERE type LIKE 'run.%' ORDER BY seq", func(scan func(...any) error) error {
		var kind, id, text string
		if err := scan(&kind, &id, &text); err != nil {
			return err
		}
		run := runs[id]
		if run == nil {
			return nil // a run that is gone is noticed by who began it
		}
		switch kind {
		case procedure.EventRunStarted:
			run.starts++
		case procedure.EventRunEnded:
			run.ends++
		case procedure.EventRunStep:
			var event procedure.RunEvent
			if err := json.Unmarshal([]byte(text), &event); err != nil || event.Index == nil {
				return fmt.Errorf("an event of run %s: %s, %w", id, text, err)
			}
			run.told = append(run.told, handing{id, *event.Index, event.Attempt})
		}
		return nil
	})
	return runs
}
