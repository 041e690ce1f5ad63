package exchange

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"skillrouter/internal/check"
	"skillrouter/learning/knowledge"
)

// mem0Memory is a memory of mem0 (get_all, get_memory_export).
type mem0Memory struct {
	ID         string         `json:"id"`
	Memory     string         `json:"memory"`
	Text       string         `json:"text"` // of older versions
	Data       string         `json:"data"` // of vector stores' payloads
	UserID     *string        `json:"user_id"`
	AgentID    *string        `json:"agent_id"`
	AppID      *string        `json:"app_id"`
	RunID      *string        `json:"run_id"`
	Categories []string       `json:"categories"`
	Metadata   map[string]any `json:"metadata"`
	CreatedAt  *string        `json:"created_at"`
	UpdatedAt  *string        `json:"updated_at"`
}

// readMem0 reads a list of memories, or an object that has it under results
// (get_all) or memories (a memory export).
func readMem0(r io.Reader, o Options, yield func(Item) bool) error {
	d := newDocument(r)
	visit := each(yield, func(place string, m mem0Memory) Item {
		content := first(m.Memory, m.Text, m.Data)
		if content == "" {
			return Item{Place: place, Field: "memory", Refused: "is required"}
		}
		return m.item(place, content, o)
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

func (m mem0Memory) item(place, content string, o Options) Item {
	topics, category := append([]string{"mem0"}, m.Categories...), ""
	for _, key := range slices.Sorted(maps.Keys(m.Metadata)) {
		value, isText := m.Metadata[key].(string)
		switch {
		case key == "category" && isText:
			category = value
		case key == "tags":
			if list, isList := m.Metadata[key].([]any); isList {
				for _, tag := range list {
					topics = append(topics, fmt.Sprint(tag))
				}
			}
		case isText && len(value) <= 64:
			topics = append(topics, key+":"+value)
		}
	}
	for _, owner := range []struct {
		name string
		id   *string
	}{{"user", m.UserID}, {"run", m.RunID}} {
		if said(owner.id) != "" {
			topics = append(topics, owner.name+":"+said(owner.id))
		}
	}
	author := said(m.AgentID)
	if author != "" && check.AgentID("agent_id", author) != nil {
		topics, author = append(topics, "agent:"+author), ""
	}
	if category == "" && len(m.Categories) > 0 {
		category = m.Categories[0]
	}
	return knowledgeLine(place, knowledge.Knowledge{
		ID: idOf("mem0", first(m.ID, content, place)), Category: category, Content: content, Title: headline(content), Tags: topics,
		Source: strings.TrimSpace("mem0 " + m.ID), Project: said(m.AppID), Author: author, CreatedAt: moment(said(m.CreatedAt)), UpdatedAt: moment(said(m.UpdatedAt)),
	}, o)
}
