package knowledge

import (
	"cmp"
	"context"
	"maps"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/overlay"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/tfidf"
)

// itsAuthor is what the author of an entry did.
const itsAuthor = "wrote this entry: only its author"

// checkDraft checks what a client says of an entry, its author apart, and
// cleans it. An imported entry may have no title: many collections have none.
func checkDraft(draft *Draft, trust learning.Trust) error {
	if draft.ID != "" {
		if err := learning.CheckID("id", draft.ID); err != nil {
			return err
		}
	}
	if err := learning.CheckCategory(draft.Category); err != nil {
		return err
	}
	if trust != learning.TrustImported || draft.Title != "" {
		if err := learning.CheckTitle(draft.Title); err != nil {
			return err
		}
	}
	if err := cmp.Or(
		learning.CheckContent(draft.Content),
		check.Text("source", draft.Source, learning.MaxSource),
		check.Name("project", draft.Project),
		learning.CheckPlace(draft.Place),
		learning.CheckIDs("supersedes", draft.Supersedes, learning.MaxSupersedes),
	); err != nil {
		return err
	}
	draft.Title, draft.Source = check.OneLine(draft.Title), check.OneLine(draft.Source)
	tags, err := learning.CleanTags(draft.Tags)
	draft.Tags = tags
	return err
}

// checkPatch checks what a client changes of an entry as a draft that says nothing else, cleans it and cuts
// its secrets out, whose kinds it returns.
func checkPatch(patch *Patch) (kinds []string, err error) {
	if next := patch.SupersededBy; next != nil && *next != "" {
		if err := learning.CheckID("superseded_by", *next); err != nil {
			return nil, err
		}
	}
	draft := Draft{Category: "-", Title: "-", Content: "-"}
	overlay.Put(&draft, patch)
	if err := checkDraft(&draft, learning.TrustAgent); err != nil {
		return nil, err
	}
	kinds = redactDraft(&draft)
	overlay.Take(patch, &draft)
	return kinds, nil
}

// redactDraft cuts the secrets out of a draft, and returns their kinds.
func redactDraft(draft *Draft) []string {
	var r redact.Redaction
	r.Text(&draft.Title, &draft.Content, &draft.Source)
	r.List(draft.Tags)
	return r.Kinds()
}

// LearnFrom has searches heed what was learned from use. It is called before the first search is made.
func (k *Base) LearnFrom(a Answers) { k.answers = a }

// unfiltered tells whether a query asks all that is known of a project. One that
// has another filter and finds nothing says that there is no such entry, not
// that nothing is known.
func (q *Query) unfiltered() bool {
	return q.Category == "" && len(q.Tags) == 0 && q.AgentID == "" && q.Since.IsZero() && q.Until.IsZero() && q.TimeRange == ""
}

// Service is what can be done with knowledge. Base
// implements it beside the database, router/client over HTTP.
type Service interface {
	// Store stores one entry. What is the same entry depends on who named it:
	//   - A draft without an ID is known by what it says. If an entry of the same project has
	//     the same title and content (compared without case and spacing), nothing is stored
	//     and the answer names that entry, with Duplicate.
	//   - A draft with an ID is known by its ID. If an entry has the ID, it is updated, or
	//     left alone (Duplicate) if the draft says what it says already. If none has, the
	//     draft is stored, even if another entry says the same: a client that gives ids
	//     must find each of its entries under its own.
	Store(ctx context.Context, draft Draft) (Stored, error)
	// Entry returns the entry with the id.
	Entry(ctx context.Context, id string) (Knowledge, error)
	// Update changes the fields that the patch sets.
	Update(ctx context.Context, id string, patch Patch) (Knowledge, error)
	// Delete removes the entry from the database and the index.
	Delete(ctx context.Context, id string) error
	// Search finds the entries that fit the query best, best first, and counts their use.
	Search(ctx context.Context, query Query) (Results, error)
}

// Categories of knowledge that the sidecar names. Others are allowed: a category
// is any name.
const (
	CategoryErrorSolution = "error_solution"
	CategoryPattern       = "pattern"
	CategoryBestPractice  = "best_practice"
	CategoryGotcha        = "gotcha"

	// CategoryDecision and CategoryConstraint are for what a project decided, and what everybody in it is to keep to: see Base.InForce.
	CategoryDecision   = "decision"
	CategoryConstraint = "constraint"
)

// SaidAt begins the source of what a person said at an agent's prompt.
const SaidAt = "said at a prompt"

// Said tells whether the entry holds a person's words at an agent's prompt.
func (e *Knowledge) Said() bool {
	return e.Trust == learning.TrustPerson && strings.HasPrefix(e.Source, SaidAt)
}

// Knowledge is one entry that an agent chose to write down.
type Knowledge struct {
	ID        string         `json:"id"`
	Number    int64          `json:"-"` // the order of first storing, by which the search knows what was written in one go
	Category  string         `json:"category"`
	Title     string         `json:"title"`
	Content   string         `json:"content"`
	Tags      []string       `json:"tags"`
	Source    string         `json:"source,omitempty"`   // where it comes from, in the writer's words
	Author    string         `json:"agent_id,omitempty"` // who wrote it: the token's agent, or who the writer said it is while the router is open
	Project   string         `json:"project,omitempty"`
	Trust     learning.Trust `json:"trust"`
	UseCount  int64          `json:"use_count"`
	LastUsed  *time.Time     `json:"last_used,omitempty"`
	CreatedAt time.Time      `json:"created_at"`
	UpdatedAt time.Time      `json:"updated_at"`
	learning.Place
	// SupersededBy is the entry that stands in this one's place, behind which it ranks.
	SupersededBy string `json:"superseded_by,omitempty"`
	// Redacted lists the kinds of secret that were cut out of what the call said that this answers. It is not stored.
	Redacted []string `json:"redacted,omitempty"`
}

// Draft is what a client may say of a new entry.
type Draft struct {
	ID       string   `json:"id,omitempty" doc:"Your own id; the same id again updates the entry"` // the client's own id, at most MaxID bytes; empty: one is given
	Category string   `json:"category" doc:"error_solution, pattern, best_practice, gotcha, or your own" help:"Category"`
	Title    string   `json:"title" doc:"One line that says the point"`
	Content  string   `json:"content" long:"true"`
	Tags     []string `json:"tags,omitempty" help:"Tag; may be repeated"`
	Source   string   `json:"source,omitempty"`
	AgentID  string   `json:"agent_id,omitempty" actor:"true"`
	Project  string   `json:"project,omitempty" here:"project"`
	learning.Place
	// Supersedes are entries of the same project that this one stands in the place of.
	Supersedes []string `json:"supersedes,omitempty" doc:"Id of an entry in whose place it stands"`
}

// Patch is what a client may change of an entry; nil leaves a field as it is.
type Patch struct {
	Category *string   `json:"category,omitempty"`
	Title    *string   `json:"title,omitempty" doc:"Its line"`
	Content  *string   `json:"content,omitempty" doc:"What it says" long:"true" help:"What it says; - reads standard input"`
	Tags     *[]string `json:"tags,omitempty" help:"Tag, in place of all there are; may be repeated"`
	Source   *string   `json:"source,omitempty" doc:"Where it comes from"`
	Project  *string   `json:"project,omitempty" doc:"Project that it belongs to; \"\" is none"`
	// SupersededBy is the entry that stands in this one's place; "" is none, and takes it back for good.
	SupersededBy *string `json:"superseded_by,omitempty" doc:"Id of the entry that stands in its place; \"\" undoes it"`
}

// said tells whether the patch changes what the entry says.
func (p *Patch) said() bool {
	of := *p
	of.SupersededBy = nil
	return of != Patch{}
}

// Stored says what became of a draft.
type Stored struct {
	ID        string `json:"knowledge_id"`
	Duplicate bool   `json:"duplicate"` // the same content was there already, under this ID; nothing was stored
	Updated   bool   `json:"updated"`   // an entry with the client's ID was there and was changed
	// Supersedes are the entries in whose place it stands, because the draft says so.
	Supersedes []string `json:"supersedes,omitempty"`
	// Redacted lists the kinds of secret that were cut out of the draft before it was stored.
	Redacted []string `json:"redacted,omitempty"`
}

// Query asks for knowledge.
type Query struct {
	Query    string `json:"query"`
	Category string `json:"category,omitempty"`
	Project  string `json:"project,omitempty"`
	// PreferProject is the project that the caller works in, where Project names none: what belongs to it
	// goes before what fits about as well, imported entries later, and Why says so.
	PreferProject string   `json:"prefer_project,omitempty"`
	Tags          []string `json:"tags,omitempty"`     // each must be on the entry
	AgentID       string   `json:"agent_id,omitempty"` // its author
	// Since, Until and TimeRange bound when the entry was last changed, as an episode.Filter's do.
	Since     time.Time `json:"since,omitzero"`
	Until     time.Time `json:"until,omitzero"`
	TimeRange string    `json:"time_range,omitempty"`
	Limit     int       `json:"limit,omitempty"`   // 1 to MaxLimit; 0 means DefaultKnowledgeLimit
	Explain   bool      `json:"explain,omitempty"` // fill Why
	// MinRelevance keeps out what is less relevant, from 0 to 1.
	MinRelevance float64 `json:"min_relevance,omitempty"`
	// Shown keeps out what people are not shown: see learning.Relevant.
	Shown bool `json:"shown,omitempty"`
	// Corpus, if not nil, has each hit tell its Evidence: it is one of several searches whose hits are compared.
	Corpus *tfidf.Corpus `json:"-"`
}

// Hit is an entry that was found. Its use count and time of last use
// are those from before this search.
type Hit struct {
	Knowledge
	// RelevanceScore orders one answer, and compares with no other's: of words alone it is
	// as large as the words that fit are rare; fused with vectors it is from 0 to 1, which is
	// the first by words and by meaning.
	RelevanceScore float64 `json:"relevance_score"`
	// Relevance is how probably it is what was meant, from 0 to 1. It compares between kinds and queries.
	Relevance float64           `json:"relevance"`
	Why       []learning.Reason `json:"why,omitempty"` // the parts of the score; they add up to it
	Evidence  tfidf.Evidence    `json:"-"`             // see Query.Corpus
}

// Says is what the hit says, to be compared with what others say.
func (h *Hit) Says() learning.Saying {
	return learning.Saying{ID: h.ID, Kind: "knowledge", Where: h.Project, Trust: h.Trust, Text: h.Title + "\n" + h.Content}
}

// Results is the answer to a Query.
type Results struct {
	Results   []Hit             `json:"results"`
	Count     int               `json:"count"`
	LeftOut   int               `json:"left_out,omitempty"`  // how many more would have made the answer larger than MaxAnswer
	Corrected map[string]string `json:"corrected,omitempty"` // words nobody wrote, and what was searched instead
	Notice    string            `json:"notice,omitempty"`    // what the caller should know of how it was searched: that it went by words alone though vectors are configured
	// Repairs say, where nothing was found as it was asked for, what was tried instead. If that found
	// something, Notice says so.
	Repairs []learning.Repair `json:"tried,omitempty"`
	// NoMatch says that what was found, if anything, cannot be what was meant: see verdict.Gap. Beside the database alone.
	NoMatch bool `json:"-"`
}

// Store keeps entries. learning/store implements it on learning.db.
type Store interface {
	shelf.IndexStore
	// ChangeKnowledge queues a change and returns at once; changes are made in the order
	// in which they were queued. In one durable transaction decide is told what is stored
	// under the keys and answers what to write, which is written together with its
	// events. decide may be called twice and must then answer for itself alone. after is
	// called after the commit, in commit order, before wait returns; not if it failed.
	ChangeKnowledge(ctx context.Context, keys Keys, decide func(found Found) (Change, error), after func()) (wait func() error)
	// Knowledge returns the entries with the ids that exist, in no order.
	Knowledge(ctx context.Context, ids []string) ([]Knowledge, error)
	// ListKnowledge returns entries, newest first; up to MaxAnswer bytes of them.
	ListKnowledge(ctx context.Context, filter Filter, before int64) ([]Knowledge, error)
	// KnowledgeVersions returns what an entry that is there said before, the latest first, as History does.
	KnowledgeVersions(ctx context.Context, id string) ([]Knowledge, error)
	// ScanKnowledge visits what is searched of every entry, oldest first, chunk by chunk.
	// visit may keep the chunk.
	ScanKnowledge(ctx context.Context, visit func(chunk []Knowledge) error) error
	// AddUse adds to the use counts of entries; ids that nothing has are ignored.
	AddUse(ctx context.Context, uses map[string]shelf.Use) error
}

// Keys says what a change must know before it is decided.
type Keys struct {
	IDs          []string
	Fingerprints []learning.Fingerprint
	Twins        bool // the entries with these fingerprints are asked for too, not their ids alone
}

// Found is what is stored under the keys. An entry is under its ID;
// of several with one fingerprint the first stored counts.
type Found struct {
	Entries map[string]Knowledge
	Same    map[learning.Fingerprint]string
}

// within leaves out the entries that their reader may not know of: to it they are not there.
func (f Found) within(reader principal.Principal) {
	if reader.Walled() {
		maps.DeleteFunc(f.Entries, func(_ string, e Knowledge) bool { return !reader.Sees(e.Project) })
	}
}

// Record is an entry as it is stored.
type Record struct {
	Knowledge
	Fingerprint learning.Fingerprint
}

// Change is what to write in one transaction.
type Change struct {
	Insert []Record
	Update []Record
	Delete []string
	Events []eventlog.Event
}

// The types of this domain's events.
const (
	EventStored  = "knowledge.stored"
	EventUpdated = "knowledge.updated"
	EventDeleted = "knowledge.deleted"
)
