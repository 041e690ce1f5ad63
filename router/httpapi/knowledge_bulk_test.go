package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

const ndjson = "application/x-ndjson"

func record(id string) string {
	return fmt.Sprintf(`{"id":%q,"category":"pattern","title":"title %s","content":"content of %s"}`, id, id, id)
}

func TestBulkForms(t *testing.T) {
	for _, test := range []struct {
		name, contentType, body string
		want                    string // stored updated duplicates refused_count
	}{
		{"lines", ndjson, record("1") + "\n" + record("2") + "\n", "2 0 0 0"},
		{"lines without a last break", ndjson, record("1") + "\n" + record("2"), "2 0 0 0"},
		{"lines of Windows, and blank ones", "application/jsonl", "\r\n" + record("1") + "\r\n\r\n  \n" + record("2") + "\r\n", "2 0 0 0"},
		{"array", "application/json", "[" + record("1") + "," + record("2") + "]", "2 0 0 0"},
		{"array with space", "application/json; charset=utf-8", " [\n " + record("1") + " ,\n\t" + record("2") + "\n]\n", "2 0 0 0"},
		{"empty array", "application/json", " [ ] ", "0 0 0 0"},
		{"no lines", ndjson, "\n", "0 0 0 0"},
		{"one object", "application/json", record("1"), "1 0 0 0"},
		{"array declared as lines", ndjson, "[" + record("1") + "]", "1 0 0 0"},
		{"brackets in strings", "application/json", `[{"category":"c","title":"]}\"[{\\","content":"},{"}]`, "1 0 0 0"},
		{"repeats", ndjson, record("1") + "\n" + record("1") + "\n" + strings.Replace(record("1"), "content of", "more of", 1) + "\n", "1 1 1 0"},
		{"repeats without ids", ndjson, strings.Repeat(`{"category":"c","title":"Same","content":"same"}`+"\n", 3), "1 0 2 0"},
		{"no titles", ndjson, `{"category":"c","title":"","content":"one"}` + "\n" + `{"category":"c","content":"two"}`, "2 0 0 0"},
		{"bad lines between", ndjson, strings.Join([]string{
			record("1"), `{"category":"c"`, "hello", "[]", "7", "null", `{"category":"c","title":"t"}`, `{"category":"c","title":"t","content":"c","colour":1}`,
			`{"category":"c","title":"t","content":5}`, record("2") + record("3"), "{\"category\":\"c\",\"title\":\"\xff\",\"content\":\"c\"}", record("4"),
		}, "\n"), "2 0 0 10"},
		{"bad elements between", "application/json", `[1, "x", null, [], {"category":"c"}, ` + record("1") + "]", "1 0 0 5"},
		{"a long line", ndjson, record("1") + "\n" + `{"category":"` + strings.Repeat("x", 3<<20) + `"}` + "\n" + record("2"), "2 0 0 1"},
		{"a long element", "application/json", "[" + record("1") + "," + `{"category":"` + strings.Repeat("x", 3<<20) + `"}` + "," + record("2") + "]", "2 0 0 1"},
		{"a secret", ndjson, `{"category":"c","title":"t","content":"password=hunter2x"}`, "1 0 0 0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server, knowledge := memoryServer(t, nil)
			status, got := exchange(t, server, "", "POST", "/api/knowledge/bulk", test.contentType, strings.NewReader(test.body))
			if counts := fmt.Sprint(got["stored"], got["updated"], got["duplicates"], got["refused_count"]); status != 200 || counts != test.want {
				t.Errorf("status %d, %s, want %s: %v", status, counts, test.want, got)
			}
			inStep(t, knowledge, got["stored"])
		})
	}
}

// inStep fails the test unless database and index hold as many entries as was said.
func inStep(t *testing.T, knowledge *knowledge.Base, stored any) {
	t.Helper()
	check, err := knowledge.Check(t.Context())
	if err != nil || !check.OK() || float64(check.Stored) != stored {
		t.Errorf("check %+v, %v; want %v stored and indexed", check, err, stored)
	}
}

func TestBulkRefusals(t *testing.T) {
	server, _ := memoryServer(t, nil)
	_, got := exchange(t, server, "", "POST", "/api/knowledge/bulk", ndjson,
		strings.NewReader(record("1")+"\n"+`{"category":"c","title":"t","content":""}`+"\n\n"+`{"category":"c","title":"t","content":"c","colour":1}`))
	want := `[{"error":"content is required","field":"content","index":1},{"error":"colour is no field of this request","field":"colour","index":2}]`
	if text, _ := json.Marshal(got["refused"]); string(text) != want {
		t.Errorf("refused %s, want %s", text, want)
	}
	_, got = exchange(t, server, "", "POST", "/api/knowledge/bulk", ndjson, strings.NewReader(strings.Repeat("{}\n", 5000)))
	if list := got["refused"].([]any); len(list) != learning.MaxRefusals || got["refused_count"] != 5000.0 {
		t.Errorf("%d listed of %v", len(list), got["refused_count"])
	}
}

func TestBulkBreaksOff(t *testing.T) {
	for _, test := range []struct {
		name, body, says string
		stored           float64
	}{
		{"unfinished array", "[" + record("1") + "," + record("2") + ",", "not finished", 2},
		{"unfinished record", "[" + record("1") + `,{"category":"c`, "not finished", 1},
		{"no comma", "[" + record("1") + " " + record("2") + "]", "comma after", 1},
		{"no comma after an array", "[[] " + record("1") + "]", "comma after", 0},
		{"two commas", "[" + record("1") + ",," + record("2") + "]", "beginning of value", 1},
		{"comma at the end", "[" + record("1") + ",]", "beginning of value", 1},
		{"not JSON within", "[" + record("1") + ",{category:1}," + record("2") + "]", "beginning of object key", 1},
		{"something after", "[" + record("1") + "] x", "follows", 1},
		{"brace for bracket", "[" + record("1") + "}", "after array element", 1},
		{"neither form", "hello", "neither", 0},
		{"nothing", "", "empty", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			server, knowledge := memoryServer(t, nil)
			status, got := post(t, server, "/api/knowledge/bulk", test.body)
			detail, _ := got["detail"].(string)
			if status != 400 || got["stored"] != test.stored || !strings.Contains(detail, test.says) || got["code"] != "invalid" {
				t.Errorf("status %d, %v; want 400 with %v stored, saying %q", status, got, test.stored, test.says)
			}
			inStep(t, knowledge, test.stored)
		})
	}
}

// TestBulkOnAFullDisk: 507, the counts of what was stored before, and reads go on.
func TestBulkOnAFullDisk(t *testing.T) {
	databasetest.FilesOnly(t)
	db := memoryDatabase(t)
	server, knowledge := serveMemory(t, db, nil)
	err := db.Commit.Write(t.Context(), func(tx *gorm.DB) error { return tx.Exec("PRAGMA max_page_count = 500").Error }, nil)
	if err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintln(&body, record(fmt.Sprint(i)))
	}
	status, got := exchange(t, server, "", "POST", "/api/knowledge/bulk", ndjson, &body)
	if stored, _ := got["stored"].(float64); status != 507 || got["code"] != "storage_full" || stored == 0 || stored >= 20_000 {
		t.Errorf("%d %v", status, got)
	}
	inStep(t, knowledge, got["stored"])
	if status, got := post(t, server, "/api/knowledge/search", `{"query":"title 7"}`); status != 200 || got["count"] == 0.0 {
		t.Errorf("a search on a full disk: %d %v", status, got)
	}
}

// TestBulkIsStreamed shows that records are stored while more are coming in.
func TestBulkIsStreamed(t *testing.T) {
	server, knowledge := memoryServer(t, nil)
	reader, writer := io.Pipe()
	done := make(chan map[string]any)
	go func() {
		_, got := exchange(t, server, "", "POST", "/api/knowledge/bulk", ndjson, reader)
		done <- got
	}()
	for i := range 3000 {
		if _, err := fmt.Fprintln(writer, record(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	ctx := principal.With(t.Context(), principal.Open())
	for deadline := time.Now().Add(10 * time.Second); ; {
		if _, err := knowledge.Entry(ctx, "100"); err == nil {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("nothing is stored while the call is under way: %v", err)
		}
	}
	writer.Close()
	if got := <-done; got["stored"] != 3000.0 {
		t.Errorf("%v", got)
	}
}

// TestBulkClientGoesAway cuts the connection in mid-stream: what was committed
// stays, whole, and the index agrees with it.
func TestBulkClientGoesAway(t *testing.T) {
	server, k := memoryServer(t, nil)
	address := server.Listener.Addr().String()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(conn)
	fmt.Fprintf(w, "POST /api/knowledge/bulk HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\nContent-Length: 100000000\r\n\r\n", address, ndjson)
	for i := range 5000 {
		fmt.Fprintln(w, record(fmt.Sprint(i)))
	}
	if _, err := w.WriteString(`{"category":"c","title":"half a rec`); err != nil || w.Flush() != nil {
		t.Fatal(err)
	}
	ctx := principal.With(t.Context(), principal.Open())
	for { // until something is committed
		if page, err := k.List(ctx, knowledge.Filter{}); err != nil {
			t.Fatal(err)
		} else if page.Count > 0 {
			break
		}
	}
	conn.Close()
	server.Close() // waits for the handler
	check, err := k.Check(ctx)
	if err != nil || !check.OK() || check.Stored == 0 || check.Stored > 5000 {
		t.Errorf("%+v, %v", check, err)
	}
	page, err := k.List(ctx, knowledge.Filter{Limit: 1})
	if err != nil || page.Results[0].ID != fmt.Sprint(check.Stored-1) {
		t.Errorf("the last of %d is %+v, %v", check.Stored, page, err)
	}
}

func TestBulkIsDocumented(t *testing.T) {
	server, _ := memoryServer(t, nil)
	_, document := exchange(t, server, "", "GET", "/openapi.json", "", nil)
	paths := document["paths"].(map[string]any)
	for _, path := range []string{"/api/knowledge", "/api/knowledge/bulk", "/api/knowledge/search", "/api/knowledge/{id}", "/api/episodes", "/api/episodes/recent", "/api/episodes/search"} {
		if paths[path] == nil {
			t.Errorf("%s is not in the OpenAPI document", path)
		}
	}
}

// FuzzBulk sends any bytes as a bulk body. The router must not fail, and must
// count whatever it takes.
func FuzzBulk(f *testing.F) {
	f.Add([]byte("[" + record("1") + "," + record("2") + "]"))
	f.Add([]byte(record("1") + "\n" + record("2")))
	f.Add([]byte(`[{"category":"c","title":"]}\"[{\\","content":"},{"}]`))
	f.Add([]byte("[[],{}"))
	f.Add([]byte("{}\n{\"a\":\"\\ud800\"}\n\x00"))
	handler := httpapi.New(httpapi.Services{Knowledge: knowledge.NewBase(sink{}, learning.Options{})}, httpapi.Options{})
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1/api/knowledge/bulk", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", ndjson)
		rec := &recorder{header: http.Header{}}
		handler.ServeHTTP(rec, r)
		if rec.status != 200 && rec.status != 400 {
			t.Errorf("status %d: %s", rec.status, rec.body.String())
		}
		var got learning.BulkResult
		if err := json.Unmarshal(rec.body.Bytes(), &got); err != nil || got.Refused == nil {
			t.Errorf("answer %s: %v", rec.body.String(), err)
		}
	})
}

// sink is a KnowledgeStore that is always empty.
type sink struct{ knowledge.Store }

func (sink) ChangeKnowledge(_ context.Context, _ knowledge.Keys, decide func(knowledge.Found) (knowledge.Change, error), _ func()) func() error {
	_, err := decide(knowledge.Found{})
	return func() error { return err }
}

// recorder is an http.ResponseWriter that keeps what is written.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }
