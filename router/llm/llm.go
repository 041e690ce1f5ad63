// Package llm is the way out: it speaks to a model behind an endpoint that
// looks like OpenAI's (Ollama, llama.cpp, vLLM, LM Studio), and serves such an
// endpoint itself, with memory. It owns the wire, time-outs, retries and
// bounds. It dials the configured endpoint and nothing else, and without one it
// dials nothing. It must hold no rule on what is worth remembering.
package llm

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
