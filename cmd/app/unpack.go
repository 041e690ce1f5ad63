package app

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"skillrouter/cmd/locate"
	"skillrouter/internal/database"
	"skillrouter/internal/errs"
)

// archiveFault is what is wrong with an archive, for whoever holds it.
func archiveFault(format string, args ...any) error {
	return errs.Errorf(errs.Invalid, "the archive %s. Nothing was changed.", fmt.Sprintf(format, args...))
}

// unpack reads an archive from its first byte to its last, and hands each
// file's content to keep, which may be nil. The manifest comes first, and
// nothing is accepted that it does not name: no other file, no folder, no
// link, no name twice, no more bytes than it says. begin, which may be nil,
// is told the manifest before anything is kept.
func unpack(from io.Reader, begin func(Manifest) error, keep func(f ArchivedFile, content io.Reader) error) (m Manifest, err error) {
	in := bufio.NewReader(from) // gzip then takes no more of it than is its own
	zipped, err := gzip.NewReader(in)
	if err != nil {
		return m, archiveFault("is no backup: it does not begin as gzip does")
	}
	zipped.Multistream(false)
	archive := tar.NewReader(zipped)
	if m, err = readManifest(archive); err != nil {
		return m, err
	}
	if begin != nil {
		if err := begin(m); err != nil {
			return m, err
		}
	}
	wanted := slices.Clone(m.Files)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return m, brokenOff(err)
		}
		at := slices.IndexFunc(wanted, func(f ArchivedFile) bool { return f.Name == header.Name })
		if at < 0 || header.Typeflag != tar.TypeReg {
			return m, archiveFault("holds %q, which its manifest does not name or names already", header.Name)
		}
		f := wanted[at]
		wanted = slices.Delete(wanted, at, at+1)
		if header.Size != f.Bytes {
			return m, archiveFault("holds %d bytes of %s and should hold %d", header.Size, f.Name, f.Bytes)
		}
		if err := unpackFile(archive, f, keep); err != nil {
			return m, err
		}
	}
	if len(wanted) > 0 {
		return m, archiveFault("lacks %s", wanted[0].Name)
	}
	// What follows the tar's end is padding; reading it makes gzip check its own sum.
	if _, err := io.CopyN(io.Discard, zipped, maxPadding); !errors.Is(err, io.EOF) {
		if err == nil {
			return m, archiveFault("goes on after its end")
		}
		return m, brokenOff(err)
	}
	if _, err := in.ReadByte(); err == nil {
		return m, archiveFault("is followed by something else")
	}
	return m, nil
}

// maxDatabase bounds what a manifest may say of a file, in bytes: no disk that this runs on has more.
const maxDatabase = 1 << 46

// maxPadding bounds what may follow the last file, in bytes: tar fills its last record up.
const maxPadding = 64 << 10

func readManifest(archive *tar.Reader) (m Manifest, err error) {
	header, err := archive.Next()
	if err != nil {
		if errors.Is(err, io.EOF) {
			return m, archiveFault("is empty")
		}
		return m, brokenOff(err)
	}
	if header.Name != manifestName || header.Typeflag != tar.TypeReg || header.Size > maxManifest {
		return m, archiveFault("is no backup of Skill Router: it does not begin with a %s", manifestName)
	}
	text, err := io.ReadAll(archive)
	if err != nil {
		return m, brokenOff(err)
	}
	// A later version may say more of a file: what this one does not know, it need not.
	if err := json.Unmarshal(text, &m); err != nil || m.Format != archiveFormat {
		return m, archiveFault("is no backup of Skill Router: its manifest cannot be read")
	}
	if m.FormatVersion != archiveVersion {
		return m, archiveFault("has the form %d, and this program knows only the form %d: use the program that made it (%s)", m.FormatVersion, archiveVersion, m.Version)
	}
	names := []string{}
	for _, f := range m.Files {
		names = append(names, f.Name)
		database := f.Name == "learning.db" || f.Name == "operational.db"
		if !database && (f.Name != locate.OwnerTokenName || f.Bytes > maxOwnerToken) || f.Bytes < 0 || f.Bytes > maxDatabase || database && f.Contents == nil {
			return m, archiveFault("has a manifest that names %q, which is no part of a backup", f.Name)
		}
	}
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) != len(names) {
		return m, archiveFault("has a manifest that names a file twice")
	}
	for _, name := range database.Names() {
		if !slices.Contains(names, name+".db") {
			return m, archiveFault("lacks %s.db", name)
		}
	}
	return m, nil
}

// unpackFile hands on one file's content and checks its sum.
func unpackFile(content io.Reader, f ArchivedFile, keep func(f ArchivedFile, content io.Reader) error) error {
	hash := sha256.New()
	watched := &watchedReader{from: io.TeeReader(content, hash)}
	if keep != nil {
		if err := keep(f, watched); err != nil {
			if watched.err != nil {
				return brokenOff(watched.err)
			}
			return err
		}
	}
	if _, err := io.Copy(io.Discard, watched); err != nil {
		return brokenOff(err)
	}
	if hex.EncodeToString(hash.Sum(nil)) != f.SHA256 {
		return archiveFault("is damaged: the checksum of %s is another", f.Name)
	}
	return nil
}

// watchedReader remembers why it could not be read, to be told from not being able to write.
type watchedReader struct {
	from io.Reader
	err  error
}

// Read implements io.Reader.
func (r *watchedReader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}

func brokenOff(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return archiveFault("is truncated")
	}
	return archiveFault("is damaged: %v", err)
}

// CheckArchive reads an archive from end to end, checks every sum and keeps nothing.
func CheckArchive(from io.Reader) (Manifest, error) { return unpack(from, nil, nil) }
