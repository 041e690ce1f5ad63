package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/cmd/app"
)

func (s *shell) redactCommand() *cobra.Command {
	var data string
	var apply bool
	return s.local(command{
		use: "redact", short: "Look for secrets in a data folder that no router holds, and cut them out",
		long: `Looks through every text of both databases for secrets that were stored before
this version knew them, and says how many rows of which tables hold some; it
prints none. With --apply they are cut out: of the texts, of the event log, of
messages, and of the pages that the databases no longer use. A name that holds
one is replaced everywhere. It may be interrupted and run again.

Backups are left as they are: make a new one, and delete those of before. What
was ever stored may have been read: change the secrets themselves as well.`,
		flags: options{
			option("data", &data, "data folder to look through, instead of that of the settings"),
			option("apply", &apply, "cut them out; without it nothing is changed"),
		},
	}, func(ctx context.Context) error {
		data, err := s.folderOr(data)
		if err != nil {
			return err
		}
		swept, err := app.RedactFolder(ctx, data, apply)
		return printed(s, swept, err, printSwept)
	})
}

func printSwept(w io.Writer, s app.Swept) {
	for _, t := range s.Tables {
		fmt.Fprintf(w, "  %-12s %-22s %s (%s): %s\n", t.Database, t.Table, plural(int(t.Rows), "row"), strings.Join(t.Columns, ", "), strings.Join(t.Kinds, ", "))
	}
	switch {
	case s.Rows == 0:
		fmt.Fprintf(w, "no secrets were found in %s\n", s.Data)
	case s.Applied:
		fmt.Fprintf(w, "secrets were cut out of %s; backups hold them still\n", plural(int(s.Rows), "row"))
	default:
		fmt.Fprintf(w, "%s with secrets; --apply cuts them out\n", plural(int(s.Rows), "row"))
	}
}
