package redact

import (
	"strings"
)

// Bounds of what is looked at around a name; they keep the pass linear.
const (
	maxSecretName  = 64
	maxSecretValue = 512
	// maxOwner is how far before "value" the name is looked for that it belongs to.
	maxOwner = 240
	// maxSaid is how far behind a word for a secret the secret may be said.
	maxSaid = 64
	// maxSpent is how many bytes of values are looked at for each maxSecretValue of text.
	maxSpent = 4 * maxSecretValue
	// maxCommand is how far before an option its command is looked for.
	maxCommand = 256
)

// secretName is the end of names that hold secrets, without separators and in lower case.
type secretName struct {
	suffix, kind string
	// weak names also name what is no secret: their values must look random.
	weak bool
}

// none is the name that stands for no secret.
var none secretName

// nameOf returns what secret a name stands for.
func nameOf(text string) secretName {
	var buf [maxSecretName]byte
	at := len(buf)
	for j := len(text) - 1; j >= 0 && at > 0; j-- {
		c := text[j]
		if c == '_' || c == '-' || c == '.' {
			continue
		}
		at--
		buf[at] = lower(c)
	}
	clean := string(buf[at:])
	if n := suffixName(clean); n.kind != "" {
		return n
	}
	if clean == "" {
		return none
	}
	for _, stage := range tables().stagesBy[clean[len(clean)-1]] {
		if before, is := strings.CutSuffix(clean, stage); is && len(before) > 3 && separated(text, len(stage)) {
			if n := suffixName(before); n.kind != "" && !n.weak && n.kind != "authorization" && n.kind != "cookie" {
				return n
			}
		}
	}
	if before := strings.TrimRight(clean, "0123456789"); len(before) < len(clean) && len(clean)-len(before) <= 2 {
		if n := suffixName(before); n.kind == "password" || n.kind == "secret" {
			return n
		}
	}
	return none
}

// separated tells whether the last n bytes of a name are a part of their own.
func separated(name string, n int) bool {
	at := len(name) - n
	return at > 0 && (strings.IndexByte("_-.", name[at-1]) >= 0 || isUpper(name[at]) && isLower(name[at-1]))
}

func suffixName(clean string) secretName {
	if clean == "" {
		return none
	}
	for _, n := range tables().namesBy[clean[len(clean)-1]] {
		if !strings.HasSuffix(clean, n.suffix) {
			continue
		}
		rest := clean[:len(clean)-len(n.suffix)]
		switch n.suffix {
		case "pass": // bypass, compass
			if strings.HasSuffix(rest, "by") || strings.HasSuffix(rest, "com") || strings.HasSuffix(rest, "sur") || strings.HasSuffix(rest, "tres") {
				return none
			}
		case "pw", "pat", "sig", "auth", "psk", "haslo": // short ones stand at the end of other words
			if rest != "" && len(rest) < 8 && n.suffix != "pw" && n.suffix != "auth" {
				return none
			}
		case "token":
			if strings.HasSuffix(rest, "next") || strings.HasSuffix(rest, "page") || strings.HasSuffix(rest, "continuation") {
				return secretName{n.suffix, n.kind, true}
			}
		}
		return n
	}
	return none
}

func lower(c byte) byte {
	if isUpper(c) {
		return c | 0x20
	}
	return c
}

// nameBefore returns what the name before the = or : at i stands for, and where it begins.
func (f *finder) nameBefore(i int) (secretName, int) {
	end := i
	for end > 0 && i-end < 4 && strings.IndexByte(" \t\"'`\\?:*]|", f.text[end-1]) >= 0 {
		end--
	}
	if end == 0 || !isAlnum(f.text[end-1]) {
		return none, end
	}
	from := runBack(f.text, end, maxSecretName, isDotted)
	// "line\npassword" in a literal: the n is of the escape.
	if from > 0 && f.text[from-1] == '\\' && from+1 < end && strings.IndexByte("nrt", f.text[from]) >= 0 {
		from++
	}
	return nameOf(f.text[from:end]), from
}

// assignment looks at the = or : at i: for a password in an address
// (scheme://user:password@host), and for a value given to a secret's name.
func (f *finder) assignment(i int) int {
	if f.text[i] == ':' {
		if strings.HasPrefix(f.text[i:], "://") {
			return f.address(i + len("://"))
		}
		if end, found := f.telegram(i); found {
			return end
		}
	}
	n, from := f.nameBefore(i)
	if n.kind == "" {
		if n = f.owner(i, from); n.kind == "" {
			return i
		}
	}
	if n.suffix == "pass" && f.text[i] == ':' && isUpper(f.text[from]) {
		n.weak = true // "PASS: TestServe2" of a test's run
	}
	return f.given1(i+1, i, n)
}

// given1 looks at what is given to a name: at from, behind the = or : at i.
func (f *finder) given1(from, i int, n secretName) int {
	for from < len(f.text) && from < i+5 && strings.IndexByte(" =>\t*", f.text[from]) >= 0 {
		from++ // also ":=", "=>", "==" and the ** of "**Password:** x"
	}
	if n.kind == "password" || n.kind == "secret" {
		from = f.nextLine(from)
	}
	if from >= len(f.text) || from < f.end {
		return i
	}
	switch n.kind {
	case "authorization":
		return f.authorization(from, i)
	case "cookie":
		return f.cookies(from, i)
	case "mnemonic":
		return f.mnemonic(from, i)
	}
	from, to, quoted := f.value(from)
	if hasForm(f.text[from:to]) {
		return i
	}
	value := f.text[from:to]
	if !quoted {
		value = bare(value)
	}
	if !n.accepts(value, quoted) {
		return i
	}
	return f.cut(from, from+len(value), n.kind)
}

// nextLine steps over what YAML writes between a name and a value below it: | and >-.
func (f *finder) nextLine(from int) int {
	at := from
	for at < len(f.text) && at < from+3 && strings.IndexByte("|>-+", f.text[at]) >= 0 {
		at++
	}
	if at == from || at >= len(f.text) || f.text[at] != '\n' {
		return from
	}
	return min(len(f.text), run(f.text, at+1, func(c byte) bool { return c == ' ' }))
}

// endsValue tells the bytes that end a value without quotes.
var endsValue = func() (table [256]bool) {
	for _, c := range []byte(" \t\r\n\"'`,;&<>|") {
		table[c] = true
	}
	return table
}()

// value returns where the value at from begins and ends, without its quotes.
// Names without an end between them would have the same bytes looked at as the
// value of each; from a bound on, they are not.
func (f *finder) value(from int) (begin, end int, quoted bool) {
	if from >= f.window {
		f.window, f.spent = from+maxSecretValue, 0
	}
	if from >= len(f.text) || f.spent > maxSpent {
		return from, from, false
	}
	defer func() { f.spent += end - begin }()
	quote, literal := f.text[from], false
	if quote == '\\' && from+1 < len(f.text) && strings.IndexByte("\"'", f.text[from+1]) >= 0 { // JSON inside a string
		from++
		quote, literal = f.text[from], true
	}
	most := min(len(f.text), from+1+maxSecretValue)
	if quote == '"' || quote == '\'' || quote == '`' {
		from++
		for to := from; to < most; to++ {
			switch c := f.text[to]; {
			case c == quote, literal && c == '\\':
				return from, to, true
			case c == '\n':
				most = to // it is not closed
			case c == '\\':
				to++
			}
		}
	}
	to := from
	for to < most && !endsValue[f.text[to]] {
		if f.text[to] == '\\' && to+1 < len(f.text) && strings.IndexByte("nrtu\"'", f.text[to+1]) >= 0 {
			break // an escape of the literal around it
		}
		to++
	}
	return from, to, false
}

// bare takes from a value without quotes what the sentence around it put behind it.
func bare(value string) string {
	for value != "" {
		switch c := value[len(value)-1]; c {
		case '.', ':', '*', '_':
		case ')', ']', '}':
			opens := map[byte]byte{')': '(', ']': '[', '}': '{'}[c]
			if strings.Count(value, string(rune(opens))) >= strings.Count(value, string(rune(c))) {
				return value
			}
		default:
			return value
		}
		value = value[:len(value)-1]
	}
	return value
}

// accepts tells whether a value that is given to the name is a secret, and
// neither a stand-in for one nor the code that passes one on.
func (n secretName) accepts(value string, quoted bool) bool {
	if strings.ContainsAny(value, " \t\n") || placeholder(value) {
		return false
	}
	password := n.kind == "password"
	switch {
	case n.weak:
		return n.acceptsRandom(value)
	case quoted && password:
		return len(value) >= 6 && (!plainWord(value) || random(value))
	case quoted:
		return len(value) >= 12 && (mixed(value) || random(value)) && !name(value)
	case code(value) || value[0] == '/' || value[0] == '~':
		return false
	case !mixed(value) && !random(value) && (!password || run(value, 0, isDigit) < len(value)):
		return false
	case password:
		return len(value) >= 6 && !selector(value)
	}
	return len(value) >= 16 && !selector(value) && !name(value)
}

// acceptsRandom tells it of a name that also names what is no secret.
func (n secretName) acceptsRandom(value string) bool {
	if n.kind == "basic_credentials" && isBasic(value) {
		return true
	}
	if len(value) < 16 || !mixed(value) || !random(value) {
		return false
	}
	switch {
	case n.kind == "basic_credentials":
		return !uuid(value)
	case n.kind == "signature":
		return len(value) >= 32
	case n.kind == "session":
		return len(value) >= 20 && !uuid(value) && run(value, 0, isWord) == len(value)
	case n.suffix == "key" || n.suffix == "primarykey":
		return len(value) >= 20 && !uuid(value) && run(value, 0, isWord) == len(value) && has(value, isUpper) && has(value, isLower)
	}
	return !code(value)
}

// code tells whether a value without quotes is a call, an index or a path of
// Windows: a name, and a bracket behind it, or a backslash.
func code(value string) bool {
	i := strings.IndexAny(value, "()[]{}\\")
	return i >= 0 && (value[i] == '\\' || run(value, 0, isDotted) >= i || !random(value))
}

// owner returns what the name stands for that a member "value" belongs to:
// {"name": "DB_PASSWORD", "value": …}, and {"password": {"value": …}}. The
// member's name begins at from.
func (f *finder) owner(i, from int) secretName {
	member := strings.TrimRight(f.text[from:i], " \t\"'`\\?:*]|")
	switch member {
	case "value", "Value", "VALUE", "val", "default", "current", "new", "old", "data", "content", "plaintext", "plain", "text", "defaultValue", "default_value", "secretString":
	default:
		return none
	}
	depth := 0
	for j := from - 1; j >= max(0, from-maxOwner); j-- {
		switch f.text[j] {
		case '}':
			depth++
		case '{':
			if depth--; depth >= 0 {
				continue
			}
			j = runBack(f.text, j, 4, func(c byte) bool { return c == ' ' || c == '\n' }) - 1
			if j >= 0 && (f.text[j] == ':' || f.text[j] == '=') {
				n, _ := f.nameBefore(j)
				return n
			}
			return none
		case ':', '=':
			if depth == 0 && f.isNaming(j) {
				_, n := f.naming(j)
				return n
			}
		case '>':
			if depth == 0 && j >= 5 && f.text[j-5] != '/' && strings.EqualFold(f.text[j-4:j], "name") {
				return nameOf(f.text[j+1 : run(f.text, j+1, isDotted)])
			}
		case '\n':
			// A member of YAML that is indented less: password:\n  value: x
			if head := strings.TrimRight(f.text[max(0, j-maxSecretName):j], " \r"); strings.HasSuffix(head, ":") && strings.TrimSpace(f.text[j+1:from]) == "" {
				n, _ := f.nameBefore(max(0, j-maxSecretName) + len(head) - 1)
				return n
			}
		}
	}
	// The name may come after the value.
	_, to, _ := f.value(i + 1 + run(f.text[i+1:min(len(f.text), i+4)], 0, func(c byte) bool { return c == ' ' }))
	for j := to; j < min(len(f.text), to+maxSecretName) && f.text[j] != '}' && f.text[j] != '{'; j++ {
		if (f.text[j] == ':' || f.text[j] == '=') && f.isNaming(j) {
			_, n := f.naming(j)
			return n
		}
	}
	return none
}

// isNaming tells whether a member "name" or "key" ends at the = or : at j.
func (f *finder) isNaming(j int) bool {
	end := len(strings.TrimRight(f.text[max(0, j-3):j], " \"'\\")) + max(0, j-3)
	from := runBack(f.text, end, 12, isWord)
	switch strings.ToLower(f.text[from:end]) {
	case "name", "key", "field", "variable", "property", "id":
		return true
	}
	return false
}

// naming returns the name that is given at the = or : at j.
func (f *finder) naming(j int) (int, secretName) {
	from, to, _ := f.value(j + 1 + run(f.text[j+1:min(len(f.text), j+4)], 0, func(c byte) bool { return c == ' ' }))
	if to-from > maxSecretName {
		return to, none
	}
	return to, nameOf(f.text[from:to])
}

// given looks at what stands between a name and its value in XML
// (<password>x</password>), tables (| password | x |) and calls (setPassword("x")).
func (f *finder) given(i int) int {
	if i == 0 || i+2 >= len(f.text) {
		return i
	}
	from := runBack(f.text, i, maxSecretName, isDotted)
	switch f.text[i] {
	case '>':
		if from == 0 || f.text[from-1] != '<' {
			return i
		}
	case '(':
		if strings.IndexByte("\"'`", f.text[i+1]) < 0 {
			return i
		}
	case '|':
		if f.text[i+1] != ' ' || strings.IndexByte(" `*", f.text[i-1]) < 0 {
			return i
		}
	}
	n, begin := f.nameBefore(i)
	if n.kind == "" && f.text[i] == '>' && strings.EqualFold(f.text[from:i], "value") {
		n = f.owner(i, from)
	}
	if n.kind == "" || n.weak || begin >= i || f.text[i] == '(' && n.suffix != "password" && n.suffix != "secret" && n.suffix != "apikey" && n.suffix != "token" {
		return i
	}
	return f.given1(i+1, i, n)
}

// authorization looks at the value of an Authorization header: a scheme, and what follows it.
func (f *finder) authorization(from, i int) int {
	if from < len(f.text) && strings.IndexByte("\"'", f.text[from]) >= 0 {
		from++
	}
	begin := from
	scheme := run(f.text[:min(len(f.text), from+maxSecretName)], from, isTokenByte)
	if scheme < len(f.text) && f.text[scheme] == ' ' && scheme-from <= 24 {
		from = scheme + 1
	}
	if strings.IndexByte("\"'", f.text[min(from, len(f.text)-1)]) >= 0 {
		return i
	}
	to := run(f.text[:min(len(f.text), from+maxSecretValue)], from, isCredentialByte)
	value := strings.TrimRight(f.text[from:to], ".")
	if len(value) < 12 || placeholder(value) || hasForm(value) || !mixed(value) && !random(value) || name(value) {
		return i
	}
	kind := "token"
	switch word := strings.TrimRight(f.text[begin:from], " "); {
	case strings.EqualFold(word, "bearer"):
		kind = "bearer_token"
	case isBasic(value):
		kind = "basic_credentials"
	}
	return f.cut(from, from+len(value), kind)
}

// cookies looks at the cookies of a header: those whose values no person would write.
func (f *finder) cookies(from, i int) int {
	end := i
	for from < len(f.text) {
		from += run(f.text[from:], 0, func(c byte) bool { return strings.IndexByte(" ;\"'", c) >= 0 })
		equals := run(f.text[:min(len(f.text), from+maxSecretName)], from, isDotted)
		if equals == from || equals >= len(f.text) || f.text[equals] != '=' {
			return end
		}
		to := run(f.text[:min(len(f.text), equals+1+8*maxSecretValue)], equals+1, func(c byte) bool {
			return isCredentialByte(c) || c == '%' || c == ':'
		})
		value := strings.TrimRight(f.text[equals+1:to], ".:")
		if len(value) >= 16 && (mixed(value) || random(value)) && !hasForm(value) && !placeholder(value) {
			end = f.cut(equals+1, equals+1+len(value), "cookie")
		}
		if to >= len(f.text) || f.text[to] != ';' {
			return end
		}
		from = to
	}
	return end
}

// mnemonic looks for the words of a wallet: twelve to twenty-four of them (BIP 39).
func (f *finder) mnemonic(from, i int) int {
	if from < len(f.text) && strings.IndexByte("\"'`", f.text[from]) >= 0 {
		from++
	}
	words, to := 0, from
	for words < 24 {
		end := run(f.text, to, isLower)
		if end-to < 3 || end-to > 8 {
			break
		}
		words++
		if to = end; end >= len(f.text) || f.text[end] != ' ' {
			break
		}
		to++
	}
	if words < 12 {
		return i
	}
	return f.cut(from, len(strings.TrimRight(f.text[:to], " ")), "mnemonic")
}

// address looks for a password between "://" and the host, which begins at i
// if there is none (RFC 3986, section 3.2.1), and for a token in a user's place.
func (f *finder) address(i int) int {
	most := min(len(f.text), i+2*maxSecretName+maxSecretValue)
	colon, at := -1, -1
	for j := i; j < most && at < 0; j++ {
		switch c := f.text[j]; {
		case c == '@':
			at = j
		case c == ':' && colon < 0:
			colon = j
		case c <= ' ' || strings.IndexByte(`/"'<>\`+"`", c) >= 0:
			most = j
		case (c == '?' || c == '#') && (colon < 0 || run(f.text, colon+1, isDigit) == j):
			most = j // a query follows the host, or its port
		}
	}
	if at < 0 {
		return i - 1
	}
	// An @ in the password: the last one before the host counts.
	for j := at + 1; j < most && strings.IndexByte(" \t\n/?#\"'<>\\`,;()", f.text[j]) < 0; j++ {
		if f.text[j] == '@' {
			at = j
		}
	}
	if colon < 0 {
		user := f.text[i:at]
		if len(user) >= 20 && mixed(user) && random(user) && !hasForm(user) && run(user, 0, isTokenByte) == len(user) && !uuid(user) {
			return f.cut(i, at, "token")
		}
		return i - 1
	}
	if at-colon < 4 {
		return i - 1
	}
	password := f.text[colon+1 : at]
	if placeholder(strings.Trim(password, "[](){}")) || plainWord(password) && len(password) < 6 {
		return at - 1
	}
	return f.cut(colon+1, at, "password")
}

// commandOption is an option that takes a secret, of commands whose name begins so.
type commandOption struct {
	command, option string
	attached        bool // the value follows without a space: -pVALUE
	user            byte // what parts a user's name from the secret, 0 if there is none
}

// option looks at the command line option at i: for a secret that follows its
// name after a space (--password VALUE), for one that a command takes by a
// letter (mysql -pVALUE), and for -u NAME:PASSWORD.
func (f *finder) option(i int) int {
	most := min(len(f.text), i+maxSecretName)
	from := run(f.text[:most], i, isTokenByte)
	if from-i < 2 {
		return i
	}
	option := f.text[i:from]
	for _, c := range tables().options {
		if !strings.HasPrefix(option, c.option) || (len(option) > len(c.option)) != c.attached && !(c.attached && from < len(f.text) && strings.IndexByte("\"'", f.text[from]) >= 0) {
			continue
		}
		at := i + len(c.option)
		if !c.attached {
			if at >= len(f.text) || f.text[at] != ' ' && f.text[at] != '=' {
				continue
			}
			at++
		}
		if !f.commandBefore(i, c.command) {
			continue
		}
		begin, to, quoted := f.value(at)
		value := f.text[begin:to]
		if !quoted {
			value = bare(value)
		}
		if c.user != 0 {
			cut := strings.IndexByte(value, c.user)
			if cut < 0 {
				continue
			}
			begin, value = begin+cut+1, value[cut+1:]
		}
		if len(value) >= 4 && value[0] != '-' && !placeholder(value) && !hasForm(value) && !strings.HasPrefix(value, "/") {
			return f.cut(begin, begin+len(value), "password")
		}
		return i
	}
	if from >= len(f.text) || f.text[from] != ' ' {
		return i
	}
	n, _ := f.nameBefore(from)
	user := option == "-u" || option == "--user"
	if n.kind == "" && !user {
		return i
	}
	begin, to, quoted := f.value(from + 1)
	value := f.text[begin:to]
	if !quoted {
		value = bare(value)
	}
	if user {
		colon := strings.IndexByte(value, ':')
		if colon < 1 {
			return i
		}
		begin, value, n = begin+colon+1, value[colon+1:], secretName{"password", "password", false}
	}
	if value == "" || !quoted && strings.Contains(value, "/") || hasForm(value) || !n.accepts(value, quoted) {
		return i // what has a slash is a file that holds the secret
	}
	return f.cut(begin, begin+len(value), n.kind)
}

// commandBefore tells whether a command of this name stands before i on its line.
func (f *finder) commandBefore(i int, command string) bool {
	before := f.text[max(0, i-maxCommand):i]
	if line := strings.LastIndexByte(before, '\n'); line >= 0 && !strings.HasSuffix(strings.TrimRight(before[:line], " "), "\\") {
		before = before[line+1:]
	}
	at := strings.LastIndex(before, command)
	return at >= 0 && (at == 0 || !isAlnum(before[at-1]) || command[0] == ' ' || escaped(before, at))
}

// saidName is a word for a secret in a sentence.
type saidName struct{ word, kind string }

// said looks for a secret as people say it, behind the word for it at i: "the
// password is x", "Passwort für prod: x", "password x" of a netrc file.
func (f *finder) said(i int) int {
	rest := f.text[i:]
	for _, n := range tables().saidBy[lower(rest[0])] {
		if len(rest) <= len(n.word)+1 || !strings.EqualFold(rest[:len(n.word)], n.word) {
			continue
		}
		at := i + len(n.word)
		if n.kind != "password" && f.text[at] == 's' {
			return i // of tokens and secrets in general
		}
		if c := f.text[at]; c == '=' || c != ' ' && c != '\t' && strings.IndexByte("`*:('\"-/|", c) < 0 && c < 0x80 {
			return i
		}
		return f.saidAt(at, i, n)
	}
	return i
}

// saidAt looks at the words from at for what the word at i was said of.
func (f *finder) saidAt(at, i int, n saidName) int {
	most := min(len(f.text), at+maxSaid)
	connected, direct := false, true
	pair := n.word == "credentials" || n.word == "login" || n.word == "zugangsdaten"
	for words := 0; words < 8 && at < most; words++ {
		for at < most && strings.IndexByte(" \t():*,/-[]|", f.text[at]) >= 0 {
			connected = connected || f.text[at] == ':'
			at++
		}
		if at >= most || f.text[at] == '\n' || f.text[at] == '=' || f.text[at] == ';' || at < f.end {
			return i
		}
		begin, end, to, quoted := f.saidValue(at, n.kind)
		word := f.text[begin:end]
		if pair && connected {
			if rest := f.text[min(end, most):most]; sentenceWord(word) && len(rest) > 3 && strings.HasPrefix(strings.TrimLeft(rest, " "), "/") {
				at = end
				pair = false // "admin / x"
				continue
			}
			if secret := behindUser(word); saidSecret(secret, n.kind) && !hasForm(secret) {
				return f.cut(end-len(secret), end, n.kind)
			}
		}
		if (connected || direct) && !pair && saidSecret(word, n.kind) && !hasForm(word) && (connected || quoted || f.saidAlone(i, word, n)) {
			return f.cut(begin, end, n.kind)
		}
		if quoted && !connected && !direct {
			return i
		}
		if quoted && plainWord(word) && len(word) <= 24 {
			at = to + 1 // the name of what it is for
			direct = false
			continue
		}
		if !sentenceWord(word) {
			return i
		}
		if tables().connectors[strings.ToLower(word)] {
			connected = true
		} else if !quoted {
			connected = connected && direct && strings.EqualFold(word, "the")
			direct = false
		}
		at = end
	}
	return i
}

// saidValue returns where a value in a sentence begins and ends, without the
// sentence's own signs behind it, and where it ends with them.
func (f *finder) saidValue(at int, kind string) (begin, end, to int, quoted bool) {
	begin, to, quoted = f.value(at)
	if quoted {
		return begin, to, to, true
	}
	whole := f.text[begin:to]
	end = begin + len(bare(strings.TrimRight(whole, "!?")))
	if end < to && strings.Trim(f.text[end:to], "!?") == "" && saidSecret(whole, kind) {
		end = to // an ! at the end is as likely the password's
	}
	return begin, end, to, false
}

// saidAlone tells whether a value that no word connects with the word for a secret at i is one by itself.
func (f *finder) saidAlone(i int, value string, n saidName) bool {
	return len(value) >= 8 && (random(value) || n.kind == "password" && odd(value) || f.commandBefore(i, "login") || f.commandBefore(i, "machine"))
}

// behindUser returns what follows the user's name in "admin:x" and "admin/x", or "".
func behindUser(value string) string {
	cut := strings.IndexAny(value, ":/")
	if cut < 1 || run(value, 0, isDotted) != cut {
		return ""
	}
	return value[cut+1:]
}

// sentenceWord tells whether a word is one of letters, of any language.
func sentenceWord(word string) bool {
	return word != "" && len(word) <= 24 && run(word, 0, func(c byte) bool { return isLetter(c) || c >= 0x80 || strings.IndexByte("-'._", c) >= 0 }) == len(word)
}

// saidSecret tells whether what is said of a secret is one, and not how it is made.
func saidSecret(value, kind string) bool {
	if len(value) < 6 || strings.ContainsAny(value, " \t\n") || placeholder(value) || code(value) || name(value) || strings.HasPrefix(value, "/") || strings.HasPrefix(value, "--") {
		return false
	}
	if !mixed(value) && !random(value) || strings.Contains(value, "://") || technical(value) {
		return false
	}
	if kind != "password" {
		return len(value) >= 16 && random(value) && !selector(value)
	}
	return !selector(value)
}

// odd tells whether value has what is in passwords and in few words: three digits, or a sign.
func odd(value string) bool {
	digits := 0
	for i := range len(value) {
		if isDigit(value[i]) {
			digits++
		}
	}
	return digits >= 3 || strings.ContainsAny(value, "!@#$%^&*")
}

// technical tells whether value is the name of a format, an algorithm or a
// version, or a measure: base64, sha256, v2.1, 8-character, 12px.
func technical(value string) bool {
	low := strings.ToLower(value)
	for _, prefix := range tables().formats {
		if strings.HasPrefix(low, prefix) && !random(value[len(prefix):]) {
			return true
		}
	}
	digits := run(value, 0, isDigit)
	if digits > 0 && digits < len(value) && (strings.IndexByte("-.:/", value[digits]) >= 0 || plainWord(value[digits:])) {
		return !random(value) // 8-character, 2026-11-22, 12px, 10:15
	}
	return low[0] == 'v' && len(low) > 1 && isDigit(low[1]) && strings.Contains(low, ".")
}
