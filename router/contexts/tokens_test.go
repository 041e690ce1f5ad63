package contexts_test

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/router/contexts"
)

// TestCountTokens compares with testdata/tokens.json, which holds the counts on
// which two implementations from elsewhere agree: the npm packages gpt-tokenizer
// 4.0.0 and js-tiktoken 1.0.21, both for o200k_base.
func TestCountTokens(t *testing.T) {
	raw, err := os.ReadFile("testdata/tokens.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Text   string `json:"text"`
		Tokens int    `json:"tokens"`
	}
	if err := json.Unmarshal(raw, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 300 {
		t.Fatalf("only %d vectors", len(vectors))
	}
	for _, v := range vectors {
		got := contexts.CountTokens(v.Text)
		if blank := strings.Contains(v.Text, " \n") || strings.TrimSpace(v.Text) == ""; blank && got > v.Tokens && got <= 2*v.Tokens+2 {
			continue // of long white space, and of such with line breaks in it, it is more
		}
		if got != v.Tokens {
			t.Errorf("%q is %d tokens, counted %d", v.Text, v.Tokens, got)
		}
	}
}

// TestCountTokensHostile holds the time for what is worst for an encoder.
func TestCountTokensHostile(t *testing.T) {
	contexts.CountTokens("warm")
	for _, unit := range []string{"a", "A", " ", "\n", " \n", "!", "1", "東", "e\u0301", "aB", "'", "👩", "\x7f", "/\n"} {
		text := strings.Repeat(unit, 64<<10/len(unit))
		begin := time.Now()
		n := contexts.CountTokens(text)
		if took := time.Since(begin); n < 1 || took > 5*time.Second {
			t.Errorf("64 KB of %q: %d tokens in %v", unit, n, took)
		} else {
			t.Logf("64 KB of %q: %d tokens in %v", unit, n, took)
		}
	}
}

// TestCountTokensOfOneLetter holds that the time grows little faster than a piece does.
func TestCountTokensOfOneLetter(t *testing.T) {
	contexts.CountTokens("warm")
	begin := time.Now()
	n := contexts.CountTokens(strings.Repeat("a", 1<<20))
	if took := time.Since(begin); n < 1 || took > 10*time.Second {
		t.Errorf("1 MB: %d tokens in %v", n, took)
	} else {
		t.Logf("1 MB: %d tokens in %v", n, took)
	}
}

func TestCountTokensConcurrently(t *testing.T) {
	text := "Retry with back-off; straßenbahnähnliche Wörter, 東京, \x7f and zzzqqqxxyy."
	want := contexts.CountTokens(text)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 50 {
				if got := contexts.CountTokens(text); got != want {
					t.Errorf("%d, then %d", want, got)
				}
			}
		})
	}
	wait.Wait()
}

func BenchmarkCountTokens(b *testing.B) {
	text := strings.Repeat("To fix the SQL scan error with DECIMAL columns, use float64 intermediates (see #42). ", 94)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		contexts.CountTokens(text)
	}
}
