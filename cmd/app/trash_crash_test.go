package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const trashRounds = 10

// keeper deletes something, or takes it out of use, and has it back, one call after the other. No other touches what is its own.
type keeper struct {
	name, project string
	// make stores it, and gone says whether it is deleted now; half: neither whole nor not done.
	make func(ask calls) error
	gone func(ask calls) (gone, half bool, err error)
	// remove is the call that deletes it, and back are those that have it back: each says of itself what is called.
	remove  func(ask calls) error
	back    []func(ask calls) error
	done    int
	is      bool // it is deleted, as far as it was answered
	unsaid  bool // a call was not answered, and may have been done
	stopped error
}

// calls makes a call and reads its answer.
type calls func(method, path string, body, answer any) (status int, err error)

// callsTo are those to a router.
func callsTo(ctx context.Context, p *process) calls {
	return func(method, path string, body, answer any) (int, error) {
		status, raw, err := p.call(ctx, method, path, body)
		if err == nil && status/100 == 2 && answer != nil {
			err = json.Unmarshal(raw, answer)
		}
		if err == nil && status/100 != 2 && status != http.StatusNotFound {
			err = fmt.Errorf("%s %s answers %d %s", method, path, status, raw)
		}
		return status, err
	}
}

// need is an error of a call that did not succeed.
func (ask calls) need(method, path string, body, answer any) error {
	status, err := ask(method, path, body, answer)
	if err == nil && status/100 != 2 {
		err = fmt.Errorf("%s %s answers %d", method, path, status)
	}
	return err
}

// run has it deleted and back again until the router is gone, or answers wrongly. did is called after each.
func (k *keeper) run(p *process, did func()) {
	wrong := error(nil)
	ask := calls(func(method, path string, body, answer any) (int, error) {
		status, err := callsTo(context.Background(), p)(method, path, body, answer)
		if err != nil && strings.Contains(err.Error(), " answers ") || err == nil && status/100 != 2 {
			wrong = fmt.Errorf("%s: %s %s answers %d: %w", k.name, method, path, status, err)
		}
		return status, err
	})
	for {
		call := k.remove
		if k.is {
			call = k.back[rand.IntN(len(k.back))]
		}
		k.unsaid = true
		if err := call(ask); err != nil {
			k.stopped = wrong
			return
		}
		k.unsaid, k.is, k.done = false, !k.is, k.done+1
		did()
	}
}

// look compares what is there with what was answered.
func (k *keeper) look(ask calls) (faults []string) {
	gone, half, err := k.gone(ask)
	switch {
	case err != nil:
		faults = append(faults, fmt.Sprintf("%s: %v", k.name, err))
	case half:
		faults = append(faults, fmt.Sprintf("%s is neither there nor deleted, or is found otherwise than it is", k.name))
	case gone != k.is && !k.unsaid:
		faults = append(faults, fmt.Sprintf("%s was answered to be deleted: %v, and is: %v", k.name, k.is, gone))
	}
	k.is, k.unsaid = gone, false
	return faults
}

// restores is the call that has something back by its id, and undoes the one that takes back the last change of a project.
func (k *keeper) restores(kind string, id *string) func(ask calls) error {
	return func(ask calls) error {
		return ask.need("POST", "/api/trash/restore", map[string]any{"kind": kind, "id": *id}, nil)
	}
}

func (k *keeper) undoes(kind string) func(ask calls) error {
	return func(ask calls) error {
		var mine struct {
			Changes []struct {
				Number int64 `json:"number"`
			} `json:"changes"`
		}
		if err := ask.need("GET", "/api/trash?mine=true&limit=1&kind="+kind+"&project="+k.project, nil, &mine); err != nil {
			return err
		}
		if len(mine.Changes) == 0 {
			return fmt.Errorf("%s: nothing is kept of what was just done", k.name)
		}
		return ask.need("POST", "/api/trash/undo", map[string]any{"change": mine.Changes[0].Number, "project": k.project, "confirm": true}, nil)
	}
}

// found tells whether an entry is there, and whether search finds it; half: not both or neither.
func found(ask calls, id, title string) (there, half bool, err error) {
	status, err := ask("GET", "/api/knowledge/"+id, nil, nil)
	if err != nil {
		return false, false, err
	}
	var results struct {
		Results []struct {
			ID string `json:"id"`
		} `json:"results"`
	}
	if err := ask.need("POST", "/api/knowledge/search", map[string]any{"query": title}, &results); err != nil {
		return false, false, err
	}
	hit := false
	for _, r := range results.Results {
		hit = hit || r.ID == id
	}
	there = status == http.StatusOK
	return there, there != hit, nil
}

// entryKeeper keeps an entry that was changed once.
func entryKeeper(n int) *keeper {
	k, id := &keeper{name: fmt.Sprint("entry ", n), project: fmt.Sprint("entry-", n)}, ""
	title := fmt.Sprintf("Lighthouse%d keepers%d rotate", n, n)
	k.make = func(ask calls) error {
		var stored struct {
			ID string `json:"knowledge_id"`
		}
		err := ask.need("POST", "/api/knowledge", map[string]any{"category": "gotcha", "title": title, "content": "They rotate weekly", "project": k.project}, &stored)
		if id = stored.ID; err != nil {
			return err
		}
		return ask.need("PUT", "/api/knowledge/"+id, map[string]any{"content": "They rotate daily"}, nil)
	}
	k.gone = func(ask calls) (gone, half bool, err error) {
		there, half, err := found(ask, id, title)
		return !there, half, err
	}
	k.remove = func(ask calls) error { return ask.need("DELETE", "/api/knowledge/"+id, nil, nil) }
	k.back = []func(calls) error{k.restores("knowledge", &id), k.undoes("knowledge")}
	return k
}

// mergeKeeper has one entry stand in the place of two; what is undone puts both back.
func mergeKeeper() *keeper {
	k, ids, n := &keeper{name: "merged entries", project: "merge"}, []string{"", ""}, 0
	k.make = func(ask calls) error {
		for i := range ids {
			var stored struct {
				ID string `json:"knowledge_id"`
			}
			if err := ask.need("POST", "/api/knowledge", map[string]any{"category": "gotcha", "title": fmt.Sprint("Way ", i), "content": "It is one", "project": k.project}, &stored); err != nil {
				return err
			}
			ids[i] = stored.ID
		}
		return nil
	}
	k.gone = func(ask calls) (gone, half bool, err error) {
		replaced := 0
		for _, id := range ids {
			var entry struct {
				By string `json:"superseded_by"`
			}
			if err := ask.need("GET", "/api/knowledge/"+id, nil, &entry); err != nil {
				return false, false, err
			}
			if entry.By != "" {
				replaced++
			}
		}
		return replaced == len(ids), replaced == 1, nil
	}
	k.remove = func(ask calls) error {
		n++
		return ask.need("POST", "/api/knowledge", map[string]any{"category": "gotcha", "title": fmt.Sprint("The way since ", n), "content": "It is the other", "project": k.project, "supersedes": ids}, nil)
	}
	k.back = []func(calls) error{k.undoes("knowledge")}
	return k
}

// factKeeper has a fact say something else, and then again what it said.
func factKeeper() *keeper {
	k := &keeper{name: "fact"}
	remember := func(value string) func(calls) error {
		return func(ask calls) error {
			return ask.need("PUT", "/api/facts/default/lamp", map[string]any{"value": value, "ttl": 0}, nil)
		}
	}
	k.make = remember("lit")
	k.gone = func(ask calls) (gone, half bool, err error) {
		var fact struct {
			Value string `json:"value"`
		}
		err = ask.need("GET", "/api/facts/default/lamp", nil, &fact)
		return fact.Value == "dark", fact.Value != "dark" && fact.Value != "lit", err
	}
	k.remove = remember("dark")
	k.back = []func(calls) error{k.undoes("fact")}
	return k
}

// warns tells whether the guard has something against a command.
func warns(ask calls, command string) (bool, error) {
	var verdict struct {
		Decision string `json:"decision"`
	}
	err := ask.need("POST", "/check/anti-pattern", map[string]any{"agent": "b", "proposed_action": command}, &verdict)
	return verdict.Decision != "allow", err
}

// ruleKeeper keeps a lesson that makes the guard warn of a command.
func ruleKeeper() *keeper {
	k, id := &keeper{name: "rule", project: "rules"}, ""
	k.make = func(ask calls) error {
		var reported struct {
			ID string `json:"lesson_id"`
		}
		err := ask.need("POST", "/lessons/report", map[string]any{
			"lesson_type": "anti_pattern", "domain": "docker", "category": "disk", "title": "Never prune images on ci", "context": "the cache is slow", "action_taken": "a", "outcome": "o",
			"source_agent": "a", "severity": "medium", "related_commands": []string{"docker image prune"}, "project": k.project,
		}, &reported)
		id = reported.ID
		return err
	}
	k.gone = func(ask calls) (gone, half bool, err error) {
		warned, err := warns(ask, "docker image prune")
		if err != nil {
			return false, false, err
		}
		var lesson struct {
			Status string `json:"status"`
		}
		err = ask.need("GET", "/lessons/"+id, nil, &lesson)
		gone = lesson.Status == "retired"
		return gone, gone == warned, err
	}
	k.remove = func(ask calls) error {
		return ask.need("POST", "/lessons/"+url.PathEscape(id)+"/retire", map[string]any{"reason": "it is fast now"}, nil)
	}
	k.back = []func(calls) error{k.undoes("lesson")}
	return k
}

// killTrash kills the router in the midst of what is deleted, put back and undone, and returns what was wrong after each start.
func killTrash(t *testing.T, path string, rounds int) (faults []string) {
	t.Helper()
	data := t.TempDir()
	keepers := []*keeper{entryKeeper(1), entryKeeper(2), entryKeeper(3), mergeKeeper(), factKeeper(), ruleKeeper()}
	for round := range rounds + 1 {
		p := start(t, path, data)
		for _, k := range keepers {
			ask := callsTo(t.Context(), p)
			if round == 0 {
				if err := k.make(ask); err != nil {
					t.Fatalf("%s: %v", k.name, err)
				}
			}
			faults = append(faults, k.look(ask)...)
		}
		if round == rounds || len(faults) > 0 {
			break
		}
		var load sync.WaitGroup
		var left atomic.Int64
		left.Store(int64(len(keepers) + rand.IntN(6*len(keepers)))) // so many calls, and it is killed in the midst of the next
		enough := make(chan struct{})
		for _, k := range keepers {
			load.Go(func() {
				k.run(p, func() {
					if left.Add(-1) == 0 {
						close(enough)
					}
				})
			})
		}
		select {
		case <-enough:
		case <-time.After(startTime):
		}
		p.kill()
		load.Wait()
		http.DefaultClient.CloseIdleConnections()
		for _, k := range keepers {
			if k.stopped != nil {
				faults = append(faults, k.stopped.Error())
			}
		}
		faults = append(faults, unsound(t, data)...)
	}
	all := 0
	for _, k := range keepers {
		t.Logf("%s: %d calls", k.name, k.done)
		all += k.done
	}
	if len(faults) == 0 && all < 3*rounds {
		t.Errorf("%d calls: this is no load", all)
	}
	return faults
}

// TestKillTrash kills the router while entries, facts and rules are deleted, replaced, put back and undone. Each is done whole or not at all
// at the next start, what was answered is done, and search and guard say the same as the rows.
func TestKillTrash(t *testing.T) {
	for _, fault := range killTrash(t, program(t, buildProgram), roundsOr(trashRounds)) {
		t.Error(fault)
	}
}

// TestKillTrashNoticesEarlyAcknowledgement is the negative control.
func TestKillTrashNoticesEarlyAcknowledgement(t *testing.T) {
	noticed(t, func() []string { return killTrash(t, program(t, buildAckEarly), 3) })
}
