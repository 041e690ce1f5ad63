package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"skillrouter/cmd/app"
)

func (s *shell) verifyCommand() *cobra.Command {
	var path *string
	return s.local(command{
		use: "verify [PATH]", short: "Look a backup or a data folder through, and change nothing", args: perhaps(&path),
		long: `Reads a backup from end to end: its checksums, then each database's integrity,
foreign keys, schema and number of rows, and whether the two databases fit each
other, and whether entries are as they were stored. A folder is looked through in the same way, also while a router uses it;
without PATH it is the data folder of the settings. "-" reads standard input.
The exit code is 1 if anything is wrong.`,
	}, func(ctx context.Context) error {
		if path == nil {
			settings, err := s.settings()
			if err != nil {
				return err
			}
			path = &settings.Data
		}
		found, err := s.verify(ctx, *path)
		if err != nil {
			return err
		}
		return s.printOr(!found.OK, found, func(w io.Writer) { printVerification(w, *path, found) })
	})
}

func (s *shell) verify(ctx context.Context, path string) (app.Verification, error) {
	if info, err := os.Stat(path); path != "-" && err == nil && info.IsDir() {
		return app.VerifyFolder(ctx, path)
	}
	file, _, err := s.open(path)
	if err != nil {
		return app.Verification{}, err
	}
	defer file.Close()
	return app.VerifyArchive(ctx, file, os.TempDir())
}

func printVerification(w io.Writer, path string, v app.Verification) {
	switch {
	case v.OK && v.Archive:
		fmt.Fprintf(w, "%s is sound: made by %s at %s\n", path, clean(v.Version), v.CreatedAt.UTC().Format("2006-01-02 15:04:05 MST"))
	case v.OK:
		fmt.Fprintf(w, "%s is sound\n", path)
	default:
		fmt.Fprintf(w, "%s is NOT sound\n", path)
	}
	for _, d := range v.Databases {
		fmt.Fprintf(w, "  %-16s %s, schema %d, %s up to event %d\n", d.Name, size(d.Bytes), d.Schema, plural(int(rows(d.Contents)), "row"), d.LastEvent)
	}
	if v.OwnerToken {
		fmt.Fprintln(w, "  It holds the owner's token: whoever has it has every right.")
	}
	for _, said := range slices.Concat(v.Problems, v.Altered, v.Notes) {
		fmt.Fprintln(w, "  "+clean(said))
	}
}
