package deadline_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/deadline"
)

// TestAClientThatReadsNothing: its answer ends when one piece was not accepted in time.
func TestAClientThatReadsNothing(t *testing.T) {
	ended := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		bounded, piece := deadline.New(w, 200*time.Millisecond), []byte(strings.Repeat("x", 1<<20))
		for range 200 { // more than all buffers on the way take
			if _, err := bounded.Write(piece); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}))
	defer server.Close()
	connection, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if _, err := io.WriteString(connection, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the answer ended with %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the answer does not end")
	}
}

// TestALongAnswer: the whole may take longer than a piece, and than the server's own limit. The control has that limit alone.
func TestALongAnswer(t *testing.T) {
	for name, bound := range map[string]func(w http.ResponseWriter) http.ResponseWriter{
		"bounded": func(w http.ResponseWriter) http.ResponseWriter { return deadline.New(w, 5*time.Second) },
		"control": func(w http.ResponseWriter) http.ResponseWriter { return w },
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w = bound(w)
				for _, piece := range []string{"a", "b", "c"} {
					_, _ = io.WriteString(w, piece)
					_ = http.NewResponseController(w).Flush()
					<-time.After(200 * time.Millisecond)
				}
			}))
			server.Config.WriteTimeout = 100 * time.Millisecond
			server.Start()
			defer server.Close()
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			if whole := err == nil && string(text) == "abc"; whole != (name == "bounded") {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}
