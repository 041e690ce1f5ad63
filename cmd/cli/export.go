package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"skillrouter"
	"skillrouter/router"
)

// exported is what export prints.
type exported struct {
	Path    string              `json:"path"`
	Records map[router.Kind]int `json:"records"`
}

func (s *shell) exportCommand() *cobra.Command {
	var kinds []string
	var project string
	var force bool
	cmd := s.remote(s.command(&cobra.Command{
		Use: "export PATH", Short: "Write everything that is remembered to a file of JSON lines", Args: cobra.ExactArgs(1),
		Long: `Writes a line of JSON for each memory: knowledge, episodes with their outcomes,
lessons, patterns, facts, procedures and reminders. "skillrouter import --from
jsonl" takes the file in elsewhere, each memory once. "-" writes to standard output.

Messages, agents, tasks and tokens are no memories: "skillrouter backup" has them too.`,
	}, func(ctx context.Context, args []string) error {
		query := router.ExportQuery{Project: project}
		for _, kind := range kinds {
			query.Kinds = append(query.Kinds, router.Kind(kind))
		}
		if err := query.Check(); err != nil {
			return usageError{errors.New(explain(err))}
		}
		c, err := s.client()
		if err != nil {
			return err
		}
		out := exported{Path: args[0], Records: map[router.Kind]int{}}
		write := func(w io.Writer) error {
			return c.Transfer.Lines(ctx, query, func(kind router.Kind, line []byte) error {
				out.Records[kind]++
				_, err := w.Write(append(line, '\n'))
				return err
			})
		}
		if args[0] == "-" {
			return write(s.out)
		}
		if err := writeExport(args[0], force, write); err != nil {
			return err
		}
		return s.print(out, func(w io.Writer) {
			fmt.Fprintf(w, "%s:", out.Path)
			for _, kind := range router.Kinds() {
				if n := out.Records[kind]; n > 0 {
					fmt.Fprintf(w, " %d %s", n, kind)
				}
			}
			fmt.Fprintln(w)
		})
	}))
	flags := cmd.Flags()
	flags.StringSliceVar(&kinds, "kinds", nil, "only these kinds, comma-separated")
	flags.StringVar(&project, "project", "", "only what belongs to this project")
	flags.BoolVar(&force, "force", false, "replace PATH if it is there")
	return cmd
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
