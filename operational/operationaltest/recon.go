package operationaltest

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/operational"
)

// Recon runs the contract of ReconService over worlds that fresh makes.
func Recon(t *testing.T, fresh func(t *testing.T) World[operational.ReconService]) {
	for name, run := range map[string]func(*testing.T, World[operational.ReconService]){
		"environments":            reconEnvironments,
		"scans":                   reconScans,
		"the same finding again":  reconSeenAgain,
		"a fixed one seen again":  reconReopened,
		"decisions and history":   reconDecisions,
		"reports of many":         reconBulk,
		"filters and counts":      reconFilters,
		"who may do what":         reconRights,
		"input is checked":        reconInput,
		"a scan of another place": reconForeignScan,
		"secrets are cut out":     reconSecrets,
	} {
		t.Run(name, func(t *testing.T) { run(t, fresh(t)) })
	}
}

func reconEnvironments(t *testing.T, w World[operational.ReconService]) {
	a := agent("scout")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	check := must[operational.Environment](t)
	first := check(svc.StoreEnvironment(ctx, operational.EnvironmentDraft{Name: "MSS", Kind: "repository", Project: "mss"}))
	again := check(svc.StoreEnvironment(ctx, operational.EnvironmentDraft{Name: "mss", Description: "the storage service"}))
	if again.ID != first.ID || again.Name != "MSS" || again.Kind != "repository" || again.Description != "the storage service" {
		t.Errorf("stored again it is %+v, at first %+v", again, first)
	}
	check(svc.StoreEnvironment(ctx, operational.EnvironmentDraft{Name: "lab"}))
	envs := must[[]operational.Environment](t)(svc.Environments(ctx, ""))
	if len(envs) != 2 || envs[0].Name != "lab" || envs[1].Name != "MSS" {
		t.Errorf("environments are %+v", envs)
	}
	if envs := must[[]operational.Environment](t)(svc.Environments(ctx, "mss")); len(envs) != 1 {
		t.Errorf("environments of the project are %+v", envs)
	}
}

func reconScans(t *testing.T, w World[operational.ReconService]) {
	a := agent("scout")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	check := must[operational.Scan](t)
	scan := check(svc.StartScan(ctx, operational.ScanDraft{Environment: "prod", Scanner: "nmap"}))
	if scan.Status != operational.ScanRunning || scan.FinishedAt != nil || scan.AgentID != "scout" {
		t.Errorf("a started scan is %+v", scan)
	}
	other := agent("other")
	refuses(t, errs.Forbidden)(w.As(other).FinishScan(w.Context(t.Context(), other), scan.ID, operational.ScanEnd{}))
	done := check(svc.FinishScan(ctx, scan.ID, operational.ScanEnd{Summary: "3 ports open"}))
	if done.Status != operational.ScanCompleted || done.FinishedAt == nil || done.Summary != "3 ports open" || done.Environment != "prod" {
		t.Errorf("a finished scan is %+v", done)
	}
	refuses(t, errs.Conflict)(svc.FinishScan(ctx, scan.ID, operational.ScanEnd{}))
	refuses(t, errs.NotFound)(svc.FinishScan(ctx, "nothing", operational.ScanEnd{}))
	check(svc.StartScan(ctx, operational.ScanDraft{Environment: "PROD", Scanner: "nikto", Status: operational.ScanFailed}))
	list := must[[]operational.Scan](t)(svc.Scans(ctx, operational.ScanFilter{Environment: "prod"}))
	if len(list) != 2 || list[0].Scanner != "nikto" || list[0].Environment != "prod" {
		t.Errorf("scans are %+v", list)
	}
	if list := must[[]operational.Scan](t)(svc.Scans(ctx, operational.ScanFilter{Status: operational.ScanFailed})); len(list) != 1 {
		t.Errorf("failed scans are %+v", list)
	}
}

func reconSeenAgain(t *testing.T, w World[operational.ReconService]) {
	a := agent("scout")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	check := must[operational.Reported](t)
	first := check(svc.Report(ctx, operational.FindingDraft{Environment: "prod", Title: "SQL  injection in search", Severity: operational.SeverityHigh, Location: "/search", Evidence: "' or 1=1"}))
	if !first.New || first.Status != operational.FindingOpen || first.Occurrences != 1 {
		t.Fatalf("a new finding is %+v", first)
	}
	again := check(svc.Report(ctx, operational.FindingDraft{Environment: "PROD", Title: "sql injection IN search", Severity: operational.SeverityCritical, Location: "/search", Remediation: "bind"}))
	if again.New || again.ID != first.ID || again.Occurrences != 2 || again.Severity != operational.SeverityCritical ||
		again.Evidence != "' or 1=1" || again.Remediation != "bind" || !again.LastSeen.After(first.LastSeen) || !again.FirstSeen.Equal(first.FirstSeen) {
		t.Errorf("seen again it is %+v, at first %+v", again, first)
	}
	for name, d := range map[string]operational.FindingDraft{
		"another place":       {Environment: "prod", Title: "SQL injection in search", Severity: operational.SeverityHigh, Location: "/login"},
		"another environment": {Environment: "lab", Title: "SQL injection in search", Severity: operational.SeverityHigh, Location: "/search"},
		"with a CVE":          {Environment: "prod", Title: "SQL injection in search", CVE: "cve-2024-1234", Severity: operational.SeverityHigh, Location: "/search"},
	} {
		if got := check(svc.Report(ctx, d)); !got.New {
			t.Errorf("%s is taken for the same finding", name)
		}
	}
	if got := check(svc.Report(ctx, operational.FindingDraft{Environment: "prod", Title: "named otherwise", CVE: "CVE-2024-1234", Severity: operational.SeverityHigh, Location: "/search"})); got.New {
		t.Error("the same CVE at the same place is taken for another finding")
	}
	history := must[[]operational.FindingChange](t)(svc.History(ctx, first.ID))
	if len(history) != 2 || history[0].To != operational.FindingOpen || history[0].AgentID != "scout" || !strings.Contains(history[1].Note, "critical") {
		t.Errorf("the history is %+v", history)
	}
}

func reconReopened(t *testing.T, w World[operational.ReconService]) {
	a := agent("scout")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	draft := operational.FindingDraft{Environment: "prod", CVE: "CVE-2024-1234", Severity: operational.SeverityLow}
	first := must[operational.Reported](t)(svc.Report(ctx, draft))
	if first.Title != "CVE-2024-1234" {
		t.Errorf("a CVE without a title is titled %q", first.Title)
	}
	must[operational.Finding](t)(svc.Decide(ctx, first.ID, operational.FindingDecision{Status: operational.FindingFixed, Note: "patched"}))
	again := must[operational.Reported](t)(svc.Report(ctx, draft))
	if !again.Reopened || again.Status != operational.FindingOpen || again.ID != first.ID {
		t.Errorf("a fixed one seen again is %+v", again)
	}
	history := must[[]operational.FindingChange](t)(svc.History(ctx, first.ID))
	if len(history) != 3 || history[2].From != operational.FindingFixed || history[2].To != operational.FindingOpen {
		t.Errorf("the history is %+v", history)
	}
	must[operational.Finding](t)(svc.Decide(ctx, first.ID, operational.FindingDecision{Status: operational.FindingAccepted}))
	if again := must[operational.Reported](t)(svc.Report(ctx, draft)); again.Reopened || again.Status != operational.FindingAccepted {
		t.Errorf("an accepted one seen again is %+v", again)
	}
}

func reconDecisions(t *testing.T, w World[operational.ReconService]) {
	a := agent("scout")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	check := must[operational.Finding](t)
	f := must[operational.Reported](t)(svc.Report(ctx, operational.FindingDraft{Environment: "prod", Title: "weak key", Severity: operational.SeverityMedium}))
	check(svc.Decide(ctx, f.ID, operational.FindingDecision{Status: operational.FindingConfirmed, Note: "reproduced"}))
	check(svc.Decide(ctx, f.ID, operational.FindingDecision{Status: operational.FindingConfirmed}))
	check(svc.Decide(ctx, f.ID, operational.FindingDecision{Status: operational.FindingFalsePositive, Note: "test key"}))
	stored := check(svc.Finding(ctx, f.ID))
	if stored.Status != operational.FindingFalsePositive {
		t.Errorf("the status is %s", stored.Status)
	}
	var notes []string
	for _, c := range must[[]operational.FindingChange](t)(svc.History(ctx, f.ID)) {
		notes = append(notes, string(c.From)+">"+string(c.To)+":"+c.Note)
	}
	if diff := cmp.Diff([]string{">open:", "open>confirmed:reproduced", "confirmed>false_positive:test key"}, notes); diff != "" {
		t.Errorf("the history (-want +got):\n%s", diff)
	}
	refuses(t, errs.NotFound)(svc.Decide(ctx, "nothing", operational.FindingDecision{Status: operational.FindingFixed}))
	refuses(t, errs.NotFound)(svc.History(ctx, "nothing"))
}

func reconBulk(t *testing.T, w World[operational.ReconService]) {
	a := agent("scout")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	report := must[operational.FindingReport](t)(svc.ReportAll(ctx, []operational.FindingDraft{
		{Environment: "prod", Title: "one", Severity: operational.SeverityLow},
		{Environment: "prod", Title: "bad", Severity: "dreadful"},
		{Environment: "prod", Title: "lost scan", Severity: operational.SeverityLow, ScanID: "none"},
		{Environment: "prod", Title: "ONE", Severity: operational.SeverityLow},
		{Environment: "", Title: "nowhere", Severity: operational.SeverityLow},
	}))
	if report.New != 1 || report.SeenAgain != 1 || len(report.Refused) != 3 || report.IDs[0] == "" || report.IDs[0] != report.IDs[3] || report.IDs[1] != "" {
		t.Errorf("the report is %+v", report)
	}
	for i, want := range []struct {
		index int
		field string
	}{{1, "severity"}, {2, "scan_id"}, {4, "environment"}} {
		if got := report.Refused[i]; got.Index != want.index || !strings.Contains(got.Error, want.field) {
			t.Errorf("refusal %d is %+v, want index %d and the field %s", i, got, want.index, want.field)
		}
	}
	refuses(t, errs.TooLarge)(svc.ReportAll(ctx, make([]operational.FindingDraft, operational.MaxFindings+1)))
	if report := must[operational.FindingReport](t)(svc.ReportAll(ctx, []operational.FindingDraft{})); report.New != 0 || len(report.IDs) != 0 {
		t.Errorf("an empty report is %+v", report)
	}
}

func reconFilters(t *testing.T, w World[operational.ReconService]) {
	svc, ctx := w.As(captain), w.Context(t.Context(), captain)
	must[operational.Environment](t)(svc.StoreEnvironment(ctx, operational.EnvironmentDraft{Name: "prod", Project: "shop"}))
	ids := map[string]string{}
	for _, d := range []operational.FindingDraft{
		{Environment: "prod", Title: "low one", Severity: operational.SeverityLow, Location: "web-1:443"},
		{Environment: "prod", Title: "critical one", Severity: operational.SeverityCritical, CVE: "CVE-2023-34362", Location: "web-1:80"},
		{Environment: "lab", Title: "high one", Severity: operational.SeverityHigh, Evidence: "100%_sure"},
		{Environment: "lab", Title: "fixed one", Severity: operational.SeverityHigh},
	} {
		ids[must[operational.Reported](t)(svc.Report(ctx, d)).ID] = d.Title
		<-time.After(2 * time.Millisecond) // those of one millisecond come in the order of their ids
	}
	for id, title := range ids {
		if title == "fixed one" {
			must[operational.Finding](t)(svc.Decide(ctx, id, operational.FindingDecision{Status: operational.FindingFixed}))
		}
	}
	for name, c := range map[string]struct {
		filter operational.FindingFilter
		want   []string
	}{
		"all, the worst first": {operational.FindingFilter{}, []string{"critical one", "fixed one", "high one", "low one"}},
		"active":               {operational.FindingFilter{Status: operational.ActiveFindingStatuses()}, []string{"critical one", "high one", "low one"}},
		"severity":             {operational.FindingFilter{Severity: []operational.Severity{operational.SeverityCritical, operational.SeverityLow}}, []string{"critical one", "low one"}},
		"environment":          {operational.FindingFilter{Environment: "LAB"}, []string{"fixed one", "high one"}},
		"project":              {operational.FindingFilter{Project: "shop"}, []string{"critical one", "low one"}},
		"CVE in lower case":    {operational.FindingFilter{CVE: "cve-2023-34362"}, []string{"critical one"}},
		"location":             {operational.FindingFilter{Location: "WEB-1:4"}, []string{"low one"}},
		"text of the evidence": {operational.FindingFilter{Text: "%_SURE"}, []string{"high one"}},
		"any word, more first": {operational.FindingFilter{AnyOf: []string{"ONE", "fixed", "100%_sure"}}, []string{"fixed one", "high one", "critical one", "low one"}},
		"a percent sign":       {operational.FindingFilter{AnyOf: []string{"%"}}, []string{"high one"}},
		"scan":                 {operational.FindingFilter{ScanID: "none"}, nil},
		"limit":                {operational.FindingFilter{Limit: 1}, []string{"critical one"}},
	} {
		var got []string
		for _, f := range must[[]operational.Finding](t)(svc.Findings(ctx, c.filter)) {
			got = append(got, f.Title)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	s := must[operational.FindingSummary](t)(svc.Summary(ctx, operational.FindingFilter{Limit: 1}))
	if s.Total != 4 || s.Active != 3 || s.BySeverity[operational.SeverityHigh] != 2 || s.ByStatus[operational.FindingFixed] != 1 || s.ByEnvironment["lab"] != 2 ||
		len(s.BySeverity) != len(operational.Severities()) || len(s.ByStatus) != len(operational.FindingStatuses()) {
		t.Errorf("the summary is %+v", s)
	}
}

func reconRights(t *testing.T, w World[operational.ReconService]) {
	ctx := w.Context(t.Context(), onlooker)
	svc := w.As(onlooker)
	refuses(t, errs.Forbidden)(svc.Report(ctx, operational.FindingDraft{Environment: "prod", Title: "x", Severity: operational.SeverityLow}))
	refuses(t, errs.Forbidden)(svc.StoreEnvironment(ctx, operational.EnvironmentDraft{Name: "x"}))
	refuses(t, errs.Forbidden)(svc.ReportAll(ctx, []operational.FindingDraft{}))
	must[[]operational.Finding](t)(svc.Findings(ctx, operational.FindingFilter{}))
	a := agent("scout")
	refuses(t, errs.Forbidden)(w.As(a).Report(w.Context(t.Context(), a), operational.FindingDraft{Environment: "prod", Title: "x", Severity: operational.SeverityLow, AgentID: "another"}))
	if _, err := w.As(nobody).Findings(w.Context(t.Context(), nobody), operational.FindingFilter{}); err == nil {
		t.Error("a call without any right lists findings")
	}
}

func reconInput(t *testing.T, w World[operational.ReconService]) {
	a := agent("scout")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	good := operational.FindingDraft{Environment: "prod", Title: "x", Severity: operational.SeverityLow}
	for name, c := range map[string]struct {
		spoil func(d *operational.FindingDraft)
		field string
		code  errs.Code
	}{
		"no environment": {func(d *operational.FindingDraft) { d.Environment = " " }, "environment", errs.Invalid},
		"no title":       {func(d *operational.FindingDraft) { d.Title = "" }, "title", errs.Invalid},
		"no severity":    {func(d *operational.FindingDraft) { d.Severity = "" }, "severity", errs.Invalid},
		"severity":       {func(d *operational.FindingDraft) { d.Severity = "CRITICAL" }, "severity", errs.Invalid},
		"cve":            {func(d *operational.FindingDraft) { d.CVE = "CVE-1" }, "cve", errs.Invalid},
		"location":       {func(d *operational.FindingDraft) { d.Location = strings.Repeat("x", operational.MaxLocation+1) }, "location", errs.TooLarge},
		"evidence":       {func(d *operational.FindingDraft) { d.Evidence = strings.Repeat("x", operational.MaxFindingText+1) }, "evidence", errs.TooLarge},
		"agent":          {func(d *operational.FindingDraft) { d.AgentID = "no spaces" }, "agent_id", errs.Invalid},
	} {
		d := good
		c.spoil(&d)
		_, err := svc.Report(ctx, d)
		if errs.CodeOf(err) != c.code || errs.FieldOf(err) != c.field {
			t.Errorf("%s: error %v of field %q, want %s of field %q", name, err, errs.FieldOf(err), c.code, c.field)
		}
	}
	refuses(t, errs.Invalid)(svc.Findings(ctx, operational.FindingFilter{Status: []operational.FindingStatus{"lost"}}))
	refuses(t, errs.Invalid)(svc.StartScan(ctx, operational.ScanDraft{Environment: "x"}))
	refuses(t, errs.NotFound)(svc.Finding(ctx, "nothing"))
}

func reconForeignScan(t *testing.T, w World[operational.ReconService]) {
	a := agent("scout")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	scan := must[operational.Scan](t)(svc.StartScan(ctx, operational.ScanDraft{Environment: "prod", Scanner: "nmap"}))
	d := operational.FindingDraft{Environment: "prod", Title: "x", Severity: operational.SeverityLow, ScanID: scan.ID}
	if got := must[operational.Reported](t)(svc.Report(ctx, d)); got.ScanID != scan.ID {
		t.Errorf("the finding is of the scan %q", got.ScanID)
	}
	if list := must[[]operational.Finding](t)(svc.Findings(ctx, operational.FindingFilter{ScanID: scan.ID})); len(list) != 1 {
		t.Errorf("the scan saw %+v", list)
	}
	d.Environment = "lab"
	_, err := svc.Report(ctx, d)
	if errs.CodeOf(err) != errs.Invalid || errs.FieldOf(err) != "scan_id" {
		t.Errorf("a scan of another environment: error %v", err)
	}
	if envs := must[[]operational.Environment](t)(svc.Environments(ctx, "")); len(envs) != 1 {
		t.Errorf("the refused finding left the environments %+v", envs)
	}
}

// reconSecrets reports what a scanner printed, a password among it.
func reconSecrets(t *testing.T, w World[operational.ReconService]) {
	a := agent("scout")
	svc, ctx := w.As(a), w.Context(t.Context(), a)
	draft := operational.FindingDraft{
		Environment: "prod", Title: "Password in the environment", Severity: operational.SeverityHigh,
		Description: "printed by ps: DB_PASSWORD=" + secret, Evidence: "DB_PASSWORD=" + secret, Remediation: "rotate password=" + secret, Location: "postgres://app:" + secret + "@db/app",
	}
	found := must[operational.Reported](t)(svc.Report(ctx, draft))
	for what, text := range map[string]string{
		"description": found.Description, "evidence": found.Evidence, "remediation": found.Remediation, "location": found.Location,
	} {
		if strings.Contains(text, secret) || !strings.Contains(text, "[redacted") {
			t.Errorf("the %s is %q", what, text)
		}
	}
	if again := must[operational.Reported](t)(svc.Report(ctx, draft)); again.New {
		t.Error("reported again it is taken for another finding")
	}
}
