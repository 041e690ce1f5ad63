package comms

import (
	"context"
	"slices"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

// within sets the project that an agent says it works in to one that its token is bound to. What it says of none leaves
// it where it was, where the token is bound to several.
func (b *Heartbeat) within(p principal.Principal) error {
	if !p.Walled() {
		return nil
	}
	if b.Project == "" {
		b.Project = projectOf(b.ProjectPath)
		if !p.Sees(b.Project) {
			b.Project = ""
		}
	}
	if b.Project == "" && b.ProjectPath == "" && len(p.Projects()) > 1 {
		return nil
	}
	return p.Into("project", &b.Project)
}

// aboutItself are the signals by which the router tells an agent of what is the agent's own. By others it spreads lessons
// and escalations, which may be of any project.
var aboutItself = []string{operational.SignalReminder, operational.SignalHandover, "lease", "approval"}

// shows tells whether a message that is for an agent may be read by p, whose it is. What somebody wrote to it is its own;
// what another project's agent tells everybody is not for who is bound to projects.
func (r *roster) shows(p principal.Principal, m operational.Message) bool {
	switch {
	case !p.Walled():
		return true
	case m.To == "":
		return r.near(p, m.From)
	}
	return m.From != operational.RouterName || slices.Contains(aboutItself, m.Signal)
}

// near tells whether somebody is of p's projects, or speaks to all of them: the router itself and the Captain.
func (r *roster) near(p principal.Principal, agent string) bool {
	if agent == operational.RouterName || agent == captainName || p.Is(agent) {
		return true
	}
	m := r.member(agent)
	return m != nil && p.Sees(m.snapshot().Project)
}

// shown keeps the messages that p may read.
func (r *roster) shown(p principal.Principal, messages []operational.Message) []operational.Message {
	if !p.Walled() {
		return messages
	}
	return slices.DeleteFunc(messages, func(m operational.Message) bool { return !r.shows(p, m) })
}

// waiting is unacked for a caller that is bound to projects: it counts what the caller is shown.
func (r *roster) waiting(ctx context.Context, m *member) (int, error) {
	p := principal.Of(ctx)
	if !p.Walled() {
		return r.unacked(ctx, m)
	}
	query := m.mailQuery(r.now())
	query.Limit = MaxLimit
	messages, _, _, err := r.mail(ctx, query)
	return len(messages), err
}

// mail is what a query selects of an agent's messages and the caller may read, the seq that it looked through to, and whether
// there is more. What a caller that is bound to projects may not read is never acknowledged, and stays in front: the
// page is filled up behind it, as those of the log are.
func (r *roster) mail(ctx context.Context, q operational.MailQuery) (messages []operational.Message, last int64, more bool, err error) {
	p, limit, most, size := principal.Of(ctx), q.Limit, q.MaxBytes, 0
	if p.Walled() {
		q.Limit, q.MaxBytes = MaxLimit, MaxInboxBytes
		q.Speakers = []string{operational.RouterName, captainName}
		for _, m := range r.all() {
			if r.near(p, m.id) {
				q.Speakers = append(q.Speakers, m.id)
			}
		}
	}
	for looks := 1; ; looks++ {
		page, more, err := r.store.Mail(ctx, q)
		if err != nil {
			return nil, 0, false, err
		}
		if len(page) > 0 {
			q.After = page[len(page)-1].Seq
		}
		for _, m := range r.shown(p, page) {
			if len(messages) == limit || most > 0 && size > most {
				return messages, messages[len(messages)-1].Seq, true, nil
			}
			size += len(m.Context)
			messages = append(messages, m)
		}
		if !more || !p.Walled() || len(messages) == limit || looks == boundLooks {
			return messages, q.After, more, nil
		}
	}
}

// maySend returns a Forbidden error where p is bound to projects and the recipient is none of theirs, whether there is
// such a one or not.
func (r *roster) maySend(p principal.Principal, to string) error {
	if !p.Walled() || to != "" && (p.Sees(to) || r.near(p, to)) {
		return nil
	}
	return &errs.Error{
		Code: errs.Forbidden, Field: "to_agent_id",
		Message: "must be an agent of the projects that this token is bound to, one of these projects, or captain",
	}
}
