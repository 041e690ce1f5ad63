package feed

import (
	"cmp"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
)

// filter is a Query and its caller, ready to be asked.
type filter struct {
	caller         principal.Principal
	captain, admin bool
	types          []string
	groups         []string // "task." of "task.*"
	agent, project string
}

// newFilter checks a query. Whoever asks needs ScopeRead.
func newFilter(caller principal.Principal, query Query) (filter, error) {
	caller = caller.Keeping()
	f := filter{
		caller: caller, captain: caller.Has(principal.ScopeCaptain), admin: caller.Has(principal.ScopeAdmin),
		agent: query.Agent, project: query.Project,
	}
	if err := caller.Need(principal.ScopeRead); err != nil {
		return f, err
	}
	if query.After < 0 {
		return f, errs.InvalidField("after", "must not be negative")
	}
	if len(query.Types) > MaxTypes {
		return f, errs.InvalidField("type", "holds more than %d types", MaxTypes)
	}
	for _, name := range query.Types {
		if !knownType(name) {
			return f, errs.InvalidField("type", `names no type of event, nor a group such as "task.*"; docs/http-api.md lists them`)
		}
		if group, ok := strings.CutSuffix(name, "*"); ok {
			f.groups = append(f.groups, group)
		} else {
			f.types = append(f.types, name)
		}
	}
	if err := cmp.Or(check.OptionalAgent("agent", query.Agent), check.Name("project", query.Project)); err != nil {
		return f, err
	}
	return f, nil
}

// ofAnyProject are the events of a project that name rows of others: the rules that a check found.
var ofAnyProject = []string{lesson.EventActionChecked, lesson.EventCheckSettled}

// passes tells whether an event is asked for and may be seen.
func (f *filter) passes(item *Item) bool {
	if f.project != "" && item.Project != f.project || f.agent != "" && item.Agent != f.agent && (!item.mail || item.to != f.agent) {
		return false
	}
	if len(f.types)+len(f.groups) > 0 && !f.named(item.Type) && (item.Kind == "" || !f.named(item.Kind)) {
		return false
	}
	return f.sees(item)
}

func (f *filter) named(kind string) bool {
	return slices.Contains(f.types, kind) || slices.ContainsFunc(f.groups, func(group string) bool { return strings.HasPrefix(kind, group) })
}

// sees tells whether the caller may see an event: that of a token as
// whoever may list tokens, that of a message as whoever may read a mailbox
// that it is in, that of a reminder as whom it concerns, and all others.
func (f *filter) sees(item *Item) bool {
	switch {
	case !f.caller.Sees(item.Project), f.caller.Walled() && slices.Contains(ofAnyProject, item.Type):
		return false
	case f.admin:
		return true
	case item.Type == operational.EventTokenIssued, item.Type == operational.EventTokenRevoked:
		return false
	case f.captain:
		return true
	case strings.HasPrefix(item.Type, "passphrase."):
		return false
	case item.reminder != nil:
		told := operational.Reminder{AgentID: item.reminder.AgentID, CreatedBy: item.reminder.CreatedBy}
		if told.AgentID == "" && told.CreatedBy == "" { // as in events of former versions, which did not say whom they concern
			return f.caller.ActAs(item.Agent) == nil || f.caller.ActAs(item.reminder.DeliveredTo) == nil
		}
		return told.Concerns(f.caller)
	case !item.mail:
		return true
	}
	p := f.caller
	return p.AgentID != "" && p.Has(principal.ScopeAgent) && (item.to == "" || p.Is(item.to) || p.Is(item.Agent))
}
