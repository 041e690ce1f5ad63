package question

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/procedure"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/decision"
)

// The services whose rows are asked for. One that is nil is not asked.
type (
	// Sources are what questions about state are answered from.
	Sources struct {
		Agents      router.Agents
		Tasks       operational.TaskService
		Recon       operational.ReconService
		Mail        Mail
		Leases      Leases
		Reminders   Lister[operational.ReminderFilter, []operational.Reminder]
		Escalations Lister[operational.EscalationFilter, []operational.Escalation]
		Guard       guard.Service
		Incidents   *history.Incidents
		Lessons     Lister[lesson.Filter, lesson.Page]
		Patterns    Lister[lesson.PatternFilter, []lesson.Pattern]
		Knowledge   Lister[knowledge.Filter, knowledge.Page]
		Episodes    Episodes
		Facts       fact.Service
		Procedures  Lister[procedure.Filter, procedure.Page]
		Decisions   decision.Service
	}

	// Lister lists the rows that a filter selects.
	Lister[Filter, Page any] interface {
		List(ctx context.Context, filter Filter) (Page, error)
	}

	// Mail counts and lists messages that wait. It checks no right: the asker asks only for what the caller may see.
	Mail interface {
		Waiting(ctx context.Context, agents []string, now time.Time) (map[string]int, error)
		Awaited(ctx context.Context, from string, before, now time.Time, limit, agents int) ([]operational.Awaited, error)
	}

	// Episodes lists episodes, the latest first.
	Episodes interface {
		List(ctx context.Context, filter episode.Filter, cursor string) (found []episode.Episode, next string, err error)
	}

	// Leases lists leases that are held.
	Leases interface {
		Leases(ctx context.Context, filter operational.LeaseFilter) ([]operational.Lease, error)
	}
)

// mostRows bounds how many rows are read to answer one question about state.
const mostRows = 1000

// wanted is which rows of a kind are asked for. A table selects by what its store can; the rest is selected from its rows.
type wanted struct {
	reading
	project string
	agent   string // the one agent that is named, if it is one
	now     time.Time
	few     int // if it is not 0: nothing selects from the rows, and so many are shown
	needles needles
}

// needles are what a row must have for it to be compared: reading rows costs more than all else of a question.
type needles []string

// needlesOf are what words have in common with their stems: every form of a word has that. A single letter is in every row.
func needlesOf(said, stems []string) (list needles) {
	for i, w := range said {
		n := 0
		for n < len(w) && n < len(stems[i]) && w[n] == stems[i][n] {
			n++
		}
		if n > 1 {
			list = append(list, w[:n])
		}
	}
	return list
}

// in tells whether a row, as JSON, has enough of them, or one that is no plain word. None are in every row.
func (n needles) in(row []byte) bool {
	row = bytes.ToLower(row)
	held := 0
	for _, needle := range n {
		if bytes.Contains(row, []byte(needle)) {
			if held++; strings.ContainsAny(needle, "0123456789-._/") {
				return true
			}
		}
	}
	return float64(held) >= leastHeld*float64(len(n))
}

// page is how many rows are read at once.
func (w *wanted) page() int { return min(cmp.Or(w.few, learning.MaxLimit-1), learning.MaxLimit-1) }

// one is the value that a member must have, if it is one value.
func (w *wanted) one(member string) string {
	if values := w.members[member]; len(values) == 1 {
		return values[0]
	}
	return ""
}

// valuesOf are the values that a member may have.
func valuesOf[T ~string](w *wanted, member string) (list []T) {
	for _, v := range w.members[member] {
		list = append(list, T(v))
	}
	return list
}

// table is the rows of one kind.
type table struct {
	kind, one string
	many      string   // empty: one with an s
	missing   bool     // the service that has them is not there
	learned   bool     // it is kept in learning.db
	walled    bool     // it keeps to the projects of a token
	counted   bool     // its total is right also where not all rows are read
	searched  bool     // no search knows its rows by their words: they are looked through
	usual     []string // a member and the values that are meant if the question says nothing: open tasks
	list      func(ctx context.Context, w *wanted) (items []router.Item, total int, err error)
}

// shape says which members of a row are what of an item.
type shape struct {
	id, title, text, agent, at, fields string
	needles                            needles
}

// only is a shape of the rows alone that have what is wanted.
func (s shape) only(w *wanted) shape {
	s.needles = w.needles
	return s
}

// itemsOf are rows as items. total is how many there are.
func itemsOf[T any](kind string, rows []T, s shape, err error) ([]router.Item, int, error) {
	items := make([]router.Item, 0, len(rows))
	for i := range rows {
		if err != nil {
			break
		}
		var text []byte
		if text, err = json.Marshal(rows[i]); err != nil {
			break
		}
		if !s.needles.in(text) {
			continue
		}
		var row map[string]any
		numbers := json.NewDecoder(bytes.NewReader(text))
		numbers.UseNumber()
		if err = numbers.Decode(&row); err != nil {
			break
		}
		item := router.Item{Kind: kind, ID: saidOf(row[s.id]), Title: saidOf(row[s.title]), AgentID: saidOf(row[s.agent]), Project: saidOf(row["project"]), Fields: map[string]any{}}
		item.At, _ = time.Parse(time.RFC3339Nano, saidOf(row[s.at]))
		var parts []string
		for _, member := range strings.Fields(s.text) {
			if part := saidOf(row[member]); part != "" {
				parts = append(parts, part)
			}
		}
		item.Text = strings.Join(parts, "\n")
		for _, member := range strings.Fields(s.fields) {
			if v := row[member]; saidOf(v) != "" {
				item.Fields[member] = v
			}
		}
		items = append(items, item)
	}
	return items, len(items), err
}

// saidOf is a member as text; empty if there is none.
func saidOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case []any:
		parts := make([]string, len(v))
		for i, one := range v {
			parts[i] = saidOf(one)
		}
		return strings.Join(parts, ", ")
	}
	return fmt.Sprint(v)
}

// paged lists the rows of a kind page by page, until there are enough.
func paged[T any](kind string, of shape, read func(ctx context.Context, w *wanted, cursor string) (page []T, next string, err error)) func(context.Context, *wanted) ([]router.Item, int, error) {
	return func(ctx context.Context, w *wanted) ([]router.Item, int, error) {
		var rows []T
		for cursor := ""; ; {
			page, next, err := read(ctx, w, cursor)
			rows = append(rows, page...)
			if err != nil || next == "" || len(rows) >= cmp.Or(w.few, mostRows) {
				return itemsOf(kind, rows, of.only(w), err)
			}
			cursor = next
		}
	}
}

// How rows are items that more than one place lists.
var (
	taskShape     = shape{id: "id", title: "title", text: "description", agent: "agent_id", at: "updated_at", fields: "number status priority progress note blocked_reason result error created_at"}
	findingShape  = shape{id: "id", title: "title", text: "description", at: "last_seen", fields: "environment severity status occurrences first_seen last_seen cve location evidence remediation scan_id"}
	incidentShape = shape{id: "id", title: "example", text: "error command", at: "last_seen", fields: "program count sessions solved fixes accepted"}
	approvalShape = shape{id: "approval_id", title: "proposed_action", agent: "agent", at: "asked_at", fields: "number state tool folder ends_at decided_by notes withheld"}
	lessonShape   = shape{
		id: "id", title: "title", text: "context action_taken outcome solution", agent: "source_agent", at: "created_at",
		fields: "number lesson_type domain category severity level status confidence occurrence_count tags trust related_commands",
	}
	patternShape = shape{
		id: "id", title: "pattern_name", text: "description recommended_action", at: "last_seen", fields: "number pattern_type status domain occurrence_count lesson_count confidence",
	}
	escalationShape = shape{id: "id", title: "title", text: "reason", agent: "source_agent", at: "last_raised_at", fields: "number status priority escalated_to domain lesson_id pattern_id occurrence_count"}
)

// tables are the kinds that can be asked for by their state.
func (s *Sources) tables() []table {
	all := []table{
		{kind: router.KindTask, one: "task", missing: s.Tasks == nil, usual: append([]string{"status"}, safetext.Strings(operational.OpenTaskStatuses())...), counted: true, list: s.listTasks},
		{kind: "agent", one: "agent", missing: s.Agents == nil, walled: true, list: s.listAgents},
		{kind: router.KindReminder, one: "reminder", missing: s.Reminders == nil, searched: true, usual: []string{"status", "pending", "due"}, list: s.listReminders},
		{kind: router.KindFinding, one: "finding", missing: s.Recon == nil, usual: append([]string{"status"}, safetext.Strings(operational.ActiveFindingStatuses())...), counted: true, list: s.listFindings},
		{kind: "scan", one: "scan", missing: s.Recon == nil, list: paged("scan", shape{id: "id", title: "scanner", text: "environment summary", agent: "agent_id", at: "started_at", fields: "environment scanner status finished_at"},
			func(ctx context.Context, w *wanted, _ string) ([]operational.Scan, string, error) {
				rows, err := s.Recon.Scans(ctx, operational.ScanFilter{Project: w.project, Status: w.one("status"), Since: w.span.From, Limit: mostRows})
				return rows, "", err
			})},
		{kind: "environment", one: "environment", missing: s.Recon == nil, list: paged("environment", shape{id: "id", title: "name", text: "description", at: "updated_at", fields: "kind"},
			func(ctx context.Context, w *wanted, _ string) ([]operational.Environment, string, error) {
				rows, err := s.Recon.Environments(ctx, w.project)
				return rows, "", err
			})},
		{kind: "lease", one: "lease", missing: s.Leases == nil, searched: true, list: paged("lease", shape{id: "lease_id", title: "patterns", text: "why", agent: "agent_id", at: "taken_at", fields: "patterns shared folder expires_at"},
			func(ctx context.Context, w *wanted, _ string) ([]operational.Lease, string, error) {
				rows, err := s.Leases.Leases(ctx, operational.LeaseFilter{Project: w.project, AgentID: w.agent, Limit: mostRows})
				return rows, "", err
			})},
		{kind: "escalation", one: "escalation", missing: s.Escalations == nil, list: paged("escalation", escalationShape,
			func(ctx context.Context, w *wanted, _ string) ([]operational.Escalation, string, error) {
				rows, err := s.Escalations.List(ctx, operational.EscalationFilter{Status: valuesOf[operational.EscalationStatus](w, "status"), Limit: mostRows})
				return rows, "", err
			})},
		{kind: "approval", one: "approval", missing: s.Guard == nil, searched: true, usual: []string{"state", "pending"}, list: paged("approval", approvalShape,
			func(ctx context.Context, w *wanted, cursor string) ([]lesson.Approval, string, error) {
				page, err := s.Guard.Approvals(ctx, guard.ApprovalFilter{Agent: w.agent, State: lesson.ApprovalState(w.one("state")), Cursor: cursor, Limit: w.page()})
				return page.Approvals, page.Next, err
			})},
		{kind: "check", one: "command", missing: s.Guard == nil, list: paged("check", shape{id: "check_id", title: "proposed_action", text: "notes", agent: "agent", at: "at", fields: "number decision tool outcome result"},
			func(ctx context.Context, w *wanted, cursor string) ([]lesson.CheckRecord, string, error) {
				page, err := s.Guard.Ledger(ctx, lesson.LedgerFilter{Agent: w.agent, Project: w.project, Since: w.span.From, Until: w.span.To, Cursor: cursor, Limit: w.page()})
				return page.Checks, page.Next, err
			})},
		{kind: "rule", one: "rule", missing: s.Guard == nil, learned: true, list: paged("rule", shape{id: "rule_id", title: "title", text: "why_bad related_commands", fields: "source severity domain blocks demoted alternatives times_triggered"},
			func(ctx context.Context, w *wanted, cursor string) ([]guard.Rule, string, error) {
				page, err := s.Guard.Rules(ctx, guard.RuleFilter{Cursor: cursor, Limit: w.page()})
				return page.Rules, page.Next, err
			})},
		{kind: router.KindIncident, one: "incident", missing: s.Incidents == nil, searched: true, learned: true, list: paged(router.KindIncident, incidentShape,
			func(ctx context.Context, w *wanted, cursor string) ([]history.Incident, string, error) {
				page, err := s.Incidents.List(ctx, history.Filter{Project: w.project, Every: true, Cursor: cursor, Limit: w.page()})
				return page.Incidents, page.Next, err
			})},
		{kind: router.KindLesson, one: "lesson", missing: s.Lessons == nil, learned: true, walled: true, list: paged(router.KindLesson, lessonShape,
			func(ctx context.Context, w *wanted, cursor string) ([]lesson.Lesson, string, error) {
				page, err := s.Lessons.List(ctx, lesson.Filter{
					Severity: learning.Severity(w.one("severity")), Type: learning.LessonType(w.one("lesson_type")), Level: lesson.Level(w.one("level")),
					Statuses: valuesOf[lesson.Status](w, "status"), SourceAgent: w.agent, Project: w.project, Since: w.span.From, Cursor: cursor, Limit: w.page(),
				})
				return page.Lessons, page.Next, err
			})},
		{kind: router.KindPattern, one: "pattern", missing: s.Patterns == nil, searched: true, learned: true, list: paged(router.KindPattern, patternShape,
			func(ctx context.Context, w *wanted, _ string) ([]lesson.Pattern, string, error) {
				rows, err := s.Patterns.List(ctx, lesson.PatternFilter{Statuses: valuesOf[lesson.PatternStatus](w, "status"), Bare: true, Limit: w.page()})
				return rows, "", err
			})},
		{kind: router.KindKnowledge, one: "knowledge entry", many: "knowledge entries", missing: s.Knowledge == nil, learned: true, walled: true, list: paged(router.KindKnowledge, shape{id: "id", title: "title", text: "content", agent: "agent_id", at: "updated_at", fields: "category tags trust source use_count"},
			func(ctx context.Context, w *wanted, cursor string) ([]knowledge.Knowledge, string, error) {
				page, err := s.Knowledge.List(ctx, knowledge.Filter{Category: w.one("category"), Project: w.project, AgentID: w.agent, Cursor: cursor, Limit: w.page()})
				return page.Results, page.Next, err
			})},
		{kind: router.KindEpisode, one: "episode", missing: s.Episodes == nil, learned: true, walled: true, list: paged(router.KindEpisode, shape{id: "id", title: "title", text: "content", agent: "agent_id", at: "created_at", fields: "event_type session_id importance number"},
			func(ctx context.Context, w *wanted, cursor string) ([]episode.Episode, string, error) {
				return s.Episodes.List(ctx, episode.Filter{
					AgentID: w.agent, Project: w.project, EventType: w.one("event_type"), SessionID: w.one("session_id"), Since: w.span.From, Until: w.span.To, Limit: w.page(),
				}, cursor)
			})},
		{kind: router.KindFact, one: "fact", missing: s.Facts == nil, learned: true, list: paged(router.KindFact, shape{id: "key", title: "key", text: "value", agent: "agent_id", at: "_cached_at", fields: "persona category expires_at"},
			func(ctx context.Context, w *wanted, cursor string) ([]fact.Fact, string, error) {
				page, err := s.Facts.Search(ctx, fact.Query{Cursor: cursor, Limit: w.page()})
				return page.Facts, page.Next, err
			})},
		{kind: router.KindProcedure, one: "procedure", missing: s.Procedures == nil, learned: true, list: paged(router.KindProcedure, shape{id: "name", title: "name", text: "description", agent: "agent_id", at: "updated_at", fields: "category version runs success_rate"},
			func(ctx context.Context, w *wanted, cursor string) ([]procedure.Procedure, string, error) {
				page, err := s.Procedures.List(ctx, procedure.Filter{After: cursor, Limit: w.page()})
				return page.Procedures, page.Next, err
			})},
	}
	for i := range all {
		all[i].many = cmp.Or(all[i].many, all[i].one+"s")
	}
	return slices.DeleteFunc(all, func(t table) bool { return t.missing })
}

func (s *Sources) listTasks(ctx context.Context, w *wanted) ([]router.Item, int, error) {
	filter := operational.TaskFilter{Status: valuesOf[operational.TaskStatus](w, "status"), AgentID: w.agent, Project: w.project, Limit: mostRows}
	if !w.created && !slices.ContainsFunc(filter.Status, operational.TaskStatus.Open) && len(filter.Status) > 0 { // a finished task changed last when it ended
		filter.Since, filter.Until = w.span.From, w.span.To
	}
	rows, err := s.Tasks.List(ctx, filter)
	items, total, err := itemsOf(router.KindTask, rows, taskShape, err)
	if err == nil && total == mostRows {
		summary, err := s.Tasks.Summary(ctx, filter)
		return items, summary.Total, err
	}
	return items, total, err
}

func (s *Sources) listFindings(ctx context.Context, w *wanted) ([]router.Item, int, error) {
	filter := operational.FindingFilter{
		Project: w.project, Environment: w.one("environment"), CVE: w.one("cve"), Severity: valuesOf[operational.Severity](w, "severity"),
		Status: valuesOf[operational.FindingStatus](w, "status"), Since: w.span.From, Until: w.span.To, Limit: mostRows,
	}
	rows, err := s.Recon.Findings(ctx, filter)
	items, total, err := itemsOf(router.KindFinding, rows, findingShape, err)
	if err == nil && total == mostRows {
		summary, err := s.Recon.Summary(ctx, filter)
		return items, summary.Total, err
	}
	return items, total, err
}

// listReminders lists reminders; those that are due are those of which the time comes before the end of today, or of the span.
func (s *Sources) listReminders(ctx context.Context, w *wanted) ([]router.Item, int, error) {
	rows, err := s.Reminders.List(ctx, operational.ReminderFilter{Status: valuesOf[operational.ReminderStatus](w, "status"), Project: w.project, Limit: cmp.Or(w.few, mostRows)})
	if w.members["due"] != nil || w.when != "" {
		from, to := w.span.From, w.span.To
		if w.when == "" {
			y, m, d := w.now.Date()
			to = time.Date(y, m, d+1, 0, 0, 0, 0, w.now.Location())
		}
		rows = slices.DeleteFunc(rows, func(r operational.Reminder) bool {
			if r.Status == operational.ReminderDue && !from.After(w.now) && (to.IsZero() || to.After(w.now)) {
				return false
			}
			return r.ScheduledFor == nil || r.ScheduledFor.Before(from) || !to.IsZero() && !r.ScheduledFor.Before(to)
		})
		delete(w.members, "due")
		w.span = learning.TimeRange{}
	}
	return itemsOf(router.KindReminder, rows, shape{id: "id", title: "task", text: "note", agent: "agent_id", at: "created_at", fields: "status trigger_type trigger_value scheduled_for recurring"}.only(w), err)
}

// listAgents lists agents with the tasks that they hold, and whether they are idle.
func (s *Sources) listAgents(ctx context.Context, w *wanted) ([]router.Item, int, error) {
	agents, err := s.Agents.Agents(ctx, operational.AgentFilter{Project: w.project, Limit: operational.MaxLimit})
	if err != nil {
		return nil, 0, err
	}
	held := map[string][]operational.Task{}
	if s.Tasks != nil && !principal.Of(ctx).Walled() { // tasks do not keep to projects
		tasks, err := s.Tasks.List(ctx, operational.TaskFilter{Status: valuesOf[operational.TaskStatus](&heldTasks, "status"), Limit: mostRows})
		if err != nil {
			return nil, 0, err
		}
		for _, t := range tasks {
			held[t.AgentID] = append(held[t.AgentID], t)
		}
	}
	items, _, err := itemsOf("agent", agents, shape{id: "agent_id", title: "agent_id", text: "current_task", agent: "agent_id", at: "last_seen", fields: "state status role model current_task should_stop stop_reason"}, err)
	if err != nil {
		return nil, 0, err
	}
	kept := items[:0]
	for i, item := range items {
		a := agents[i]
		if w.older > 0 && w.now.Sub(a.LastSeen) < w.older || w.project != "" && !strings.EqualFold(a.Project, w.project) {
			continue
		}
		numbers := []int64{}
		for _, t := range held[a.ID] {
			numbers = append(numbers, t.Number)
			item.Text = strings.TrimPrefix(item.Text+"\n"+taskPhrase(t.Number, t.Title), "\n")
		}
		item.Fields["tasks"] = numbers
		if a.CurrentTask != "" || len(numbers) > 0 {
			item.Fields["working"] = true
		}
		if idle(a, held[a.ID]) {
			item.Fields["activity"] = "idle"
		} else if a.State == operational.AgentOnline {
			item.Fields["activity"] = "busy"
		}
		kept = append(kept, item)
	}
	return kept, len(kept), nil
}

var heldTasks = wanted{reading: reading{members: map[string][]string{"status": {string(operational.TaskClaimed), string(operational.TaskInProgress), string(operational.TaskBlocked)}}}}

// idle tells whether an agent that is there has nothing to do.
func idle(agent operational.Agent, held []operational.Task) bool {
	if agent.State != operational.AgentOnline || slices.ContainsFunc(held, func(t operational.Task) bool { return t.Status != operational.TaskBlocked }) {
		return false
	}
	switch strings.ToLower(agent.Status) {
	case "idle", "available", "ready", "waiting", "free":
		return true
	case "busy", "working":
		return false
	}
	return agent.CurrentTask == "" && len(held) == 0
}
