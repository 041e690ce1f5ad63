package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/operational"
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
	cmd := s.remote(s.command(&cobra.Command{
		Use: "environments", Short: "List what is scanned", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		list, err := c.Recon.Environments(ctx, project)
		if err != nil {
			return err
		}
		return s.print(list, func(w io.Writer) {
			rows := make([][]string, len(list))
			for i, e := range list {
				rows[i] = []string{e.Name, e.Kind, e.Project, e.Description}
			}
			listing(w, "environments", []string{"ENVIRONMENT", "KIND", "PROJECT", "DESCRIPTION"}, rows)
		})
	}))
	cmd.Flags().StringVar(&project, "project", "", "only those of this project")
	return cmd
}

func (s *shell) reconEnvironment() *cobra.Command {
	var draft operational.EnvironmentDraft
	cmd := s.remote(s.command(&cobra.Command{
		Use: "environment NAME", Short: "Add an environment, or change the one of that name", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string) error {
		draft.Name = args[0]
		c, err := s.client()
		if err != nil {
			return err
		}
		e, err := c.Recon.StoreEnvironment(ctx, draft)
		if err != nil {
			return err
		}
		return s.print(e, func(w io.Writer) { fmt.Fprintf(w, "%s stored\n", clean(e.Name)) })
	}))
	cmd.Flags().StringVar(&draft.Kind, "kind", "", "what it is: host, service, repository, …")
	cmd.Flags().StringVar(&draft.Description, "description", "", "description")
	cmd.Flags().StringVar(&draft.Project, "project", "", "project")
	return cmd
}

func (s *shell) reconScans() *cobra.Command {
	var filter operational.ScanFilter
	cmd := s.remote(s.command(&cobra.Command{
		Use: "scans", Short: "List scans, the latest first", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		list, err := c.Recon.Scans(ctx, filter)
		if err != nil {
			return err
		}
		return s.print(list, func(w io.Writer) {
			now := s.now()
			rows := make([][]string, len(list))
			for i, scan := range list {
				rows[i] = []string{scan.ID, scan.Environment, scan.Scanner, scan.Status, ago(now, scan.StartedAt), scan.Summary}
			}
			listing(w, "scans", []string{"SCAN", "ENVIRONMENT", "SCANNER", "STATUS", "STARTED", "SUMMARY"}, rows)
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&filter.Environment, "environment", "", "only those of this environment")
	flags.StringVar(&filter.Project, "project", "", "only those of this project")
	flags.StringVar(&filter.Status, "status", "", "only those with this status: running, completed, failed")
	flags.IntVar(&filter.Limit, "limit", 0, "how many at most")
	return cmd
}

func (s *shell) reconScan() *cobra.Command {
	var draft operational.ScanDraft
	cmd := s.remote(s.command(&cobra.Command{
		Use: "scan ENVIRONMENT SCANNER", Short: "Record that a scan began", Args: cobra.ExactArgs(2),
	}, func(ctx context.Context, args []string) error {
		draft.Environment, draft.Scanner, draft.AgentID = args[0], args[1], s.agent(draft.AgentID)
		c, err := s.client()
		if err != nil {
			return err
		}
		scan, err := c.Recon.StartScan(ctx, draft)
		if err != nil {
			return err
		}
		return s.print(scan, func(w io.Writer) { fmt.Fprintf(w, "%s %s\n", clean(scan.ID), clean(scan.Status)) })
	}))
	cmd.Flags().StringVar(&draft.Summary, "summary", "", "what it is about")
	cmd.Flags().StringVar(&draft.Status, "status", "", "running, completed or failed; running if nothing is said")
	cmd.Flags().StringVar(&draft.AgentID, "agent", "", "agent that scans (SKILLROUTER_AGENT)")
	return cmd
}

func (s *shell) reconFinish() *cobra.Command {
	var end operational.ScanEnd
	cmd := s.remote(s.command(&cobra.Command{
		Use: "finish SCAN [SUMMARY]", Short: "End a running scan", Args: cobra.RangeArgs(1, 2),
	}, func(ctx context.Context, args []string) error {
		if len(args) == 2 {
			end.Summary = args[1]
		}
		end.AgentID = s.agent(end.AgentID)
		c, err := s.client()
		if err != nil {
			return err
		}
		scan, err := c.Recon.FinishScan(ctx, args[0], end)
		if err != nil {
			return err
		}
		return s.print(scan, func(w io.Writer) { fmt.Fprintf(w, "%s %s\n", clean(scan.ID), clean(scan.Status)) })
	}))
	cmd.Flags().StringVar(&end.Status, "status", "", "completed or failed; completed if nothing is said")
	cmd.Flags().StringVar(&end.AgentID, "agent", "", "agent that scanned (SKILLROUTER_AGENT)")
	return cmd
}

// findingFlags are the filters that a listing and a summary share.
func findingFlags(cmd *cobra.Command, f *operational.FindingFilter, severities, statuses *[]string) {
	flags := cmd.Flags()
	flags.StringVar(&f.Environment, "environment", "", "only those of this environment")
	flags.StringVar(&f.Project, "project", "", "only those of this project")
	flags.StringSliceVar(severities, "severity", nil, "only this severity: critical, high, medium, low, info; may be repeated")
	flags.StringSliceVar(statuses, "status", nil, "only this status: open, confirmed, fixed, accepted, false_positive; may be repeated")
	flags.StringVar(&f.CVE, "cve", "", "only this CVE")
	flags.StringVar(&f.Text, "text", "", "only those that hold these words")
	flags.StringVar(&f.Location, "location", "", "only those whose location holds this")
}

func findingFilter(f operational.FindingFilter, severities, statuses []string) operational.FindingFilter {
	for _, name := range severities {
		f.Severity = append(f.Severity, operational.Severity(name))
	}
	for _, name := range statuses {
		f.Status = append(f.Status, operational.FindingStatus(name))
	}
	return f
}

func (s *shell) reconFindings() *cobra.Command {
	var filter operational.FindingFilter
	var severities, statuses []string
	cmd := s.remote(s.command(&cobra.Command{
		Use: "findings", Short: "List findings, the worst first", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		list, err := c.Recon.Findings(ctx, findingFilter(filter, severities, statuses))
		if err != nil {
			return err
		}
		return s.print(list, func(w io.Writer) {
			now := s.now()
			rows := make([][]string, len(list))
			for i, f := range list {
				rows[i] = []string{f.ID, string(f.Severity), string(f.Status), f.CVE, f.Title, f.Environment, f.Location, ago(now, f.LastSeen)}
			}
			listing(w, "findings", []string{"FINDING", "SEVERITY", "STATUS", "CVE", "TITLE", "ENVIRONMENT", "LOCATION", "SEEN"}, rows)
		})
	}))
	findingFlags(cmd, &filter, &severities, &statuses)
	cmd.Flags().IntVar(&filter.Limit, "limit", 0, "how many at most")
	return cmd
}

func (s *shell) reconSummary() *cobra.Command {
	var filter operational.FindingFilter
	var severities, statuses []string
	cmd := s.remote(s.command(&cobra.Command{
		Use: "summary", Short: "Count findings", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		sum, err := c.Recon.Summary(ctx, findingFilter(filter, severities, statuses))
		if err != nil {
			return err
		}
		return s.print(sum, func(w io.Writer) {
			fmt.Fprintf(w, "%s, %d of them open or confirmed\n", plural(sum.Total, "finding"), sum.Active)
			for _, severity := range operational.Severities() {
				fmt.Fprintf(w, "  %-9s %d\n", severity, sum.BySeverity[severity])
			}
			for _, name := range sorted(sum.ByEnvironment) {
				fmt.Fprintf(w, "  in %s: %d\n", cell(name), sum.ByEnvironment[name])
			}
		})
	}))
	findingFlags(cmd, &filter, &severities, &statuses)
	return cmd
}

func (s *shell) reconShow() *cobra.Command {
	return s.remote(s.command(&cobra.Command{
		Use: "show FINDING", Short: "Show one finding with its history", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		f, err := c.Recon.Finding(ctx, args[0])
		if err != nil {
			return err
		}
		changes, err := c.Recon.History(ctx, args[0])
		if err != nil {
			return err
		}
		type shown struct {
			operational.Finding
			History []operational.FindingChange `json:"history"`
		}
		return s.print(shown{f, changes}, func(w io.Writer) {
			fmt.Fprintf(w, "%s\n%s, %s, in %s", clean(strings.TrimSpace(f.CVE+" "+f.Title)), f.Severity, f.Status, clean(f.Environment))
			if f.Location != "" {
				fmt.Fprintf(w, " at %s", clean(f.Location))
			}
			fmt.Fprintf(w, ", seen %s\n", plural(f.Occurrences, "time"))
			for _, part := range []struct{ name, text string }{{"Description", f.Description}, {"Evidence", f.Evidence}, {"Remediation", f.Remediation}} {
				if part.text != "" {
					fmt.Fprintf(w, "\n%s\n", part.name)
					indented(w, part.text)
				}
			}
			for _, change := range changes {
				fmt.Fprintf(w, "\n%s  %s  %s", ago(s.now(), change.At), clean(string(change.To)), clean(strings.TrimSpace(change.AgentID+" "+change.Note)))
			}
			fmt.Fprintln(w)
		})
	}))
}

func (s *shell) reconReport() *cobra.Command {
	var draft operational.FindingDraft
	var severity string
	cmd := s.remote(s.command(&cobra.Command{
		Use: "report ENVIRONMENT TITLE --severity SEVERITY", Short: "Report a finding", Args: cobra.ExactArgs(2),
	}, func(ctx context.Context, args []string) error {
		if severity == "" {
			return usagef("--severity is required: critical, high, medium, low or info")
		}
		draft.Environment, draft.Title, draft.Severity, draft.AgentID = args[0], args[1], operational.Severity(severity), s.agent(draft.AgentID)
		c, err := s.client()
		if err != nil {
			return err
		}
		reported, err := c.Recon.Report(ctx, draft)
		if err != nil {
			return err
		}
		return s.print(reported, func(w io.Writer) {
			what := "seen again"
			switch {
			case reported.New:
				what = "new"
			case reported.Reopened:
				what = "open again"
			}
			fmt.Fprintf(w, "%s %s\n", clean(reported.ID), what)
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&severity, "severity", "", "critical, high, medium, low or info")
	flags.StringVar(&draft.CVE, "cve", "", "CVE, as CVE-2024-12345")
	flags.StringVar(&draft.Location, "location", "", "where: file:line, URL, host:port, package@version")
	flags.StringVar(&draft.Description, "description", "", "description")
	flags.StringVar(&draft.Evidence, "evidence", "", "what shows it")
	flags.StringVar(&draft.Remediation, "remediation", "", "what mends it")
	flags.StringVar(&draft.ScanID, "scan", "", "scan that found it")
	flags.StringVar(&draft.AgentID, "agent", "", "agent that reports it (SKILLROUTER_AGENT)")
	return cmd
}

func (s *shell) reconDecide() *cobra.Command {
	var decision operational.FindingDecision
	cmd := s.remote(s.command(&cobra.Command{
		Use: "decide FINDING STATUS [NOTE]", Short: "Decide about a finding: open, confirmed, fixed, accepted, false_positive", Args: cobra.RangeArgs(2, 3),
	}, func(ctx context.Context, args []string) error {
		decision.Status, decision.AgentID = operational.FindingStatus(args[1]), s.agent(decision.AgentID)
		if len(args) == 3 {
			decision.Note = args[2]
		}
		c, err := s.client()
		if err != nil {
			return err
		}
		f, err := c.Recon.Decide(ctx, args[0], decision)
		if err != nil {
			return err
		}
		return s.print(f, func(w io.Writer) { fmt.Fprintf(w, "%s %s\n", clean(f.ID), f.Status) })
	}))
	cmd.Flags().StringVar(&decision.AgentID, "agent", "", "agent that decides (SKILLROUTER_AGENT)")
	return cmd
}

// listing is a table, or a word that there is nothing to show.
func listing(w io.Writer, what string, heading []string, rows [][]string) {
	if len(rows) == 0 {
		fmt.Fprintf(w, "No %s.\n", what)
		return
	}
	table(w, heading, rows)
}
