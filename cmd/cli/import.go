package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"skillrouter/cmd/records"
	"skillrouter/learning/knowledge"
	"skillrouter/router/client"
	"skillrouter/router/exchange"
	"skillrouter/router/transfer"
)

// maxListed bounds how many refusals are listed for people; --json lists all.
const maxListed = 20

// refusedLine names a line of the file that was not stored, and why.
type refusedLine struct {
	Line  int    `json:"line"` // from 1
	Error string `json:"error"`
}

// imported is the outcome of an import.
type imported struct {
	Stored     int           `json:"stored"`
	Updated    int           `json:"updated"`
	Duplicates int           `json:"duplicates"`
	Refused    []refusedLine `json:"refused"`
	Seconds    float64       `json:"seconds"`
}

func (s *shell) importCommand() *cobra.Command {
	defaults := knowledge.Draft{Category: knowledge.CategoryPattern}
	var path string
	var foreign foreignImport
	cmd := s.calls(command{
		use: "import [--from FORMAT] PATH", short: "Take memories in from a file or folder: of a router, or of another system", args: exactly(&path),
		long: `With --from it reads one of these, and needs the scope captain:

` + formatList() + `
Each thing is taken in once, however often the import is repeated. After an
interruption, run it again: it goes on and counts the things that are there already.
--dry-run changes nothing and says what would become of each thing. --report writes a
line of JSON for each that was refused. Imported things have little trust, and secrets
are cut out. The answer has the import's id: "import undo ID" takes back what it added.

Without --from it streams a file of JSON lines to the router, one entry a line:

  {"id": "…", "category": "…", "title": "…", "content": "…", "tags": ["…"], "project": "…"}

"text" or "body" may stand for "content", and "scope" for "project". "-" reads
standard input. A file of SABRE is known by its first line. An entry that is there already counts as a
duplicate, and the same id again is an update. So an import that broke off can be
repeated. The exit code is 1 if any line was refused. Such an import has no id, and is not undone.`,
		flags: options{
			option("agent", &defaults.AgentID, "author of what says none; with --from"),
			option("category", &defaults.Category, "category of what says none"),
			option("project", &defaults.Project, "project of what says none; of Markdown this folder's if nothing is said"),
			option("source", &defaults.Source, "source of what says none"),
			choice("from", &foreign.from, formatNames(), "format of PATH"),
			option("dry-run", &foreign.dryRun, "change nothing, and say what would become of each thing"),
			option("report", &foreign.report, "file for a line of JSON on each thing that was refused or passed over"),
			option("tag", &defaults.Tags, "tag of what has none; may be repeated"),
		},
	}, func(ctx context.Context, c *client.Client) error {
		foreign.guess(path)
		if foreign.from != "" {
			if foreign.from == "claude-md" || foreign.from == "markdown" {
				defaults.Project = cmp.Or(defaults.Project, s.project())
			}
			return s.importForeign(ctx, c.Transfer, path, foreign, defaults)
		}
		if foreign.dryRun || foreign.report != "" {
			return usagef("--dry-run and --report go with --from")
		}
		return s.importLines(ctx, c, path, defaults)
	})
	cmd.AddCommand(s.importList(), s.importUndo())
	return cmd
}

// guess knows a file of SABRE by its beginning, if nobody said what it is.
func (f *foreignImport) guess(path string) {
	if info, err := os.Stat(path); f.from != "" || err != nil || !info.Mode().IsRegular() {
		return // what is no file, such as a pipe, can be read once alone
	}
	file, err := os.Open(path)
	if err != nil {
		return // whoever reads it says why it cannot be
	}
	defer file.Close()
	line, _ := bufio.NewReader(io.LimitReader(file, exchange.MaxLine)).ReadBytes('\n')
	if exchange.IsSabre(line) || records.IsDatabase(line) {
		f.from = "sabre"
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
		use: "undo IMPORT", short: "Take back what an import added", args: exactly(&id),
		long: `Takes back what an import added, and nothing else. Knowledge, facts, procedures and
episodes are deleted, lessons retired, patterns deprecated, reminders cancelled.
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
	}, func(w io.Writer, out undoneImport) {
		fmt.Fprintf(w, "%s taken back, %s gone already, %s kept\n", thousands(out.Undone), thousands(out.Gone), thousands(out.SkippedCount))
		if out.SkippedCount > 0 {
			fmt.Fprintln(w, "Changed or used since, and so kept; --force takes them back too:")
		}
		for _, k := range out.Skipped {
			fmt.Fprintf(w, "    %s %s\n", k.Kind, clean(k.ID))
		}
		if more := out.SkippedCount - len(out.Skipped); more > 0 {
			fmt.Fprintf(w, "    … and %d more\n", more)
		}
	})
}

// importLines imports a file of JSON lines.
func (s *shell) importLines(ctx context.Context, c *client.Client, path string, defaults knowledge.Draft) error {
	file, size, err := s.open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	begin := time.Now()
	bar := s.bar("importing", size)
	lines := &lineReader{defaults: defaults, read: func(n int) { _ = bar.Add(n) }}
	result, err := c.Knowledge.Import(ctx, lines.drafts(file), nil)
	_ = bar.Exit() // a bar that cannot be drawn changes nothing
	if lines.err != nil && ctx.Err() == nil {
		err = lines.err
	}
	if err != nil {
		return saying(err, "the import broke off; what was stored remains, and it can be repeated")
	}
	out := imported{
		Stored: result.Stored, Updated: result.Updated, Duplicates: result.Duplicates,
		Refused: append([]refusedLine{}, lines.refused...), Seconds: time.Since(begin).Seconds(),
	}
	for _, r := range result.Refused {
		out.Refused = append(out.Refused, refusedLine{lines.line(r.Index), r.Error})
	}
	return s.printOr(len(out.Refused) > 0, out, func(w io.Writer) { printImported(w, out) })
}

func printImported(w io.Writer, out imported) {
	total := out.Stored + out.Updated + out.Duplicates + len(out.Refused)
	fmt.Fprintf(w, "%d stored, %d updated, %d there already, %d refused, in %.1f s", out.Stored, out.Updated, out.Duplicates, len(out.Refused), out.Seconds)
	if out.Seconds > 0.1 {
		fmt.Fprintf(w, " (%.0f a second)", float64(total)/out.Seconds)
	}
	fmt.Fprintln(w)
	for i, r := range out.Refused {
		if i == maxListed {
			fmt.Fprintf(w, "… and %d more; --json lists them all\n", len(out.Refused)-maxListed)
			break
		}
		fmt.Fprintf(w, "line %d: %s\n", r.Line, clean(r.Error))
	}
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

// lineReader turns lines into drafts, and remembers which line each came from.
type lineReader struct {
	defaults knowledge.Draft
	read     func(bytes int)
	refused  []refusedLine
	lines    []int // by the draft's index
	err      error
}

// line is the number of the line that a draft came from.
func (l *lineReader) line(index int) int {
	if index < 0 || index >= len(l.lines) {
		return 0
	}
	return l.lines[index]
}

func (l *lineReader) drafts(r io.Reader) iter.Seq[knowledge.Draft] {
	return func(yield func(knowledge.Draft) bool) {
		format, _ := exchange.FormatOf("jsonl") // it is there
		options := exchange.Options{Category: l.defaults.Category, Project: l.defaults.Project, Source: l.defaults.Source, Read: l.read}
		l.err = format.Read(r, options, func(i exchange.Item) bool {
			number, _ := strconv.Atoi(strings.TrimPrefix(i.Place, "line "))
			k, entry := i.Record.Memory.(*knowledge.Knowledge)
			if !entry {
				reason := cmp.Or(i.Refused, "is a "+i.Record.Kind+", which import --from jsonl takes in")
				l.refused = append(l.refused, refusedLine{number, strings.TrimSpace(i.Field + " " + reason)})
				return true
			}
			if len(k.Tags) == 0 {
				k.Tags = l.defaults.Tags
			}
			l.lines = append(l.lines, number)
			return yield(knowledge.Draft{ID: k.ID, Category: k.Category, Title: k.Title, Content: k.Content, Tags: k.Tags, Project: k.Project, Source: k.Source, AgentID: k.Author})
		})
	}
}
