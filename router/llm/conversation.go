package llm

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/strictjson"
)

// conversation is a request of a chat completion as its client wrote it. What is
// put into it is put between its bytes: all else stays as it is, also what
// nobody here has heard of.
type conversation struct {
	body     []byte
	messages gjson.Result // the list
	turns    []turn
	tools    string
	answer   int // tokens that the client allows the answer; 0: it does not say
	model    string
	stream   bool
}

// turn is one message of a conversation.
type turn struct {
	end     int // where it ends in the body
	role    string
	content gjson.Result // it does not exist if there is none
	text    string
}

var errNoConversation = errors.New("no list of messages")

// parseConversation reads a body. An error means that it is no conversation
// that anything can be put into; the endpoint may think otherwise. Of several members
// of a name the last counts, as for most who read JSON.
func parseConversation(body []byte) (*conversation, error) {
	whole := gjson.ParseBytes(body)
	if !json.Valid(body) || !whole.IsObject() {
		return nil, errNoConversation
	}
	c := &conversation{body: body}
	whole.ForEach(func(name, value gjson.Result) bool {
		switch name.Str {
		case "messages":
			c.messages = value
		case "tools":
			c.tools = value.Raw
		case "model": // a value of another type than these is the endpoint's to refuse
			c.model = value.Str
		case "stream":
			c.stream = value.Type == gjson.True
		case "max_tokens", "max_completion_tokens":
			if value.Type == gjson.Number {
				c.answer = max(c.answer, int(value.Int()))
			}
		}
		return true
	})
	if !c.messages.IsArray() {
		return nil, errNoConversation
	}
	understood := true
	c.messages.ForEach(func(_, message gjson.Result) bool {
		t := turn{end: end(message)}
		understood = message.IsObject()
		message.ForEach(func(name, value gjson.Result) bool {
			switch name.Str {
			case "role":
				t.role = value.Str
			case "content":
				t.content = value
			}
			return true
		})
		understood = understood && t.role != ""
		t.text = textOf(t.content)
		c.turns = append(c.turns, t)
		return understood
	})
	if !understood {
		return nil, errNoConversation
	}
	return c, nil
}

// end is where a value of a body ends.
func end(value gjson.Result) int { return value.Index + len(value.Raw) }

// textOf reads a message's content: a text, or a list of parts of which some are texts.
func textOf(content gjson.Result) string {
	text := content.Str
	if content.IsArray() {
		var texts []string
		for _, part := range content.Array() {
			if part.Get("type").Str == "text" {
				texts = append(texts, part.Get("text").Str)
			}
		}
		text = strings.Join(texts, "\n")
	}
	return strings.ToValidUTF8(text, "\uFFFD")
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
func (c *conversation) tokens() int {
	n := Estimate(c.tools)
	for _, t := range c.turns {
		n += Estimate(t.text) + messageFrame
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
		return c.put(c.messages.Index+1, message)
	}
	t := c.turns[leading]
	switch {
	case t.content.Type == gjson.String:
		if t.text != "" {
			text = "\n\n" + text
		}
		quoted := quote(text)
		return c.put(end(t.content)-1, quoted[1:len(quoted)-1])
	case t.content.IsArray():
		part := quote(struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{"text", text})
		if len(t.content.Array()) > 0 {
			part = append([]byte{','}, part...)
		}
		return c.put(end(t.content)-1, part)
	}
	return c.put(t.end, append([]byte{','}, quote(Message{Role: RoleSystem, Content: text})...))
}

// put returns the body with more bytes at a place.
func (c *conversation) put(at int, more []byte) []byte {
	return slices.Concat(c.body[:at], more, c.body[at:])
}

// quote writes a value as JSON that reads as its text does.
func quote(value any) []byte {
	text, _ := strictjson.Plain(value) // texts cannot fail
	return text
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

// messageFrame is how many tokens a message costs besides its text: the role and
// the marks around it, 3 to 5 in the chat templates of today's models.
const messageFrame = 4

// Estimate guesses how many tokens a text has, for models whose vocabulary is not
// known here: a token for 4 bytes of ASCII, and one for each other character.
// For English it is within about a tenth; for JSON it is up to 40 % too few.
func Estimate(text string) int {
	ascii, others := 0, 0
	for _, r := range text {
		if r < utf8.RuneSelf {
			ascii++
		} else {
			others++
		}
	}
	return (ascii+3)/4 + others
}
