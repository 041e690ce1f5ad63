package app

import (
	"encoding/json"
	"time"
)

// The form of a backup: a gzipped tar archive that begins with its manifest, so
// that whoever reads it knows from the first entry on what must follow.
const (
	archiveFormat  = "skillrouter-backup"
	archiveVersion = 1
	manifestName   = "manifest.json"
	// maxManifest bounds a manifest, in bytes: two databases with a hundred tables
	// each take a tenth of it.
	maxManifest = 1 << 20
	// maxOwnerToken bounds the owner's token in an archive, in bytes.
	maxOwnerToken = 4 << 10
)

// Manifest says what an archive must hold.
type Manifest struct {
	Format        string         `json:"format"`
	FormatVersion int            `json:"format_version"`
	Version       string         `json:"version"`    // of the program that made it
	CreatedAt     time.Time      `json:"created_at"` // when it was begun: what was acknowledged before is in it
	Files         []ArchivedFile `json:"files"`
}

// ArchivedFile is a file of an archive.
type ArchivedFile struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // in hexadecimal digits
	// Contents is of a database.
	Contents *Contents `json:"contents,omitempty"`
}

// Contents is what a database holds.
type Contents struct {
	Schema    int64            `json:"schema"`
	LastEvent int64            `json:"last_event"` // seq of its newest event
	Rows      map[string]int64 `json:"rows"`       // by table
	Cursors   map[string]int64 `json:"cursors,omitempty"`
}

// database returns the contents of a database of the archive.
func (m Manifest) database(name string) (Contents, bool) {
	for _, f := range m.Files {
		if f.Name == name+".db" && f.Contents != nil {
			return *f.Contents, true
		}
	}
	return Contents{}, false
}

// bytes is how much the files take when they are unpacked.
func (m Manifest) bytes() (sum int64) {
	for _, f := range m.Files {
		sum += f.Bytes
	}
	return sum
}

func (m Manifest) text() []byte {
	text, _ := json.MarshalIndent(m, "", "  ") // strings, numbers and times of this era cannot fail
	return append(text, '\n')
}
