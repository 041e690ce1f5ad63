// Package redact finds secrets in texts, and replaces them by what kind they are. It knows the forms
// of tokens, the names that secrets are given to, and what only a generator writes.
package redact

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"
)

// Text replaces what looks like a secret in text by "[redacted: kind]", and
// returns the kinds it found, each once, in the order of their first finding.
// It knows the token forms of the services that coding agents meet, private
// key blocks, passwords in addresses and on command lines, and values that are
// given to a name such as password or api_key; also where they are encoded in
// base64 or for an address, or broken up. What is recognised once is cut
// everywhere in the text where it stands as a whole token. Placeholders
// ("${TOKEN}", "your-api-key", "****") and code that only passes a secret on
// stay as they are. Time is linear in the length of text, text without a secret
// is returned as it is, and what is redacted has nothing left to redact.
func Text(text string) (string, []string) {
	if text == "" {
		return text, nil
	}
	var r Redaction
	text = r.cut(text)
	return text, r.kinds
}

// InName returns the kind of the secret that a name, a key or an id holds, or "".
func InName(text string) string {
	if len(text) < leastSpread {
		return ""
	}
	// Names are made by generators too: what only looks like a key is none here.
	f := finder{text: text, named: true}
	if f.look(); len(f.spans) == 0 && len(f.edits) > 0 {
		f = finder{text: undisguise(text, f.edits).text, inner: true, named: true}
		f.look()
	}
	f.opaque()
	if len(f.spans) == 0 {
		return ""
	}
	return f.spans[0].kind
}

// A Redaction removes the secrets from the texts of one record. A secret that is found in
// one text is removed from the others too, in whichever order they come. The zero value is
// ready. The texts must not be changed in between.
type Redaction struct {
	kinds  []string
	texts  []*string
	values []secretValue
}

// Kinds are the kinds of secret that were found so far, each once.
func (r *Redaction) Kinds() []string { return r.kinds }

// Cut returns text without its secrets, among them those of the texts before.
// It is for a text that has no place of its own yet.
func (r *Redaction) Cut(text string) string { return r.cut(text) }

// Text redacts texts in place. Nil is passed over.
func (r *Redaction) Text(texts ...*string) {
	for _, text := range texts {
		if text == nil || *text == "" {
			continue
		}
		known := len(r.values)
		if clean := r.cut(*text); clean != *text {
			*text = clean
		}
		for _, other := range r.texts {
			if len(r.values) > known {
				if clean := replace(*other, r.spread(*other, r.values[known:], nil)); clean != *other {
					*other = clean
				}
			}
		}
		r.texts = append(r.texts, text)
	}
}

// List redacts the items of lists in place.
func (r *Redaction) List(lists ...[]string) {
	for _, list := range lists {
		for i := range list {
			r.Text(&list[i])
		}
	}
}

// maxRounds bounds how often a text is looked at again after something was cut
// out of it: a cut can bring together what was apart. Two rounds nearly always do.
const maxRounds = 6

// cut returns text without its secrets, and gathers their kinds and values.
func (r *Redaction) cut(text string) string {
	for range maxRounds {
		spans := find(text)
		for _, s := range spans {
			if !slices.Contains(r.kinds, s.kind) {
				r.kinds = append(r.kinds, s.kind)
			}
			r.remember(text[s.from:s.to], s.kind)
		}
		if len(r.values) > 0 {
			spans = r.spread(text, r.values, spans)
		}
		if len(spans) == 0 {
			return text
		}
		text = replace(text, spans)
	}
	return text
}

const (
	marker = "[redacted: "
	// leastSpread is the least length, in bytes, of a value that is cut
	// everywhere: shorter ones stand in other words by chance.
	leastSpread = 8
	// mostValues is how many values of one record are looked for elsewhere in
	// it. Each costs a search through the record.
	mostValues = 64
)

// secretValue is a secret that was recognised.
type secretValue struct{ text, kind string }

// remember notes a value, as it stands, as it stands in addresses, and in lower
// case, as texts are kept for searches.
func (r *Redaction) remember(value, kind string) {
	plain, err := url.PathUnescape(value)
	if err != nil {
		plain = value
	}
	for _, v := range []string{value, plain, url.QueryEscape(plain), strings.ToLower(value)} {
		if len(v) < leastSpread || len(v) > maxSecretValue || len(r.values) == mostValues || singleWord(v) ||
			strings.ContainsAny(v, " \n") || strings.Contains(v, marker) ||
			slices.ContainsFunc(r.values, func(known secretValue) bool { return known.text == v }) {
			continue
		}
		r.values = append(r.values, secretValue{v, kind})
	}
}

// spread returns spans and those where values stand as whole tokens in text.
func (r *Redaction) spread(text string, values []secretValue, spans []span) []span {
	found := false
	for _, v := range values {
		for at := 0; ; {
			i := strings.Index(text[at:], v.text)
			if i < 0 {
				break
			}
			from, to := at+i, at+i+len(v.text)
			at = to
			if from > 0 && isWord(text[from-1]) && isWord(v.text[0]) && !escaped(text, from) || to < len(text) && isWord(text[to]) && isWord(v.text[len(v.text)-1]) {
				continue
			}
			spans, found = append(spans, span{from, to, v.kind}), true
			if !slices.Contains(r.kinds, v.kind) {
				r.kinds = append(r.kinds, v.kind)
			}
		}
	}
	if found {
		spans = merge(spans)
	}
	return spans
}

// span is a part of a text that holds a secret.
type span struct {
	from, to int
	kind     string
}

// merge puts spans in order and joins those that overlap.
func merge(spans []span) []span {
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	merged := spans[:0]
	for _, s := range spans {
		if last := len(merged) - 1; last >= 0 && s.from < merged[last].to {
			merged[last].to = max(merged[last].to, s.to)
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// replace puts a marker in the place of each span.
func replace(text string, spans []span) string {
	if len(spans) == 0 {
		return text
	}
	var out strings.Builder
	out.Grow(len(text) + 32)
	copied := 0
	for _, s := range spans {
		out.WriteString(text[copied:s.from])
		out.WriteString(marker)
		out.WriteString(s.kind)
		out.WriteByte(']')
		copied = s.to
	}
	out.WriteString(text[copied:])
	return out.String()
}

// find returns the secrets of a text, in order and apart.
func find(text string) []span {
	f := finder{text: text}
	f.look()
	f.opaque()
	if len(f.edits) > 0 {
		plain := undisguise(text, f.edits)
		inner := finder{text: plain.text, inner: true}
		inner.look()
		inner.opaque()
		for _, s := range inner.spans {
			f.spans = append(f.spans, span{plain.from(s.from), plain.to(s.to), s.kind})
		}
	}
	if len(f.spans) < 2 {
		return f.spans
	}
	return merge(f.spans)
}

// finder is one pass over a text. Each method looks at the position of a
// trigger and returns the position where the pass goes on, less one.
type finder struct {
	text  string
	spans []span
	end   int    // nothing before it is looked at again
	edits []edit // what stands between the parts of what may be one token
	inner bool   // this text was undisguised or decoded: it is not done again
	named bool   // this is a name or an id: what only looks random is no secret
	noEnd bool   // no key block ends further on in the text

	window, spent int // what was spent on values up to there
}

// cut notes that text[from:to] is a secret.
func (f *finder) cut(from, to int, kind string) int {
	f.spans = append(f.spans, span{from, to, kind})
	f.end = to
	return to - 1
}

// The kinds of trigger bytes.
const (
	startsWord   = iota + 1 // first letter of a token's prefix, or of a word for a secret
	assigns                 // = or :
	startsOption            // -, of an option or of a key block
	gives                   // what stands between a name and its value in markup, tables and calls
	marks                   // [, of what is redacted already
	tilde                   // of Azure's client secrets
	dot                     // of Terraform's tokens
	hides                   // what may break a token up
)

// makeTrigger makes what a byte can begin. Everything else is passed over.
func (t *lookup) makeTrigger() (table [256]byte) {
	for c := range 256 {
		if len(t.formsBy[c]) > 0 {
			table[c] = startsWord
		}
		if len(t.saidBy[c]) > 0 {
			table[c], table[upper(byte(c))] = startsWord, startsWord
		}
	}
	table['b'], table['B'] = startsWord, startsWord // Bearer, Basic
	table['='], table[':'] = assigns, assigns
	table['-'] = startsOption
	table['>'], table['|'], table['('] = gives, gives, gives
	table['['], table['~'], table['.'] = marks, tilde, dot
	for _, c := range []byte{'%', '\\', '"', '\'', '\n', 0xC2, 0xE2, 0xEF} {
		table[c] = hides
	}
	return table
}

// makeStarts makes a table that tells of three bytes whether a token's prefix or a word for a secret
// may begin with them. It rules out nearly every word of ordinary text.
func (t *lookup) makeStarts() (table [1 << 15]bool) {
	add := func(prefix string) {
		if len(prefix) > 2 {
			table[startOf(prefix[0], prefix[1], prefix[2])] = true
			return
		}
		for c := range 32 {
			table[startOf(prefix[0], prefix[1], byte(c))] = true
		}
	}
	for c := range 256 {
		for _, form := range t.formsBy[c] {
			add(form.prefix)
		}
		for _, name := range t.saidBy[c] {
			add(name.word)
		}
	}
	add("bearer")
	add("basic")
	for c := range 32 * 32 { // Discord's tokens begin with a number in base64
		for _, first := range []byte("MNO") {
			table[startOf(first, byte(c>>5), byte(c))] = true
		}
	}
	return table
}

// startOf folds three bytes, in any case, into an index.
func startOf(a, b, c byte) int { return int(a&31)<<10 | int(b&31)<<5 | int(c&31) }

// look goes through the text once.
func (f *finder) look() {
	t := tables()
	for i := 0; i < len(f.text); i++ {
		kind := t.trigger[f.text[i]]
		if kind == 0 || i < f.end {
			continue
		}
		switch kind {
		case startsWord:
			if i+2 < len(f.text) && t.starts[startOf(f.text[i], f.text[i+1], f.text[i+2])] && (i == 0 || !isAlnum(f.text[i-1]) || escaped(f.text, i)) {
				i = f.word(i)
			}
		case assigns:
			i = f.assignment(i)
		case startsOption:
			i = f.dash(i)
		case gives:
			i = f.given(i)
		case marks:
			if strings.HasPrefix(f.text[i:], marker) {
				if end := strings.IndexByte(f.text[i:min(len(f.text), i+2*maxSecretName)], ']'); end > 0 {
					i += end
				}
			}
		case tilde:
			i = f.azure(i)
		case dot:
			i = f.terraform(i)
		case hides:
			f.disguise(i)
		}
	}
}

// escaped tells whether the byte at i follows an escape of a string literal,
// as in "line\nghp_…".
func escaped(text string, i int) bool {
	return i > 1 && text[i-2] == '\\' && strings.IndexByte("nrt", text[i-1]) >= 0
}

// run returns where the run of bytes of a class that begins at i ends.
func run(text string, i int, class func(byte) bool) int {
	for i < len(text) && class(text[i]) {
		i++
	}
	return i
}

// runBack returns where the run of bytes of a class that ends before i begins,
// at most most bytes before.
func runBack(text string, i, most int, class func(byte) bool) int {
	low := max(0, i-most)
	for i > low && class(text[i-1]) {
		i--
	}
	return i
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

func isAlnum(c byte) bool { return isDigit(c) || isLetter(c) }

func isUpperDigit(c byte) bool { return isDigit(c) || isUpper(c) }

func isLowerDigit(c byte) bool { return isDigit(c) || isLower(c) }

func isHex(c byte) bool { return isDigit(c) || c >= 'a' && c <= 'f' }

func isWord(c byte) bool { return isAlnum(c) || c == '_' }

func isTokenByte(c byte) bool { return isWord(c) || c == '-' }

func isDotted(c byte) bool { return isTokenByte(c) || c == '.' }

func isPathByte(c byte) bool { return isTokenByte(c) || c == '/' }

func isAddressByte(c byte) bool { return isPathByte(c) || c == '@' || c == '.' }

func isBase64(c byte) bool { return isAlnum(c) || c == '+' || c == '/' || c == '=' }

// isCredentialByte is a byte of token68 (RFC 9110, section 11.2).
func isCredentialByte(c byte) bool {
	return isDotted(c) || c == '~' || c == '+' || c == '/' || c == '='
}

func upper(c byte) byte {
	if isLower(c) {
		return c &^ 0x20
	}
	return c
}

func has(s string, class func(byte) bool) bool {
	for i := range len(s) {
		if class(s[i]) {
			return true
		}
	}
	return false
}

// edit is a part of a text that is left out where the text is read without
// disguise, or stands for one byte there.
type edit struct {
	from, to int
	char     byte // 0 for none
}

// maxJoint is how much may stand between two parts of one string literal: quotes, an operator, indentation.
const maxJoint = 48

// disguise looks whether what is at i breaks up a token: an invisible
// character, a percent-encoded byte, the seam of two string literals, or the
// end of a line within a token.
func (f *finder) disguise(i int) {
	if f.inner || len(f.edits) > 0 && i < f.edits[len(f.edits)-1].to {
		return
	}
	rest := f.text[i:]
	switch rest[0] {
	case '%':
		f.encoded(i, 1)
	case '\\': // JSON writes <, > and & so
		if strings.HasPrefix(rest, `\u00`) {
			f.encoded(i, len(`\u00`))
		}
	case 0xC2, 0xE2, 0xEF:
		for _, hidden := range []string{"\u00ad", "\u200b", "\u200c", "\u200d", "\u200e", "\u200f", "\u2060", "\ufeff"} {
			if strings.HasPrefix(rest, hidden) {
				f.edits = append(f.edits, edit{i, i + len(hidden), 0})
				return
			}
		}
	case '"', '\'':
		f.seam(i)
	case '\n':
		f.brokenLine(i)
	}
}

// encoded looks whether two hexadecimal digits after n bytes at i are one byte of ASCII.
func (f *finder) encoded(i, n int) {
	if i+n+2 > len(f.text) {
		return
	}
	high, low := strings.IndexByte(hexOrder, lower(f.text[i+n])), strings.IndexByte(hexOrder, lower(f.text[i+n+1]))
	if c := byte(high<<4 | low); high >= 2 && low >= 0 && c < 0x7f {
		f.edits = append(f.edits, edit{i, i + n + 2, c})
	}
}

const hexOrder = "0123456789abcdef"

// seam looks whether two string literals that are one value meet at the quote at i.
func (f *finder) seam(i int) {
	if i == 0 || !isTokenByte(f.text[i-1]) {
		return
	}
	at := i + 1
	most := min(len(f.text)-1, i+maxJoint)
	operator := false
	for at < most && f.text[at] != f.text[i] {
		switch c := f.text[at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\':
		case strings.IndexByte("+.&", c) >= 0:
			operator = true
		default:
			return
		}
		at++
	}
	if at >= most || !isTokenByte(f.text[at+1]) || at == i+1 && !operator && f.text[i] == '\'' {
		return
	}
	f.edits = append(f.edits, edit{i, at + 1, 0})
}

// brokenLine looks whether the end of a line at i breaks up a token: what
// stands before it begins as one, and what follows is no word.
func (f *finder) brokenLine(i int) {
	end := i
	for end > 0 && (f.text[end-1] == '\r' || f.text[end-1] == '\\') {
		end--
	}
	from := runBack(f.text, end, maxSecretValue/2, isDotted)
	if end-from < 4 {
		return
	}
	chained := len(f.edits) > 0 && f.edits[len(f.edits)-1].to == from
	if !chained && !beginsToken(f.text[from:end]) {
		return
	}
	next := i + 1
	for next < len(f.text) && next < i+maxJoint && strings.IndexByte(" \t+>|#*/", f.text[next]) >= 0 {
		next++
	}
	to := run(f.text[:min(len(f.text), next+maxSecretValue)], next, isTokenByte)
	part := f.text[next:to]
	if len(part) < 4 || !mixed(part) && !random(part) || to < len(f.text) && (f.text[to] == '=' || f.text[to] == ':' || f.text[to] == '(') {
		return
	}
	f.edits = append(f.edits, edit{end, next, 0})
}

// beginsToken tells whether text begins with the prefix of a token's form, and has more of it.
func beginsToken(text string) bool {
	return slices.ContainsFunc(tables().formsBy[text[0]], func(f tokenForm) bool {
		return len(f.prefix) >= 3 && len(text) > len(f.prefix) && strings.HasPrefix(text, f.prefix)
	})
}

// undisguised is a text without what broke its tokens up, and where its bytes were.
type undisguised struct {
	text string
	at   []int32 // where each byte begins in the text before
	ends []int32 // and where it ends
}

func (u undisguised) from(i int) int { return int(u.at[i]) }

func (u undisguised) to(i int) int { return int(u.ends[i-1]) }

// undisguise applies the edits.
func undisguise(text string, edits []edit) undisguised {
	u := undisguised{at: make([]int32, 0, len(text)), ends: make([]int32, 0, len(text))}
	var out strings.Builder
	out.Grow(len(text))
	keep := func(from, to int) {
		out.WriteString(text[from:to])
		for i := from; i < to; i++ {
			u.at, u.ends = append(u.at, int32(i)), append(u.ends, int32(i+1)) //nolint:gosec // texts are far shorter
		}
	}
	copied := 0
	for _, e := range edits {
		keep(copied, e.from)
		if e.char != 0 {
			out.WriteByte(e.char)
			u.at, u.ends = append(u.at, int32(e.from)), append(u.ends, int32(e.to)) //nolint:gosec // as above
		}
		copied = e.to
	}
	keep(copied, len(text))
	u.text = out.String()
	return u
}

const (
	// leastOpaque is the least length of a run without a form or a name that is looked at.
	leastOpaque = 24
	// leastUnnamed is the least length of such a run that is taken for a key
	// by its looks alone, and mostUnnamed the most: longer ones are data.
	leastUnnamed, mostUnnamed = 32, 128
	// mostEncoded is how much of a run is decoded, in bytes.
	mostEncoded = 8 << 10
)

// opaque looks at the long runs of letters and digits that the pass left: for
// secrets in base64, and for keys of vendors that nobody listed.
func (f *finder) opaque() {
	known := f.spans
	for end := leastOpaque; end <= len(f.text); {
		from := runBack(f.text, end, leastOpaque, isOpaque)
		if end-from < leastOpaque { // no run begins before from, and so none is long enough before this
			end = from + leastOpaque
			continue
		}
		to := run(f.text, end, isOpaque)
		end = to + leastOpaque
		// A name or a parameter may stand before the value.
		from += strings.LastIndexByte(strings.TrimRight(f.text[from:to], "="), '=') + 1
		for len(known) > 0 && known[0].to <= from {
			known = known[1:]
		}
		if to-from < leastOpaque || len(known) > 0 && known[0].from < to {
			continue
		}
		if kind := f.opaqueKind(from, to); kind != "" {
			f.spans = append(f.spans, span{from, to, kind})
		}
	}
}

func isOpaque(c byte) bool { return isBase64(c) || c == '_' || c == '-' }

// opaqueKind returns what secret the run of opaque bytes is, or "".
func (f *finder) opaqueKind(from, to int) string {
	value := f.text[from:to]
	if !f.inner {
		if text := decodeAny(value); text != "" {
			inner := finder{text: text, inner: true}
			inner.look()
			if len(inner.spans) > 0 {
				return inner.spans[0].kind
			}
		}
	}
	if f.named {
		return ""
	}
	before, after := byte(' '), byte(' ')
	if from > 0 {
		before = f.text[from-1]
	}
	if to < len(f.text) {
		after = f.text[to]
	}
	if strings.ContainsAny(value, "+/=") || strings.IndexByte("/+.@#%", before) >= 0 || after == '/' || after == '.' || after == '@' {
		return ""
	}
	classes := has(value, isUpper) && has(value, isLower) && has(value, isDigit)
	if cut := strings.LastIndexByte(value, '_'); cut > 1 && cut <= 16 && len(value)-cut > 24 && run(value, 0, isPrefixByte) >= cut {
		// "vendor_" and what only a generator writes.
		tail := value[cut+1:]
		if run(tail, 0, isAlnum) == len(tail) && mixed(tail) && random(tail) && run(tail, 0, isHex) < len(tail) {
			return "token"
		}
	}
	if len(value) >= leastUnnamed && len(value) <= mostUnnamed && classes && longestSolid(value) >= 20 && random(value) && !strings.HasPrefix(value, "sha") {
		return "token"
	}
	return ""
}

func isPrefixByte(c byte) bool { return isLowerDigit(c) || c == '_' }

// decodeAny decodes base64 of either alphabet, with or without padding, and
// returns the text if it is one.
func decodeAny(value string) string {
	value = strings.TrimRight(value[:min(len(value), mostEncoded)], "=")
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(value, "-_") {
		encoding = base64.RawURLEncoding
	}
	if len(value)%4 == 1 {
		value = value[:len(value)-1]
	}
	if len(value) < leastOpaque-2 {
		return ""
	}
	// The first bytes tell data from text, which is most of what is met.
	var head [12]byte
	if _, err := encoding.Decode(head[:], []byte(value[:16])); err != nil || bytes.ContainsFunc(head[:], notText) {
		return ""
	}
	text, err := encoding.DecodeString(value)
	if err != nil || !utf8.Valid(text) || bytes.ContainsFunc(text, notText) {
		return ""
	}
	return string(text)
}

func notText(r rune) bool {
	return r < ' ' && r != '\n' && r != '\r' && r != '\t' || r >= 0x7f
}
