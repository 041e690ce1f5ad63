package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"skillrouter/internal/committer"
	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/learning/history"
	"skillrouter/learning/lesson"
	"skillrouter/operational"
	"skillrouter/router/decision"
	"skillrouter/router/webhook"
)

// team is what waits, as a test changes it.
type team struct {
	mu      sync.Mutex
	waiting decision.Waiting
	bell    committer.Bell
}

func (q *team) Waiting(ctx context.Context) (decision.Waiting, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := principal.Of(ctx).Need(principal.ScopeCaptain); err != nil {
		return decision.Waiting{}, err
	}
	return q.waiting, nil
}

func (q *team) change(change func(w *decision.Waiting)) {
	q.mu.Lock()
	change(&q.waiting)
	q.mu.Unlock()
	q.bell.Ring()
}

func (q *team) blocks(id string, number int64) {
	q.change(func(w *decision.Waiting) {
		w.Approvals = append(w.Approvals, lesson.Approval{ID: id, Number: number, Agent: "a", Action: "rm -rf /private", Project: "p", AskedAt: time.Unix(1_800_000_000, 0)})
	})
}

// received is a message as it came.
type received struct {
	header http.Header
	body   []byte
}

func (r received) ids(t *testing.T) (ids []string) {
	t.Helper()
	var said struct {
		Type string `json:"type"`
		Data struct {
			URL   string
			Items []map[string]string
		} `json:"data"`
	}
	if err := json.Unmarshal(r.body, &said); err != nil || said.Type != "decision.waiting" || said.Data.URL != "http://router/ui/inbox" {
		t.Fatalf("%v: %s", err, r.body)
	}
	for _, i := range said.Data.Items {
		if len(i) != 3 || i["since"] == "" {
			t.Errorf("an item says %v", i)
		}
		ids = append(ids, i["kind"]+" "+i["id"])
	}
	return ids
}

// verified is what a receiver's library does, written from the standard's text and not with the sender's code.
func verified(secret string, r received, now time.Time) bool {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(r.header.Get("webhook-id") + "." + r.header.Get("webhook-timestamp") + "." + string(r.body)))
	at, err := strconv.ParseInt(r.header.Get("webhook-timestamp"), 10, 64)
	return err == nil && now.Sub(time.Unix(at, 0)).Abs() < 5*time.Minute &&
		slices.Contains(strings.Fields(r.header.Get("webhook-signature")), "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

// world is a hook between a team and a receiver.
type world struct {
	*team
	t        *testing.T
	secret   string
	receiver *httptest.Server
	answer   func(w http.ResponseWriter, attempt int)
	got      chan received
	hook     *webhook.Hook
	stop     func()

	saving sync.Mutex
	state  []byte
	waits  []time.Duration
}

func begin(t *testing.T, answer func(w http.ResponseWriter, attempt int)) *world {
	w := &world{team: &team{}, t: t, secret: webhook.NewSecret(), answer: answer, got: make(chan received, 100)}
	var attempts atomic.Int64
	w.receiver = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		attempt := int(attempts.Add(1))
		if r.Method != http.MethodPost || r.URL.Path != "/hook" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s %s", r.Method, r.URL, r.Header)
		}
		w.got <- received{r.Header, body}
		if w.answer != nil {
			w.answer(out, attempt)
		}
	}))
	t.Cleanup(w.receiver.Close)
	w.start()
	t.Cleanup(func() { w.stop() })
	return w
}

// start runs a hook with what the last one kept.
func (w *world) start() {
	secret, err := webhook.ParseSecret(w.secret + "\n")
	if err != nil {
		w.t.Fatal(err)
	}
	w.hook = webhook.New(w.receiver.URL+"/hook", w.team, webhook.Options{
		Secret: secret, Dashboard: "http://router/ui/inbox", State: w.saved(), Changed: &w.bell, Now: time.Now, Log: slog.New(slog.DiscardHandler), Timeout: 300 * time.Millisecond,
		Save: func(state []byte) error {
			w.saving.Lock()
			defer w.saving.Unlock()
			w.state = slices.Clone(state)
			return nil
		},
		Pause: func(ctx context.Context, d time.Duration, wake <-chan struct{}) error {
			if wake != nil {
				return committer.PauseUntil(ctx, d, wake)
			}
			w.saving.Lock()
			w.waits = append(w.waits, d)
			w.saving.Unlock()
			return committer.Pause(ctx, time.Millisecond)
		},
	})
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.hook.Run(ctx) }()
	w.stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				w.t.Error(err)
			}
		case <-time.After(5 * time.Second):
			w.t.Error("the hook does not end")
		}
	})
}

func (w *world) saved() []byte {
	w.saving.Lock()
	defer w.saving.Unlock()
	return slices.Clone(w.state)
}

func (w *world) next() received {
	w.t.Helper()
	select {
	case r := <-w.got:
		return r
	case <-time.After(10 * time.Second):
		w.t.Fatal("nothing came")
	}
	return received{}
}

// settled waits until nothing is on its way.
func (w *world) settled() {
	w.t.Helper()
	for range 1000 {
		if text := w.saved(); len(text) > 0 && !strings.Contains(string(text), `"message"`) {
			return
		}
		<-time.After(5 * time.Millisecond)
	}
	w.t.Fatalf("it is still on its way: %s", w.saved())
}

// quiet is an error if another message comes of a change that tells nothing new.
func (w *world) quiet() {
	w.t.Helper()
	w.bell.Ring()
	select {
	case r := <-w.got:
		w.t.Errorf("told again: %s", r.body)
	case <-time.After(100 * time.Millisecond):
	}
}

// TestTells: what newly waits is told once, signed, and without a word of what it says.
func TestTells(t *testing.T) {
	w := begin(t, nil)
	w.blocks("ap1", 1)
	first := w.next()
	if got := first.ids(t); !slices.Equal(got, []string{"approval ap1"}) {
		t.Errorf("it tells %v", got)
	}
	if !verified(w.secret, first, time.Now()) {
		t.Errorf("the signature of %s does not hold: %v", first.body, first.header)
	}
	if verified(webhook.NewSecret(), first, time.Now()) || verified(w.secret, received{first.header, append(first.body, ' ')}, time.Now()) || verified(w.secret, first, time.Now().Add(time.Hour)) {
		t.Error("another secret, body or time verifies too")
	}
	for _, word := range []string{"rm -rf", "private", `"a"`, `"p"`} {
		if strings.Contains(string(first.body), word) {
			t.Errorf("%s is told: %s", word, first.body)
		}
	}
	w.settled()
	w.quiet()
	w.change(func(all *decision.Waiting) {
		all.Proposals = []history.Proposal{{ID: "pr1", Kind: "fact"}}
		all.Escalations = []decision.Matter{{Escalation: operational.Escalation{LessonID: "l1"}, IDs: []string{"e1"}}}
	})
	second := w.next()
	if got := second.ids(t); !slices.Equal(got, []string{"escalation e1", "proposal pr1"}) || second.header.Get("webhook-id") == first.header.Get("webhook-id") {
		t.Errorf("then it tells %v with %v", got, second.header)
	}
	w.settled()
	w.change(func(all *decision.Waiting) { all.Escalations[0].IDs = []string{"e2", "e1"} }) // the same matter goes to one more
	w.quiet()

	w.change(func(all *decision.Waiting) { all.Approvals = nil })
	w.blocks("ap1", 2) // decided and asked again, between two looks too: it has another number
	if got := w.next().ids(t); !slices.Equal(got, []string{"approval ap1"}) {
		t.Errorf("what was asked again is told as %v", got)
	}
	w.settled()
	if s := w.hook.Status(); s.Sent != 3 || s.Attempts != 0 || s.Dropped != 0 {
		t.Errorf("%+v", s)
	}
	w.stop()
	w.start()
	w.quiet()
	w.blocks("ap3", 3)
	if got := w.next().ids(t); !slices.Equal(got, []string{"approval ap3"}) {
		t.Errorf("after a restart it tells %v", got)
	}
}

// TestRefused: what a receiver does not take is sent again, the same with the same id, longer and longer apart, and what came to wait meanwhile is told then.
func TestRefused(t *testing.T) {
	huge := strings.Repeat("x", 1<<20)
	for name, refuse := range map[string]func(w http.ResponseWriter){
		"500": func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) },
		"redirect": func(w http.ResponseWriter) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
		"silence": func(http.ResponseWriter) { <-time.After(400 * time.Millisecond) },
		"too long a head": func(w http.ResponseWriter) {
			w.Header().Set("X", huge)
			w.WriteHeader(http.StatusOK)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w *world
			w = begin(t, func(out http.ResponseWriter, attempt int) {
				if attempt == 1 {
					w.blocks("later", 9)
				}
				if attempt <= 3 {
					refuse(out)
				}
			})
			w.blocks("ap1", 1)
			first := w.next()
			for range 3 {
				again := w.next()
				if string(again.body) != string(first.body) || again.header.Get("webhook-id") != first.header.Get("webhook-id") || !verified(w.secret, again, time.Now()) {
					t.Errorf("it sends %s %v, and had sent %s %v", again.body, again.header, first.body, first.header)
				}
			}
			if got := w.next().ids(t); !slices.Equal(got, []string{"approval later"}) {
				t.Errorf("then it tells %v", got)
			}
			w.settled()
			w.saving.Lock()
			defer w.saving.Unlock()
			waits := slices.DeleteFunc(slices.Clone(w.waits), func(d time.Duration) bool { return d < 5*time.Second })
			if !slices.Equal(waits, []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second}) {
				t.Errorf("it waits %v", waits)
			}
		})
	}
}

// TestBounds: a huge answer is not read to its end, a message is given up after its bound, and the next tells what is new since.
func TestBounds(t *testing.T) {
	w := begin(t, func(out http.ResponseWriter, attempt int) {
		if attempt <= 20 {
			out.WriteHeader(http.StatusGone)
			return
		}
		block := make([]byte, 64<<10)
		for range 1 << 14 { // a GiB
			if _, err := out.Write(block); err != nil {
				return
			}
		}
		t.Error("a huge answer was read to its end")
	})
	for i := range int64(130) {
		w.change(func(all *decision.Waiting) {
			all.Proposals = append(all.Proposals, history.Proposal{ID: fmt.Sprint("pr", i)})
		})
	}
	counts := map[string]int{}
	told := map[string]bool{}
	for len(told) < 130 {
		r := w.next()
		counts[r.header.Get("webhook-id")]++
		ids := r.ids(t)
		if len(ids) > 100 {
			t.Errorf("a message tells %d things", len(ids))
		}
		for _, id := range ids {
			told[id] = true
		}
	}
	w.settled()
	if got := w.hook.Status(); got.Dropped != 1 || got.Sent < 1 {
		t.Errorf("%+v", got)
	}
	if most := slices.Max(slices.Collect(func(yield func(int) bool) {
		for _, n := range counts {
			if !yield(n) {
				return
			}
		}
	})); most != 20 {
		t.Errorf("a message was sent %d times", most)
	}
}

// TestStop: a stop waits for no receiver, and the next start sends the same message.
func TestStop(t *testing.T) {
	away := make(chan struct{})
	w := begin(t, func(_ http.ResponseWriter, attempt int) {
		if attempt == 1 {
			<-away
		}
	})
	defer close(away)
	w.blocks("ap1", 1)
	first := w.next()
	begin := time.Now()
	w.stop()
	if took := time.Since(begin); took > 250*time.Millisecond {
		t.Errorf("the stop took %v", took)
	}
	w.start()
	if again := w.next(); again.header.Get("webhook-id") != first.header.Get("webhook-id") || string(again.body) != string(first.body) {
		t.Errorf("the next start sends %s", again.body)
	}
	w.settled()
	w.quiet()
}

// TestFull: what is behind the end of a full list is not told again when it comes into view.
func TestFull(t *testing.T) {
	w := begin(t, nil)
	w.blocks("old", 1)
	w.next()
	w.settled()
	w.change(func(all *decision.Waiting) {
		all.Approvals, all.Full = []lesson.Approval{{ID: "new", Number: 2}}, map[decision.Kind]bool{decision.KindApproval: true}
	})
	w.next()
	w.settled()
	w.change(func(all *decision.Waiting) { all.Approvals, all.Full = []lesson.Approval{{ID: "old", Number: 1}}, nil })
	w.quiet()
}

func TestSecret(t *testing.T) {
	for _, text := range []string{"", "whsec_", "whsec_AAAA", strings.TrimPrefix(webhook.NewSecret(), "whsec_"), "whsec_" + strings.Repeat("A", 100)} {
		if _, err := webhook.ParseSecret(text); errs.FieldOf(err) != "webhook_secret_file" {
			t.Errorf("%q: %v", text, err)
		}
	}
	text := webhook.NewSecret()
	secret, err := webhook.ParseSecret(text)
	if shown := fmt.Sprintf("%v %+v %s", secret, secret, secret); err != nil || strings.Contains(text, shown) || !strings.Contains(shown, "[secret]") {
		t.Errorf("%v %s", err, shown)
	}
	if got := webhook.Host("https://chat.example:8443/hooks/T0KEN?k=v"); got != "https://chat.example:8443" {
		t.Error(got)
	}
}
