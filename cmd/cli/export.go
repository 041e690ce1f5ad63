package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/exchange"
	"github.com/skillrouter/skillrouter/router/transfer"
)

// The formats of an export.
const (
	toLines    = "jsonl"
	toMarkdown = "markdown"
)

// exported is what export prints.
type exported struct {
	Path    string         `json:"path"`
	To      string         `json:"to"`
	Records map[string]int `json:"records"`
}

func (s *shell) exportCommand() *cobra.Command {
	to := toLines
	var path string
	var query transfer.ExportQuery
	var force bool
	return s.remote(s.made(command{
		use: "export PATH [--to FORMAT]", short: "Write everything that is remembered to a file of JSON lines, or to Markdown", into: []any{&path},
		long: `Writes every memory, episodes with their outcomes:

  jsonl     a file with a line of JSON for each; "-" is standard output
  markdown  a folder with a file for each, for people to read

"skillrouter import --from jsonl" or "--from markdown" takes it in elsewhere, each memory once.

Messages, agents and tokens are no memories: "skillrouter backup" has them too.`,
		flags: options{
			choice("to", &to, []string{toLines, toMarkdown}, "format"),
			choice("kind", &query.Kinds, transfer.Kinds(), "only this kind").once("kinds"),
			option("project", &query.Project, "only what belongs to this project"),
			option("force", &force, "replace the file PATH if it is there"),
		},
		before: func() error {
			formats := []string{toLines, toMarkdown}
			switch {
			case !slices.Contains(formats, to):
				return usagef("--to must be one of %s", strings.Join(formats, ", "))
			case to != toLines && path == "-":
				return usagef("an export to %s is a folder: name one", to)
			}
			if err := query.Check(); err != nil {
				return usageError{errors.New(explain(err))}
			}
			return nil
		},
	}, func(ctx context.Context) error {
		c, err := s.connect(ctx)
		if err != nil {
			return err
		}
		return s.exportRecords(ctx, c, query, to, path, force)
	}))
}

// exportRecords writes the records that a query selects as lines or as pages.
func (s *shell) exportRecords(ctx context.Context, c *client.Client, query transfer.ExportQuery, to, path string, force bool) (err error) {
	out := exported{Path: path, To: to, Records: map[string]int{}}
	bar := s.bar("exporting", -1)
	defer func() { _ = bar.Exit() }()
	lines := func(visit func(string, []byte) error) error {
		return c.Export(ctx, query, func(kind string, line []byte) error {
			out.Records[kind]++
			_ = bar.Add(len(line)) // a bar that cannot be drawn changes nothing
			return visit(kind, line)
		})
	}
	write := func(w io.Writer) error {
		return lines(func(_ string, line []byte) error {
			_, err := w.Write(append(line, '\n'))
			return err
		})
	}
	switch {
	case to == toMarkdown:
		err = exportPages(path, &out, lines)
	case path == "-":
		return write(s.out)
	default:
		err = writeFile(path, force, write, nil)
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
}

// writeFile writes a file under another name and gives it its own when it is
// whole and check, if there is one, agrees to what was written.
func writeFile(path string, force bool, write func(w io.Writer) error, check func(file *os.File) error) (err error) {
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) && !force {
		return errs.Errorf(errs.Conflict, "%s is there already: --force replaces it", path)
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".partial-*") // 0600: it holds everything that anyone said
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = file.Close(), os.Remove(file.Name()) // either may have been done
		}
	}()
	buffered := bufio.NewWriterSize(file, 1<<20)
	if err := write(buffered); err != nil {
		return err
	}
	if err := errors.Join(buffered.Flush(), file.Sync()); err != nil {
		return err
	}
	if check != nil {
		if err := check(file); err != nil {
			return err
		}
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// indexName is the file of a folder of pages that says what it is.
const indexName = "README.md"

// exportPages writes a folder of pages under another name, and gives it its own when it is whole.
func exportPages(folder string, out *exported, lines func(visit func(string, []byte) error) error) (err error) {
	if there, err := os.ReadDir(folder); len(there) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errs.Errorf(errs.Conflict, "%s is there already: name a new folder, or remove it", folder)
	}
	dir, err := os.MkdirTemp(filepath.Dir(filepath.Clean(folder)), "."+filepath.Base(folder)+".partial-*") // 0700, as what was remembered is nobody else's
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	write := func(name string, text []byte) error { // which leads nowhere out of the folder
		if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
			return err
		}
		file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = file.Write(text)
		return errors.Join(err, file.Close())
	}
	if err := lines(func(kind string, record []byte) error {
		name, text, err := exchange.Page(kind, record)
		if err != nil {
			return err
		}
		return write(name, text)
	}); err != nil {
		return err
	}
	if err := write(indexName, exchange.Index(out.Records)); err != nil {
		return err
	}
	return os.Rename(dir, folder)
}
