package learning

import "context"

// Embedder makes vectors of texts. router/llm implements it over an
// OpenAI-compatible endpoint. Without one, search is lexical.
type Embedder interface {
	// Model names the model: vectors of different models cannot be compared.
	Model() string
	// Embed returns a vector for each text, in their order. An Unavailable error means
	// that the endpoint cannot be reached now.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}
