package exchange

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/learning/knowledge"
)

// readMem0 reads a list of memories, or an object that has it under results
// (get_all) or memories (a memory export).
func readMem0(r io.Reader, o Options, yield func(Item) bool) error {
	d := newDocument(r)
	visit := each(yield, func(place string, t thing) Item {
		content := t.text("memory", "text", "data") // as newer and older versions and the payloads of vector stores call it
		if content == "" {
			return Item{Place: place, Field: "memory", Refused: "is required"}
		}
		return mem0Item(place, content, t, o)
	})
	next, err := d.peek()
	if err != nil {
		return err
	}
	if next == '[' {
		more, err := d.list("", visit)
		if err != nil || !more {
			return err
		}
		return d.end()
	}
	return d.object("this is no export of mem0: it is neither a list nor an object", "this is no export of mem0: it has neither results nor memories",
		map[string]func(place string, text json.RawMessage) bool{"results": visit, "memories": visit})
}

// peek returns the first byte of the document that is no white space, and leaves it there.
func (d *document) peek() (byte, error) {
	in := bufio.NewReader(d.in.from)
	d.in.from = in
	for {
		c, err := in.ReadByte()
		if err != nil {
			return 0, d.fault(err)
		}
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, d.fault(in.UnreadByte())
		}
	}
}

func mem0Item(place, content string, t thing, o Options) Item {
	var more thing
	_ = json.Unmarshal(t["metadata"], &more) // what is no object says nothing
	topics := slices.Concat([]string{"mem0"}, t.texts("categories"), more.texts("tags"))
	for _, key := range slices.Sorted(maps.Keys(more)) {
		var value string
		if key != "category" && key != "tags" && json.Unmarshal(more[key], &value) == nil && value != "" && len(value) <= 64 {
			topics = append(topics, key+":"+value)
		}
	}
	author := t.text("agent_id")
	if agentOr(author, "") == "" && author != "" {
		topics, author = append(topics, "agent:"+author), ""
	}
	for _, owner := range []string{"user", "run"} {
		if id := t.text(owner + "_id"); id != "" {
			topics = append(topics, owner+":"+id)
		}
	}
	id := t.text("id")
	return knowledgeLine(place, knowledge.Knowledge{
		ID: idOf("mem0", first(id, content, place)), Category: first(append([]string{more.text("category")}, t.texts("categories")...)...), Content: content, Title: headline(content),
		Tags: topics, Source: strings.TrimSpace("mem0 " + id), Project: t.text("app_id"), Author: author, CreatedAt: t.at("created_at"), UpdatedAt: t.at("updated_at"),
	}, o)
}
