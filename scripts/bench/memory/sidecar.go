package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"skillrouter/learning"
)

// sidecar is the process that is measured.
type sidecar struct {
	cmd     *exec.Cmd
	base    string
	took    time.Duration // from its start to its first answer
	stopped bool
}

// start starts the sidecar on a free port and waits until it answers.
func start(ctx context.Context, dir string) (*sidecar, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s := &sidecar{cmd: exec.CommandContext(ctx, program, "serve", dir, address), base: "http://" + address}
	s.cmd.Stderr = os.Stderr
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(os.Interrupt) }
	began := time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for time.Since(began) < 30*time.Second {
		if response, err := http.Get(s.base + "/health"); err == nil {
			_ = response.Body.Close()
			s.took = time.Since(began)
			return s, nil
		}
		time.Sleep(time.Millisecond)
	}
	s.stop()
	return nil, errors.New("the sidecar did not answer within 30 s")
}

func (s *sidecar) stop() {
	if s.stopped {
		return
	}
	s.stopped = true
	_ = s.cmd.Process.Signal(os.Interrupt)
	_ = s.cmd.Wait()
}

// bulk sends lines of JSON in one call.
func (s *sidecar) bulk(ctx context.Context, lines []byte) (learning.BulkResult, error) {
	var result learning.BulkResult
	return result, s.post(ctx, "/api/knowledge/bulk", "application/x-ndjson", bytes.NewReader(lines), &result)
}

func (s *sidecar) search(ctx context.Context, query string) error {
	body, err := json.Marshal(learning.KnowledgeQuery{Query: query})
	if err != nil {
		return err
	}
	var result learning.KnowledgeResults
	if err := s.post(ctx, "/api/knowledge/search", "application/json", bytes.NewReader(body), &result); err != nil {
		return err
	}
	if result.Count == 0 {
		return fmt.Errorf("nothing found for %q", query)
	}
	return nil
}

func (s *sidecar) post(ctx context.Context, path, contentType string, body io.Reader, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", contentType)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s: %s", path, response.Status, text)
	}
	return json.Unmarshal(text, into)
}

// overHTTP measures searches through the transport, one after the other.
func (s *sidecar) overHTTP(ctx context.Context, texts *texts, searches int) error {
	took := make([]time.Duration, 0, searches)
	for range searches {
		query := texts.query()
		began := time.Now()
		if err := s.search(ctx, query); err != nil {
			return err
		}
		took = append(took, time.Since(began))
	}
	report("search over HTTP", "%s", percentiles(took))
	return nil
}

// tick is the unit of times in /proc, fixed at 100 a second on Linux.
const tick = 10 * time.Millisecond

// cpu returns the processor time that the process has used: unlike time on the
// clock it tells the same on a busy machine.
func (s *sidecar) cpu() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0 // not Linux
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick
}

// resident and peak return the resident memory of the process, in MB (10⁶ bytes).
func (s *sidecar) resident() float64 { return s.status("VmRSS:") }

func (s *sidecar) peak() float64 { return s.status("VmHWM:") }

func (s *sidecar) status(field string) float64 {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return -1 // not Linux
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), field); ok {
			kb, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 64)
			return kb * 1024 / 1e6
		}
	}
	return -1
}
