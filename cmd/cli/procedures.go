package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/learning"
	"skillrouter/learning/runbooks"
)

func (s *shell) proceduresCommand() *cobra.Command {
	return s.group(&cobra.Command{Use: "procedures", Short: "Steps that worked, to be gone through again"},
		s.proceduresList(), s.proceduresShow(), s.proceduresSearch(), s.proceduresCheck(), s.proceduresSave(), s.proceduresDelete(),
		s.proceduresRun(), s.proceduresRuns())
}

const personaUsage = "whose memory (default \"default\")"

func (s *shell) proceduresList() *cobra.Command {
	var filter learning.ProcedureFilter
	cmd := s.remote(s.command(&cobra.Command{
		Use: "list", Short: "List procedures, and the files that hold none", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		page, err := c.Procedures.List(ctx, filter)
		if err != nil {
			return err
		}
		problems, err := c.Procedures.Problems(ctx)
		if err != nil {
			return err
		}
		return s.print(struct {
			learning.ProcedurePage
			Problems []learning.FileProblem `json:"problems,omitempty"`
		}{page, problems}, func(w io.Writer) {
			printProcedures(w, page.Procedures)
			if page.Next != "" {
				fmt.Fprintf(w, "More with --after %q.\n", clean(page.Next))
			}
			for _, p := range problems {
				fmt.Fprintf(s.err, "%s: %s\n", placeIn(p), clean(p.Problem))
			}
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&filter.Persona, "persona", "", "whose memory (default \"default\"; \"*\": everybody's)")
	flags.StringVarP(&filter.Category, "category", "c", "", "only procedures of this category")
	flags.StringVar(&filter.After, "after", "", "go on where a page ended")
	flags.IntVar(&filter.Limit, "limit", 0, "how many at most")
	return cmd
}

// placeIn is where a file's problem is, as compilers write it.
func placeIn(p learning.FileProblem) string {
	if p.Line == 0 {
		return clean(p.File)
	}
	return fmt.Sprintf("%s:%d:%d", clean(p.File), p.Line, p.Column)
}

func printProcedures(w io.Writer, list []learning.Procedure) {
	if len(list) == 0 {
		fmt.Fprintln(w, "No procedures.")
		return
	}
	var rows [][]string
	for _, p := range list {
		rows = append(rows, []string{p.Persona, p.Name, fmt.Sprint(p.Version), p.Category, fmt.Sprint(len(p.Steps)), successOf(p), p.Description})
	}
	table(w, []string{"PERSONA", "NAME", "VERSION", "CATEGORY", "STEPS", "SUCCESS", "DESCRIPTION"}, rows)
}

func successOf(p learning.Procedure) string {
	if p.Runs == 0 && p.SuccessRate == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f%% of %d", 100*p.SuccessRate, p.Runs)
}

func (s *shell) proceduresShow() *cobra.Command {
	var ref learning.ProcedureRef
	cmd := s.remote(s.command(&cobra.Command{
		Use: "show NAME", Short: "Print a procedure", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string) error {
		ref.Name = args[0]
		c, err := s.client()
		if err != nil {
			return err
		}
		p, err := c.Procedures.Procedure(ctx, ref)
		if err != nil {
			return err
		}
		return s.print(p, func(w io.Writer) { printProcedure(w, p) })
	}))
	cmd.Flags().StringVar(&ref.Persona, "persona", "", personaUsage)
	cmd.Flags().Int64Var(&ref.Version, "version", 0, "an older version")
	return cmd
}

func printProcedure(w io.Writer, p learning.Procedure) {
	fmt.Fprintf(w, "%s/%s, version %d, %s\n", clean(p.Persona), clean(p.Name), p.Version, clean(p.Category))
	if p.Description != "" {
		fmt.Fprintf(w, "%s\n", clean(p.Description))
	}
	if p.File != "" {
		fmt.Fprintf(w, "file: %s\n", clean(p.File))
	}
	if success := successOf(p); success != "" {
		fmt.Fprintf(w, "succeeded: %s runs, in %s\n", success, spanOf(p.AvgTime))
	}
	for _, param := range p.Params {
		fmt.Fprintf(w, "param %s", clean(param.Name))
		if len(param.Default) > 0 {
			fmt.Fprintf(w, " (default %s)", clean(string(param.Default)))
		}
		fmt.Fprintln(w, " "+clean(param.Description))
	}
	for i, step := range p.Steps {
		printStep(w, i, step)
		if i < len(p.StepStats) {
			if st := p.StepStats[i]; st.Succeeded+st.Failed+st.Skipped+st.Unknown > 0 {
				fmt.Fprintf(w, "   %d succeeded, %d failed, %d skipped, %d unknown\n", st.Succeeded, st.Failed, st.Skipped, st.Unknown)
			}
		}
	}
}

func spanOf(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(100 * time.Millisecond).String()
}

func printStep(w io.Writer, index int, step learning.Step) {
	fmt.Fprintf(w, "\n%d. %s\n", index+1, clean(step.Name))
	for _, line := range []struct{ name, text string }{
		{"", step.Description}, {"if: ", step.Condition}, {"", step.Action}, {"$ ", step.Run},
	} {
		if line.text == "" {
			continue
		}
		for _, text := range strings.Split(line.text, "\n") {
			fmt.Fprintf(w, "   %s%s\n", line.name, clean(text))
		}
	}
}

func (s *shell) proceduresSearch() *cobra.Command {
	var query learning.ProcedureQuery
	cmd := s.remote(s.command(&cobra.Command{
		Use: "search TEXT...", Short: "Find procedures by what they are needed for", Args: cobra.MinimumNArgs(1),
	}, func(ctx context.Context, args []string) error {
		query.Query = strings.Join(args, " ")
		c, err := s.client()
		if err != nil {
			return err
		}
		found, err := c.Procedures.Search(ctx, query)
		if err != nil {
			return err
		}
		return s.print(found, func(w io.Writer) {
			var list []learning.Procedure
			for _, hit := range found.Results {
				list = append(list, hit.Procedure)
			}
			printProcedures(w, list)
			for _, hit := range found.Results {
				if len(hit.Why) > 0 {
					fmt.Fprintf(w, "\n%s  [%.3f]\n", clean(hit.Name), hit.RelevanceScore)
					explained(w, hit.RelevanceScore, hit.Why)
				}
			}
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&query.Persona, "persona", "", "whose memory (default \"default\"; \"*\": everybody's)")
	flags.StringVarP(&query.Category, "category", "c", "", "only procedures of this category")
	flags.IntVar(&query.Limit, "limit", 0, "how many at most")
	flags.BoolVar(&query.Explain, "explain", false, "show what each score is made of")
	return cmd
}

// readProcedure reads a file that was named on the command line.
func (s *shell) readProcedure(name string) (learning.ProcedureFile, error) {
	file, _, err := s.open(name)
	if err != nil {
		return learning.ProcedureFile{}, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, runbooks.MaxFile+1))
	if err != nil {
		return learning.ProcedureFile{}, err
	}
	base := filepath.Base(name)
	if name == "-" {
		base = "" // it must name the procedure itself
	}
	return runbooks.Parse(base, text)
}

func (s *shell) proceduresCheck() *cobra.Command {
	cmd := s.command(&cobra.Command{
		Use: "check FILE...", Short: "Check files of procedures, without storing them", Args: cobra.MinimumNArgs(1),
		Long: "Says what is wrong with each file, and where, and exits with 1 if something is.\nIt needs no router.",
	}, func(_ context.Context, args []string) error {
		problems := []learning.FileProblem{}
		for _, name := range args {
			_, err := s.readProcedure(name)
			if err == nil {
				continue
			}
			problem := learning.FileProblem{File: name, Problem: err.Error(), At: s.now().UTC()}
			if at, ok := errors.AsType[*runbooks.Problem](err); ok {
				problem.Line, problem.Column, problem.Problem = at.Line, at.Column, at.Text
			}
			problems = append(problems, problem)
		}
		err := s.print(problems, func(w io.Writer) {
			for _, p := range problems {
				fmt.Fprintf(w, "%s: %s\n", placeIn(p), clean(p.Problem))
			}
			if len(problems) == 0 {
				fmt.Fprintln(w, "ok")
			}
		})
		if err == nil && len(problems) > 0 {
			return exitError(exitFailed)
		}
		return err
	})
	cmd.Flags().BoolVar(&s.json, "json", false, "print JSON, for programs")
	return cmd
}

func (s *shell) proceduresSave() *cobra.Command {
	var persona, agent string
	cmd := s.remote(s.command(&cobra.Command{
		Use: "save FILE", Short: "Store a procedure from a file (- is standard input)", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string) error {
		read, err := s.readProcedure(args[0])
		if problem, ok := errors.AsType[*runbooks.Problem](err); ok {
			return fmt.Errorf("%s: %w", placeIn(learning.FileProblem{File: args[0], Line: problem.Line, Column: problem.Column}), errors.New(problem.Text))
		}
		if err != nil {
			return err
		}
		if persona != "" {
			read.Draft.Persona = persona
		}
		read.Draft.AgentID = s.agent(agent)
		c, err := s.client()
		if err != nil {
			return err
		}
		saved, err := c.Procedures.Save(ctx, read.Draft)
		if err != nil {
			return err
		}
		return s.print(saved, func(w io.Writer) {
			if !saved.Changed {
				fmt.Fprintf(w, "%s/%s is as it was, version %d\n", clean(saved.Persona), clean(saved.Name), saved.Version)
				return
			}
			fmt.Fprintf(w, "%s/%s saved as version %d\n", clean(saved.Persona), clean(saved.Name), saved.Version)
			if len(saved.Redacted) > 0 {
				fmt.Fprintf(w, "secrets were cut out of it: %s\n", strings.Join(saved.Redacted, ", "))
			}
		})
	}))
	cmd.Flags().StringVar(&persona, "persona", "", "whose memory, whatever the file says")
	cmd.Flags().StringVar(&agent, "agent", "", "agent that saves it (SKILLROUTER_AGENT)")
	return cmd
}

func (s *shell) proceduresDelete() *cobra.Command {
	var ref learning.ProcedureRef
	cmd := s.remote(s.command(&cobra.Command{
		Use: "delete NAME", Short: "Delete a procedure and its file", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string) error {
		ref.Name = args[0]
		c, err := s.client()
		if err != nil {
			return err
		}
		if err := c.Procedures.Delete(ctx, ref); err != nil {
			return err
		}
		return s.print(struct {
			Deleted string `json:"deleted"`
		}{ref.Name}, func(w io.Writer) { fmt.Fprintf(w, "%s deleted\n", clean(ref.Name)) })
	}))
	cmd.Flags().StringVar(&ref.Persona, "persona", "", personaUsage)
	return cmd
}

func (s *shell) proceduresRuns() *cobra.Command {
	var filter learning.RunFilter
	var status string
	cmd := s.remote(s.command(&cobra.Command{
		Use: "runs [RUN_ID]", Short: "List runs, or print one", Args: cobra.MaximumNArgs(1),
	}, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		if len(args) == 1 {
			run, err := c.Procedures.Run(ctx, args[0])
			if err != nil {
				return err
			}
			return s.print(run, func(w io.Writer) { printRun(w, run) })
		}
		filter.Status = learning.RunStatus(status)
		list, err := c.Procedures.Runs(ctx, filter)
		if err != nil {
			return err
		}
		return s.print(list, func(w io.Writer) {
			if len(list) == 0 {
				fmt.Fprintln(w, "No runs.")
				return
			}
			now, rows := s.now(), [][]string{}
			for _, run := range list {
				done := 0
				for _, step := range run.Steps {
					if step.EndedAt != nil {
						done++
					}
				}
				rows = append(rows, []string{run.ID, run.Persona + "/" + run.Procedure, string(run.Status), fmt.Sprintf("%d of %d", done, len(run.Steps)), run.AgentID, ago(now, run.StartedAt), run.Reason})
			}
			table(w, []string{"RUN", "PROCEDURE", "STATUS", "STEPS", "AGENT", "STARTED", "REASON"}, rows)
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&filter.Persona, "persona", "", "only runs of this persona's procedures")
	flags.StringVar(&filter.Procedure, "procedure", "", "only runs of this procedure")
	flags.StringVar(&filter.AgentID, "agent", "", "only this agent's")
	flags.StringVar(&status, "status", "", "running, succeeded, failed or abandoned")
	flags.IntVar(&filter.Limit, "limit", 0, "how many at most")
	return cmd
}

func printRun(w io.Writer, run learning.Run) {
	fmt.Fprintf(w, "run %s of %s/%s, version %d: %s\n", clean(run.ID), clean(run.Persona), clean(run.Procedure), run.Version, run.Status)
	if run.Reason != "" {
		fmt.Fprintf(w, "%s\n", clean(run.Reason))
	}
	for _, step := range run.Steps {
		fmt.Fprintf(w, "%d. %s: %s", step.Index+1, clean(step.Name), step.Status)
		for _, more := range []string{step.Reason, step.Error} {
			if more != "" {
				fmt.Fprintf(w, ", %s", clean(more))
			}
		}
		if len(step.Result) > 0 {
			fmt.Fprintf(w, "\n   %s", clean(string(step.Result)))
		}
		fmt.Fprintln(w)
	}
}
