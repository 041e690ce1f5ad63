package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/locate"
)

const (
	// mostMemory is what a bulk call may add to the memory of the process, in KiB,
	// whatever it sends and four at a time.
	mostMemory = 100 << 10
)

// memory is a figure of a process in KiB, such as VmRSS.
func memory(t *testing.T, pid int, name string) (kib int) {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			_, _ = fmt.Sscan(rest, &kib)
		}
	}
	if kib == 0 {
		t.Fatalf("no %s of process %d", name, pid)
	}
	return kib
}

// peak is how much memory a process takes beyond what it has, while something is done to it, in KiB.
func peak(t *testing.T, pid int, do func()) int {
	t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0); err != nil {
		t.Skipf("the peak of another process cannot be reset here: %v", err)
	}
	before := memory(t, pid, "VmRSS")
	do()
	return memory(t, pid, "VmHWM") - before
}

// TestBulkMemory: a few megabytes of JSON became gigabytes of memory before
// anybody asked who sent them. S6.
func TestBulkMemory(t *testing.T) {
	data := t.TempDir()
	router := start(t, program(t, buildProgram), data)
	owner, err := locate.ReadOwnerToken(data)
	if err != nil {
		t.Fatal(err)
	}
	send := func(url, path, secret, body string) (int, time.Duration) {
		begin := time.Now()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return 0, 0
		}
		r.Header.Set("Content-Type", "application/json")
		if secret != "" {
			r.Header.Set("Authorization", "Bearer "+secret)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			return 0, 0
		}
		defer answer.Body.Close()
		_, _ = io.Copy(io.Discard, answer.Body)
		return answer.StatusCode, time.Since(begin)
	}
	var reader struct {
		Secret string `json:"token"`
	}
	issue, err := http.NewRequestWithContext(t.Context(), http.MethodPost, router.url+"/api/tokens", strings.NewReader(`{"scopes":["read"]}`))
	if err != nil {
		t.Fatal(err)
	}
	issue.Header.Set("Content-Type", "application/json")
	issue.Header.Set("Authorization", "Bearer "+owner)
	answer, err := http.DefaultClient.Do(issue)
	if err != nil {
		t.Fatal(err)
	}
	err = json.NewDecoder(answer.Body).Decode(&reader)
	answer.Body.Close()
	if err != nil || reader.Secret == "" {
		t.Fatal(err)
	}

	empty := "{}" + strings.Repeat(",{}", 3_000_000-1)
	ones := "1" + strings.Repeat(",1", 4_000_000-1)
	many := `["` + strings.Repeat(`","`, 600_000) + `"]`
	lists := `{"kind":"knowledge","category":"c","content":"c","tags":` + many + `}`
	steps := `{"kind":"procedure","name":"n","steps":[{}` + strings.Repeat(",{}", 23_900) + `]}`
	attacks := []struct {
		name, path, body string
		status           int // 0: any that is no failure of the router's
	}{
		{"empty records", "/api/import", `{"records":[` + empty + `]}`, 413},
		{"empty records behind dry_run", "/api/import", `{"dry_run":true,"records":[` + empty + `]}`, 413},
		{"numbers", "/api/import", `{"records":[` + ones + `]}`, 413},
		{"deep records", "/api/import", `{"records":[` + strings.Repeat("[", 8<<20) + `]}`, 0},
		{"a huge text", "/api/import", `{"records":["` + strings.Repeat("x", 15<<20) + `"]}`, 200},
		{"huge lists", "/api/import", `{"records":[` + strings.Repeat(lists+",", 6) + lists + `]}`, 200},
		{"many long lists", "/api/import", `{"records":[` + strings.Repeat(steps+",", 80) + steps + `]}`, 200},
		{"a huge name", "/api/import", `{"` + strings.Repeat("x", 15<<20) + `":1}`, 400},
		{"too long a body", "/api/import", `{"records":["` + strings.Repeat("x", 17<<20) + `"]}`, 413},
		{"numbers", "/api/knowledge/bulk", "[" + ones + "]", 413},
		{"empty records", "/api/knowledge/bulk", "[" + empty + "]", 413},
		{"huge lists", "/api/knowledge/bulk", "[" + strings.Repeat(`{"title":"t","content":"c","category":"c","tags":`+many+`},`, 3) + "1]", 200},
		{"deep records", "/api/knowledge/bulk", strings.Repeat("[", 8<<20), 0},
		{"numbers", "/lessons/bulk", "[" + ones + "]", 413},
		{"empty records", "/lessons/bulk", "[" + empty + "]", 413},
	}
	for _, a := range attacks {
		var status int
		var took time.Duration
		grown := peak(t, router.cmd.Process.Pid, func() { status, took = send(router.url, a.path, owner, a.body) })
		together := peak(t, router.cmd.Process.Pid, func() {
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() { send(router.url, a.path, owner, a.body) })
			}
			all.Wait()
		})
		t.Logf("%s to %s: %d in %v, +%d MB, four at once +%d MB", a.name, a.path, status, took.Round(time.Millisecond), grown>>10, together>>10)
		if a.status != 0 && status != a.status || status == 0 || status >= 500 {
			t.Errorf("%s to %s: %d, want %d", a.name, a.path, status, a.status)
		}
		if grown > mostMemory || together > mostMemory {
			t.Errorf("%s to %s: +%d KiB, and four at once +%d KiB", a.name, a.path, grown, together)
		}
	}
	for _, a := range attacks {
		if status, took := send(router.url, a.path, reader.Secret, a.body); status != http.StatusForbidden {
			t.Errorf("%s to %s by who may only read: %d in %v", a.name, a.path, status, took)
		}
	}
	// Who may not, or announces too much, is answered before anything of the body has come.
	for secret, want := range map[string]string{owner: "413", reader.Secret: "403"} {
		connection, err := net.Dial("tcp", strings.TrimPrefix(router.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(connection, "POST /api/import HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n", secret)
		_ = connection.SetReadDeadline(time.Now().Add(5 * time.Second))
		line := make([]byte, len("HTTP/1.1 413"))
		if _, err := io.ReadFull(connection, line); err != nil || !strings.HasSuffix(string(line), want) {
			t.Errorf("a gigabyte that is announced: %q %v, want %s", line, err, want)
		}
		connection.Close()
	}

	naive := exec.Command(os.Args[0])
	naive.Env = append(os.Environ(), naiveEnv+"=1")
	out, err := naive.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := naive.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = naive.Process.Kill()
		_ = naive.Wait()
	}()
	var url string
	if _, err := fmt.Fscan(out, &url); err != nil {
		t.Fatal(err)
	}
	if grown := peak(t, naive.Process.Pid, func() { send(url, "/", "", attacks[0].body) }); grown < mostMemory {
		t.Errorf("a server that decodes it all grows by %d KiB: this test sees nothing", grown)
	} else {
		t.Logf("the control: +%d MB", grown>>10)
	}
}
