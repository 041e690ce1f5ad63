package redact

import (
	"slices"
	"strings"
)

// commonPairs are, for each letter, the letters that follow it in 95 of 100
// pairs within the words of Go's standard library and of this tree's texts. In
// random letters 39 of 100 pairs are among them.
var commonPairs = [26]string{
	"bcdfgiklmnprstuvxy", "aeilouy", "acehiklmorstu", "acdefilorsuy", "acdefgilmnpqrstvwxy", "aefilmortu", "aehinorsu", "aeiotr", "acdefglmnoprstvxz",
	"esao", "aeisn", "adeilorstuy", "abdeimopstu", "acdefgiklnostuvyz", "abcdfgiklmnoprstuvwx", "aehikloprstu", "u", "acdefgiklmnorstuvyw",
	"acehiklopstuwym", "acefhiloprstuxyzw", "abcefilmnprst", "aeio", "aehinor", "aefpt", "pst", "ea",
}

// pairs is commonPairs as bits.
var pairs = func() (bits [26]uint32) {
	for a, following := range commonPairs {
		for _, b := range following {
			bits[a] |= 1 << (b - 'a')
		}
	}
	return bits
}()

// random tells whether value looks drawn from a generator and not written by a
// person: of its pairs of neighbours a third are rare in words, or change
// between letters and digits, or from lower case to upper where no word ends.
func random(value string) bool {
	if len(value) < 8 {
		return false
	}
	odd, all := 0, 0
	for i := 1; i < len(value); i++ {
		a, b := value[i-1], value[i]
		switch {
		case isLetter(a) && isLetter(b):
			all++
			x, y := a|0x20, b|0x20
			if isLower(a) && isUpper(b) {
				if i+1 < len(value) && !isLower(value[i+1]) || i > 1 && !isLower(value[i-2]) {
					odd++ // no word of camel case is that short
				}
			} else if pairs[x-'a']&(1<<(y-'a')) == 0 {
				odd++
			}
		case isAlnum(a) && isAlnum(b):
			all++
			if isDigit(a) != isDigit(b) {
				odd++
			}
		}
	}
	return all >= 6 && odd >= 3 && 10*odd >= 3*all
}

// mixed tells whether s has letters and digits, as random tokens of any
// length have and words have not.
func mixed(s string) bool {
	return has(s, isDigit) && has(s, isLetter) && !repetitive(s)
}

// longestSolid returns the length of the longest run of letters and digits in
// s that has a digit.
func longestSolid(s string) int {
	longest := 0
	for from := 0; from < len(s); from++ {
		to := run(s, from, isAlnum)
		if to-from > longest && has(s[from:to], isDigit) {
			longest = to - from
		}
		from = to
	}
	return longest
}

// repetitive tells whether s has hardly any different bytes, as the dummies
// in documentation have: xxxx0000.
func repetitive(s string) bool {
	var seen [256]bool
	distinct := 0
	for i := range len(s) {
		if !seen[s[i]] {
			seen[s[i]] = true
			distinct++
		}
	}
	return distinct <= 4
}

// uuid tells whether value has the form of a UUID, by which things are named.
func uuid(value string) bool {
	return len(value) == 36 && value[8] == '-' && value[13] == '-' && value[18] == '-' && value[23] == '-'
}

// selector tells whether value reads as names joined by dots, or as the name
// of a secret with a number: args.password2, password1.
func selector(value string) bool {
	if !strings.Contains(value, ".") {
		last := len(value) - 1
		return isDigit(value[last]) && plainWord(value[:last]) && placeholderWord(value[:last])
	}
	for part := range strings.SplitSeq(value, ".") {
		if part == "" || isDigit(part[0]) || run(part, 0, isWord) < len(part) || random(part) {
			return false
		}
	}
	return true
}

// name tells whether value reads as the name of what holds a secret
// (oauth2_access_token) and not as one: it is made of words, and few digits.
func name(value string) bool {
	letters := strings.Map(func(r rune) rune {
		if r < 0x80 && isDigit(byte(r)) {
			return -1
		}
		return r
	}, value)
	return len(value)-len(letters) <= 2 && plainWord(letters) && !random(letters) && (placeholderWord(letters) || strings.ContainsAny(letters, "_-."))
}

// plainWord tells whether value is letters and separators alone.
func plainWord(value string) bool {
	return run(value, 0, func(c byte) bool { return isLetter(c) || c == '_' || c == '-' || c == '.' }) == len(value)
}

// singleWord tells whether value is one word, which stands elsewhere in its own right.
func singleWord(value string) bool {
	return run(value, 0, isLetter) == len(value) && !random(value)
}

// placeholder tells whether value stands for a secret without being one.
func placeholder(value string) bool {
	if value == "" || repetitive(value) {
		return true
	}
	last := value[len(value)-1]
	switch value[0] {
	case '<', '{', '[', '(': // <password>, [password]
		if last == value[0]+2 || last == value[0]+1 || plainWord(value[1:]) {
			return true
		}
	case '%': // %s, %PASSWORD%, %(password)s
		if last == '%' || run(value, 1, isWord) == len(value) || value[1] == '(' {
			return true
		}
	case '$', '@', ':': // a variable in shell, SQL or a template
		if run(value, 1, isWord) == len(value) {
			return true
		}
	}
	return strings.Contains(value, "${") || strings.Contains(value, "$(") || strings.Contains(value, "{}") ||
		strings.Contains(value, "{{") || strings.Contains(value, "%s") || strings.Contains(value, "[redacted") || placeholderWord(value)
}

// placeholderWords are what documentation and code write in a secret's place.
var placeholderWords = []string{
	"password", "passwd", "passphrase", "secret", "token", "apikey", "example", "changeme", "placeholder",
	"dummy", "redacted", "undefined", "string", "optional", "required", "default", "insert", "replace", "sample",
}

// placeholderWord tells whether value is made of words that documentation puts
// in a secret's place: my_secret_token, your-api-key, EXAMPLEKEY.
func placeholderWord(value string) bool {
	low := strings.ToLower(value)
	if strings.HasPrefix(low, "your") || strings.HasPrefix(low, "my_") || strings.HasPrefix(low, "my-") || strings.HasPrefix(low, "example") {
		return true
	}
	if !plainWord(low) {
		return false
	}
	letters := strings.ReplaceAll(strings.ReplaceAll(low, "_", ""), "-", "")
	return slices.ContainsFunc(placeholderWords, func(w string) bool { return strings.Contains(letters, w) })
}
