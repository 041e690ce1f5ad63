package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
)

// reader is the agent whose messages are followed.
const reader = "soak-reader"

// load writes everything at once, and notes in the model what is acknowledged.
type load struct {
	model   *model
	out     *result
	writers int // of each kind
	// mayRefuse: an error is an answer too, where the disk is made to fail.
	mayRefuse bool

	n       atomic.Int64
	resends atomic.Int64
}

// run writes until ctx ends or the router is gone. Each writer waits for its answer before it writes again.
func (l *load) run(ctx context.Context, r *router) {
	var writing sync.WaitGroup
	for writer := range l.writers {
		for _, a := range addings {
			writing.Go(func() {
				for l.add(ctx, r, a, writer) {
				}
			})
		}
		for _, s := range settings {
			writing.Go(func() { l.set(ctx, r, s, writer) })
		}
		writing.Go(func() { l.resendKnown(ctx, r, l.writers+writer) })
	}
	writing.Wait()
}

// add sends one write, and says whether to go on.
func (l *load) add(ctx context.Context, r *router, a adding, writer int) bool {
	n := int(l.n.Add(1))
	marker := fmt.Sprintf("soak %s %d %d", a.name, writer, n)
	return l.send(ctx, r, a, l.model.sent(a, marker, writer, n))
}

// send sends a row, for the first time or again.
func (l *load) send(ctx context.Context, r *router, a adding, row *row) bool {
	status, raw, err := r.call(ctx, http.MethodPost, a.path, a.body(row.marker))
	if err != nil {
		if isTimeout(err) && ctx.Err() == nil {
			l.out.fault("%s hung: %v", a.path, err)
		}
		return false // the router was killed, with or without having stored this
	}
	var answer map[string]any
	if status/100 == 2 && l.mayRefuse && json.Unmarshal(raw, &answer) == nil && answer[a.id] == "" {
		l.model.answered(row, refused, "") // a verdict of the guard, which says that it is not in the ledger
		return ctx.Err() == nil
	}
	if status/100 != 2 || json.Unmarshal(raw, &answer) != nil || answer[a.id] == nil {
		l.model.answered(row, refused, "")
		if !l.mayRefuse || status/100 != 5 {
			l.out.fault("%s answers %d %.200s", a.path, status, raw)
			return false
		}
		return ctx.Err() == nil
	}
	l.model.answered(row, acknowledged, fmt.Sprint(answer[a.id]))
	return ctx.Err() == nil
}

// set writes one key, one value after the other.
func (l *load) set(ctx context.Context, r *router, s setting, writer int) {
	key := s.key(writer)
	v := l.model.value(s, key)
	for ctx.Err() == nil {
		to := fmt.Sprint("value ", l.n.Add(1))
		if s.name == "acks" {
			if to = l.mail(ctx, r, key); to == "" {
				return
			}
		}
		l.model.set(v, to, unanswered)
		method, path, body := s.call(key, to)
		status, raw, err := r.call(ctx, method, path, body)
		switch {
		case err != nil && isTimeout(err) && ctx.Err() == nil:
			l.out.fault("%s hung: %v", path, err)
			return
		case err != nil:
			return
		case status/100 == 2:
			l.model.set(v, to, acknowledged)
		case !l.mayRefuse || status/100 != 5:
			l.out.fault("%s answers %d %.200s", path, status, raw)
			return
		default:
			return // it may have happened: another write would hide that
		}
	}
}

// mail lets an agent be known and sends it a message, which it then acknowledges.
func (l *load) mail(ctx context.Context, r *router, agent string) string {
	if _, _, err := r.call(ctx, http.MethodPost, "/heartbeat", map[string]any{"agent_id": agent}); err != nil {
		return ""
	}
	status, raw, err := r.call(ctx, http.MethodPost, "/signal", map[string]any{"from_agent_id": "captain", "to_agent_id": agent, "signal": "pause"})
	var answer struct {
		ID string `json:"message_id"`
	}
	if err != nil || status != http.StatusOK || json.Unmarshal(raw, &answer) != nil {
		return ""
	}
	return answer.ID
}

// resendKnown sends what was acknowledged again, under its key: it must be the same row.
func (l *load) resendKnown(ctx context.Context, r *router, writer int) {
	for ctx.Err() == nil {
		a := addings[rand.IntN(len(addings))]
		if !a.key {
			continue
		}
		known := l.anyKnown(a)
		if known.marker == "" { // nothing yet
			if !l.add(ctx, r, a, writer) {
				return
			}
			continue
		}
		status, raw, err := r.call(ctx, http.MethodPost, a.path, a.body(known.marker))
		if err != nil {
			return
		}
		var answer map[string]any
		switch {
		case status/100 == 5 && l.mayRefuse:
		case status/100 != 2 || json.Unmarshal(raw, &answer) != nil:
			l.out.fault("%s, sent again, answers %d %.200s", a.path, status, raw)
			return
		case fmt.Sprint(answer[a.id]) != known.id:
			l.out.fault("%s: %q was %s, and sent again it is %v", a.name, known.marker, known.id, answer[a.id])
			return
		}
		l.resends.Add(1)
	}
}

// anyKnown is some write of the kind that was acknowledged.
func (l *load) anyKnown(a adding) row {
	l.model.mu.Lock()
	defer l.model.mu.Unlock()
	for _, r := range l.model.rows[a.name] { // in a random order
		if r.fate == acknowledged {
			return *r
		}
	}
	return row{}
}

// resendUnanswered sends again, under its key, what a kill left without an answer.
func (l *load) resendUnanswered(ctx context.Context, r *router) {
	for _, a := range addings {
		var again []*row
		l.model.mu.Lock()
		for _, row := range l.model.rows[a.name] {
			if a.key && row.fate == unanswered {
				again = append(again, row)
			}
		}
		l.model.mu.Unlock()
		for _, row := range again {
			// Its place is where it is stored now: behind what its writer sent since.
			row.n = int(l.n.Add(1))
			l.send(ctx, r, a, row)
			l.resends.Add(1)
		}
	}
}
