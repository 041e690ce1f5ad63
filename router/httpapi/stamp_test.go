package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/router/httpapi"
)

// TestStamp: what is said in the header of each answer is said when it begins, and keeps no stream from lasting as long as it wants to.
func TestStamp(t *testing.T) {
	done := "not yet"
	s := httpapi.New(httpapi.Services{Messages: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		control := http.NewResponseController(w)
		if err := control.SetWriteDeadline(time.Time{}); err != nil {
			t.Errorf("a stream would end with the time of a request: %v", err)
		}
		done = "done"
		_, _ = io.WriteString(w, "text")
		if err := control.Flush(); err != nil {
			t.Error(err)
		}
		done = "after"
	})}, httpapi.Options{Stamp: func(header http.Header) { header.Set("Said", done) }})
	server := httptest.NewServer(s)
	defer server.Close()
	answer, err := http.Get(server.URL + "/messages")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || string(text) != "text" || answer.Header.Get("Said") != "done" {
		t.Errorf("%q %v, said %q", text, err, answer.Header.Get("Said"))
	}
}
