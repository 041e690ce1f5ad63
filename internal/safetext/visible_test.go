package safetext_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/safetext"
)

// TestVisible: characters without a picture can spell text that a model or a
// terminal reads and a person does not see. S8.
func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain\tand\nlines":      "plain\tand\nlines",
		"ends\r\nas in files\r":  "ends\nas in files⟨U+000D⟩",
		"\x1b[31mred\a\x7f":      "⟨U+001B⟩[31mred⟨U+0007⟩⟨U+007F⟩",
		"c1\u009b2J":             "c1⟨U+009B⟩2J",
		"broken \xff bytes \xc3": "broken \ufffd bytes \ufffd",
		"a\u200bb":               "a⟨U+200B⟩b",
		"a\u2060b\ufeffc":        "a⟨U+2060⟩b⟨U+FEFF⟩c",
		"\ufefffirst":            "⟨U+FEFF⟩first",
		"two\u2028lines\u2029":   "two⟨U+2028⟩lines⟨U+2029⟩",
		"soft\u00adhyphen":       "soft⟨U+00AD⟩hyphen",
		"photo\u202egnp.exe":     "photo⟨U+202E⟩gnp.exe",
		"a\u2066b\u2069\u200e":   "a⟨U+2066⟩b⟨U+2069⟩⟨U+200E⟩",
		"\U000e0069\U000e0067":   "⟨U+E0069⟩⟨U+E0067⟩",
		"filler\u3164\uffa0":     "filler⟨U+3164⟩⟨U+FFA0⟩",
		"join\u200der\u200c":     "join⟨U+200D⟩er⟨U+200C⟩",
		"a\ufe0fb\U000e0101":     "a⟨U+FE0F⟩b⟨U+E0101⟩",

		// What scripts and emoji need stays.
		"می\u200cخواهم":                 "می\u200cخواهم",
		"شنبه ۵\u200cشنبه":              "شنبه ۵\u200cشنبه",
		"ه\u200d":                       "ه\u200d",
		"क्\u200dष र्\u200cय":           "क्\u200dष र्\u200cय",
		"ශ්\u200dරී":                    "ශ්\u200dරී",
		"👩\u200d🔬 👨\u200d👩\u200d👧":      "👩\u200d🔬 👨\u200d👩\u200d👧",
		"👩🏽\u200d❤\ufe0f\u200d👨":        "👩🏽\u200d❤\ufe0f\u200d👨",
		"🏃\u200d♀\ufe0f\u200d➡\ufe0f":   "🏃\u200d♀\ufe0f\u200d➡\ufe0f",
		"1\ufe0f\u20e3 ©\ufe0f ☎\ufe0e": "1\ufe0f\u20e3 ©\ufe0f ☎\ufe0e",
		"ភាសា\u200bខ្មែរ ไทย\u200bไทย":  "ភាសា\u200bខ្មែរ ไทย\u200bไทย",
		"葛\U000e0100城":                  "葛\U000e0100城",
		"∩\ufe00":                       "∩\ufe00",
		"שלום\u200f!":                   "שלום\u200f!",
		"🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f": "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
		"ᠮᠣᠩ\u180bᠭᠣᠯ": "ᠮᠣᠩ\u180bᠭᠣᠯ",

		// What looks like that and is not is seen.
		"😀\ufe0f\ufe01\ufe02":             "😀\ufe0f⟨U+FE01⟩⟨U+FE02⟩",
		"😀\U000e0148\U000e0149":           "😀⟨U+E0148⟩⟨U+E0149⟩",
		"🏴\U000e0068\U000e0069\U000e007f": "🏴⟨U+E0068⟩⟨U+E0069⟩⟨U+E007F⟩",
		"می\u200c\u200c\u200dخواهم":       "می\u200c⟨U+200C⟩⟨U+200D⟩خواهم",
		"👩\u200d\u200d🔬":                  "👩⟨U+200D⟩⟨U+200D⟩🔬",
		"ไทย\u200b\u200bไทย":              "ไทย⟨U+200B⟩⟨U+200B⟩ไทย",
		"2\ufe0f is not a keycap":         "2⟨U+FE0F⟩ is not a keycap",
		"葛\U000e0100\U000e0101":           "葛\U000e0100⟨U+E0101⟩",
		"👩\u200dx":                        "👩⟨U+200D⟩x",
		"שלום\u202e":                      "שלום⟨U+202E⟩",
	} {
		got := safetext.Visible(in)
		if got != want {
			t.Errorf("Visible(%+q) = %+q, want %+q", in, got, want)
		}
		if again := safetext.Visible(got); again != got {
			t.Errorf("Visible(%+q) = %+q: once more it is %+q", in, got, again)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("aü日\U000e0041\u202e\x1b[2J\r\n👩\u200d🔬 می\u200cخواهم🏴\U000e0067")
	f.Fuzz(func(t *testing.T, s string) {
		shown := safetext.Visible(s)
		if !utf8.ValidString(shown) || strings.ContainsAny(shown, "\x00\x1b\r\u202e\u2066\ufeff\u2060\u00ad\u2028") || shown != safetext.Visible(shown) {
			t.Errorf("Visible(%+q) = %+q", s, shown)
		}
	})
}

func BenchmarkVisible(b *testing.B) {
	for name, text := range map[string]string{
		"ascii": strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 100),
		"mixed": strings.Repeat("Über 日本語 und „Füchse“, die springen – שלום.\n", 100),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				safetext.Visible(text)
			}
		})
	}
}
