package markup

import (
	"fmt"
	"strings"
)

// escape is how a value is made harmless for the place that it comes to.
type escape int

const (
	inText   escape = iota // a text, or the value of an attribute
	startURL               // an address, or its beginning: it may lead to http, https and mailto, or to this site
	partURL                // what follows in the path of an address
	queryURL               // what follows in the query or the fragment of an address
)

// refusedURL stands in the place of an address with any other scheme. It leads nowhere.
const refusedURL = "#refused"

// harmless escapes a value.
func (e escape) harmless(value string) string {
	switch e {
	case startURL:
		if !mayLead(value) {
			return refusedURL
		}
		value = percentEncode(value, true)
	case partURL:
		value = percentEncode(value, true)
	case queryURL:
		value = percentEncode(value, false)
	}
	return harmlessText.Replace(value)
}

// harmlessText replaces what could end a text or a value in quotation marks.
var harmlessText = strings.NewReplacer("\x00", "\uFFFD", `"`, "&#34;", "&", "&amp;", "'", "&#39;", "+", "&#43;", "<", "&lt;", ">", "&gt;")

// mayLead tells whether an address has no scheme, or one that runs nothing.
func mayLead(address string) bool {
	scheme, _, found := strings.Cut(address, ":")
	if !found || strings.Contains(scheme, "/") {
		return true
	}
	switch strings.ToLower(scheme) {
	case "http", "https", "mailto":
		return true
	}
	return false
}

// percentEncode encodes each byte that may not stand in an address; with keep, what separates
// the parts of an address, and what is encoded already, stays.
func percentEncode(value string, keep bool) string {
	var b strings.Builder
	for i := range len(value) {
		c := value[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~", c) >= 0,
			keep && strings.IndexByte("!#$&*+,/:;=?@[]", c) >= 0,
			keep && c == '%' && i+2 < len(value) && isHex(value[i+1]) && isHex(value[i+2]):
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
