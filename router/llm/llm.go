// Package llm is the way out: it speaks to a model behind an endpoint that
// looks like OpenAI's (Ollama, llama.cpp, vLLM, LM Studio), and serves such an
// endpoint itself, with memory. It owns the wire, time-outs, retries and
// bounds. It dials the configured endpoint and nothing else, and without one it
// dials nothing. It must hold no rule on what is worth remembering.
package llm

import (
	"context"
	"encoding/json"
)

// Model answers conversations. Chat refuses with TooLarge what does not fit
// the model's window, before anything is sent; Unavailable means that the endpoint
// cannot be reached, or answered nonsense, and asking later may work; Invalid that
// it refused the request; RateLimited that it wants fewer.
type Model interface {
	// Name is the model's name at its endpoint.
	Name() string
	// Window is how many tokens the model takes, question and answer together; 0: not known.
	Window() int
	// Chat returns the whole answer.
	Chat(ctx context.Context, request Request) (Reply, error)
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

// Request is what a model is asked.
type Request struct {
	Messages []Message
	// MaxTokens bounds the answer; 0 leaves it to the endpoint, and DefaultAnswer is kept free of the window.
	MaxTokens int
	// Temperature is how much chance there is in the answer, 0 to 2; nil leaves it to the endpoint.
	Temperature *float64
	// Seed makes answers repeatable where the endpoint can; nil leaves it to chance.
	Seed *int64
	// Schema is a JSON schema that the answer should follow, and SchemaName what it is called
	// (SchemaName empty: answer). Endpoints differ in how well they hold a model to it: check the answer.
	Schema     json.RawMessage
	SchemaName string
}

// Reply is a whole answer.
type Reply struct {
	Model   string // that answered, as the endpoint calls it
	Content string
	// FinishReason is why the answer ended: stop, length (it was cut off), or the endpoint's own word.
	FinishReason string
	Usage        Usage
}

// Usage is what a call cost, in the model's own tokens; zeros if the endpoint does not say.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

// Bounds of what is said to a model and of what it may say.
const (
	// DefaultAnswer is how many tokens of the window are kept free for an answer whose length nobody bounds.
	DefaultAnswer = 1024
	// MaxAnswer bounds an answer, in bytes: a window of a million tokens is about this long.
	MaxAnswer = 8 << 20
	// MaxPiece bounds one line of a stream, in bytes.
	MaxPiece = 1 << 20
)
