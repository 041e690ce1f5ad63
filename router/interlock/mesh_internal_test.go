package interlock

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// recorder is what a mesh writes to in these tests, and the log that it reads.
type recorder struct {
	mu      sync.Mutex
	drafts  []experience.Draft
	lessons []lesson.Draft
	judged  []lesson.ValidationDraft
	authors []string
	events  []eventlog.Event
	bell    committer.Bell
	issued  bool
	panics  bool
}

func (d *recorder) Record(ctx context.Context, draft experience.Draft) (experience.Recorded, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.panics {
		panic("at the disk")
	}
	d.drafts, d.authors = append(d.drafts, draft), append(d.authors, principal.Of(ctx).AgentID)
	return experience.Recorded{}, nil
}

func (d *recorder) Report(_ context.Context, draft lesson.Draft) (lesson.Reported, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lessons = append(d.lessons, draft)
	return lesson.Reported{}, nil
}

func (d *recorder) Validate(_ context.Context, _ string, draft lesson.ValidationDraft) (lesson.Lesson, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.judged = append(d.judged, draft)
	return lesson.Lesson{}, nil
}

func (d *recorder) stored() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.drafts) + len(d.lessons) + len(d.judged)
}

func (d *recorder) Events(_ context.Context, after int64, limit int) ([]eventlog.Event, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	from := min(int(after), len(d.events))
	return append([]eventlog.Event(nil), d.events[from:min(len(d.events), from+limit)]...), nil
}

func (d *recorder) LastEvent(context.Context) (int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int64(len(d.events)), nil
}

func (d *recorder) EventBell() *committer.Bell { return &d.bell }

// add appends to the log.
func (d *recorder) add(kind, agent string, data any) {
	text, _ := json.Marshal(data)
	d.mu.Lock()
	d.events = append(d.events, eventlog.Event{Seq: int64(len(d.events) + 1), Type: kind, Agent: agent, Data: text})
	d.mu.Unlock()
	d.bell.Ring()
}

// made is a mesh on a socket of its own, which is told of datagrams by hand; its clock stands at the pointer.
func made(t testing.TB, file string) (*Mesh, *recorder, *time.Time) {
	t.Helper()
	parsed, err := ParseFile([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	socket, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = socket.Close() })
	now, d := noon, &recorder{}
	m, err := New(t.Context(), socket, parsed, Services{
		Experiences: d, Lessons: d, Log: d, Issued: func(context.Context) (bool, error) { return d.issued, nil },
	}, Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	return m, d, &now
}

// drain acts on what waits.
func (m *Mesh) drain(t testing.TB) {
	for {
		select {
		case d := <-m.queue:
			m.store(t.Context(), d)
		default:
			return
		}
	}
}

func datagram(t testing.TB, s Signal, at time.Time, sender string, key string, data map[string]any) []byte {
	t.Helper()
	text, err := Format(s, at, sender, data, []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

var loopback = netip.MustParseAddrPort("127.0.0.1:5555")

const secret = "0123456789abcdef"

const peered = `{"peers":[{"name":"plain","port":1},{"name":"keyed","port":2,"key":"` + secret + `"},
	{"name":"far","port":3,"host":"192.0.2.1","key":"` + secret + `far"}],"tumbler":{"mode":"blacklist","signals":["VALIDATION_APPROVED"]}}`

// TestAdmission gives each reason that a well-formed datagram can be refused for, and the controls that are let in.
func TestAdmission(t *testing.T) {
	far := netip.MustParseAddrPort("192.0.2.1:9")
	tampered := datagram(t, OperationComplete, noon, "keyed", secret, map[string]any{"x": "aaa"})
	tampered[bytes.Index(tampered, []byte("aaa"))] = 'b'
	late := datagram(t, OperationComplete, noon, "keyed", secret, nil)
	late[11]++ // the time in the header is signed too
	moved := append(bytes.TrimSuffix(datagram(t, Heartbeat, noon, "keyed", secret, nil), []byte("}")), []byte(`,"x":1}`)...)
	moved[7] += 6
	for name, test := range map[string]struct {
		from netip.AddrPort
		data []byte
		want Reason
	}{
		"a peer":                         {loopback, datagram(t, OperationComplete, noon, "plain", "", nil), ""},
		"a peer by IPv6":                 {netip.MustParseAddrPort("[::1]:7"), datagram(t, OperationComplete, noon, "plain", "", nil), ""},
		"a peer with a needless key":     {loopback, datagram(t, OperationComplete, noon, "plain", secret, nil), ""},
		"a signed one":                   {loopback, datagram(t, OperationComplete, noon, "keyed", secret, nil), ""},
		"one from afar":                  {far, datagram(t, OperationComplete, noon, "far", secret+"far", nil), ""},
		"nearly stale":                   {loopback, datagram(t, OperationComplete, noon.Add(30*time.Second), "plain", "", nil), ""},
		"stale":                          {loopback, datagram(t, OperationComplete, noon.Add(31*time.Second), "plain", "", nil), RefusedStale},
		"from before the start":          {loopback, datagram(t, OperationComplete, noon.Add(-time.Second), "plain", "", nil), RefusedStale},
		"of 1970":                        {loopback, datagram(t, OperationComplete, time.Unix(0, 0), "plain", "", nil), RefusedStale},
		"a stranger":                     {loopback, datagram(t, OperationComplete, noon, "who", "", nil), RefusedUnknown},
		"a peer's name from elsewhere":   {far, datagram(t, OperationComplete, noon, "plain", "", nil), RefusedSource},
		"a far peer's name from here":    {loopback, datagram(t, OperationComplete, noon, "far", secret+"far", nil), RefusedSource},
		"unsigned":                       {loopback, datagram(t, OperationComplete, noon, "keyed", "", nil), RefusedUnsigned},
		"a signature that is not last":   {loopback, moved, RefusedUnsigned},
		"another's key":                  {loopback, datagram(t, OperationComplete, noon, "keyed", secret+"far", nil), RefusedSignature},
		"changed on its way":             {loopback, tampered, RefusedSignature},
		"with another time":              {loopback, late, RefusedSignature},
		"our own, sent back to us":       {loopback, datagram(t, OperationComplete, noon, DefaultName, secret, nil), RefusedSelf},
		"what we emit":                   {loopback, datagram(t, ExperienceRecorded, noon, "plain", "", nil), RefusedSignal},
		"of no known signal":             {loopback, datagram(t, Signal(0xABCD), noon, "plain", "", nil), RefusedSignal},
		"filtered":                       {loopback, datagram(t, ValidationApproved, noon, "plain", "", nil), RefusedTumbler},
		"a build without a build's data": {loopback, datagram(t, BuildCompleted, noon, "plain", "", nil), ""},
	} {
		t.Run(name, func(t *testing.T) {
			m, d, _ := made(t, peered)
			m.receive(t.Context(), test.data, test.from)
			m.drain(t)
			status, stored := m.Status(), d.stored()
			refused := int64(0)
			for _, n := range status.Refused {
				refused += n
			}
			if test.want == "" && (refused != 0 || stored != 1) || test.want != "" && (refused != 1 || status.Refused[string(test.want)] != 1 || stored != 0) {
				t.Errorf("refused %v, stored %d; want %q", status.Refused, stored, test.want)
			}
		})
	}
}

// TestOpenHearing: without peers, processes on this machine are heard until a token is issued; others never are.
func TestOpenHearing(t *testing.T) {
	m, d, _ := made(t, `{}`)
	try := func(n int, from netip.AddrPort) {
		m.receive(t.Context(), datagram(t, OperationComplete, noon, "who", "", map[string]any{"n": n}), from)
		m.drain(t)
	}
	try(1, loopback)
	try(2, netip.MustParseAddrPort("192.0.2.1:9"))
	d.issued = true
	try(3, loopback)
	if d.stored() != 1 || m.Status().Refused["unknown_sender"] != 2 || d.authors[0] != "mesh:who" {
		t.Errorf("stored %d by %v, refused %v", d.stored(), d.authors, m.Status().Refused)
	}
}

// TestReplay: a datagram is heard once, also where it comes from another
// address, and is stale when it has been forgotten.
func TestReplay(t *testing.T) {
	m, d, now := made(t, peered)
	first := datagram(t, OperationComplete, noon, "keyed", secret, nil)
	for i := range 10 {
		m.receive(t.Context(), first, netip.AddrPortFrom(loopback.Addr(), uint16(6000+i)))
		*now = now.Add(3 * time.Second)
	}
	*now = noon.Add(45 * time.Second)
	m.receive(t.Context(), first, loopback)
	m.drain(t)
	if status := m.Status(); d.stored() != 1 || status.Refused["replay"] != 9 || status.Refused["stale"] != 1 {
		t.Errorf("stored %d, refused %v", d.stored(), status.Refused)
	}
	for i := range maxSeen {
		m.seen[digestOf([]byte(strconv.Itoa(i)))] = noon.Add(time.Minute)
	}
	if m.seen.room(noon.Add(time.Minute)) {
		t.Error("there is room for more than can be heard again")
	}
	if !m.seen.room(noon.Add(2*time.Minute)) || len(m.seen) != 0 {
		t.Error("what cannot be heard again is still remembered")
	}
	// A restart forgets, and hears nothing from before it.
	again, d, later := made(t, peered)
	*later = noon.Add(5 * time.Second)
	again.started = *later
	again.receive(t.Context(), first, loopback)
	if again.drain(t); d.stored() != 0 || again.Status().Refused["stale"] != 1 {
		t.Errorf("after a restart: stored %d, refused %v", d.stored(), again.Status().Refused)
	}
}

// TestSecretAtACut: a statement is cut to a title after its secrets are out, not through one.
func TestSecretAtACut(t *testing.T) {
	statement := strings.Repeat("x ", learning.MaxTitle/2-8) + "AKIAIOSFODNN7EXAMPLE"
	draft, err := lessonOf(admitted{Datagram: Datagram{Signal: LessonLearned, Sender: "a", Data: map[string]any{"statement": statement}}})
	if err != nil || strings.Contains(draft.Title, "AKIA") || len(draft.Title) > learning.MaxTitle {
		t.Errorf("title %q, %v", draft.Title, err)
	}
}

// TestFlood: a source that sends without end is held to its pace, does not keep
// another from being heard, and what is remembered of sources is bounded.
func TestFlood(t *testing.T) {
	m, d, now := made(t, peered)
	for i := range 5000 {
		m.receive(t.Context(), datagram(t, OperationComplete, noon, "plain", "", map[string]any{"i": i}), loopback)
		m.drain(t)
	}
	if status := m.Status(); d.stored() != sourceBurst || status.Refused["rate"] != 5000-sourceBurst {
		t.Errorf("one source: stored %d, refused %v", d.stored(), status.Refused)
	}
	m.receive(t.Context(), datagram(t, OperationComplete, noon, "keyed", secret, nil), netip.AddrPortFrom(loopback.Addr(), 7))
	if m.drain(t); d.stored() != sourceBurst+1 {
		t.Error("another peer is not heard in a flood")
	}
	for i := range 3 * maxSources { // one sender from many sockets has one pace all the same
		m.receive(t.Context(), datagram(t, OperationComplete, noon, "plain", "", map[string]any{"j": i}), netip.AddrPortFrom(loopback.Addr(), uint16(10000+i)))
		m.drain(t)
	}
	if d.stored() != sourceBurst+1 || len(m.sources) != maxSources {
		t.Errorf("many sockets: stored %d, %d sources remembered", d.stored(), len(m.sources))
	}
	*now = now.Add(time.Second)
	m.receive(t.Context(), datagram(t, OperationComplete, *now, "plain", "", nil), loopback)
	if m.drain(t); d.stored() != sourceBurst+2 {
		t.Error("a source that fell silent is not heard again")
	}
}

// TestBusy: what waits is bounded, and what was refused for it can be said again.
func TestBusy(t *testing.T) {
	m, d, now := made(t, `{"peers":[`+manyPeers(8)+`]}`)
	n := 0
	send := func(peer int) {
		n++
		m.receive(t.Context(), datagram(t, OperationComplete, noon, fmt.Sprint("p", peer), "", map[string]any{"n": n}), netip.AddrPortFrom(loopback.Addr(), uint16(100+peer)))
	}
	for peer := range 8 {
		for range sourceBurst / 2 {
			send(peer)
		}
	}
	if busy := m.Status().Refused["busy"]; busy != 8*sourceBurst/2-maxQueue {
		t.Errorf("%d are refused as busy", busy)
	}
	m.drain(t)
	*now = now.Add(2 * time.Second)
	send(7)
	if m.drain(t); d.stored() != maxQueue+1 {
		t.Errorf("%d are stored, want %d", d.stored(), maxQueue+1)
	}
}

func manyPeers(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"name":"p%d","port":%d}`, i, i+1)
	}
	return strings.Join(list, ",")
}

// TestPanicIsCounted: a datagram that breaks something ends nothing else.
func TestPanicIsCounted(t *testing.T) {
	m, d, _ := made(t, peered)
	d.panics = true
	m.receive(t.Context(), datagram(t, OperationComplete, noon, "plain", "", nil), loopback)
	m.drain(t)
	if m.Status().Refused["failure"] != 1 {
		t.Errorf("refused %v", m.Status().Refused)
	}
}

// TestGarbage sends SKILLROUTER_GARBAGE datagrams, or 20,000, that are garbage in
// every way that a random or a hostile sender has: nothing is stored, each is
// counted once, and memory stays where it was.
func TestGarbage(t *testing.T) {
	count := 20_000
	if asked := os.Getenv("SKILLROUTER_GARBAGE"); asked != "" {
		var err error
		if count, err = strconv.Atoi(asked); err != nil {
			t.Fatal(err)
		}
	}
	m, d, now := made(t, peered)
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // garbage that comes out the same each time
	honest := [][]byte{
		datagram(t, OperationComplete, noon, "keyed", secret, map[string]any{"x": []any{1, map[string]any{"y": "z"}}}),
		datagram(t, LessonLearned, noon, "keyed", secret, map[string]any{"statement": "s"}),
		datagram(t, ClaimRefuted, noon, "far", secret+"far", map[string]any{"lesson_id": 1}),
	}
	long := bytes.Repeat([]byte{'['}, MaxDatagram+1)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range count {
		if i%1000 == 0 {
			*now = now.Add(10 * time.Millisecond)
		}
		from := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, byte(random.Uint32()), byte(random.Uint32()), byte(random.Uint32())}), uint16(random.Uint32()))
		m.receive(t.Context(), garbage(random, honest, long), from)
	}
	m.drain(t)
	runtime.GC()
	runtime.ReadMemStats(&after)
	refused := int64(0)
	for _, n := range m.Status().Refused {
		refused += n
	}
	if d.stored() != 0 || refused != int64(count) || m.Status().Received != int64(count) {
		t.Errorf("%d stored, %d of %d refused: %v", d.stored(), refused, count, m.Status().Refused)
	}
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 8<<20 {
		t.Errorf("memory grew by %d bytes", grown)
	}
	if len(m.Status().Peers) != len(m.file.Peers) || len(m.seen) != 0 {
		t.Error("something of it is remembered")
	}
	t.Logf("%d datagrams: %v", count, m.Status().Refused)
}

// garbage is random bytes, a torn or changed honest datagram, one with a good
// header, a tower, or one from nobody. No source has a peer's address and key.
func garbage(random *rand.Rand, honest [][]byte, long []byte) []byte {
	data := bytes.Clone(honest[random.IntN(len(honest))])
	switch random.IntN(6) {
	case 0:
		data = make([]byte, random.IntN(200))
		for i := range data {
			data[i] = byte(random.Uint32())
		}
	case 1:
		data = data[:random.IntN(len(data))]
	case 2:
		for range 1 + random.IntN(4) {
			data[random.IntN(len(data))] = byte(random.Uint32())
		}
	case 3:
		data = append(data, long[:random.IntN(100)+1]...)
	case 4:
		n := 12 + random.IntN(3000)
		data = append(data[:4], 0, 0, byte((n-12)>>8), byte(n-12), 1, 2, 3, 4)
		data = append(data, long[:n-12]...)
	default:
		if random.IntN(50) == 0 {
			data = long
		}
	}
	return data
}

// TestTelling: each event goes to whom the experience server names, signed where there is a
// key, and not to the peer that brought it about; an event from before the start
// is no news, and a judgement that moved nothing is none.
func TestTelling(t *testing.T) {
	sockets := map[string]interface {
		ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error)
		SetReadDeadline(at time.Time) error
	}{}
	list := []string{}
	for _, name := range []string{"consciousness", "trinity", "other"} {
		socket, err := Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer socket.Close()
		sockets[name] = socket
		list = append(list, fmt.Sprintf(`{"name":%q,"port":%d,"key":"%s"}`, name, netip.MustParseAddrPort(socket.LocalAddr().String()).Port(), secret))
	}
	old := &recorder{}
	old.add(lesson.EventExperienceRecorded, "", lesson.ExperienceEvent{EpisodeID: 1})
	m, d, _ := made(t, `{"peers":[`+strings.Join(list, ",")+`]}`)
	d.events, m.from = old.events, 1
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	half, third := 0.5, 0.3
	d.add(lesson.EventExperienceRecorded, "mesh:consciousness", lesson.ExperienceEvent{EpisodeID: 2}) // it told us itself
	d.add(lesson.EventExperienceRecorded, "mesh:verifier", lesson.ExperienceEvent{EpisodeID: 3, Utility: 0.5, OperationType: "build"})
	d.add(lesson.EventPatternEmerged, "", lesson.PatternEvent{Number: 4, Description: "d"})
	d.add(lesson.EventReported, "mesh:other", lesson.Event{Number: 5, Title: "t", Confidence: 0.5})
	d.add(lesson.EventValidated, "", lesson.Event{Number: 5, Confidence: 0.5, Previous: &half})
	d.add(lesson.EventApplied, "", lesson.Event{Number: 5, Confidence: 0.5, Previous: &third})
	d.add("agent.state", "", nil)
	for name, want := range map[string][]string{
		"consciousness": {"EXPERIENCE_RECORDED 3", "PATTERN_EMERGED 4", "LESSON_EXTRACTED 5", "LESSON_VALIDATED 5"},
		"trinity":       {"PATTERN_EMERGED 4", "LESSON_EXTRACTED 5"},
		"other":         {},
	} {
		buffer := make([]byte, MaxDatagram)
		for _, next := range want {
			_ = sockets[name].SetReadDeadline(time.Now().Add(10 * time.Second))
			n, _, err := sockets[name].ReadFromUDPAddrPort(buffer)
			if err != nil {
				t.Fatalf("%s hears no %s: %v", name, next, err)
			}
			told, err := Parse(buffer[:n])
			if err != nil || told.verify([]byte(secret)) != nil {
				t.Fatalf("%s hears %q: %v", name, buffer[:n], err)
			}
			got := told.Signal.String()
			for _, id := range []string{"episode_id", "pattern_id", "lesson_id"} {
				if number, there := told.Data[id].(float64); there {
					got += " " + strconv.Itoa(int(number))
				}
			}
			if got != next {
				t.Errorf("%s hears %s, want %s", name, got, next)
			}
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if status := m.Status(); status.Emitted["LESSON_EXTRACTED"] != 2 || status.Emitted["EXPERIENCE_RECORDED"] != 1 || status.Peers[2].Emitted != 0 || status.Unsent != 0 {
		t.Errorf("emitted %v to %v", status.Emitted, status.Peers)
	}
}

// TestNeverAnswers: whatever is sent, nothing comes back.
func TestNeverAnswers(t *testing.T) {
	m, _, now := made(t, peered)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	socket, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	for _, data := range [][]byte{{}, {1}, datagram(t, Heartbeat, *now, "who", "", nil), datagram(t, Heartbeat, *now, "plain", "", nil), datagram(t, Heartbeat, *now, "keyed", secret, nil)} {
		if _, err := socket.WriteToUDPAddrPort(data, m.Address()); err != nil {
			t.Fatal(err)
		}
	}
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for limit := time.Now().Add(10 * time.Second); m.Status().Received < 5 && time.Now().Before(limit); {
		<-look.C
	}
	_ = socket.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, from, err := socket.ReadFromUDPAddrPort(make([]byte, 100)); err == nil {
		t.Errorf("%d bytes came back from %s", n, from)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if status := m.Status(); status.Received != 5 || status.Heard["HEARTBEAT"] != 2 {
		t.Errorf("%+v", status)
	}
}

// TestExperienceOfASignal: what says nothing of its outcome is no success, and each
// experience says which signal it is of, and a tool, as the original's do (O11).
func TestExperienceOfASignal(t *testing.T) {
	for _, test := range []struct {
		signal  Signal
		data    map[string]any
		outcome learning.Result
		tool    string
	}{
		{BuildCompleted, nil, learning.ResultFailure, ""},
		{BuildCompleted, map[string]any{"success": true, "tool": "make"}, learning.ResultSuccess, "make"},
		{VerificationResult, nil, learning.ResultFailure, "verifier"},
		{VerificationResult, map[string]any{"verified": true}, learning.ResultSuccess, "verifier"},
		{OperationComplete, nil, learning.ResultPartial, ""},
		{OperationComplete, map[string]any{"outcome": "success"}, learning.ResultSuccess, ""},
		{ValidationApproved, nil, learning.ResultSuccess, "context-guardian-validation"},
		{ValidationRejected, map[string]any{"solution": "by hand"}, learning.ResultFailure, "context-guardian-validation"},
	} {
		draft := experienceOf(admitted{Datagram: Datagram{Signal: test.signal, Sender: "s", Data: test.data}})
		tool := ""
		if draft.Solution != nil {
			tool = draft.Solution.Tool
		}
		if draft.Outcome != test.outcome || tool != test.tool {
			t.Errorf("%s %v: %s by %q, want %s by %q", test.signal, test.data, draft.Outcome, tool, test.outcome, test.tool)
		}
		if got := draft.Metadata.Triggers; len(got) != 1 || got[0] != test.signal.String() {
			t.Errorf("%s: triggers %v", test.signal, got)
		}
	}
	draft := experienceOf(admitted{Datagram: Datagram{Signal: BuildCompleted, Data: map[string]any{"triggers": []any{"push"}}}})
	if len(draft.Metadata.Triggers) != 1 || fmt.Sprint(draft.Problem.Context["triggers"]) != "[push]" {
		t.Errorf("the sender's own triggers: %v, %v", draft.Metadata.Triggers, draft.Problem.Context)
	}
}

// TestOriginalFile: the file that the original is shipped with is read as it is (O11).
func TestOriginalFile(t *testing.T) {
	const before = `{"server":{"name":"memory-layer","version":"1.0.0"},"ports":{"udp":3031,"http":8031},"signals":{"incoming":["BUILD_COMPLETED"]},"peers":[{"name":"verifier","port":3021}],"tumbler":`
	for tumbler, want := range map[string]Tumbler{
		`{"whitelist":["BUILD_COMPLETED","0xD0",0,"SOMETHING_ELSE"],"blacklist":[]}`: {Whitelist, []Signal{BuildCompleted, VerificationResult, Heartbeat}},
		`{"whitelist":["BUILD_COMPLETED","HEARTBEAT"],"blacklist":["HEARTBEAT"]}`:    {Whitelist, []Signal{BuildCompleted}},
		`{"whitelist":["*"],"blacklist":["HEARTBEAT"]}`:                              {Blacklist, []Signal{Heartbeat}},
		`{"whitelist":[],"blacklist":[]}`:                                            {},
		`{"enabled":true}`:                                                           {},
		`{"mode":"whitelist","whitelist":["BUILD_COMPLETED","HEARTBEAT"]}`:           {Whitelist, []Signal{BuildCompleted, Heartbeat}},
		`{"mode":"whitelist","whitelist":["HEARTBEAT"],"blacklist":["HEARTBEAT"]}`:   {Whitelist, []Signal{Heartbeat}},
		`{"mode":"blacklist","whitelist":["*"],"blacklist":["HEARTBEAT"]}`:           {Blacklist, []Signal{Heartbeat}},
		`{"mode":"blacklist","whitelist":["BUILD_COMPLETED"],"blacklist":[]}`:        {},
	} {
		f, err := ParseFile([]byte(before + tumbler + "}"))
		if err != nil || f.Name != "memory-layer" || len(f.Peers) != 1 || f.Tumbler.String() != want.String() {
			t.Errorf("%s: %+v, %v; want %s", tumbler, f, err, want)
		}
	}
	for tumbler, field := range map[string]string{
		`{"whitelist":[{}]}`:                               "tumbler.whitelist[0]",
		`{"whitelist":"all"}`:                              "tumbler.whitelist",
		`{"whitelost":[]}`:                                 "tumbler.whitelost",
		`{"mode":"x","signals":1}`:                         "tumbler.signals",
		`{"mode":"x","whitelist":[]}`:                      "tumbler.mode",
		`{"mode":"whitelist","signals":[],"whitelist":[]}`: "tumbler.whitelist",
	} {
		if _, err := ParseFile([]byte(before + tumbler + "}")); errs.FieldOf(err) != field {
			t.Errorf("%s: field %q, %v; want %s", tumbler, errs.FieldOf(err), err, field)
		}
	}
	if f, err := ParseFile([]byte(`{"server":"a server with a name","ports":[1]}`)); err != nil || f.Name != DefaultName {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestUnlistedSenders: those that are not listed are shown with all that was heard of them, the latest first.
func TestUnlistedSenders(t *testing.T) {
	m, _, _ := made(t, `{}`)
	for i, sender := range []string{"a", "b", "a", "a", "c", "b"} {
		m.receive(t.Context(), datagram(t, Heartbeat, noon, sender, "", map[string]any{"i": i}), loopback)
		m.drain(t)
	}
	var got []string
	for _, p := range m.Status().Peers {
		got = append(got, fmt.Sprintf("%s %d %t", p.Name, p.Heard, p.Listed))
	}
	if want := "b 2 false, c 1 false, a 3 false"; strings.Join(got, ", ") != want {
		t.Errorf("shown are %q, want %s", got, want)
	}
}
