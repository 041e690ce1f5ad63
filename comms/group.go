package comms

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

// Bounds of messages to groups.
const (
	// EachTTL is how long a message for each member of a group waits for those that come,
	// if its sender names no time.
	EachTTL = 24 * time.Hour
	// maxTaken is how many messages to its groups a member takes at once.
	maxTaken = 100
)

// groupsOf are the names besides its own under which an agent is reached: its kind, its
// project and its role.
func groupsOf(a operational.Agent) []string {
	var names []string
	for _, name := range []string{principal.KindOf(a.ID), a.Project, a.Role} {
		if name != a.ID && check.AgentID("group", name) == nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// lives tells whether an agent is there or may come back at any moment.
func (m *member) lives() bool {
	r := m.snapshot()
	return !r.Gone && r.State != operational.AgentOffline
}

// belongs tells whether an agent is reached by the name of a group.
func (m *member) belongs(group string) bool {
	return slices.Contains(groupsOf(m.snapshot().Agent), group)
}

// mayBeGroup tells whether what is sent to a name may be a group's: no live agent has that id.
func (r *roster) mayBeGroup(name string) bool {
	m := r.member(name)
	return m == nil || !m.lives()
}

// bears tells whether what is sent to a name is an agent's own and no group's: an agent has
// that id, and lives, unless it is the kind that member is of. A session of claude-code takes what
// waits for claude-code, if nobody of that very name lives; an agent that is away keeps
// what is sent to its id, whatever others say is their project or role.
func (r *roster) bears(name string, of *member) bool {
	m := r.member(name)
	return m != nil && (principal.KindOf(of.id) != name || m.lives())
}

// collect gives a member its copies of what was sent to its groups since it looked last.
// One that has said goodbye takes nothing.
func (b *Mailbox) collect(ctx context.Context, m *member) error {
	sent := b.grouped.Load() + 1 // before the look, so that what is sent meanwhile is looked for again; never 0
	m.mu.Lock()
	names, seen, gone := groupsOf(m.record.Agent), m.groups, m.record.Gone
	m.mu.Unlock()
	var look []string
	looked := map[string]uint64{}
	for _, name := range names {
		switch {
		case seen[name] == sent:
			looked[name] = sent
		case !gone && !b.roster.bears(name, m):
			look = append(look, name)
			looked[name] = sent
		}
	}
	if len(look) == 0 {
		return nil
	}
	for more := true; more; {
		var err error
		more, err = b.store.TakeGroupMail(ctx, operational.GroupQuery{AgentID: m.id, Groups: look, Now: b.now(), Limit: maxTaken}, check.NewID, func(copies []operational.Message) {
			b.Announce(copies)
			for _, one := range copies {
				b.boxes.acked(one.Group) // what was taken fills the group's mailbox no more
			}
		})
		if errs.CodeOf(err) == errs.StorageFull {
			return nil // what is there is read; this waits
		}
		if err != nil {
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.groups = looked
	return nil
}

// hand gives a message to a group to those of its members that listen: to one of them, or
// with Each to all. The others find it when they come.
func (b *Mailbox) hand(message operational.Message) {
	for _, m := range b.listening(message.To) {
		if err := b.collect(b.base, m); err != nil {
			b.log.Warn("a message to a group waits for the next contact of its members", "group", message.To, "error", err)
			return
		}
		if !message.Each {
			return
		}
	}
}

// listening are the members of a group that have open streams.
func (b *Mailbox) listening(group string) (members []*member) {
	look := func(m *member) {
		if m.belongs(group) && !slices.Contains(members, m) {
			members = append(members, m)
		}
	}
	b.live.mu.RLock()
	for _, streams := range b.live.agents {
		look(streams[0].member)
	}
	b.live.mu.RUnlock()
	for _, id := range b.beyond.all(b.now()) {
		if m := b.roster.member(id); m != nil {
			look(m)
		}
	}
	slices.SortFunc(members, func(a, b *member) int { return strings.Compare(a.id, b.id) })
	return members
}

// alive are the ids of a group's members that live, without its sender, in order; with the
// agent of that very id, if it lives. Nobody if the name is an agent's own.
func (r *roster) alive(group, sender string) (ids []string) {
	member := false
	for _, m := range r.all() {
		if !m.lives() || m.id == sender || m.id != group && (!m.belongs(group) || r.member(group) != nil && principal.KindOf(m.id) != group) {
			continue
		}
		member = member || m.id != group
		ids = append(ids, m.id)
	}
	if !member {
		return nil
	}
	slices.Sort(ids)
	return ids
}
