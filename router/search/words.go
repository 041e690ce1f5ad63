package search

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/follow"
	"github.com/skillrouter/skillrouter/router/kind"
	"github.com/skillrouter/skillrouter/tfidf"
)

// WordStore reads what of operational.db is searched by words, in pages and by
// ids. operational/store implements it. It checks no right: Words does.
type WordStore interface {
	follow.EventLog
	TasksOf(ctx context.Context, ids []string) ([]operational.Task, error)
	TasksAfter(ctx context.Context, project string, number int64) ([]operational.Task, error)
	FindingsOf(ctx context.Context, ids []string) ([]operational.Finding, error)
	FindingsAfter(ctx context.Context, id, environment string) ([]operational.Finding, error)
	MessagesOf(ctx context.Context, ids []string) ([]operational.Message, error)
	MessagesAfter(ctx context.Context, seq int64) ([]operational.Message, error)
	MessageIDs(ctx context.Context, visit func(id string)) error
	// SweptBell rings after each commit that deleted messages.
	SweptBell() *committer.Bell
}

// Words finds messages, findings and tasks by their words. Who may see a
// message is a tag of its document, and so settled before anything is counted or cut.
type Words struct {
	store                     WordStore
	log                       *slog.Logger
	messages, findings, tasks *wordIndex
}

// NewWords makes Words with empty indexes, which Run fills. signals is the log of messages.
func NewWords(store WordStore, signals follow.EventLog, log *slog.Logger) *Words {
	w := &Words{store: store, log: log}
	w.messages = newWordIndex(kind.Message, signals, wordRows[operational.Message]{
		after: func(ctx context.Context, last operational.Message) ([]operational.Message, error) {
			return store.MessagesAfter(ctx, last.Seq)
		},
		of: store.MessagesOf, told: subjectsOf(""), document: messageDocument, hit: messageHit,
	})
	w.messages.find = w.findMessages
	w.findings = newWordIndex(kind.Finding, store, wordRows[operational.Finding]{
		after: func(ctx context.Context, last operational.Finding) ([]operational.Finding, error) {
			return store.FindingsAfter(ctx, last.ID, "")
		},
		of: store.FindingsOf, told: w.toldFindings, document: findingDocument, hit: findingHit,
	})
	w.tasks = newWordIndex(kind.Task, store, wordRows[operational.Task]{
		after: func(ctx context.Context, last operational.Task) ([]operational.Task, error) {
			return store.TasksAfter(ctx, "", last.Number)
		},
		of: store.TasksOf, told: subjectsOf("task."), document: taskDocument, hit: taskHit,
	})
	return w
}

// Memories are what Words finds in, each as a search asks it.
func (w *Words) Memories() (memories []kind.Memory) {
	for _, x := range []*wordIndex{w.tasks, w.findings, w.messages} {
		memories = append(memories, kind.Memory{Kind: x.kind, Words: x.index, Search: x.search})
	}
	return memories
}

// Run fills the indexes and keeps them in step until ctx ends, and returns nil then.
func (w *Words) Run(ctx context.Context) error {
	var all sync.WaitGroup
	for _, x := range []*wordIndex{w.messages, w.findings, w.tasks} {
		all.Go(func() { x.run(ctx, w.log) })
	}
	all.Go(func() { w.forgetSwept(ctx) })
	all.Wait()
	return nil
}

// forgetSwept takes messages out of their index whose time is over.
func (w *Words) forgetSwept(ctx context.Context) {
	w.store.SweptBell().Follow(ctx, 0, follow.RetryAfter, func() error {
		if !w.messages.filled.Load() {
			return nil
		}
		return w.messages.keep(ctx, w.store.MessageIDs)
	}, func(err error) {
		w.log.WarnContext(ctx, "deleted messages stay in the search index for a while", "error", err)
	})
}

// wordText bounds the text of a row that is searched, in bytes: what is longer
// is a log, and says at its head what it is about.
const wordText = 16 << 10

// Tags of the documents. None can be the name of something else.
const (
	forAll   = "to:*" // a broadcast
	forAgent = "to:"  // one whom a message concerns: its sender, its recipient
	ofAgent  = "by:"  // who wrote it, or has it
	atStatus = "is:"  // where it stands
)

func messageDocument(m *operational.Message) tfidf.Document {
	tags := []string{ofAgent + m.From, forAgent + m.From}
	if m.To == "" {
		tags = append(tags, forAll)
	} else {
		tags = append(tags, forAgent+m.To)
	}
	title := m.Signal
	if title == operational.SignalMessage {
		title = "" // every other message has this name
	}
	return tfidf.Document{
		ID: m.ID, Title: title, Body: kind.Paragraphs(check.Head(plainJSON(m.Context), wordText), m.ThreadID, m.From, m.To),
		Category: m.Signal, Tags: tags, Order: m.Seq, At: instant(m.CreatedAt),
	}
}

// findMessages finds messages that concern the caller. To others' it is blind
// from the first: what concerns whom is a tag of each, the words are searched as
// they are, and how rare they are is what the other kinds say of them.
func (w *Words) findMessages(q kind.Question) (found tfidf.Result) {
	query := queryOf(q)
	query.Limit *= 2 // some may have expired
	if q.Caller.Has(principal.ScopeCaptain) {
		return w.messages.index.Search(query)
	}
	query.Exact = true
	for _, readers := range []string{forAgent + q.Caller.AgentID, forAll} {
		part := query
		part.Tags = append(slices.Clone(query.Tags), readers)
		for _, hit := range w.messages.index.Search(part).Hits {
			if !slices.ContainsFunc(found.Hits, func(h tfidf.Hit) bool { return h.ID == hit.ID }) {
				found.Hits = append(found.Hits, hit)
			}
		}
	}
	return found
}

func messageHit(m *operational.Message, now time.Time) (hit kind.Hit, still bool) {
	return kind.Hit{
		ID: m.ID, Title: fmt.Sprintf("%s from %s to %s", m.Signal, m.From, cmp.Or(m.To, "all")), Text: plainJSON(m.Context), Category: m.Signal,
		Author: m.From, Trust: router.TrustAgent, At: m.CreatedAt,
	}, m.ExpiresAt == nil || now.Before(*m.ExpiresAt)
}

// toldFindings are the findings that events tell of; of an environment that
// was changed all of them, because their project is its.
func (w *Words) toldFindings(ctx context.Context, events []eventlog.Event) ([]string, error) {
	ids, err := subjectsOf("finding.")(ctx, events)
	environments, _ := subjectsOf(operational.EventEnvironmentStored)(ctx, events)
	for _, environment := range environments {
		for after := ""; err == nil; {
			var page []operational.Finding
			if page, err = w.store.FindingsAfter(ctx, after, environment); len(page) == 0 {
				break
			}
			for _, f := range page {
				ids, after = append(ids, f.ID), f.ID
			}
		}
	}
	return ids, err
}

func findingDocument(f *operational.Finding) tfidf.Document {
	title := f.Title
	if f.CVE != "" && !strings.Contains(title, f.CVE) {
		title = f.CVE + " " + title
	}
	return tfidf.Document{
		ID: f.ID, Title: title, Body: check.Head(kind.Paragraphs(f.Description, f.Location, f.Evidence, f.Remediation, f.Environment), wordText),
		Category: string(f.Severity), Project: f.Project, Tags: []string{atStatus + string(f.Status)}, At: instant(f.LastSeen),
	}
}

func findingHit(f *operational.Finding, _ time.Time) (hit kind.Hit, still bool) {
	return kind.Hit{
		ID: f.ID, Title: router.FindingPhrase(*f), Text: kind.Paragraphs(f.Description, f.Evidence, f.Remediation), Category: string(f.Severity),
		Project: f.Project, At: f.LastSeen,
	}, true
}

func taskDocument(t *operational.Task) tfidf.Document {
	tags := []string{}
	for _, agent := range []string{t.AgentID, t.CreatedBy} {
		if agent != "" {
			tags = append(tags, ofAgent+agent)
		}
	}
	return tfidf.Document{
		ID: t.ID, Title: t.Title, Body: check.Head(kind.Paragraphs(t.Description, t.Note, t.BlockedReason, t.Result, t.Error), wordText),
		Category: string(t.Status), Project: t.Project, Tags: tags, Order: t.Number, At: instant(t.UpdatedAt),
	}
}

func taskHit(t *operational.Task, _ time.Time) (hit kind.Hit, still bool) {
	return kind.Hit{
		ID: t.ID, Title: fmt.Sprintf("#%d %s", t.Number, t.Title), Text: kind.Paragraphs(t.Description, t.Note, t.BlockedReason, t.Result, t.Error),
		Category: string(t.Status), Project: t.Project, Author: t.CreatedBy, Trust: router.TrustAgent, At: t.UpdatedAt,
	}, true
}

// plainJSON is what a JSON value says, without its punctuation: the names, texts
// and numbers in their order, a line for each text.
func plainJSON(raw json.RawMessage) string {
	var b strings.Builder
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	for {
		token, err := d.Token()
		if err != nil { // its end, mostly; a context is checked when it is sent
			return strings.TrimSuffix(b.String(), "\n")
		}
		switch v := token.(type) {
		case string:
			b.WriteString(v + "\n")
		case json.Number:
			b.WriteString(v.String() + "\n")
		}
	}
}

// instant is a time as the index compares it; 0 is none.
func instant(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}
