package redact

import (
	"slices"
	"strings"
)

// secretName is the end of names that hold secrets, without separators and in lower case.
type secretName struct {
	suffix, kind string
	// weak names also name what is no secret: their values must look random.
	weak bool
}

// short tells whether a name is one that also says that something went well, or through.
func (n secretName) short() bool { return n.suffix == "pass" || n.suffix == "pw" }

const (
	maxSecretName = 64
	// shortName is the length up to which the end of a name must be a word of its own: bypass, minipass.
	shortName = 4
	// leastValue is the least length of a password that is recognised.
	leastValue = 6
)

// nameOf returns what secret a name stands for: by its end, or by what stands in front of a stage or a number (password_prod, password2).
func nameOf(text string) (n secretName, is bool) {
	parts := strings.FieldsFunc(strings.ToLower(forms()["camel"].ReplaceAllString(text, "${1}_${2}")), func(r rune) bool { return strings.ContainsRune("_-.", r) })
	for try := 0; len(parts) > 0 && try < 2; try++ {
		last := len(parts) - 1
		clean := strings.Join(parts, "")
		if at := slices.IndexFunc(tables().names, func(n secretName) bool { return strings.HasSuffix(clean, n.suffix) }); at >= 0 {
			n = tables().names[at]
			whole := len(n.suffix) > shortName || parts[last] == n.suffix || tables().joined[strings.TrimSuffix(clean, n.suffix)]
			return n, whole && n.kind != "none" && (try == 0 || !n.weak)
		}
		if before := strings.TrimRight(parts[last], "0123456789"); before != "" && len(parts[last]) <= len(before)+2 && before != parts[last] {
			parts[last] = before
		} else if parts = parts[:last]; !tables().stages[before] {
			return n, false
		}
	}
	return n, false
}

// giving are the forms in which a value follows a name.
var giving = []struct {
	form   string
	behind string // what the name stands behind
	strict bool   // few of the values are secrets
}{
	{form: "assigned"},
	{form: "element"},
	{form: "cell", behind: "before a cell", strict: true},
	{form: "call", strict: true},
	{form: "inner"},
	{form: "beside", behind: "namer"},
	{form: "option", behind: "before an option"},
}

// around returns where the name around i begins and ends. ok is false where it is no name of a secret's or is given nothing.
func (f *finder) around(r *rule, i int) (from, to int, ok bool) {
	end := i + len(r.trigger)
	if i < f.looked || end < len(f.text) && isLower(f.text[end]) && isLower(f.text[end-1]) {
		return 0, 0, false
	}
	from = i
	for from > 0 && i-from < maxSecretName && isDotted(f.text[from-1]) {
		from--
	}
	f.looked = run(f.text[:min(len(f.text), i+maxSecretName)], i, isDotted)
	whole := strings.TrimLeft(f.text[from:f.looked], "-.")
	from, whole = f.looked-len(whole), strings.TrimRight(whole, "-.")
	to = from + len(whole)
	// Most names stand in sentences, and are given nothing.
	next := strings.TrimLeft(f.text[to:min(len(f.text), to+16)], "`*?)] \t")
	option := from > 0 && f.text[from-1] == '-'
	return from, to, next != "" && (option || strings.IndexByte("\"':=>|(-<\n\xe2", next[0]) >= 0)
}

// name looks for a value that is given to the name around i.
func (f *finder) name(r *rule, i int) {
	from, to, ok := f.around(r, i)
	if !ok {
		return
	}
	n, is := nameOf(f.text[from:to])
	if !is || n.weak && f.inner {
		return
	}
	for _, giving := range giving {
		m := f.match(forms()[giving.form], to, maxSecretName+maxSecretValue, true)
		if m == nil || giving.strict && (n.short() || n.weak) || giving.behind != "" && !matches(giving.behind, f.text[max(0, from-24):from]) {
			continue
		}
		for at := to; m != nil; {
			begin, end, quoted := group(f.text[at:], m)
			value := f.text[at+begin : at+end]
			file := giving.form == "option" && !quoted && strings.Contains(value, "/") // that holds the secret
			if at+begin < f.end || file || f.runs(at+begin, at+end) || !f.given(n, from, value, quoted) || giving.strict && !quoted && !matches("memorable", value) && !random(value) {
				break
			}
			f.cut(at+begin, at+end, n.kind)
			if !quoted || !strings.ContainsAny(f.text[at:at+begin], "[,") {
				break
			}
			at += end
			m = f.match(forms()["another"], at, maxSecretValue, true)
		}
		if f.end > from {
			return
		}
	}
	if begin := max(f.end, from-maxSecretValue); from > 0 && strings.IndexByte("\"'", f.text[from-1]) >= 0 && matches("namer", f.text[max(begin, from-24):from]) {
		if m := forms()["ahead"].Compiled().FindStringSubmatchIndex(f.text[begin:from]); m != nil && f.given(n, from, f.text[begin+m[2]:begin+m[3]], true) {
			f.cut(begin+m[2], begin+m[3], n.kind)
		}
	}
}

// group returns what of a match is the value, without what the sentence around it put behind it, and whether it stands in quotes.
func group(text string, m []int) (from, to int, quoted bool) {
	for g := 2; g < len(m); g += 2 {
		if m[g] >= 0 && m[g+1] > m[g] {
			from, to, quoted = m[g], m[g+1], g < 8
		}
	}
	for !quoted && to > from {
		c := text[to-1]
		opens, closes := strings.Count(text[from:to], string("([{"[max(0, strings.IndexByte(")]}", c))])), strings.Count(text[from:to], string(c))
		if strings.IndexByte(".:*_", c) < 0 && (strings.IndexByte(")]}", c) < 0 || opens >= closes) {
			break
		}
		to--
	}
	return from, to, quoted
}

// given tells whether a value that is given to the name at from is a secret, and neither a stand-in for one nor the
// code that passes one on.
func (f *finder) given(n secretName, from int, value string, quoted bool) bool {
	if len(value) < leastValue || len(value) > maxSecretValue || strings.ContainsAny(value, " \t\n") || placeholder(value) || strings.Contains(value, "://") || begins(value, true) {
		return false
	}
	if n.short() { // "first pass: lexer12" is none
		prose := from > 1 && f.text[from-1] == ' ' && isAlnum(f.text[from-2])
		strong := random(value) && has(value, isDigit) && (matches("odd", value) || strings.ToLower(value) != value)
		return !technical(value) && (strong || matches("memorable", value) && (!prose || matches("odd", value)))
	}
	password := n.kind == "password"
	switch {
	case n.weak:
		return n.acceptsRandom(value)
	case quoted && password:
		return !matches("word", value) && !coded(value) || random(value)
	case quoted:
		return len(value) >= 12 && (mixed(value) || random(value)) && !named(value)
	case coded(value) || !mixed(value) && !random(value) && (!password || strings.Trim(value, "0123456789") != ""):
		return false
	}
	return password || len(value) >= 16 && !named(value) && (random(value) || !matches("name", value))
}

// runs tells whether what stands between from and to is no secret but a program that is shown, behind a colon that ends what it does:
// "Extract with a password: unzipper --force". A script's name, or options, tell it.
func (f *finder) runs(from, to int) bool {
	name := f.text[from:to]
	return strings.HasSuffix(strings.TrimRight(f.text[:from], " \t\n`*"), ":") && matches("program", name) && !matches("odd", name) &&
		(matches("script", name) || matches("options", f.text[to:min(len(f.text), to+8)]))
}

// acceptsRandom tells it of a name that also names what is no secret.
func (n secretName) acceptsRandom(value string) bool {
	if n.kind == "basic_credentials" && basic(value) {
		return true
	}
	if len(value) < 16 || !mixed(value) || !random(value) || coded(value) || strings.Contains(strings.TrimRight(value, "="), "=") {
		return false
	}
	switch n.kind {
	case "token", "secret":
		return n.suffix != "key" && n.suffix != "primarykey" || len(value) >= 20 && run(value, 0, isAlnum) == len(value) && has(value, isUpper) && has(value, isLower)
	}
	return !matches("id", value)
}

// checks say which values that a form leads to are secrets.
var checks = map[string]func(value string) bool{"header": header, "basic": basic, "address": inAddress, "generated": generated}

// phrase looks for what the rule's form says.
func (f *finder) phrase(r *rule, i int) {
	if i > 0 && isAlnum(r.trigger[0]) && isAlnum(f.text[i-1]) {
		return
	}
	most := 4 * maxSecretValue
	switch r.kind {
	case "private_key":
		most = maxBlock
	case "password":
		most = maxSecretValue
		if r.trigger != "://" && !strings.Contains(f.window(i, most, true), " -") {
			return
		}
	}
	m := f.match(r.form, i, most, r.kind == "password" || r.kind == "mnemonic" || r.kind == "private_key")
	if m == nil {
		return
	}
	from, kind := i+m[len(m)-2], r.kind
	value := strings.TrimRight(f.text[from:i+m[len(m)-1]], ".: \t\r\n")
	if from < f.end || placeholder(value) || begins(value, true) || r.accepts != nil && !r.accepts(value) {
		return
	}
	switch scheme := strings.ToLower(f.text[i:from]); {
	case scheme == "://"+strings.ToLower(value)+":":
		return // postgres:postgres, guest:guest
	case kind == "token" && strings.HasSuffix(scheme, "bearer "):
		kind = "bearer_token"
	case kind == "token" && basic(value):
		kind = "basic_credentials"
	}
	f.cut(from, from+len(value), kind)
}

// header tells whether a value of a header is a secret: one that no person would write.
func header(value string) bool {
	return (mixed(value) || random(value)) && !named(value) && !technical(value)
}

// optional tells whether an option's value is a secret, and no option or file.
func optional(value string) bool { return value[0] != '-' && value[0] != '/' }

// generated tells whether what stands in a user's place is a token.
func generated(value string) bool { return mixed(value) && random(value) && !matches("id", value) }

// inAddress tells whether a password in an address is one, and not the word itself: pass1, PASS2, pass%40.
func inAddress(value string) bool {
	return len(value) >= 3 && !placeholder(strings.Trim(value, "[](){}")) && !matches("password word", value) &&
		(strings.IndexByte(value, ':') < 0 || mixed(value))
}

// maxSaid is how far behind a word for a secret the secret may be said.
const maxSaid = 64

// said looks for a secret as people say it, behind the word for it at i.
func (f *finder) said(r *rule, i int) {
	to := i + len(r.trigger)
	if i > 0 && (isAlnum(f.text[i-1]) || strings.IndexByte("_-/.", f.text[i-1]) >= 0) || to >= len(f.text) || isToken(f.text[to]) {
		return // it is of tokens and secrets in general, of an id, or of a path
	}
	window := f.window(to, 4*maxSaid, false)
	if !has(window, isDigit) {
		return // nearly all secrets have one, and few sentences
	}
	ways := []string{"said", "alone"}
	if r.kind == "account" {
		ways = []string{"account"}
	}
	for _, way := range ways {
		m := f.match(forms()[way], to, 4*maxSaid, false)
		if m == nil {
			continue
		}
		from, end, quoted := group(window, m)
		value, password := window[from:end], r.kind == "password" || r.kind == "account"
		if from > maxSaid || to+from < f.end || f.runs(to+from, to+end) || len(value) < leastValue || strings.ContainsAny(value, " \t") || placeholder(value) || coded(value) || named(value) || technical(value) || begins(value, true) ||
			!mixed(value) && !random(value) || !password && (len(value) < 16 || !random(value)) || r.trigger == "pw" && !matches("memorable", value) && !random(value) ||
			way == "alone" && !quoted && (len(value) < 8 || !random(value) && (!password || !matches("odd", value))) {
			continue
		}
		f.cut(to+from, to+end, strings.Replace(r.kind, "account", "password", 1))
		return
	}
}
