package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/operational"
	"skillrouter/router/client"
)

func (s *shell) reconCommand() *cobra.Command {
	return s.group(
		&cobra.Command{Use: "recon", Short: "What reconnaissance found: environments, scans, findings"},
		s.reconEnvironments(), s.reconScans(), s.reconFindings(), s.reconSummary(), s.reconShow(),
		s.reconEnvironment(), s.reconScan(), s.reconFinish(), s.reconReport(), s.reconDecide(),
	)
}

func (s *shell) reconEnvironments() *cobra.Command {
	var project string
	return asks(s, command{
		use: "environments", short: "List what is scanned", flags: options{option("project", &project, "only those of this project")},
	}, sends(operational.ReconService.Environments, &project), columns[operational.Environment]{
		"No environments.",
		[]string{"ENVIRONMENT", "KIND", "PROJECT", "DESCRIPTION"},
		func(e operational.Environment) cells { return cells{e.Name, e.Kind, e.Project, e.Description} },
	}.list)
}

func (s *shell) reconEnvironment() *cobra.Command {
	var draft operational.EnvironmentDraft
	return asks(s, command{
		use: "environment NAME", short: "Add an environment, or change the one of that name", args: exactly(&draft.Name),
		flags: s.flags(&draft, "kind", "description", "project"),
	}, sends(operational.ReconService.StoreEnvironment, &draft), func(w io.Writer, e operational.Environment) { fmt.Fprintf(w, "%s stored\n", clean(e.Name)) })
}

func (s *shell) reconScans() *cobra.Command {
	var filter operational.ScanFilter
	return lists(s, command{use: "scans", short: "List scans, the latest first", flags: append(s.flags(&filter, "environment", "project", "limit"),
		choice("status", &filter.Status, operational.ScanStatuses(), "only those with this status"),
	)}, operational.DefaultLimit, operational.MaxLimit, &filter.Limit, sends(operational.ReconService.Scans, &filter), columns[operational.Scan]{
		"No scans.",
		[]string{"SCAN", "ENVIRONMENT", "SCANNER", "STATUS", "STARTED", "SUMMARY"},
		func(s operational.Scan) cells {
			return cells{s.ID, s.Environment, s.Scanner, s.Status, s.StartedAt, s.Summary}
		},
	}.list)
}

func (s *shell) reconScan() *cobra.Command {
	var draft operational.ScanDraft
	return asks(s, command{
		use: "scan ENVIRONMENT SCANNER", short: "Record that a scan began", args: exactly(&draft.Environment, &draft.Scanner),
		flags: append(s.flags(&draft, "summary", "agent"),
			choice("status", &draft.Status, operational.ScanStatuses(), "how it stands; running if nothing is said"),
		),
	}, sends(operational.ReconService.StartScan, &draft), printScan)
}

func (s *shell) reconFinish() *cobra.Command {
	var id string
	var end operational.ScanEnd
	return asks(s, command{
		use: "finish SCAN [SUMMARY]", short: "End a running scan", args: between(1, &id, &end.Summary),
		flags: options{
			choice("status", &end.Status, operational.ScanStatuses()[1:], "how it ended; completed if nothing is said"),
			who("agent", &end.AgentID, s.agent, "agent that scanned (SKILLROUTER_AGENT)"),
		},
	}, sendsTo(operational.ReconService.FinishScan, &id, &end), printScan)
}

func printScan(w io.Writer, scan operational.Scan) {
	fmt.Fprintf(w, "%s %s\n", clean(scan.ID), clean(scan.Status))
}

// findingFlags are the filters that a listing and a summary share.
func findingFlags(f *operational.FindingFilter) options {
	return options{
		option("environment", &f.Environment, "only those of this environment"),
		option("project", &f.Project, "only those of this project"),
		choices("severity", &f.Severity, operational.Severities(), "only this severity"),
		choices("status", &f.Status, operational.FindingStatuses(), "only this status"),
		option("cve", &f.CVE, "only this CVE"),
		option("text", &f.Text, "only those that hold these words"),
		option("location", &f.Location, "only those whose location holds this"),
	}
}

func (s *shell) reconFindings() *cobra.Command {
	var filter operational.FindingFilter
	return lists(s, command{
		use: "findings", aliases: []string{"list"}, short: "List findings, the worst first", flags: append(findingFlags(&filter), limit(&filter.Limit)),
	}, operational.DefaultLimit, operational.MaxLimit, &filter.Limit, sends(operational.ReconService.Findings, &filter), columns[operational.Finding]{
		"No findings.",
		[]string{"FINDING", "SEVERITY", "STATUS", "CVE", "TITLE", "ENVIRONMENT", "LOCATION", "SEEN"},
		func(f operational.Finding) cells {
			return cells{f.ID, f.Severity, f.Status, f.CVE, f.Title, f.Environment, f.Location, f.LastSeen}
		},
	}.list)
}

func (s *shell) reconSummary() *cobra.Command {
	var filter operational.FindingFilter
	return asks(s, command{use: "summary", short: "Count findings", flags: findingFlags(&filter)}, sends(operational.ReconService.Summary, &filter), func(w io.Writer, sum operational.FindingSummary) {
		fmt.Fprintf(w, "%s, %d of them open or confirmed\n", plural(sum.Total, "finding"), sum.Active)
		for _, severity := range operational.Severities() {
			fmt.Fprintf(w, "  %-9s %d\n", severity, sum.BySeverity[severity])
		}
		for _, name := range sorted(sum.ByEnvironment) {
			fmt.Fprintf(w, "  in %s: %d\n", cell(name), sum.ByEnvironment[name])
		}
	})
}

func (s *shell) reconShow() *cobra.Command {
	type shown struct {
		operational.Finding
		History []operational.FindingChange `json:"history"`
	}
	var id string
	return asks(s, command{use: "show FINDING", short: "Show one finding with its history", args: exactly(&id)}, func(ctx context.Context, c *client.Client) (shown, error) {
		f, err := client.Send(ctx, c, operational.ReconService.Finding, id)
		if err != nil {
			return shown{}, err
		}
		changes, err := client.Send(ctx, c, operational.ReconService.History, id)
		return shown{f, changes}, err
	}, func(w io.Writer, f shown) {
		fmt.Fprintf(w, "%s\n%s, %s, in %s", clean(strings.TrimSpace(f.CVE+" "+f.Title)), f.Severity, f.Status, clean(f.Environment))
		printIf(w, " at %s", f.Location)
		fmt.Fprintf(w, ", seen %s\n", plural(f.Occurrences, "time"))
		sections(w, section{"Description", f.Description}, section{"Evidence", f.Evidence}, section{"Remediation", f.Remediation})
		for _, change := range f.History {
			fmt.Fprintf(w, "\n%s  %s  %s", ago(s.now(), change.At), clean(string(change.To)), clean(strings.TrimSpace(change.AgentID+" "+change.Note)))
		}
		fmt.Fprintln(w)
	})
}

func (s *shell) reconReport() *cobra.Command {
	var draft operational.FindingDraft
	return asks(s, command{
		use: "report ENVIRONMENT TITLE --severity SEVERITY", short: "Report a finding", args: exactly(&draft.Environment, &draft.Title),
		flags: s.flags(&draft, "severity", "cve", "location", "description", "evidence", "remediation", "scan", "agent"),
		before: func() error {
			if draft.Severity == "" {
				return usagef("--severity is required: critical, high, medium, low or info")
			}
			return nil
		},
	}, sends(operational.ReconService.Report, &draft), func(w io.Writer, reported operational.Reported) {
		what := "seen again"
		switch {
		case reported.New:
			what = "new"
		case reported.Reopened:
			what = "open again"
		}
		fmt.Fprintf(w, "%s %s\n", clean(reported.ID), what)
	})
}

func (s *shell) reconDecide() *cobra.Command {
	var id string
	var decision operational.FindingDecision
	return asks(s, command{
		use: "decide FINDING STATUS [NOTE]", short: "Decide about a finding: open, confirmed, fixed, accepted, false_positive",
		args:  between(2, &id, (*string)(&decision.Status), &decision.Note),
		flags: options{who("agent", &decision.AgentID, s.agent, "agent that decides (SKILLROUTER_AGENT)")},
	}, sendsTo(operational.ReconService.Decide, &id, &decision), func(w io.Writer, f operational.Finding) { fmt.Fprintf(w, "%s %s\n", clean(f.ID), f.Status) })
}
