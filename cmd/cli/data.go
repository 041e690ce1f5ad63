package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// backedUp is what backup prints.
type backedUp struct {
	Path     string       `json:"path"`
	Bytes    int64        `json:"bytes"`
	Manifest app.Manifest `json:"manifest"`
}

func (s *shell) backupCommand() *cobra.Command {
	var path, data string
	var force, ownerToken bool
	return s.remote(s.made(command{
		use: "backup PATH", short: "Back both databases up into one archive", into: []any{&path},
		long: `Writes a backup of both databases to a gzipped tar archive, while agents go on
working. A running router makes it; where none runs, it is made of the data
folder. It holds everything that was acknowledged before it began. The archive is
read back and checked before it gets its name. "-" writes it to standard output, unchecked.

The owner's token is not in it unless --owner-token asks for it.`,
		flags: options{
			option("data", &data, "data folder to back up, instead of that of the settings"),
			option("force", &force, "replace PATH if it is there"),
			option("owner-token", &ownerToken, "put the owner's token in: whoever has the archive then has every right"),
		},
	}, func(ctx context.Context) error {
		write, err := s.backupSource(ctx, data, ownerToken)
		if err != nil {
			return err
		}
		if path == "-" {
			return write(s.out)
		}
		out, err := writeBackup(path, force, write)
		return printed(s, out, err, printBackedUp)
	}))
}

// backupSource finds who makes the backup: the router that was named, the one
// that holds the data folder or, if that is free, this process.
func (s *shell) backupSource(ctx context.Context, data string, ownerToken bool) (func(w io.Writer) error, error) {
	named := s.server != "" || s.env("SKILLROUTER_SERVER") != ""
	if data == "" && !named {
		settings, err := s.settings()
		if err != nil {
			return nil, err
		}
		data = settings.Data
		if !app.Holds(data) {
			data = "" // a router with another folder may answer at the settings' address
		}
	}
	if data != "" {
		if !app.Holds(data) {
			return nil, errs.Errorf(errs.NotFound, "%s holds no databases of a router", data)
		}
		release, err := app.Hold(data)
		if err == nil {
			return func(w io.Writer) (err error) {
				defer func() { err = errors.Join(err, release()) }()
				snapshot, err := app.TakeSnapshot(ctx, data, app.BackupOptions{Version: version().Version, OwnerToken: ownerToken})
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, snapshot.Close()) }()
				return snapshot.Write(w)
			}, nil
		}
		if errs.CodeOf(err) != errs.Conflict {
			return nil, err
		}
		holder, unread := locate.ReadHolder(data)
		if unread != nil || holder.URL() == "" {
			return nil, err
		}
		if !named {
			s.data = data
		}
	}
	c, err := s.client()
	if err != nil {
		return nil, err
	}
	return func(w io.Writer) error { return c.System.Backup(ctx, ownerToken, w) }, nil
}

// writeBackup writes an archive, and reads it back before it gets its name.
func writeBackup(path string, force bool, write func(w io.Writer) error) (out backedUp, err error) {
	out.Path = path
	err = writeFile(path, force, write, func(file *os.File) error {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if out.Manifest, err = app.CheckArchive(file); err != nil {
			return fmt.Errorf("the backup that was written cannot be read back: %s", explain(err))
		}
		info, err := file.Stat()
		if err == nil {
			out.Bytes = info.Size()
		}
		return err
	})
	if err != nil {
		return out, err
	}
	return out, database.SyncFolder(filepath.Dir(path)) // else a power cut may take the name away again
}

var printBackedUp = page[backedUp](`{{.Path}}: {{size .Bytes}}, read back and checked
{{table "name bytes contents.schema=SCHEMA contents.last_event=LAST_EVENT" .Manifest.Files}}
{{- range .Manifest.Files}}{{if not .Contents}}
Whoever has {{.Name}} has every right.
{{- end}}{{end}}`)

func (s *shell) verifyCommand() *cobra.Command {
	var path *string
	return s.local(command{
		use: "verify [PATH]", short: "Look a backup or a data folder through, and change nothing", into: []any{&path},
		long: `Reads a backup from end to end. It checks the sums, and each database's integrity,
foreign keys and schema. It also checks that the two databases fit each other, and
that entries of knowledge are as they were stored. It names those that are not.

A data folder is checked in the same way, also while a router uses it; without PATH
it is the folder of the settings. "-" reads standard input.
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
		return s.printOr(!found.OK, found, func(w io.Writer) { printVerified(w, verified{*path, found}) })
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

// verified is what was looked through, for people.
type verified struct {
	Path string
	app.Verification
}

var printVerified = page[verified](`{{.Path}} is {{if not .OK}}NOT {{end}}sound
{{- if .CreatedAt}}: made by {{.Version}} at {{.CreatedAt.UTC.Format "2006-01-02 15:04:05 MST"}}{{end}}
{{- with .Databases}}
{{table "name bytes schema last_event" .}}
{{- end}}
{{- if .OwnerToken}}
It holds the owner's token: whoever has it has every right.
{{- end}}
{{- range .Said}}
  {{.}}
{{- end}}`)

// Said is what is wrong, and what else should be known.
func (v verified) Said() []string { return slices.Concat(v.Problems, v.Altered, v.Notes) }

func (s *shell) restoreCommand() *cobra.Command {
	var path, data string
	var how app.RestoreOptions
	return s.local(command{
		use: "restore PATH", short: "Put a backup into a data folder that no router holds", into: []any{&path},
		long: `Reads a backup, checks it as verify does, and only then puts its databases into the
data folder, all at once. If it is interrupted, the folder holds everything that it
held, or everything that the backup holds. A folder with databases needs --force, and
keeps them under before-restore-….

A backup of an older version is brought up to date at the next start, and one of a
newer version is refused. Tokens are those of the backup: later revocations are
undone, and later tokens are unknown.`,
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
		how.Passphrase = s.passphrase
		restored, err := app.Restore(ctx, file, data, how)
		return printed(s, restored, err, func(w io.Writer, restored app.Restored) {
			printVerified(w, verified{path, restored.Verification})
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

func (s *shell) migrateCommand() *cobra.Command {
	var data, to string
	return s.local(command{
		use: "migrate --to postgres://USER@HOST/NAME", short: "Move the databases of a data folder that no router holds to a PostgreSQL server",
		long: `Checks the databases as verify does, and copies each in one transaction to a server.
No router may have written into its schemas yet. The files are then called
learning.db.moved and operational.db.moved. Numbers, ids and cursors stay as they
are. If it is interrupted, run it again. The router is then started with
--database and the same address.`,
		flags: options{
			option("to", &to, "the server, as the setting database names it"),
			option("data", &data, "data folder, instead of that of the settings"),
		},
	}, func(ctx context.Context) error {
		data, err := s.folderOr(data)
		if err != nil {
			return err
		}
		moved, err := app.MoveToServer(ctx, data, to)
		return printed(s, moved, err, func(w io.Writer, moved []app.MovedDatabase) {
			tableOf(w, "database rows=ROWS_MOVED tables", "", moved)
			fmt.Fprintf(w, "the files are kept in %s under names that end in .moved\n", data)
		})
	})
}

func (s *shell) redactCommand() *cobra.Command {
	var data string
	var apply bool
	return s.local(command{
		use: "redact", short: "Look for secrets in a data folder that no router holds, and cut them out",
		long: `Searches every text of both databases for secrets that were stored before this version
knew them. It says how many rows of which tables hold some, and prints none. With
--apply they are cut out of the texts, of the event log, of messages, and of the
pages that the databases no longer use. A name that holds one is replaced everywhere.
It may be interrupted and run again.

Backups are left as they are: make a new one, and delete the earlier ones. Somebody
may have read the secrets: change them as well.`,
		flags: options{
			option("data", &data, "data folder to look through, instead of that of the settings"),
			option("apply", &apply, "cut them out; without it nothing is changed"),
		},
	}, func(ctx context.Context) error {
		data, err := s.folderOr(data)
		if err != nil {
			return err
		}
		swept, err := app.RedactFolder(ctx, data, apply, s.passphrase)
		return printed(s, swept, err, printSwept)
	})
}

var printSwept = page[app.Swept](`
{{- with .Tables}}{{table "database table rows columns kinds" .}}
{{end}}
{{- if not .Rows}}no secrets were found in {{.Data}}
{{- else if .Applied}}secrets were cut out of {{count .Rows "row"}}; backups hold them still
{{- else}}{{count .Rows "row"}} with secrets; --apply cuts them out
{{- end}}`)
