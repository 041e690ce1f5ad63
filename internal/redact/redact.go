// Package redact finds secrets in texts, and replaces them by what kind they are. It knows the forms
// of tokens, the names that secrets are given to, and how values look that only a generator writes.
package redact

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// Text replaces what looks like a secret in text by "[redacted: kind]", and
// returns the kinds it found, each once, in the order of their first finding.
// It knows the token forms of the services that coding agents meet, private
// key blocks, passwords in addresses and on command lines, and values that are
// given to a name such as password or api_key; also where they are escaped in
// JSON, encoded in base64 or for an address, or broken up. A secret that is
// recognised once is cut everywhere in the text where it stands as a whole
// token. Placeholders ("${TOKEN}", "your-api-key", "****") and code that only
// passes a secret on stay as they are. Time is linear in the length of text,
// and what is redacted has nothing left to redact.
func Text(text string) (string, []string) {
	var r Redaction
	text = r.Cut(text)
	return text, r.kinds
}

// InName returns the kind of the secret that a name, a key or an id holds, or "".
// Names are made by generators too: what only looks like a key is no secret there.
func InName(text string) string {
	if spans := find(text, true); len(spans) > 0 {
		return spans[0].kind
	}
	return ""
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
func (r *Redaction) Cut(text string) string { return r.cut(text, false) }

// JSON returns a valid JSON text without the secrets in its strings. Its white space, numbers,
// the order of members and everything else stay as they were written.
func (r *Redaction) JSON(text []byte) []byte {
	if clean := r.cut(string(text), true); clean != string(text) {
		return []byte(clean)
	}
	return text
}

// Text redacts texts in place. Nil is passed over.
func (r *Redaction) Text(texts ...*string) {
	for _, text := range texts {
		if text == nil || *text == "" {
			continue
		}
		known := len(r.values)
		*text = r.Cut(*text)
		for _, other := range r.texts {
			if len(r.values) > known {
				*other = replace(*other, r.spread(*other, r.values[known:]))
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
func (r *Redaction) cut(text string, json bool) string {
	for range maxRounds {
		spans := find(text, false)
		for _, s := range spans {
			r.remember(text[s.from:s.to], s.kind)
		}
		spans = merge(append(spans, r.spread(text, r.values)...))
		if json {
			spans = withinStrings(text, spans)
		}
		if len(spans) == 0 {
			return text
		}
		for _, s := range spans {
			if !slices.Contains(r.kinds, s.kind) {
				r.kinds = append(r.kinds, s.kind)
			}
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
// case, as texts are kept for searches. A value that could be a word, a version
// or code is not noted: elsewhere it stands in its own right.
func (r *Redaction) remember(value, kind string) {
	if !random(value) && (!matches("odd", value) || technical(value) || coded(value)) {
		return
	}
	plain, err := url.PathUnescape(value)
	if err != nil {
		plain = value
	}
	for _, v := range []string{value, plain, url.QueryEscape(plain), strings.ToLower(value)} {
		if len(v) < leastSpread || len(v) > maxSecretValue || len(r.values) == mostValues ||
			strings.ContainsAny(v, " \n") || strings.Contains(v, marker) ||
			slices.ContainsFunc(r.values, func(known secretValue) bool { return known.text == v }) {
			continue
		}
		r.values = append(r.values, secretValue{v, kind})
	}
}

// spread returns where values stand as whole tokens in text.
func (r *Redaction) spread(text string, values []secretValue) (spans []span) {
	for _, v := range values {
		for at := 0; ; {
			i := strings.Index(text[at:], v.text)
			if i < 0 {
				break
			}
			from, to := at+i, at+i+len(v.text)
			at = to
			if from > 0 && isToken(text[from-1]) && isToken(v.text[0]) && !escaped(text, from) || to < len(text) && isToken(text[to]) && isToken(v.text[len(v.text)-1]) {
				continue
			}
			spans = append(spans, span{from, to, v.kind})
		}
	}
	return merge(spans)
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
	copied := 0
	for _, s := range spans {
		out.WriteString(text[copied:s.from] + marker + s.kind + "]")
		copied = s.to
	}
	out.WriteString(text[copied:])
	return out.String()
}

// withinStrings returns what of spans lies within the string literals of a JSON text, which stays one.
func withinStrings(text string, spans []span) (within []span) {
	for i := 0; i < len(text) && len(spans) > 0; i++ {
		if text[i] != '"' {
			continue
		}
		first := len(within)
		for i++; i < len(text) && text[i] != '"'; {
			end := i + 1
			if text[i] == '\\' { // an escape is cut whole
				end++
				if strings.HasPrefix(text[i:], `\u`) {
					end += 4
				}
			}
			for len(spans) > 0 && spans[0].to <= i {
				spans = spans[1:]
			}
			if len(spans) > 0 && spans[0].from < end {
				if last := len(within) - 1; last >= first && within[last].to == i && within[last].kind == spans[0].kind {
					within[last].to = end
				} else {
					within = append(within, span{i, end, spans[0].kind})
				}
			}
			i = end
		}
		if i >= len(text) {
			return within[:first] // it is no JSON
		}
	}
	return within
}
