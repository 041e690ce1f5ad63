// Package llm is the way out: it speaks to a model behind an endpoint that
// looks like OpenAI's (Ollama, llama.cpp, vLLM, LM Studio), and serves such an
// endpoint itself, with memory. It owns the wire, time-outs, retries and
// bounds. It dials the configured endpoint and nothing else, and without one it
// dials nothing. It must hold no rule on what is worth remembering.
package llm

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// Chat is a model behind an Endpoint.
type Chat struct {
	endpoint *Endpoint
	model    string
	window   int // how many tokens the model takes, question and answer together; 0: not known
}

// NewChat is the endpoint's model of that name. Its window is how many tokens it takes, question and answer together; 0: not known.
func NewChat(endpoint *Endpoint, model string, window int) *Chat {
	return &Chat{endpoint, model, window}
}

// The wire, https://platform.openai.com/docs/api-reference/chat: as much of it as is used here.
type (
	wireRequest struct {
		Model          string         `json:"model"`
		Messages       []Message      `json:"messages"`
		MaxTokens      int            `json:"max_tokens"`
		Temperature    float64        `json:"temperature"`
		Stream         bool           `json:"stream"` // false, which some endpoints do not take for granted
		ResponseFormat responseFormat `json:"response_format"`
	}
	responseFormat struct {
		Type       string     `json:"type"`
		JSONSchema jsonSchema `json:"json_schema"`
	}
	jsonSchema struct {
		Name   string          `json:"name"`
		Strict bool            `json:"strict"`
		Schema json.RawMessage `json:"schema"`
	}
	wireReply struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
)

// Answer has the model answer a conversation with JSON of a schema, in at most so many tokens and without chance. Endpoints differ in how
// well they hold a model to a schema: check the answer. Unavailable means that the endpoint cannot be reached, or answered nonsense, and
// asking later may work; Invalid that it refused the request; TooLarge that this does not fit the model's window; RateLimited that it wants fewer.
func (c *Chat) Answer(ctx context.Context, messages []Message, most int, schema json.RawMessage) (string, error) {
	body, err := json.Marshal(wireRequest{
		Model: c.model, Messages: messages, MaxTokens: most,
		ResponseFormat: responseFormat{Type: "json_schema", JSONSchema: jsonSchema{Name: "answer", Strict: true, Schema: schema}},
	})
	if err != nil {
		return "", errs.Wrap(errs.Invalid, err, "the request cannot be written as JSON")
	}
	var reply wireReply
	text, err := c.endpoint.ask(ctx, call{method: http.MethodPost, path: "/chat/completions", body: body}, "chat completion", &reply)
	if err != nil {
		return "", err
	}
	if len(reply.Choices) == 0 {
		return "", c.endpoint.nonsense(errors.New("no choices: "+c.endpoint.said(text)), "chat completion")
	}
	return reply.Choices[0].Message.Content, nil
}

// Models lists the names of the models that the endpoint has.
func (e *Endpoint) Models(ctx context.Context) ([]string, error) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if _, err := e.ask(ctx, call{method: http.MethodGet, path: "/models"}, "list of models", &list); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(list.Data))
	for _, model := range list.Data {
		names = append(names, model.ID)
	}
	return names, nil
}

// The roles of messages.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Bounds of what is said to a model and of what it may say.
const (
	// DefaultAnswer is how many tokens of the window are kept free for an answer whose length nobody bounds.
	DefaultAnswer = 1024
	// MaxAnswer bounds an answer, in bytes: a window of a million tokens is about this long.
	MaxAnswer = 8 << 20
)
