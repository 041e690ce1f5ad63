package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/learning/procedure"
	"github.com/skillrouter/skillrouter/learning/runbooks"
	"github.com/skillrouter/skillrouter/router/client"
)

const procedureRows = "persona name version category steps runs success_rate=SUCCESS description"

func (s *shell) proceduresCommand() *cobra.Command {
	everybodys := func(p *string) options {
		return options{option("persona", p, "whose memory (default \"default\"; \"*\": everybody's)")}
	}
	var query procedure.Query
	return s.verbs(verbs{
		name: "procedures", short: "Steps that worked, to be gone through again: add, list, show, edit, run, delete", of: "NAME",
		rows: procedureRows, names: "name description",
		plain: []command{
			{use: "show NAME", short: "Print a procedure", do: procedure.Service.Procedure},
			{
				use: "search TEXT...", short: "Find procedures by what they are needed for", do: procedure.Service.Search, in: &query, found: "persona category version steps runs",
				words: []string{"query"}, flags: everybodys(&query.Persona),
			},
			{
				use: "runs [RUN_ID]", short: "List runs, or print one", do: procedure.Service.Runs, one: procedure.Service.Run, kind: "runs", full: true,
				rows: "short=RUN persona procedure status steps agent_id started_at=STARTED reason",
			},
		},
		more:   []*cobra.Command{s.proceduresList(everybodys), s.proceduresAdd(), s.proceduresEdit(), s.proceduresCheck(), s.proceduresRun()},
		remove: command{do: procedure.Service.Delete, short: "Delete a procedure and its file", hides: "version"},
	})
}

func (s *shell) proceduresList(everybodys func(*string) options) *cobra.Command {
	type listing struct {
		procedure.Page
		Problems []procedure.FileProblem `json:"problems,omitempty"`
	}
	var filter procedure.Filter
	return asks(s, command{use: "list", short: "List procedures, and the files that hold none", flags: append(everybodys(&filter.Persona), append(s.flags(&filter, "limit"), option("category,c", &filter.Category, "only procedures of this category"), option("cursor", &filter.After, usualHelp["cursor"]).once("after"))...)}, func(ctx context.Context, c *client.Client) (all listing, err error) {
		if all.Page, err = client.Send(ctx, c, procedure.Service.List, filter); err != nil {
			return all, err
		}
		all.Problems, err = client.Ask(ctx, c, procedure.Service.Problems)
		return all, err
	}, func(w io.Writer, all listing) {
		tableOf(w, procedureRows, "No procedures.", all.Procedures)
		printIf(w, "There are more: --cursor %s\n", all.Next)
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

var printStep = page[procedure.RunStep](`
{{place .Index}}. {{.Name}}
{{- with .Description}}
{{lines "   " .}}
{{- end}}
{{- with .Condition}}
{{lines "   if: " .}}
{{- end}}
{{- with .Action}}
{{lines "   " .}}
{{- end}}
{{- with .Run}}
{{lines "   $ " .}}
{{- end}}
{{- if gt .Attempt 1}}
   (attempt {{.Attempt}}: how the one before went is unknown)
{{- end}}`)

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
		use: "check FILE...", short: "Check files of procedures, without storing them", into: []any{&files},
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

func (s *shell) proceduresAdd() *cobra.Command {
	var file, of, agent string
	var draft procedure.Draft
	return s.does(command{
		do: procedure.Service.Save, in: &draft, hides: "name description category learned_from", says: savedPage,
		use: "add FILE", aliases: []string{"save"}, short: "Store a procedure from a file (- is standard input)", into: []any{&file},
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
	})
}

const savedPage = `{{.Persona}}/{{.Name}} {{if .Changed}}saved as{{else}}is as it was,{{end}} version {{.Version}}
{{- with .Redacted}}
secrets were cut out of it: {{.}}
{{- end}}`

func (s *shell) proceduresEdit() *cobra.Command {
	var ref procedure.Ref
	var file, agent string
	var says struct {
		Description *string `json:"description" doc:"Its purpose"`
		Category    *string `json:"category" doc:"Category"`
	}
	var read procedure.File
	return asks(s, command{
		use: "edit NAME [FILE] [--description TEXT] [--category NAME]", short: "Change a procedure: its steps by a file, or what is said of it", into: []any{&ref.Name, &file},
		long: "Changes a procedure, as a new version; runs under way go on with theirs. FILE holds\nall of it, as \"procedures add\" reads it; - is standard input.",
		flags: append(append(s.flags(&says, "description", "category"), s.flags(&ref, "persona")...),
			who("agent", &agent, s.agent, "agent that changes it (SKILLROUTER_AGENT)"),
		),
		before: func() (err error) {
			if file == "" {
				if says.Description == nil && says.Category == nil {
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
		if says.Description != nil {
			draft.Description = *says.Description
		}
		if says.Category != nil {
			draft.Category = *says.Category
		}
		return client.Send(ctx, c, procedure.Service.Save, draft)
	}, page[procedure.Saved](savedPage))
}

var printRun = page[procedure.Run](`
run {{.ID}} of {{.Persona}}/{{.Procedure}}, version {{.Version}}: {{.Status}}
{{- with .Reason}}
{{.}}
{{- end}}
{{- range .Steps}}
{{place .Index}}. {{.Name}}: {{.Status}}
{{- with .Reason}}, {{.}}{{end}}
{{- with .Error}}, {{.}}{{end}}
{{- with .Result}}
   {{.}}
{{- end}}
{{- end}}`)
