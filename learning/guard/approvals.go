package guard

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/act"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Bounds of approvals.
const (
	// ApprovalFor is how long what a person allowed may be used, and what he denied stays denied.
	ApprovalFor = 10 * time.Minute
	// PendingFor is how long a blocked action waits for a person after it was last asked: an agent that waits longer has gone on.
	PendingFor = time.Hour
	// MaxApproved bounds an action that may be allowed, in bytes: nobody allows what is not shown whole.
	MaxApproved = maxShown
	// maxPendingOf and maxPendingAll bound what waits, of one token and of all; whoever has most gives way first.
	maxPendingOf  = 100
	maxPendingAll = 2000
	// approvalWait is how long a check that is blocked waits in all for what a person said, and until it is on disk that an approval was
	// used. A hook gives up after two seconds.
	approvalWait = time.Second

	// DefaultPermissionDays and MaxPermissionDays bound a standing permission.
	DefaultPermissionDays = 30
	MaxPermissionDays     = 90
	// maxPermissions bounds those that hold at once: each check that is blocked looks at all of them.
	maxPermissions = 500
)

// ruleOfApprovals is the rule that keeps agents from allowing themselves what is blocked. Nobody lifts it.
const ruleOfApprovals = "pack:core:" + string(act.HarmApprove)

// ApprovalFilter selects approvals; empty fields select everything.
type ApprovalFilter struct {
	Agent  string               `json:"agent,omitempty" doc:"Only this agent's"`
	State  lesson.ApprovalState `json:"state,omitempty" doc:"pending, approved, denied, used or expired"`
	Cursor string               `json:"cursor,omitempty" doc:"The answer's next of the page before"`
	Limit  int                  `json:"limit,omitempty" doc:"1 to 200; 0: 50"` // 1 to MaxLimit; 0 means DefaultRuleLimit
}

// ApprovalPage is a page of approvals, newest first.
type ApprovalPage struct {
	Approvals []lesson.Approval `json:"approvals"`
	Count     int               `json:"count"`
	Next      string            `json:"next,omitempty"`
}

// ApprovalDraft is what a person says who allows an action.
type ApprovalDraft struct {
	Number  int64  `json:"number,omitempty" doc:"Of the asking that was seen; if it was asked again since, nothing is allowed. 0: the last"`
	Notes   string `json:"notes,omitempty" doc:"Why"`
	Always  bool   `json:"always,omitempty" doc:"Not only once: a standing permission for this kind of agent, here"`
	Pattern string `json:"pattern,omitempty" doc:"With always: a command in which * stands for any text within one word; without it, exactly the action"`
	Days    int    `json:"days,omitempty" doc:"With always: for how long, 1 to 90; 0: 30"`
	Project bool   `json:"project,omitempty" doc:"With always: in every folder of the project"`
}

// DenialDraft is what a person says who refuses an action.
type DenialDraft struct {
	Number int64  `json:"number,omitempty" doc:"Of the asking that was seen; 0: the last"`
	Notes  string `json:"notes,omitempty" doc:"Why"`
}

// PermissionList are the standing permissions.
type PermissionList struct {
	Permissions []lesson.Permission `json:"permissions"`
	Count       int                 `json:"count"`
}

// exactly is the SHA-256 of an action with the files that it runs and their hashes, in hexadecimal, or "" if it has no exact form.
func exactly(action rule.Action, shown []string) string {
	form := act.Exact(action.Command, action.Tool, action.Args)
	if form == "" {
		return ""
	}
	sum := sha256.New()
	for _, part := range append([]string{form}, shown...) {
		fmt.Fprintf(sum, "%d\x00%s", len(part), part)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// approvalID follows from what is asked, where and by whom.
func approvalID(exact, folder, agent string) string {
	sum := sha256.Sum256([]byte(exact + "\x00" + strconv.Itoa(len(folder)) + "\x00" + folder + agent))
	id, _ := uuid.FromBytes(sum[:16])               // sixteen bytes always are one
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80 // version 8 of RFC 9562: made by a rule of our own
	return id.String()
}

// ask looks whether a person allowed what the verdict blocks, and lifts the verdict then. Else it returns what
// is to be stored so that a person may, and what to say of it. Where a person did allow it, it waits until it is on
// disk that this was used.
func (g *Guards) ask(ctx context.Context, action rule.Action, verdict *rule.Verdict, check string) (ask *lesson.Approval, said string) {
	caller := principal.Of(ctx)
	if action.Agent == "" && caller.Unissued() {
		action.Agent = nameless // nobody need say who he is yet
	}
	if verdict.Decision != rule.DecisionBlock || action.Agent == "" {
		return nil, ""
	}
	late := time.After(approvalWait)
	if p, err := g.permitted(ctx, late, action, *verdict); err != nil {
		said = unheard + errs.MessageOf(err)
	} else if p != nil {
		verdict.Lift(fmt.Sprintf("allowed until %s by %s (permission %s)", p.EndsAt.Format(time.DateOnly), p.Owner, p.ID))
		return nil, ""
	}
	var blocking []rule.Match
	for _, m := range verdict.Matches {
		if m.Blocks {
			blocking = append(blocking, rule.Match{RuleID: m.RuleID, Title: m.Title, Severity: m.Severity, Lane: m.Lane, Reason: keepable(m.Reason, maxReason), WhyBad: m.WhyBad, Alternatives: m.Alternatives, Blocks: true})
		}
	}
	text := fullText(action)
	exact := exactly(action, verdict.Shown)
	switch {
	case exact == "" || slices.ContainsFunc(blocking, func(m rule.Match) bool { return m.RuleID == ruleOfApprovals }):
		return nil, ""
	case len(text) > MaxApproved:
		return nil, "nobody can allow this: it is too long to be shown whole"
	}
	at := g.clock()
	id := approvalID(exact, action.Folder, action.Agent)
	var old *lesson.Approval
	var err error
	if said == "" {
		old, err = g.decided(ctx, late, id, exact, blocking, at)
	}
	switch {
	case err != nil:
		said = unheard + errs.MessageOf(err)
	case old == nil:
	case old.State == lesson.ApprovalDenied:
		said = fmt.Sprintf("%s refused this%s", old.DecidedBy, because(old.Notes))
	default:
		err := g.use(ctx, late, *old, check, at)
		if err == nil {
			verdict.Lift(fmt.Sprintf("allowed once by %s (approval %s)", old.DecidedBy, old.ID))
			return nil, ""
		}
		if errs.CodeOf(err) != errs.Conflict { // else another check used it
			return nil, fmt.Sprintf("%s allowed this, and that it is used now could not be written: %s", old.DecidedBy, errs.MessageOf(err))
		}
	}
	if said == "" {
		said = fmt.Sprintf("a person may allow exactly this, once: approval %s", id)
		if how := howToAllow(caller, id); len(how) > 0 {
			said = "a person may allow exactly this, once, in a terminal of their own: " + strings.Join(how, ", then ")
		}
	}
	return &lesson.Approval{
		ID: id, Exact: exact, Agent: action.Agent, Holder: principal.Of(ctx).Bound(), Folder: keepable(action.Folder, MaxRecorded), Project: action.Project, Tool: action.Tool, Action: text,
		Matches: blocking, State: lesson.ApprovalPending, CheckID: check, Asked: 1, AskedAt: at, EndsAt: at.Add(PendingFor),
	}, said
}

// nameless is the agent of an approval that was asked for by nobody who said a name.
const nameless = "anybody"

// howToAllow are the commands by which a person allows what is blocked while no token was issued: whoever is alone has nobody to ask how.
func howToAllow(caller principal.Principal, approval string) []string {
	approve := "skillrouter check approve " + approval
	switch {
	case !caller.Unissued():
		return nil
	case caller.Guarded():
		return []string{approve}
	}
	return []string{"skillrouter passphrase set", approve}
}

func because(notes string) string {
	if notes == "" {
		return ""
	}
	return ": " + notes
}

// fullText is an action as a person is shown it: a command in the folder that stands beside it, or all that a tool is given.
func fullText(a rule.Action) string {
	if text, ok := act.CommandOf(a.Command, a.Tool, a.Args, a.Folder); ok {
		return text
	}
	args, err := json.Marshal(a.Args)
	if err != nil || len(a.Args) == 0 {
		return a.Command
	}
	return strings.TrimSpace(a.Command + " " + string(args))
}

// unheard says that it is not known what a person said.
const unheard = "what a person said of this could not be read: "

// decided is what a person said of an action, if it still holds; nil: nothing.
func (g *Guards) decided(ctx context.Context, late <-chan time.Time, id, exact string, blocking []rule.Match, at time.Time) (*lesson.Approval, error) {
	var a lesson.Approval
	var ok bool
	err := soon(late, func() (err error) {
		a, ok, err = g.store.Approval(ctx, id)
		return err
	})
	if err != nil || !ok || a.State != lesson.ApprovalApproved && a.State != lesson.ApprovalDenied || a.Exact != exact || !a.Live(at) || !a.Covers(blocking) {
		return nil, err
	}
	return &a, nil
}

// use writes that an approval was used, and returns once that is on disk. Of two checks at once one has it. What was decided
// anew since is another one.
func (g *Guards) use(ctx context.Context, late <-chan time.Time, a lesson.Approval, check string, at time.Time) error {
	return soon(late, g.store.Change(context.WithoutCancel(ctx), func(tx lesson.PipelineTx) error {
		stored, ok, err := tx.ApprovalOf(a.ID)
		if err != nil {
			return err
		}
		if !ok || stored.Number != a.Number || stored.State != lesson.ApprovalApproved {
			return errs.Errorf(errs.Conflict, "it was used already")
		}
		stored.State, stored.UsedAt, stored.UsedCheck = lesson.ApprovalUsed, &at, check
		if err := tx.PutApproval(&stored); err != nil {
			return err
		}
		return tx.AddEvents(eventlog.Event{Type: lesson.EventApproval, Subject: a.ID, Agent: a.Agent, Project: a.Project, At: at}.
			With(lesson.ApprovalEvent{State: lesson.ApprovalUsed, By: a.DecidedBy, Number: a.Number}))
	}, nil))
}

// soon waits for the database until it is late: a check may for approvalWait, however often it asks.
func soon(late <-chan time.Time, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-late:
		return errs.Errorf(errs.Unavailable, "the disk is slow, or another program holds the database")
	}
}

// storeAsks stores what checks ask for. What a person said of it already, and still holds, stays.
func storeAsks(tx lesson.PipelineTx, records []lesson.CheckRecord) error {
	holders := map[string]bool{}
	for _, r := range records {
		if r.Asks == nil {
			continue
		}
		ask := *r.Asks // the transaction may run twice
		ask.Action = keepable(ask.Action, MaxApproved)
		old, ok, err := tx.ApprovalOf(ask.ID)
		if err != nil {
			return err
		}
		decided := old.State == lesson.ApprovalApproved || old.State == lesson.ApprovalDenied
		switch same := ok && old.Exact == ask.Exact && old.Live(ask.AskedAt) && old.Covers(ask.Matches); {
		case same && old.State == lesson.ApprovalPending:
			old.Matches, old.CheckID, old.EndsAt, old.Asked = ask.Matches, ask.CheckID, ask.EndsAt, old.Asked+1
			ask = old
		case same && decided:
			old.CheckID, old.Asked = ask.CheckID, old.Asked+1
			ask = old
		}
		if err := tx.PutApproval(&ask); err != nil {
			return err
		}
		holders[cmp.Or(r.Asks.Holder, ask.Agent)] = true
	}
	if len(holders) == 0 {
		return nil
	}
	for _, holder := range slices.Sorted(maps.Keys(holders)) {
		if err := tx.BoundApprovals(holder, maxPendingOf); err != nil {
			return err
		}
	}
	return tx.BoundApprovals("", maxPendingAll)
}

// Approvals implements Service. It needs ScopeRead, and shows each agent its own actions.
func (g *Guards) Approvals(ctx context.Context, filter ApprovalFilter) (ApprovalPage, error) {
	p := principal.Of(ctx)
	limit, wide := check.Limit(filter.Limit, DefaultRuleLimit, learning.MaxLimit)
	before, gone := learning.ReadCursor(filter.Cursor)
	if err := cmp.Or(
		p.Need(principal.ScopeRead),
		check.Name("agent", filter.Agent),
		check.Optional("state", filter.State, lesson.ApprovalStates()), wide, gone,
	); err != nil {
		return ApprovalPage{}, err
	}
	g.ledger.settle(ctx)
	page, at := ApprovalPage{Approvals: []lesson.Approval{}}, g.clock()
	list, err := g.store.ListApprovals(ctx, filter.Agent, filter.State, at, before, limit+1)
	for _, a := range list[:min(len(list), limit)] {
		page.Approvals = append(page.Approvals, a.Shown(p, at))
	}
	if len(list) > limit {
		page.Next = strconv.FormatInt(list[limit-1].Number, 10)
	}
	page.Count = len(page.Approvals)
	return page, err
}

// Approve implements Service. It needs a person: see principal.Principal.AsPerson.
func (g *Guards) Approve(ctx context.Context, id string, draft ApprovalDraft) (lesson.Approval, error) {
	return g.decide(ctx, id, lesson.ApprovalApproved, draft)
}

// Deny implements Service. It needs a person: see principal.Principal.AsPerson.
func (g *Guards) Deny(ctx context.Context, id string, draft DenialDraft) (lesson.Approval, error) {
	return g.decide(ctx, id, lesson.ApprovalDenied, ApprovalDraft{Number: draft.Number, Notes: draft.Notes})
}

// decide stores what a person says, once: of two who say it at the same time the second is told who was first.
func (g *Guards) decide(ctx context.Context, id string, state lesson.ApprovalState, draft ApprovalDraft) (lesson.Approval, error) {
	p := principal.Of(ctx)
	by, err := p.AsPerson()
	if err := cmp.Or(err, learning.CheckID("approval_id", id), check.Text("notes", draft.Notes, MaxRecorded)); err != nil {
		return lesson.Approval{}, err
	}
	if draft.Notes, _ = redact.Text(check.OneLine(draft.Notes)); !draft.Always && (draft.Pattern != "" || draft.Days != 0 || draft.Project) {
		return lesson.Approval{}, errs.InvalidField("always", "is needed for pattern, days and project")
	}
	g.ledger.settle(ctx)
	at := g.clock()
	var decided lesson.Approval
	err = g.store.Change(ctx, func(tx lesson.PipelineTx) error {
		a, ok, err := tx.ApprovalOf(id)
		if err != nil {
			return err
		}
		switch shown := a.Shown(p, at).State; {
		case !ok:
			return errs.Errorf(errs.NotFound, "no approval has this id")
		case draft.Number != 0 && draft.Number != a.Number:
			return errs.Errorf(errs.Conflict, "this was asked again since, as number %d: look at it once more", a.Number)
		case shown == lesson.ApprovalExpired && a.State == lesson.ApprovalPending:
			return errs.Errorf(errs.Conflict, "nobody waits for this any more: it was asked for at %s", a.AskedAt.Format(time.RFC3339))
		case shown == lesson.ApprovalExpired:
			return errs.Errorf(errs.Conflict, "%s said of this %q already, which has ended: it must be asked again", a.DecidedBy, a.State)
		case shown != lesson.ApprovalPending:
			return errs.Errorf(errs.Conflict, "%s decided this already: it is %s", a.DecidedBy, a.State)
		}
		a.State, a.DecidedBy, a.DecidedAt, a.EndsAt, a.Notes = state, by, &at, at.Add(ApprovalFor), draft.Notes
		if draft.Always {
			if err := givePermission(tx, a, draft); err != nil {
				return err
			}
		}
		if err := tx.PutApproval(&a); err != nil {
			return err
		}
		decided = a
		return tx.AddEvents(eventlog.Event{Type: lesson.EventApproval, Subject: id, Agent: a.Agent, Project: a.Project, At: at}.
			With(lesson.ApprovalEvent{State: state, By: by, Number: a.Number, EndsAt: a.EndsAt}))
	}, g.tell)() // hooks that left the router alone see by its copy that it is there
	if err != nil {
		return lesson.Approval{}, err
	}
	return decided, nil
}
