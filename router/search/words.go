package search

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"

	"skillrouter/internal/check"
	"skillrouter/internal/committer"
	"skillrouter/internal/eventlog"
	"skillrouter/operational"
	"skillrouter/router/follow"
	"skillrouter/router/kind"
	"skillrouter/tfidf"
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
	w := &Words{
		store: store, log: log,
		messages: newWordIndex(kind.Message, signals), findings: newWordIndex(kind.Finding, store), tasks: newWordIndex(kind.Task, store),
	}
	w.messages.read, w.messages.told = w.readMessages, w.toldMessages
	w.findings.read, w.findings.told = w.readFindings, w.toldFindings
	w.tasks.read, w.tasks.told = w.readTasks, w.toldTasks
	return w
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

func (w *Words) readMessages(ctx context.Context, visit func([]tfidf.Document) error) error {
	for after := int64(0); ; {
		page, err := w.store.MessagesAfter(ctx, after)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].Seq
		if err := visit(documents(page, messageDocument)); err != nil {
			return err
		}
	}
}

func (w *Words) toldMessages(ctx context.Context, events []eventlog.Event) ([]tfidf.Document, []string, error) {
	ids := subjectsOf(events, func(string) bool { return true })
	page, err := w.store.MessagesOf(ctx, ids)
	return documents(page, messageDocument), ids, err
}

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

func (w *Words) readFindings(ctx context.Context, visit func([]tfidf.Document) error) error {
	return w.findingsOf(ctx, "", visit)
}

func (w *Words) findingsOf(ctx context.Context, environment string, visit func([]tfidf.Document) error) error {
	for after := ""; ; {
		page, err := w.store.FindingsAfter(ctx, after, environment)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].ID
		if err := visit(documents(page, findingDocument)); err != nil {
			return err
		}
	}
}

// toldFindings reads the findings that events tell of; of an environment that
// was changed all of them, because their project is its.
func (w *Words) toldFindings(ctx context.Context, events []eventlog.Event) ([]tfidf.Document, []string, error) {
	var docs []tfidf.Document
	for _, environment := range subjectsOf(events, func(event string) bool { return event == operational.EventEnvironmentStored }) {
		err := w.findingsOf(ctx, environment, func(page []tfidf.Document) error {
			docs = append(docs, page...)
			return ctx.Err()
		})
		if err != nil {
			return nil, nil, err
		}
	}
	ids := subjectsOf(events, func(event string) bool { return strings.HasPrefix(event, "finding.") })
	if len(ids) == 0 {
		return docs, nil, nil
	}
	page, err := w.store.FindingsOf(ctx, ids)
	return append(docs, documents(page, findingDocument)...), ids, err
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

func (w *Words) readTasks(ctx context.Context, visit func([]tfidf.Document) error) error {
	for after := int64(0); ; {
		page, err := w.store.TasksAfter(ctx, "", after)
		if err != nil || len(page) == 0 {
			return err
		}
		after = page[len(page)-1].Number
		if err := visit(documents(page, taskDocument)); err != nil {
			return err
		}
	}
}

func (w *Words) toldTasks(ctx context.Context, events []eventlog.Event) ([]tfidf.Document, []string, error) {
	ids := subjectsOf(events, func(event string) bool { return strings.HasPrefix(event, "task.") })
	if len(ids) == 0 {
		return nil, nil, nil
	}
	page, err := w.store.TasksOf(ctx, ids)
	return documents(page, taskDocument), ids, err
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

func documents[Row any](rows []Row, of func(*Row) tfidf.Document) []tfidf.Document {
	docs := make([]tfidf.Document, len(rows))
	for i := range rows {
		docs[i] = of(&rows[i])
	}
	return docs
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
