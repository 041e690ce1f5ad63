package folder

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/file"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Dir is an open lessons folder. Nothing is read or written outside of it,
// whatever links lie in it.
type Dir struct {
	root *os.Root
}

// Open opens a lessons folder; create makes it and its three places if need be.
func Open(name string, create bool) (*Dir, error) {
	if create {
		if err := os.MkdirAll(name, 0o755); err != nil {
			return nil, errs.Wrap(errs.Invalid, err, "the folder %s cannot be made", name)
		}
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "%s cannot be opened as a folder", name)
	}
	return &Dir{root}, nil
}

// place is the folder's path within its repository, with slashes: that of the
// nearest folder, itself or above, that holds .git. Where there is none, the
// folder lies at the root of one.
func (d *Dir) place() string {
	name, err := filepath.Abs(d.root.Name())
	if err != nil {
		return path.Base(filepath.ToSlash(d.root.Name()))
	}
	within := ""
	for at := name; ; {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return within
		}
		above := filepath.Dir(at)
		if above == at {
			break
		}
		within, at = path.Join(filepath.Base(at), within), above
	}
	return filepath.Base(name)
}

// Close closes the folder.
func (d *Dir) Close() error { return d.root.Close() }

// File is what a lesson's file says, and where it stands.
type File struct {
	Path  string // within the folder, with slashes
	Draft lesson.Draft
}

// Scan is what was found in a folder.
type Scan struct {
	Files   []File    // by path, each id once
	Refused []Trouble // files of the three places that could not be taken
	Skipped []Trouble // what is no lesson's file: read-me files, hidden and other files
}

// Scan reads every lesson's file of the three places. A file that cannot be
// taken is named among the Refused and stops no other. Of files that claim one
// id, or whose paths differ in case alone, all are refused: none is the right
// one. domain is that of files that say none.
func (d *Dir) Scan(domain string) (Scan, error) {
	var scan Scan
	names, levels := []string{}, map[string]lesson.Level{}
	for _, level := range lesson.Levels() {
		if err := d.walk(places[level], &names, &scan); err != nil {
			return scan, err
		}
		levels[places[level]] = level
	}
	refuse := func(name, id, why string) { scan.Refused = append(scan.Refused, Trouble{name, id, why}) }
	folded, ids := map[string]int{}, map[string][]string{}
	for _, name := range names {
		folded[strings.ToLower(name)]++
	}
	for _, name := range names {
		if folded[strings.ToLower(name)] > 1 {
			refuse(name, "", "differs from another file's name in case alone, and many file systems take them for one")
			continue
		}
		text, err := d.read(name, MaxFile)
		if err != nil {
			refuse(name, "", reason(err))
			continue
		}
		place, _, _ := strings.Cut(name, "/")
		draft, err := Parse(text, levels[place], domain)
		if err != nil {
			refuse(name, draft.ID, reason(err))
			continue
		}
		ids[draft.ID] = append(ids[draft.ID], name)
		scan.Files = append(scan.Files, File{name, draft})
	}
	scan.Files = slices.DeleteFunc(scan.Files, func(f File) bool {
		others := ids[f.Draft.ID]
		if len(others) == 1 {
			return false
		}
		others = slices.DeleteFunc(slices.Clone(others), func(name string) bool { return name == f.Path })
		refuse(f.Path, f.Draft.ID, "has the id of "+others[0])
		return true
	})
	byPath := func(a, b Trouble) int { return cmp.Compare(a.Path, b.Path) }
	slices.SortFunc(scan.Refused, byPath)
	slices.SortFunc(scan.Skipped, byPath)
	return scan, nil
}

// walk lists the lessons' files of a place and of the folders in it.
func (d *Dir) walk(place string, names *[]string, scan *Scan) error {
	refuse := func(name, why string) error {
		scan.Refused = append(scan.Refused, Trouble{name, "", why})
		return nil
	}
	switch info, err := d.root.Lstat(place); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return errs.Wrap(errs.Invalid, err, "%s cannot be read", place)
	case info.Mode()&fs.ModeSymlink != 0:
		return refuse(place, "is a symbolic link, which is not followed")
	case !info.IsDir():
		return refuse(place, "is no folder")
	}
	return fs.WalkDir(d.root.FS(), place, func(name string, item fs.DirEntry, err error) error {
		base := strings.ToLower(path.Base(name))
		skip := ""
		switch {
		case err != nil:
			return errs.Wrap(errs.Invalid, err, "%s cannot be read", name)
		case strings.HasPrefix(base, "."):
			skip = "is hidden"
		case item.IsDir() && strings.Count(name, "/") > MaxDepth:
			_ = refuse(name, "lies too deep")
			return fs.SkipDir
		case item.IsDir():
			return nil
		case item.Type()&fs.ModeSymlink != 0:
			return refuse(name, "is a symbolic link, which is not followed")
		case !item.Type().IsRegular():
			return refuse(name, "is no regular file")
		case !strings.HasSuffix(base, ".md") && !strings.HasSuffix(base, ".markdown"):
			skip = "is no Markdown file"
		case strings.HasPrefix(base, "readme."):
			skip = "is a read-me file"
		case len(*names) == MaxFiles:
			return errs.Errorf(errs.TooLarge, "the folder holds more than %d lessons", MaxFiles)
		default:
			*names = append(*names, name)
			return nil
		}
		scan.Skipped = append(scan.Skipped, Trouble{name, "", skip})
		if item.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

// read reads a regular file of at most max bytes.
func (d *Dir) read(name string, max int) ([]byte, error) {
	info, err := d.root.Lstat(name)
	return readRegular(info, err, d.root.Open, name, max)
}

// readRegular reads a file of at most max bytes, if what was learned of it says that it is one.
func readRegular(info fs.FileInfo, err error, open func(name string) (*os.File, error), name string, max int) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errs.Errorf(errs.Invalid, "is no regular file")
	}
	file, err := open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, int64(max)+1))
	if err != nil {
		return nil, err
	}
	if len(text) > max {
		return nil, errs.Errorf(errs.TooLarge, "is larger than %d bytes", max)
	}
	return text, nil
}

// write puts a file into place whole: whoever reads it, also after a crash,
// finds what was there before or all of this.
func (d *Dir) write(name string, text []byte) error {
	err := file.WriteIn(d.root, name, text, false)
	if errors.Is(err, fs.ErrExist) {
		return errs.Errorf(errs.Conflict, "%s is no regular file, and stays as it is", name)
	}
	return errs.Wrap(errs.Unavailable, err, "%s cannot be written", name)
}

// reason is an error as it is listed beside a file's name.
func reason(err error) string {
	if coded, ok := errors.AsType[*errs.Error](err); ok {
		if coded.Field != "" {
			return coded.Field + " " + coded.Message
		}
		return coded.Message
	}
	if wrong, ok := errors.AsType[*fs.PathError](err); ok {
		return wrong.Err.Error()
	}
	return err.Error()
}
