package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"skillrouter"
	"skillrouter/cmd/app"
	"skillrouter/router/exchange"
	"skillrouter/router/transfer"
)

// indexName is the file of a folder of pages that says what it is.
const indexName = "README.md"

// pages writes records as Markdown, a file each.
type pages struct {
	to      *os.Root // no name leads out of it
	folders map[string]bool
}

func (p *pages) add(kind transfer.Kind, record []byte) error {
	name, text, err := exchange.Page(kind, record)
	if err != nil {
		return err
	}
	if folder := path.Dir(name); !p.folders[folder] {
		if err := p.to.Mkdir(folder, 0o700); err != nil {
			return err
		}
		p.folders[folder] = true
	}
	return p.write(name, text)
}

func (p *pages) write(name string, text []byte) error {
	file, err := p.to.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

// exportPages writes a folder of pages. With force one that is there already is
// replaced, and nothing but such a folder.
func exportPages(folder string, force bool, out *exported, lines func(visit func(transfer.Kind, []byte) error) error) error {
	replace := func(there string) bool {
		text, err := os.ReadFile(filepath.Join(there, indexName))
		return force && err == nil && exchange.IsIndex(text)
	}
	return writeFolder(folder, replace, "--force replaces a folder that an export to markdown wrote, and no other", func(dir string) error {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return err
		}
		defer root.Close()
		p := &pages{to: root, folders: map[string]bool{}}
		if err := lines(p.add); err != nil {
			return err
		}
		return p.write(indexName, exchange.Index(out.Records))
	})
}

// exportDatabases writes the copies of a backup into a folder, looked through.
func exportDatabases(ctx context.Context, folder string, backup func(w io.Writer) error) (v app.Verification, err error) {
	never := func(string) bool { return false }
	err = writeFolder(folder, never, "name another folder", func(dir string) error {
		reader, writer := io.Pipe()
		sent := make(chan error, 1)
		go func() {
			err := backup(writer)
			writer.CloseWithError(err)
			sent <- err
		}()
		v, err = app.UnpackArchive(ctx, reader, dir)
		reader.CloseWithError(err) // a backup that nobody reads on ends
		if failed := <-sent; err == nil || failed != nil && !errors.Is(failed, err) {
			return failed // the cause, of which the archive's end that is missing is the consequence
		}
		return err
	})
	return v, err
}

// writeFolder fills a folder under another name and gives it its own when it is
// whole. What is there already stays unless it is an empty folder or replace agrees.
func writeFolder(folder string, replace func(there string) bool, advice string, fill func(dir string) error) (err error) {
	if folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	entries, unread := os.ReadDir(folder)
	there := !errors.Is(unread, fs.ErrNotExist)
	if there && (unread != nil || len(entries) > 0) && !replace(folder) {
		return skillrouter.Errorf(skillrouter.Conflict, "%s is there already: %s", folder, advice)
	}
	dir, err := os.MkdirTemp(filepath.Dir(folder), "."+filepath.Base(folder)+".partial-*") // 0700, as what was remembered is nobody else's
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}()
	if err := fill(dir); err != nil {
		return err
	}
	if !there {
		return os.Rename(dir, folder)
	}
	aside := dir + ".old"
	if err := os.Rename(folder, aside); err != nil {
		return err
	}
	if err := os.Rename(dir, folder); err != nil {
		return errors.Join(err, os.Rename(aside, folder))
	}
	if err := os.RemoveAll(aside); err != nil {
		return fmt.Errorf("the export is whole, but what it replaced is still in %s: %w", aside, err)
	}
	return nil
}
