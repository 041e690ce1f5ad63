// Package exchange reads what other systems export and writes what people read:
// parsers from foreign formats to the records that the router takes in, and
// writers from these. It owns the formats alone. It opens nothing, follows no
// reference out of what it is handed, and holds one item at a time; what may be
// stored is the domains' to say.
package exchange

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/transfer"
)

// Item is one thing that was read: a record, or why there is none.
type Item struct {
	Place  string // where it stands: "line 12", "notes/a.md:7", "observations[3]"
	Record transfer.Record
	// Refused says why the thing is no record; Field which part of it, if that can be said.
	Refused string
	Field   string
	// Skipped is set for what the format has and memories have not, such as a deleted entry:
	// it is told of, and no fault.
	Skipped bool
}

// Options are what a parser fills in for what the source does not say.
type Options struct {
	Category string
	Project  string
	Agent    string // the author
	Source   string
	Tags     []string
	Read     func(bytes int) // is told of each piece that was read; nil: nobody is
}

// Format is a format that can be read.
type Format struct {
	Name string
	What string // for people
	// Folder tells whether a folder of files can be read, rather than one stream.
	Folder bool
	// Tables are the lists of its document that an SQLite database has; none: it is no database.
	Tables []Table

	hidden string // the folder that it is in, which would be passed over
	stream func(r io.Reader, o Options, yield func(Item) bool) error
	file   func(name, text string, o Options, yield func(Item) bool) bool
	fits   func(name string) bool // which files of a folder belong to it
}

// Table is a list of a document, and the query that reads it from a database. A name of "" stands for the document itself.
type Table struct{ Name, Query string }

// Formats lists what can be read.
func Formats() []Format {
	markdown := func(name string) bool { return strings.HasSuffix(strings.ToLower(name), ".md") }
	return []Format{
		{Name: "jsonl", What: "JSON lines: an export of a router, or entries of knowledge", stream: readLines},
		{Name: "markdown", What: "Markdown: a file or folder, each heading an entry; an export's pages what they were", Folder: true, file: readMarkdown, fits: markdown},
		{Name: "claude-md", What: "CLAUDE.md, AGENTS.md and memory files: each bullet or paragraph an entry", Folder: true, file: readInstructions, fits: isInstructions},
		{Name: "engram", What: "engram: the JSON document of its export, or a repository's folder .engram", stream: readEngram, Folder: true, fits: isChunk, hidden: engramFolder},
		{Name: "claude-mem", What: "claude-mem: its claude-mem.db, or the JSON of its export", stream: readClaudeMem, Tables: claudeMemTables},
		{Name: "beads", What: "beads: its issues.jsonl, or a repository's folder .beads, as tasks", stream: readBeads, Folder: true, fits: isIssues, hidden: beadsFolder},
		{Name: "mem0", What: "mem0: the JSON of get_all or of a memory export", stream: readMem0},
		{Name: "mcp-memory", What: "the MCP memory server's memory.jsonl: entities and relations", stream: readGraph},
		{Name: "sabre", What: "SABRE's episodes.jsonl, its facts.db, or that table as JSON", stream: readSabre, Tables: sabreTables},
		{Name: "basic-memory", What: "Basic Memory: a folder of notes with front matter, observations and relations", Folder: true, file: readNote, fits: markdown},
	}
}

// FormatOf returns a format by its name.
func FormatOf(name string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Format{}, errs.InvalidField("from", "must be one of %s", strings.Join(names, ", "))
}

// MaxFile bounds a Markdown file, in bytes: it is held as a whole, and a
// longer one is no note.
const MaxFile = 8 << 20

// Read visits what a stream holds, in order, until yield has enough. An error
// means that the rest could not be read; what was visited before it stands.
func (f Format) Read(r io.Reader, o Options, yield func(Item) bool) error {
	r = &told{from: r, read: o.Read}
	if f.stream != nil {
		return f.stream(r, o, yield)
	}
	text, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return err
	}
	f.text("standard input", string(text), o, yield)
	return nil
}

// ReadFolder visits what the files of a folder hold, in the order of their
// names. Only regular files below it are read, whatever links there are.
func (f Format) ReadFolder(folder fs.FS, o Options, yield func(Item) bool) error {
	if !f.Folder {
		return errs.Errorf(errs.Invalid, "the format %s is a file, not a folder", f.Name)
	}
	return fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return one(yield, Item{Place: name, Refused: "cannot be read: " + err.Error()})
		case d.IsDir() && name != "." && strings.HasPrefix(d.Name(), ".") && d.Name() != f.hidden:
			return fs.SkipDir
		case d.IsDir() || !f.fits(name):
			return nil
		case !d.Type().IsRegular():
			return one(yield, Item{Place: name, Refused: "is no regular file"})
		}
		return f.readFile(folder, name, o, yield)
	})
}

// ReadFile visits what one file of a folder holds, whatever its name is.
func (f Format) ReadFile(folder fs.FS, name string, o Options, yield func(Item) bool) error {
	if err := f.readFile(folder, name, o, yield); err != nil && err != fs.SkipAll { //nolint:errorlint // it is never wrapped
		return err
	}
	return nil
}

func (f Format) readFile(folder fs.FS, name string, o Options, yield func(Item) bool) error {
	file, err := folder.Open(name)
	if err != nil {
		return one(yield, Item{Place: name, Refused: "cannot be read: " + err.Error()})
	}
	defer file.Close()
	from := &told{from: file, read: o.Read}
	switch {
	case f.stream != nil && f.fits(name):
		return f.unpacked(name, from, o, yield)
	case f.stream != nil:
		return f.stream(from, o, yield)
	}
	text, err := io.ReadAll(io.LimitReader(from, MaxFile+1))
	if err != nil {
		return one(yield, Item{Place: name, Refused: "cannot be read: " + err.Error()})
	}
	if !f.text(name, string(text), o, yield) {
		return fs.SkipAll
	}
	return nil
}

// unpacked reads a file of a folder, which may be packed, as the format's stream. A file that is broken refuses itself and not the folder.
func (f Format) unpacked(name string, from io.Reader, o Options, yield func(Item) bool) error {
	enough := false
	within := func(item Item) bool {
		item.Place = strings.TrimSuffix(name+", "+item.Place, ", ")
		enough = !yield(item)
		return !enough
	}
	text, err := from, error(nil)
	if strings.HasSuffix(name, ".gz") {
		text, err = gzip.NewReader(from)
	}
	if err == nil {
		err = f.stream(text, o, within)
	}
	if err != nil && !enough {
		return one(yield, Item{Place: name, Refused: "cannot be read to its end: " + errs.Explain(err)})
	}
	if enough {
		return fs.SkipAll
	}
	return nil
}

func (f Format) text(name, text string, o Options, yield func(Item) bool) bool {
	if len(text) > MaxFile {
		return yield(Item{Place: name, Refused: "is longer than 8 MiB"})
	}
	return f.file(name, strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), o, yield)
}

func one(yield func(Item) bool, item Item) error {
	if !yield(item) {
		return fs.SkipAll
	}
	return nil
}

// told tells how much was read.
type told struct {
	from io.Reader
	read func(int)
}

// Read implements io.Reader.
func (t *told) Read(p []byte) (int, error) {
	n, err := t.from.Read(p)
	if t.read != nil && n > 0 {
		t.read(n)
	}
	return n, err
}

// space is the name space of the ids that follow from where a thing comes from.
var space = uuid.MustParse("0f2f6c1e-8a53-5f0b-9a3e-6d1f2b7c4e90")

// idOf is the same for the same origin, so that a thing that is imported twice is there once.
func idOf(parts ...string) string {
	return uuid.NewSHA1(space, []byte(strings.Join(parts, "\x00"))).String()
}

// idOf is idOf for what is known by its words alone, which each project has for itself.
func (o Options) idOf(parts ...string) string {
	if o.Project != "" {
		parts = append(parts, "project", o.Project)
	}
	return idOf(parts...)
}

// knowledgeLine makes an entry's item, with the options for what it does not say.
func knowledgeLine(place string, k knowledge.Knowledge, o Options) Item {
	k.Category = fitting(first(k.Category, o.Category, knowledge.CategoryPattern), check.MaxName)
	k.Project, k.Author = fitting(first(k.Project, o.Project), check.MaxName), first(k.Author, o.Agent)
	k.Source = fitting(first(k.Source, o.Source), learning.MaxSource)
	k.Title = fitting(first(line(k.Title), headline(k.Content)), learning.MaxTitle)
	k.Tags = tags(k.Tags, o.Tags)
	return Item{Place: place, Record: transfer.Record{Kind: router.KindKnowledge, Memory: &k}}
}

// tags joins lists of tags, each once and none longer than a name, as many as an entry has.
func tags(lists ...[]string) []string {
	all := []string{}
	for _, tag := range slices.Concat(lists...) {
		tag = fitting(line(tag), check.MaxName)
		if tag != "" && !slices.Contains(all, tag) && len(all) < learning.MaxTags {
			all = append(all, tag)
		}
	}
	return all
}

// line is a text as one line.
func line(text string) string { return strings.Join(strings.Fields(text), " ") }

// fitting cuts a text to what a field holds. The secrets go first: half of one
// is not known for what it is any more.
func fitting(text string, most int) string {
	if text = strings.TrimSpace(text); len(text) > most {
		text, _ = redact.Text(text)
	}
	return check.Head(text, most)
}

func first(texts ...string) string {
	for _, text := range texts {
		if strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// thing is what another system wrote of one of its own: members of JSON, which are read for what they say. A number may stand
// for a text, JSON within a text for JSON, and what is not as it must be says nothing.
type thing map[string]json.RawMessage

// each makes an item of each object that it visits, and refuses all that is no object.
func each(yield func(Item) bool, item func(place string, t thing) Item) func(place string, text json.RawMessage) bool {
	return func(place string, text json.RawMessage) bool {
		var t thing
		if err := json.Unmarshal(text, &t); err != nil || t == nil {
			return yield(Item{Place: place, Refused: "is no JSON object"})
		}
		return yield(item(place, t))
	}
}

// text is the first of these members that says something, as a text.
func (t thing) text(names ...string) string {
	for _, name := range names {
		value := t[name]
		var text string
		if len(value) > 0 && json.Unmarshal(value, &text) != nil && !strings.ContainsRune("{[", rune(value[0])) {
			text = string(value) // a number, or true
		}
		if strings.TrimSpace(text) != "" {
			return text
		}
	}
	return ""
}

// texts are those of a list, which may stand as JSON within a text; any other text is a list of one.
func (t thing) texts(name string) (texts []string) {
	value := t[name]
	if within := t.text(name); within != "" {
		value = json.RawMessage(within)
	}
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil && t.text(name) != "" {
		return []string{t.text(name)}
	}
	for _, one := range list {
		if text := (thing{"": one}).text(""); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// things are the objects of a list.
func (t thing) things(name string) (list []thing) {
	_ = json.Unmarshal(t[name], &list) // what is no such list has none
	return list
}

// number is a whole number; 0 if there is none.
func (t thing) number(name string) (n int64) {
	_ = json.Unmarshal([]byte(t.text(name)), &n)
	return n
}

// at is the first of these members that says something, as a time.
func (t thing) at(names ...string) time.Time { return moment(t.text(names...)) }
