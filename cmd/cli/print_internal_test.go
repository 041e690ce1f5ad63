package cli

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/errs"
)

func TestCell(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "-",
		"plain":                       "plain",
		"two\nlines\tand  more":       "two lines and more",
		"\x1b[31mred":                 "⟨U+001B⟩[31mred",
		"a\u202eb":                    "a⟨U+202E⟩b",
		"bell\a\x00":                  "bell⟨U+0007⟩⟨U+0000⟩",
		"日本語":                         "日本語",
		string(make([]rune, 0)) + " ": "-",
	} {
		if got := cell(text); got != want {
			t.Errorf("cell(%q) = %q, want %q", text, got, want)
		}
	}
	long := cell("0123456789012345678901234567890123456789012345678901234567890123456789")
	if n := len([]rune(long)); n != cellWidth {
		t.Errorf("a long cell has %d characters", n)
	}
}

// TestPrintShowsWhatIsHidden: an agent that runs the command line would read
// text that its person does not see. What programs read stays as it is. S8.
func TestPrintShowsWhatIsHidden(t *testing.T) {
	stored := "tag\U000e0041 zero\u200bwidth \u202ebidi"
	for json, want := range map[bool]string{true: "{\"text\":\"" + stored + "\"}\n", false: "tag⟨U+E0041⟩ zero⟨U+200B⟩width ⟨U+202E⟩bidi\n"} {
		var out strings.Builder
		s := &shell{out: &out, json: json}
		if err := s.print(map[string]string{"text": stored}, func(w io.Writer) { fmt.Fprintln(w, stored) }); err != nil || out.String() != want {
			t.Errorf("with JSON %t: %q %v, want %q", json, out.String(), err, want)
		}
	}
}

func TestAgo(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		-time.Hour: "now", 0: "now", 59 * time.Second: "59s ago", 90 * time.Second: "1m ago",
		3 * time.Hour: "3h ago", 47 * time.Hour: "47h ago", 72 * time.Hour: "3d ago",
	} {
		if got := ago(now, now.Add(-d)); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
	if got := ago(now, time.Time{}); got != "never" {
		t.Errorf("no time: %q", got)
	}
}

// TestExitCodes holds the tables complete: each code has its exit code, and a hint.
func TestExitCodes(t *testing.T) {
	want := map[errs.Code]int{
		errs.Invalid: exitFailed, errs.NotFound: exitFailed, errs.Conflict: exitFailed,
		errs.Unauthenticated: exitRefused, errs.Forbidden: exitRefused, errs.PassphraseNeeded: exitRefused, errs.TooLarge: exitFailed,
		errs.RateLimited: exitFailed, errs.StorageFull: exitFailed, errs.Unavailable: exitFailed, errs.OutcomeUnknown: exitFailed, errs.Internal: exitFailed,
	}
	for _, code := range errs.Codes() {
		exit, there := want[code]
		if !there || exitCode(code) != exit {
			t.Errorf("%s exits with %d, want %d", code, exitCode(code), exit)
		}
	}
	root := &cobra.Command{Use: "skillrouter"}
	root.AddCommand(&cobra.Command{Use: "show"})
	_ = root.Commands()[0].Flags().Parse([]string{"nothing"}) // a word, which names what is looked for
	for _, code := range errs.Codes() {
		if hint(root.Commands()[0], code) == "" {
			t.Errorf("after %s nobody says what to do next", code)
		}
	}
	if exitCode("") != exitDone {
		t.Error("no error is no failure")
	}
}

func TestURLOf(t *testing.T) {
	for listen, want := range map[string]string{
		"127.0.0.1:8025": "http://127.0.0.1:8025", ":8025": "http://127.0.0.1:8025", "0.0.0.0:8025": "http://127.0.0.1:8025",
		"[::]:1": "http://127.0.0.1:1", "[::1]:1": "http://[::1]:1", "box.lan:2": "http://box.lan:2",
	} {
		if got := locate.URL("http", listen); got != want {
			t.Errorf("locate.URL(%q) = %q, want %q", listen, got, want)
		}
	}
}
