package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/comms/commstest"
	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/learningtest"
	"github.com/skillrouter/skillrouter/learning/lesson"
	learningstore "github.com/skillrouter/skillrouter/learning/store"
	"github.com/skillrouter/skillrouter/operational"
	operationalstore "github.com/skillrouter/skillrouter/operational/store"
	"github.com/skillrouter/skillrouter/router/mcpserver"
)

// tools calls tools over HTTP, each agent's over a connection of its own, and
// turns failed results back into errors.
type tools struct {
	t       *testing.T
	url     string
	answers map[string]*jsonschema.Resolved // the output schema of each tool

	mu      sync.Mutex
	clients map[string]*mcp.ClientSession
}

// principalHeader carries the principal that the frame would find by the token.
const principalHeader = "X-Test-Principal"

func serveTools(t *testing.T, services mcpserver.Services) *tools {
	server := mcpserver.New(services, mcpserver.Options{Toolsets: toolsets(t, "all")})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var p principal.Principal
		if err := json.Unmarshal([]byte(r.Header.Get(principalHeader)), &p); err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
		server.Handler().ServeHTTP(w, r.WithContext(principal.With(r.Context(), p)))
	}))
	t.Cleanup(func() { end(t, server, s) })
	answers := map[string]*jsonschema.Resolved{}
	for _, tool := range server.Tools() {
		answers[tool.Name] = resolve(t, tool.OutputSchema)
	}
	return &tools{t: t, url: s.URL, answers: answers, clients: map[string]*mcp.ClientSession{}}
}

// bearer sends the principal with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(principalHeader, string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// callTool calls a tool as the agent and decodes its fields.
func callTool[Out any](ctx context.Context, c *tools, agent, name string, arguments any) (Out, error) {
	var out Out
	result, err := c.as(ctx, agent).CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		return out, err
	}
	if result.IsError {
		detail, _ := result.Meta["skillrouter/error"].(map[string]any)
		code, _ := detail["code"].(string)
		field, _ := detail["field"].(string)
		message, _ := detail["message"].(string)
		return out, &errs.Error{Code: errs.Code(code), Field: field, Message: message}
	}
	raw, err := json.Marshal(result.StructuredContent)
	if err != nil {
		return out, err
	}
	if err := c.answers[name].Validate(result.StructuredContent); err != nil {
		c.t.Errorf("%s answers %s, which does not fit its output schema: %v", name, raw, err)
	}
	return out, json.Unmarshal(raw, &out)
}

// as returns a connection whose calls are made as the context's principal, for the agent.
func (c *tools) as(ctx context.Context, agent string) *mcp.ClientSession {
	c.mu.Lock()
	defer c.mu.Unlock()
	caller, err := json.Marshal(principal.Of(ctx))
	if err != nil {
		c.t.Fatal(err)
	}
	key := agent + " " + string(caller)
	if c.clients[key] == nil {
		c.clients[key] = connect(c.t, &mcp.StreamableClientTransport{
			Endpoint: c.url + "?agent_id=" + url.QueryEscape(agent), HTTPClient: &http.Client{Transport: bearer(caller)},
		})
	}
	return c.clients[key]
}

// toolKnowledge is the knowledge service as far as tools reach: storing
// without an id of one's own, and searching without explanations. The rest,
// which no tool offers, goes to the service itself.
type toolKnowledge struct {
	knowledge.Service
	tools *tools
}

func (k toolKnowledge) Store(ctx context.Context, d knowledge.Draft) (knowledge.Stored, error) {
	if d.ID != "" {
		return k.Service.Store(ctx, d)
	}
	return callTool[knowledge.Stored](ctx, k.tools, d.AgentID, "store_knowledge", map[string]any{
		"category": d.Category, "title": d.Title, "content": d.Content, "tags": d.Tags, "project": d.Project, "source": d.Source,
	})
}

func (k toolKnowledge) Search(ctx context.Context, q knowledge.Query) (knowledge.Results, error) {
	if q.PreferProject != "" { // the server's own project, and no parameter
		return k.Service.Search(ctx, q)
	}
	found, err := callTool[knowledge.Results](ctx, k.tools, "", "search_knowledge", map[string]any{
		"query": q.Query, "category": q.Category, "project": q.Project, "tags": q.Tags, "limit": q.Limit, "explain": q.Explain,
	})
	found.Count = len(found.Results)
	for i, hit := range found.Results { // what the tool shows must be what is stored; what it leaves out is added
		entry, err := k.Entry(ctx, hit.ID)
		if err != nil {
			return found, err
		}
		shown := entry
		shown.Number, shown.Source, shown.UseCount, shown.LastUsed, shown.CreatedAt, shown.UpdatedAt = 0, "", 0, nil, time.Time{}, time.Time{}
		if len(shown.Tags) == 0 {
			shown.Tags = nil
		}
		if diff := cmp.Diff(shown, hit.Knowledge); diff != "" {
			k.tools.t.Errorf("the tool shows another entry than is stored: %s", diff)
		}
		found.Results[i].Knowledge = entry
	}
	return found, err
}

// toolEpisodes is the episode service as far as tools reach.
type toolEpisodes struct {
	episode.Service
	tools *tools
}

func (e toolEpisodes) Record(ctx context.Context, d episode.Draft) (episode.Episode, error) {
	arguments := map[string]any{"event_type": d.EventType, "title": d.Title, "content": d.Content, "project": d.Project, "session_id": d.SessionID}
	if d.Importance != nil {
		arguments["importance"] = *d.Importance
	}
	type recorded struct {
		ID        string `json:"episode_id"`
		SessionID string `json:"session_id"`
	}
	answer, err := callTool[recorded](ctx, e.tools, d.AgentID, "record_episode", arguments)
	if err != nil {
		return episode.Episode{}, err
	}
	latest, err := e.Service.Recent(ctx, episode.Filter{Limit: 1})
	if err != nil || len(latest) != 1 || latest[0].ID != answer.ID || latest[0].SessionID != answer.SessionID {
		e.tools.t.Errorf("the tool answers %+v, the latest episode is %+v, %v", answer, latest, err)
		return episode.Episode{}, err
	}
	return latest[0], nil
}

func (e toolEpisodes) Recent(ctx context.Context, f episode.Filter) ([]episode.Episode, error) {
	direct, err := e.Service.Recent(ctx, f)
	if err != nil || f.Project != "" || f.EventType != "" || !f.Since.IsZero() || !f.Until.IsZero() || f.TimeRange != "" || f.SessionID == episode.CurrentSession {
		return direct, err
	}
	session := f.SessionID
	if session == "" {
		session = "*"
	}
	type listing struct {
		Episodes []episode.Episode `json:"episodes"`
	}
	shown, err := callTool[listing](ctx, e.tools, "", "get_recent_episodes", map[string]any{"session_id": session, "agent_id": f.AgentID, "limit": f.Limit})
	if err == nil && len(shown.Episodes) != len(direct) {
		e.tools.t.Errorf("the tool shows %d episodes, want %d", len(shown.Episodes), len(direct))
		return direct, nil
	}
	for i := range shown.Episodes {
		shown.Episodes[i].Number = direct[i].Number // which no tool shows
	}
	return shown.Episodes, err
}

func (e toolEpisodes) Search(ctx context.Context, q episode.Query) (episode.Results, error) {
	if q.EventType != "" || q.Query == "" {
		return e.Service.Search(ctx, q)
	}
	found, err := callTool[episode.Results](ctx, e.tools, "", "search_episodes", map[string]any{
		"query": q.Query, "project": q.Project, "agent_id": q.AgentID, "limit": q.Limit, "explain": q.Explain,
	})
	found.Count = len(found.Results)
	return found, err
}

// toolLessons is the lesson service as far as tools reach: what a tool has no
// parameter for goes to the service itself.
type toolLessons struct {
	lesson.Service
	tools *tools
}

func (l toolLessons) Report(ctx context.Context, d lesson.Draft) (lesson.Reported, error) {
	arguments := map[string]any{
		"lesson_type": d.Type, "domain": d.Domain, "category": d.Category, "title": d.Title, "context": d.Context, "action_taken": d.Action,
		"outcome": d.Outcome, "root_cause": d.RootCause, "solution": d.Solution, "alternatives": d.Alternatives, "severity": d.Severity,
		"tags": d.Tags, "related_commands": d.RelatedCommands, "project": d.Project,
	}
	told := d
	told.Type, told.Domain, told.Category, told.Title, told.Context, told.Action, told.Outcome = "", "", "", "", "", "", ""
	told.RootCause, told.Solution, told.Alternatives, told.Severity, told.Tags, told.RelatedCommands, told.Project, told.SourceAgent = "", "", nil, "", nil, nil, "", ""
	if d.Category == "" || !cmp.Equal(told, lesson.Draft{}) || len(d.Title)+len(d.Context) > mcpserver.MaxMessage/2 {
		return l.Service.Report(ctx, d)
	}
	return callTool[lesson.Reported](ctx, l.tools, d.SourceAgent, "report_lesson", arguments)
}

func (l toolLessons) Relevant(ctx context.Context, q lesson.Query) (lesson.Results, error) {
	direct, err := l.Service.Relevant(ctx, q)
	if err != nil || q.Project != "" || q.PreferProject != "" || q.CrossDomain != nil { // the tool's project is the server's
		return direct, err
	}
	type hits struct {
		Results []lesson.Hit `json:"results"`
	}
	found, err := callTool[hits](ctx, l.tools, q.Agent, "get_relevant_lessons", map[string]any{"context": q.Context, "domain": q.Domain, "max_results": q.Limit, "explain": q.Explain})
	if err == nil && len(found.Results) != len(direct.Results) {
		l.tools.t.Errorf("the tool shows %d lessons, want %d", len(found.Results), len(direct.Results))
		return direct, nil
	}
	for i, hit := range found.Results { // what the tool shows must be what is stored
		want := direct.Results[i]
		if hit.ID != want.ID || hit.Title != want.Title || hit.Solution != want.Solution || hit.Similarity != want.Similarity || math.Abs(hit.Score-want.Score) > 1e-6 || len(hit.Why) != len(want.Why) {
			l.tools.t.Errorf("the tool shows %+v, want %+v", hit, want)
		}
	}
	return direct, err
}

// one calls a tool that answers with the lesson, and holds what it shows to what is stored.
func (l toolLessons) one(ctx context.Context, agent, tool string, arguments map[string]any) (lesson.Lesson, error) {
	type shown struct {
		Lesson lesson.Lesson `json:"lesson"`
	}
	answer, err := callTool[shown](ctx, l.tools, agent, tool, arguments)
	if err != nil {
		return lesson.Lesson{}, err
	}
	stored, err := l.Service.Lesson(ctx, answer.Lesson.ID)
	if err == nil && (stored.Title != answer.Lesson.Title || stored.Status != answer.Lesson.Status || stored.Level != answer.Lesson.Level) {
		l.tools.t.Errorf("%s shows %+v, stored is %+v", tool, answer.Lesson, stored)
	}
	return stored, err
}

func (l toolLessons) Lesson(ctx context.Context, ref string) (lesson.Lesson, error) {
	return l.one(ctx, "", "get_lesson", map[string]any{"lesson": ref})
}

func (l toolLessons) Validate(ctx context.Context, ref string, d lesson.ValidationDraft) (lesson.Lesson, error) {
	if d.By == "" {
		return l.Service.Validate(ctx, ref, d)
	}
	return l.one(ctx, d.By, "validate_lesson", map[string]any{"lesson": ref, "validation_type": d.Type, "notes": d.Notes})
}

func (l toolLessons) Promote(ctx context.Context, ref string, d lesson.PromotionDraft) (lesson.Lesson, error) {
	return l.one(ctx, d.By, "promote_lesson", map[string]any{"lesson": ref, "source_case_ids": d.Sources, "notes": d.Notes})
}

func (l toolLessons) Retire(ctx context.Context, ref string, d lesson.RetirementDraft) (lesson.Lesson, error) {
	return l.one(ctx, d.By, "retire_lesson", map[string]any{"lesson": ref, "reason": d.Reason, "superseded_by": d.SupersededBy})
}

func (l toolLessons) Restore(ctx context.Context, ref, note string) (lesson.Lesson, error) {
	return l.one(ctx, "", "restore_lesson", map[string]any{"lesson": ref, "note": note})
}

// toolMailbox is the mailbox as far as tools reach: sending, and reading what
// is not acknowledged. Acknowledging goes to the service itself, because the
// tool reads on the way.
type toolMailbox struct {
	comms.MailboxService
	tools *tools
}

func (m toolMailbox) Send(ctx context.Context, d operational.MessageDraft) (comms.Sent, error) {
	if d.To == "" {
		d.To = "*"
	}
	arguments := map[string]any{
		"to_agent_id": d.To, "signal": d.Signal, "priority": d.Priority, "thread_id": d.ThreadID,
		"each": d.Each, "ack_required": d.AckRequired, "ttl_seconds": d.TTLSeconds, "idempotency_key": d.IdempotencyKey,
	}
	if d.Context != nil {
		arguments["context"] = d.Context
	}
	return callTool[comms.Sent](ctx, m.tools, d.From, "send_signal", arguments)
}

func (m toolMailbox) Inbox(ctx context.Context, q comms.InboxQuery) (comms.Inbox, error) {
	if !q.Unacked || q.Thread != "" {
		return m.MailboxService.Inbox(ctx, q)
	}
	page, err := callTool[comms.Inbox](ctx, m.tools, q.AgentID, "check_messages", map[string]any{"since": q.Since, "limit": q.Limit})
	page.Count = len(page.Messages)
	return page, err
}

// run runs what blocks until the test ends.
func run(t *testing.T, running *sync.WaitGroup, blocks func(ctx context.Context) error) {
	running.Go(func() {
		if err := blocks(t.Context()); err != nil {
			t.Errorf("ended with %v", err)
		}
	})
}

// openDatabase opens a database in a folder of its own until the test ends.
func openDatabase(t *testing.T, name string) (*database.DB, *sync.WaitGroup) {
	db, err := databasetest.OpenIn(t, t.TempDir(), name, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	committing, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	committed := make(chan error, 1)
	go func() { committed <- db.Commit.Run(committing) }()
	t.Cleanup(func() {
		running.Wait() // what writes at its end has ended
		stop()
		if err := errors.Join(<-committed, db.Close()); err != nil {
			t.Error(err)
		}
	})
	return db, &running
}

// TestLearningContract holds the tools to what the learning services promise.
func TestLearningContract(t *testing.T) {
	learningtest.Run(t, func(t *testing.T) learningtest.Services {
		db, _ := openDatabase(t, "learning")
		s := learningstore.New(db.Read, db.Commit)
		services := mcpserver.Services{
			Knowledge: knowledge.NewBase(s, learning.Options{}), Episodes: episode.NewEpisodes(s, learning.Options{}),
		}
		c := serveTools(t, services)
		return learningtest.Services{Knowledge: toolKnowledge{services.Knowledge, c}, Episodes: toolEpisodes{services.Episodes, c}}
	})
}

// TestLessonsContract holds the tools to what the lesson service promises.
func TestLessonsContract(t *testing.T) {
	learningtest.RunLessons(t, func(t *testing.T) lesson.Service {
		db, _ := openDatabase(t, "learning")
		lessons := lesson.NewLessons(learningstore.New(db.Read, db.Commit), lesson.Options{})
		return toolLessons{lessons, serveTools(t, mcpserver.Services{Lessons: lessons})}
	})
}

// TestMailboxContract holds the tools to what the mailbox promises.
func TestMailboxContract(t *testing.T) {
	commstest.Run(t, func(t *testing.T) func(principal.Principal) commstest.Services {
		db, running := openDatabase(t, "operational")
		s := operationalstore.New(db.Read, db.Commit)
		log := slog.New(slog.DiscardHandler)
		presence, err := comms.NewPresence(t.Context(), s, nil, time.Now, log, comms.PresenceOptions{})
		if err != nil {
			t.Fatal(err)
		}
		mailbox, err := comms.NewMailbox(t.Context(), presence, s, log, comms.MailboxOptions{})
		if err != nil {
			t.Fatal(err)
		}
		run(t, running, presence.Run)
		run(t, running, mailbox.Run)
		c := serveTools(t, mcpserver.Services{Mailbox: mailbox, Presence: presence})
		return func(principal.Principal) commstest.Services {
			return commstest.Services{Presence: presence, Mailbox: toolMailbox{mailbox, c}}
		}
	})
}
