package httpapi

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// Bounds of conversations.
const (
	// MaxChatBody bounds a conversation, in bytes: files and pictures are sent within it.
	MaxChatBody = 16 << 20
	// chatPath is where all that an OpenAI client calls lies.
	chatPath = "/v1/"
)

// chatRoutes mounts what an OpenAI client calls of a model. They are plain
// handlers: what passes through is the endpoint's, and no type of ours.
func (s *Server) chatRoutes() {
	if s.services.Chat == nil {
		return
	}
	for _, path := range []string{"chat/completions", "completions", "embeddings", "responses", "responses/*of"} {
		s.engine.POST(chatPath+path, s.chat)
	}
	s.engine.GET(chatPath+"models", s.chat)
	s.engine.GET(chatPath+"models/*id", s.chat) // names of models hold slashes
	s.engine.GET(chatPath+"responses/*of", s.chat)
	s.engine.DELETE(chatPath+"responses/*of", s.chat)
}

func (s *Server) chat(c *gin.Context) {
	control := http.NewResponseController(c.Writer)
	_ = control.SetWriteDeadline(time.Time{}) // a model thinks as long as it does; who writes sets another
	// Deadlines of connections are told by the system's clock, not by the injected one.
	body := &patientReader{body: c.Request.Body, extend: func() { _ = control.SetReadDeadline(time.Now().Add(bulkIdle)) }}
	c.Request.Body = timely(http.MaxBytesReader(nil, struct {
		io.Reader
		io.Closer
	}{body, c.Request.Body}, MaxChatBody), control)
	s.services.Chat.ServeHTTP(c.Writer, c.Request)
}

// timely is a body that is read under a deadline, which ends with it: the
// silence of who waits for the answer would count as gone. A body that breaks off
// keeps it, or the server would wait for the rest.
func timely(body io.ReadCloser, control *http.ResponseController) io.ReadCloser {
	return &chatBody{ReadCloser: body, ended: func() { _ = control.SetReadDeadline(time.Time{}) }}
}

// chatBody tells when it has been read to its end.
type chatBody struct {
	io.ReadCloser
	ended func()
}

// Read implements io.Reader.
func (b *chatBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.ended()
	}
	return n, err
}

// isChat tells whether a request is an OpenAI client's.
func isChat(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, chatPath) }

// chatProblem is the body of an error as OpenAI's clients read it,
// https://platform.openai.com/docs/guides/error-codes.
type chatProblem struct {
	Error struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    string  `json:"code"`
	} `json:"error"`
}

// WriteChatProblem answers an OpenAI client with err.
func WriteChatProblem(w http.ResponseWriter, err error) {
	p := problemOf(err)
	var body chatProblem
	body.Error.Message, body.Error.Code, body.Error.Type = p.Detail, string(p.Code), "invalid_request_error"
	switch {
	case p.Code == errs.Unauthenticated:
		body.Error.Type = "authentication_error"
	case p.Code == errs.Forbidden, p.Code == errs.PassphraseNeeded:
		body.Error.Type = "permission_error"
	case p.Code == errs.RateLimited:
		body.Error.Type = "rate_limit_error"
	case p.Status >= http.StatusInternalServerError:
		body.Error.Type = "server_error"
	}
	if p.Field != "" {
		body.Error.Param = &p.Field
	}
	text, _ := json.Marshal(body) // texts alone cannot fail
	writeRefusal(w, p.Status, "application/json", text)
}
