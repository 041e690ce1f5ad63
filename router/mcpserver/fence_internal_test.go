package mcpserver

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/internal/check"
)

func TestShares(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lengths := rapid.SliceOfN(rapid.IntRange(0, 2*maxAnswer), 0, 300).Draw(t, "lengths")
		given := shares(lengths)
		var sum, wanted int
		least, most := maxAnswer, 0 // the least that was cut to, the most that was given whole
		for i, n := range given {
			sum, wanted = sum+n, wanted+lengths[i]
			switch {
			case n < 0 || n > lengths[i]:
				t.Fatalf("%d of %d are given", n, lengths[i])
			case n < lengths[i]:
				least = min(least, n)
			default:
				most = max(most, n)
			}
		}
		if sum > maxAnswer {
			t.Fatalf("%d bytes are given in all", sum)
		}
		if wanted <= maxAnswer && sum != wanted {
			t.Fatalf("%d fit, and %d are given", wanted, sum)
		}
		if least < maxAnswer && most > least+1 {
			t.Fatalf("one text of %d is whole, while another is cut to %d", most, least)
		}
		if wanted > maxAnswer && sum < maxAnswer-len(lengths) {
			t.Fatalf("%d bytes were free still", maxAnswer-sum)
		}
	})
}

func FuzzCutAndVisible(f *testing.F) {
	f.Add("aü日\U000e0041\u202e\x1b[2J\r\n", 3)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if !utf8.ValidString(s) {
			t.Skip("stored text is valid UTF-8")
		}
		short := check.Head(s, max(n, 0))
		if !utf8.ValidString(short) || len(short) > max(n, 0) || !strings.HasPrefix(s, short) {
			t.Errorf("check.Head(%q, %d) = %q", s, n, short)
		}
		shown := visible(s)
		if !utf8.ValidString(shown) || strings.ContainsAny(shown, "\x00\x1b\r\u202e\u2066\U000e0041") || shown != visible(shown) {
			t.Errorf("visible(%q) = %q", s, shown)
		}
	})
}
