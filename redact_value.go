package skillrouter

import (
	"encoding/base64"
	"slices"
	"strings"
)

// Bounds of what is looked at around an assignment; they keep the pass linear.
const (
	maxSecretName  = 64
	maxSecretValue = 512
)

// assignment looks at the = or : at i: for a password in an address
// (scheme://user:password@host), and for a value given to a secret's name.
func (r *redactor) assignment(i int) int {
	if strings.HasPrefix(r.text[i:], "://") {
		return r.address(i + len("://"))
	}
	kind := r.nameBefore(i)
	if kind == "" {
		return i
	}
	from := i + 1
	for from < len(r.text) && from < i+4 && (r.text[from] == ' ' || r.text[from] == '=' || r.text[from] == '>' || r.text[from] == '\t') {
		from++ // also ":=", "=>" and "=="
	}
	if from >= len(r.text) || from < r.copied {
		return i
	}
	quote := r.text[from]
	if strings.HasPrefix(r.text[from:], `\"`) { // JSON inside a string
		from++
		quote = '"'
	}
	if quote == '"' || quote == '\'' || quote == '`' {
		from++
		to := from
		for to < len(r.text) && to-from <= maxSecretValue && r.text[to] != quote && r.text[to] != '\n' && r.text[to] != '\\' {
			to++
		}
		if to >= len(r.text) || r.text[to] == '\n' || to-from > maxSecretValue ||
			hasForm(r.text[from:]) || !literalSecret(r.text[from:to], kind) {
			return i
		}
		return r.cut(from, to, kind)
	}
	to := from
	for to < len(r.text) && to-from <= maxSecretValue && strings.IndexByte(valueEnds, r.text[to]) < 0 {
		to++
	}
	value := strings.TrimRight(r.text[from:to], ".:")
	if hasForm(r.text[from:]) || !bareSecret(value, kind) {
		return i
	}
	return r.cut(from, from+len(value), kind)
}

// option looks at the command line option at i: for a secret that follows its
// name after a space (--password VALUE), and for -u NAME:PASSWORD.
func (r *redactor) option(i int) int {
	from := run(r.text[:min(len(r.text), i+maxSecretName)], i, isTokenByte)
	if from >= len(r.text) || r.text[from] != ' ' {
		return i
	}
	kind := r.nameBefore(from)
	user := r.text[i:from] == "-u" || r.text[i:from] == "--user"
	if kind == "" && !user {
		return i
	}
	from++
	to := from
	for to < len(r.text) && to-from <= maxSecretValue && strings.IndexByte(valueEnds, r.text[to]) < 0 {
		to++
	}
	if user {
		colon := strings.IndexByte(r.text[from:to], ':')
		if colon < 1 {
			return i
		}
		from, kind = from+colon+1, "password"
	}
	value := r.text[from:to]
	if value == "" || strings.Contains(value, "/") || hasForm(value) || !bareSecret(value, kind) {
		return i // what has a slash is a file that holds the secret
	}
	return r.cut(from, to, kind)
}

// valueEnds are the bytes that end a value without quotes.
const valueEnds = " \t\r\n\"'`,;&<>|"

// secretNames are the ends of names that hold secrets, without separators and
// in lower case, and their kinds.
var secretNames = []struct{ suffix, kind string }{
	{"password", "password"},
	{"passwd", "password"},
	{"passphrase", "password"},
	{"pwd", "password"},
	{"secret", "secret"},
	{"secretkey", "secret"},
	{"secretaccesskey", "secret"},
	{"sharedaccesskey", "secret"},
	{"accountkey", "secret"},
	{"privatekey", "secret"},
	{"signingkey", "secret"},
	{"encryptionkey", "secret"},
	{"apikey", "api_key"},
	{"accesskey", "api_key"},
	{"authkey", "api_key"},
	{"token", "token"},
}

// nameBefore returns the kind of secret that the name before the = or : at i
// stands for, or "".
func (r *redactor) nameBefore(i int) string {
	end := i
	for end > 0 && i-end < 4 && strings.IndexByte(" \t\"'`\\?:", r.text[end-1]) >= 0 {
		end--
	}
	// The last letter rules out nearly every = and : of ordinary text.
	if end == 0 || strings.IndexByte("detyn", r.text[end-1]|0x20) < 0 {
		return ""
	}
	var name [maxSecretName]byte
	at := len(name)
	for j := end - 1; j >= 0 && at > 0; j-- {
		c := r.text[j]
		if c == '_' || c == '-' || c == '.' {
			continue
		}
		if !isAlnum(c) {
			break
		}
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		at--
		name[at] = c
	}
	for _, n := range secretNames {
		if strings.HasSuffix(string(name[at:]), n.suffix) {
			return n.kind
		}
	}
	return ""
}

// literalSecret tells whether a quoted value is a secret and not a stand-in for one.
func literalSecret(value, kind string) bool {
	if strings.ContainsAny(value, " \t") || placeholder(value) {
		return false
	}
	if kind == "password" {
		return len(value) >= 6 && !plainWord(value)
	}
	return len(value) >= 12 && mixed(value) && !name(value)
}

// bareSecret tells whether a value without quotes is a secret. Without quotes
// it may as well be code (a name, a call, an index) or a path.
func bareSecret(value, kind string) bool {
	if strings.ContainsAny(value, "()[]{}\\") || placeholder(value) || !mixed(value) || value[0] == '/' || value[0] == '~' {
		return false
	}
	if kind == "password" {
		return len(value) >= 6 && !selector(value)
	}
	return len(value) >= 16 && !selector(value) && !name(value)
}

// selector tells whether value reads as names joined by dots, or as the name
// of a secret with a number: args.password2, password1.
func selector(value string) bool {
	if !strings.Contains(value, ".") {
		last := len(value) - 1
		return isDigit(value[last]) && plainWord(value[:last]) && placeholderWord(value[:last])
	}
	for part := range strings.SplitSeq(value, ".") {
		if part == "" || isDigit(part[0]) || run(part, 0, isWord) < len(part) {
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
	return len(value)-len(letters) <= 2 && plainWord(letters) && (placeholderWord(letters) || strings.ContainsAny(letters, "_-."))
}

// plainWord tells whether value is letters and separators alone.
func plainWord(value string) bool {
	return run(value, 0, func(c byte) bool { return isLetter(c) || c == '_' || c == '-' || c == '.' }) == len(value)
}

// placeholder tells whether value stands for a secret without being one.
func placeholder(value string) bool {
	if value == "" || repetitive(value) {
		return true
	}
	switch value[0] {
	case '<', '{', '%', '[', '*', '(':
		return true
	case '$', '@', ':': // a variable in shell, SQL or a template
		if run(value, 1, isWord) == len(value) {
			return true
		}
	}
	return strings.Contains(value, "${") || strings.Contains(value, "$(") || strings.Contains(value, "{}") ||
		strings.Contains(value, "{{") || strings.Contains(value, "%s") || placeholderWord(value)
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

// address looks for a password between "://" and the host, which begins at i
// if there is none (RFC 3986, section 3.2.1).
func (r *redactor) address(i int) int {
	most := min(len(r.text), i+2*maxSecretName+maxSecretValue)
	colon, at := -1, -1
	for j := i; j < most && at < 0; j++ {
		switch c := r.text[j]; {
		case c == '@':
			at = j
		case c == ':' && colon < 0:
			colon = j
		case c <= ' ' || strings.IndexByte(`/?#"'<>\`+"`", c) >= 0:
			most = j
		}
	}
	if at < 0 || colon < 0 || at-colon < 4 || r.text[i:colon] == "" && at-colon < 8 {
		return i - 1
	}
	password := r.text[colon+1 : at]
	if strings.HasPrefix(password, "[redacted: ") || placeholder(strings.Trim(password, "[](){}")) || (plainWord(password) && len(password) < 6) {
		return at - 1
	}
	return r.cut(colon+1, at, "password")
}

// decodeBase64 decodes standard base64 with or without its padding.
func decodeBase64(value string) ([]byte, error) {
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "="))
}
