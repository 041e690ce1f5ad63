package trash

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/decision"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/share"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/kind"
)

// maxTogether is how many changes of one call are taken back together.
const maxTogether = 100

// gone says what is never taken back.
const gone = "Messages, stops and runs of procedures have left, and are not taken back."

// Undo implements Service.
func (t *Trash) Undo(ctx context.Context, draft LastChange) (undone ChangeUndone, err error) {
	caller := principal.Of(ctx).Keeping()
	agent, err := caller.ActingAs("agent_id", draft.AgentID)
	if err := cmp.Or(err, check.Name("project", draft.Project)); err != nil {
		return undone, err
	}
	if caller.IsOpen() && agent != "" {
		ctx = learning.ChangedBy(ctx, agent)
	}
	all, err := t.last(ctx, draft)
	if err != nil {
		return undone, err
	}
	if draft.Change == 0 && !caller.Walled() {
		said, err := t.ports.Decisions.Latest(ctx, draft.Project)
		switch {
		case err != nil && errs.CodeOf(err) != errs.NotFound:
			return undone, err
		case err == nil && (agent == "" || agent == said.By) && (len(all) == 0 || said.At.After(all[0].At)):
			return t.unsay(ctx, draft, said)
		}
	}
	if len(all) == 0 {
		return undone, errs.Errorf(errs.NotFound, "you changed nothing here in the last %d days that can be taken back. %s `tasks restore` and `reminders restore` let wait again what was cancelled.", int(learning.KeepChanges.Hours()/24), gone)
	}
	undone = ChangeUndone{Change: all[0], Also: all[1:], Notice: saying(all, draft.Confirm)}
	for _, c := range all {
		if err := t.untouched(ctx, c); err != nil {
			return undone, err
		}
	}
	if !draft.Confirm {
		return undone, nil
	}
	if err := t.undo(ctx, all); err != nil {
		return undone, err
	}
	undone.Done = true
	return undone, nil
}

// last are the changes of the caller's last call in a project, or those of the call that made one.
func (t *Trash) last(ctx context.Context, draft LastChange) ([]learning.Change, error) {
	filter := learning.ChangeFilter{By: new(learning.ChangerOf(ctx)), Limit: maxTogether}
	switch {
	case draft.Change > 0:
		filter.Before = draft.Change + 1
	case draft.Project != "":
		filter.Projects = []string{draft.Project, ""}
	}
	found, err := t.changes(ctx, filter)
	if err == nil && draft.Change > 0 && (len(found) == 0 || found[0].Number != draft.Change) {
		err = errs.Errorf(errs.NotFound, "no change of yours that can be taken back has this number: `skillrouter undo --list` shows yours")
	}
	if err != nil {
		return nil, err
	}
	together := 1
	for together < len(found) && found[0].Call != "" && found[together].Call == found[0].Call {
		together++
	}
	all := found[:min(together, len(found))]
	slices.SortStableFunc(all, func(a, b learning.Change) int { return cmp.Compare(rank(a), rank(b)) })
	return all, nil
}

// rank says which of the changes of one call is named first: what was decided, and then what came of it.
func rank(c learning.Change) int {
	if c.Operation == learning.Accepted || c.Operation == learning.Declined {
		return 0
	}
	return 1
}

// untouched refuses a change of what somebody else changed since.
func (t *Trash) untouched(ctx context.Context, c learning.Change) error {
	since, err := t.changes(ctx, learning.ChangeFilter{Kind: c.Kind, ID: c.ID, Limit: learning.MaxLimit})
	for _, later := range since {
		if later.ID == c.ID && later.Number > c.Number && later.By != c.By {
			return errs.Errorf(errs.Conflict, "somebody else changed the %s %s since: %s", c.Kind, c.ID, cmp.Or(later.By, "the owner"))
		}
	}
	return err
}

// past is what somebody did, as a sentence says it.
var past = map[learning.Operation]string{
	learning.Deleted: "deleted", learning.Edited: "changed", learning.Merged: "replaced", learning.Retired: "retired", learning.Declined: "declined", learning.Accepted: "accepted",
}

func saying(all []learning.Change, done bool) string {
	c, others := all[0], map[string]bool{}
	for _, other := range all[1:] {
		others[other.Kind+other.ID] = true
	}
	delete(others, c.Kind+c.ID) // one call may change a row twice
	text := fmt.Sprintf("you %s the %s %q", past[c.Operation], c.Kind, cmp.Or(c.Title, c.ID))
	if n := len(others); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	if done {
		return "Taken back: " + text + "."
	}
	return "This would be taken back: " + text + ". " + gone
}

// undo takes the changes of one call back: all of them, or none. What a service has to say again is said by it, and in its transaction the
// store puts the others back.
func (t *Trash) undo(ctx context.Context, all []learning.Change) error {
	back, err := t.backOf(ctx, all)
	if err != nil {
		return err
	}
	if c := all[0]; c.Kind == "incident" {
		decided := history.Decision{Undo: true, By: principal.Of(ctx).AgentID}
		for i, c := range all {
			decided.IDs, back[i].Event = append(decided.IDs, c.ID), nil
		}
		_, err := t.ports.Incidents.Accept(learning.TakingBack(ctx, back...), decided)
		return err
	}
	edited := slices.IndexFunc(all, func(c learning.Change) bool {
		return c.Operation == learning.Edited && t.kinds[c.Kind].Pages.Change != nil && !replaced(c)
	})
	switch c := all[0]; {
	case edited >= 0:
		back[edited].Event = nil
		err = unedit(learning.TakingBack(ctx, back...), t.kinds[all[edited].Kind], all[edited])
	case c.Operation == learning.Accepted:
		err = t.unstore(ctx, all, back)
	default:
		err = t.store.TakeBack(ctx, back...)
	}
	if err != nil {
		return err
	}
	return t.follow(ctx, back)
}

// replaced tells whether a change only put another memory in the place of one: nothing that is found follows from that.
func replaced(c learning.Change) bool {
	_, only := c.Rows[0].Became["superseded_by"]
	return only && len(c.Rows[0].Became) == 1
}

// unedit has a memory's service change it back, if it says what the change made of it.
func unedit(ctx context.Context, memory kind.Memory, c learning.Change) error {
	was, became := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	for _, field := range memory.Pages.Fields {
		before, changed := c.Rows[0].Was[field.Member]
		if !changed {
			continue
		}
		was[field.Member], became[field.Member] = memberOf(field.Form, before), memberOf(field.Form, c.Rows[0].Became[field.Member])
	}
	patch, err := json.Marshal(was)
	if err != nil {
		return err
	}
	ctx = learning.IfStill(ctx, func(row any) error {
		text, err := json.Marshal(row)
		if err != nil {
			return err
		}
		var says map[string]json.RawMessage
		if err := json.Unmarshal(text, &says); err != nil {
			return err
		}
		for member, now := range became {
			if !alike(says[member], now) {
				return errs.Errorf(errs.Conflict, "the %s %s was changed since: see what it says now", c.Kind, c.ID)
			}
		}
		return nil
	})
	return memory.Pages.Change(ctx, c.ID, patch)
}

// memberOf is the member of a memory that a column holds.
func memberOf(form kind.Form, column any) json.RawMessage {
	if said, is := column.(string); is && (form == kind.List || form == kind.Raw) {
		return json.RawMessage(said)
	}
	said, _ := json.Marshal(column) // it was read from JSON
	return said
}

// alike tells whether two members say the same; one that says nothing may be missing.
func alike(a, b json.RawMessage) bool {
	empty := func(m json.RawMessage) bool {
		return len(m) == 0 || slices.Contains([]string{`""`, "[]", "0", "null"}, string(m))
	}
	var one, other bytes.Buffer
	if json.Compact(&one, a) != nil || json.Compact(&other, b) != nil {
		return empty(a) && empty(b)
	}
	return one.String() == other.String() || empty(a) && empty(b)
}

// unstore deletes what was accepted where it is stored, unless more would go with it: what was there before, or was changed since.
func (t *Trash) unstore(ctx context.Context, all []learning.Change, back []learning.Back) error {
	c := all[0]
	of, as, err := t.storedAs(ctx, c)
	before := slices.ContainsFunc(all, func(c learning.Change) bool { return c.Kind == of && c.ID == as })
	if err == nil && (as == "" || before) {
		return t.store.TakeBack(ctx, back...)
	}
	memory := t.kinds[of]
	var others []kind.Version
	if err == nil && memory.Pages.Versions != nil {
		others, err = memory.Pages.Versions(ctx, as)
	}
	if len(others) > 0 {
		return errs.Errorf(errs.Conflict, "the %s %s said something else before it, or says so since: change that one", of, as)
	}
	if err = cmp.Or(err, t.untouched(ctx, learning.Change{Number: c.Number, Kind: of, ID: as, By: c.By})); err == nil {
		err = memory.Undo.Remove(learning.TakingBack(ctx, back...), as)
	}
	if errs.CodeOf(err) == errs.NotFound { // it is gone already
		err = t.store.TakeBack(ctx, back...)
	}
	return err
}

// storedAs is what was stored because of what somebody accepted; empty: nothing was.
func (t *Trash) storedAs(ctx context.Context, c learning.Change) (of, as string, err error) {
	switch c.Kind {
	case "proposal":
		p, err := t.ports.Consolidation.Proposal(ctx, c.ID)
		if as = p.StoredAs; as != "" && p.Kind != history.ProposalEpisode {
			as = p.Persona + "/" + as
		}
		return string(p.Kind), as, err
	case sharedKind:
		if kept, _ := c.Rows[0].Became["hash"].(string); kept != "" { // else it was retired
			as, _, _ = strings.Cut(c.ID, "/")
			if row, err := t.kinds[router.KindLesson].Undo.Read(ctx, as); err == nil {
				if l, _ := row.(lesson.Lesson); l.Category != share.Category { // it was here before
					as = ""
				}
				return router.KindLesson, as, nil
			}
			return router.KindKnowledge, as, nil
		}
	}
	return of, as, nil
}

// unsay takes back the decision that was heard last.
func (t *Trash) unsay(ctx context.Context, draft LastChange, said decision.Resolution) (undone ChangeUndone, err error) {
	undone.Change = learning.Change{Operation: learning.Accepted, Kind: router.KindKnowledge, ID: said.ID, Title: said.Text, Project: draft.Project, At: said.At}
	undone.Said, undone.Notice = &said, fmt.Sprintf("This would be taken back: the %s %q, which was heard at a prompt. %s", said.Category, said.Text, gone)
	if !draft.Confirm {
		return undone, nil
	}
	back, err := t.ports.Decisions.Undo(learning.TakingBack(ctx), decision.Undo{Handle: said.ID, Project: draft.Project})
	undone.Said, undone.Done, undone.Notice = &back, err == nil, fmt.Sprintf("Taken back: the %s %q, which was heard at a prompt.", said.Category, said.Text)
	return undone, err
}
