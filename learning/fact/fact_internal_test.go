package fact

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
)

// matchSlowly is a glob's meaning, one character at a time.
func matchSlowly(pattern, text []rune) bool {
	if len(pattern) == 0 {
		return len(text) == 0
	}
	switch pattern[0] {
	case '*':
		return matchSlowly(pattern[1:], text) || len(text) > 0 && matchSlowly(pattern, text[1:])
	case '?':
		return len(text) > 0 && matchSlowly(pattern[1:], text[1:])
	case '\\':
		return len(text) > 0 && text[0] == pattern[1] && matchSlowly(pattern[2:], text[1:])
	}
	return len(text) > 0 && text[0] == pattern[0] && matchSlowly(pattern[1:], text[1:])
}

func FuzzGlob(f *testing.F) {
	for _, seed := range [][2]string{
		{"", ""},
		{"*", ""},
		{"a*b", "ab"},
		{"*a*a*", "aaaa"},
		{"?", "ü"},
		{`\*`, "*"},
		{"[a-z]", "q"},
		{"[!a]", "a"},
		{"[", "a"},
		{"a\\", "a"},
		{"[]]", "]"},
		{"[\\]]", "]"},
		{strings.Repeat("?", 200), strings.Repeat("x", 200)},
		{strings.Repeat("*a", 100), strings.Repeat("a", 300)},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		g, err := compileGlob(pattern)
		if err != nil {
			if errs.FieldOf(err) != "pattern" {
				t.Errorf("error %v", err)
			}
			return
		}
		got := g.MatchString(text)
		if got && !strings.HasPrefix(text, g.prefix) {
			t.Errorf("%q fits %q and lacks its beginning %q", text, pattern, g.prefix)
		}
		if strings.Contains(pattern, "[") || len(pattern) > 12 || len(text) > 16 {
			return
		}
		if want := matchSlowly([]rune(pattern), []rune(text)); got != want {
			t.Errorf("%q fits %q: %v, want %v", text, pattern, got, want)
		}
	})
}

// TestGlobPrefix: a search reads only the keys that begin as the pattern does.
func TestGlobPrefix(t *testing.T) {
	for pattern, want := range map[string]string{"db.orders.*": "db.orders.", `a\*b?`: "a", "[ab]c": "", "*a": "", "whole": "whole"} {
		if g, err := compileGlob(pattern); err != nil || g.prefix != want {
			t.Errorf("%q begins with %q, want %q; %v", pattern, g.prefix, want, err)
		}
	}
}

// TestGlobIsLinear matches what makes backtracking matchers take for ever.
func TestGlobIsLinear(t *testing.T) {
	g, err := compileGlob(strings.Repeat("*a", 127) + "b")
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	for range 1000 {
		if g.MatchString(strings.Repeat("a", MaxKey)) {
			t.Fatal("it fits")
		}
	}
	if took := time.Since(begin); took > 10*time.Second { // it is about 10 ms
		t.Errorf("a thousand keys took %s", took)
	}
}

func FuzzValue(f *testing.F) {
	for _, seed := range []string{
		`{"password":"hunter2-and-3"}`, `["a\"b","\u0000"]`, `{"a":{"token":"ghp_0123456789abcdefghijABCDEFGHIJ012345"}}`, `1e999`, `"\ud800"`, `{"a":1,"a":2}`, ``, `{`, "\"\xff\"",
		"\"-----BEGIN RSA PRIVATE KEY-----\",\"x\"", `{"k":"-----BEGIN RSA PRIVATE KEY-----","l":"-----END RSA PRIVATE KEY-----"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var r redact.Redaction
		value, err := learning.CleanJSON(&r, "value", raw, MaxValue)
		if err != nil || value == nil {
			return
		}
		if !json.Valid(value) {
			t.Fatalf("%q became %q", raw, value)
		}
		if len(r.Kinds()) == 0 {
			var compact bytes.Buffer
			if err := json.Compact(&compact, raw); err != nil || !bytes.Equal(compact.Bytes(), value) {
				t.Errorf("%q became %q and nothing was redacted", raw, value)
			}
			return
		}
		var more redact.Redaction
		if again, err := learning.CleanJSON(&more, "value", value, MaxValue); err == nil && len(more.Kinds()) > 0 {
			t.Errorf("%q is redacted to %q, and that to %q", raw, value, again)
		}
	})
}

// TestRecentFactsNeverGoBack has a slow reader come back after a write.
func TestRecentFactsNeverGoBack(t *testing.T) {
	var r recent
	_, _, emptied := r.get("d/k")
	r.empty()
	r.keep("d/k", Fact{Key: "k", Version: 1}, emptied)
	if got, there, _ := r.get("d/k"); there {
		t.Errorf("%+v may have changed since it was read", got)
	}
	value := json.RawMessage(`"` + strings.Repeat("x", 100<<10) + `"`)
	for i := range 2000 {
		r.keep(strconv.Itoa(i), Fact{Value: value}, emptied+1)
	}
	if size := len(r.facts) * len(value); size > recentBytes || size < recentBytes/100 {
		t.Errorf("%d facts take %d bytes", len(r.facts), size)
	}
}
