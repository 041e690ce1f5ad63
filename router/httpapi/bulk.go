package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Bounds of a bulk call.
const (
	// bulkIdle is how long the client may take for a piece of the body.
	bulkIdle = 10 * time.Second
	// bulkPiece is what the client must send within that, in bytes: one that sends a byte
	// at a time would hold a connection for days.
	bulkPiece = 1 << 10
	// bulkAnswer is how long the client may take to accept the answer, and to send what is
	// still read of a body with a fault in it.
	bulkAnswer = 10 * time.Second
	// bulkDrain is how much of a body is still read, and dropped, after it was answered:
	// most clients read no answer before they have sent everything.
	bulkDrain = 32 << 20
)

// bulk is a call that takes many records, sent as a JSON array or as one JSON
// object a line. It is mounted beside huma, which would hold the whole body in
// memory and know nothing of lines.
type bulk[Draft, Result, Broken any] struct {
	op     huma.Operation
	need   principal.Scope // whoever has it not is refused before a byte of the body is read
	limit  int64           // of the body, in bytes; 0: none
	record int             // bytes of JSON that a record may have
	object reflect.Type    // what a body of JSON may be besides, with the records in it; nil: nothing
	// store reads the records until io.EOF and does with them what the call is for.
	// Beside an error, its result tells what was done before.
	store func(ctx context.Context, from *records[Draft]) (Result, error)
	// broken is the answer to a call that was broken off.
	broken func(p *Problem, result Result) Broken
}

// mount serves the call and describes it.
func (b bulk[Draft, Result, Broken]) mount(s *Server) {
	s.engine.POST(b.op.Path, func(c *gin.Context) { b.serve(s, c) })

	s.describe(func(document *huma.OpenAPI) {
		op, registry := b.op, document.Components.Schemas
		draft := reflect.TypeFor[Draft]()
		body := reflect.SliceOf(draft)
		if b.object != nil { // records of any kind
			draft, body = reflect.TypeFor[json.RawMessage](), b.object
		}
		drafts := registry.Schema(body, true, "Drafts")
		line := registry.Schema(draft, true, "Draft")
		op.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			"application/json":     {Schema: drafts},
			"application/x-ndjson": {Schema: line},
		}}
		result := registry.Schema(reflect.TypeFor[Result](), true, "Result")
		broken := registry.Schema(reflect.TypeFor[Broken](), true, "BulkProblem")
		op.Responses = map[string]*huma.Response{
			"200":     {Description: "What became of the records", Content: map[string]*huma.MediaType{"application/json": {Schema: result}}},
			"default": {Description: "Broken off", Content: map[string]*huma.MediaType{"application/problem+json": {Schema: broken}}},
		}
		document.AddOperation(&op)
	})
}

func (b bulk[Draft, Result, Broken]) serve(s *Server, c *gin.Context) {
	ctx := c.Request.Context()
	var none Result
	body, err := openBulk(c, b.need, b.limit)
	if err != nil {
		p := s.fail(ctx, err)
		body.refuse(c, p, b.broken(p, none))
		return
	}
	records := newRecords[Draft](body, b.record, c.ContentType() == "application/json")
	result, err := b.store(ctx, records)
	if err == nil && !records.begun && records.json {
		err = errs.Errorf(errs.Invalid, "the body is empty: an array is needed")
	}
	if err = body.fault(err); err != nil {
		p := s.fail(ctx, err)
		body.refuse(c, p, b.broken(p, result))
		return
	}
	body.answer(s, c, result)
}

// bulkBody is the body of a bulk call.
type bulkBody struct {
	patientReader
	unlimited io.Reader // without the limit
	limit     int64
	control   *http.ResponseController
}

// openBulk begins a bulk call. Beside an error the body is there, to be refused.
func openBulk(c *gin.Context, need principal.Scope, limit int64) (*bulkBody, error) {
	b := &bulkBody{unlimited: c.Request.Body, limit: limit, control: http.NewResponseController(c.Writer)}
	_ = b.control.EnableFullDuplex()            // who is refused hears of it before the rest of the body has come
	_ = b.control.SetWriteDeadline(time.Time{}) // it is set when there is an answer to write
	// Deadlines of connections are told by the system's clock, not by the injected one.
	b.patientReader = patientReader{body: b.unlimited, extend: func() { _ = b.control.SetReadDeadline(time.Now().Add(bulkIdle)) }}
	if err := principal.Of(c.Request.Context()).Need(need); err != nil {
		return b, err
	}
	if limit > 0 {
		if c.Request.ContentLength > limit {
			return b, b.tooLong(nil)
		}
		b.body = http.MaxBytesReader(nil, c.Request.Body, limit)
	}
	return b, nil
}

func (b *bulkBody) tooLong(cause error) error {
	return &errs.Error{Code: errs.TooLarge, Message: fmt.Sprintf("the body is longer than %d bytes: send it in parts", b.limit), Err: cause}
}

// fault is what went wrong, with the limit of the body said in words.
func (b *bulkBody) fault(err error) error {
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		b.ended = false // of the limit, not of the body
		return b.tooLong(err)
	}
	return err
}

// refuse answers with a problem, or a document that has its members, and reads
// what still comes of the body: whoever sends before he listens would hear of
// nothing but a broken connection.
func (b *bulkBody) refuse(c *gin.Context, p *Problem, document any) {
	_ = b.control.SetWriteDeadline(time.Now().Add(bulkAnswer))
	c.Header("Connection", "close") // what is left of the body is no further request
	writeProblem(c.Writer, p, document)
	if b.ended || b.control.Flush() != nil || c.GetHeader("Expect") != "" {
		return
	}
	_ = b.control.SetReadDeadline(time.Now().Add(bulkAnswer))
	_, _ = io.CopyN(io.Discard, b.unlimited, bulkDrain) // its end, or its failure, changes nothing
	_ = b.control.SetReadDeadline(time.Now())           // and the server need not wait for the rest
}

// answer answers with what was done.
func (b *bulkBody) answer(s *Server, c *gin.Context, result any) {
	_ = b.control.SetWriteDeadline(time.Now().Add(bulkAnswer))
	text, err := json.Marshal(result)
	if err != nil {
		abort(c, s.fail(c.Request.Context(), err))
		return
	}
	c.Data(http.StatusOK, "application/json", text)
}

// patientReader gives the client more time with each piece of bulkPiece bytes that it sends.
type patientReader struct {
	body   io.Reader
	extend func()
	owed   int  // bytes until there is more time
	ended  bool // there is no more, or it cannot be had
}

// Read implements io.Reader.
func (r *patientReader) Read(p []byte) (int, error) {
	if r.owed <= 0 {
		r.extend()
		r.owed = bulkPiece
	}
	n, err := r.body.Read(p)
	r.owed -= n
	r.ended = r.ended || err != nil
	return n, err
}

const knowledgePath = "/api/knowledge"

// Knowledge is the service with what is asked for over HTTP alone.
type Knowledge interface {
	knowledge.Service
	Bulk(ctx context.Context, next func() (knowledge.Draft, error)) (learning.BulkResult, error)
	List(ctx context.Context, filter knowledge.Filter) (knowledge.Page, error)
}

// maxEntry bounds one entry of a bulk call, in bytes of JSON: the largest
// content, half of it escaped.
const maxEntry = 2 << 20

// bulkProblem is the answer to a bulk call that was broken off: the stream is
// stored as it comes in, and so it also says what was stored.
type bulkProblem struct {
	*Problem
	learning.BulkResult
}

func (s *Server) bulkRoute(k Knowledge) {
	op := documented(http.MethodPost, knowledgePath+"/bulk", "knowledge", "Store many entries, sent as a JSON array or as one JSON object a line")
	op.Description = "The body is stored while it arrives; its length is not bounded, a record's is. Records that are refused are listed and stop nothing, up to 10,000. " +
		"If the body is broken off or malformed, or the disk gets full, the problem that is answered also has the counts: what was stored before stays stored."
	bulk[knowledge.Draft, learning.BulkResult, bulkProblem]{
		op: op, need: principal.ScopeAgent, record: maxEntry,
		store: func(ctx context.Context, from *records[knowledge.Draft]) (learning.BulkResult, error) {
			return k.Bulk(ctx, from.next)
		},
		broken: func(p *Problem, result learning.BulkResult) bulkProblem { return bulkProblem{p, result} },
	}.mount(s)
}

// Bounds of a bulk report. Its lessons may name each other as sources, in any
// order, and so they are reported together: unlike knowledge, they are held in
// memory until the last has come in.
const (
	// maxLessonsBody bounds the body, in bytes: 10,000 lessons of 3 KiB each.
	maxLessonsBody = 32 << 20
	// maxLessons bounds how many lessons it has: what they become takes half a KiB each
	// and as much again while they are reported, however short they are.
	maxLessons = 50_000
	// lessonGroup is how many of them are made room for at a time.
	lessonGroup = 64
)

// lessonsProblem is the answer to a bulk report that was broken off, with what
// was stored before.
type lessonsProblem struct {
	*Problem
	lesson.BulkReported
}

// lessonBulkRoutes mounts both calls of MNEMOSYNE that take a list of lessons.
func (s *Server) lessonBulkRoutes(lessons lesson.Service) {
	turn := make(chan struct{}, 1) // two lists would be held in memory to be written one after the other
	for path, summary := range map[string]string{
		"/lessons/bulk":            "Report many lessons, sent as a JSON array or as one JSON object a line",
		"/claude-code/session-end": "Report all that a session taught; the same as /lessons/bulk",
	} {
		op := documented(http.MethodPost, path, "lessons", summary)
		op.Description = "Lessons that are refused are listed by their place and stop nothing; the same lesson again is another occurrence. " +
			"The body has at most 32 MiB and 50,000 lessons. If it is broken off or malformed, nothing is stored."
		bulk[lesson.Draft, lesson.BulkReported, lessonsProblem]{
			op: op, need: principal.ScopeAgent, limit: maxLessonsBody, record: maxLesson,
			store: func(ctx context.Context, from *records[lesson.Draft]) (lesson.BulkReported, error) {
				return takeTurn(ctx, turn, func() (lesson.BulkReported, error) { return reportAll(ctx, lessons, from.next) })
			},
			broken: func(p *Problem, result lesson.BulkReported) lessonsProblem { return lessonsProblem{p, result} },
		}.mount(s)
	}
}

// reportAll reads the drafts and reports those that can be read; places in the answer are those in the request.
func reportAll(ctx context.Context, lessons lesson.Service, next func() (lesson.Draft, error)) (lesson.BulkReported, error) {
	none := lesson.BulkReported{Results: []lesson.BulkOutcome{}, Refused: []learning.Refusal{}}
	var groups [][]lesson.Draft // they grow by groups: one list that grows would be held several times over
	var places []int            // of the drafts in the request
	var unread []learning.Refusal
	for at := 0; ; at++ {
		draft, err := next()
		bad, unfit := errors.AsType[*knowledge.BadRecord](err)
		switch {
		case errors.Is(err, io.EOF):
			return report(ctx, lessons, slices.Concat(groups...), places, unread)
		case err != nil && !unfit:
			return none, err
		case at == maxLessons:
			return none, errs.Errorf(errs.TooLarge, "the body has more than %d lessons: send it in parts", maxLessons)
		case unfit:
			unread = append(unread, learning.Refusal{Index: at, Field: errs.FieldOf(bad.Err), Error: problemOf(bad.Err).Detail})
		default:
			if len(places)%lessonGroup == 0 {
				groups = append(groups, make([]lesson.Draft, 0, lessonGroup))
			}
			last := &groups[len(groups)-1]
			*last, places = append(*last, draft), append(places, at)
		}
	}
}

func report(ctx context.Context, lessons lesson.Service, drafts []lesson.Draft, places []int, unread []learning.Refusal) (result lesson.BulkReported, err error) {
	if len(drafts) > 0 {
		result, err = lessons.ReportAll(ctx, drafts)
	}
	for i := range result.Results {
		result.Results[i].Index = places[result.Results[i].Index]
	}
	for i := range result.Refused {
		result.Refused[i].Index = places[result.Refused[i].Index]
	}
	result.Results = append([]lesson.BulkOutcome{}, result.Results...) // a list even if it is empty
	result.Refused = append(append([]learning.Refusal{}, result.Refused...), unread...)
	slices.SortFunc(result.Refused, func(a, b learning.Refusal) int { return a.Index - b.Index })
	result.Refused = result.Refused[:min(len(result.Refused), learning.MaxRefusals)]
	result.RefusedCount += len(unread)
	return result, err
}
