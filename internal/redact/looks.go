package redact

import (
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

func isLetter(c byte) bool { return isLower(c | 0x20) }

func isAlnum(c byte) bool { return isDigit(c) || isLetter(c) }

func isToken(c byte) bool { return isAlnum(c) || c == '_' || c == '-' }

func isDotted(c byte) bool { return isToken(c) || c == '.' }

func isOpaque(c byte) bool { return isToken(c) || c == '+' || c == '/' || c == '=' }

// run returns where the run of bytes of a class that begins at i ends.
func run(text string, i int, class func(byte) bool) int {
	for i < len(text) && class(text[i]) {
		i++
	}
	return i
}

func has(s string, class func(byte) bool) bool { return slices.ContainsFunc([]byte(s), class) }

// commonPairs are, for each letter, the letters that follow it in 95 of 100
// pairs within the words of Go's standard library and of this tree's texts. In
// random letters 39 of 100 pairs are among them.
var commonPairs = [26]string{
	"bcdfgiklmnprstuvxy", "aeilouy", "acehiklmorstu", "acdefilorsuy", "acdefgilmnpqrstvwxy", "aefilmortu", "aehinorsu", "aeiotr", "acdefglmnoprstvxz",
	"esao", "aeisn", "adeilorstuy", "abdeimopstu", "acdefgiklnostuvyz", "abcdfgiklmnoprstuvwx", "aehikloprstu", "u", "acdefgiklmnorstuvyw",
	"acehiklopstuwym", "acefhiloprstuxyzw", "abcefilmnprst", "aeio", "aehinor", "aefpt", "pst", "ea",
}

// random tells whether value looks drawn from a generator and not written by a
// person: of its pairs of neighbours a third are rare in words, or change
// between letters and digits, or from lower case to upper where no word ends.
func random(value string) bool {
	odd, pairs := 0, 0
	for i := 1; i < len(value); i++ {
		a, b := value[i-1], value[i]
		if !isAlnum(a) || !isAlnum(b) || isDigit(a) && isDigit(b) {
			continue
		}
		pairs++
		switch {
		case isDigit(a) != isDigit(b):
			odd++
		case isLower(a) && isUpper(b):
			if i+1 < len(value) && !isLower(value[i+1]) || i > 1 && !isLower(value[i-2]) {
				odd++ // no word of camel case is that short
			}
		case strings.IndexByte(commonPairs[a|0x20-'a'], b|0x20) < 0:
			odd++
		}
	}
	return len(value) >= 8 && pairs >= 6 && odd >= 3 && 10*odd >= 3*pairs
}

// mixed tells whether s has letters and digits, as random tokens of any
// length have and words have not.
func mixed(s string) bool { return has(s, isDigit) && has(s, isLetter) && !repetitive(s) }

// solid tells whether n letters and digits, one of them a digit, stand together in s.
func solid(s string, n int) bool {
	return slices.ContainsFunc(strings.FieldsFunc(s, func(r rune) bool { return r >= 0x80 || !isAlnum(byte(r)) }), func(part string) bool {
		return len(part) >= n && has(part, isDigit)
	})
}

// repetitive tells whether s has hardly any different bytes, or counts on, as the dummies in documentation do: xxxx0000, 12345678, abcdef.
func repetitive(s string) bool {
	var seen [256]bool
	distinct, counted := 0, 0
	for i := range len(s) {
		if !seen[s[i]] {
			seen[s[i]] = true
			distinct++
		}
		if i > 0 && s[i] == s[i-1]+1 {
			counted++
		}
	}
	return distinct <= 4 || len(s) > 8 && counted > len(s)*2/3
}

// forms are the expressions of redact.txt by their names.
var forms = sync.OnceValue(func() map[string]*lazyregexp.Regexp {
	named, parts := map[string]*lazyregexp.Regexp{}, []string{}
	for _, list := range []string{"placeholders", "formats", "connectors", "relations"} {
		words := regexp.QuoteMeta(strings.Join(wordlist.Lines(redactText, list), " "))
		parts = append(parts, "{"+list+"}", strings.ReplaceAll(words, " ", "|"))
	}
	for name, expr := range wordlist.Pairs(redactText, "forms") {
		expr = strings.NewReplacer(parts...).Replace(expr)
		parts = append(parts, "{"+name+"}", expr)
		named[name] = lazyregexp.New(expr)
	}
	filled := strings.NewReplacer(parts...)
	for name, expr := range wordlist.Pairs(redactText, "led to") {
		named[name] = lazyregexp.New("(?i)" + filled.Replace(expr))
	}
	option := named["option of a command"].Compiled().String()
	for command, expr := range wordlist.Pairs(redactText, "options") {
		named[command] = lazyregexp.New(strings.Replace(option, "OPTION", filled.Replace(expr), 1))
	}
	return named
})

// matches tells whether value has a form.
func matches(form, value string) bool { return forms()[form].MatchString(value) }

// placeholder tells whether value stands for a secret without being one.
func placeholder(value string) bool {
	return value == "" || repetitive(value) || matches("placeholder", value)
}

// named tells whether value reads as a name that has a word for a secret, or several words.
func named(value string) bool {
	return matches("name", value) && strings.ContainsAny(value, "_-.") && !random(value)
}

// coded tells whether value is code that passes a secret on.
func coded(value string) bool {
	return run(value, 0, isAlnum) < len(value) && (matches("code", value) && (strings.ContainsAny(value, `:/~^\`) || !random(value)) || matches("selector", value) && !random(value))
}

// technical tells whether value is a format, a version or a measure.
func technical(value string) bool { return matches("technical", value) && !random(value) }

// basic tells whether value is base64 of "user:password" (RFC 7617).
func basic(value string) bool { return strings.Index(decode(value), ":") > 0 }

// mostEncoded is how much of a run is decoded, in bytes.
const mostEncoded = 8 << 10

// decode decodes base64 of either alphabet, with or without padding, and
// returns the text if it is one.
func decode(value string) string {
	value = strings.TrimRight(value[:min(len(value), mostEncoded)], "=")
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(value, "-_") {
		encoding = base64.RawURLEncoding
	}
	if len(value)%4 == 1 {
		value = value[:len(value)-1]
	}
	isText := func(text []byte) bool {
		return !slices.ContainsFunc(text, func(c byte) bool { return c < ' ' && c != '\n' && c != '\r' && c != '\t' || c >= 0x7f })
	}
	// The first bytes tell data from text, which is most of what is met.
	head, err := encoding.DecodeString(value[:min(len(value), 16)])
	if err != nil || !isText(head) {
		return ""
	}
	text, err := encoding.DecodeString(value)
	if err != nil || !utf8.Valid(text) || !isText(text) {
		return ""
	}
	return string(text)
}
