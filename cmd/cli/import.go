package cli

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/cmd/records"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/exchange"
	"github.com/skillrouter/skillrouter/router/transfer"
)

// maxListed bounds how many refusals are listed for people; --json lists all.
const maxListed = 20

func (s *shell) importCommand() *cobra.Command {
	defaults := knowledge.Draft{Category: knowledge.CategoryPattern}
	var path string
	var what importOptions
	cmd := s.calls(command{
		use: "import PATH [--from FORMAT]", short: "Take memories in from a file or folder: of a router, or of another system", into: []any{&path},
		long: `Reads one of these; "-" reads standard input. It needs the scope captain.

` + formatList() + `
A file is read as JSON lines unless you say another format, or it begins as one of SABRE does.
An entry of knowledge is one such line, where "text" or "body" may stand for "content":

  {"category": "…", "title": "…", "content": "…", "tags": ["…"], "project": "…"}

Each thing is taken in once, however often the import is repeated. After an
interruption, run it again: it goes on and counts the things that are there already.
--dry-run changes nothing and says what would become of each thing. --report writes a
line of JSON for each that was refused; the exit code is then 1. Imported things have
little trust, and secrets are cut out. "import undo ID" takes back what an import added.`,
		flags: options{
			option("agent", &defaults.AgentID, "author of what says none"),
			option("category", &defaults.Category, "category of what says none"),
			option("project", &defaults.Project, "project of what says none; of Markdown and of beads this folder's if nothing is said"),
			option("source", &defaults.Source, "source of what says none"),
			choice("from", &what.from, formatNames(), "format of PATH"),
			option("dry-run", &what.dryRun, "change nothing, and say what would become of each thing"),
			option("report", &what.report, "file for a line of JSON on each thing that was refused or passed over"),
			option("tag", &defaults.Tags, "tag of what has none; may be repeated"),
		},
	}, func(ctx context.Context, c *client.Client) error {
		what.guess(path)
		if slices.Contains([]string{"claude-md", "markdown", "beads"}, what.from) {
			defaults.Project = cmp.Or(defaults.Project, s.project())
		}
		return s.importFrom(ctx, c, path, what, defaults)
	})
	cmd.AddCommand(s.importList(), s.importUndo())
	return cmd
}

// guess knows what is to be read if nobody said it: a file of SABRE by its beginning, claude-mem's database by its name, and lines of JSON otherwise.
func (o *importOptions) guess(path string) {
	if o.from != "" {
		return
	}
	o.from = "jsonl"
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return // what is no file, such as a pipe, can be read once alone
	}
	file, err := os.Open(path)
	if err != nil {
		return // whoever reads it says why it cannot be
	}
	defer file.Close()
	line, _ := bufio.NewReader(io.LimitReader(file, exchange.MaxLine)).ReadBytes('\n')
	switch database := records.IsDatabase(line); {
	case database && strings.Contains(filepath.Base(path), "claude-mem"):
		o.from = "claude-mem"
	case database, exchange.IsSabre(line):
		o.from = "sabre"
	}
}

func (s *shell) importList() *cobra.Command {
	return s.does(command{
		use: "list", short: "List the imports that added something, the newest first", do: transfer.Service.Imports, kind: "imports",
		rows: "short=ID source=WHAT agent_id=BY stored=ADDED left at=WHEN",
	})
}

// undoneImport is what import undo prints.
type undoneImport struct {
	transfer.UndoAnswer
	SkippedCount int `json:"skipped_count"`
}

func (s *shell) importUndo() *cobra.Command {
	var id string
	var draft transfer.UndoDraft
	return asks(s, command{
		use: "undo IMPORT", short: "Take back what an import added", into: []any{&id},
		long: `Takes back what an import added, and nothing else. Knowledge, facts, procedures and
episodes are deleted, lessons retired, patterns deprecated, reminders and tasks cancelled.
Things that were changed or used since are kept and named; --force takes them too. An import that was broken off can be taken back.`,
		flags: options{option("force", &draft.Force, "also what was changed or used since")},
	}, func(ctx context.Context, c *client.Client) (out undoneImport, err error) {
		if id, err = fullID(ctx, c, "imports", id); err != nil {
			return out, err
		}
		out.UndoAnswer = transfer.UndoAnswer{ImportID: id, Skipped: []transfer.Skipped{}}
		for {
			part, err := client.SendTo(ctx, c, transfer.Service.Undo, id, draft)
			if err != nil {
				return out, err
			}
			out.Undone, out.Gone = out.Undone+part.Undone, out.Gone+part.Gone
			out.SkippedCount += len(part.Skipped)
			out.Skipped = append(out.Skipped, part.Skipped[:min(len(part.Skipped), maxListed-len(out.Skipped))]...)
			if draft.Cursor = part.Next; part.Next == "" {
				return out, nil
			}
		}
	}, page[undoneImport](`{{.Undone}} taken back, {{.Gone}} gone already, {{.SkippedCount}} kept
{{- if .Skipped}}
Changed or used since, and so kept; --force takes them back too:
{{- end}}
{{- range .Skipped}}
    {{.Kind}} {{.ID}}
{{- end}}
{{- if gt .SkippedCount (len .Skipped)}}
    …
{{- end}}`))
}

// bar draws progress on stderr if that is a terminal, and nothing otherwise.
// A size below zero is not known.
func (s *shell) bar(doing string, size int64) *progressbar.ProgressBar {
	if !isTerminal(s.err) {
		return progressbar.NewOptions64(size, progressbar.OptionSetVisibility(false))
	}
	return progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(s.err), progressbar.OptionSetDescription(doing),
		progressbar.OptionShowBytes(true), progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish(),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSpinnerType(14),
		// It turns when it is drawn. On a clock of its own it reads what another goroutine writes, without a lock.
		progressbar.OptionSetSpinnerChangeInterval(0))
}
