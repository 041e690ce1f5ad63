// Package webhook tells one other program that something newly waits for a person: what kind it is, its id and since when,
// and never what it says. It owns the message on its way, what was told already, and the signature. It must delay nobody.
package webhook

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"skillrouter/internal/clock"
	"skillrouter/internal/committer"
	"skillrouter/internal/principal"
	"skillrouter/router/decision"
)

// Bounds.
const (
	// gather is how long what happens is gathered before it is looked what waits, so that a busy team costs a look now and then.
	gather = 2 * time.Second
	// lookAgain is how often it is looked though nothing happened: an incident that comes to wait is no event.
	lookAgain = time.Minute
	// sendTime bounds one attempt. A receiver notes a message and answers; it does not work on it meanwhile.
	sendTime = 10 * time.Second
	// firstWait is the wait after the first attempt that failed; it doubles with each, up to maxWait.
	firstWait = 5 * time.Second
	maxWait   = time.Hour
	// maxAttempts is how often one message is sent at most: for about ten hours, a night.
	maxAttempts = 20
	// maxItems bounds what one message tells, to some 15 KB. What has no room comes with the next.
	maxItems = 100
	// maxTold bounds what is remembered of what was told: twice what can wait at once.
	maxTold = 2 * 7 * decision.MaxWaiting
	// answerRead and maxHeader bound what is read of an answer, in bytes: it says nothing that is needed.
	answerRead = 64 << 10
	maxHeader  = 64 << 10
)

// Waiting is who knows what waits.
type Waiting interface {
	Waiting(ctx context.Context) (decision.Waiting, error)
}

// Options are a Hook's settings.
type Options struct {
	Secret    Secret
	Dashboard string // address of the page where it is decided
	// State is what Save was last given; what cannot be read counts as none. Save keeps it through a restart.
	State   []byte
	Save    func(state []byte) error
	Changed *committer.Bell // rings when anything happened
	Now     clock.Clock
	Log     *slog.Logger
	// Pause waits, until wake at most, and Timeout bounds an attempt; zero values mean the real ones.
	Pause   func(ctx context.Context, d time.Duration, wake <-chan struct{}) error
	Timeout time.Duration
}

// Hook sends messages to one address.
type Hook struct {
	url     string
	waiting Waiting
	options Options
	http    *http.Client
	state   state

	mu     sync.Mutex
	status Status
}

// Status is how it goes, since the start.
type Status struct {
	Sent, Dropped int64
	Attempts      int    // of the message on its way that failed
	Error         string // of the last of these
}

// state is what outlives a restart.
type state struct {
	Number  int64            `json:"number"`            // of the newest message
	Told    map[string]int64 `json:"told"`              // what waits and was told, and the number of the message
	Message *message         `json:"message,omitempty"` // on its way
}

// message is sent until it is taken, the same with each attempt.
type message struct {
	ID       string          `json:"id"`
	Body     json.RawMessage `json:"body"`
	Attempts int             `json:"attempts"`
}

// said is a message's body, in the form of https://www.standardwebhooks.com.
type said struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      data      `json:"data"`
}

type data struct {
	URL   string `json:"url"`
	Items []item `json:"items"`
}

// item is what waits, without a word of what it says.
type item struct {
	Kind  decision.Kind `json:"kind"`
	ID    string        `json:"id"`
	Since time.Time     `json:"since"`
}

// New makes a Hook. It connects to nothing before something waits.
func New(address string, waiting Waiting, options Options) *Hook {
	if options.Pause == nil {
		options.Pause = committer.PauseUntil
	}
	options.Timeout = cmp.Or(options.Timeout, sendTime)
	h := &Hook{url: address, waiting: waiting, options: options, http: &http.Client{
		// What is configured is dialled and nothing else: no proxy of the environment, no redirection.
		Transport:     &http.Transport{DialContext: (&net.Dialer{Timeout: options.Timeout}).DialContext, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxHeader},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if len(options.State) > 0 {
		if err := json.Unmarshal(options.State, &h.state); err != nil {
			options.Log.Warn("what the webhook told cannot be read: what waits is told once more", "error", err)
			h.state = state{}
		}
	}
	if h.state.Told == nil {
		h.state.Told = map[string]int64{}
	}
	return h
}

// Host is where messages go, without the path, which may hold a secret.
func Host(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// Status tells how it goes.
func (h *Hook) Status() Status {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.status
}

// Run tells what newly waits until ctx ends. What is on its way then is sent by the next start.
func (h *Hook) Run(ctx context.Context) error {
	defer h.http.CloseIdleConnections()
	for ctx.Err() == nil {
		rung := h.options.Changed.Wait()
		if h.state.Message == nil {
			if err := h.look(ctx); err != nil && ctx.Err() == nil {
				h.options.Log.WarnContext(ctx, "the webhook cannot tell what waits", "error", err)
			}
		}
		if h.state.Message != nil {
			if wait := h.attempt(ctx); wait > 0 {
				_ = h.options.Pause(ctx, wait, nil)
			}
			continue
		}
		if h.options.Pause(ctx, lookAgain, rung) == nil {
			_ = h.options.Pause(ctx, gather, nil)
		}
	}
	return nil
}

// look makes a message of what waits and was not told. What no longer waits is forgotten, so that it is told if it comes to wait again.
func (h *Hook) look(ctx context.Context) error {
	waiting, err := h.waiting.Waiting(principal.With(ctx, principal.System()))
	if err != nil {
		return err
	}
	items, there := waiting.Items(), map[string]bool{}
	for _, i := range items {
		there[i.Key] = true
	}
	before := len(h.state.Told)
	maps.DeleteFunc(h.state.Told, func(key string, _ int64) bool {
		kind, _, _ := strings.Cut(key, ":")
		return !there[key] && !waiting.Full[decision.Kind(kind)] // where the list is full it may wait behind its end
	})
	var fresh []item
	for _, i := range items {
		if _, told := h.state.Told[i.Key]; !told && len(fresh) < maxItems {
			fresh = append(fresh, item{i.Kind, i.ID, i.Since.UTC()})
			h.state.Told[i.Key] = h.state.Number + 1
		}
	}
	if len(fresh) > 0 {
		body, err := json.Marshal(said{"decision.waiting", h.options.Now().UTC(), data{h.options.Dashboard, fresh}})
		if err != nil { // a time beyond what JSON can say
			return err
		}
		h.state.Number++
		h.state.Message = &message{ID: "msg_" + rand.Text(), Body: body}
		h.forget()
	} else if len(h.state.Told) == before {
		return nil
	}
	h.save(ctx)
	return nil
}

// forget drops what was told first, if more is remembered than may be.
func (h *Hook) forget() {
	if len(h.state.Told) <= maxTold {
		return
	}
	keys := slices.SortedFunc(maps.Keys(h.state.Told), func(a, b string) int { return cmp.Compare(h.state.Told[a], h.state.Told[b]) })
	for _, key := range keys[:len(keys)-maxTold] {
		delete(h.state.Told, key)
	}
}

// attempt sends the message once, and returns how long to wait for the next attempt: 0 if there is none.
func (h *Hook) attempt(ctx context.Context) time.Duration {
	m := h.state.Message
	err := h.send(ctx, m)
	if err != nil && ctx.Err() != nil {
		return 0 // the router stops: that says nothing of the receiver
	}
	m.Attempts++
	log := h.options.Log.With("to", Host(h.url), "message", m.ID, "attempts", m.Attempts)
	var wait time.Duration
	h.mu.Lock()
	switch {
	case err == nil:
		h.status = Status{Sent: h.status.Sent + 1, Dropped: h.status.Dropped}
		h.state.Message = nil
	case m.Attempts >= maxAttempts:
		h.status = Status{Sent: h.status.Sent, Dropped: h.status.Dropped + 1}
		h.state.Message = nil
	default:
		h.status.Attempts, h.status.Error = m.Attempts, err.Error()
		wait = min(maxWait, firstWait<<(m.Attempts-1))
	}
	h.mu.Unlock()
	switch {
	case err == nil && m.Attempts > 1:
		log.InfoContext(ctx, "the webhook's receiver takes messages again")
	case err != nil && wait == 0:
		log.ErrorContext(ctx, "a webhook's message is given up", "error", err)
	case err != nil && m.Attempts == 1:
		log.WarnContext(ctx, "the webhook's receiver takes no message; it is sent again", "error", err)
	}
	h.save(ctx)
	return wait
}

// save keeps the state. Without it the router goes on, and tells something twice after a restart.
func (h *Hook) save(ctx context.Context) {
	text, err := json.Marshal(h.state)
	if err == nil {
		err = h.options.Save(text)
	}
	if err != nil {
		h.options.Log.WarnContext(ctx, "what the webhook told cannot be kept: after a restart it is told once more", "error", err)
	}
}
