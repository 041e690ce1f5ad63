package exchange

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/router/kind"
	"github.com/skillrouter/skillrouter/router/transfer"
)

// readPage reads a page. It is false if the text is none.
func readPage(name, text string) (item Item, is bool) {
	rest, is := strings.CutPrefix(text, "---\n"+recordKey+":")
	if !is {
		return item, false
	}
	of, rest, _ := strings.Cut(rest, "\n")
	of = unquoted(of)
	if of == indexKind {
		return Item{}, true
	}
	item = Item{Place: name}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		item.Refused = "is not valid UTF-8, or holds a NUL character"
		return item, true
	}
	s := kind.Named(of).Page
	if s.Folder == "" {
		item.Refused, item.Field = fmt.Sprintf("is not one of %v", transfer.Kinds()), recordKey
		return item, true
	}
	head, body, ends := cutFront(rest)
	if !ends {
		item.Refused = "is truncated: its front matter has no end"
		return item, true
	}
	members, wrong := frontMembers(head)
	if wrong != "" {
		item.Refused = wrong
		return item, true
	}
	readBody(s, body, members)
	if _, said := members["id"]; !said && slices.Equal(s.Key, []string{"id"}) && !s.StoreIDs { // written by hand
		members["id"] = quoted(idOf("page", name, of, head, body))
	}
	members["kind"] = quoted(of)
	record, err := json.Marshal(members)
	if err != nil {
		item.Refused = "cannot be read: " + err.Error()
		return item, true
	}
	if item.Record, err = transfer.DecodeRecord(of, record); err != nil {
		item = refusal(name, err)
	}
	return item, true
}

func cutFront(rest string) (head, body string, ends bool) {
	if body, empty := strings.CutPrefix(rest, "---\n"); empty {
		return "", body, true
	}
	if head, body, ends = strings.Cut(rest, "\n---\n"); !ends {
		head, ends = strings.CutSuffix(rest, "\n---")
	}
	return head, body, ends
}

// frontMembers reads front matter line by line. A value is JSON, as pages have
// it, or the rest of the line, as people write it; a list may have its items on lines of their own.
func frontMembers(head string) (members map[string]json.RawMessage, wrong string) {
	members = map[string]json.RawMessage{}
	lists, key := map[string][]string{}, ""
	for n, l := range strings.Split(head, "\n") {
		trimmed := strings.TrimSpace(l)
		if trimmed == "" || strings.HasPrefix(trimmed, "#") {
			continue
		}
		if item, is := strings.CutPrefix(trimmed, "- "); is && key != "" {
			lists[key] = append(lists[key], unquoted(item))
			continue
		}
		name, value, is := strings.Cut(l, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !is || name == "" {
			return nil, fmt.Sprintf("has front matter that cannot be read, in line %d", n+3)
		}
		if _, twice := members[name]; twice || lists[name] != nil {
			return nil, fmt.Sprintf("says %s twice in its front matter, in line %d again", name, n+3)
		}
		switch key = ""; {
		case value == "":
			key = name
		case json.Valid([]byte(value)):
			members[name] = json.RawMessage(value)
		default:
			members[name] = quoted(unquoted(value))
		}
	}
	for name, items := range lists {
		members[name], _ = json.Marshal(items) // texts
	}
	return members, ""
}

// readBody takes the texts below the headings, unless the front matter has them.
func readBody(s kind.Page, body string, members map[string]json.RawMessage) {
	member, begin := s.Text, 0
	take := func(end int, last bool) {
		text := strings.TrimSuffix(body[begin:end], "\n")
		if !last {
			text = strings.TrimSuffix(text, "\n") // the line before the next heading
		}
		text = strings.TrimPrefix(text, "\n")
		if _, said := members[member]; !said && member != "" && strings.TrimSpace(text) != "" {
			members[member] = quoted(text)
		}
	}
	titled := false
	for from := 0; from < len(body); {
		end := len(body)
		if i := strings.IndexByte(body[from:], '\n'); i >= 0 {
			end = from + i + 1
		}
		l := strings.TrimSuffix(body[from:end], "\n")
		if !titled && strings.HasPrefix(l, "# ") && strings.TrimSpace(body[:from]) == "" {
			titled, begin = true, end
		} else if i := slices.IndexFunc(s.Parts, func(p kind.Part) bool { return l == "## "+p.Heading }); i >= 0 {
			take(from, false)
			member, begin = s.Parts[i].Member, end
		}
		from = end
	}
	take(len(body), true)
}

func quoted(text string) json.RawMessage {
	value, _ := json.Marshal(text) // of a text it never fails
	return value
}
