package router

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/skillrouter/skillrouter/tfidf"
)

// ToolService lists the tools that agents have, and calls them outside of any
// session of the Model Context Protocol. router/mcpserver implements it; the
// gateway of router/httpapi serves it.
type ToolService interface {
	// Tools lists every tool of every toolset, whether it is switched on for MCP's
	// clients or not, by name.
	Tools() []Tool
	// CallTool calls a tool. It is a NotFound error if there is no such tool, an Invalid one if the arguments are not those
	// of its schema.
	CallTool(ctx context.Context, call ToolCall) (ToolAnswer, error)
}

// ToolCall is a call of a tool.
type ToolCall struct {
	Name      string
	Arguments json.RawMessage // an object
	Agent     string          // who it is made as; empty: whoever the token belongs to
}

// ToolAnswer is what a tool answers: fields for programs, which marshal to a JSON object, and a text for models and people.
type ToolAnswer struct {
	Fields any
	Text   string
}

// Tool is one tool as programs list it.
type Tool struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Toolset     string `json:"toolset"`
	InputSchema any    `json:"inputSchema"` // a JSON schema of the arguments
	// OutputSchema is a JSON schema of the answer that names the fields that are always there.
	OutputSchema any `json:"outputSchema"`
}

// ToolIndex finds tools by what they are for. It never changes.
type ToolIndex struct{ index *tfidf.Index }

// NewToolIndex indexes tools by their names, titles, descriptions and parameters.
// parameters returns what is to be found of a tool's schema, and may be nil.
func NewToolIndex(tools []Tool, parameters func(Tool) []string) *ToolIndex {
	index := tfidf.New(tfidf.Options{})
	documents := make([]tfidf.Document, 0, len(tools))
	for _, t := range tools {
		body := []string{t.Description, t.Toolset}
		if parameters != nil {
			body = append(body, parameters(t)...)
		}
		documents = append(documents, tfidf.Document{
			ID: t.Name, Title: strings.ReplaceAll(t.Name, "_", " ") + " " + t.Title, Body: strings.Join(body, "\n"), Category: t.Toolset,
		})
	}
	index.Put(documents...)
	return &ToolIndex{index}
}

// Find returns the names of the tools that fit words, best first, and at most
// as many as the engine gives at once.
func (x *ToolIndex) Find(words string) []string {
	found := x.index.Search(tfidf.Query{Text: words, Limit: tfidf.MaxLimit})
	names := make([]string, 0, len(found.Hits))
	for _, hit := range found.Hits {
		names = append(names, hit.ID)
	}
	return names
}
