package router

import (
	"strings"

	"github.com/skillrouter/skillrouter/tfidf"
)

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
