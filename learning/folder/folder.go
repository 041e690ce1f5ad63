// Package folder is a lessons folder on disk, as the original lessons folder lays it out: cases/,
// patterns/ and principles/ with a Markdown file per lesson, and index.json. It
// owns the files' format and names, how a folder and the router's lessons are
// brought together, the shortlist before a task (preflight), the workflow guard,
// and reading free Markdown notes. It must not know HTTP, a database or how the
// router is found: lessons go to and come from a lesson.Service.
package folder

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/strictjson"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Bounds of a folder.
const (
	// MaxFile bounds a lesson's file, in bytes: the longest body and front matter.
	MaxFile = learning.MaxContent + MaxFrontMatter
	// MaxFrontMatter bounds a file's front matter, in bytes. What the YAML library
	// takes for this much of the worst input is some seconds.
	MaxFrontMatter = 1 << 20
	// MaxIndex bounds index.json, in bytes: 100,000 lessons with long summaries.
	MaxIndex = 128 << 20
	// MaxFiles bounds how many files of a folder are read.
	MaxFiles = 200_000
	// MaxDepth bounds folders within cases, patterns and principles.
	MaxDepth = 8
)

// IndexName is the file of a folder that lists its lessons.
const IndexName = "index.json"

// places names the folder of each level.
var places = map[lesson.Level]string{
	lesson.LevelCase: "cases", lesson.LevelPattern: "patterns", lesson.LevelPrinciple: "principles",
}

// Trouble names a file, or a part of one, that was not taken, and why.
type Trouble struct {
	Path string `json:"path"` // within the folder, with slashes
	ID   string `json:"id,omitempty"`
	Why  string `json:"reason"`
}

// keep writes what a run found to a new file of root's logs, and returns its
// path within root. Names sort by time.
func keep(root, place, kind string, v any, now time.Time) (string, error) {
	dir, err := Open(root, false)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	text, err := encode(v)
	if err != nil {
		return "", err
	}
	var tail [2]byte
	_, _ = rand.Read(tail[:]) // never fails; two runs of one moment keep apart
	name := path.Join(place, kind+"_"+now.UTC().Format("20060102T150405.000Z")+"-"+hex.EncodeToString(tail[:])+".json")
	return name, dir.write(name, text)
}

// encode is v as a file of JSON: indented, as people and diffs read it.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return nil, errs.Wrap(errs.Internal, err, "the file cannot be made")
	}
	return b.Bytes(), nil
}

// tolerant decodes one JSON value into a pointer, refuses repeated names, and returns
// the names that it has no field for, sorted, each with the names that lead to it.
func tolerant(text []byte, v any) (unknown []string, err error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if err := json.Unmarshal(text, v); err != nil {
		return nil, err
	}
	if err := strictjson.Check(text, reflect.TypeOf(v).Elem()); err != nil {
		return nil, errors.New(reason(err))
	}
	var given, known any
	again, err := json.Marshal(v)
	if err == nil {
		err = cmp.Or(json.Unmarshal(text, &given), json.Unmarshal(again, &known))
	}
	unknown = unknownNames(given, known, "")
	slices.Sort(unknown)
	return slices.Compact(unknown), err
}

// unknownNames lists the names within a decoded value that are not in what was made of it.
func unknownNames(given, known any, path string) (unknown []string) {
	switch given := given.(type) {
	case []any:
		list, _ := known.([]any)
		for i := range min(len(given), len(list)) {
			unknown = append(unknown, unknownNames(given[i], list[i], path)...)
		}
	case map[string]any:
		members, is := known.(map[string]any)
		for name, item := range given {
			if member, there := members[name]; there {
				unknown = append(unknown, unknownNames(item, member, path+name+".")...)
			} else if is {
				unknown = append(unknown, path+name)
			}
		}
	}
	return unknown
}

// maxSlug bounds the readable part of a file's name, in bytes: with the rest it
// stays below what any file system takes.
const maxSlug = 60

// named are ids that are file names as they stand: lower case, so that no file
// system takes two of them for one.
var named = lazyregexp.New(`^[a-z0-9](?:[a-z0-9_-]|\.[a-z0-9_-]){0,78}$`)

// given tells an id that the router gave (a UUID), which no person would look for.
var given = lazyregexp.New(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// devices are names that Windows keeps for itself, whatever stands behind the first dot.
var devices = []string{
	"con", "prn", "aux", "nul", "com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
}

// FileName is the path of a lesson that has no file yet, within the folder. It
// depends on the id, and for an id that names nothing on the title of that
// moment; a file that is there keeps its name.
func FileName(d lesson.Draft) string {
	name := d.ID
	device, _, _ := strings.Cut(name, ".")
	if !named.MatchString(name) || given.MatchString(name) || slices.Contains(devices, device) {
		sum := sha256.Sum256([]byte(d.ID))
		// 48 bits of the id keep two lessons of one title apart.
		name = strings.TrimPrefix(slug(d.Title)+"-"+hex.EncodeToString(sum[:6]), "-")
	}
	return path.Join(places[d.Level], name+".md")
}

// slug is a text as part of a file's name: lower-case ASCII letters and digits
// with single dashes, which may be none at all.
func slug(s string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(s) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case r >= 'A' && r <= 'Z':
			b.WriteRune(r + 'a' - 'A')
		case unicode.Is(unicode.Mn, r): // an accent that NFKD took off its letter
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= maxSlug {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}
