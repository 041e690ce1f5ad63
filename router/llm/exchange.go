package llm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/tidwall/gjson"
	"github.com/tmaxmax/go-sse"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/learning/episode"
)

// Bounds of what is remembered of exchanges.
const (
	// maxWaiting is how many exchanges may be on their way to memory; more are dropped: an answer never waits for memory.
	maxWaiting = 64
	// maxHeard bounds what is kept of an answer, in bytes of the wire: a streamed word takes about 200.
	maxHeard = 2 << 20
	// maxQuestion and maxAnswer bound an episode's parts, in bytes: an episode is a note of what was said.
	maxQuestion = 4 << 10
	maxAnswer   = 8 << 10
	// maxPiece bounds one line of a stream, in bytes.
	maxPiece = 1 << 20
	// maxTitle bounds an episode's title, in bytes.
	maxTitle = 200
	// recordTime bounds the storing of one exchange.
	recordTime = 10 * time.Second
)

// recording is what is heard of one answer.
type recording struct {
	question string
	model    string
	stream   bool
	wish     wishes
	heard    []byte
	over     bool // more was said than is kept
	complete bool // the answer came to its end
}

func newRecording(c *conversation, w wishes) *recording {
	question := c.lastSaid()
	if question == "" {
		return nil
	}
	return &recording{question: question, model: c.model, stream: c.stream, wish: w}
}

// listener hears the pieces of an answer as they are read.
type listener struct {
	io.ReadCloser
	*recording
	deaf bool // it is no answer that is remembered
}

// Read implements io.Reader.
func (l *listener) Read(piece []byte) (int, error) {
	n, err := l.ReadCloser.Read(piece)
	room := maxHeard - len(l.heard)
	l.heard, l.over = append(l.heard, piece[:min(n, room)]...), l.over || n > room
	l.complete = errors.Is(err, io.EOF) && !l.deaf
	return n, err
}

// remember stores an exchange whose answer is whole, behind the answer.
func (p *Proxy) remember(ctx context.Context, r *recording) {
	answer := strings.TrimSpace(r.answer())
	if answer == "" {
		return // a call of tools is a step of an exchange, and no answer yet
	}
	title, _, _ := strings.Cut(r.question, "\n")
	content := "Question:\n" + beginning(r.question, maxQuestion) + "\n\nAnswer"
	if r.model != "" {
		content += " by " + beginning(strings.ToValidUTF8(r.model, "\uFFFD"), maxTitle)
	}
	content += ":\n" + beginning(answer, maxAnswer)
	draft := episode.Draft{
		AgentID: r.wish.agent, Project: r.wish.project, Persona: r.wish.persona, EventType: "outcome",
		Title: strings.TrimSpace(beginning(title, maxTitle)), Content: content,
	}
	if !p.exchanges.TryAcquire(1) {
		p.options.Log.WarnContext(ctx, "an exchange is not remembered: too many wait", "waiting", maxWaiting)
		return
	}
	go func() {
		defer p.exchanges.Release(1)
		p.store(ctx, draft)
	}()
}

// answer is what was said in the answer, whole or in a stream.
func (r *recording) answer() string {
	if !r.stream {
		if r.over || !gjson.ValidBytes(r.heard) {
			return ""
		}
		return gjson.GetBytes(r.heard, "choices.0.message.content").Str
	}
	var said strings.Builder
	for event, err := range sse.Read(bytes.NewReader(r.heard), &sse.ReadConfig{MaxEventSize: maxPiece}) {
		if err == nil {
			said.WriteString(gjson.Get(event.Data, "choices.0.delta.content").Str)
		}
	}
	return said.String()
}

// beginning is the beginning of a text, with a mark where it is cut.
func beginning(text string, limit int) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
	if len(text) <= limit {
		return text
	}
	return check.Head(text, limit) + " […]"
}

// Run waits until ctx ends, and then for the exchanges that are on their way to memory.
func (p *Proxy) Run(ctx context.Context) error {
	<-ctx.Done()
	_ = p.exchanges.Acquire(context.WithoutCancel(ctx), maxWaiting)
	return ctx.Err()
}

// store stores an exchange, also when the request is over or the process is being stopped.
func (p *Proxy) store(ctx context.Context, draft episode.Draft) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	if _, err := p.options.Episodes.Record(ctx, draft); err != nil {
		p.options.Log.WarnContext(ctx, "an exchange is not remembered", "error", err)
	}
}
