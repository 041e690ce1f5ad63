package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/learning/fact"
)

const (
	factRounds  = 8
	factWriters = 6
)

// writtenFact is what a writer was told of its key.
type writtenFact struct {
	version int64
	value   string // "": it is deleted
}

// factWriter writes one key, one write after the other. The others' keys are theirs.
type factWriter struct {
	key string
	at  writtenFact
	// unsaid is the write that was not answered: it happened, or it did not.
	unsaid *writtenFact
}

// versions are all that were given, by who was told.
type versions struct {
	mu     sync.Mutex
	given  map[int64]string
	faults []string
}

func (v *versions) fault(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.faults = append(v.faults, fmt.Sprintf(format, args...))
}

func (v *versions) add(version int64, key string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if of, twice := v.given[version]; twice {
		v.faults = append(v.faults, fmt.Sprintf("version %d was given to %s and to %s", version, of, key))
	}
	v.given[version] = key
}

// look compares the key with what the writer knows, and learns what became of
// the write that was not answered.
func (w *factWriter) look(ctx context.Context, p *process, all *versions) {
	status, raw, err := p.get(ctx, "/api/facts/default/"+w.key)
	if err != nil {
		all.fault("%s: %v", w.key, err)
		return
	}
	var fact fact.Fact
	if status == http.StatusOK && json.Unmarshal(raw, &fact) != nil || status != http.StatusOK && status != http.StatusNotFound {
		all.fault("%s answers %d %s", w.key, status, raw)
		return
	}
	now := writtenFact{fact.Version, string(fact.Value)}
	switch unsaid := w.unsaid; {
	case now == w.at:
	case unsaid != nil && now.value == unsaid.value && (now.value == "" || now.version > w.at.version):
		if w.at = now; now.version > 0 {
			all.add(now.version, w.key)
		}
	default:
		all.fault("%s was acknowledged as %+v and is %+v; not answered: %+v", w.key, w.at, now, unsaid)
		w.at = now
	}
	w.unsaid = nil
}

// write writes the key until the router is gone.
func (w *factWriter) write(ctx context.Context, p *process, all *versions) {
	for {
		path, value := "/api/facts/default/"+w.key, fmt.Sprintf(`"%x"`, rand.Uint64())
		method, body, want := http.MethodPut, map[string]any{"value": json.RawMessage(value), "ttl": 0}, http.StatusCreated
		switch kind := rand.IntN(4); {
		case w.at.value == "":
		case kind == 0:
			method, body, want, value = http.MethodDelete, nil, http.StatusNoContent, ""
		case kind == 1:
			method, body, want = http.MethodPatch, map[string]any{"value": json.RawMessage(value), "if_version": w.at.version}, http.StatusOK
		default:
			want = http.StatusOK
		}
		w.unsaid = &writtenFact{value: value}
		var in any
		if body != nil {
			in = body
		}
		status, raw, err := p.call(ctx, method, path, in)
		if err != nil {
			return
		}
		var stored fact.Stored
		if status != want || method != http.MethodDelete && (json.Unmarshal(raw, &stored) != nil || stored.Version <= w.at.version) {
			all.fault("%s %s after %+v answers %d %s", method, w.key, w.at, status, raw)
			return
		}
		w.unsaid, w.at = nil, writtenFact{stored.Version, value}
		if stored.Version > 0 {
			all.add(stored.Version, w.key)
		}
	}
}

// killFacts kills the router while facts are written, updated and deleted, and
// returns which versions were given and what was wrong.
func killFacts(t *testing.T, path string, rounds int) *versions {
	t.Helper()
	data, all := t.TempDir(), &versions{given: map[int64]string{}}
	writing := make([]*factWriter, factWriters)
	for i := range writing {
		writing[i] = &factWriter{key: fmt.Sprint("key-", i)}
	}
	for round := range rounds + 1 {
		p := start(t, path, data)
		for _, w := range writing {
			w.look(t.Context(), p, all)
		}
		if round == rounds {
			break
		}
		var load sync.WaitGroup
		for _, w := range writing {
			load.Go(func() { w.write(t.Context(), p, all) })
		}
		<-time.After(shortestRound + rand.N(longestRound-shortestRound))
		p.kill()
		load.Wait()
		http.DefaultClient.CloseIdleConnections()
	}
	return all
}

// TestKillFacts kills the router while facts are written. What was
// acknowledged is there under the version that was answered, and no version is
// given twice, also where the newest facts were deleted before the kill.
func TestKillFacts(t *testing.T) {
	all := killFacts(t, program(t, buildProgram), factRounds)
	for _, fault := range all.faults {
		t.Error(fault)
	}
	t.Logf("%d versions were given", len(all.given))
	if len(all.given) < 20*factRounds {
		t.Error("this is no load")
	}
}

// TestKillFactsNoticesEarlyAcknowledgement is the negative control.
func TestKillFactsNoticesEarlyAcknowledgement(t *testing.T) {
	noticed(t, func() []string { return killFacts(t, program(t, buildAckEarly), 3).faults })
}
