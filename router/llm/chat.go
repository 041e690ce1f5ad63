package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// ChatOptions are a Chat's settings. The zero value is usable.
type ChatOptions struct {
	// Window is how many tokens the model takes, question and answer together; 0: not known, nothing is refused.
	Window int
	// Count counts the tokens of a text; nil means Estimate.
	Count func(text string) int
}

// Chat is a Model behind an Endpoint.
type Chat struct {
	endpoint *Endpoint
	model    string
	options  ChatOptions
}

var _ Model = (*Chat)(nil)

// NewChat makes a Model of the endpoint's model of that name.
func NewChat(endpoint *Endpoint, model string, options ChatOptions) *Chat {
	if options.Count == nil {
		options.Count = Estimate
	}
	return &Chat{endpoint: endpoint, model: model, options: options}
}

// Name implements Model.
func (c *Chat) Name() string { return c.model }

// Window implements Model.
func (c *Chat) Window() int { return c.options.Window }

// The wire, https://platform.openai.com/docs/api-reference/chat: as much of it as is used here.
type (
	wireRequest struct {
		Model          string    `json:"model"`
		Messages       []Message `json:"messages"`
		MaxTokens      int       `json:"max_tokens,omitempty"`
		Temperature    *float64  `json:"temperature,omitempty"`
		Seed           *int64    `json:"seed,omitempty"`
		Stream         bool      `json:"stream"` // false, which some endpoints do not take for granted
		ResponseFormat any       `json:"response_format,omitempty"`
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
	wireContent struct {
		Content *string `json:"content"`
	}
	wireReply struct {
		Model   string `json:"model"`
		Choices []struct {
			Message      wireContent `json:"message"`
			Delta        wireContent `json:"delta"` // of a piece of a stream
			FinishReason string      `json:"finish_reason"`
		} `json:"choices"`
		Usage Usage `json:"usage"`
	}
)

// Chat implements Model.
func (c *Chat) Chat(ctx context.Context, request Request) (Reply, error) {
	body, err := c.encode(request)
	if err != nil {
		return Reply{}, err
	}
	var reply wireReply
	text, err := c.endpoint.ask(ctx, call{method: http.MethodPost, path: "/chat/completions", body: body}, "chat completion", &reply)
	if err != nil {
		return Reply{}, err
	}
	if len(reply.Choices) == 0 {
		return Reply{}, c.endpoint.nonsense(errors.New("no choices: "+c.endpoint.said(text)), "chat completion")
	}
	first := reply.Choices[0]
	answer := Reply{Model: reply.Model, FinishReason: first.FinishReason, Usage: reply.Usage}
	if first.Message.Content != nil {
		answer.Content = *first.Message.Content
	}
	return answer, nil
}

// encode checks a request and writes it as the endpoint reads it.
func (c *Chat) encode(request Request) ([]byte, error) {
	if len(request.Messages) == 0 {
		return nil, errs.InvalidField("messages", "must hold at least one message")
	}
	if request.MaxTokens < 0 {
		return nil, errs.InvalidField("max_tokens", "must not be negative")
	}
	if t := request.Temperature; t != nil && !(*t >= 0 && *t <= 2) { // not NaN either
		return nil, errs.InvalidField("temperature", "must lie between 0 and 2")
	}
	if err := fits(request.Messages, request.MaxTokens, c.options.Window, c.options.Count); err != nil {
		return nil, err
	}
	wire := wireRequest{
		Model: c.model, Messages: request.Messages, MaxTokens: request.MaxTokens,
		Temperature: request.Temperature, Seed: request.Seed,
	}
	if len(request.Schema) > 0 {
		name := cmp.Or(request.SchemaName, "answer")
		wire.ResponseFormat = responseFormat{Type: "json_schema", JSONSchema: jsonSchema{Name: name, Strict: true, Schema: request.Schema}}
	}
	body, err := json.Marshal(wire)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "the request cannot be written as JSON")
	}
	return body, nil
}
