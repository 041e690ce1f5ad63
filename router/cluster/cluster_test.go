package cluster

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
)

var testSecret = Secret(strings.Repeat("s", minSecret))

// signed is a request that a node of the cluster hands on.
func signed(t *testing.T, at time.Time) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/signal?x=1", nil)
	r.Header.Set("Authorization", "Bearer a")
	testSecret.sign(r, Origin{Node: "n", URL: "http://n", Address: "10.0.0.1:5"}, at)
	return r
}

// TestAccept: what a node says of a request holds for this request, this caller and this minute, and for nodes of this cluster.
func TestAccept(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	for name, test := range map[string]struct {
		change   func(r *http.Request)
		at       time.Time
		accepted bool
		refused  string
	}{
		"as it came":        {accepted: true},
		"by nobody":         {change: func(r *http.Request) { r.Header.Del(forwardedHeader) }},
		"another path":      {change: func(r *http.Request) { r.URL.Path = "/stop" }, refused: "not signed"},
		"another query":     {change: func(r *http.Request) { r.URL.RawQuery = "x=2" }, refused: "not signed"},
		"another method":    {change: func(r *http.Request) { r.Method = http.MethodDelete }, refused: "not signed"},
		"another token":     {change: func(r *http.Request) { r.Header.Set("Authorization", "Bearer b") }, refused: "not signed"},
		"a cookie":          {change: func(r *http.Request) { r.Header.Set("Cookie", "session=1") }, refused: "not signed"},
		"another name":      {change: func(r *http.Request) { r.Host = "evil" }, refused: "not signed"},
		"another address":   {change: func(r *http.Request) { edit(r, "10.0.0.1", "127.0.0.1") }, refused: "not signed"},
		"a header of words": {change: func(r *http.Request) { r.Header.Set(forwardedHeader, "yes") }, refused: "not signed"},
		"another secret": {change: func(r *http.Request) {
			Secret(strings.Repeat("t", minSecret)).sign(r, Origin{}, time.Unix(1_800_000_000, 0))
		}, refused: "not signed"},
		"old":               {at: now.Add(-2 * ClocksApart), refused: "clocks"},
		"of the future":     {at: now.Add(2 * ClocksApart), refused: "clocks"},
		"a little too late": {at: now.Add(-ClocksApart / 2), accepted: true},
	} {
		t.Run(name, func(t *testing.T) {
			at := test.at
			if at.IsZero() {
				at = now
			}
			r := signed(t, at)
			if test.change != nil {
				test.change(r)
			}
			from, accepted, err := testSecret.Accept(r, now)
			if accepted != test.accepted || (err != nil) != (test.refused != "") || err != nil && !strings.Contains(err.Error(), test.refused) {
				t.Errorf("%+v %t %v", from, accepted, err)
			}
			if accepted && (from.Address != "10.0.0.1:5" || from.Node != "n" || from.URL != "http://n") {
				t.Errorf("%+v", from)
			}
			if r.Header.Get(forwardedHeader) != "" {
				t.Error("the header is passed on")
			}
		})
	}
}

func edit(r *http.Request, from, to string) {
	r.Header.Set(forwardedHeader, strings.Replace(r.Header.Get(forwardedHeader), from, to, 1))
}

// FuzzAccept: no header makes Accept take a request that nobody signed.
func FuzzAccept(f *testing.F) {
	f.Add("00 node=a&address=b&at=1800000000")
	f.Add(strings.Repeat("0", 64) + " ")
	f.Fuzz(func(t *testing.T, header string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header.Set(forwardedHeader, header)
		if _, accepted, _ := testSecret.Accept(r, time.Unix(1_800_000_000, 0)); accepted {
			t.Error("accepted")
		}
	})
}

func TestReadSecret(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		well bool
	}{
		"a line":    {strings.Repeat("a", minSecret) + "\n", true},
		"too short": {strings.Repeat("a", minSecret-1) + "\n", false},
		"empty":     {"", false},
		"too long":  {strings.Repeat("a", maxSecret+1), false},
	} {
		path := filepath.Join(t.TempDir(), "secret")
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadSecret(path); (err == nil) != test.well || err != nil && errs.FieldOf(err) != "cluster_secret_file" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadSecret(filepath.Join(t.TempDir(), "none")); errs.CodeOf(err) != errs.Invalid {
		t.Errorf("no file: %v", err)
	}
}

// paper is a register in memory, by a clock of its own.
type paper struct {
	mu     sync.Mutex
	now    time.Time
	until  time.Time
	writer Node
	fails  bool
	nodes  map[string]Node // by name, with when each was announced in Clock
}

func (p *paper) Announce(_ context.Context, node Node) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.nodes == nil {
		p.nodes = map[string]Node{}
	}
	p.nodes[node.Name] = node
	return p.err()
}

func (p *paper) err() error {
	if p.fails {
		return errors.New("no answer")
	}
	return nil
}

func (p *paper) Take(_ context.Context, node Node, term time.Duration) (int64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails || p.now.Before(p.until) && p.writer.ID != node.ID {
		return 0, p.err()
	}
	node.Epoch = p.writer.Epoch + 1
	p.writer, p.until = node, p.now.Add(term)
	return node.Epoch, nil
}

func (p *paper) Renew(_ context.Context, node Node, term time.Duration) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails || p.writer.ID != node.ID || p.writer.Epoch != node.Epoch {
		return false, p.err()
	}
	p.until = p.now.Add(term)
	return true, nil
}

func (p *paper) Writer(context.Context) (Node, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails || !p.now.Before(p.until) {
		return Node{}, p.err()
	}
	return p.writer, nil
}

func (p *paper) Nodes(context.Context) (nodes []Node, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, n := range p.nodes {
		n.Seen = p.now.Sub(n.Clock)
		nodes = append(nodes, n)
	}
	return nodes, p.err()
}

func (p *paper) Leave(_ context.Context, node Node) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.writer.ID == node.ID && p.writer.Epoch == node.Epoch {
		p.until = time.Time{}
	}
	return nil
}

func (p *paper) clock() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

func (p *paper) pass(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = p.now.Add(d)
}

// TestLease: one node has the lease at a time. It is taken when it has ended or was given back, and who cannot renew it knows of its end.
func TestLease(t *testing.T) {
	p := &paper{now: time.Unix(1_800_000_000, 0)}
	log := slog.New(slog.DiscardHandler)
	a := Open(t.Context(), p, Node{Name: "a", ID: "1", URL: "http://a"}, p.clock, log)
	b := Open(t.Context(), p, Node{Name: "b", ID: "2", URL: "http://b"}, p.clock, log)
	look := func(l *Lease, holds bool, writer string, epoch int64) {
		t.Helper()
		if err := l.look(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		if w, _ := l.Writer(); l.Holds() != holds || w.Name != writer || w.Epoch != epoch {
			t.Errorf("holds %t, and %s writes in %d", l.Holds(), w.Name, w.Epoch)
		}
	}
	look(a, true, "a", 1)
	look(b, false, "a", 1)
	_, writes := b.Writer()
	p.pass(Term / 2)
	if held, err := a.renew(t.Context()); !held || err != nil {
		t.Errorf("renewed: %t %v", held, err)
	}
	p.pass(Term - time.Second)
	look(b, false, "a", 1)
	if !a.Holds() {
		t.Error("it was renewed, and does not hold")
	}
	p.pass(2 * time.Second) // a was stopped in its tracks
	if a.Holds() {
		t.Error("it has ended, and holds")
	}
	look(b, true, "b", 2)
	if writes.Err() == nil {
		t.Error("who hands on to a was not told")
	}
	if held, err := a.renew(t.Context()); held || err != nil {
		t.Errorf("a lease of another was renewed: %t %v", held, err)
	}
	look(a, false, "b", 2)
	if err := b.Leave(t.Context()); err != nil || b.Holds() {
		t.Errorf("%v", err)
	}
	look(a, true, "a", 3)
	p.fails = true
	if _, err := a.renew(t.Context()); err == nil || !a.Holds() {
		t.Errorf("one try that failed: %v", err)
	}
	p.pass(Term)
	if a.Holds() {
		t.Error("nobody could be asked until it ended, and it holds")
	}
	p.fails = false
	look(a, true, "a", 4) // nobody else took it
}

// TestDeserted: a writer gives the lease up when no other node reaches it and one says so, by the register; not while one asks it something, nor because of
// nodes that are gone, that began later or that gave the lease up themselves a moment ago. Nobody else is no reason.
func TestDeserted(t *testing.T) {
	p := &paper{now: time.Unix(1_800_000_000, 0)}
	log := slog.New(slog.DiscardHandler)
	open := func(name string) *Lease {
		return Open(t.Context(), p, Node{Name: name, ID: name, URL: "http://" + name}, p.clock, log)
	}
	a, b, c := open("a"), open("b"), open("c")
	all := []*Lease{a, b, c}
	// beat has a second pass, in which those who follow try to reach the writer.
	beat := func(writer *Lease, reaches func(l *Lease) bool, there ...*Lease) {
		t.Helper()
		for range renewEvery / tryEvery {
			p.pass(tryEvery)
			for _, l := range there {
				if w, _ := l.Writer(); l != writer {
					l.Asked(w.Epoch, reaches(l))
					if reaches(l) {
						writer.Heard()
					}
				}
			}
		}
		for _, l := range there {
			if held, err := writer.renew(t.Context()); !held || err != nil {
				t.Fatal(held, err)
			}
			if l != writer {
				if err := l.look(t.Context(), false); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	begin := func(writer *Lease) {
		t.Helper()
		for _, l := range append([]*Lease{writer}, all...) {
			if err := l.look(t.Context(), l == writer); err != nil {
				t.Fatal(err)
			}
		}
	}
	is := func(what string, writer *Lease, want bool) {
		t.Helper()
		if got := writer.deserted(t.Context()); got != want {
			t.Errorf("%s: gives up %t", what, got)
		}
	}
	all3 := func(yes bool) func(*Lease) bool { return func(*Lease) bool { return yes } }
	begin(a)
	for range 10 {
		beat(a, all3(true), all...)
	}
	is("all is well", a, false)
	beat(a, all3(false), all...)
	is("one beat is none", a, false)
	beat(a, func(l *Lease) bool { return l == c }, all...)
	beat(a, func(l *Lease) bool { return l == c }, all...)
	is("one of two reaches it", a, false)
	if b.Reached().Err() == nil || c.Reached().Err() != nil {
		t.Error("b hands on what a is not reached for, or c does not")
	}
	for range 4 {
		beat(a, all3(false), a)
	}
	is("the others are gone", a, false)
	for range 4 {
		beat(a, all3(false), all...)
	}
	is("nobody reaches it, and both try", a, true)
	a.patient = p.clock().Add(patientFor) // as Run does
	if err := a.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	begin(b)
	if b.Reached().Err() != nil || c.Reached().Err() != nil {
		t.Error("the next writer is not asked")
	}
	is("it has just begun", b, false)
	for range 4 {
		beat(b, func(l *Lease) bool { return l == c }, all...)
	}
	is("the next one, which the first does not reach", b, false)
	for range 4 {
		beat(b, all3(false), a, b)
	}
	is("nobody but who gave up misses it", b, false)
	nodes, _ := p.Nodes(t.Context())
	for _, n := range nodes {
		if n.Name == "a" && n.Misses >= 0 {
			t.Errorf("that a does not reach it is told as %d", n.Misses)
		}
	}
	p.pass(patientFor)
	for range 4 {
		beat(b, all3(false), a, b)
	}
	is("nor the one that gave up, a minute ago", b, true)
}

// TestForwardMissed: while the writer does not answer, calls are refused at once and say which node that is; one that reads is given up, and one that
// writes waits for its outcome.
func TestForwardMissed(t *testing.T) {
	hang, in := make(chan struct{}), make(chan struct{}, 2)
	writer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		in <- struct{}{}
		<-hang
		_, _ = io.WriteString(w, "done")
	}))
	defer writer.Close()
	p := &paper{now: time.Unix(1_800_000_000, 0)}
	lease := Open(t.Context(), p, Node{Name: "b", ID: "2"}, p.clock, slog.New(slog.DiscardHandler))
	f := NewForward(lease, testSecret, ForwardOptions{
		Private: func(*http.Request, string) bool { return true }, Reads: func(r *http.Request) bool { return r.Method == http.MethodGet }, May: func(string) bool { return true }, Log: slog.New(slog.DiscardHandler), Now: p.clock,
		Refuse: func(w http.ResponseWriter, err error) { _, _ = io.WriteString(w, errs.MessageOf(err)) },
	})
	lease.sees(Node{Name: "a", ID: "1", Epoch: 1, URL: writer.URL})
	ask := func(method string) string {
		w := httptest.NewRecorder()
		f.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "/x", nil))
		return w.Body.String()
	}
	var read, write string
	var both sync.WaitGroup
	both.Go(func() { read = ask(http.MethodGet) })
	<-in
	both.Go(func() { write = ask(http.MethodPost) })
	<-in
	lease.Asked(1, false)
	p.pass(reachFor)
	const said = "the node a writes (http"
	if now := ask(http.MethodPost); !strings.HasPrefix(now, said) {
		t.Errorf("a call meanwhile: %q", now)
	}
	lease.Asked(1, true)
	close(hang)
	both.Wait()
	if !strings.HasPrefix(read, said) || write != "done" {
		t.Errorf("the read: %q, the write: %q", read, write)
	}
	if again := ask(http.MethodPost); again != "done" {
		t.Errorf("it is reached again: %q", again)
	}
}

// TestForward: what reaches nobody was not done; what reached the writer and was not answered may have been, unless it only reads.
func TestForward(t *testing.T) {
	hang := make(chan struct{})
	var got *http.Request
	writer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		switch r.URL.Path {
		case "/hang":
			<-hang
		case "/cut":
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, "done")
	}))
	defer writer.Close()
	defer close(hang)
	p := &paper{now: time.Unix(1_800_000_000, 0)}
	log := slog.New(slog.DiscardHandler)
	lease := Open(t.Context(), p, Node{Name: "b", ID: "2"}, p.clock, log)
	may := true
	f := NewForward(lease, testSecret, ForwardOptions{
		Private: func(*http.Request, string) bool { return true }, Reads: func(r *http.Request) bool { return r.Method == http.MethodGet }, May: func(string) bool { return may }, Log: log, Now: p.clock,
		Refuse: func(w http.ResponseWriter, err error) {
			w.WriteHeader(http.StatusTeapot)
			_, _ = io.WriteString(w, string(errs.CodeOf(err)))
		},
	})
	ask := func(method, path, want string) {
		t.Helper()
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
		r.Host = "b.example"
		f.ServeHTTP(w, r)
		if w.Body.String() != want {
			t.Errorf("%s %s: %q, want %q", method, path, w.Body, want)
		}
	}
	ask(http.MethodPost, "/x", "unavailable") // nobody writes
	lease.sees(Node{Name: "a", ID: "1", Epoch: 1, URL: writer.URL})
	ask(http.MethodPost, "/x?a=%zz", "done")
	if got.Host != "b.example" || got.URL.RawQuery != "a=%zz" {
		t.Errorf("%s %s", got.Host, got.URL)
	}
	if from, accepted, err := testSecret.Accept(got, p.clock()); !accepted || from.Node != "b" || from.Address == "" || !from.Private {
		t.Errorf("%+v %t %v", from, accepted, err)
	}
	ask(http.MethodPost, "/cut", "outcome_unknown")
	ask(http.MethodGet, "/cut", "unavailable")
	time.AfterFunc(20*time.Millisecond, func() { lease.sees(Node{Name: "c", ID: "3", Epoch: 2, URL: "http://127.0.0.1:1"}) })
	ask(http.MethodPost, "/hang", "outcome_unknown") // the writer was stopped in its tracks
	ask(http.MethodPost, "/x", "unavailable")        // nobody is there
	lease.sees(Node{Name: "a", ID: "1", Epoch: 3, URL: writer.URL})
	may = false
	ask(http.MethodPost, "/x", "unavailable")
}
