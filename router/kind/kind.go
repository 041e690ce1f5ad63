// Package kind is the registry of the kinds of memory. A kind is one value: what it is called, what is true of its rows,
// and what the router does with them. Searches, contexts, exports, counts, pages and commands walk the registry, so that
// a new kind is a file here and a line in All. It knows the domains' services and none of the router's families.
package kind

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/tally"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/tfidf"
	"github.com/skillrouter/skillrouter/tfidf/keep"
)

// Kind is what is known of a kind without its service: commands and files know it too.
type Kind struct {
	Name   string
	Plural string // in a sentence

	// Searched and Exported are its places, from 1, among the kinds that a search answers
	// with (of what says the same in two kinds the first is shown) and that an export has one
	// after the other. 0: it is not among them.
	Searched, Exported int

	// What a search can narrow its rows by; category and time narrow all.
	OfProject, HasTags, HasAuthor bool
	Private                       bool     // not everybody may know of every row
	Walled                        bool     // a caller that is bound to projects finds its rows, by their own words
	Categories                    []string // that there can be; nil: any

	// Decode reads a record of an export. Members that the kind does not have are
	// refused: a misspelt one would be lost in silence.
	Decode func(text []byte) (record any, err error)
	Page   Page
	Events []Event // that its domain tells of

	// Counted is its place among the kinds that are counted, and that can be cleared unless Held.Keep says
	// why not. Held has no functions here, and those of the service in a Memory.
	Counted int
	Held    router.HeldMemory
}

// All lists every kind.
func All() []Kind {
	return []Kind{Lesson, Pattern, Knowledge, Procedure, Fact, Episode, Reminder, Session, Task, Finding, Message}
}

// Placed returns those that have a place, in its order.
func Placed[K any](kinds []K, place func(K) int) []K {
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(k K) bool { return place(k) == 0 })
	slices.SortFunc(kinds, func(a, b K) int { return cmp.Compare(place(a), place(b)) })
	return kinds
}

// Names are the names of those that have a place, in its order.
func Names(place func(Kind) int) (names []string) {
	for _, k := range Placed(All(), place) {
		names = append(names, k.Name)
	}
	return names
}

// Searched and Exported are the places of a kind.
func Searched(k Kind) int { return k.Searched }

// Exported is the place of a kind in an export.
func Exported(k Kind) int { return k.Exported }

// Counted is the place of a kind among those that are counted.
func Counted(k Kind) int { return k.Counted }

// Clearable are the types of memory that can be cleared.
func Clearable() (types []router.MemoryType) {
	for _, k := range Placed(All(), Counted) {
		if k.Held.Keep == "" {
			types = append(types, k.Held.Type)
		}
	}
	return types
}

// Named returns the kind of a name; the zero Kind if there is none.
func Named(name string) Kind { return byName()[name] }

// byName has each kind by its name: a page or a record of an export asks for its kind.
var byName = sync.OnceValue(func() map[string]Kind {
	kinds := map[string]Kind{}
	for _, k := range All() {
		kinds[k.Name] = k
	}
	return kinds
})

// holding is the kind with what counts and clears what there is of it.
func (k Kind) holding(held func(ctx context.Context, persona string) ([]tally.Tally, error),
	clear func(ctx context.Context, persona, category string, most int) (int64, error),
) Kind {
	k.Held.Held, k.Held.Clear = held, clear
	return k
}

// Reading is the notice of a kind whose index is being filled.
func (k Kind) Reading() string { return "the " + k.Plural + " are still being read in" }

// Memory is a kind with the service that keeps its rows. What a function is nil for is not done with it.
type Memory struct {
	Kind
	Words  Words
	Shelf  Shelf // nil: its rows lie on none
	Search func(ctx context.Context, question Question) (Found, error)
	// Nominate returns the rows that may be of use for work, each with a Confidence; nil: contexts ask otherwise, or never.
	Nominate func(ctx context.Context, work Work) (Found, error)
	// Export visits every record, in the order of storing. project, if it is not empty, selects. Between
	// pages no transaction is open: a visitor that is slow holds nothing up.
	Export func(ctx context.Context, project string, now time.Time, visit func(record any) error) error
	// Import takes in records as Decode gives them, each once however often it comes.
	Import func(ctx context.Context, records []any, taking learning.Taking) ([]learning.Taken, error)
	// Undo takes back what an import added.
	Undo Undo
	// ReadAll is Undo.Read of many at once, by what each is known by; nil: each is read by itself.
	ReadAll func(ctx context.Context, refs []string) (map[string]any, error)
	Pages   Pages
}

// Undo reads and takes back memories of a kind that an import added, by what each is known by.
type Undo struct {
	// Read returns a memory without what time alone changes of it, and counts no use.
	Read func(ctx context.Context, ref string) (any, error)
	// Remove does what the kind's command delete does: it deletes, or retires what is never deleted.
	Remove func(ctx context.Context, ref string) error
}

// Undone is why what is never deleted was retired.
const Undone = "the import that brought it was undone"

// unlessOver takes a conflict for success: what is to be retired is retired already.
func unlessOver(err error) error {
	if errs.CodeOf(err) == errs.Conflict {
		return nil
	}
	return err
}

// Read returns those of some memories that there are, by what each is known by.
func (m Memory) Read(ctx context.Context, refs []string) (map[string]any, error) {
	if m.ReadAll != nil {
		return m.ReadAll(ctx, refs)
	}
	all := map[string]any{}
	for _, ref := range refs {
		switch row, err := m.Undo.Read(ctx, ref); {
		case err == nil:
			all[ref] = row
		case errs.CodeOf(err) != errs.NotFound:
			return nil, err
		}
	}
	return all, nil
}

// Size is how many rows of a kind that lies on a shelf the caller may find.
func (m Memory) Size(ctx context.Context) (int, error) {
	own, err := m.Shelf.Within(ctx)
	if own == nil {
		return m.Shelf.Len(), err
	}
	return own.Len(), err
}

// WordsFor are the words of the rows that a caller may know of; nil: it may know of none.
func (m Memory) WordsFor(ctx context.Context, caller principal.Principal) (Words, error) {
	switch {
	case m.Private && !caller.Has(principal.ScopeCaptain), caller.Walled() && !m.Walled:
		return nil, nil
	case caller.Walled():
		own, err := m.Shelf.Within(ctx)
		return own, err
	}
	return m.Words, nil
}

// Words are the words of a kind's rows.
type Words interface {
	router.Frequencies
	// Relax returns words that may be meant in the place of those that nothing has.
	Relax(text string) map[string]string
}

// Shelf is what holds the rows of a kind that can be found; *shelf.Shelf does.
type Shelf interface {
	// Load opens the index of the rows, RunIndex keeps it, and IndexState tells how it is doing.
	Load(ctx context.Context) error
	RunIndex(ctx context.Context) error
	IndexState() keep.State
	// Check compares the index with the database.
	Check(ctx context.Context) (shelf.IndexCheck, error)
	// Len is how many rows can be found.
	Len() int
	// Within returns the index of what a caller sees that is bound to projects; nil: it sees all.
	Within(ctx context.Context) (*tfidf.Index, error)
	TellElsewhere(kind string, other shelf.Elsewhere)
	// Follow brings the index in step with what another router wrote.
	Follow(ctx context.Context, events []eventlog.Event) error
}

// Question asks for the rows of a kind that fit some words.
type Question struct {
	Text     string
	Project  string
	Persona  string // of facts and procedures, whose hits then have it in their ids; empty: the default one
	Prefer   string // the project that the caller works in
	Category string
	Tags     []string
	AgentID  string
	Span     learning.TimeRange
	Limit    int
	Explain  bool
	Corpus   *tfidf.Corpus // by which words are weighed
	Caller   principal.Principal
	Now      time.Time
}

// Event is a type of event as the feed tells of it.
type Event struct {
	Type string
	Data string // the members of its data
	When string
}

// Work is what rows of a kind may be of use for.
type Work struct {
	Task    string
	Persona string
	AgentID string
	Project string
	Limit   int
}

// Found is what a kind has for a question, the best first.
type Found struct {
	Hits      []Hit
	Corrected map[string]string // words that nobody wrote, and what was looked for instead
	Notice    string            // what should be known of how it was searched
	Next      string            // of a listing: the cursor of the page after; empty: this is the last
}

// Hit is a row that fits.
type Hit struct {
	ID       string // of a fact its key, of a procedure its name
	Number   int64  // of the row; 0: it is not known
	Title    string
	Text     string
	Category string
	Project  string
	Author   string
	Trust    string
	At       time.Time // when it was written or last changed
	Score    float64   // among those of its kind
	Evidence tfidf.Evidence
	Why      []learning.Reason
	// Confidence is how far the row is believed, from 0 to 1; where it was nominated.
	Confidence float64
	// SupersededBy is what stands in its place.
	SupersededBy string
}

// scored is a hit with how well it fits, and why.
func (h Hit) scored(score float64, evidence tfidf.Evidence, why []learning.Reason) Hit {
	h.Score, h.Evidence, h.Why = score, evidence, why
	return h
}

// Paragraphs joins the texts that are not empty.
func Paragraphs(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "\n")
}
