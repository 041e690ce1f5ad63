package guard

import (
	"cmp"
	"context"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/act"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// givePermission stores the standing permission that a person gives with an approval.
func givePermission(tx lesson.PipelineTx, a lesson.Approval, draft ApprovalDraft) error {
	days, err := check.Limit(draft.Days, DefaultPermissionDays, MaxPermissionDays)
	if err != nil {
		return errs.InvalidField("days", "is 1 to %d", MaxPermissionDays)
	}
	p := &lesson.Permission{
		ID: check.NewID(), Exact: a.Exact, Action: a.Action, Tool: a.Tool, AgentKind: principal.KindOf(a.Agent), Project: a.Project, Folder: a.Folder, RuleIDs: []string{},
		Owner: a.DecidedBy, Notes: a.Notes, CreatedAt: *a.DecidedAt, EndsAt: a.DecidedAt.Add(time.Duration(days) * 24 * time.Hour),
	}
	for _, m := range a.Matches {
		switch {
		case rule.Lasting(m.RuleID):
			return errs.Errorf(errs.Forbidden, "%q is allowed once at a time: what it harms cannot be had back, and is not the same tomorrow", m.Title)
		case m.Lane == rule.LaneUnread:
			return errs.Errorf(errs.Forbidden, "this was not read to its end, so nobody knows what would be allowed: allow it once")
		}
		p.RuleIDs = append(p.RuleIDs, m.RuleID)
	}
	if draft.Project {
		if p.Project == "" {
			return errs.InvalidField("project", "is for an action of a project, and this was asked for outside of any")
		}
		p.Folder = ""
	}
	if p.Folder == "" && p.Project == "" {
		return errs.InvalidField("always", "needs a place: the check said neither folder nor project")
	}
	if draft.Pattern != "" {
		if err := check.Line("pattern", draft.Pattern); err != nil {
			return err
		}
		want, ok := plainWords(draft.Pattern)
		switch {
		case !ok || len(want) == 0 || strings.Contains(want[0], "*"):
			return errs.InvalidField("pattern", "is one plain command, and its program is named: no pipes, variables or redirections")
		case !fitsPattern(want, a.Action):
			return errs.InvalidField("pattern", "does not fit what was asked for")
		}
		p.Pattern, p.Exact = draft.Pattern, ""
	}
	held, err := tx.CountPermissions(p.CreatedAt)
	if err != nil {
		return err
	}
	if held >= maxPermissions {
		return errs.Errorf(errs.Conflict, "there are %d standing permissions already: revoke some", held)
	}
	if err := tx.AddPermission(p); err != nil {
		return err
	}
	return tx.AddEvents(eventlog.Event{Type: lesson.EventPermission, Subject: p.ID, Agent: a.Agent, Project: p.Project, At: p.CreatedAt}.
		With(lesson.ApprovalEvent{State: lesson.ApprovalApproved, By: p.Owner, Number: p.Number, EndsAt: p.EndsAt}))
}

// permitted is the standing permission that lifts all that blocks an action; nil: there is none.
func (g *Guards) permitted(ctx context.Context, late <-chan time.Time, action rule.Action, verdict rule.Verdict) (*lesson.Permission, error) {
	if verdict.Decision != rule.DecisionBlock || action.Agent == "" {
		return nil, nil
	}
	exact, at := "", g.clock()
	var standing []lesson.Permission
	if err := soon(late, func() (err error) {
		standing, err = g.store.ListPermissions(ctx, at, 2*maxPermissions)
		return err
	}); err != nil {
		return nil, err
	}
	for _, p := range standing {
		switch {
		case !p.Live(at), !principal.SameVoice(p.AgentKind, action.Agent), !p.Covers(verdict.Matches),
			p.Folder != "" && p.Folder != action.Folder, p.Folder == "" && p.Project != action.Project:
			continue
		case p.Pattern != "":
			text, ok := act.CommandOf(action.Command, action.Tool, action.Args, action.Folder)
			want, plain := plainWords(p.Pattern)
			if !ok || !plain || len(verdict.Shown) > 0 || !fitsPattern(want, text) {
				continue
			}
		default:
			if exact == "" {
				exact = exactly(action, verdict.Shown)
			}
			if exact != p.Exact {
				continue
			}
		}
		return &p, nil
	}
	return nil, nil
}

// plainWords are the words of a text that is one command of nothing but words, each as the shell would pass it.
func plainWords(text string) (words []string, ok bool) {
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil || len(file.Stmts) != 1 {
		return nil, false
	}
	s := file.Stmts[0]
	call, is := s.Cmd.(*syntax.CallExpr)
	if !is || s.Negated || s.Background || s.Coprocess || len(s.Redirs) > 0 || len(call.Assigns) > 0 || len(file.Last) > 0 {
		return nil, false
	}
	for _, w := range call.Args {
		var word strings.Builder
		for _, part := range w.Parts {
			switch part := part.(type) {
			case *syntax.Lit:
				if strings.ContainsAny(part.Value, "\\{}?[]~$`") {
					return nil, false
				}
				word.WriteString(part.Value)
			case *syntax.SglQuoted:
				if part.Dollar {
					return nil, false
				}
				word.WriteString(part.Value)
			default:
				return nil, false
			}
		}
		words = append(words, word.String())
	}
	return words, true
}

// fitsPattern reports whether a command is plain, and each of its words fits that of the pattern. A * stands for
// text without white space, a step up (..) or another *; it begins no option.
func fitsPattern(want []string, command string) bool {
	got, ok := plainWords(command)
	if !ok || len(got) != len(want) {
		return false
	}
	for i, w := range want {
		if strings.Contains(got[i], "*") {
			return false // the shell makes other words of it
		}
		if w == got[i] {
			continue
		}
		fits := strings.Contains(w, "*") && act.NameFits(strings.ReplaceAll(w, "*", string(act.AnyText)), got[i])
		if !fits || strings.Contains(got[i], "..") || strings.ContainsAny(got[i], " \t\r\n") || strings.HasPrefix(got[i], "-") && !strings.HasPrefix(w, "-") {
			return false
		}
	}
	return true
}

// Permissions implements Service. It needs ScopeRead, and shows each kind of agent its own.
func (g *Guards) Permissions(ctx context.Context) (PermissionList, error) {
	p := principal.Of(ctx)
	if err := p.Need(principal.ScopeRead); err != nil {
		return PermissionList{}, err
	}
	list, err := g.store.ListPermissions(ctx, time.Time{}, maxPermissions)
	if err != nil {
		return PermissionList{}, err
	}
	for i := range list {
		list[i] = list[i].Shown(p)
	}
	return PermissionList{Permissions: list, Count: len(list)}, nil
}

// RevokePermission implements Service. It needs a person: see principal.Principal.AsPerson.
func (g *Guards) RevokePermission(ctx context.Context, id string) (lesson.Permission, error) {
	by, err := principal.Of(ctx).AsPerson()
	if err := cmp.Or(err, learning.CheckID("permission_id", id)); err != nil {
		return lesson.Permission{}, err
	}
	return g.revoke(ctx, id, by)
}

// EndPermissions ends what persons allowed before a time, because the passphrase was reset then.
func (g *Guards) EndPermissions(ctx context.Context, before time.Time) error {
	standing, err := g.store.ListPermissions(ctx, g.clock(), 2*maxPermissions)
	for _, p := range standing {
		if err == nil && p.CreatedAt.Before(before) {
			_, err = g.revoke(ctx, p.ID, "the reset of the passphrase")
		}
	}
	if err != nil {
		return err
	}
	once, err := g.store.ListApprovals(ctx, "", lesson.ApprovalApproved, g.clock(), 0, maxPendingAll)
	for _, a := range once {
		if err != nil || !a.Live(g.clock()) || !a.DecidedAt.Before(before) {
			continue
		}
		a.EndsAt = g.clock()
		err = g.store.Change(ctx, func(tx lesson.PipelineTx) error { return tx.PutApproval(&a) }, nil)()
	}
	return err
}

func (g *Guards) revoke(ctx context.Context, id, by string) (lesson.Permission, error) {
	at := g.clock()
	var revoked lesson.Permission
	err := g.store.Change(ctx, func(tx lesson.PipelineTx) error {
		p, ok, err := tx.PermissionOf(id)
		if err != nil {
			return err
		}
		if !ok {
			return errs.Errorf(errs.NotFound, "no permission has this id")
		}
		if revoked = p; p.RevokedAt != nil {
			return nil
		}
		revoked.RevokedAt, revoked.RevokedBy = &at, by
		if err := tx.RevokePermission(revoked); err != nil {
			return err
		}
		return tx.AddEvents(eventlog.Event{Type: lesson.EventPermission, Subject: id, Agent: p.AgentKind, Project: p.Project, At: at}.
			With(lesson.ApprovalEvent{State: lesson.ApprovalDenied, By: by, Number: p.Number}))
	}, nil)()
	return revoked, err
}
