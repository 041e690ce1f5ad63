package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter"
	"skillrouter/cmd/app"
	"skillrouter/cmd/locate"
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
		use: "backup PATH", short: "Back both databases up into one archive", args: exactly(&path),
		long: `Writes a backup of both databases to a gzipped tar archive, while agents go on
working: a running router makes it; where none runs, it is made of the data
folder. What was acknowledged before it began is in it. The archive is read back
and checked before it gets its name. "-" writes it to standard output, unchecked.

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
		return printed(s, out, err, func(w io.Writer, out backedUp) {
			fmt.Fprintf(w, "%s: %s, read back and checked\n", out.Path, size(out.Bytes))
			manifestText(w, out.Manifest)
		})
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
			return nil, skillrouter.Errorf(skillrouter.NotFound, "%s holds no databases of a router", data)
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
		if skillrouter.CodeOf(err) != skillrouter.Conflict {
			return nil, err
		}
		holder, unread := locate.ReadHolder(data)
		if unread != nil || holder.URL() == "" {
			return nil, err
		}
		if !named {
			s.server = holder.URL()
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
	return out, app.SyncFolder(filepath.Dir(path)) // else a power cut may take the name away again
}

func manifestText(w io.Writer, m app.Manifest) {
	for _, f := range m.Files {
		if f.Contents == nil {
			fmt.Fprintf(w, "  %-16s whoever has it has every right\n", f.Name)
			continue
		}
		fmt.Fprintf(w, "  %-16s %s, schema %d, %s up to event %d\n", f.Name, size(f.Bytes), f.Contents.Schema, plural(int(rows(*f.Contents)), "row"), f.Contents.LastEvent)
	}
}

// rows is how many rows a database has, its event log apart.
func rows(c app.Contents) (sum int64) {
	for table, n := range c.Rows {
		if table != "events" {
			sum += n
		}
	}
	return sum
}

// size is a number of bytes for people.
func size(bytes int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	value, unit := float64(bytes), 0
	for value >= 1024 && unit < len(units)-1 {
		value, unit = value/1024, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", value), ".0") + " " + units[unit]
}
