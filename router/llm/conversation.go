package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"skillrouter/internal/check"
	"skillrouter/internal/strictjson"
)

// conversation is a request of a chat completion as its client wrote it. What is
// put into it is put between its bytes: all else stays as it is, also what
// nobody here has heard of.
type conversation struct {
	body     []byte
	messages span // the list
	turns    []turn
	tools    span
	answer   int // tokens that the client allows the answer; 0: it does not say
	model    string
	stream   bool
}

// turn is one message of a conversation.
type turn struct {
	at      span
	role    string
	content span // empty if there is none
	text    string
}

// span is a range of bytes of a body, the latter bound not within.
type span struct{ from, to int }

var errNoConversation = errors.New("no list of messages")

// parseConversation reads a body. An error means that it is no conversation
// that anything can be put into; the endpoint may think otherwise.
func parseConversation(body []byte) (*conversation, error) {
	c := &conversation{body: body}
	var given struct {
		Model     json.RawMessage `json:"model"`
		Stream    json.RawMessage `json:"stream"`
		MaxTokens json.RawMessage `json:"max_tokens"`
		MaxAnswer json.RawMessage `json:"max_completion_tokens"`
	}
	there := false
	err := members(body, 0, func(name string, at span) error {
		value := body[at.from:at.to]
		switch name {
		case "messages":
			c.messages, there = at, true // of several the last counts, as for most who read JSON
		case "tools":
			c.tools = at
		case "model":
			given.Model = value
		case "stream":
			given.Stream = value
		case "max_tokens":
			given.MaxTokens = value
		case "max_completion_tokens":
			given.MaxAnswer = value
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, errNoConversation
	}
	// A value of another type than these is the endpoint's to refuse.
	_ = json.Unmarshal(given.Model, &c.model)
	_ = json.Unmarshal(given.Stream, &c.stream)
	for _, value := range []json.RawMessage{given.MaxTokens, given.MaxAnswer} {
		tokens := 0
		_ = json.Unmarshal(value, &tokens)
		c.answer = max(c.answer, tokens)
	}
	return c, elements(body[c.messages.from:c.messages.to], c.messages.from, func(at span) error {
		t := turn{at: at}
		var role json.RawMessage
		err := members(body[at.from:at.to], at.from, func(name string, value span) error {
			switch name {
			case "role":
				role = body[value.from:value.to]
			case "content":
				t.content = value
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := json.Unmarshal(role, &t.role); err != nil {
			return err
		}
		t.text = textOf(body[t.content.from:t.content.to])
		c.turns = append(c.turns, t)
		return nil
	})
}

// textOf reads a message's content: a text, or a list of parts of which some are texts.
func textOf(content []byte) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &parts) != nil {
		return ""
	}
	var texts []string
	for _, part := range parts {
		if part.Type == "text" {
			texts = append(texts, part.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// question is what the user asks: the last thing that was said by the user, and
// what was said before that too if the last is short, such as "yes, do it". A
// long one is shortened to its beginning and its end, where people ask.
func (c *conversation) question() string {
	const (
		short = 80   // bytes below which a message says little by itself
		half  = 2000 // bytes of a long one's beginning and end
	)
	said := ""
	for i := len(c.turns) - 1; i >= 0; i-- {
		text := strings.TrimSpace(c.turns[i].text)
		if c.turns[i].role != RoleUser || text == "" {
			continue
		}
		if said != "" {
			said = text + "\n" + said
			break
		}
		if said = text; len(text) >= short {
			break
		}
	}
	if len(said) > 2*half {
		said = check.Head(said, half) + "\n" + tail(said, half)
	}
	return said
}

// lastSaid is the last that the user said, whole.
func (c *conversation) lastSaid() string {
	for i := len(c.turns) - 1; i >= 0; i-- {
		if text := strings.TrimSpace(c.turns[i].text); c.turns[i].role == RoleUser && text != "" {
			return text
		}
	}
	return ""
}

// tokens counts what the conversation has of a model's window, besides the answer.
func (c *conversation) tokens(count func(string) int) int {
	n := count(string(c.body[c.tools.from:c.tools.to]))
	for _, t := range c.turns {
		n += count(t.text) + messageFrame
	}
	return n
}

// with returns the body with a text put in front of the model. It joins the last
// of the system messages that the conversation begins with, as many models take
// one and only there; without one it is one.
func (c *conversation) with(text string) []byte {
	leading := -1
	for i, t := range c.turns {
		if t.role != RoleSystem && t.role != "developer" {
			break
		}
		leading = i
	}
	if leading < 0 {
		message := quote(Message{Role: RoleSystem, Content: text})
		if len(c.turns) > 0 {
			message = append(message, ',')
		}
		return c.put(c.messages.from+1, message)
	}
	t := c.turns[leading]
	content := c.body[t.content.from:t.content.to]
	switch {
	case len(content) > 0 && content[0] == '"':
		if t.text != "" {
			text = "\n\n" + text
		}
		quoted := quote(text)
		return c.put(t.content.to-1, quoted[1:len(quoted)-1])
	case len(content) > 0 && content[0] == '[':
		part := quote(struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{"text", text})
		if len(bytes.TrimSpace(content[1:len(content)-1])) > 0 {
			part = append([]byte{','}, part...)
		}
		return c.put(t.content.to-1, part)
	}
	return c.put(t.at.to, append([]byte{','}, quote(Message{Role: RoleSystem, Content: text})...))
}

// put returns the body with more bytes at a place.
func (c *conversation) put(at int, more []byte) []byte {
	body := make([]byte, 0, len(c.body)+len(more))
	body = append(body, c.body[:at]...)
	body = append(body, more...)
	return append(body, c.body[at:]...)
}

// quote writes a value as JSON that reads as its text does.
func quote(value any) []byte {
	text, _ := strictjson.Plain(value) // texts cannot fail
	return text
}

// members visits the members of the one object that text is. Spans begin at offset.
func members(text []byte, offset int, visit func(name string, value span) error) error {
	return values(text, offset, '{', visit)
}

// elements visits the elements of the one list that text is.
func elements(text []byte, offset int, visit func(value span) error) error {
	return values(text, offset, '[', func(_ string, value span) error { return visit(value) })
}

func values(text []byte, offset int, opening json.Delim, visit func(name string, value span) error) error {
	if !json.Valid(text) {
		return errors.New("no valid JSON")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if first, err := decoder.Token(); err != nil || first != opening {
		return errNoConversation
	}
	var value json.RawMessage
	for decoder.More() {
		name := ""
		if opening == '{' {
			key, err := decoder.Token()
			if err != nil {
				return err
			}
			name, _ = key.(string)
		}
		value = value[:0]
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		end := int(decoder.InputOffset())
		if err := visit(name, span{offset + end - len(value), offset + end}); err != nil {
			return err
		}
	}
	return nil
}

// tail returns at most limit bytes of the end of a text, whole characters.
func tail(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	text = text[len(text)-limit:]
	for len(text) > 0 && text[0]&0xC0 == 0x80 {
		text = text[1:]
	}
	return text
}
