package value

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
)

// Bounds of how far back what came of tellings is looked for.
const (
	// mostTold is how many tellings of a session, or of an agent, are judged: the latest.
	mostTold = 200
	// markedFor is how long after it was told a mark says that an item helped.
	markedFor = 24 * time.Hour
)

func joined(command string) string { return strings.Join(strings.Fields(command), " ") }

// parts cuts a shell's text at what joins commands, roughly.
var parts = strings.NewReplacer("&&", "\n", "||", "\n", ";", "\n")

// runs tells whether a command runs another, with further arguments or without.
func runs(command, given string) bool {
	for part := range strings.SplitSeq(parts.Replace(command), "\n") {
		if part = joined(part); part == given || strings.HasPrefix(part, given+" ") {
			return true
		}
	}
	return false
}

// Happens says what the steps of a session did of incidents. history.Incidents is one.
type Happens interface {
	Happened(ctx context.Context, draft history.Draft, ids []string) (map[string]history.Happened, error)
}

// Learned judges what a session was told, as steps of its record show. Parts of a record may come one after the other, and again.
func (v *Values) Learned(ctx context.Context, draft history.Draft, of Happens) error {
	if draft.Session == "" || len(draft.Steps) == 0 {
		return nil
	}
	var failed error
	err := v.tellings.Settle(ctx, operational.TellingQuery{SessionID: draft.Session, Limit: mostTold}, func(told []operational.Telling) {
		counts := func(t *operational.Telling) bool {
			return t.Project == draft.Project && t.Moment != operational.ToldAtCommand
		}
		var ids []string
		for i := range told {
			for _, item := range told[i].Items {
				if counts(&told[i]) && item.Kind == router.KindIncident && !slices.Contains(ids, item.ID) {
					ids = append(ids, item.ID)
				}
			}
		}
		happened, err := of.Happened(ctx, draft, ids)
		if failed = err; err != nil {
			return
		}
		for i := range told {
			for j := range told[i].Items {
				if counts(&told[i]) {
					judge(&told[i], &told[i].Items[j], draft.Steps, happened)
				}
			}
		}
	})
	return cmp.Or(err, failed)
}

// judge judges an item by what was done after it was told.
func judge(t *operational.Telling, item *operational.ToldItem, steps []history.Step, happened map[string]history.Happened) {
	later := func(i int) bool { // of a step without a time only a start is known to be before it
		at := steps[i].At
		return at == nil && t.Moment == operational.ToldAtStart || at != nil && !at.Before(t.At)
	}
	after := false
	for i := range steps {
		after = after || later(i)
	}
	if t.Moment == operational.ToldAtStart && !after {
		return // the steps are those of before it was resumed, or the agent's clock is behind: nothing shows what came of it
	}
	item.Judged = true
	isIncident := item.Kind == router.KindIncident
	for i, s := range steps {
		if s.Outcome == history.Worked && !item.Used && later(i) {
			item.Used = slices.ContainsFunc(item.Gives, func(given string) bool {
				return runs(s.Command, given) || isIncident && history.Follows(given, s.Command)
			})
		}
	}
	if !isIncident {
		return
	}
	came := happened[item.ID]
	if t.Moment == operational.ToldAtFailure {
		came.Again = without(came.Again, steps, t.At)
	}
	item.Repeated = item.Repeated || slices.ContainsFunc(came.Again, later)
	if t.Moment != operational.ToldAtFailure { // there it had happened already
		item.Went = item.Went || item.Used || slices.ContainsFunc(came.Ran, later)
	}
}

// ownFailure is how far the time of a failure may lie from when it was told of, by the clocks of the agent and of the router.
const ownFailure = 2 * time.Minute

// without are the failures but the one that was told of at a time: the closest to it.
func without(failures []int, steps []history.Step, told time.Time) []int {
	own, least := -1, ownFailure
	for k, i := range failures {
		if at := steps[i].At; at != nil && at.Sub(told).Abs() < least {
			own, least = k, at.Sub(told).Abs()
		}
	}
	if own < 0 {
		return failures
	}
	return failures[own+1:]
}

// Checked notes what the guard said before a command.
func (v *Values) Checked(agent string, action rule.Action, checked guard.Checked) {
	if checked.Decision == rule.DecisionAllow || checked.CheckID == "" {
		return
	}
	told := operational.Telling{Agent: agent, Project: action.Project, Moment: operational.ToldAtCommand, About: checked.CheckID}
	for _, m := range checked.Matches {
		kind := router.KindGuard
		if m.Lane == rule.LaneIncident {
			kind = router.KindIncident
		}
		told.Items = append(told.Items, operational.ToldItem{
			Kind: kind, ID: m.RuleID, Title: m.Title, Own: kind == router.KindIncident, Text: strings.Join(append([]string{m.Title, m.Reason, m.WhyBad}, m.Alternatives...), "\n"),
		})
	}
	if len(told.Items) > 0 {
		v.tellings.Note(told)
	}
}

// Settled judges what the guard said before a command by what was done then: left alone it is prevented, failed all the same it is
// repeated. What went well all the same was a false warning, and neither.
func (v *Values) Settled(settled guard.Settled) {
	if settled.Duplicate {
		return
	}
	result := operational.ToldResult{Judged: true}
	switch {
	case settled.Outcome == lesson.OutcomeHeeded:
		result.Used, result.Went = true, true
	case settled.Result == learning.ResultFailure:
		result.Repeated = true
	}
	v.tellings.SettleLater(operational.TellingQuery{Check: settled.CheckID, Limit: 1}, func(told []operational.Telling) {
		for _, t := range told {
			for i := range t.Items {
				t.Items[i].ToldResult = result
			}
		}
	})
}

// Helped judges an item of which its reader says whether it helped, if that agent was told it lately.
func (v *Values) Helped(agent, kind, id string, helped bool) {
	if agent == "" {
		return
	}
	v.tellings.SettleLater(operational.TellingQuery{Agent: agent, Since: v.now().Add(-markedFor), Limit: mostTold}, func(told []operational.Telling) {
		for _, t := range told { // the newest first
			for i := range t.Items {
				item := &t.Items[i]
				if item.ID == id && sameKind(item.Kind, kind) {
					item.Judged, item.Used = true, item.Used || helped
					return
				}
			}
		}
	})
}

// sameKind tells whether two kinds are the same, or levels of lessons.
func sameKind(a, b string) bool {
	lessons := []string{router.KindGuard, router.KindLesson, router.KindPattern, router.KindPrinciple}
	return a == b || slices.Contains(lessons, a) && slices.Contains(lessons, b)
}
