package router

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"skillrouter"
)

// mayRead tells whether the caller may know of an agent's mailbox.
func (a *asking) mayRead(agent string) bool { return a.caller.ActAs(agent) == nil }

// waiting answers how many messages wait for whom.
func (a *asking) waiting(ctx context.Context) (found, error) {
	if a.mail == nil {
		return found{}, nil
	}
	agents := slices.Clone(a.Agents)
	if len(agents) == 0 && a.agentID != "" && !a.caller.Has(skillrouter.ScopeCaptain) {
		agents = []string{a.agentID}
	}
	if len(agents) == 0 {
		all, err := a.everyAgent(ctx)
		if err != nil {
			return found{}, err
		}
		for _, one := range all[:min(len(all), countedMailboxes)] {
			agents = append(agents, one.ID)
		}
	}
	asked := len(agents)
	agents = slices.DeleteFunc(agents, func(id string) bool { return !a.mayRead(id) })
	if len(agents) == 0 && asked > 0 {
		return found{settled: true, summary: "Only an agent itself, or a captain, may ask what waits in its mailbox."}, nil
	}
	counts, err := a.mail.Waiting(ctx, agents, a.now)
	if err != nil {
		return found{}, err
	}
	f := found{settled: true, note: "counted the messages that are not acknowledged"}
	var names []string
	total := 0
	slices.SortStableFunc(agents, func(x, y string) int { return counts[y] - counts[x] })
	for _, id := range agents {
		n := counts[id]
		total += n
		if n == 0 && len(a.Agents) == 0 {
			continue
		}
		f.items = append(f.items, Item{
			Kind: "agent", ID: id, Title: id, AgentID: id, Content: capital(Amount(n, "message waits", "messages wait")),
			Fields: map[string]any{"unacknowledged": n},
		})
		names = append(names, fmt.Sprintf("%s (%d)", id, n))
	}
	if len(a.Agents) == 1 && len(agents) == 1 {
		f.summary = fmt.Sprintf("%s for %s.", capital(Amount(total, "message waits", "messages wait")), agents[0])
	} else {
		f.summary = fmt.Sprintf("%s%s.", capital(Amount(total, "message waits", "messages wait")), enumerate(names, len(names)))
	}
	return f, nil
}

// overdue lists the messages whose acknowledgement is awaited.
func (a *asking) overdue(ctx context.Context) (found, error) {
	if a.mail == nil {
		return found{}, nil
	}
	from := a.caller.AgentID
	if a.caller.Has(skillrouter.ScopeCaptain) {
		from = ""
	} else if from == "" {
		return found{settled: true, summary: "Only an agent itself, or a captain, may ask what waits in its mailbox."}, nil
	}
	age := overdueAfter
	if a.Older > 0 {
		age = a.Older
	}
	awaited, err := a.mail.Awaited(ctx, from, a.now.Add(-age), a.now, a.limit, countedMailboxes)
	if err != nil {
		return found{}, err
	}
	f := found{settled: true, note: "looked for messages that want an acknowledgement and have waited for " + lasting(age)}
	var names []string
	for _, m := range awaited {
		if len(a.Agents) > 0 && !slices.ContainsFunc(a.Agents, func(id string) bool { return slices.Contains(m.Waiting, id) || m.From == id }) {
			continue
		}
		f.items = append(f.items, Item{
			Kind: "message", ID: m.ID, Title: m.Signal + " from " + m.From, AgentID: m.From, At: m.CreatedAt,
			Fields: map[string]any{"seq": m.Seq, "to_agent_id": m.To, "waiting": m.Waiting, "age_ms": a.now.Sub(m.CreatedAt).Milliseconds()},
		})
		names = append(names, fmt.Sprintf("%s from %s to %s (%s)", m.Signal, m.From, strings.Join(m.Waiting[:min(len(m.Waiting), 3)], ", "), lasting(a.now.Sub(m.CreatedAt))))
	}
	f.summary = fmt.Sprintf("%s overdue%s.", capital(Amount(len(f.items), "message is", "messages are")), enumerate(names, len(names)))
	return f, nil
}
