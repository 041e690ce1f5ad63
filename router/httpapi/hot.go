package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"skillrouter/internal/errs"
)

// maxHotBody is the longest body that a short cut takes, in bytes: a signal
// with the largest context, and what is around it.
const maxHotBody = 80 << 10

// shorten puts a short cut in front of a typed route that is posted to, for the calls
// that agents make all the time. The short cut takes only a body that is
// certainly right: an object whose members are exactly the type's, none null,
// each of its type, and all that are required. Anything else goes on to the typed route, and is decoded,
// validated and refused there as everywhere else.
func shorten[I, O any](s *Server, path string, handle func(ctx context.Context, body I) (O, error)) {
	members := jsonMembers(reflect.TypeFor[I]())
	s.hot[path] = func(c *gin.Context) bool {
		r := c.Request
		if r.Method != http.MethodPost || r.ContentLength <= 0 || r.ContentLength > maxHotBody || r.URL.RawQuery != "" ||
			r.Header.Get("Content-Type") != "application/json" {
			return false
		}
		buffer := bodies.Get().(*bytes.Buffer)
		defer bodies.Put(buffer)
		buffer.Reset()
		_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Now().Add(BodyTimeout)) // as the typed route does
		_, err := buffer.ReadFrom(r.Body)
		body := buffer.Bytes()
		if err != nil { // the typed route would wait as long once more
			abort(c, newProblem(errs.Unavailable, "", "the body did not arrive in time"))
			return true
		}
		var in I
		if !utf8.Valid(body) || json.Unmarshal(body, &in) != nil || !members.exact(body) {
			r.Body = &reread{Reader: bytes.NewReader(bytes.Clone(body)), Closer: r.Body}
			return false
		}
		ctx := r.Context()
		out, err := handle(ctx, in)
		if err != nil {
			abort(c, s.fail(ctx, err))
			return true
		}
		text, err := json.Marshal(out)
		if err != nil {
			abort(c, s.fail(ctx, err))
			return true
		}
		c.Header("Content-Type", "application/json")
		_, _ = c.Writer.Write(text) // a client that has gone cannot be told
		return true
	}
}

// takeShortCut answers what a short cut takes, and lets the rest go on.
func (s *Server) takeShortCut(c *gin.Context) {
	if hot := s.hot[c.FullPath()]; hot != nil && hot(c) {
		c.Abort()
		return
	}
	c.Next()
}

// reread is a body that was read already.
type reread struct {
	io.Reader
	io.Closer
}

// members is what an object may hold: a bit for each name, and which must be there.
type members struct {
	bits     map[string]uint64
	required uint64
}

// jsonMembers reads from a struct's tags what huma reads from them: a member
// without omitempty is required.
func jsonMembers(t reflect.Type) members {
	m := members{bits: map[string]uint64{}}
	for i := range t.NumField() {
		name, options, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		m.bits[name] = 1 << i
		if !strings.Contains(options, "omit") {
			m.required |= 1 << i
		}
	}
	return m
}

// exact tells whether a text is an object that has only these members, each once,
// spelt exactly so, none of them null, and all that are required; and whether it
// writes no character as a surrogate, halves of which are refused. encoding/json
// would let all of it pass. The text must be valid JSON. A name that holds an
// escape is taken for none of them.
func (m members) exact(text []byte) bool {
	if text = bytes.TrimLeft(text, " \t\r\n"); text[0] != '{' {
		return false
	}
	depth, seen := 0, uint64(0)
	var name []byte
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			start := i + 1
			for i++; text[i] != '"'; i++ {
				if text[i] == '\\' {
					if i++; text[i] == 'u' && (text[i+1] == 'd' || text[i+1] == 'D') && text[i+2] > '7' {
						return false
					}
				}
			}
			name = text[start:i]
		case ':':
			if depth != 1 {
				continue
			}
			bit := m.bits[string(name)]
			if bit == 0 || seen&bit != 0 {
				return false
			}
			seen |= bit
			for i++; strings.IndexByte(" \t\r\n", text[i]) >= 0; i++ {
			}
			if text[i] == 'n' {
				return false
			}
			i-- // the value's first byte is looked at in its turn
		}
	}
	return seen&m.required == m.required
}
