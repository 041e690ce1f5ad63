package app_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// remindersRounds is how often the router is killed while reminders come due.
const remindersRounds = 10

// scheduled is what the router said it keeps, and what each reminder waits for.
type scheduled struct {
	agents []string // who is reminded; none: the reader
	mu     sync.Mutex
	number []int64          // by time
	signal map[string]int64 // by a signal's name
	sent   map[string]bool  // signals that are stored
}

// TestKillReminders kills the router again and again while reminders are
// scheduled and come due, by time and by signals. In the end each has come due
// once, has one message in its agent's mailbox, and was given to the reader once.
func TestKillReminders(t *testing.T) {
	path, data := program(t, buildProgram), t.TempDir()
	kept := &scheduled{signal: map[string]int64{}, sent: map[string]bool{}}
	reader := newReader("reader")
	following, stopFollowing := context.WithCancel(t.Context())
	var followed sync.WaitGroup
	followed.Go(func() { reader.follow(following) })
	defer followed.Wait()
	defer stopFollowing()
	for range remindersRounds {
		p := start(t, path, data)
		reader.at(p.url)
		var load sync.WaitGroup
		for range 4 {
			load.Go(func() { kept.byTime(t, p.poster(t)) })
		}
		for range 2 {
			load.Go(func() { kept.bySignal(t, p.poster(t)) })
		}
		<-time.After(shortestRound + rand.N(longestRound-shortestRound))
		p.kill()
		load.Wait()
		http.DefaultClient.CloseIdleConnections()
	}
	p := start(t, path, data)
	reader.at(p.url)
	settled(t, p.stderr, data, kept)
	if status, raw, err := p.post(t.Context(), "/signal", map[string]any{"from_agent_id": "captain", "to_agent_id": "reader", "signal": "last"}); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s %v", status, raw, err)
	}
	if !reader.waitFor(t.Context(), "last", 20*time.Second) {
		t.Error("the reader did not get the last message")
	}
	for _, fault := range append(kept.faults(t, data), reader.compare(messagesIn(t, data), &acknowledged{signals: map[string]int64{}})...) {
		t.Error(fault)
	}
	if len(kept.number) < 3*remindersRounds || len(kept.sent) < remindersRounds { // on a busy machine it is little
		t.Errorf("only %d reminders and %d signals: this is no load", len(kept.number), len(kept.sent))
	}
	t.Logf("%d reminders by time, %d by signals", len(kept.number), len(kept.sent))
	p.kill()
	// The negative control: had the state not been stored together with the message, a
	// kill between the two would leave this. The check must notice.
	undo(t, data, "operational", "UPDATE reminders SET status = 'pending', next_at = scheduled_for, fired = 0 WHERE number % 7 = 0 AND trigger_type = 'time'")
	p = start(t, path, data)
	settled(t, p.stderr, data, kept)
	faults := kept.faults(t, data)
	if len(faults) == 0 {
		t.Error("reminders that are delivered twice pass the check")
	} else {
		t.Logf("noticed: %q", faults[:min(len(faults), 2)])
	}
}

// poster sends a call to a router, or to one of several. No status: it is not known what became of it. Not ok: there is nobody to ask any more.
type poster func(path string, body map[string]any) (status int, raw []byte, ok bool)

func (p *process) poster(t *testing.T) poster {
	return func(path string, body map[string]any) (int, []byte, bool) {
		status, raw, err := p.post(t.Context(), path, body)
		return status, raw, err == nil
	}
}

// byTime schedules reminders that come due within the round or after it, until the router is gone.
func (k *scheduled) byTime(t *testing.T, post poster) {
	for {
		number, ok := k.schedule(t, post, fmt.Sprintf("time:+0.%03ds", rand.IntN(600)))
		if !ok {
			return
		}
		k.mu.Lock()
		k.number = append(k.number, number)
		k.mu.Unlock()
	}
}

// bySignal schedules reminders that wait for a signal, and then sends it.
func (k *scheduled) bySignal(t *testing.T, post poster) {
	for {
		name := fmt.Sprintf("crash-%x", rand.Uint64())
		number, ok := k.schedule(t, post, "event:"+name)
		if !ok {
			return
		}
		k.mu.Lock()
		k.signal[name] = number
		k.mu.Unlock()
		status, _, ok := post("/signal", map[string]any{"from_agent_id": "captain", "to_agent_id": "somebody", "signal": name})
		if !ok {
			return
		}
		if status == http.StatusOK {
			k.mu.Lock()
			k.sent[name] = true
			k.mu.Unlock()
		}
	}
}

func (k *scheduled) schedule(t *testing.T, post poster, trigger string) (number int64, ok bool) {
	agent := "reader"
	if len(k.agents) > 0 {
		agent = k.agents[rand.IntN(len(k.agents))]
	}
	status, raw, ok := post("/api/reminders", map[string]any{"task": words(4), "trigger": trigger, "agent_id": agent})
	if !ok {
		return 0, false // it was killed
	}
	var answer struct {
		ID int64 `json:"id"`
	}
	if status != http.StatusCreated || json.Unmarshal(raw, &answer) != nil || answer.ID == 0 {
		t.Errorf("%d %s", status, raw)
		return 0, false
	}
	return answer.ID, true
}

// settled waits until everything that should be due is.
func settled(t *testing.T, said fmt.Stringer, data string, kept *scheduled) {
	t.Helper()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	db := openReadOnly(t, data, "operational")
	defer db.Close()
	for {
		waits := len(column[int64](t, db, "SELECT number FROM reminders WHERE status = 'pending' AND trigger_type = 'time'"))
		due := map[int64]bool{}
		for _, number := range column[int64](t, db, "SELECT number FROM reminders WHERE status = 'due' AND trigger_type = 'event'") {
			due[number] = true
		}
		for name := range kept.sent {
			if !due[kept.signal[name]] {
				waits++
			}
		}
		if waits == 0 {
			return
		}
		select {
		case <-look.C:
		case <-limit.C:
			t.Fatalf("%d reminders do not come due\n%s", waits, said)
		}
	}
}

// faults compares the reminders with the mailbox and with what was acknowledged.
func (k *scheduled) faults(t *testing.T, data string) (faults []string) {
	db := openReadOnly(t, data, "operational")
	defer db.Close()
	messages := map[string]int{}
	for _, thread := range column[string](t, db, "SELECT thread_id FROM messages WHERE signal = 'reminder'") {
		messages[thread]++
	}
	there := map[int64]bool{}
	for _, number := range column[int64](t, db, "SELECT number FROM reminders") {
		there[number] = true
	}
	for _, number := range k.number {
		if !there[number] {
			faults = append(faults, fmt.Sprintf("the acknowledged reminder %d is gone", number))
		}
	}
	for _, number := range column[int64](t, db, "SELECT number FROM reminders WHERE status = 'due'") {
		if n := messages[fmt.Sprint("reminder:", number)]; n != 1 {
			faults = append(faults, fmt.Sprintf("reminder %d is due and has %d messages", number, n))
		}
	}
	for _, number := range column[int64](t, db, "SELECT number FROM reminders WHERE fired <> 1 AND status = 'due'") {
		faults = append(faults, fmt.Sprintf("reminder %d did not come due once", number))
	}
	for _, id := range column[string](t, db, "SELECT r.message_id FROM reminders r LEFT JOIN messages m ON m.id = r.message_id WHERE r.status = 'due' AND m.id IS NULL") {
		faults = append(faults, "the message of a reminder is not in the mailbox: "+id)
	}
	return faults
}

// undo changes what a database holds, as a fault would have left it.
func undo(t *testing.T, data, name, change string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(data, name+".db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), change); err != nil {
		t.Fatal(err)
	}
}
