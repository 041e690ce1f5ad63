package web_test

import (
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/router/web"
)

// TestOwnPath: a login leads to no other site, however the address is written.
func TestOwnPath(t *testing.T) {
	pages := func(page string) bool { return page == "/" || page == "/ui/agents" }
	for in, want := range map[string]string{
		"":                                 "/",
		"/":                                "/",
		"/ui/agents":                       "/ui/agents",
		"/ui/agents?state=online":          "/ui/agents?state=online",
		"/?done=sent":                      "/?done=sent",
		"//evil.example/ui/x":              "/",
		"/\\evil.example":                  "/",
		"\\/evil.example":                  "/",
		"https://evil.example/":            "/",
		"https:/ui/agents":                 "/",
		"javascript:alert(1)":              "/",
		"/api/tokens":                      "/",
		"/ui/login?next=/ui/x":             "/",
		"/ui/a\r\nSet-Cookie: x":           "/",
		"/ui/../api/tokens":                "/",
		"/ui/logout":                       "/",
		"/ui/agents;//evil.example":        "/",
		"/ui/%2e%2e//evil.example":         "/",
		"/ui/@evil.example":                "/",
		"///evil.example":                  "/",
		"\t//evil.example":                 "/",
		"/ui/agents?x=%0d%0aSet-Cookie: y": "/ui/agents?x=%0d%0aSet-Cookie: y",
		"/ui/" + strings.Repeat("x", 5000): "/",
	} {
		if got := web.OwnPath(in, pages); got != want {
			t.Errorf("%q leads to %q, want %q", in, got, want)
		}
	}
}

func TestFormats(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for at, want := range map[time.Time]string{
		now.Add(-59 * time.Second): "59 s ago", now.Add(-90 * time.Minute): "1 h ago", now.Add(-49 * time.Hour): "2 d ago", now.Add(2 * time.Minute): "in 2 min",
	} {
		if got := web.Moment(now, at); got.Ago != want || got.Zero {
			t.Errorf("%v: %+v, want %s", at, got, want)
		}
	}
	if !web.Moment(now, time.Time{}).Zero {
		t.Error("no time is shown as one")
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "−1,000"} {
		if got := web.Count(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
	if got := web.Short(3, "äöüß"); got != "äöü…" {
		t.Error(got)
	}
}
