package operationaltest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

// ReminderWorld is an installation whose clock the test moves.
type ReminderWorld struct {
	World[operational.ReminderService]
	// Now is what its clock shows.
	Now func() time.Time
	// Advance moves its clock, backwards too, and lets come due what does then.
	Advance func(t *testing.T, d time.Duration)
	// Mail returns the messages in an agent's mailbox.
	Mail func(t *testing.T, agent string) []operational.Message
}

// Reminders runs the contract of ReminderService over worlds that fresh makes.
func Reminders(t *testing.T, fresh func(t *testing.T) ReminderWorld) {
	for name, run := range map[string]func(*testing.T, ReminderWorld){
		"life of a reminder":       reminderLife,
		"recurring":                reminderRecurs,
		"snooze":                   reminderSnooze,
		"events":                   reminderEvents,
		"ends":                     reminderEnds,
		"who may do what":          reminderRights,
		"input is checked":         reminderInput,
		"the same key":             reminderKeys,
		"secrets are cut out":      reminderSecrets,
		"pending, by persona":      reminderPending,
		"lists and counts":         reminderLists,
		"a clock that is set back": reminderBackwards,
	} {
		t.Run(name, func(t *testing.T) { run(t, fresh(t)) })
	}
}

func reminderLife(t *testing.T, w ReminderWorld) {
	a := agent("builder-1")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	check, list := must[operational.Reminder](t), must[[]operational.Reminder](t)
	r := check(svc.Schedule(ctx, operational.ReminderDraft{
		Task: " verify payment-service stability after deployment ", Trigger: "time:+1hour",
		Context: json.RawMessage(`{"version": "v2.4.0", "metric": "error_rate"}`), ConversationID: "c1", Project: "shop",
	}))
	due := w.Now().Add(time.Hour)
	if r.Number != 1 || r.Task != "verify payment-service stability after deployment" || r.Status != operational.ReminderPending || r.Persona != "default" ||
		r.CreatedBy != "builder-1" || r.TriggerType != operational.TriggerTime || r.TriggerValue != "+1hour" || r.ConversationID != "c1" || r.Project != "shop" {
		t.Fatalf("a new reminder is %+v", r)
	}
	if off := due.Sub(*r.ScheduledFor); off < -time.Minute || off > time.Minute {
		t.Fatalf("it is scheduled for %v and not in an hour", r.ScheduledFor)
	}
	if stored := check(svc.Reminder(ctx, 1)); cmp.Diff(r, stored) != "" {
		t.Fatalf("what is stored differs from what was answered:\n%s", cmp.Diff(r, stored))
	}
	w.Advance(t, 50*time.Minute)
	if early := list(svc.Pending(ctx, operational.PendingQuery{})); len(early) != 0 {
		t.Fatalf("due too early: %+v", early)
	}
	if soon := list(svc.Pending(ctx, operational.PendingQuery{IncludeScheduled: true})); len(soon) != 1 {
		t.Fatalf("what is scheduled is not shown: %+v", soon)
	}
	w.Advance(t, 11*time.Minute)
	now := list(svc.Pending(ctx, operational.PendingQuery{}))
	if len(now) != 1 || now[0].Status != operational.ReminderDue || now[0].Fired != 1 || now[0].FiredAt == nil || now[0].Missed || now[0].DeliveredTo != "builder-1" {
		t.Fatalf("what is due: %+v", now)
	}
	mail := w.Mail(t, "builder-1")
	if len(mail) != 1 || mail[0].Signal != "reminder" || mail[0].From != "skillrouter" || mail[0].ID != now[0].MessageID {
		t.Fatalf("the mailbox has %+v", mail)
	}
	var said struct {
		ID      int64             `json:"id"`
		Task    string            `json:"task"`
		Persona string            `json:"persona"`
		Trigger string            `json:"trigger"`
		Context map[string]string `json:"context"`
	}
	if err := json.Unmarshal(mail[0].Context, &said); err != nil || said.ID != 1 || said.Task != r.Task || said.Persona != "default" ||
		said.Trigger != "time:+1hour" || said.Context["version"] != "v2.4.0" {
		t.Fatalf("the message says %s", mail[0].Context)
	}
	w.Advance(t, time.Hour)
	if again := w.Mail(t, "builder-1"); len(again) != 1 {
		t.Fatalf("it was delivered %d times", len(again))
	}
	r = check(svc.Complete(ctx, 1, operational.ReminderNote{Note: "error rate is normal"}))
	if r.Status != operational.ReminderCompleted || r.Note != "error rate is normal" || r.Next != nil {
		t.Fatalf("a completed one is %+v", r)
	}
	if rest := list(svc.Pending(ctx, operational.PendingQuery{IncludeScheduled: true})); len(rest) != 0 {
		t.Fatalf("still pending: %+v", rest)
	}
}

func reminderRecurs(t *testing.T, w ReminderWorld) {
	a := agent("a")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	check := must[operational.Reminder](t)
	r := check(svc.Schedule(ctx, operational.ReminderDraft{Task: "look", Trigger: "cron:0 * * * *", Timezone: "Europe/Berlin"}))
	if r.TriggerType != operational.TriggerCron || r.Recurring != "0 * * * *" || r.Next == nil || r.Next.Minute() != 0 || !r.Next.After(w.Now()) {
		t.Fatalf("a recurring one is %+v", r)
	}
	if _, err := svc.Complete(ctx, r.Number, operational.ReminderNote{}); errs.CodeOf(err) != errs.Conflict {
		t.Fatalf("one that is not due was completed: %v", err)
	}
	for round := int64(1); round <= 3; round++ {
		w.Advance(t, time.Hour)
		r = check(svc.Reminder(ctx, r.Number))
		if r.Status != operational.ReminderDue || r.Fired != round || !r.Next.After(w.Now()) || !r.Next.Equal(r.ScheduledFor.Add(time.Hour)) {
			t.Fatalf("after %d hours it is %+v at %v", round, r, w.Now())
		}
		if round == 2 {
			continue // nobody did it, and it comes again
		}
		if r = check(svc.Complete(ctx, r.Number, operational.ReminderNote{})); r.Status != operational.ReminderPending || !r.ScheduledFor.Equal(*r.Next) {
			t.Fatalf("a recurring one that is done is %+v", r)
		}
	}
	w.Advance(t, 10*time.Hour) // ten at once
	if r = check(svc.Reminder(ctx, r.Number)); r.Fired != 4 || !r.Next.After(w.Now()) {
		t.Fatalf("after ten hours at once it is %+v", r)
	}
	first := check(svc.Schedule(ctx, operational.ReminderDraft{Task: "first then", Trigger: "time:+5min", Recurring: "@daily"}))
	if first.TriggerType != operational.TriggerTime || first.Recurring != "@daily" || first.ScheduledFor.Sub(w.Now()) > 6*time.Minute {
		t.Fatalf("one with a first time is %+v", first)
	}
	w.Advance(t, 6*time.Minute)
	if first = check(svc.Reminder(ctx, first.Number)); first.Next == nil || first.Next.Hour() != 0 || first.Next.Minute() != 0 {
		t.Fatalf("then it is %+v", first)
	}
	r = check(svc.Cancel(ctx, r.Number, operational.ReminderNote{}))
	if r.Status != operational.ReminderCancelled || r.Next != nil {
		t.Fatalf("a cancelled one is %+v", r)
	}
	scheduled := *r.ScheduledFor
	if r = check(svc.Restore(ctx, r.Number, operational.ReminderNote{})); r.Status != operational.ReminderPending || r.Next == nil || !r.Next.Equal(scheduled) {
		t.Fatalf("one that was restored is %+v, and was to come at %v", r, scheduled)
	}
	if again := check(svc.Restore(ctx, r.Number, operational.ReminderNote{})); again.Status != operational.ReminderPending || !again.UpdatedAt.Equal(r.UpdatedAt) {
		t.Fatalf("restored twice it is %+v", again)
	}
	check(svc.Cancel(ctx, r.Number, operational.ReminderNote{}))
	w.Advance(t, time.Hour)
	check(svc.Restore(ctx, r.Number, operational.ReminderNote{}))
	w.Advance(t, time.Second)
	if r = check(svc.Reminder(ctx, r.Number)); r.Status != operational.ReminderDue {
		t.Fatalf("one whose time had passed is %+v after it was restored", r)
	}
}

func reminderSnooze(t *testing.T, w ReminderWorld) {
	a := agent("a")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	check := must[operational.Reminder](t)
	r := check(svc.Schedule(ctx, operational.ReminderDraft{Task: "t", Trigger: "time:+1min"}))
	w.Advance(t, 2*time.Minute)
	r = check(svc.Snooze(ctx, r.Number, operational.ReminderSnooze{For: "2 hours"}))
	if ahead := r.ScheduledFor.Sub(w.Now()); r.Status != operational.ReminderPending || ahead < 119*time.Minute || ahead > 121*time.Minute {
		t.Fatalf("a snoozed one is %+v", r)
	}
	w.Advance(t, 2*time.Hour+time.Minute)
	if r = check(svc.Reminder(ctx, r.Number)); r.Status != operational.ReminderDue || r.Fired != 2 {
		t.Fatalf("it comes again as %+v", r)
	}
	if mail := w.Mail(t, "a"); len(mail) != 2 {
		t.Fatalf("two deliveries are %d messages", len(mail))
	}
	until := w.Now().Add(time.Hour)
	check(svc.Snooze(ctx, r.Number, operational.ReminderSnooze{Until: &until}))
	past := w.Now().Add(-time.Hour)
	for name, snooze := range map[string]operational.ReminderSnooze{
		"neither": {}, "both": {For: "1h", Until: &until}, "past": {Until: &past}, "nonsense": {For: "soon"}, "nothing": {For: "0s"}, "for ever": {For: "9999 weeks"},
	} {
		if _, err := svc.Snooze(ctx, r.Number, snooze); errs.CodeOf(err) != errs.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	event := check(svc.Schedule(ctx, operational.ReminderDraft{Task: "t", Trigger: "event:x"}))
	refuses(t, errs.Conflict)(svc.Snooze(ctx, event.Number, operational.ReminderSnooze{For: "1h"}))
}

func reminderEvents(t *testing.T, w ReminderWorld) {
	a := agent("a")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	check, count := must[operational.Reminder](t), must[int](t)
	if n := count(svc.Happened(ctx, operational.Happening{Name: "deployment"})); n != 0 {
		t.Fatalf("%d came due and there are none", n)
	}
	for _, trigger := range []string{"event:deployment", "event:deploy*", "event:release", "event:d?ployment"} {
		check(svc.Schedule(ctx, operational.ReminderDraft{Task: trigger, Trigger: trigger}))
	}
	if n := count(svc.Happened(ctx, operational.Happening{Name: "deployment", Data: json.RawMessage(`{"v":1}`)})); n != 3 {
		t.Fatalf("%d came due and not 3", n)
	}
	if n := count(svc.Happened(ctx, operational.Happening{Name: "deployment"})); n != 0 {
		t.Fatalf("%d came due twice", n)
	}
	if mail := w.Mail(t, "a"); len(mail) != 3 {
		t.Fatalf("%d messages", len(mail))
	}
	if r := check(svc.Reminder(ctx, 3)); r.Status != operational.ReminderPending || r.ScheduledFor != nil {
		t.Fatalf("what has not happened: %+v", r)
	}
	for name, h := range map[string]operational.Happening{
		"none": {}, "a pattern": {Name: "a*"}, "its own": {Name: "reminder.due"}, "a line": {Name: "a\nb"}, "long": {Name: strings.Repeat("x", 200)},
	} {
		if _, err := svc.Happened(ctx, h); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	// What came due is snoozed by time, and waits for its event no more.
	check(svc.Snooze(ctx, 1, operational.ReminderSnooze{For: "1h"}))
	if n := count(svc.Happened(ctx, operational.Happening{Name: "deployment"})); n != 0 {
		t.Fatalf("a snoozed one came due by its event")
	}
}

func reminderEnds(t *testing.T, w ReminderWorld) {
	a := agent("a")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	check := must[operational.Reminder](t)
	for range 2 {
		check(svc.Schedule(ctx, operational.ReminderDraft{Task: "t", Trigger: "time:+1h"}))
	}
	check(svc.Complete(ctx, 1, operational.ReminderNote{})) // before it is due: it is done all the same
	check(svc.Complete(ctx, 1, operational.ReminderNote{}))
	check(svc.Cancel(ctx, 2, operational.ReminderNote{Note: "no more"}))
	check(svc.Cancel(ctx, 2, operational.ReminderNote{}))
	refuses(t, errs.Conflict)(svc.Cancel(ctx, 1, operational.ReminderNote{}))
	refuses(t, errs.Conflict)(svc.Complete(ctx, 2, operational.ReminderNote{}))
	refuses(t, errs.Conflict)(svc.Snooze(ctx, 1, operational.ReminderSnooze{For: "1h"}))
	w.Advance(t, 2*time.Hour)
	if mail := w.Mail(t, "a"); len(mail) != 0 {
		t.Fatalf("what had ended was delivered: %+v", mail)
	}
	for _, call := range []func() error{
		func() error { _, err := svc.Reminder(ctx, 9); return err },
		func() error { _, err := svc.Complete(ctx, 9, operational.ReminderNote{}); return err },
		func() error { _, err := svc.Cancel(ctx, 9, operational.ReminderNote{}); return err },
	} {
		wantCode(t, call(), errs.NotFound)
	}
	refuses(t, errs.Invalid)(svc.Reminder(ctx, -1))
}

func reminderRights(t *testing.T, w ReminderWorld) {
	a, b := agent("a"), agent("b")
	check := must[operational.Reminder](t)
	check(w.As(a).Schedule(w.Context(t.Context(), a), operational.ReminderDraft{Task: "for b", Trigger: "time:+1h", AgentID: "b"}))
	check(w.As(a).Schedule(w.Context(t.Context(), a), operational.ReminderDraft{Task: "for anybody", Trigger: "time:+1h"}))
	check(w.As(a).Schedule(w.Context(t.Context(), a), operational.ReminderDraft{Task: "for c", Trigger: "time:+1h", AgentID: "c"}))
	for _, who := range []struct {
		p                 principal.Principal
		code1, code2      errs.Code
		schedule, readAll errs.Code
	}{
		{nobody, errs.Forbidden, errs.Forbidden, errs.Forbidden, errs.Forbidden},
		{onlooker, errs.Forbidden, errs.Forbidden, errs.Forbidden, ""},
	} {
		if len(who.p.Scopes) == 0 {
			continue // over HTTP it has no token at all, which the access matrix tries
		}
		svc, ctx := w.As(who.p), w.Context(t.Context(), who.p)
		refuses(t, who.code1)(svc.Complete(ctx, 1, operational.ReminderNote{}))
		refuses(t, who.schedule)(svc.Schedule(ctx, operational.ReminderDraft{Task: "t", Trigger: "time:+1h"}))
		refuses(t, errs.Forbidden)(svc.Happened(ctx, operational.Happening{Name: "x"}))
		refuses(t, who.readAll)(svc.List(ctx, operational.ReminderFilter{}))
	}
	svc, ctx := w.As(b), w.Context(t.Context(), b)
	refuses(t, errs.Forbidden)(svc.Complete(ctx, 3, operational.ReminderNote{}))
	refuses(t, errs.Forbidden)(svc.Snooze(ctx, 3, operational.ReminderSnooze{For: "1h"}))
	refuses(t, errs.Forbidden)(svc.Complete(ctx, 1, operational.ReminderNote{AgentID: "a"}))
	refuses(t, errs.Forbidden)(svc.Schedule(ctx, operational.ReminderDraft{Task: "t", Trigger: "time:+1h", CreatedBy: "a"}))
	check(svc.Complete(ctx, 1, operational.ReminderNote{}))
	check(svc.Complete(ctx, 2, operational.ReminderNote{}))
	check(w.As(captain).Cancel(w.Context(t.Context(), captain), 3, operational.ReminderNote{}))
}

func reminderInput(t *testing.T, w ReminderWorld) {
	a := agent("a")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	deep := strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100)
	for _, bad := range []struct {
		name, field string
		code        errs.Code
		draft       operational.ReminderDraft
	}{
		{"no task", "task", errs.Invalid, operational.ReminderDraft{Trigger: "time:+1h"}},
		{"a long task", "task", errs.TooLarge, operational.ReminderDraft{Task: strings.Repeat("x", 10<<10), Trigger: "time:+1h"}},
		{"NUL", "task", errs.Invalid, operational.ReminderDraft{Task: "a\x00b", Trigger: "time:+1h"}},
		{"no trigger", "trigger", errs.Invalid, operational.ReminderDraft{Task: "t"}},
		{"no type", "trigger", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "+1hour"}},
		{"another type", "trigger", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "moon:full"}},
		{"no value", "trigger", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "time: "}},
		{"no offset", "trigger", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "time:2026-12-24T18:00:00"}},
		{"a month", "trigger", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "time:+1month"}},
		{"a century", "trigger", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "time:+5200 weeks"}},
		{"a far year", "trigger", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "time:9999-01-01T00:00:00Z"}},
		{"61 minutes", "trigger", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "cron:61 * * * *"}},
		{"61 minutes, recurring", "recurring", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "time:+1h", Recurring: "61 * * * *"}},
		{"30 February", "trigger", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "cron:0 0 30 2 *"}},
		{"TZ", "trigger", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "cron:TZ=0"}},
		{"CRON_TZ", "trigger", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "cron:CRON_TZ=UTC 0 0 * * *"}},
		{"a second", "trigger", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "cron:@every 1s"}},
		{"no such zone", "timezone", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "cron:@daily", Timezone: "Mars/Olympus"}},
		{"a path for a zone", "timezone", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "cron:@daily", Timezone: "../../etc/passwd"}},
		{"a zone for nothing", "timezone", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "time:+1h", Timezone: "UTC"}},
		{"two recurrences", "recurring", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "cron:@daily", Recurring: "@weekly"}},
		{"an event that recurs", "recurring", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "event:x", Recurring: "@weekly"}},
		{"its own event", "trigger", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "event:reminder.due"}},
		{"a persona", "persona", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "time:+1h", Persona: "../x"}},
		{"an agent", "agent_id", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "time:+1h", AgentID: "a b"}},
		{"a list for context", "context", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "time:+1h", Context: json.RawMessage(`[1]`)}},
		{"a deep context", "context", errs.Invalid, operational.ReminderDraft{Task: "t", Trigger: "time:+1h", Context: json.RawMessage(deep)}},
		{"a large context", "context", errs.TooLarge, operational.ReminderDraft{Task: "t", Trigger: "time:+1h", Context: json.RawMessage(`{"a":"` + strings.Repeat("x", 20<<10) + `"}`)}},
	} {
		_, err := svc.Schedule(ctx, bad.draft)
		if errs.CodeOf(err) != bad.code || errs.FieldOf(err) != bad.field {
			t.Errorf("%s: %v, code %s, field %q", bad.name, err, errs.CodeOf(err), errs.FieldOf(err))
		}
	}
	_, err := svc.Schedule(ctx, operational.ReminderDraft{Task: "t", Trigger: "cron:61 * * * *"})
	if text := errs.MessageOf(err); !strings.Contains(text, "minute") || !strings.Contains(text, "0–59") {
		t.Errorf("a cron of 61 minutes: %q", text)
	}
	for name, filter := range map[string]operational.ReminderFilter{
		"status": {Status: []operational.ReminderStatus{"done"}}, "limit": {Limit: -1}, "agent": {AgentID: "a b"}, "persona": {Persona: "../x"}, "after": {After: -1},
	} {
		if _, err := svc.List(ctx, filter); errs.CodeOf(err) != errs.Invalid {
			t.Errorf("filter %s: %v", name, err)
		}
	}
}

func reminderKeys(t *testing.T, w ReminderWorld) {
	a := agent("a")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	check := must[operational.Reminder](t)
	draft := operational.ReminderDraft{Task: "t", Trigger: "time:+1h", IdempotencyKey: "k"}
	first := check(svc.Schedule(ctx, draft))
	if again := check(svc.Schedule(ctx, draft)); again.Number != first.Number {
		t.Errorf("the same key made reminder %d beside %d", again.Number, first.Number)
	}
	draft.Task = "another"
	refuses(t, errs.Conflict)(svc.Schedule(ctx, draft))
	b := agent("b")
	if other := check(w.As(b).Schedule(w.Context(t.Context(), b), draft)); other.Number == first.Number {
		t.Error("another agent's key was found")
	}
}

func reminderSecrets(t *testing.T, w ReminderWorld) {
	a := agent("a")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	r := must[operational.Reminder](t)(svc.Schedule(ctx, operational.ReminderDraft{
		Task: "log in with password=" + secret, Trigger: "time:+1min", Context: json.RawMessage(`{"password":"` + secret + `","n":12345678901234567890,"html":"<b>"}`),
	}))
	w.Advance(t, 2*time.Minute)
	mail := w.Mail(t, "a")
	if len(mail) != 1 {
		t.Fatalf("%d messages", len(mail))
	}
	for _, text := range []string{r.Task, string(r.Context), string(mail[0].Context)} {
		if strings.Contains(text, secret) {
			t.Errorf("a secret is in %q", text)
		}
	}
	if !strings.Contains(string(r.Context), "12345678901234567890") {
		t.Errorf("a number was changed: %s", r.Context)
	}
	done := must[operational.Reminder](t)(svc.Complete(ctx, r.Number, operational.ReminderNote{Note: "password=" + secret}))
	if strings.Contains(done.Note, secret) {
		t.Errorf("a secret is in the note %q", done.Note)
	}
	if len(r.Redacted) == 0 || len(done.Redacted) == 0 {
		t.Errorf("the answers say of what was cut out: %v, %v", r.Redacted, done.Redacted)
	}
}

func reminderPending(t *testing.T, w ReminderWorld) {
	a, b := agent("a"), agent("b")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	list := must[[]operational.Reminder](t)
	for _, draft := range []operational.ReminderDraft{
		{Task: "default"}, {Task: "coder", Persona: "coder"}, {Task: "b's", Persona: "coder", AgentID: "b"}, {Task: "c's", AgentID: "c"},
	} {
		draft.Trigger = "time:+1min"
		must[operational.Reminder](t)(svc.Schedule(ctx, draft))
	}
	w.Advance(t, 2*time.Minute)
	for _, step := range []struct {
		who   principal.Principal
		query operational.PendingQuery
		want  string
	}{
		{a, operational.PendingQuery{}, "default c's"},
		{a, operational.PendingQuery{Persona: "coder"}, "coder b's"},
		{b, operational.PendingQuery{AgentID: "b"}, "default b's"},
		{b, operational.PendingQuery{AgentID: "b", Persona: "coder"}, "coder b's"},
		{captain, operational.PendingQuery{AgentID: "x", Persona: "nobody"}, ""},
	} {
		found := list(w.As(step.who).Pending(w.Context(t.Context(), step.who), step.query))
		var names []string
		for _, r := range found {
			names = append(names, r.Task)
		}
		if got := strings.Join(names, " "); got != step.want {
			t.Errorf("%+v: %q, want %q", step.query, got, step.want)
		}
	}
	// Nobody was there for the persona when it came due; b saw it and counts as told.
	if r := must[operational.Reminder](t)(svc.Reminder(ctx, 2)); r.DeliveredTo != "b" || r.Status != operational.ReminderDue {
		t.Errorf("what b saw: %+v", r)
	}
	if mail := w.Mail(t, "b"); len(mail) != 1 {
		t.Errorf("b has %d messages, and one reminder was for it", len(mail))
	}
}

func reminderLists(t *testing.T, w ReminderWorld) {
	a := agent("a")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	for i := range 5 {
		must[operational.Reminder](t)(svc.Schedule(ctx, operational.ReminderDraft{Task: fmt.Sprint(i), Trigger: fmt.Sprintf("time:+%dmin", 50-10*i), Project: fmt.Sprint("p", i%2)}))
	}
	w.Advance(t, 25*time.Minute)
	for _, step := range []struct {
		filter operational.ReminderFilter
		want   string
	}{
		{operational.ReminderFilter{}, "3 4 0 1 2"},
		{operational.ReminderFilter{Status: []operational.ReminderStatus{operational.ReminderDue}}, "3 4"},
		{operational.ReminderFilter{Project: "p0"}, "4 0 2"},
		{operational.ReminderFilter{After: 1, Limit: 2}, "1 2"},
		{operational.ReminderFilter{Open: true, Limit: 1}, "3"},
		{operational.ReminderFilter{AgentID: "a"}, "3 4 0 1 2"},
		{operational.ReminderFilter{AgentID: "z"}, ""},
	} {
		var names []string
		for _, r := range must[[]operational.Reminder](t)(svc.List(ctx, step.filter)) {
			names = append(names, r.Task)
		}
		if got := strings.Join(names, " "); got != step.want {
			t.Errorf("%+v: %q, want %q", step.filter, got, step.want)
		}
	}
	stats := must[operational.ReminderStats](t)(svc.Stats(ctx))
	if stats.Personas["default"][operational.ReminderDue] != 2 || stats.Personas["default"][operational.ReminderPending] != 3 || stats.Next == nil {
		t.Errorf("stats: %+v", stats)
	}
}

func reminderBackwards(t *testing.T, w ReminderWorld) {
	a := agent("a")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	check := must[operational.Reminder](t)
	check(svc.Schedule(ctx, operational.ReminderDraft{Task: "once", Trigger: "time:+10min"}))
	check(svc.Schedule(ctx, operational.ReminderDraft{Task: "hourly", Trigger: "cron:@hourly"}))
	w.Advance(t, 61*time.Minute)
	w.Advance(t, -60*time.Minute)
	w.Advance(t, 59*time.Minute)
	if mail := w.Mail(t, "a"); len(mail) != 2 {
		t.Fatalf("%d messages came of a clock that was set back", len(mail))
	}
	if r := check(svc.Reminder(ctx, 2)); r.Fired != 1 {
		t.Fatalf("the recurring one fired %d times", r.Fired)
	}
}
