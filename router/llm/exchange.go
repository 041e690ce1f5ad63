package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/tmaxmax/go-sse"

	"skillrouter/internal/check"
	"skillrouter/internal/principal"
	"skillrouter/learning/episode"
)

// Bounds of what is remembered of exchanges.
const (
	// maxWaiting is how many exchanges wait to be stored; more are dropped: an answer never waits for memory.
	maxWaiting = 64
	// maxHeard bounds what is kept of an answer, in bytes of the wire: a streamed word takes about 200.
	maxHeard = 2 << 20
	// maxQuestion and maxAnswer bound an episode's parts, in bytes: an episode is a note of what was said.
	maxQuestion = 4 << 10
	maxAnswer   = 8 << 10
	// maxTitle bounds an episode's title, in bytes.
	maxTitle = 200
	// recordTime bounds the storing of one exchange.
	recordTime = 10 * time.Second
)

// exchange is a question and an answer, on their way to memory.
type exchange struct {
	draft     episode.Draft
	principal principal.Principal
}

// recording listens to one answer. A nil one hears nothing.
type recording struct {
	question  string
	model     string
	stream    bool
	wish      wishes
	principal principal.Principal
	heard     []byte
	over      bool // more was said than is kept
}

func newRecording(c *conversation, w wishes, caller principal.Principal) *recording {
	question := c.lastSaid()
	if question == "" {
		return nil
	}
	return &recording{question: question, model: c.model, stream: c.stream, wish: w, principal: caller}
}

// add hears a piece of the answer.
func (r *recording) add(piece []byte) {
	if r == nil || r.over {
		return
	}
	if room := maxHeard - len(r.heard); len(piece) > room {
		piece, r.over = piece[:room], true
	}
	r.heard = append(r.heard, piece...)
}

// remember queues an exchange whose answer is whole.
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
	select {
	case p.exchanges <- exchange{draft, r.principal}:
	default:
		p.options.Log.WarnContext(ctx, "an exchange is not remembered: too many wait", "waiting", maxWaiting)
	}
}

// answer is what was said in the answer, whole or in a stream.
func (r *recording) answer() string {
	if !r.stream {
		var reply wireReply
		if r.over || json.Unmarshal(r.heard, &reply) != nil || len(reply.Choices) == 0 || reply.Choices[0].Message.Content == nil {
			return ""
		}
		return *reply.Choices[0].Message.Content
	}
	var said strings.Builder
	for event, err := range sse.Read(bytes.NewReader(r.heard), &sse.ReadConfig{MaxEventSize: MaxPiece}) {
		var piece wireReply
		if err == nil && json.Unmarshal([]byte(event.Data), &piece) == nil && len(piece.Choices) > 0 && piece.Choices[0].Delta.Content != nil {
			said.WriteString(*piece.Choices[0].Delta.Content)
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

// Run stores exchanges until ctx ends, and then those that still wait.
func (p *Proxy) Run(ctx context.Context) error {
	for {
		select {
		case e := <-p.exchanges:
			p.store(ctx, e)
		case <-ctx.Done():
			for {
				select {
				case e := <-p.exchanges:
					p.store(ctx, e)
				default:
					return ctx.Err()
				}
			}
		}
	}
}

// store stores an exchange, also while the process is being stopped.
func (p *Proxy) store(ctx context.Context, e exchange) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	if _, err := p.options.Episodes.Record(principal.With(ctx, e.principal), e.draft); err != nil && !errors.Is(err, context.Canceled) {
		p.options.Log.WarnContext(ctx, "an exchange is not remembered", "error", err)
	}
}
