package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/cmd/app"
)

func (s *shell) restoreCommand() *cobra.Command {
	var path, data string
	var how app.RestoreOptions
	return s.local(command{
		use: "restore PATH", short: "Put a backup into a data folder that no router holds", args: exactly(&path),
		long: `Reads a backup, looks it through as verify does, and only then puts its databases
into the data folder, all at once: whatever interrupts it, the folder has all of
what it had or all of what the backup has. A folder that holds databases already
needs --force, and what was there is kept in it under before-restore-….

A backup of an older version is brought up to date at the next start, one of a
newer version is refused. Tokens are those of the backup: what was revoked since
is in force again, and what was issued since is not known.`,
		flags: options{
			option("data", &data, "data folder to restore to, instead of that of the settings"),
			option("force", &how.Force, "also where databases are; they are kept aside"),
		},
	}, func(ctx context.Context) error {
		data, err := s.folderOr(data)
		if err != nil {
			return err
		}
		file, _, err := s.open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		restored, err := app.Restore(ctx, file, data, how)
		return printed(s, restored, err, func(w io.Writer, restored app.Restored) {
			printVerification(w, path, restored.Verification)
			fmt.Fprintf(w, "restored to %s\n", restored.Data)
			if restored.Aside != "" {
				fmt.Fprintf(w, "what was there is in %s\n", restored.Aside)
			}
		})
	})
}

// folderOr is the data folder that a flag names, or else that of the settings.
func (s *shell) folderOr(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	settings, err := s.settings()
	return settings.Data, err
}
