// Package share is the memory that a project keeps in its own git repository, where others read it and write it. It owns
// what a shared entry is, when one waits for a person, and what becomes of an entry that a person accepted. It must not
// know files, git, HTTP or a database: learning/folder reads and writes the files.
package share

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/learning"
)

// Bounds of what is shared.
const (
	// MaxText bounds a shared text, in bytes; a file has its front matter besides.
	MaxText = 60 << 10
	// MaxEntries bounds the shared entries of a project, and how many are decided in one call.
	MaxEntries = 5000
	// minID keeps ids apart from the short names and numbers by which entries are called.
	minID = 8
)

// Kind is what a shared entry is.
type Kind string

// The kinds. What gives orders has none: a shared entry is never a rule, a reminder, a procedure, an approval or a setting.
const (
	KindKnowledge Kind = "knowledge"
	KindDecision  Kind = "decision"
	KindLesson    Kind = "lesson"
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{KindKnowledge, KindDecision, KindLesson} }

// Choices are the values as texts, for whoever asks for one.
func (Kind) Choices() []string { return safetext.Strings(Kinds()) }

// Entry is what a shared file says.
type Entry struct {
	ID         string     `json:"id"`
	Kind       Kind       `json:"kind" enum:"knowledge,decision,lesson"`
	Title      string     `json:"title"`
	Created    time.Time  `json:"created"`
	Author     string     `json:"author,omitempty"`     // in the words of the file: nobody vouches for it
	Supersedes []string   `json:"supersedes,omitempty"` // ids of shared entries in whose place it stands
	Retired    *time.Time `json:"retired,omitempty"`
	Text       string     `json:"text"`
}

// Clean checks an entry, makes it the form of which Hash is taken, and cuts its secrets out. It is called for what is
// written and for what is read; what is clean stays as it is.
func (e *Entry) Clean() error {
	e.Text = strings.TrimSpace(strings.ReplaceAll(e.Text, "\r\n", "\n"))
	e.Title, e.Author = check.OneLine(e.Title), check.OneLine(e.Author)
	var secrets redact.Redaction
	secrets.Text(&e.Title, &e.Text, &e.Author)
	e.Created = e.Created.UTC().Truncate(time.Second)
	if e.Retired != nil {
		e.Retired = new(e.Retired.UTC().Truncate(time.Second))
	}
	if _, err := strconv.ParseInt(e.ID, 10, 64); err == nil || len(e.ID) < minID {
		return errs.InvalidField("id", "must be %d characters or more, and no number: shorter ones name other things too", minID)
	}
	return cmp.Or(
		learning.CheckID("id", e.ID), check.OneOf("kind", e.Kind, Kinds()), learning.CheckTitle(e.Title), check.Required("text", e.Text, MaxText),
		check.Text("author", e.Author, check.MaxName), learning.CheckIDs("supersedes", e.Supersedes, learning.MaxSupersedes),
	)
}

// Hash is by what a person's answer holds: it changes with everything that the entry says.
func (e *Entry) Hash() string {
	text, _ := json.Marshal(e) // texts, times and lists cannot fail
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Known is what this router knows of a shared entry of a project.
type Known struct {
	Project string `json:"-"`
	ID      string `json:"id"`
	Kind    Kind   `json:"kind"`
	// Hash is of what is in memory here, as a file says it; empty: nothing is.
	Hash string `json:"hash,omitempty"`
	// Declined is the hash of what a person declined last, or Missing.
	Declined string    `json:"declined,omitempty"`
	Held     bool      `json:"held,omitempty"`   // it was shared or accepted here: its id is its own
	Path     string    `json:"path,omitempty"`   // of the file that was accepted
	Commit   string    `json:"commit,omitempty"` // where that came from, in the words of git
	Author   string    `json:"author,omitempty"`
	Writer   string    `json:"writer,omitempty"`     // who wrote it, as the file says
	By       string    `json:"decided_by,omitempty"` // the person; empty: it was written here
	At       time.Time `json:"at"`
	Gone     bool      `json:"deleted,omitempty"` // it was deleted here, or retired
}

// Missing stands for the hash of a file that is not there any more.
const Missing = "missing"

// News is what is new of a shared entry.
type News string

// What can be new. Empty: nothing.
const (
	NewsNew     News = "new"
	NewsChanged News = "changed"
	NewsRetired News = "retired"
	NewsMissing News = "missing"
)

// NewsOf says what a person has not seen yet of an entry's file; nil: the file is not there.
func (k *Known) NewsOf(e *Entry) News {
	hash := Missing
	if e != nil {
		hash = e.Hash()
	}
	switch {
	case k.Declined == hash || k.Hash == hash:
		return ""
	case e == nil || e.Retired != nil:
		switch {
		case k.Hash == "" || k.Gone:
			return ""
		case e == nil:
			return NewsMissing
		}
		return NewsRetired
	case k.Held:
		return NewsChanged
	}
	return NewsNew
}

// Request names what is to be shared.
type Request struct {
	IDs     []string `json:"ids" doc:"Ids of entries, decisions and lessons of the project"`
	Project string   `json:"project"`
}

// Answer is what a person says of one shared entry.
type Answer struct {
	Entry  Entry  `json:"entry"`
	Accept bool   `json:"accept,omitempty"`
	Gone   bool   `json:"missing,omitempty" doc:"Its file is not there any more; of the entry the id counts"`
	Path   string `json:"path,omitempty"`
	Commit string `json:"commit,omitempty"`
	Author string `json:"author,omitempty" doc:"Who made the commit, in the words of git"`
}

// Decision is what a person says of some shared entries of a project.
type Decision struct {
	Project string   `json:"project"`
	Answers []Answer `json:"answers"`
}

// Outcome is what became of one of them.
type Outcome struct {
	ID     string `json:"id"`
	Became string `json:"became" doc:"stored, updated, retired, declined or refused"`
	Reason string `json:"reason,omitempty"`
}

// Service is what the router does with shared memory. Sharing implements it beside the database, router/client over HTTP.
type Service interface {
	// Share returns entries of a project as their files say them, and notes that they are here. It needs ScopeAgent.
	Share(ctx context.Context, request Request) ([]Entry, error)
	// Known lists what is known of a project's shared entries. It needs ScopeRead.
	Known(ctx context.Context, project string) ([]Known, error)
	// Decide does as a person says: see principal.Principal.AsPerson. Without answers it tells whether the caller is one.
	Decide(ctx context.Context, decision Decision) ([]Outcome, error)
}

// Store keeps what is known of shared entries. learning/store implements it.
type Store interface {
	KnownShared(ctx context.Context, project string) ([]Known, error)
	PutShared(ctx context.Context, rows []Known) error
	// Superseded returns those of a project's shared entries in whose place an entry stands.
	Superseded(ctx context.Context, project, id string) ([]string, error)
}

func notShared(id, why string) error {
	return errs.Errorf(errs.Invalid, "%s is not shared: %s", id, why)
}

// Operations is how the methods of a Service are called from outside.
var Operations = operation.Of("shared", "/api/shared",
	operation.Get("", "What is known of the entries that a project shares by its git", Service.Known).Takes("project!").Holds("shared"),
	operation.Post("", "Entries as files of the project's git say them; the client writes the files", Service.Share).Holds("entries"),
	operation.Post("/decide", "Accept or decline what others shared, by its content; for a person", Service.Decide).Holds("outcomes").UpTo(8<<20).Needs("captain"),
)
