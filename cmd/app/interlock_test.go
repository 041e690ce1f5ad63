package app_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/router/interlock"
)

// meshTime is how long a datagram may take to show.
const meshTime = 20 * time.Second

// meshed is a router with the mesh on, and an interlock.json if there is one.
func meshed(t *testing.T, file string) (a *app.App, cfg config.Config) {
	t.Helper()
	cfg = settings(t)
	cfg.InterLock.Listen = "127.0.0.1:0"
	if file != "" {
		if err := os.WriteFile(filepath.Join(cfg.Data, "interlock.json"), []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return opened(t, cfg), cfg
}

// mesh asks for the state of the mesh.
func mesh(t *testing.T, a *app.App) comms.Mesh {
	t.Helper()
	response, err := http.Get(a.URL() + "/api/interlock")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var status comms.Mesh
	if err := json.NewDecoder(response.Body).Decode(&status); err != nil {
		t.Fatal(err)
	}
	return status
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	limit, look := time.NewTimer(meshTime), time.NewTicker(5*time.Millisecond)
	defer limit.Stop()
	defer look.Stop()
	for !holds() {
		select {
		case <-limit.C:
			t.Fatalf("%s: not within %s", what, meshTime)
		case <-look.C:
		}
	}
}

// python runs scripts/interlock.py, or skips a test where there is no Python.
func python(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: the independent implementation of the mesh cannot be run")
	}
	cmd := exec.CommandContext(t.Context(), interpreter, append([]string{"../../scripts/interlock.py"}, args...)...)
	cmd.Stderr = os.Stderr
	return cmd
}

// TestInterLockSpeaksWithAnother sends every signal from an implementation that
// knows the datagram by its description alone, and has it hear all four that are emitted.
func TestInterLockSpeaksWithAnother(t *testing.T) {
	const key = "a key that both sides know"
	keyFile := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, []byte(key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	listener := python(t, "listen", "--port", "0", "--key-file", keyFile, "--timeout", "60")
	listener.Stderr = nil
	said, err := listener.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	heard, err := listener.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Process.Kill(); _ = listener.Wait() })
	first, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	peer, err := netip.ParseAddrPort(strings.TrimPrefix(strings.TrimSpace(first), "listening on "))
	if err != nil {
		t.Fatal(err)
	}

	a, _ := meshed(t, fmt.Sprintf(`{"peers":[{"name":"consciousness","port":%d,"key":%q},{"name":"verifier","port":3021},{"name":"neurogenesis","port":3010}]}`, peer.Port(), key))
	to := mesh(t, a).Listen
	send := func(sender, signal string, more ...string) {
		t.Helper()
		if output, err := python(t, append([]string{"send", signal, "--sender", sender, "--to", to}, more...)...).Output(); err != nil {
			t.Fatalf("%s: %v %s", signal, err, output)
		}
	}
	lines := bufio.NewScanner(heard)
	next := func(signal string) map[string]any {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("%s is not heard: %v", signal, lines.Err())
		}
		var line struct {
			Signal string         `json:"signal"`
			Data   map[string]any `json:"data"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		if line.Signal != signal || line.Data["sender"] != "experience-layer" {
			t.Fatalf("heard %s, want %s", lines.Text(), signal)
		}
		return line.Data
	}

	send("neurogenesis", "HEARTBEAT")
	for i := range 3 {
		send("neurogenesis", "BUILD_COMPLETED", "success=true", fmt.Sprintf("duration_ms=%d", i), "target=the app", "artifact=app.tar", `dependencies=["go"]`)
		if told := next("EXPERIENCE_RECORDED"); told["episode_id"] != float64(i+1) {
			t.Errorf("told of %v", told)
		}
	}
	if told := next("PATTERN_EMERGED"); told["description"] != "build usually succeeds" {
		t.Errorf("told of %v", told)
	}
	var build struct {
		Operation string         `json:"operation_type"`
		Server    string         `json:"server_name"`
		Agent     string         `json:"agent_id"`
		Outcome   string         `json:"outcome"`
		Problem   map[string]any `json:"problem"`
		Metadata  map[string]any `json:"metadata"`
	}
	response, err := http.Get(a.URL() + "/api/episodes/1")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&build); err != nil {
		t.Fatal(err)
	}
	context, _ := build.Problem["context"].(map[string]any)
	origin, _ := context["interlock"].(map[string]any)
	if build.Operation != "build" || build.Server != "neurogenesis" || build.Agent != "mesh:neurogenesis" || build.Outcome != "success" ||
		build.Problem["query"] != "the app" || context["artifact"] != "app.tar" || origin["signal"] != "BUILD_COMPLETED" || origin["signed"] != false || build.Metadata["dependencies"] == nil {
		t.Errorf("the build is stored as %+v", build)
	}

	status, lesson := ask(t, http.MethodPost, a.URL()+"/api/lessons/learn", `{"pattern_description":"builds","episode_ids":[1,2,3],"lesson_statement":"Build with go"}`, nil)
	if status != http.StatusCreated {
		t.Fatalf("%d %v", status, lesson)
	}
	told := next("PATTERN_EMERGED")
	if told["description"] != "builds" {
		t.Errorf("told of %v", told)
	}
	if told = next("LESSON_EXTRACTED"); told["lesson_id"] != lesson["lesson_id"] || told["statement"] != "Build with go" {
		t.Errorf("told of %v", told)
	}
	before := told["confidence"].(float64)
	send("verifier", "CLAIM_REFUTED", "lesson_id=1")
	if told = next("LESSON_VALIDATED"); !near(told["previous_confidence"], before) || !near(told["new_confidence"], before*0.7) {
		t.Errorf("after a refutation: %v, from %v", told, before)
	}
	send("verifier", "CLAIM_VERIFIED", "lesson_id=1")
	if told = next("LESSON_VALIDATED"); !near(told["new_confidence"], before*0.77) {
		t.Errorf("after a verification: %v, from %v", told, before*0.7)
	}

	// What a peer says itself is not told to it; what others say is.
	send("consciousness", "LESSON_LEARNED", "--key-file", keyFile, "statement=Sleep on it", "--data", `{"contexts":["review"],"confidence":0.9}`)
	send("verifier", "VERIFICATION_RESULT", "verified=false", "claim=water is dry")
	next("EXPERIENCE_RECORDED")
	send("verifier", "VALIDATION_APPROVED")
	next("EXPERIENCE_RECORDED")
	send("verifier", "VALIDATION_REJECTED", "reason=untested")
	next("EXPERIENCE_RECORDED")
	send("verifier", "OPERATION_COMPLETE", "operation=deploy", "status=failed")
	next("EXPERIENCE_RECORDED")

	// The negative controls: a peer with a key that does not sign, a stranger, and a lesson that is not there.
	send("consciousness", "LESSON_LEARNED", "statement=Trust me")
	send("somebody", "HEARTBEAT")
	send("verifier", "CLAIM_VERIFIED", "lesson_id=77")
	send("verifier", "CLAIM_VERIFIED")
	want := map[string]int64{
		"HEARTBEAT": 1, "BUILD_COMPLETED": 3, "CLAIM_REFUTED": 1, "CLAIM_VERIFIED": 1, "LESSON_LEARNED": 1,
		"VERIFICATION_RESULT": 1, "VALIDATION_APPROVED": 1, "VALIDATION_REJECTED": 1, "OPERATION_COMPLETE": 1,
	}
	refused := map[interlock.Reason]int64{interlock.RefusedUnsigned: 1, interlock.RefusedUnknown: 1, interlock.RefusedByRule: 1, interlock.RefusedData: 1}
	eventually(t, "every counter", func() bool {
		now := mesh(t, a)
		for signal, n := range want {
			if now.Heard[signal] != n {
				return false
			}
		}
		for reason, n := range refused {
			if now.Refused[string(reason)] != n {
				return false
			}
		}
		return true
	})
	var lessons struct {
		Lessons []struct {
			Statement string  `json:"statement"`
			Initial   float64 `json:"initial_confidence"`
		} `json:"lessons"`
	}
	response, err = http.Get(a.URL() + "/api/lessons")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(&lessons); err != nil || len(lessons.Lessons) != 2 || lessons.Lessons[0].Statement != "Sleep on it" || lessons.Lessons[0].Initial != 0.9 {
		t.Errorf("the lessons: %+v, %v", lessons, err)
	}
	if now := mesh(t, a); now.Peers[0].Emitted != now.Emitted["EXPERIENCE_RECORDED"]+now.Emitted["PATTERN_EMERGED"]+now.Emitted["LESSON_VALIDATED"]+1 {
		t.Errorf("a peer was told of its own lesson: %+v", now)
	}
}

func near(got any, want float64) bool {
	figure, ok := got.(float64)
	return ok && figure > want-1e-6 && figure < want+1e-6
}

// TestInterLockIsOff: by default nothing listens, and the state says so.
func TestInterLockIsOff(t *testing.T) {
	a := opened(t, settings(t))
	status := mesh(t, a)
	if status.State != comms.MeshOff || status.Listen != "" || len(status.Refused) != len(interlock.Reasons()) {
		t.Errorf("the mesh: %+v", status)
	}
	if _, health := ask(t, http.MethodGet, a.URL()+"/health", "", nil); health["interlock"] != "off" {
		t.Errorf("health: %v", health["interlock"])
	}
	b, _ := meshed(t, "")
	if _, health := ask(t, http.MethodGet, b.URL()+"/health", "", nil); health["interlock"] != "on (udp "+mesh(t, b).Listen+")" {
		t.Errorf("health: %v", health["interlock"])
	}
}

// sendDatagram sends one datagram from a socket of its own.
func sendDatagram(t *testing.T, to netip.AddrPort, datagram []byte) {
	t.Helper()
	connection, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	_, _ = connection.Write(datagram) // some systems say here that nobody hears
}

// TestInterLockStopsHearingStrangers: who is not listed is heard as long as the
// router is open to everybody on this machine, and no longer.
func TestInterLockStopsHearingStrangers(t *testing.T) {
	a, cfg := meshed(t, "")
	owner, err := locate.ReadOwnerToken(cfg.Data)
	if err != nil {
		t.Fatal(err)
	}
	to := netip.MustParseAddrPort(mesh(t, a).Listen)
	knock := func(note string) {
		t.Helper()
		datagram, err := interlock.Format(interlock.OperationComplete, time.Now(), "stranger", map[string]any{"notes": note}, nil)
		if err != nil {
			t.Fatal(err)
		}
		sendDatagram(t, to, datagram)
	}
	knock("before")
	eventually(t, "a stranger is heard", func() bool { return mesh(t, a).Heard["OPERATION_COMPLETE"] == 1 })
	admin := http.Header{"Authorization": {"Bearer " + owner}}
	if status, issued := ask(t, http.MethodPost, a.URL()+"/api/tokens", `{"agent_id":"a","scopes":["agent"]}`, admin); status/100 != 2 {
		t.Fatalf("%d %v", status, issued)
	}
	knock("after")
	eventually(t, "a stranger is refused", func() bool {
		_, status := ask(t, http.MethodGet, a.URL()+"/api/interlock", "", admin)
		refused, _ := status["refused"].(map[string]any)
		return refused["unknown_sender"] == 1.0
	})
	if _, stats := ask(t, http.MethodGet, a.URL()+"/api/stats", "", admin); stats["episodes"] != 1.0 {
		t.Errorf("what is stored: %v", stats)
	}
}

// TestInterLockFile: a file that is wrong ends the start, and names the field.
func TestInterLockFile(t *testing.T) {
	cfg := settings(t)
	cfg.InterLock = config.InterLock{Listen: "127.0.0.1:0", Config: filepath.Join(t.TempDir(), "peers.json")}
	for _, text := range []string{"", `{"peers":[{"name":"a","port":0}]}`} {
		if text != "" {
			if err := os.WriteFile(cfg.InterLock.Config, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		_, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{})
		if err == nil || !strings.Contains(err.Error(), "peers.json") || text != "" && !strings.Contains(err.Error(), "peers[0].port") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestMeshInTheProof: whom the mesh sends to stands in the list of what dials.
func TestMeshInTheProof(t *testing.T) {
	a, _ := meshed(t, `{"peers":[{"name":"near","port":3021},{"name":"far","host":"192.0.2.1","port":3021,"unsigned":true}]}`)
	_, proof := ask(t, http.MethodGet, a.URL()+"/api/doctor/outbound", "", nil)
	text, _ := json.Marshal(proof)
	if proof["airgapped"] != false || !strings.Contains(string(text), "udp://192.0.2.1:3021") || !strings.Contains(string(text), `"name":"mesh","on":true`) {
		t.Errorf("the proof: %s", text)
	}
	b, _ := meshed(t, "")
	if _, proof := ask(t, http.MethodGet, b.URL()+"/api/doctor/outbound", "", nil); proof["airgapped"] != true {
		t.Errorf("the proof without peers: %v", proof)
	}
	metrics, err := http.Get(b.URL() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer metrics.Body.Close()
	found := 0
	for lines := bufio.NewScanner(metrics.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "skillrouter_interlock_refused_total{") {
			found++
		}
	}
	if found != len(interlock.Reasons()) {
		t.Errorf("%d counters of reasons in the metrics, want %d", found, len(interlock.Reasons()))
	}
}

// TestInterLockGarbage: what comes over the wire and is no datagram changes
// nothing in the databases, and honest peers are heard after it.
func TestInterLockGarbage(t *testing.T) {
	a, _ := meshed(t, `{"peers":[{"name":"verifier","port":3021}]}`)
	to := netip.MustParseAddrPort(mesh(t, a).Listen)
	before, _ := json.Marshal(statsOf(t, a))
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // garbage that comes out the same each time
	for range 20 {
		socket, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(to))
		if err != nil {
			t.Fatal(err)
		}
		for range 500 {
			text := make([]byte, random.IntN(1500))
			for i := range text {
				text[i] = byte(random.Uint32())
			}
			if len(text) > 12 && random.IntN(2) == 0 {
				copy(text, []byte{0, 0xE5, 1, 0, 0, 0, byte((len(text) - 12) >> 8), byte(len(text) - 12)}) //nolint:gosec // below 1,500
				copy(text[12:], `{"sender":"verifier","statement":"`)
			}
			_, _ = socket.Write(text) // the kernel may drop it
		}
		_ = socket.Close()
	}
	datagram, err := interlock.Format(interlock.Heartbeat, time.Now(), "verifier", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "a peer is heard after the garbage", func() bool {
		sendDatagram(t, to, datagram)
		return mesh(t, a).Heard["HEARTBEAT"] == 1
	})
	if after, _ := json.Marshal(statsOf(t, a)); string(after) != string(before) {
		t.Errorf("garbage has changed what is stored: %s, before it %s", after, before)
	}
	if status := mesh(t, a); status.Received < 1000 {
		t.Errorf("only %d datagrams came in", status.Received)
	}
}

func statsOf(t *testing.T, a *app.App) any {
	t.Helper()
	_, health := ask(t, http.MethodGet, a.URL()+"/health", "", nil)
	return health["stats"]
}

// TestCompatiblePortsForReal opens the very ports, where nothing else has them.
func TestCompatiblePortsForReal(t *testing.T) {
	const host = "127.80.31.1" // of loopback, and nobody's
	for _, network := range []string{"tcp", "udp"} {
		for _, port := range []string{"8025", "8031", "9031", "3031"} {
			if err := free(network, net.JoinHostPort(host, port)); err != nil {
				t.Skip(err)
			}
		}
	}
	cfg := settings(t)
	cfg.Listen, cfg.CompatiblePorts = host+":0", true
	a := opened(t, cfg)
	for _, port := range []string{"8025", "8031", "9031"} {
		if status, _ := ask(t, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/health", "", nil); status != http.StatusOK {
			t.Errorf("port %s: %d", port, status)
		}
	}
	if status := mesh(t, a); status.Listen != host+":3031" {
		t.Errorf("the mesh listens at %s", status.Listen)
	}
}

func free(network, address string) error {
	if network == "udp" {
		packets, err := net.ListenPacket(network, address)
		if err != nil {
			return err
		}
		return packets.Close()
	}
	listener, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	return listener.Close()
}
