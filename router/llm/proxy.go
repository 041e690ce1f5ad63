package llm

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/skillrouter/skillrouter/internal/deadline"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/router/contexts"
)

// version is the path that clients ask below.
const version = "/v1"

// ProxyOptions are a Proxy's settings. The zero value answers that nothing is configured.
type ProxyOptions struct {
	// Context gathers memory; nil: there is none.
	Context contexts.Service
	// Episodes remembers exchanges; nil: they are not remembered. Run must run then.
	Episodes episode.Service
	// Budget is how many tokens of memory a conversation gets unless it says otherwise; 0: none.
	Budget int
	// Window is how many tokens the endpoint's models take; 0: not known.
	Window int
	// MemoryTime is how long a conversation waits for memory; 0: 300 ms.
	MemoryTime time.Duration
	// WriteTime is how long a client may take to accept a piece of an answer; 0: 30 s.
	WriteTime time.Duration
	Log       *slog.Logger
}

// Proxy serves an OpenAI-compatible API in front of an Endpoint, and puts memory
// in front of its models. Answers pass through as they come.
type Proxy struct {
	endpoint  *Endpoint
	fail      func(w http.ResponseWriter, err error)
	options   ProxyOptions
	exchanges *semaphore.Weighted // those on their way to memory
}

// NewProxy makes a Proxy of an endpoint, nil if none is configured. What the Proxy itself
// refuses is answered by fail, in the shape that OpenAI's clients read.
func NewProxy(endpoint *Endpoint, fail func(w http.ResponseWriter, err error), options ProxyOptions) *Proxy {
	if options.MemoryTime <= 0 {
		options.MemoryTime = memoryTime
	}
	if options.WriteTime <= 0 {
		options.WriteTime = 30 * time.Second
	}
	options.Log = defaults.Log(options.Log)
	return &Proxy{endpoint: endpoint, fail: fail, options: options, exchanges: semaphore.NewWeighted(maxWaiting)}
}

// ServeHTTP implements http.Handler. The request's body is bounded by whoever mounts it.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	wish := wishes{}
	if r.Method == http.MethodGet && !strings.HasPrefix(r.URL.Path, version+"/responses/") { // a kept response is somebody's conversation
		if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
			p.fail(w, err)
			return
		}
	} else {
		var err error
		if wish, err = wishesOf(r, p.options.Budget); err != nil {
			p.fail(w, err)
			return
		}
	}
	if p.endpoint == nil {
		p.refuse(w, errs.Errorf(errs.Unavailable,
			"no model is configured: set llm.base_url (SKILLROUTER_LLM_BASE_URL) to an OpenAI-compatible endpoint such as http://127.0.0.1:11434/v1, and restart the router"))
		return
	}
	path, err := below(r.URL)
	if err != nil {
		p.fail(w, err)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		if _, over := errors.AsType[*http.MaxBytesError](err); over {
			err = errs.Wrap(errs.TooLarge, err, "the request is too large")
		} else {
			err = errs.Wrap(errs.Invalid, err, "the request's body did not arrive")
		}
		p.fail(w, err)
		return
	}
	var record *recording
	if path == "/chat/completions" {
		memory := "none: this is no conversation" // the endpoint will say so better
		if c, err := parseConversation(body); err == nil {
			if wish.record && p.options.Episodes != nil {
				record = newRecording(c, wish)
			}
			body, memory = p.remembered(ctx, c, wish)
		}
		w.Header().Set(HeaderMemory, memory)
	}
	p.forward(w, r, path, body, record)
}

// forward asks the endpoint and hands its answer on, each piece as soon as it comes. If one does not come, the client must
// see that the answer is not whole, as it would without a proxy: the connection ends.
func (p *Proxy) forward(w http.ResponseWriter, r *http.Request, path string, body []byte, record *recording) {
	ctx := r.Context()
	if len(body) == 0 {
		body = nil
	}
	proxy := httputil.ReverseProxy{
		Rewrite: func(asked *httputil.ProxyRequest) {
			strip(asked.Out.Header, onlyHere)
			if record != nil {
				asked.Out.Header.Del("Accept-Encoding") // what is packed cannot be remembered
			}
		},
		Transport: asks(func(asked *http.Request) (*http.Response, error) {
			return p.endpoint.open(ctx, call{method: r.Method, path: path, body: body, header: asked.Header, transparent: true})
		}),
		ModifyResponse: func(response *http.Response) error {
			if response.StatusCode/100 == 3 {
				return p.endpoint.refused(response)
			}
			strip(response.Header, onlyThere)
			for name := range response.Header {
				w.Header().Del(name)
			}
			if record != nil {
				packed := response.StatusCode != http.StatusOK || response.Header.Get("Content-Encoding") != ""
				response.Body = &listener{ReadCloser: response.Body, recording: record, deaf: packed}
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			if errors.Is(err, errFirstByte) {
				w.Header().Set("X-Should-Retry", "false") // OpenAI's clients would wait as long again, twice
			}
			p.refuse(w, err)
		},
		FlushInterval: -1,
		ErrorLog:      slog.NewLogLogger(p.options.Log.Handler(), slog.LevelWarn),
	}
	proxy.ServeHTTP(deadline.New(w, p.options.WriteTime), r)
	if record != nil && record.complete {
		p.remember(ctx, record)
	}
}

// asks is a function as a transport.
type asks func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (a asks) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

// refuse answers what is not the caller's fault.
func (p *Proxy) refuse(w http.ResponseWriter, err error) {
	p.options.Log.Warn("the model's endpoint was not asked, or did not answer", "error", err)
	p.fail(w, err)
}

// below returns what a URL asks for below the version's path, with its query.
// Paths that lead elsewhere at the endpoint are refused.
func below(u *url.URL) (string, error) {
	path, ok := strings.CutPrefix(u.EscapedPath(), version)
	if !ok || !strings.HasPrefix(path, "/") {
		return "", errs.Errorf(errs.NotFound, "there is no such path here")
	}
	for segment := range strings.SplitSeq(path, "/") {
		plain, err := url.PathUnescape(segment)
		if err != nil || strings.ContainsAny(plain, "\\\x00") {
			return "", errs.Errorf(errs.NotFound, "there is no such path here")
		}
		for part := range strings.SplitSeq(plain, "/") {
			if part == "." || part == ".." {
				return "", errs.Errorf(errs.NotFound, "there is no such path here")
			}
		}
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return path, nil
}
