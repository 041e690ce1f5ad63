package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/redact"
)

// This file measures the redaction on two collections that were written before it was changed: texts as agents write
// them, without a secret and with one. corpus_test.go has the forms of secrets one by one.

// What must hold of the collections.
const (
	mostAltered = 0.001 // of the texts without a secret
	leastFound  = 0.95  // of the secrets
)

var drawn = regexp.MustCompile(`\{(alnum|hex|lower|upper|digit|web|b64|strong|human|uuid|basic) ?(\d*)\}`)

// fill draws what stands in braces.
func (d draw) fill(text string) string {
	text = drawn.ReplaceAllStringFunc(text, func(s string) string {
		m := drawn.FindStringSubmatch(s)
		n, _ := strconv.Atoi(m[2])
		switch m[1] {
		case "alnum":
			return d.alnum(n)
		case "hex":
			return d.hex(n)
		case "lower":
			return d.lower(n)
		case "upper":
			return d.upper(n)
		case "digit":
			return d.digit(n)
		case "web":
			return d.web(n)
		case "b64":
			return d.of(alnums+"+/", n)
		case "strong":
			return d.strong()
		case "human":
			return d.human()
		case "uuid":
			return d.uuid()
		}
		return base64.StdEncoding.EncodeToString([]byte("ci:" + d.strong()))
	})
	return strings.ReplaceAll(text, "⏎", "\n")
}

// collection reads the lines of a collection.
func collection(t *testing.T, file string) (lines []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && !strings.HasPrefix(line, "% ") {
			lines = append(lines, line)
		}
	}
	return lines
}

// doors are the ways by which a text comes in: by itself, among other words, within JSON, and as a part of a record.
var doors = []struct {
	name string
	pass func(text string) string
}{
	{"text", func(text string) string { out, _ := redact.Text(text); return out }},
	{"within a text", func(text string) string {
		const before, after = "Notes of the session:\n\n", "\n\nThe build is green again.\n"
		out, _ := redact.Text(before + text + after)
		return strings.TrimSuffix(strings.TrimPrefix(out, before), after)
	}},
	{"JSON", func(text string) string {
		in, _ := json.Marshal(map[string]string{"text": text})
		var r redact.Redaction
		var out map[string]string
		_ = json.Unmarshal(r.JSON(in), &out)
		return out["text"]
	}},
	{"JSON as a text", func(text string) string {
		in, _ := json.Marshal(map[string]string{"text": text})
		out, _ := redact.Text(string(in))
		var member map[string]string
		if json.Unmarshal([]byte(out), &member) != nil {
			return out
		}
		return member["text"]
	}},
}

// altered counts the texts of a collection without secrets that come out otherwise.
func altered(t *testing.T, file string, draws int) (wrong, all int) {
	d := draw{rand.New(rand.NewPCG(7, 1))}
	for _, line := range collection(t, file) {
		for range draws {
			text := d.fill(line)
			all++
			for _, door := range doors {
				if out := door.pass(text); out != text {
					wrong++
					t.Logf("%s: %q\n became %q", door.name, text, out)
					break
				}
			}
		}
	}
	return wrong, all
}

// found counts the secrets of a collection that are cut.
func found(t *testing.T, file string, draws int) (cut, all int) {
	d := draw{rand.New(rand.NewPCG(7, 2))}
	for _, line := range collection(t, file) {
		for range draws {
			text := d.fill(line)
			var secrets []string
			for part := range strings.SplitSeq(text, "«") {
				if secret, _, ok := strings.Cut(part, "»"); ok {
					secrets = append(secrets, secret)
				}
			}
			if len(secrets) == 0 {
				t.Fatalf("%s: no secret is marked in %q", file, line)
			}
			text = strings.NewReplacer("«", "", "»", "").Replace(text)
			for _, door := range doors {
				all++
				left := ""
				out := door.pass(text)
				for _, secret := range secrets {
					if leaks(out, secret) {
						left = secret
					}
				}
				if left == "" {
					cut++
				} else {
					t.Logf("%s: %q is left in %q", door.name, left, out)
				}
			}
		}
	}
	return cut, all
}

// TestCollections holds the figures on both collections. docs/security.md has what the first run gave.
func TestCollections(t *testing.T) {
	for _, second := range []string{"", "2"} {
		wrong, all := altered(t, "clean"+second+".txt", 3)
		t.Logf("without a secret: %d of %d altered, %.2f %%", wrong, all, 100*float64(wrong)/float64(all))
		if float64(wrong) > mostAltered*float64(all) {
			t.Errorf("%d of %d texts without a secret are altered, want %.1f %% at most", wrong, all, 100*mostAltered)
		}
		cut, secrets := found(t, "held"+second+".txt", 3)
		t.Logf("with a secret: %d of %d found, %.1f %%", cut, secrets, 100*float64(cut)/float64(secrets))
		if float64(cut) < leastFound*float64(secrets) {
			t.Errorf("%d of %d secrets are found, want %.0f %%", cut, secrets, 100*leastFound)
		}
	}
}
