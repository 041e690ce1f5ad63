package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/learning/folder"
	"github.com/skillrouter/skillrouter/router/client"
)

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

// broughtWords say what became of so many lessons.
var broughtWords = map[folder.Action]string{
	folder.ActionReport: "taken to the router", folder.ActionWrite: "written to the folder", folder.ActionAgreed: "the same on both sides",
	folder.ActionLeft: "left as they are", folder.ActionRefused: "refused",
}

func (s *shell) lessonsExport() *cobra.Command {
	var settings folder.Options
	var name string
	return s.calls(command{
		use: "export DIR", short: "Write the router's lessons to a folder of Markdown files", into: []any{&name},
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
		use: "import DIR|NOTES.md", short: "Take a folder of lessons, or a file of free notes, to the router", into: []any{&name},
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
		use: "index DIR", short: "Write the index of a folder of lessons anew", into: []any{&name},
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
			fmt.Fprintf(w, "%d lessons: %d cases, %d patterns, %d principles. The index was written: %t\n", index.Stats.Total, of.Case, of.Pattern, of.Principle, written)
			render(w, "{{range .}}refused   {{.Path}}: {{.Why}}\n{{end}}", scan.Refused)
		})
	})
}

var printBrought = page[folder.Result](`
{{- if .DryRun}}Nothing was done; it would be: {{end}}
{{- range $action, $n := .Counts}}{{if $n}}{{$n}} {{brought $action}}. {{end}}{{else}}There are no lessons.{{end}}
{{- range .Steps}}
{{printf "%-9s" .Action}} {{if .Path}}{{.Path}}{{else}}lines {{.Line}}–{{.Last}}: {{or .Title .ID}}{{end}}
{{- with .Why}}: {{.}}{{end}}
{{- range .Notes}}
          {{.}}
{{- end}}
{{- end}}
{{- range .Skipped}}
skipped   {{.Path}}: {{.Why}}
{{- end}}
{{- with .Unread}}

{{count (len .) "line"}} in no lesson:
{{- range .}}
line {{.Line}} {{.Why}}: {{.Text}}
{{- end}}
{{- end}}`)
