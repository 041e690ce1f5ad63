package text_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/tfidf/text"
)

func TestWords(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"plain":                    {"The quick brown fox.", "the quick brown fox"},
		"camel case":               {"getUserName", "get user name [getusername]"},
		"capitals before a word":   {"HTTPServer parseJSONBody", "http server [httpserver] parse json body [parsejsonbody]"},
		"plural of capitals":       {"the URLs and IDs", "the urls and ids"},
		"snake case":               {"max_open_conns", "max open conns [maxopenconns]"},
		"dunder":                   {"__init__ foo__bar", "init foo bar [foobar]"},
		"kebab case":               {"non-exhaustive", "non exhaustive [nonexhaustive]"},
		"path":                     {"see src/lib/main.go", "see src lib main go [maingo] [src/lib/maingo]"},
		"windows path":             {`C:\temp\x.log`, "c temp x log [xlog] [temp/xlog]"},
		"dotted name":              {"os.path.join", "os path join [ospathjoin]"},
		"rust path":                {"std::fmt::Display", "std fmt display [stdfmtdisplay]"},
		"dotted camel":             {"my_mod.doIt", "my mod [mymod] do it [doit] [mymoddoit]"},
		"version":                  {"v1.2.3", "v1 2 3 [v1.2.3]"},
		"versions stay apart":      {"1.23 12.3", "1 23 [1.23] 12 3 [12.3]"},
		"rust error code":          {"error[E0308]: mismatched", "error e0308 mismatched"},
		"screaming code":           {"ERR_FOO", "err foo [errfoo]"},
		"hexadecimal":              {"0x80070005 0xDEADbeef", "0x80070005 0xdeadbeef"},
		"status":                   {"HTTP 507", "http 507"},
		"advisory":                 {"CVE-2024-1234", "cve 2024 1234 [cve20241234]"},
		"possessive":               {"the user's dogs' O'Brien’s", "the user dogs o brien"},
		"contraction":              {"don't they're what's I'd", "dont they what i"},
		"languages with signs":     {"C++ and C# or F#", "c [c++] and c [c#] or f [f#]"},
		"hash before a name":       {"c#tag", "c tag"},
		"accents":                  {"Café naïve Ångström", "cafe naive angstrom"},
		"decomposed accents":       {"Cafe\u0301", "cafe"},
		"ligature and width":       {"ﬁle ＡＢＣ", "file abc"},
		"german":                   {"Straße", "strasse"},
		"greek":                    {"Λόγος ΛΟΓΟΣ", "λογοσ λογοσ"},
		"cyrillic":                 {"Ошибка сервера, ёж", "ошибка сервера еж"},
		"arabic with vowels":       {"كِتَاب أحمد", "كتاب احمد"},
		"hebrew with points":       {"שָׁלוֹם", "שלום"},
		"chinese":                  {"数据库", "(数) (据) 数据 (库) 据库"},
		"one character":            {"库", "库"},
		"chinese beside latin":     {"用Go写", "用 go 写"},
		"japanese":                 {"エラー", "(エ) (ラ) エラ (ー) ラー"},
		"thai":                     {"ไฟล์", "(ไ) (ฟ) ไฟ (ล) ฟล (์) ล์"},
		"devanagari keeps vowels":  {"हिन्दी", "हिन्दी"},
		"emoji":                    {"ship🚀it", "ship 🚀 it"},
		"nothing":                  {"", ""},
		"punctuation":              {"!!! ... --- ///", ""},
		"a dot ends a sentence":    {"done. next", "done next"},
		"flags":                    {"rm -rf --force", "rm rf force"},
		"invalid UTF-8":            {"ab\xffcd \xc3", "ab cd"},
		"NUL":                      {"ab\x00cd", "ab cd"},
		"leading apostrophe":       {"'quoted' words", "quoted words"},
		"number with a plus":       {"a + b", "a b"},
		"zero-width non-joiner":    {"می\u200cروم", "میروم"},
		"slash at the end":         {"either/", "either"},
		"a dash between spaces":    {"a - b", "a b"},
		"words joined with colons": {"key:value", "key value"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(text.Words(tt.in), " "); got != tt.want {
				t.Errorf("Words(%q)\n got %s\nwant %s", tt.in, got, tt.want)
			}
		})
	}
}

func TestWordsAreBounded(t *testing.T) {
	for _, w := range text.Words(strings.Repeat("é", 5000) + " " + strings.Repeat("x_", 5000) + "y " + strings.Repeat("語", 5000)) {
		if len(w) > 66 || !utf8.ValidString(w) {
			t.Fatalf("a word of %d bytes, valid %v", len(w), utf8.ValidString(w))
		}
	}
}

func TestTerms(t *testing.T) {
	got := text.Terms("Running tests in parseConfigFiles; Ошибками")
	want := []string{"run", "test", "in", "pars", "config", "file", "parseconfigfil", "ошибк"}
	if !slices.Equal(got, want) {
		t.Errorf("Terms = %q, want %q", got, want)
	}
}

func FuzzTerms(f *testing.F) {
	for _, s := range []string{"", "getUserName", "a/b.c-d_e", "\xff\xfe", "don't", "C++ C#", "数据库用Go", "🚀‍🚀", "0xFF.1.2", "ﬁ\u0301", strings.Repeat("A", 300), "a::b::", "x'"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a := text.Terms(s)
		for _, w := range a {
			if w == "" || !utf8.ValidString(w) {
				t.Fatalf("term %q of %q", w, s)
			}
		}
		if b := text.Terms(s); !slices.Equal(a, b) {
			t.Fatalf("two analyses of %q differ", s)
		}
	})
}
