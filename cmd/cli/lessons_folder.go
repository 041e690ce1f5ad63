package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/learning/folder"
	"skillrouter/router/client"
)

// lessonsFolder is the commands on a lessons folder and on files of notes.
func (s *shell) lessonsFolder() []*cobra.Command {
	return []*cobra.Command{s.lessonsExport(), s.lessonsImport(), s.lessonsIndex()}
}

// brought prints what came of an export or an import.
func (s *shell) brought(result folder.Result, err error) error {
	if err != nil && result.Counts == nil { // it did not begin
		return err
	}
	printed := s.printOr(err == nil && result.Counts[folder.ActionRefused] > 0, result, func(w io.Writer) { printBrought(w, result) })
	if err != nil {
		return saying(err, "it broke off; what was done remains, and it can be repeated")
	}
	return printed
}

func (s *shell) lessonsExport() *cobra.Command {
	var settings folder.Options
	var name string
	return s.calls(command{
		use: "export DIR", short: "Write the router's lessons to a folder of Markdown files", args: exactly(&name),
		long: `Writes each lesson to its file in DIR/cases, DIR/patterns or DIR/principles, and
the index beside them. A file that says something else is left as it is, and
named: remove it to have it written anew. No file is deleted. To share with others
by a project's git, see skillrouter share.`,
		flags: options{option("dry-run", &settings.DryRun, "say what would be done, and do nothing")},
	}, func(ctx context.Context, c *client.Client) error {
		dir, err := folder.Open(name, !settings.DryRun)
		if err != nil {
			return err
		}
		defer dir.Close()
		return s.brought(folder.Export(ctx, dir, c.Lessons, settings, s.now()))
	})
}

func (s *shell) lessonsImport() *cobra.Command {
	var settings folder.Options
	var name string
	return s.calls(command{
		use: "import DIR|NOTES.md", short: "Take a folder of lessons, or a file of free notes, to the router", args: exactly(&name),
		long: `Takes the lessons of a folder to the router, and changes nothing in the folder.
A lesson that the router has and that says something else there is left as it
is, and named.

A file is read as free Markdown notes. A heading with text below it is a lesson, and
labels such as Symptom, Cause, Fix and Prevention say what its parts are. Unreadable
parts are listed with their lines. "-" reads standard input. Importing
the same again makes no doubles. The exit code is 1 if anything was refused.`,
		flags: options{
			option("dry-run", &settings.DryRun, "say what would be done, and do nothing"),
			option("domain", &settings.Domain, "domain of lessons that say none (default "+folder.DefaultDomain+")"),
		},
	}, func(ctx context.Context, c *client.Client) error {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			dir, err := folder.Open(name, false)
			if err != nil {
				return err
			}
			defer dir.Close()
			return s.brought(folder.Import(ctx, dir, c.Lessons, settings))
		}
		return s.importNotes(ctx, c, name, settings)
	})
}

func (s *shell) importNotes(ctx context.Context, c *client.Client, name string, settings folder.Options) error {
	text, err := s.read(name, folder.MaxNotes)
	if err != nil {
		return err
	}
	notes, err := folder.ReadNotes(text, settings.Domain)
	if err != nil {
		return err
	}
	return s.brought(folder.ImportNotes(ctx, c.Lessons, notes, settings))
}

func (s *shell) lessonsIndex() *cobra.Command {
	type indexed struct {
		folder.Stats
		Written bool             `json:"written"`
		Refused []folder.Trouble `json:"refused"`
	}
	var name string
	return s.local(command{
		use: "index DIR", short: "Write the index of a folder of lessons anew", args: exactly(&name),
		long: `Reads every lesson's file of DIR and writes DIR/index.json, unless it says the
same already. It needs no router.`,
	}, func(context.Context) error {
		dir, err := folder.Open(name, false)
		if err != nil {
			return err
		}
		defer dir.Close()
		scan, err := dir.Scan("")
		if err != nil {
			return err
		}
		index := dir.Index(scan.Files, s.now())
		written, err := dir.WriteIndex(index)
		if err != nil {
			return err
		}
		return s.printOr(len(scan.Refused) > 0, indexed{index.Stats, written, scan.Refused}, func(w io.Writer) {
			of := index.Stats.ByLevel
			fmt.Fprintf(w, "%s: %s, %s, %s", plural(index.Stats.Total, "lesson"), plural(of.Case, "case"), plural(of.Pattern, "pattern"), plural(of.Principle, "principle"))
			if !written {
				fmt.Fprint(w, "; the index said so already")
			}
			fmt.Fprintln(w)
			for _, r := range scan.Refused {
				fmt.Fprintf(w, "refused   %s: %s\n", clean(r.Path), clean(r.Why))
			}
		})
	})
}

// actionWords says what became, or would become, of so many lessons.
var actionWords = []struct {
	action      folder.Action
	done, would string
}{
	{folder.ActionReport, "taken to the router", "would be taken to the router"},
	{folder.ActionWrite, "written to the folder", "would be written to the folder"},
	{folder.ActionAgreed, "the same on both sides", "the same on both sides"},
	{folder.ActionLeft, "left as they are", "left as they are"},
	{folder.ActionRefused, "refused", "refused"},
}

func printBrought(w io.Writer, result folder.Result) {
	var counted []string
	for _, a := range actionWords {
		if n := result.Counts[a.action]; n > 0 {
			words := a.done
			if result.DryRun {
				words = a.would
			}
			counted = append(counted, fmt.Sprintf("%d %s", n, words))
		}
	}
	fmt.Fprintln(w, first(strings.Join(counted, ", "), "there are no lessons"))
	listed := map[folder.Action]int{}
	for _, step := range result.Steps {
		routine := step.Path != "" && (step.Action == folder.ActionReport || step.Action == folder.ActionWrite)
		if listed[step.Action]++; routine && len(step.Notes) == 0 && listed[step.Action] > maxListed {
			continue
		}
		name := first(step.Path, step.Title, step.ID)
		if step.Path == "" {
			name = fmt.Sprintf("lines %d–%d: %s", step.Line, step.Last, name)
		} else if step.ID != "" && !strings.Contains(step.Path, step.ID) {
			name += " (" + step.ID + ")"
		}
		fmt.Fprintf(w, "%-9s %s", step.Action, clean(name))
		printIf(w, ": %s", step.Why)
		fmt.Fprintln(w)
		for _, note := range step.Notes {
			fmt.Fprintf(w, "          %s\n", clean(note))
		}
		if routine && listed[step.Action] == maxListed && result.Counts[step.Action] > maxListed {
			fmt.Fprintf(w, "… --json lists the others\n")
		}
	}
	for _, skipped := range result.Skipped {
		fmt.Fprintf(w, "skipped   %s: %s\n", clean(skipped.Path), clean(skipped.Why))
	}
	if len(result.Unread) > 0 {
		fmt.Fprintf(w, "\n%s in no lesson:\n", plural(len(result.Unread), "line"))
	}
	for _, u := range result.Unread {
		fmt.Fprintf(w, "line %d %s: %s\n", u.Line, clean(u.Why), clean(u.Text))
	}
}
