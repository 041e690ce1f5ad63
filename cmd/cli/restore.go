package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/cmd/app"
)

func (s *shell) restoreCommand() *cobra.Command {
	var data string
	var force bool
	cmd := s.command(&cobra.Command{
		Use: "restore PATH", Short: "Put a backup into a data folder that no router holds", Args: cobra.ExactArgs(1),
		Long: `Reads a backup, looks it through as verify does, and only then puts its databases
into the data folder, all at once: whatever interrupts it, the folder has all of
what it had or all of what the backup has. A folder that holds databases already
needs --force, and what was there is kept in it under before-restore-….

A backup of an older version is brought up to date at the next start, one of a
newer version is refused. Tokens are those of the backup: what was revoked since
is in force again, and what was issued since is not known.`,
	}, func(ctx context.Context, args []string) error {
		data, err := s.folderOr(data)
		if err != nil {
			return err
		}
		file, _, err := s.open(args[0])
		if err != nil {
			return err
		}
		defer file.Close()
		restored, err := app.Restore(ctx, file, data, app.RestoreOptions{Force: force})
		if err != nil {
			return err
		}
		return s.print(restored, func(w io.Writer) {
			verificationText(w, args[0], restored.Verification)
			fmt.Fprintf(w, "restored to %s\n", restored.Data)
			if restored.Aside != "" {
				fmt.Fprintf(w, "what was there is in %s\n", restored.Aside)
			}
		})
	})
	flags := cmd.Flags()
	flags.StringVar(&data, "data", "", "data folder to restore to, instead of that of the settings")
	flags.BoolVar(&force, "force", false, "also where databases are; they are kept aside")
	flags.BoolVar(&s.json, "json", false, "print JSON, for programs")
	return cmd
}

// folderOr is the data folder that a flag names, or else that of the settings.
func (s *shell) folderOr(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	settings, err := s.settings()
	return settings.Data, err
}
