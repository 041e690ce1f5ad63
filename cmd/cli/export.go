package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter"
	"skillrouter/cmd/app"
	"skillrouter/router/transfer"
)

// The formats of an export.
const (
	toLines     = "jsonl"
	toMarkdown  = "markdown"
	toDatabases = "sqlite"
)

// exported is what export prints.
type exported struct {
	Path    string                `json:"path"`
	To      string                `json:"to"`
	Records map[transfer.Kind]int `json:"records"`
}

func (s *shell) exportCommand() *cobra.Command {
	var kinds []string
	var to, project string
	var force bool
	cmd := s.remote(s.command(&cobra.Command{
		Use: "export [--to FORMAT] PATH", Short: "Write everything that is remembered to a file of JSON lines, or to Markdown or SQLite", Args: cobra.ExactArgs(1),
		Long: `Writes knowledge, episodes with their outcomes, lessons, patterns, facts,
procedures and reminders:

  jsonl     a file with a line of JSON for each; "-" is standard output
  markdown  a folder with a file for each, for people to read
  sqlite    a folder with copies of both databases, which hold everything else too

"skillrouter import --from jsonl" or "--from markdown" takes it in elsewhere, each memory once.

Messages, agents, tasks and tokens are no memories: "skillrouter backup" has them too.`,
	}, func(ctx context.Context, args []string) error {
		query := transfer.ExportQuery{Project: project}
		for _, kind := range kinds {
			query.Kinds = append(query.Kinds, transfer.Kind(kind))
		}
		formats := []string{toLines, toMarkdown, toDatabases}
		switch {
		case !slices.Contains(formats, to):
			return usagef("--to must be one of %s", strings.Join(formats, ", "))
		case to != toLines && args[0] == "-":
			return usagef("an export to %s is a folder: name one", to)
		case to == toDatabases && (len(kinds) > 0 || project != ""):
			return usagef("databases are copied as a whole: --kinds and --project go with the other formats")
		case to == toDatabases:
			return s.exportDatabases(ctx, args[0])
		}
		if err := query.Check(); err != nil {
			return usageError{errors.New(explain(err))}
		}
		c, err := s.client()
		if err != nil {
			return err
		}
		out := exported{Path: args[0], To: to, Records: map[transfer.Kind]int{}}
		bar := s.bar("exporting", -1)
		defer func() { _ = bar.Exit() }()
		lines := func(visit func(transfer.Kind, []byte) error) error {
			return c.Transfer.Lines(ctx, query, func(kind transfer.Kind, line []byte) error {
				out.Records[kind]++
				_ = bar.Add(len(line)) // a bar that cannot be drawn changes nothing
				return visit(kind, line)
			})
		}
		write := func(w io.Writer) error {
			return lines(func(_ transfer.Kind, line []byte) error {
				_, err := w.Write(append(line, '\n'))
				return err
			})
		}
		switch {
		case to == toMarkdown:
			err = exportPages(args[0], force, &out, lines)
		case args[0] == "-":
			return write(s.out)
		default:
			err = writeExport(args[0], force, write)
		}
		if err != nil {
			return err
		}
		_ = bar.Clear()
		return s.print(out, func(w io.Writer) {
			fmt.Fprintf(w, "%s:", out.Path)
			for _, kind := range transfer.Kinds() {
				if n := out.Records[kind]; n > 0 {
					fmt.Fprintf(w, " %d %s", n, kind)
				}
			}
			fmt.Fprintln(w)
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&to, "to", toLines, "format: jsonl, markdown or sqlite")
	flags.StringSliceVar(&kinds, "kinds", nil, "only these kinds, comma-separated")
	flags.StringVar(&project, "project", "", "only what belongs to this project")
	flags.BoolVar(&force, "force", false, "replace PATH if it is there: a file, or a folder that an export to markdown wrote")
	return cmd
}

func (s *shell) exportDatabases(ctx context.Context, folder string) error {
	backup, err := s.backupSource(ctx, "", false)
	if err != nil {
		return err
	}
	bar := s.bar("exporting", -1)
	defer func() { _ = bar.Exit() }()
	v, err := exportDatabases(ctx, folder, func(w io.Writer) error { return backup(io.MultiWriter(w, bar)) })
	if err != nil {
		return err
	}
	_ = bar.Clear()
	out := struct {
		Path string `json:"path"`
		To   string `json:"to"`
		app.Verification
	}{folder, toDatabases, v}
	return s.print(out, func(w io.Writer) { printVerification(w, folder, v) })
}

// writeExport writes a file under another name and gives it its own when it is whole.
func writeExport(path string, force bool, write func(w io.Writer) error) (err error) {
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) && !force {
		return skillrouter.Errorf(skillrouter.Conflict, "%s is there already: --force replaces it", path)
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".partial-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoring(file.Close(), os.ErrClosed), ignoring(os.Remove(file.Name()), os.ErrNotExist))
		}
	}()
	buffered := bufio.NewWriterSize(file, 1<<20)
	if err := write(buffered); err != nil {
		return err
	}
	if err := errors.Join(buffered.Flush(), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
