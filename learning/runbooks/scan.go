package runbooks

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	files "github.com/skillrouter/skillrouter/internal/file"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/procedure"
)

// Bounds of the folder.
const (
	// MaxFiles bounds how many files of a folder are read.
	MaxFiles = 5000
	// maxFolders bounds how deep folders are looked into.
	maxFolders = 8
	// markerName is the file by which a folder is known again. Who deletes the
	// folder deletes it with it, and gets all files written anew.
	markerName = ".skillrouter"
)

// scan is what lies in the folder.
type scan struct {
	files    map[string]procedure.File // by ProcedureID
	problems []procedure.FileProblem
	// partial: some of it could not be read, and what is missing may be there.
	partial bool
}

func (s *scan) refuse(file string, err error) {
	problem := procedure.FileProblem{File: file, Problem: err.Error()}
	if at, ok := errors.AsType[*Problem](err); ok {
		problem.Line, problem.Column, problem.Problem = at.Line, at.Column, at.Text
	}
	s.problems = append(s.problems, problem)
}

// refused tells whether a file is there that holds no procedure now.
func (s *scan) refused(file string) bool {
	return slices.ContainsFunc(s.problems, func(p procedure.FileProblem) bool { return p.File == file })
}

// look reads the whole folder. Links are not followed, hidden files and
// folders are not looked at.
func look(root *os.Root, id string) (*scan, error) {
	s := &scan{files: map[string]procedure.File{}}
	count := 0
	err := fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			s.partial = true
			s.refuse(name, &Problem{Text: "cannot be read"})
			return nil
		case name != "." && strings.HasPrefix(path.Base(name), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.IsDir():
			if strings.Count(name, "/") >= maxFolders {
				s.refuse(name, &Problem{Text: "is too deep in the folder, and is not looked into"})
				s.partial = true
				return fs.SkipDir
			}
			return nil
		case path.Ext(name) != ".yaml" && path.Ext(name) != ".yml":
			return nil
		case !entry.Type().IsRegular():
			s.refuse(name, &Problem{Text: "is no file of its own: links are not followed"})
			return nil
		}
		if count++; count > MaxFiles {
			s.partial = true
			s.refuse(name, &Problem{Text: fmt.Sprintf("is not read: the folder holds more than %d files", MaxFiles)})
			return fs.SkipAll
		}
		s.take(root, id, name)
		return nil
	})
	return s, err
}

// take reads a file.
func (s *scan) take(root *os.Root, id, name string) {
	text, err := read(root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return // deleted since the folder was read
	}
	if err != nil {
		s.refuse(name, &Problem{Text: "cannot be read"})
		return
	}
	file, err := Parse(name, text)
	if err != nil {
		s.refuse(name, err)
		return
	}
	file.Mark = markOf(id, text)
	persona := cmp.Or(file.Draft.Persona, learning.DefaultPersona)
	key := procedure.ID(persona, file.Draft.Name)
	if other, twice := s.files[key]; twice {
		s.refuse(name, &Problem{Text: fmt.Sprintf("is the procedure %s, and so is %s, which counts", key, other.Path)})
		return
	}
	s.files[key] = file
}

// read reads a regular file up to one byte more than it may have.
func read(root *os.Root, name string) ([]byte, error) {
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, MaxFile+1))
}

// markOf is the mark of a content in a folder.
func markOf(id string, text []byte) string {
	sum := sha256.Sum256(text)
	return id + ":" + hex.EncodeToString(sum[:])
}

// marker returns the folder's own name, and gives it one if it has none.
func marker(root *os.Root) (string, error) {
	text, err := read(root, markerName)
	if id := strings.TrimSpace(string(text)); err == nil && len(id) == 32 {
		return id, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var bits [16]byte
	_, _ = rand.Read(bits[:]) // never fails, see crypto/rand
	id := hex.EncodeToString(bits[:])
	return id, files.WriteIn(root, markerName, []byte(id+"\n"), true)
}
