package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/shelf"
)

// Bounds of embeddings.
const (
	// MaxBatch is how many texts are sent at once: llama.cpp and Ollama work them off one by one, and a
	// call should end within seconds.
	MaxBatch = 64
	// MaxEmbedText bounds a text that is sent, in bytes: about the 2,048 tokens that the
	// common models take. The rest of a longer one is left out.
	MaxEmbedText = 8 << 10
	// MaxDimensions bounds a vector: the largest models' have 4,096.
	MaxDimensions = 16384
)

// Embeddings makes vectors with a model behind an Endpoint.
type Embeddings struct {
	endpoint *Endpoint
	model    string
}

var _ shelf.Embedder = (*Embeddings)(nil)

// NewEmbeddings makes an Embedder of the endpoint's model of that name.
func NewEmbeddings(endpoint *Endpoint, model string) *Embeddings {
	return &Embeddings{endpoint: endpoint, model: model}
}

// Model implements shelf.Embedder.
func (e *Embeddings) Model() string { return e.model }

// Embed implements shelf.Embedder. Texts are sent in batches of at most
// MaxBatch, each text's first MaxEmbedText bytes. Vectors are not normalised. A
// text that is blank is Invalid; so is one that the endpoint refuses.
func (e *Embeddings) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n := min(len(texts), MaxBatch)
		batch, err := e.batch(ctx, texts[:n])
		if err != nil {
			return nil, err
		}
		if len(vectors) > 0 && len(batch[0]) != len(vectors[0]) {
			return nil, e.endpoint.nonsense(errors.New("vectors of different lengths"), "list of embeddings")
		}
		vectors, texts = append(vectors, batch...), texts[n:]
	}
	return vectors, nil
}

func (e *Embeddings) batch(ctx context.Context, texts []string) ([][]float32, error) {
	input := make([]string, len(texts))
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
			return nil, errs.InvalidField("texts", "may not hold a blank one")
		}
		input[i] = check.Head(strings.ToValidUTF8(text, "\uFFFD"), MaxEmbedText)
	}
	body, err := json.Marshal(struct {
		Model  string   `json:"model"`
		Input  []string `json:"input"`
		Format string   `json:"encoding_format"`
	}{e.model, input, "float"})
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "the request cannot be written as JSON")
	}
	const what = "list of embeddings"
	var answer wireEmbeddings
	if _, err := e.endpoint.ask(ctx, call{method: http.MethodPost, path: "/embeddings", body: body}, what, &answer); err != nil {
		return nil, err
	}
	vectors, err := answer.vectors(len(texts))
	if err != nil {
		return nil, e.endpoint.nonsense(err, what)
	}
	return vectors, nil
}

type wireEmbeddings struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

// vectors returns n vectors, all of the same length and none of them nought, in the order of their index.
func (answer wireEmbeddings) vectors(n int) ([][]float32, error) {
	if len(answer.Data) != n {
		return nil, fmt.Errorf("%d vectors for %d texts", len(answer.Data), n)
	}
	vectors := make([][]float32, n)
	for _, one := range answer.Data {
		if one.Index < 0 || one.Index >= n || vectors[one.Index] != nil {
			return nil, fmt.Errorf("the index %d is there twice, or is none", one.Index)
		}
		if len(one.Embedding) == 0 || len(one.Embedding) > MaxDimensions || len(one.Embedding) != len(answer.Data[0].Embedding) {
			return nil, fmt.Errorf("a vector of %d dimensions", len(one.Embedding))
		}
		var square float64
		for _, x := range one.Embedding {
			square += float64(x) * float64(x)
		}
		if square == 0 || math.IsInf(square, 0) || math.IsNaN(square) {
			return nil, errors.New("a vector without a direction")
		}
		vectors[one.Index] = one.Embedding
	}
	return vectors, nil
}
