// Package clienttest has the services of a router over HTTP, each method by its operation, so that the suites that hold
// a service to its promise hold the router to it, too.
package clienttest

import (
	"context"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/procedure"
	"github.com/skillrouter/skillrouter/learning/verdict"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/session"
	"github.com/skillrouter/skillrouter/router/transfer"
)

// Have calls an operation that takes one thing and answers nothing.
func Have[S, In any](ctx context.Context, c *client.Client, method func(S, context.Context, In) error, in In) error {
	return c.Do(ctx, operation.Find(method), new(struct{}), in)
}

// Export visits the records of an export, as transfer.Service does.
func Export(ctx context.Context, c *client.Client, query transfer.ExportQuery, visit func(transfer.Record) error) error {
	return c.Export(ctx, query, func(kind string, line []byte) error {
		record, err := transfer.DecodeRecord(kind, line)
		if err != nil {
			return err
		}
		return visit(record)
	})
}

// Presence is comms.PresenceService over HTTP.
type Presence struct{ C *client.Client }

var _ comms.PresenceService = Presence{}

func (p Presence) Agent(ctx context.Context, id string) (operational.Agent, error) {
	return client.Send(ctx, p.C, comms.PresenceService.Agent, id)
}

func (p Presence) Agents(ctx context.Context, filter operational.AgentFilter) ([]operational.Agent, error) {
	return client.Send(ctx, p.C, comms.PresenceService.Agents, filter)
}

func (p Presence) Heartbeat(ctx context.Context, beat comms.Heartbeat) (comms.HeartbeatAnswer, error) {
	return client.Send(ctx, p.C, comms.PresenceService.Heartbeat, beat)
}

func (p Presence) ShutdownCheck(ctx context.Context, agentID string) (comms.ShutdownAnswer, error) {
	return client.Send(ctx, p.C, comms.PresenceService.ShutdownCheck, agentID)
}

func (p Presence) Status(ctx context.Context, report comms.StatusReport) (comms.StatusAnswer, error) {
	return client.Send(ctx, p.C, comms.PresenceService.Status, report)
}

// Mailbox is comms.MailboxService over HTTP.
type Mailbox struct{ C *client.Client }

var _ comms.MailboxService = Mailbox{}

func (m Mailbox) Ack(ctx context.Context, ack comms.Ack) (int64, error) {
	return client.Send(ctx, m.C, comms.MailboxService.Ack, ack)
}

func (m Mailbox) Inbox(ctx context.Context, query comms.InboxQuery) (comms.Inbox, error) {
	return client.Send(ctx, m.C, comms.MailboxService.Inbox, query)
}

func (m Mailbox) Overdue(ctx context.Context, query comms.OverdueQuery) ([]comms.OverdueMessage, error) {
	return client.Send(ctx, m.C, comms.MailboxService.Overdue, query)
}

func (m Mailbox) Read(ctx context.Context, read comms.Ack) (int64, error) {
	return client.Send(ctx, m.C, comms.MailboxService.Read, read)
}

func (m Mailbox) Receipts(ctx context.Context, messageID string) (comms.MessageReceipts, error) {
	return client.Send(ctx, m.C, comms.MailboxService.Receipts, messageID)
}

func (m Mailbox) Send(ctx context.Context, draft operational.MessageDraft) (comms.Sent, error) {
	return client.Send(ctx, m.C, comms.MailboxService.Send, draft)
}

// Knowledge is knowledge.Service over HTTP.
type Knowledge struct{ C *client.Client }

var _ knowledge.Service = Knowledge{}

func (k Knowledge) Delete(ctx context.Context, id string) error {
	return Have(ctx, k.C, knowledge.Service.Delete, id)
}

func (k Knowledge) Entry(ctx context.Context, id string) (knowledge.Knowledge, error) {
	return client.Send(ctx, k.C, knowledge.Service.Entry, id)
}

func (k Knowledge) Search(ctx context.Context, query knowledge.Query) (knowledge.Results, error) {
	return client.Send(ctx, k.C, knowledge.Service.Search, query)
}

func (k Knowledge) Store(ctx context.Context, draft knowledge.Draft) (knowledge.Stored, error) {
	return client.Send(ctx, k.C, knowledge.Service.Store, draft)
}

func (k Knowledge) Update(ctx context.Context, id string, patch knowledge.Patch) (knowledge.Knowledge, error) {
	return client.SendTo(ctx, k.C, knowledge.Service.Update, id, patch)
}

// Episodes is episode.Service over HTTP.
type Episodes struct{ C *client.Client }

var _ episode.Service = Episodes{}

func (e Episodes) Delete(ctx context.Context, ref string) error {
	return Have(ctx, e.C, episode.Service.Delete, ref)
}

func (e Episodes) Edit(ctx context.Context, ref string, patch episode.Patch) (episode.Episode, error) {
	return client.SendTo(ctx, e.C, episode.Service.Edit, ref, patch)
}

func (e Episodes) Episode(ctx context.Context, ref string) (episode.Episode, error) {
	return client.Send(ctx, e.C, episode.Service.Episode, ref)
}

func (e Episodes) Recent(ctx context.Context, filter episode.Filter) ([]episode.Episode, error) {
	return client.Send(ctx, e.C, episode.Service.Recent, filter)
}

func (e Episodes) Record(ctx context.Context, draft episode.Draft) (episode.Episode, error) {
	return client.Send(ctx, e.C, episode.Service.Record, draft)
}

func (e Episodes) Search(ctx context.Context, query episode.Query) (episode.Results, error) {
	return client.Send(ctx, e.C, episode.Service.Search, query)
}

// Patterns is lesson.PatternService over HTTP.
type Patterns struct{ C *client.Client }

var _ lesson.PatternService = Patterns{}

func (p Patterns) Add(ctx context.Context, draft lesson.PatternDraft) (lesson.Pattern, error) {
	return client.Send(ctx, p.C, lesson.PatternService.Add, draft)
}

func (p Patterns) Confirm(ctx context.Context, ref string, draft lesson.ConfirmationDraft) (lesson.Pattern, error) {
	return client.SendTo(ctx, p.C, lesson.PatternService.Confirm, ref, draft)
}

func (p Patterns) Deprecate(ctx context.Context, ref string, draft lesson.ConfirmationDraft) (lesson.Pattern, error) {
	return client.SendTo(ctx, p.C, lesson.PatternService.Deprecate, ref, draft)
}

func (p Patterns) Edit(ctx context.Context, ref string, patch lesson.PatternPatch) (lesson.Pattern, error) {
	return client.SendTo(ctx, p.C, lesson.PatternService.Edit, ref, patch)
}

func (p Patterns) List(ctx context.Context, filter lesson.PatternFilter) ([]lesson.Pattern, error) {
	return client.Send(ctx, p.C, lesson.PatternService.List, filter)
}

func (p Patterns) Pattern(ctx context.Context, ref string) (lesson.Pattern, error) {
	return client.Send(ctx, p.C, lesson.PatternService.Pattern, ref)
}

// Experience is experience.Service over HTTP.
type Experience struct{ C *client.Client }

var _ experience.Service = Experience{}

func (e Experience) Applicable(ctx context.Context, query experience.ApplicableQuery) (experience.Applicable, error) {
	return client.Send(ctx, e.C, experience.Service.Applicable, query)
}

func (e Experience) Apply(ctx context.Context, number int64, draft lesson.ApplicationDraft) (lesson.Applied, error) {
	return client.SendTo(ctx, e.C, experience.Service.Apply, number, draft)
}

func (e Experience) Experience(ctx context.Context, number int64) (experience.Experience, error) {
	return client.Send(ctx, e.C, experience.Service.Experience, number)
}

func (e Experience) Learn(ctx context.Context, draft experience.LearnDraft) (experience.Learned, error) {
	return client.Send(ctx, e.C, experience.Service.Learn, draft)
}

func (e Experience) Lesson(ctx context.Context, number int64) (experience.ApplicableLesson, error) {
	return client.Send(ctx, e.C, experience.Service.Lesson, number)
}

func (e Experience) Lessons(ctx context.Context, filter lesson.Filter) (experience.Lessons, error) {
	return client.Send(ctx, e.C, experience.Service.Lessons, filter)
}

func (e Experience) Pattern(ctx context.Context, number int64) (experience.Pattern, error) {
	return client.Send(ctx, e.C, experience.Service.Pattern, number)
}

func (e Experience) Patterns(ctx context.Context, filter lesson.PatternFilter) (experience.Patterns, error) {
	return client.Send(ctx, e.C, experience.Service.Patterns, filter)
}

func (e Experience) Recall(ctx context.Context, filter experience.Filter) (experience.Recall, error) {
	return client.Send(ctx, e.C, experience.Service.Recall, filter)
}

func (e Experience) Record(ctx context.Context, draft experience.Draft) (experience.Recorded, error) {
	return client.Send(ctx, e.C, experience.Service.Record, draft)
}

func (e Experience) Stats(ctx context.Context) (experience.Stats, error) {
	return client.Ask(ctx, e.C, experience.Service.Stats)
}

// Guard is guard.Service over HTTP.
type Guard struct{ C *client.Client }

var _ guard.Service = Guard{}

func (g Guard) Approvals(ctx context.Context, filter guard.ApprovalFilter) (guard.ApprovalPage, error) {
	return client.Send(ctx, g.C, guard.Service.Approvals, filter)
}

func (g Guard) Approve(ctx context.Context, id string, draft guard.ApprovalDraft) (lesson.Approval, error) {
	return client.SendTo(ctx, g.C, guard.Service.Approve, id, draft)
}

func (g Guard) Check(ctx context.Context, action rule.Action) (guard.Checked, error) {
	return client.Send(ctx, g.C, guard.Service.Check, action)
}

func (g Guard) Deny(ctx context.Context, id string, draft guard.DenialDraft) (lesson.Approval, error) {
	return client.SendTo(ctx, g.C, guard.Service.Deny, id, draft)
}

func (g Guard) Explain(ctx context.Context, action rule.Action) (guard.Explained, error) {
	return client.Send(ctx, g.C, guard.Service.Explain, action)
}

func (g Guard) Ledger(ctx context.Context, filter lesson.LedgerFilter) (guard.LedgerPage, error) {
	return client.Send(ctx, g.C, guard.Service.Ledger, filter)
}

func (g Guard) Offline(ctx context.Context, draft guard.OfflineDraft) (guard.OfflineStored, error) {
	return client.Send(ctx, g.C, guard.Service.Offline, draft)
}

func (g Guard) Outcome(ctx context.Context, draft guard.OutcomeDraft) (guard.Settled, error) {
	return client.Send(ctx, g.C, guard.Service.Outcome, draft)
}

func (g Guard) Packs(ctx context.Context, filter guard.PackFilter) (guard.PackList, error) {
	return client.Send(ctx, g.C, guard.Service.Packs, filter)
}

func (g Guard) Permissions(ctx context.Context) (guard.PermissionList, error) {
	return client.Ask(ctx, g.C, guard.Service.Permissions)
}

func (g Guard) RestoreRule(ctx context.Context, id string, draft guard.RestorationDraft) (guard.Rule, error) {
	return client.SendTo(ctx, g.C, guard.Service.RestoreRule, id, draft)
}

func (g Guard) RevokePermission(ctx context.Context, id string) (lesson.Permission, error) {
	return client.Send(ctx, g.C, guard.Service.RevokePermission, id)
}

func (g Guard) Rule(ctx context.Context, id string) (guard.Rule, error) {
	return client.Send(ctx, g.C, guard.Service.Rule, id)
}

func (g Guard) Rules(ctx context.Context, filter guard.RuleFilter) (guard.RulePage, error) {
	return client.Send(ctx, g.C, guard.Service.Rules, filter)
}

func (g Guard) SetPacks(ctx context.Context, draft guard.PackDraft) (guard.PackList, error) {
	return client.Send(ctx, g.C, guard.Service.SetPacks, draft)
}

// Tasks is operational.TaskService over HTTP.
type Tasks struct{ C *client.Client }

var _ operational.TaskService = Tasks{}

func (t Tasks) Block(ctx context.Context, ref string, block operational.TaskBlock) (operational.Task, error) {
	return client.SendTo(ctx, t.C, operational.TaskService.Block, ref, block)
}

func (t Tasks) Cancel(ctx context.Context, ref string, note operational.TaskNote) (operational.Task, error) {
	return client.SendTo(ctx, t.C, operational.TaskService.Cancel, ref, note)
}

func (t Tasks) Restore(ctx context.Context, ref string, note operational.TaskNote) (operational.Task, error) {
	return client.SendTo(ctx, t.C, operational.TaskService.Restore, ref, note)
}

func (t Tasks) Claim(ctx context.Context, ref string, claim operational.TaskClaim) (operational.Task, error) {
	return client.SendTo(ctx, t.C, operational.TaskService.Claim, ref, claim)
}

func (t Tasks) ClaimNext(ctx context.Context, claim operational.TaskClaim) (operational.Task, error) {
	return client.Send(ctx, t.C, operational.TaskService.ClaimNext, claim)
}

func (t Tasks) Complete(ctx context.Context, ref string, result operational.TaskResult) (operational.Task, error) {
	return client.SendTo(ctx, t.C, operational.TaskService.Complete, ref, result)
}

func (t Tasks) Create(ctx context.Context, draft operational.TaskDraft) (operational.Task, error) {
	return client.Send(ctx, t.C, operational.TaskService.Create, draft)
}

func (t Tasks) Fail(ctx context.Context, ref string, failure operational.TaskFailure) (operational.Task, error) {
	return client.SendTo(ctx, t.C, operational.TaskService.Fail, ref, failure)
}

func (t Tasks) List(ctx context.Context, filter operational.TaskFilter) ([]operational.Task, error) {
	return client.Send(ctx, t.C, operational.TaskService.List, filter)
}

func (t Tasks) Progress(ctx context.Context, ref string, report operational.TaskProgress) (operational.Task, error) {
	return client.SendTo(ctx, t.C, operational.TaskService.Progress, ref, report)
}

func (t Tasks) Ready(ctx context.Context, filter operational.TaskFilter) ([]operational.Task, error) {
	return client.Send(ctx, t.C, operational.TaskService.Ready, filter)
}

func (t Tasks) Wait(ctx context.Context, ref string, order operational.TaskOrder) (operational.Task, error) {
	return client.SendTo(ctx, t.C, operational.TaskService.Wait, ref, order)
}

func (t Tasks) Reassign(ctx context.Context, ref string, to operational.TaskAssignment) (operational.Task, error) {
	return client.SendTo(ctx, t.C, operational.TaskService.Reassign, ref, to)
}

func (t Tasks) Release(ctx context.Context, ref string, note operational.TaskNote) (operational.Task, error) {
	return client.SendTo(ctx, t.C, operational.TaskService.Release, ref, note)
}

func (t Tasks) Summary(ctx context.Context, filter operational.TaskFilter) (operational.TaskSummary, error) {
	return client.Send(ctx, t.C, operational.TaskService.Summary, filter)
}

func (t Tasks) Task(ctx context.Context, ref string) (operational.Task, error) {
	return client.Send(ctx, t.C, operational.TaskService.Task, ref)
}

func (t Tasks) Unblock(ctx context.Context, ref string, note operational.TaskNote) (operational.Task, error) {
	return client.SendTo(ctx, t.C, operational.TaskService.Unblock, ref, note)
}

// Recon is operational.ReconService over HTTP.
type Recon struct{ C *client.Client }

var _ operational.ReconService = Recon{}

func (r Recon) Decide(ctx context.Context, id string, decision operational.FindingDecision) (operational.Finding, error) {
	return client.SendTo(ctx, r.C, operational.ReconService.Decide, id, decision)
}

func (r Recon) Environments(ctx context.Context, project string) ([]operational.Environment, error) {
	return client.Send(ctx, r.C, operational.ReconService.Environments, project)
}

func (r Recon) Finding(ctx context.Context, id string) (operational.Finding, error) {
	return client.Send(ctx, r.C, operational.ReconService.Finding, id)
}

func (r Recon) Findings(ctx context.Context, filter operational.FindingFilter) ([]operational.Finding, error) {
	return client.Send(ctx, r.C, operational.ReconService.Findings, filter)
}

func (r Recon) FinishScan(ctx context.Context, id string, end operational.ScanEnd) (operational.Scan, error) {
	return client.SendTo(ctx, r.C, operational.ReconService.FinishScan, id, end)
}

func (r Recon) History(ctx context.Context, id string) ([]operational.FindingChange, error) {
	return client.Send(ctx, r.C, operational.ReconService.History, id)
}

func (r Recon) Report(ctx context.Context, draft operational.FindingDraft) (operational.Reported, error) {
	return client.Send(ctx, r.C, operational.ReconService.Report, draft)
}

func (r Recon) ReportAll(ctx context.Context, drafts []operational.FindingDraft) (operational.FindingReport, error) {
	return client.Send(ctx, r.C, operational.ReconService.ReportAll, drafts)
}

func (r Recon) Scans(ctx context.Context, filter operational.ScanFilter) ([]operational.Scan, error) {
	return client.Send(ctx, r.C, operational.ReconService.Scans, filter)
}

func (r Recon) StartScan(ctx context.Context, draft operational.ScanDraft) (operational.Scan, error) {
	return client.Send(ctx, r.C, operational.ReconService.StartScan, draft)
}

func (r Recon) StoreEnvironment(ctx context.Context, draft operational.EnvironmentDraft) (operational.Environment, error) {
	return client.Send(ctx, r.C, operational.ReconService.StoreEnvironment, draft)
}

func (r Recon) Summary(ctx context.Context, filter operational.FindingFilter) (operational.FindingSummary, error) {
	return client.Send(ctx, r.C, operational.ReconService.Summary, filter)
}

// Tokens is operational.TokenService over HTTP.
type Tokens struct{ C *client.Client }

var _ operational.TokenService = Tokens{}

func (t Tokens) Issue(ctx context.Context, draft operational.TokenDraft) (operational.IssuedToken, error) {
	return client.Send(ctx, t.C, operational.TokenService.Issue, draft)
}

func (t Tokens) List(ctx context.Context) ([]operational.Token, error) {
	return client.Ask(ctx, t.C, operational.TokenService.List)
}

func (t Tokens) Revoke(ctx context.Context, id string) (operational.Token, error) {
	return client.Send(ctx, t.C, operational.TokenService.Revoke, id)
}

func (t Tokens) Self(ctx context.Context) (operational.Identity, error) {
	return client.Ask(ctx, t.C, operational.TokenService.Self)
}

// Escalations is operational.EscalationService over HTTP.
type Escalations struct{ C *client.Client }

var _ operational.EscalationService = Escalations{}

func (e Escalations) Dismiss(ctx context.Context, id string, verdict operational.EscalationVerdict) (operational.Escalation, error) {
	return client.SendTo(ctx, e.C, operational.EscalationService.Dismiss, id, verdict)
}

func (e Escalations) Escalation(ctx context.Context, id string) (operational.Escalation, error) {
	return client.Send(ctx, e.C, operational.EscalationService.Escalation, id)
}

func (e Escalations) List(ctx context.Context, filter operational.EscalationFilter) ([]operational.Escalation, error) {
	return client.Send(ctx, e.C, operational.EscalationService.List, filter)
}

func (e Escalations) Resolve(ctx context.Context, id string, verdict operational.EscalationVerdict) (operational.Escalation, error) {
	return client.SendTo(ctx, e.C, operational.EscalationService.Resolve, id, verdict)
}

func (e Escalations) Review(ctx context.Context, id string, verdict operational.EscalationVerdict) (operational.Escalation, error) {
	return client.SendTo(ctx, e.C, operational.EscalationService.Review, id, verdict)
}

// Memory is router.MemoryService over HTTP.
type Memory struct{ C *client.Client }

var _ router.MemoryService = Memory{}

func (m Memory) Figures(ctx context.Context) (lesson.Figures, error) {
	return client.Ask(ctx, m.C, router.MemoryService.Figures)
}

func (m Memory) Memory(ctx context.Context, agent string) (router.Memory, error) {
	return client.Send(ctx, m.C, router.MemoryService.Memory, agent)
}

func (m Memory) SessionContext(ctx context.Context, query router.SessionQuery) (router.SessionContext, error) {
	return client.Send(ctx, m.C, router.MemoryService.SessionContext, query)
}

// Facts is fact.Service over HTTP.
type Facts struct{ C *client.Client }

var _ fact.Service = Facts{}

func (f Facts) Categories(ctx context.Context, persona string) ([]fact.Category, error) {
	return client.Send(ctx, f.C, fact.Service.Categories, persona)
}

func (f Facts) Forget(ctx context.Context, ref fact.Ref) error {
	return Have(ctx, f.C, fact.Service.Forget, ref)
}

func (f Facts) Recall(ctx context.Context, ref fact.Ref) (fact.Fact, error) {
	return client.Send(ctx, f.C, fact.Service.Recall, ref)
}

func (f Facts) Remember(ctx context.Context, draft fact.Draft) (fact.Stored, error) {
	return client.Send(ctx, f.C, fact.Service.Remember, draft)
}

func (f Facts) Search(ctx context.Context, query fact.Query) (fact.Page, error) {
	return client.Send(ctx, f.C, fact.Service.Search, query)
}

func (f Facts) Stats(ctx context.Context) (fact.Stats, error) {
	return client.Ask(ctx, f.C, fact.Service.Stats)
}

func (f Facts) Update(ctx context.Context, ref fact.Ref, patch fact.Patch) (fact.Fact, error) {
	return client.SendTo(ctx, f.C, fact.Service.Update, ref, patch)
}

// Procedures is procedure.Service over HTTP.
type Procedures struct{ C *client.Client }

var _ procedure.Service = Procedures{}

func (p Procedures) Abandon(ctx context.Context, id string, reason string) (procedure.Run, error) {
	return client.SendTo(ctx, p.C, procedure.Service.Abandon, id, reason)
}

func (p Procedures) Delete(ctx context.Context, ref procedure.Ref) error {
	return Have(ctx, p.C, procedure.Service.Delete, ref)
}

func (p Procedures) List(ctx context.Context, filter procedure.Filter) (procedure.Page, error) {
	return client.Send(ctx, p.C, procedure.Service.List, filter)
}

func (p Procedures) Next(ctx context.Context, request procedure.StepRequest) (procedure.Run, error) {
	return client.Send(ctx, p.C, procedure.Service.Next, request)
}

func (p Procedures) Problems(ctx context.Context) ([]procedure.FileProblem, error) {
	return client.Ask(ctx, p.C, procedure.Service.Problems)
}

func (p Procedures) Procedure(ctx context.Context, ref procedure.Ref) (procedure.Procedure, error) {
	return client.Send(ctx, p.C, procedure.Service.Procedure, ref)
}

func (p Procedures) Report(ctx context.Context, report procedure.StepReport) (procedure.Run, error) {
	return client.Send(ctx, p.C, procedure.Service.Report, report)
}

func (p Procedures) Run(ctx context.Context, id string) (procedure.Run, error) {
	return client.Send(ctx, p.C, procedure.Service.Run, id)
}

func (p Procedures) Runs(ctx context.Context, filter procedure.RunFilter) ([]procedure.Run, error) {
	return client.Send(ctx, p.C, procedure.Service.Runs, filter)
}

func (p Procedures) Save(ctx context.Context, draft procedure.Draft) (procedure.Saved, error) {
	return client.Send(ctx, p.C, procedure.Service.Save, draft)
}

func (p Procedures) Search(ctx context.Context, query procedure.Query) (procedure.Results, error) {
	return client.Send(ctx, p.C, procedure.Service.Search, query)
}

func (p Procedures) Start(ctx context.Context, draft procedure.RunDraft) (procedure.Run, error) {
	return client.Send(ctx, p.C, procedure.Service.Start, draft)
}

func (p Procedures) Stats(ctx context.Context) (procedure.Stats, error) {
	return client.Ask(ctx, p.C, procedure.Service.Stats)
}

// Reminders is operational.ReminderService over HTTP.
type Reminders struct{ C *client.Client }

var _ operational.ReminderService = Reminders{}

func (r Reminders) Cancel(ctx context.Context, number int64, note operational.ReminderNote) (operational.Reminder, error) {
	return client.SendTo(ctx, r.C, operational.ReminderService.Cancel, number, note)
}

func (r Reminders) Restore(ctx context.Context, number int64, note operational.ReminderNote) (operational.Reminder, error) {
	return client.SendTo(ctx, r.C, operational.ReminderService.Restore, number, note)
}

func (r Reminders) Complete(ctx context.Context, number int64, note operational.ReminderNote) (operational.Reminder, error) {
	return client.SendTo(ctx, r.C, operational.ReminderService.Complete, number, note)
}

func (r Reminders) Edit(ctx context.Context, number int64, patch operational.ReminderPatch) (operational.Reminder, error) {
	return client.SendTo(ctx, r.C, operational.ReminderService.Edit, number, patch)
}

func (r Reminders) Happened(ctx context.Context, happening operational.Happening) (int, error) {
	return client.Send(ctx, r.C, operational.ReminderService.Happened, happening)
}

func (r Reminders) List(ctx context.Context, filter operational.ReminderFilter) ([]operational.Reminder, error) {
	return client.Send(ctx, r.C, operational.ReminderService.List, filter)
}

func (r Reminders) Pending(ctx context.Context, query operational.PendingQuery) ([]operational.Reminder, error) {
	return client.Send(ctx, r.C, operational.ReminderService.Pending, query)
}

func (r Reminders) Reminder(ctx context.Context, number int64) (operational.Reminder, error) {
	return client.Send(ctx, r.C, operational.ReminderService.Reminder, number)
}

func (r Reminders) Schedule(ctx context.Context, draft operational.ReminderDraft) (operational.Reminder, error) {
	return client.Send(ctx, r.C, operational.ReminderService.Schedule, draft)
}

func (r Reminders) Snooze(ctx context.Context, number int64, snooze operational.ReminderSnooze) (operational.Reminder, error) {
	return client.SendTo(ctx, r.C, operational.ReminderService.Snooze, number, snooze)
}

func (r Reminders) Stats(ctx context.Context) (operational.ReminderStats, error) {
	return client.Ask(ctx, r.C, operational.ReminderService.Stats)
}

// Sessions is session.Service over HTTP.
type Sessions struct{ C *client.Client }

var _ session.Service = Sessions{}

func (s Sessions) End(ctx context.Context, id string, end session.End) (session.Ended, error) {
	return client.SendTo(ctx, s.C, session.Service.End, id, end)
}

func (s Sessions) Handover(ctx context.Context, agentID string) (operational.Session, error) {
	return client.Send(ctx, s.C, session.Service.Handover, agentID)
}

func (s Sessions) List(ctx context.Context, filter operational.SessionFilter) ([]operational.Session, error) {
	return client.Send(ctx, s.C, session.Service.List, filter)
}

func (s Sessions) Session(ctx context.Context, id string) (operational.Session, error) {
	return client.Send(ctx, s.C, session.Service.Session, id)
}

func (s Sessions) Start(ctx context.Context, draft session.Draft) (session.Started, error) {
	return client.Send(ctx, s.C, session.Service.Start, draft)
}

// Verdicts is verdict.Service over HTTP.
type Verdicts struct{ C *client.Client }

var _ verdict.Service = Verdicts{}

func (v Verdicts) Answered(ctx context.Context, id string, draft verdict.Draft) (verdict.Learned, error) {
	return client.SendTo(ctx, v.C, verdict.Service.Answered, id, draft)
}

func (v Verdicts) Dismiss(ctx context.Context, id string) error {
	return Have(ctx, v.C, verdict.Service.Dismiss, id)
}

func (v Verdicts) Gaps(ctx context.Context, query verdict.GapQuery) (verdict.GapPage, error) {
	return client.Send(ctx, v.C, verdict.Service.Gaps, query)
}

func (v Verdicts) Questions(ctx context.Context, id string) (verdict.List, error) {
	return client.Send(ctx, v.C, verdict.Service.Questions, id)
}

func (v Verdicts) Unlearn(ctx context.Context, id string) (verdict.Gone, error) {
	return client.Send(ctx, v.C, verdict.Service.Unlearn, id)
}

// Consolidation is history.ConsolidationService over HTTP.
type Consolidation struct{ C *client.Client }

var _ history.ConsolidationService = Consolidation{}

func (c Consolidation) Accept(ctx context.Context, id string) (history.Proposal, error) {
	return client.Send(ctx, c.C, history.ConsolidationService.Accept, id)
}

func (c Consolidation) Consolidate(ctx context.Context, transcript history.TranscriptDraft) (history.Consolidated, error) {
	return client.Send(ctx, c.C, history.ConsolidationService.Consolidate, transcript)
}

func (c Consolidation) Proposal(ctx context.Context, id string) (history.Proposal, error) {
	return client.Send(ctx, c.C, history.ConsolidationService.Proposal, id)
}

func (c Consolidation) Proposals(ctx context.Context, filter history.ProposalFilter) ([]history.Proposal, error) {
	return client.Send(ctx, c.C, history.ConsolidationService.Proposals, filter)
}

func (c Consolidation) Reject(ctx context.Context, id string, reason string) (history.Proposal, error) {
	return client.SendTo(ctx, c.C, history.ConsolidationService.Reject, id, reason)
}

// Lessons is lesson.Service over HTTP.
type Lessons struct{ C *client.Client }

var _ lesson.Service = Lessons{}

// Report implements lesson.Service.
func (l Lessons) Report(ctx context.Context, draft lesson.Draft) (lesson.Reported, error) {
	return client.Send(ctx, l.C, lesson.Service.Report, draft)
}

// ReportAll implements lesson.Service. The router takes 32 MiB in one call.
func (l Lessons) ReportAll(ctx context.Context, drafts []lesson.Draft) (lesson.BulkReported, error) {
	return client.Send(ctx, l.C, lesson.Service.ReportAll, drafts)
}

// Lesson implements lesson.Service.
func (l Lessons) Lesson(ctx context.Context, ref string) (lesson.Lesson, error) {
	return client.Send(ctx, l.C, lesson.Service.Lesson, ref)
}

// List implements lesson.Service.
func (l Lessons) List(ctx context.Context, filter lesson.Filter) (lesson.Page, error) {
	return client.Send(ctx, l.C, lesson.Service.List, filter)
}

// Relevant implements lesson.Service.
func (l Lessons) Relevant(ctx context.Context, query lesson.Query) (lesson.Results, error) {
	return client.Send(ctx, l.C, lesson.Service.Relevant, query)
}

// Validate implements lesson.Service.
func (l Lessons) Validate(ctx context.Context, ref string, draft lesson.ValidationDraft) (lesson.Lesson, error) {
	return client.SendTo(ctx, l.C, lesson.Service.Validate, ref, draft)
}

// Apply implements lesson.Service.
func (l Lessons) Apply(ctx context.Context, ref string, draft lesson.ApplicationDraft) (lesson.Applied, error) {
	return client.SendTo(ctx, l.C, lesson.Service.Apply, ref, draft)
}

// Edit implements lesson.Service.
func (l Lessons) Edit(ctx context.Context, ref string, patch lesson.Patch) (lesson.Lesson, error) {
	return client.SendTo(ctx, l.C, lesson.Service.Edit, ref, patch)
}

// Promote implements lesson.Service.
func (l Lessons) Promote(ctx context.Context, ref string, draft lesson.PromotionDraft) (lesson.Lesson, error) {
	return client.SendTo(ctx, l.C, lesson.Service.Promote, ref, draft)
}

// Retire implements lesson.Service.
func (l Lessons) Retire(ctx context.Context, ref string, draft lesson.RetirementDraft) (lesson.Lesson, error) {
	return client.SendTo(ctx, l.C, lesson.Service.Retire, ref, draft)
}

// Restore implements lesson.Service.
func (l Lessons) Restore(ctx context.Context, ref, note string) (lesson.Lesson, error) {
	return client.SendTo(ctx, l.C, lesson.Service.Restore, ref, note)
}

// Review implements lesson.Service.
func (l Lessons) Review(ctx context.Context, query lesson.ReviewQuery) (lesson.Review, error) {
	return client.Send(ctx, l.C, lesson.Service.Review, query)
}

// History implements lesson.Service.
func (l Lessons) History(ctx context.Context, ref string) ([]lesson.Change, error) {
	return client.Send(ctx, l.C, lesson.Service.History, ref)
}

// Incidents is history.Service over HTTP.
type Incidents struct{ C *client.Client }

var _ history.Service = Incidents{}

// Learn implements history.Service.
func (s Incidents) Learn(ctx context.Context, draft history.Draft) (history.Learned, error) {
	return client.Send(ctx, s.C, history.Service.Learn, draft)
}

// List implements history.Service.
func (s Incidents) List(ctx context.Context, filter history.Filter) (history.Page, error) {
	return client.Send(ctx, s.C, history.Service.List, filter)
}

// Brief implements history.Service.
func (s Incidents) Brief(ctx context.Context, query history.BriefQuery) (history.Brief, error) {
	return client.Send(ctx, s.C, history.Service.Brief, query)
}

// Answer implements history.Service.
func (s Incidents) Answer(ctx context.Context, failure history.Failure) (history.Answer, error) {
	return client.Send(ctx, s.C, history.Service.Answer, failure)
}

// Accept implements history.Service.
func (s Incidents) Accept(ctx context.Context, decision history.Decision) (history.Decided, error) {
	return client.Send(ctx, s.C, history.Service.Accept, decision)
}

// Sources implements history.Service.
func (s Incidents) Sources(ctx context.Context, filter history.SourceFilter) (history.SourcePage, error) {
	return client.Send(ctx, s.C, history.Service.Sources, filter)
}

// Forget implements history.Service.
func (s Incidents) Forget(ctx context.Context, project string) (history.Forgotten, error) {
	return client.Send(ctx, s.C, history.Service.Forget, project)
}
