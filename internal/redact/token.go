package redact

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
)

// tokenForm is a token that is known by its prefix.
type tokenForm struct {
	prefix, kind string
	segments     []segment // what follows the prefix
	solid        int       // the least run of letters and digits together, with a digit: words joined by dashes have none
}

// segment is a run of a class, and the byte that joins it to the next.
type segment struct {
	chars       func(byte) bool
	least, most int // 0 for any number at the most
	joint       byte
}

// shapeClasses are the classes of shapes.
var shapeClasses = map[byte]func(byte) bool{
	'a': isAlnum, 'A': isUpperDigit, 'l': isLowerDigit, 'h': isHex, 'd': isDigit, 'w': isWord, 't': isTokenByte, 'b': isBase64, 'p': isPathByte, 'u': isOpaque, 'c': isAddressByte,
}

// readShape reads a shape. It is written in redact.txt, and so is right.
func readShape(shape string) (segments []segment) {
	number := func() (n int) {
		for shape != "" && isDigit(shape[0]) {
			n, shape = n*10+int(shape[0]-'0'), shape[1:]
		}
		return n
	}
	for shape != "" {
		s := segment{chars: shapeClasses[shape[0]]}
		shape = shape[1:]
		s.least = number()
		s.most = s.least
		// A dash says "or more" unless a class follows it, which it joins.
		if shape != "" && shape[0] == '-' && (len(shape) == 1 || shapeClasses[shape[1]] == nil) {
			shape = shape[1:]
			s.most = number()
		}
		if shape != "" {
			s.joint, shape = shape[0], shape[1:]
		}
		segments = append(segments, s)
	}
	return segments
}

// leastSolid is from where on a form's prefix is so short that the rest must look random too.
const leastSolid = 16

// match returns where the token that begins text ends, or 0.
func (f tokenForm) match(text string) int {
	if !strings.HasPrefix(text, f.prefix) {
		return 0
	}
	from := len(f.prefix)
	at := from
	for n, s := range f.segments {
		end := run(text, at, s.chars)
		last := n == len(f.segments)-1
		if last {
			end = at + len(strings.TrimRight(text[at:end], "-"))
		} else if s.joint == '-' && s.most > 0 && end > at+s.most {
			end = at + s.most
		}
		if end-at < s.least || s.most > 0 && end-at > s.most {
			return 0
		}
		at = end
		if last {
			break
		}
		if at == len(text) || text[at] != s.joint {
			return 0
		}
		at++
	}
	body := text[from:at]
	if f.solid > 0 && (!mixed(body) || longestSolid(body) < f.solid || f.solid >= leastSolid && !random(body)) {
		return 0
	}
	return at
}

// word looks for a token or the name of a secret that begins at i, where a word begins.
func (f *finder) word(i int) int {
	rest := f.text[i:]
	switch rest[0] {
	case 'b', 'B':
		if end := f.credentials(i); end != i {
			return end
		}
	case 'M', 'N', 'O':
		if n := discordToken(rest); n > 0 {
			return f.cut(i, i+n, "discord_token")
		}
	}
	joined := i > 0 && f.text[i-1] == '-'
	for n := range tables().formsBy[rest[0]] {
		form := &tables().formsBy[rest[0]][n]
		// A run of token bytes begins once: what follows a dash was looked at with it.
		if joined && form.segments[0].chars('-') && len(form.prefix) < 5 {
			continue
		}
		if n := form.match(rest); n > 0 {
			return f.cut(i, i+n, form.kind)
		}
	}
	if i > 0 && f.text[i-1] == '_' {
		return i
	}
	return f.said(i)
}

// discordToken returns where a Discord bot's token ends, or 0: the bot's number
// in base64, a time, and a signature.
func discordToken(text string) int {
	first := run(text, 0, isAlnum)
	if first < 24 || first > 28 || first == len(text) || text[first] != '.' {
		return 0
	}
	second := run(text, first+1, isTokenByte)
	if second-first != 7 || second == len(text) || text[second] != '.' {
		return 0
	}
	third := run(text, second+1, isTokenByte)
	if third-second < 28 || third-second > 48 || !mixed(text[:first]) {
		return 0
	}
	return third
}

// azure looks for a client secret of Microsoft Entra around the ~ at i: three
// bytes, a digit, "Q~", and 31 to 34 bytes.
func (f *finder) azure(i int) int {
	class := func(c byte) bool { return isDotted(c) || c == '~' }
	if i < 5 || f.text[i-1] != 'Q' || !isDigit(f.text[i-2]) {
		return i
	}
	from, to := i-5, run(f.text, i+1, class)
	to = i + 1 + len(strings.TrimRight(f.text[i+1:to], ".-~"))
	if run(f.text, from, class) < i-2 || to-i-1 < 28 || to-i-1 > 40 || from < f.end {
		return i
	}
	return f.cut(from, to, "azure_secret")
}

// terraform looks for a token of HCP Terraform around the . at i.
func (f *finder) terraform(i int) int {
	const infix = ".atlasv1."
	if !strings.HasPrefix(f.text[i:], infix) {
		return i
	}
	from, to := runBack(f.text, i, 20, isAlnum), run(f.text, i+len(infix), isTokenByte)
	if i-from < 10 || to-i-len(infix) < 40 || from < f.end {
		return i
	}
	return f.cut(from, to, "terraform_token")
}

// telegram looks for a bot's token around the : at i: its number, and "AA" with 33 bytes.
func (f *finder) telegram(i int) (int, bool) {
	if !strings.HasPrefix(f.text[i+1:], "AA") {
		return i, false
	}
	from, to := runBack(f.text, i, 12, isDigit), run(f.text, i+1, isTokenByte)
	if i-from < 6 || to-i-1 < 33 || to-i-1 > 37 || from < f.end {
		return i, false
	}
	return f.cut(from, to, "telegram_token"), true
}

// dash looks at the - at i: for a key block, an option, and Mailchimp's keys,
// which end in the name of a data centre.
func (f *finder) dash(i int) int {
	switch {
	case strings.HasPrefix(f.text[i:], blockBegin):
		return f.keyBlock(i)
	case strings.HasPrefix(f.text[i:], "-us"):
		from, to := runBack(f.text, i, 33, isHex), run(f.text, i+3, isDigit)
		if i-from == 32 && to > i+3 && to <= i+5 && from >= f.end {
			return f.cut(from, to, "mailchimp_key")
		}
	}
	if i == 0 || f.text[i-1] <= ' ' || strings.IndexByte("\"'`([", f.text[i-1]) >= 0 {
		return f.option(i)
	}
	return i
}

// credentials looks for the schemes of the Authorization header, "Bearer" and
// "Basic", and what follows them.
func (f *finder) credentials(i int) int {
	rest := f.text[i:]
	for _, scheme := range []string{"bearer", "basic"} {
		n := len(scheme)
		if len(rest) <= n+1 || rest[n] != ' ' || !strings.EqualFold(rest[:n], scheme) {
			continue
		}
		from := i + n + 1
		if hasForm(f.text[from:]) {
			return i // its own form says more of it
		}
		to := run(f.text, from, isCredentialByte)
		value := strings.TrimRight(f.text[from:to], ".")
		switch {
		case scheme == "bearer" && len(value) >= 16 && (mixed(value) || random(value)) && !placeholder(value) && !name(value):
			return f.cut(from, from+len(value), "bearer_token")
		case scheme == "basic" && isBasic(value):
			return f.cut(from, from+len(value), "basic_credentials")
		}
	}
	return i
}

// hasForm tells whether a token of a known form begins text.
func hasForm(text string) bool {
	return text != "" && slices.ContainsFunc(tables().formsBy[text[0]], func(f tokenForm) bool { return f.match(text) > 0 })
}

const (
	blockBegin = "-----BEGIN "
	blockEnd   = "-----END "
	keyWords   = "PRIVATE KEY"
	// blockLabel is the longest label of a PEM block that is looked at.
	blockLabel = 64
)

// keyBlock looks whether the PEM block (RFC 7468) that begins at i holds a
// private key. A block without an end is cut up to the last line of base64.
func (f *finder) keyBlock(i int) int {
	label := f.text[i+len(blockBegin):]
	label = label[:min(len(label), blockLabel)]
	closing := strings.Index(label, "-----")
	if closing < 0 || !strings.Contains(label[:closing], keyWords) {
		return i
	}
	from := i + len(blockBegin) + closing + len("-----")
	if !f.noEnd {
		if end := strings.Index(f.text[from:], blockEnd); end >= 0 {
			to := from + end + len(blockEnd)
			if close := strings.Index(f.text[to:min(len(f.text), to+blockLabel)], "-----"); close >= 0 {
				to += close + len("-----")
			}
			return f.cut(i, to, "private_key")
		}
		f.noEnd = true
	}
	to := from
	for to < len(f.text) && (isBase64(f.text[to]) || f.text[to] == '\n' || f.text[to] == '\r' || f.text[to] == '\\') {
		to++
	}
	return f.cut(i, to, "private_key")
}

// isBasic tells whether value is base64 of "user:password" (RFC 7617).
func isBasic(value string) bool {
	if len(value) < 8 || len(value) > 512 {
		return false
	}
	text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(value, "="))
	return err == nil && bytes.IndexByte(text, ':') > 0 && !bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' })
}
