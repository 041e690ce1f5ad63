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
	"skillrouter/learning/procedure"
	"skillrouter/learning/runbooks"
	"skillrouter/router/client"
)

func (s *shell) proceduresCommand() *cobra.Command {
	return s.verbs(verbs{
		name: "procedures", short: "Steps that worked, to be gone through again: add, list, show, edit, run, delete", of: "NAME", persona: true,
		add: named(s.proceduresSave(), "add"), list: s.proceduresList(), show: s.proceduresShow(), edit: s.proceduresEdit(),
		remove: removeProcedure, gone: "Delete a procedure and its file",
		more: []*cobra.Command{s.proceduresSearch(), s.proceduresCheck(), s.proceduresRun(), s.proceduresRuns()},
	})
}

// ofPersona is the flag that selects by persona where one may say everybody's.
func ofPersona(p *string) boundFlag {
	return option("persona", p, "whose memory (default \"default\"; \"*\": everybody's)")
}

func (s *shell) proceduresList() *cobra.Command {
	type listing struct {
		procedure.Page
		Problems []procedure.FileProblem `json:"problems,omitempty"`
	}
	var filter procedure.Filter
	return asks(s, command{use: "list", short: "List procedures, and the files that hold none", flags: options{
		ofPersona(&filter.Persona),
		option("category,c", &filter.Category, "only procedures of this category"),
		cursor(&filter.After).once("after"),
		limit(&filter.Limit),
	}}, func(ctx context.Context, c *client.Client) (all listing, err error) {
		if all.Page, err = client.Send(ctx, c, procedure.Service.List, filter); err != nil {
			return all, err
		}
		all.Problems, err = client.Ask(ctx, c, procedure.Service.Problems)
		return all, err
	}, func(w io.Writer, all listing) {
		procedureTable.list(w, all.Procedures)
		printIf(w, "More with --cursor %q.\n", all.Next)
		printProblems(s.err, all.Problems)
	})
}

// printProblems tells what is wrong with files, and where.
func printProblems(w io.Writer, problems []procedure.FileProblem) {
	for _, p := range problems {
		fmt.Fprintf(w, "%s: %s\n", placeIn(p), clean(p.Problem))
	}
}

// placeIn is where a file's problem is, as compilers write it.
func placeIn(p procedure.FileProblem) string {
	if p.Line == 0 {
		return clean(p.File)
	}
	return fmt.Sprintf("%s:%d:%d", clean(p.File), p.Line, p.Column)
}

var procedureTable = columns[procedure.Procedure]{
	"No procedures.",
	[]string{"PERSONA", "NAME", "VERSION", "CATEGORY", "STEPS", "SUCCESS", "DESCRIPTION"},
	func(p procedure.Procedure) cells {
		return cells{p.Persona, p.Name, p.Version, p.Category, len(p.Steps), successOf(p), p.Description}
	},
}

func successOf(p procedure.Procedure) string {
	if p.Runs == 0 && p.SuccessRate == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f%% of %d", 100*p.SuccessRate, p.Runs)
}

func (s *shell) proceduresShow() *cobra.Command {
	var ref procedure.Ref
	return asks(s, command{
		use: "show NAME", short: "Print a procedure", args: exactly(&ref.Name),
		flags: options{persona(&ref.Persona), option("version", &ref.Version, "an older version")},
	}, sends(procedure.Service.Procedure, &ref), printProcedure)
}

func printProcedure(w io.Writer, p procedure.Procedure) {
	fmt.Fprintf(w, "%s/%s, version %d, %s\n", clean(p.Persona), clean(p.Name), p.Version, clean(p.Category))
	printIf(w, "%s\n", p.Description)
	printIf(w, "file: %s\n", p.File)
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

func printStep(w io.Writer, index int, step procedure.Step) {
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
	var query procedure.Query
	return finds(s, command{
		use: "search TEXT...", short: "Find procedures by what they are needed for", args: joined(1, &query.Query),
		flags: options{
			ofPersona(&query.Persona),
			option("category,c", &query.Category, "only procedures of this category"),
			limit(&query.Limit),
			scores(&query.Explain),
		},
	}, sends(procedure.Service.Search, &query), func(found procedure.Results) int { return len(found.Results) }, func(w io.Writer, found procedure.Results) {
		var list []procedure.Procedure
		for _, hit := range found.Results {
			list = append(list, hit.Procedure)
		}
		procedureTable.list(w, list)
		for _, hit := range found.Results {
			if len(hit.Why) > 0 {
				fmt.Fprintf(w, "\n%s  [%.3f]\n", clean(hit.Name), hit.RelevanceScore)
				explained(w, hit.RelevanceScore, hit.Why)
			}
		}
	})
}

// readProcedure reads a file that was named on the command line.
func (s *shell) readProcedure(name string) (procedure.File, error) {
	text, err := s.read(name, runbooks.MaxFile)
	if err != nil {
		return procedure.File{}, err
	}
	base := filepath.Base(name)
	if name == "-" {
		base = "" // it must name the procedure itself
	}
	return runbooks.Parse(base, text)
}

func (s *shell) proceduresCheck() *cobra.Command {
	var files []string
	return s.local(command{
		use: "check FILE...", short: "Check files of procedures, without storing them", args: listed(cobra.MinimumNArgs(1), &files),
		long: "Says what is wrong with each file, and where, and exits with 1 if something is.\nIt needs no router.",
	}, func(context.Context) error {
		problems := []procedure.FileProblem{}
		for _, name := range files {
			_, err := s.readProcedure(name)
			if err == nil {
				continue
			}
			problem := procedure.FileProblem{File: name, Problem: err.Error(), At: s.now().UTC()}
			if at, ok := errors.AsType[*runbooks.Problem](err); ok {
				problem.Line, problem.Column, problem.Problem = at.Line, at.Column, at.Text
			}
			problems = append(problems, problem)
		}
		return s.printOr(len(problems) > 0, problems, func(w io.Writer) {
			printProblems(w, problems)
			if len(problems) == 0 {
				fmt.Fprintln(w, "ok")
			}
		})
	})
}

func (s *shell) proceduresSave() *cobra.Command {
	var file, of, agent string
	var draft procedure.Draft
	return asks(s, command{
		use: "save FILE", short: "Store a procedure from a file (- is standard input)", args: exactly(&file),
		flags: options{
			option("persona", &of, "whose memory, whatever the file says"),
			who("agent", &agent, s.agent, "agent that saves it (SKILLROUTER_AGENT)"),
		},
		before: func() error {
			read, err := s.readProcedure(file)
			if problem, ok := errors.AsType[*runbooks.Problem](err); ok {
				return fmt.Errorf("%s: %w", placeIn(procedure.FileProblem{File: file, Line: problem.Line, Column: problem.Column}), errors.New(problem.Text))
			}
			draft = read.Draft
			draft.Persona, draft.AgentID = first(of, draft.Persona), agent
			return err
		},
	}, sends(procedure.Service.Save, &draft), printSaved)
}

func printSaved(w io.Writer, saved procedure.Saved) {
	if !saved.Changed {
		fmt.Fprintf(w, "%s/%s is as it was, version %d\n", clean(saved.Persona), clean(saved.Name), saved.Version)
		return
	}
	fmt.Fprintf(w, "%s/%s saved as version %d\n", clean(saved.Persona), clean(saved.Name), saved.Version)
	secretsCut(w, saved.Redacted)
}

func (s *shell) proceduresEdit() *cobra.Command {
	var ref procedure.Ref
	var file, agent string
	var description, category *string
	var read procedure.File
	return asks(s, command{
		use: "edit NAME [FILE] [--description TEXT] [--category NAME]", short: "Change a procedure: its steps by a file, or what is said of it", args: between(1, &ref.Name, &file),
		long: "Changes a procedure, as a new version; runs under way go on with theirs. FILE holds\nall of it, as \"procedures add\" reads it; - is standard input.",
		flags: options{
			persona(&ref.Persona),
			optional("description", &description, "", "what it is for"),
			optional("category,c", &category, "", "category"),
			who("agent", &agent, s.agent, "agent that changes it (SKILLROUTER_AGENT)"),
		},
		before: func() (err error) {
			if file == "" {
				if description == nil && category == nil {
					return usagef("say what to change: a FILE, --description or --category")
				}
				return nil
			}
			if read, err = s.readProcedure(file); err == nil && read.Draft.Name != ref.Name {
				return usagef("%s holds the procedure %q, not %q: add it with \"procedures add\"", file, read.Draft.Name, ref.Name)
			}
			return err
		},
	}, func(ctx context.Context, c *client.Client) (procedure.Saved, error) {
		now, err := client.Send(ctx, c, procedure.Service.Procedure, ref)
		if err != nil {
			return procedure.Saved{}, err
		}
		draft := procedure.Draft{Description: now.Description, Category: now.Category, Params: now.Params, Steps: now.Steps, LearnedFrom: now.LearnedFrom}
		if file != "" {
			draft = read.Draft
		}
		draft.Persona, draft.Name, draft.AgentID = now.Persona, now.Name, agent
		if description != nil {
			draft.Description = *description
		}
		if category != nil {
			draft.Category = *category
		}
		return client.Send(ctx, c, procedure.Service.Save, draft)
	}, printSaved)
}

func (s *shell) proceduresRuns() *cobra.Command {
	var id *string
	var filter procedure.RunFilter
	return s.calls(command{
		use: "runs [RUN_ID]", short: "List runs, or print one", args: perhaps(&id),
		flags: s.flags(&filter, "persona", "procedure", "agent", "status", "limit"),
	}, func(ctx context.Context, c *client.Client) error {
		if id != nil {
			whole, err := fullID(ctx, c, "runs", *id)
			if err != nil {
				return err
			}
			run, err := client.Send(ctx, c, procedure.Service.Run, whole)
			return printed(s, run, err, printRun)
		}
		return printList(ctx, s, c, learning.DefaultEpisodeLimit, learning.MaxLimit, &filter.Limit, sends(procedure.Service.Runs, &filter), runTable.list)
	})
}

var runTable = columns[procedure.Run]{
	"No runs.",
	[]string{"RUN", "PROCEDURE", "STATUS", "STEPS", "AGENT", "STARTED", "REASON"},
	func(run procedure.Run) cells {
		done := 0
		for _, step := range run.Steps {
			if step.EndedAt != nil {
				done++
			}
		}
		return cells{shortID(run.ID), run.Persona + "/" + run.Procedure, run.Status, fmt.Sprintf("%d of %d", done, len(run.Steps)), run.AgentID, run.StartedAt, run.Reason}
	},
}

func printRun(w io.Writer, run procedure.Run) {
	fmt.Fprintf(w, "run %s of %s/%s, version %d: %s\n", clean(run.ID), clean(run.Persona), clean(run.Procedure), run.Version, run.Status)
	printIf(w, "%s\n", run.Reason)
	for _, step := range run.Steps {
		fmt.Fprintf(w, "%d. %s: %s", step.Index+1, clean(step.Name), step.Status)
		for _, more := range []string{step.Reason, step.Error} {
			printIf(w, ", %s", more)
		}
		if len(step.Result) > 0 {
			fmt.Fprintf(w, "\n   %s", clean(string(step.Result)))
		}
		fmt.Fprintln(w)
	}
}
