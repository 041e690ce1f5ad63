package check_test

import (
	"math"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
)

func TestCheckAgentID(t *testing.T) {
	for id, ok := range map[string]bool{
		"builder-2": true, "A.b_c:d-9": true, strings.Repeat("x", 64): true,
		"-rf": false, "--help": false, ".": false, "..": false, "....": false, ".a": true, "a..": true, // S9k: an option, a folder
		"": false, strings.Repeat("x", 65): false, "a b": false, "../x": false, "a\n": false,
		"\u212a": false /* U+212A, which NFC turns into K */, "é": false, "a\x00": false, "\xff": false,
	} {
		err := check.AgentID("agent_id", id)
		if (err == nil) != ok {
			t.Errorf("%q: %v", id, err)
		}
		if err != nil && (errs.CodeOf(err) != errs.Invalid || errs.FieldOf(err) != "agent_id") {
			t.Errorf("%q: %v names no field", id, err)
		}
	}
}

func TestCheckTextAndName(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want errs.Code
	}{
		"fine":               {check.Text("t", "ok ☃", 10), ""},
		"too long":           {check.Text("t", "12345678901", 10), errs.TooLarge},
		"NUL":                {check.Text("t", "a\x00", 10), errs.Invalid},
		"invalid UTF-8":      {check.Text("t", "\xff", 10), errs.Invalid},
		"blank but required": {check.Required("t", " \n", 10), errs.Invalid},
		"name":               {check.Name("n", "prod-3"), ""},
		"name on two lines":  {check.Name("n", "a\nb"), errs.Invalid},
		"name too long":      {check.Name("n", strings.Repeat("x", 129)), errs.Invalid},
		"in range":           {check.Range("r", 1, 0, 1), ""},
		"out of range":       {check.Range("r", 1.1, 0, 1), errs.Invalid},
		"not a number":       {check.Range("r", math.NaN(), 0, 1), errs.Invalid},
	} {
		if got := errs.CodeOf(c.err); got != c.want {
			t.Errorf("%s: code %q, want %q", name, got, c.want)
		}
	}
}

func TestTraceparent(t *testing.T) {
	for text, want := range map[string]bool{
		"00-0123456789abcdef0123456789abcdef-0123456789abcdef-01": true, "00-0123456789abcdef0123456789abcdef-0123456789abcdef-ff": true,
		"00-0123456789abcdef0123456789abcdef-0123456789abcdef-0": false, "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01-": false,
		"01-0123456789abcdef0123456789abcdef-0123456789abcdef-01": false, "00-0123456789ABCDEF0123456789abcdef-0123456789abcdef-01": false,
		"00-00000000000000000000000000000000-0123456789abcdef-01": false, "00-0123456789abcdef0123456789abcdef-0000000000000000-01": false,
		"00-0123456789abcdef0123456789abcdef-0123456789abcdef-\r\n": false, "00-0123456789abcdef0123456789abcde-00123456789abcdef-01": false, "": false, "---": false,
	} {
		if got := check.Traceparent(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
