package redact

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// JSON returns a valid JSON text without the secrets in its strings, and its
// white space as it is. Numbers, the order of members and everything else stay
// as they were written. A string may be a secret by itself, by the name of its
// member, or by what stands beside it ({"name": "DB_PASSWORD", "value": …}).
func (r *Redaction) JSON(text []byte) []byte {
	for range maxRounds {
		known := len(r.values)
		clean := r.strings(text)
		if changed := !bytes.Equal(clean, text); !changed || len(r.values) == known {
			return clean
		}
		text = clean // what was found by the end may stand at the beginning
	}
	return text
}

// strings is one pass over the strings of a JSON text.
func (r *Redaction) strings(text []byte) []byte {
	pass := jsonPass{redaction: r, text: text, spans: find(string(text))}
	// The names of the objects around, and of the lists, whose items are called as they are.
	var around []string
	name := ""
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{':
			around, name = append(around, ""), ""
		case '[':
			around = append(around, name)
		case '}', ']':
			around, name = around[:max(0, len(around)-1)], ""
		case ',':
			if name = ""; len(around) > 0 {
				name = around[len(around)-1]
			}
		case '"':
			from := i
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			if i >= len(text) {
				return text // not JSON
			}
			next := i + 1
			for next < len(text) && strings.IndexByte(" \t\r\n", text[next]) >= 0 {
				next++
			}
			if next < len(text) && text[next] == ':' {
				name = pass.literal(from, i+1, "")
			} else {
				pass.literal(from, i+1, name)
			}
		}
	}
	if pass.out == nil {
		return text
	}
	return append(pass.out, text[pass.copied:]...)
}

// jsonPass is what one pass over the strings of a JSON text has done.
type jsonPass struct {
	redaction *Redaction
	text, out []byte // out is nil until something was cut out
	copied    int    // text up to here is in out
	spans     []span // what was found in the text as it stands
}

// literal cuts the secrets out of the string literal that stands from and
// before to, the value of a member of that name, and returns what it says.
func (p *jsonPass) literal(from, to int, name string) string {
	var text string
	if json.Unmarshal(p.text[from:to], &text) != nil {
		return "" // it was valid before
	}
	clean := p.redaction.cut(text)
	if clean == text && !strings.Contains(text, marker) {
		if kind := p.kindOf(from, to, name, text); kind != "" {
			p.redaction.remember(text, kind)
			if !slices.Contains(p.redaction.kinds, kind) {
				p.redaction.kinds = append(p.redaction.kinds, kind)
			}
			clean = marker + kind + "]"
		}
	}
	if clean == text {
		return text
	}
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(clean) != nil {
		return text // strings cannot fail
	}
	p.out = append(append(p.out, p.text[p.copied:from]...), bytes.TrimRight(encoded.Bytes(), "\n")...)
	p.copied = to
	return text
}

// kindOf tells what secret a string is that is none by itself, or "".
func (p *jsonPass) kindOf(from, to int, name, text string) string {
	if name != "" && text != "" && !strings.Contains(text, "\n") {
		for _, quote := range []string{`"`, "'", "`", ""} {
			if quote == "" || !strings.Contains(text, quote) {
				if spans := find(name + "=" + quote + text + quote); len(spans) > 0 && spans[len(spans)-1].to > len(name)+1 {
					return spans[len(spans)-1].kind
				}
				break
			}
		}
	}
	for len(p.spans) > 0 && p.spans[0].to <= from {
		p.spans = p.spans[1:]
	}
	if len(p.spans) > 0 && p.spans[0].from < to {
		return p.spans[0].kind
	}
	return ""
}
