package plain_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/client/plain"
)

// answering is the address of a server that answers every request with the same bytes.
func answering(t *testing.T, answer string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if request, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.Copy(io.Discard, request.Body)
				_, _ = io.WriteString(conn, answer)
			}
			conn.Close()
		}
	}()
	return "http://" + listener.Addr().String()
}

func dial(t *testing.T, base string) *plain.Client {
	t.Helper()
	c, err := plain.New(base, plain.Options{Token: "secret", UserAgent: "test", Dial: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAnswers holds what becomes of an answer, and that it is what the full client makes of it.
func TestAnswers(t *testing.T) {
	const problem = `{"title":"Not Found","detail":"agent_id is not known","code":"not_found","field":"agent_id"}`
	tests := []struct {
		name, answer string
		code         errs.Code
		says         string
	}{
		{name: "an announced length", answer: "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{\"n\":1}"},
		{name: "until the end", answer: "HTTP/1.0 200 OK\r\n\r\n{\"n\":1}\n"},
		{name: "more than announced", answer: "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n{\"n\":1}{{{"},
		{name: "bare line feeds", answer: "HTTP/1.0 200 OK\n\n{\"n\":1}"},
		{name: "less than announced", answer: "HTTP/1.1 200 OK\r\nContent-Length: 70\r\n\r\n{\"n\":", code: errs.Unavailable},
		{name: "half a value", answer: "HTTP/1.0 200 OK\r\n\r\n{\"n\":", code: errs.Unavailable},
		{name: "another type", answer: "HTTP/1.0 200 OK\r\n\r\n{\"n\":\"x\"}", code: errs.Unavailable, says: "not the router's JSON"},
		{name: "no JSON", answer: "HTTP/1.0 200 OK\r\n\r\n<html>", code: errs.Unavailable, says: "not the router's JSON"},
		{name: "nothing", answer: "", code: errs.Unavailable},
		{name: "no HTTP", answer: "SSH-2.0-x\r\n\r\n", code: errs.Unavailable},
		{name: "no code", answer: "HTTP/1.1 \r\n\r\n", code: errs.Unavailable},
		{name: "half a head", answer: "HTTP/1.1 200 OK\r\nContent-", code: errs.Unavailable},
		{name: "a refusal", answer: "HTTP/1.0 404 Not Found\r\n\r\n" + problem, code: errs.NotFound, says: "is not known"},
		{name: "a refusal of a proxy", answer: "HTTP/1.0 502 Bad Gateway\r\n\r\n<html>", code: errs.Unavailable, says: "answered 502 Bad Gateway, and not as a router does"},
		{name: "a redirection", answer: "HTTP/1.0 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n", code: errs.Invalid, says: "answered 302 Found"},
		{name: "a wrong length", answer: "HTTP/1.0 200 OK\r\nContent-Length: -1\r\n\r\n{\"n\":1}", code: errs.Unavailable},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			base := answering(t, test.answer)
			full, err := client.New(base, client.Options{Token: "secret"})
			if err != nil {
				t.Fatal(err)
			}
			defer full.Close()
			for name, call := range map[string]func(ctx context.Context, method, path string, in, out any) error{"plain": dial(t, base).Call, "full": full.Call} {
				var out struct{ N int }
				err := call(t.Context(), "POST", "/x", map[string]int{"a": 1}, &out)
				if errs.CodeOf(err) != test.code || err != nil && !strings.Contains(errs.Explain(err), test.says) || err == nil && out.N != 1 {
					t.Errorf("%s: %v, %+v", name, err, out)
				}
			}
		})
	}
}

// TestRequest holds what is sent.
func TestRequest(t *testing.T) {
	router := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.RequestURI() != "/under/x?a=b%20c" || r.Header.Get("Authorization") != "Bearer secret" || r.UserAgent() != "test" ||
			r.Header.Get("Content-Type") != "application/json" || string(body) != `{"a":"ä"}` || "http://"+r.Host != "http://"+r.Context().Value(http.LocalAddrContextKey).(net.Addr).String() {
			t.Errorf("%s %s %v %s", r.Method, r.URL, r.Header, body)
		}
		_, _ = io.WriteString(w, strings.Repeat(" ", 10_000)+`[1]`) // more than is sent with a length
	}))
	defer router.Close()
	var out []int
	if err := dial(t, router.URL+"/under/").Call(t.Context(), "POST", "/x?a=b%20c", map[string]string{"a": "ä"}, &out); err != nil || len(out) != 1 {
		t.Errorf("%v, %v", out, err)
	}
	if err := dial(t, router.URL+"/under").Call(t.Context(), "POST", "/x?a=b%20c", map[string]string{"a": "ä"}, nil); err != nil {
		t.Error(err)
	}
}

// TestBounds holds that neither a head nor a body without an end is read without one.
func TestBounds(t *testing.T) {
	for name, endless := range map[string]struct {
		begin string
		code  errs.Code
	}{
		"head": {"HTTP/1.0 200 OK\r\nX: ", errs.Unavailable}, "body": {"HTTP/1.0 200 OK\r\n\r\n", errs.TooLarge},
		"announced": {"HTTP/1.0 200 OK\r\nContent-Length: 99999999999\r\n\r\n", errs.TooLarge},
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		go func() {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			_, err = io.WriteString(conn, endless.begin)
			for spaces := strings.Repeat(" ", 64<<10); err == nil; {
				_, err = io.WriteString(conn, spaces)
			}
		}()
		err = dial(t, "http://"+listener.Addr().String()).Call(t.Context(), "GET", "/x", nil, new(int))
		if errs.CodeOf(err) != endless.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestPatience holds that a call ends with its context, and says why.
func TestPatience(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() // the kernel accepts; nobody reads
	c := dial(t, "http://"+listener.Addr().String())
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.Call(ctx, "GET", "/x", nil, nil); !errors.Is(ctx.Err(), context.DeadlineExceeded) || !strings.Contains(errs.Explain(err), "did not answer in time") {
		t.Errorf("%v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if err := c.Call(ctx, "GET", "/x", nil, nil); err == nil || !strings.Contains(errs.Explain(err), "was given up") {
		t.Errorf("%v", err)
	}
	listener.Close()
	if err := c.Call(t.Context(), "GET", "/x", nil, nil); err == nil || !strings.Contains(errs.Explain(err), "no router answers at") {
		t.Errorf("%v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, base := range []string{"https://127.0.0.1:1", "127.0.0.1:1", "http://", "http://user@127.0.0.1:1", "http://127.0.0.1:1?a=b", "http://127.0.0.1:1#x", "unix:///x", ":"} {
		if _, err := plain.New(base, plain.Options{}); errs.CodeOf(err) != errs.Invalid {
			t.Errorf("%s: %v", base, err)
		}
	}
	if _, err := plain.New("http://127.0.0.1:1", plain.Options{Token: "a\r\nX: b"}); errs.CodeOf(err) != errs.Invalid {
		t.Errorf("a token of two lines: %v", err)
	}
}
