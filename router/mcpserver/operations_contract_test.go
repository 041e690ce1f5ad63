package mcpserver_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/operational/operationaltest"
	operationalstore "github.com/skillrouter/skillrouter/operational/store"
	"github.com/skillrouter/skillrouter/router/mcpserver"
)

// toolTasks is the task service as far as tools reach.
type toolTasks struct {
	operational.TaskService
	tools *tools
	as    principal.Principal
}

// one calls a tool that answers with a task, as the service's own principal.
func (s toolTasks) one(ctx context.Context, tool string, arguments map[string]any) (operational.Task, error) {
	type shown struct {
		Task operational.Task `json:"task"`
	}
	answer, err := callTool[shown](principal.With(ctx, s.as), s.tools, "", tool, arguments)
	return answer.Task, err
}

// change is a change of a task, with the members that are not empty.
func change(ref, agent string, more ...string) map[string]any {
	arguments := map[string]any{"task": ref}
	if agent != "" {
		arguments["agent_id"] = agent
	}
	for i := 0; i+1 < len(more); i += 2 {
		arguments[more[i]] = more[i+1]
	}
	return arguments
}

func (s toolTasks) Create(ctx context.Context, d operational.TaskDraft) (operational.Task, error) {
	if d.CreatedBy != "" {
		return s.TaskService.Create(ctx, d)
	}
	return s.one(ctx, "create_team_task", map[string]any{
		"title": d.Title, "description": d.Description, "project": d.Project, "priority": d.Priority, "agent_id": d.AgentID, "after": d.After,
	})
}

func (s toolTasks) Task(ctx context.Context, ref string) (operational.Task, error) {
	return s.one(ctx, "get_team_task", map[string]any{"task": ref})
}

func (s toolTasks) List(ctx context.Context, f operational.TaskFilter) ([]operational.Task, error) {
	if len(f.AnyOf) > 0 || !f.Since.IsZero() || !f.Until.IsZero() {
		return s.TaskService.List(ctx, f)
	}
	type listing struct {
		Tasks []operational.Task `json:"tasks"`
	}
	answer, err := callTool[listing](principal.With(ctx, s.as), s.tools, "", "list_team_tasks", map[string]any{
		"status": f.Status, "agent_id": f.AgentID, "project": f.Project, "open": f.Open, "unheld": f.Unheld, "text": f.Text, "after": f.After, "limit": f.Limit,
	})
	return answer.Tasks, err
}

func (s toolTasks) Wait(ctx context.Context, ref string, o operational.TaskOrder) (operational.Task, error) {
	arguments := change(ref, o.AgentID)
	arguments["after"] = o.After
	return s.one(ctx, "order_team_task", arguments)
}

func (s toolTasks) Claim(ctx context.Context, ref string, c operational.TaskClaim) (operational.Task, error) {
	return s.one(ctx, "claim_team_task", change(ref, c.AgentID, "project", c.Project))
}

func (s toolTasks) ClaimNext(ctx context.Context, c operational.TaskClaim) (operational.Task, error) {
	return s.one(ctx, "claim_team_task", map[string]any{"project": c.Project, "agent_id": c.AgentID})
}

func (s toolTasks) Progress(ctx context.Context, ref string, p operational.TaskProgress) (operational.Task, error) {
	arguments := change(ref, p.AgentID, "note", p.Note)
	if p.Progress != nil {
		arguments["progress"] = *p.Progress
	}
	return s.one(ctx, "report_task_progress", arguments)
}

func (s toolTasks) Block(ctx context.Context, ref string, b operational.TaskBlock) (operational.Task, error) {
	return s.one(ctx, "block_team_task", change(ref, b.AgentID, "reason", b.Reason))
}

func (s toolTasks) Unblock(ctx context.Context, ref string, n operational.TaskNote) (operational.Task, error) {
	return s.one(ctx, "unblock_team_task", change(ref, n.AgentID, "note", n.Note))
}

func (s toolTasks) Complete(ctx context.Context, ref string, r operational.TaskResult) (operational.Task, error) {
	return s.one(ctx, "complete_team_task", change(ref, r.AgentID, "result", r.Result))
}

func (s toolTasks) Fail(ctx context.Context, ref string, f operational.TaskFailure) (operational.Task, error) {
	return s.one(ctx, "fail_team_task", change(ref, f.AgentID, "error", f.Error))
}

func (s toolTasks) Release(ctx context.Context, ref string, n operational.TaskNote) (operational.Task, error) {
	return s.one(ctx, "release_team_task", change(ref, n.AgentID, "note", n.Note))
}

func (s toolTasks) Cancel(ctx context.Context, ref string, n operational.TaskNote) (operational.Task, error) {
	return s.one(ctx, "cancel_team_task", change(ref, n.AgentID, "note", n.Note))
}

func (s toolTasks) Reassign(ctx context.Context, ref string, to operational.TaskAssignment) (operational.Task, error) {
	return s.one(ctx, "reassign_team_task", change(ref, to.AgentID, "note", to.Note))
}

// toolRecon is the recon service as far as tools reach.
type toolRecon struct {
	operational.ReconService
	tools *tools
	as    principal.Principal
}

func (s toolRecon) StoreEnvironment(ctx context.Context, d operational.EnvironmentDraft) (operational.Environment, error) {
	type shown struct {
		Environment operational.Environment `json:"environment"`
	}
	answer, err := callTool[shown](principal.With(ctx, s.as), s.tools, "", "store_environment", map[string]any{
		"name": d.Name, "kind": d.Kind, "description": d.Description, "project": d.Project,
	})
	return answer.Environment, err
}

func (s toolRecon) Environments(ctx context.Context, project string) ([]operational.Environment, error) {
	type listing struct {
		Environments []operational.Environment `json:"environments"`
	}
	answer, err := callTool[listing](principal.With(ctx, s.as), s.tools, "", "list_environments", map[string]any{"project": project})
	return answer.Environments, err
}

func (s toolRecon) scan(ctx context.Context, tool string, arguments map[string]any) (operational.Scan, error) {
	type shown struct {
		Scan operational.Scan `json:"scan"`
	}
	answer, err := callTool[shown](principal.With(ctx, s.as), s.tools, "", tool, arguments)
	return answer.Scan, err
}

func (s toolRecon) StartScan(ctx context.Context, d operational.ScanDraft) (operational.Scan, error) {
	if d.AgentID != "" {
		return s.ReconService.StartScan(ctx, d)
	}
	return s.scan(ctx, "start_scan", map[string]any{"environment": d.Environment, "scanner": d.Scanner, "status": d.Status, "summary": d.Summary})
}

func (s toolRecon) FinishScan(ctx context.Context, id string, end operational.ScanEnd) (operational.Scan, error) {
	if end.AgentID != "" {
		return s.ReconService.FinishScan(ctx, id, end)
	}
	return s.scan(ctx, "finish_scan", map[string]any{"scan_id": id, "status": end.Status, "summary": end.Summary})
}

func (s toolRecon) Scans(ctx context.Context, f operational.ScanFilter) ([]operational.Scan, error) {
	if !f.Since.IsZero() {
		return s.ReconService.Scans(ctx, f)
	}
	type listing struct {
		Scans []operational.Scan `json:"scans"`
	}
	answer, err := callTool[listing](principal.With(ctx, s.as), s.tools, "", "list_scans", map[string]any{
		"environment": f.Environment, "project": f.Project, "status": f.Status, "limit": f.Limit,
	})
	return answer.Scans, err
}

func (s toolRecon) Report(ctx context.Context, d operational.FindingDraft) (operational.Reported, error) {
	if d.AgentID != "" {
		return s.ReconService.Report(ctx, d)
	}
	return callTool[operational.Reported](principal.With(ctx, s.as), s.tools, "", "report_finding", map[string]any{
		"environment": d.Environment, "scan_id": d.ScanID, "cve": d.CVE, "title": d.Title, "description": d.Description, "severity": d.Severity,
		"location": d.Location, "evidence": d.Evidence, "remediation": d.Remediation,
	})
}

func (s toolRecon) ReportAll(ctx context.Context, drafts []operational.FindingDraft) (operational.FindingReport, error) {
	if drafts == nil {
		drafts = []operational.FindingDraft{}
	}
	return callTool[operational.FindingReport](principal.With(ctx, s.as), s.tools, "", "report_findings", map[string]any{"findings": drafts})
}

func (s toolRecon) finding(ctx context.Context, tool string, arguments map[string]any) (operational.Finding, []operational.FindingChange, error) {
	type shown struct {
		Finding operational.Finding         `json:"finding"`
		History []operational.FindingChange `json:"history"`
	}
	answer, err := callTool[shown](principal.With(ctx, s.as), s.tools, "", tool, arguments)
	return answer.Finding, answer.History, err
}

func (s toolRecon) Finding(ctx context.Context, id string) (operational.Finding, error) {
	found, _, err := s.finding(ctx, "get_finding", map[string]any{"finding_id": id})
	return found, err
}

func (s toolRecon) History(ctx context.Context, id string) ([]operational.FindingChange, error) {
	_, history, err := s.finding(ctx, "get_finding", map[string]any{"finding_id": id})
	return history, err
}

func (s toolRecon) Decide(ctx context.Context, id string, d operational.FindingDecision) (operational.Finding, error) {
	if d.AgentID != "" {
		return s.ReconService.Decide(ctx, id, d)
	}
	found, _, err := s.finding(ctx, "decide_finding", map[string]any{"finding_id": id, "status": d.Status, "note": d.Note})
	return found, err
}

func (s toolRecon) Findings(ctx context.Context, f operational.FindingFilter) ([]operational.Finding, error) {
	if len(f.AnyOf) > 0 || !f.Since.IsZero() || !f.Until.IsZero() {
		return s.ReconService.Findings(ctx, f)
	}
	type listing struct {
		Findings []operational.Finding `json:"findings"`
	}
	answer, err := callTool[listing](principal.With(ctx, s.as), s.tools, "", "list_findings", map[string]any{
		"environment": f.Environment, "project": f.Project, "severity": f.Severity, "status": f.Status, "cve": f.CVE, "scan_id": f.ScanID,
		"text": f.Text, "location": f.Location, "limit": f.Limit,
	})
	return answer.Findings, err
}

// toolTokens is the token service as far as tools reach: no tool issues one.
type toolTokens struct {
	operational.TokenService
	tools *tools
	as    principal.Principal
}

func (s toolTokens) List(ctx context.Context) ([]operational.Token, error) {
	type listing struct {
		Tokens []operational.Token `json:"tokens"`
	}
	answer, err := callTool[listing](principal.With(ctx, s.as), s.tools, "", "list_tokens", nil)
	return answer.Tokens, err
}

func (s toolTokens) Revoke(ctx context.Context, id string) (operational.Token, error) {
	type shown struct {
		Token operational.Token `json:"token"`
	}
	answer, err := callTool[shown](principal.With(ctx, s.as), s.tools, "", "revoke_token", map[string]any{"token_id": id})
	return answer.Token, err
}

// world is a fresh installation whose service is reached by tools.
func world[Service any](t *testing.T, open func(s *operationalstore.Store) (mcpserver.Services, func(*tools, principal.Principal) Service)) operationaltest.World[Service] {
	db, _ := openDatabase(t, "operational")
	services, as := open(operationalstore.New(db.Read, db.Commit))
	c := serveTools(t, services)
	return operationaltest.World[Service]{
		As:      func(p principal.Principal) Service { return as(c, p) },
		Context: principal.With,
	}
}

// TestTasksContract holds the tools to what the task service promises.
func TestTasksContract(t *testing.T) {
	operationaltest.Tasks(t, func(t *testing.T) operationaltest.World[operational.TaskService] {
		return world(t, func(s *operationalstore.Store) (mcpserver.Services, func(*tools, principal.Principal) operational.TaskService) {
			tasks := operational.NewTasks(s, time.Now)
			return mcpserver.Services{Tasks: tasks}, func(c *tools, p principal.Principal) operational.TaskService {
				return toolTasks{tasks, c, p}
			}
		})
	})
}

// TestReconContract holds the tools to what the recon service promises.
func TestReconContract(t *testing.T) {
	operationaltest.Recon(t, func(t *testing.T) operationaltest.World[operational.ReconService] {
		return world(t, func(s *operationalstore.Store) (mcpserver.Services, func(*tools, principal.Principal) operational.ReconService) {
			recon := operational.NewRecon(s, time.Now)
			return mcpserver.Services{Recon: recon}, func(c *tools, p principal.Principal) operational.ReconService {
				return toolRecon{recon, c, p}
			}
		})
	})
}

// TestTokensContract holds the tools to what the token service promises.
func TestTokensContract(t *testing.T) {
	operationaltest.Tokens(t, func(t *testing.T) operationaltest.World[operational.TokenService] {
		return world(t, func(s *operationalstore.Store) (mcpserver.Services, func(*tools, principal.Principal) operational.TokenService) {
			tokens, err := operational.OpenTokens(t.Context(), s, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			return mcpserver.Services{Tokens: tokens}, func(c *tools, p principal.Principal) operational.TokenService {
				return toolTokens{tokens, c, p}
			}
		})
	})
}

// TestAgentTools holds the tools of the team's agents to the real presence.
func TestAgentTools(t *testing.T) {
	db, running := openDatabase(t, "operational")
	presence, err := comms.NewPresence(t.Context(), operationalstore.New(db.Read, db.Commit), nil, time.Now, slog.New(slog.DiscardHandler), comms.PresenceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	run(t, running, presence.Run)
	c := serveTools(t, mcpserver.Services{Presence: presence})
	ctx := principal.With(t.Context(), principal.Principal{AgentID: "a", Scopes: []principal.Scope{principal.ScopeAgent}})
	if _, err := callTool[comms.HeartbeatAnswer](ctx, c, "", "check_in", map[string]any{"status": "working", "role": "builder", "project_path": "/src/web"}); err != nil {
		t.Fatal(err)
	}
	if _, err := callTool[comms.StatusAnswer](ctx, c, "", "report_status", map[string]any{"status": "blocked", "current_task": "the build", "progress": 40}); err != nil {
		t.Fatal(err)
	}
	if _, err := callTool[comms.StatusAnswer](ctx, c, "", "report_status", map[string]any{"status": "idle", "agent_id": "b"}); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("another agent's status: %v", err)
	}
	type listing struct {
		Agents []operational.Agent `json:"agents"`
		Count  int                 `json:"count"`
	}
	found, err := callTool[listing](ctx, c, "", "list_agents", map[string]any{"status": "blocked", "task": "BUILD"})
	if err != nil || found.Count != 1 || found.Agents[0].ID != "a" || found.Agents[0].Progress != 40 || found.Agents[0].Role != "builder" {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := callTool[listing](ctx, c, "", "get_agent", map[string]any{"agent_id": "nobody"}); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("an unknown agent: %v", err)
	}
}
