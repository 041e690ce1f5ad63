package contexts

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSentenceEnds(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string // the parts between the ends
	}{
		"two":            {"Read it. Then write.", []string{"Read it.", " Then write."}},
		"abbreviations":  {"Use a cache, e.g. Redis. See Fig. 3 and J. Doe. Done.", []string{"Use a cache, e.g. Redis.", " See Fig. 3 and J. Doe.", " Done."}},
		"decimals":       {"It took 3.5 s on v1.2.3. Good.", []string{"It took 3.5 s on v1.2.3.", " Good."}},
		"lower case":     {"approx. twice. as much", []string{"approx. twice. as much"}},
		"quotes":         {`He said "stop!" Then it ended (really.) Yes.`, []string{`He said "stop!"`, " Then it ended (really.)", " Yes."}},
		"questions":      {"Why? Because! Yes", []string{"Why?", " Because!", " Yes"}},
		"CJK":            {"接続を確認。次に再起動する。終わり", []string{"接続を確認。", "次に再起動する。", "終わり"}},
		"lines":          {"- one\n- two\n\nthree", []string{"- one", "\n- two", "\n\nthree"}},
		"code":           {"Run:\n```go\nfmt.Println(\"a. B\") // x. Y\nreturn\n```\nDone.", []string{"Run:", "\n```go\nfmt.Println(\"a. B\") // x. Y", "\nreturn", "\n```", "\nDone."}},
		"a file":         {"Edit main.go. It is there", []string{"Edit main.go.", " It is there"}},
		"no end":         {"word word", []string{"word word"}},
		"ellipsis":       {"Wait... Now. Go", []string{"Wait...", " Now.", " Go"}},
		"empty":          {"", nil},
		"nothing but it": {"...", []string{"..."}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			begin := 0
			for _, end := range sentenceEnds(test.text) {
				got = append(got, test.text[begin:end])
				begin = end
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func FuzzSentenceEnds(f *testing.F) {
	f.Add("Read it. Then (e.g. this) write.\n```\na.b\n```\n。")
	f.Add(strings.Repeat(".\")", 50))
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			t.Skip()
		}
		before := 0
		for _, end := range sentenceEnds(text) {
			if end <= before || end > len(text) || !utf8.ValidString(text[:end]) {
				t.Fatalf("%d after %d in %q", end, before, text)
			}
			before = end
		}
	})
}

// FuzzTokensAddUp holds what the context builder builds on: the tokens of lines that end and begin as its parts do add up.
func FuzzTokensAddUp(f *testing.F) {
	f.Add("don't 123 x\n", "<memory>\n")
	f.Add(" \r\n/\n", "#")
	f.Add("'\n", "'s")
	f.Fuzz(func(t *testing.T, a, b string) {
		a, b = strings.ToValidUTF8(a, "?")+"\n", "<"+strings.ToValidUTF8(b, "?")
		if CountTokens(a)+CountTokens(b) != CountTokens(a+b) {
			t.Fatalf("%q and %q do not add up", a, b)
		}
	})
}
