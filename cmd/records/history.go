// Package records finds the records that coding agents keep of their sessions, reads them part by part, and
// hands what was run in them to whoever learns from it. It knows where agents keep their records and how
// far each was read; what is learned is learning/history's.
package records

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/hex"
	"hash/fnv"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/cmd/hook/respond"
	"github.com/skillrouter/skillrouter/cmd/process"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/file"
	"github.com/skillrouter/skillrouter/learning/history"
)

// Bounds of reading.
const (
	// maxFiles bounds the files of one run: some years of a busy team.
	maxFiles = 200_000
	// partSteps and partBytes bound what is sent at once, so that reading a gigabyte holds some megabytes.
	partSteps = 500
	partBytes = 4 << 20
	// overlap is how many steps of a part the next one begins with: the fix of what failed there may follow, and a
	// step is known by the two before it.
	overlap = history.Window + 2
	// maxPart bounds what holds one step, in bytes.
	maxPart = 8 << 20
)

// File is a record of a session: a file, or a session in opencode's database.
type File struct {
	Path     string                                                  // of a session in a database, its id below the database
	Size     int64                                                   // in bytes; of a session in a database, its parts
	Modified int64                                                   // Unix milliseconds
	parts    func(path string, each func(history.Found) error) error // reads what is no file
}

// Skipped counts what was not read, by the reason.
type Skipped struct {
	Links   int `json:"links,omitempty"`  // symbolic links and what is no regular file
	Foreign int `json:"others,omitempty"` // files of another user
	Unread  int `json:"unread,omitempty"` // files that could not be read
}

// Places are where this user's agents keep their records, as far as they are there. env is as os.Getenv.
func Places(home string, env func(name string) string) (places []string) {
	under := func(variable string, otherwise string, parts ...string) {
		root := cmp.Or(env(variable), filepath.Join(home, otherwise))
		places = append(places, filepath.Join(append([]string{root}, parts...)...))
	}
	under("CLAUDE_CONFIG_DIR", ".claude", "projects")
	under("CODEX_HOME", ".codex", "sessions")
	under("CODEX_HOME", ".codex", "archived_sessions")
	under("GEMINI_CLI_HOME", "", ".gemini", "tmp")
	under("XDG_DATA_HOME", ".local/share", "opencode", openCodeFile)
	return slices.DeleteFunc(places, func(place string) bool {
		info, err := os.Stat(place)
		return err != nil || !info.IsDir() && filepath.Base(place) != openCodeFile
	})
}

// Find lists the records at paths, the oldest first. since leaves out those that were changed before; the zero time leaves out none.
func Find(paths []string, since time.Time, skipped *Skipped) (files []File, err error) {
	add := func(f File) {
		if f.Modified >= since.UnixMilli() || since.IsZero() {
			files = append(files, f)
		}
	}
	for _, root := range paths {
		if root, err = filepath.Abs(root); err != nil {
			return nil, err
		}
		if _, err := os.Lstat(root); err != nil {
			return nil, errs.InvalidField("PATH", "%s is not there, or may not be read", root)
		}
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				skipped.Unread++
				return nil
			}
			extension := filepath.Ext(path)
			if d.IsDir() || extension != ".jsonl" && extension != ".json" && d.Name() != openCodeFile && path != root || extension == ".json" && path != root && !strings.HasPrefix(d.Name(), "session-") {
				return nil
			}
			info, err := d.Info()
			switch {
			case err != nil:
				skipped.Unread++
			case !info.Mode().IsRegular():
				skipped.Links++
			case !process.Own(info):
				skipped.Foreign++
			case len(files) >= maxFiles:
				return &errs.Error{Code: errs.TooLarge, Field: "PATH", Message: "holds more than " + strconv.Itoa(maxFiles) + " files: name a part of it"}
			case d.Name() == openCodeFile:
				sessions, err := openCodeSessions(path)
				if err != nil {
					skipped.Unread++
				}
				for _, session := range sessions {
					add(session)
				}
			default:
				add(File{Path: path, Size: info.Size(), Modified: info.ModTime().UnixMilli()})
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(files, func(a, b File) int {
		return cmp.Or(cmp.Compare(a.Modified, b.Modified), strings.Compare(a.Path, b.Path))
	})
	return slices.CompactFunc(files, func(a, b File) bool { return a.Path == b.Path }), nil
}

func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// Learner reads records and has them learned.
type Learner struct {
	// Learn learns from a part of a session.
	Learn func(ctx context.Context, draft history.Draft) (history.Learned, error)
	// Known are the files that were read, by their ids.
	Known map[string]history.Source
	// Project is whose everything is; empty: ProjectOf says it by the folder that the agent worked in.
	Project   string
	Named     bool // Project is meant, also where it is empty
	ProjectOf func(dir string) string
	AgentID   string
	// Complete sends each session at once, however long it is: to who only measures.
	Complete bool
	// Progress is told how many bytes were read or passed over.
	Progress func(bytes int64)

	Read     int   // files that were read
	Bytes    int64 // of them
	Skipped  Skipped
	Total    history.Learned
	Sessions map[string]bool
	Projects map[string]bool
}

// SourceID is what a file is known by: its place, and for whom it was read.
func (l *Learner) SourceID(path string) string {
	host, _ := os.Hostname()
	h := fnv.New128a()
	for _, part := range []string{host, path, strconv.FormatBool(l.Named), l.Project} {
		_, _ = io.WriteString(h, part+"\x00")
	}
	return hex.EncodeToString(h.Sum(nil))
}

// All learns from files. A file that cannot be read is counted and passed over; what the router refuses ends it.
func (l *Learner) All(ctx context.Context, files []File) error {
	l.Sessions, l.Projects = map[string]bool{}, map[string]bool{}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.file(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// Session learns from the record of one session, and of its subagents where the agent keeps those in a folder beside it, as
// if all records were read: the router keeps how far this one was. projectOf is as Learner has it.
func Session(ctx context.Context, call respond.Call, record respond.Record, projectOf func(dir string) string) error {
	l := &Learner{Known: map[string]history.Source{}, AgentID: record.AgentID, Named: record.Named}
	l.Learn = func(ctx context.Context, draft history.Draft) (learned history.Learned, err error) {
		err = call(ctx, http.MethodPost, "/api/incidents/learn", draft, &learned)
		return learned, err
	}
	if l.Named {
		l.Project = record.Project
	}
	l.ProjectOf = func(dir string) string {
		if dir == "" {
			return record.Project // of an agent that does not say where it worked
		}
		return projectOf(dir)
	}
	if record.Path == "" {
		return l.messages(ctx, record)
	}
	paths := []string{record.Path}
	if beside := strings.TrimSuffix(record.Path, filepath.Ext(record.Path)); beside != record.Path && isFolder(beside) {
		paths = append(paths, beside)
	}
	files, err := Find(paths, time.Time{}, &l.Skipped)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(files, history.MaxSourceIDs) {
		ids := make([]string, len(some))
		for i, f := range some {
			ids[i] = l.SourceID(f.Path)
		}
		var known history.SourcePage
		if err := call(ctx, http.MethodGet, "/api/incidents/sources?ids="+strings.Join(ids, ","), nil, &known); err != nil {
			return err
		}
		for _, source := range known.Sources {
			l.Known[source.ID] = source
		}
	}
	return l.All(ctx, files)
}

// part is what is gathered of a file until it is sent.
type part struct {
	*Learner
	file    File
	source  history.Source
	found   []history.Found
	bytes   int
	begin   bool // found begins where the session does
	fresh   int  // steps of found that were not sent
	project string
	session string
	dir     *string // that the agent noted beside its records; nil: it was not looked for
}

func (l *Learner) file(ctx context.Context, f File) error {
	id := l.SourceID(f.Path)
	known, there := l.Known[id]
	if there {
		l.Projects[known.Project] = true
	}
	if there && known.Size == f.Size && known.Modified == f.Modified {
		l.progress(f.Size)
		return nil
	}
	p := &part{Learner: l, file: f, source: history.Source{ID: id}, begin: true}
	var refused error
	add := func(found history.Found) error {
		refused = p.add(ctx, found)
		return refused
	}
	if f.parts != nil {
		if err := f.parts(f.Path, add); refused != nil {
			return refused
		} else if err != nil {
			l.Skipped.Unread++
			return nil
		}
		l.Read++
		p.source.Size, p.source.Modified = f.Size, f.Modified
		return p.send(ctx)
	}
	file, size, err := respond.OpenRegular(f.Path)
	if err != nil {
		l.Skipped.Unread++
		return nil
	}
	defer file.Close()
	// A record that has grown is read as a whole: steps that were learned change nothing.
	if err := history.NewReader(add).Read(&counting{file, l.progress}); err != nil {
		return err
	}
	l.Read++
	l.Bytes += size
	p.source.Size, p.source.Modified = size, f.Modified
	return p.send(ctx)
}

// messages learns from a session that no file is kept of. What was learned of it before, such as before it was resumed,
// changes nothing.
func (l *Learner) messages(ctx context.Context, record respond.Record) error {
	l.Sessions, l.Projects = map[string]bool{}, map[string]bool{}
	p := &part{Learner: l, begin: !record.Partial}
	reader := history.NewReader(func(found history.Found) error { return p.add(ctx, found) })
	if err := reader.Messages(record.Messages, record.Session, record.Dir); err != nil {
		return err
	}
	return p.flush(ctx, nil)
}

func (l *Learner) progress(n int64) {
	if l.Progress != nil {
		l.Progress(n)
	}
}

// counting tells of what is read.
type counting struct {
	io.Reader
	told func(int64)
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.told(int64(n))
	return n, err
}

// add gathers a step, and sends what was gathered when it is enough or another session begins.
func (p *part) add(ctx context.Context, found history.Found) error {
	if found.Session == "" {
		found.Session = strings.TrimSuffix(filepath.Base(p.file.Path), filepath.Ext(p.file.Path))
	}
	project := p.Project
	if !p.Named && p.ProjectOf != nil {
		if found.Dir == "" {
			if p.dir == nil {
				dir := geminiFolder(p.file.Path)
				p.dir = &dir
			}
			found.Dir = *p.dir
		}
		project = p.ProjectOf(found.Dir)
	}
	if len(p.found) > 0 && (found.Session != p.session || project != p.project) {
		if err := p.flush(ctx, nil); err != nil {
			return err
		}
		p.found, p.bytes, p.begin = nil, 0, true
	}
	p.session, p.project = found.Session, project
	p.found = append(p.found, found)
	p.fresh++
	p.bytes += len(found.Command) + len(found.Output)
	if p.Complete || len(p.found) < partSteps && p.bytes < partBytes {
		return nil
	}
	if err := p.flush(ctx, nil); err != nil {
		return err
	}
	p.found = slices.Clone(p.found[max(0, len(p.found)-overlap):])
	p.begin, p.bytes = false, 0
	for _, f := range p.found {
		p.bytes += len(f.Command) + len(f.Output)
	}
	return nil
}

// send sends the rest of a file, and keeps that it was read.
func (p *part) send(ctx context.Context) error {
	p.session = cmp.Or(p.session, "none")
	return p.flush(ctx, &p.source)
}

func (p *part) flush(ctx context.Context, source *history.Source) error {
	if p.fresh == 0 && source == nil {
		return nil
	}
	draft := history.Draft{Project: p.project, Session: p.session, AgentID: p.AgentID, Begin: p.begin, Source: source, Steps: make([]history.Step, len(p.found))}
	if p.Named {
		draft.Project = p.Project
	}
	for i, f := range p.found {
		draft.Steps[i] = f.Step
	}
	learned, err := p.Learn(ctx, draft)
	if err != nil {
		return err
	}
	p.fresh = 0
	p.Projects[draft.Project] = true
	if len(p.found) > 0 {
		p.Sessions[p.session] = true
	}
	t := &p.Total
	t.Steps += learned.Steps
	t.Failures += learned.Failures
	t.Repeats += learned.Repeats
	t.Incidents += learned.Incidents
	t.Fixes += learned.Fixes
	return nil
}

// geminiFolder is the folder that Gemini CLI worked in: its records do not say it, a file beside their folder does.
func geminiFolder(path string) string {
	for dir := filepath.Dir(path); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if filepath.Base(dir) == "chats" {
			text, _ := file.ReadSmall(filepath.Join(filepath.Dir(dir), ".project_root"), maxPart)
			return strings.TrimSpace(string(text))
		}
	}
	return ""
}

// openCodeFile is the database that opencode keeps its sessions in since version 1.18.
const openCodeFile = "opencode.db"

// OpenDatabase opens another program's database, to read only. While that is not running there is no log beside it, and none is made.
func OpenDatabase(path string) (*sql.DB, error) {
	address := "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.ToSlash(path)) + "?mode=ro&_pragma=busy_timeout(5000)"
	if _, err := os.Lstat(path + "-wal"); err != nil {
		address += "&immutable=1"
	}
	db, err := sql.Open("sqlite", address)
	if err == nil {
		db.SetMaxOpenConns(1)
	}
	return db, err
}

// openCodeSessions lists the sessions in opencode's database.
func openCodeSessions(path string) (files []File, err error) {
	db, err := OpenDatabase(path)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.Query("SELECT s.id, s.time_updated, (SELECT count(*) FROM part p WHERE p.session_id = s.id) FROM session s LIMIT ?", maxFiles)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		f := File{parts: openCodeParts}
		var id string
		if err := rows.Scan(&id, &f.Modified, &f.Size); err != nil {
			return files, err
		}
		f.Path = filepath.Join(path, filepath.Base(id))
		files = append(files, f)
	}
	return files, rows.Err()
}

// openCodeParts reads a session in opencode's database, in the order of its messages and their parts.
func openCodeParts(path string, each func(history.Found) error) error {
	db, err := OpenDatabase(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.Query(`SELECT s.directory, p.data FROM part p JOIN message m ON m.id = p.message_id JOIN session s ON s.id = p.session_id
		WHERE p.session_id = ? AND length(p.data) <= ? ORDER BY m.time_created, m.id, p.id`, filepath.Base(path), maxPart)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var dir string
		var text []byte
		if err := rows.Scan(&dir, &text); err != nil {
			return err
		}
		if found, ok := history.ReadPart(text); ok {
			found.Session, found.Dir = filepath.Base(path), dir
			if err := each(found); err != nil {
				return err
			}
		}
	}
	return rows.Err()
}

// IsDatabase tells whether a file that begins so is an SQLite database.
func IsDatabase(head []byte) bool { return bytes.HasPrefix(head, []byte("SQLite format 3\x00")) }
