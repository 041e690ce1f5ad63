package exchange

import (
	"fmt"
	"io"
	"strings"

	"skillrouter/learning/knowledge"
)

// graphLine is a line of the MCP memory server's file (@modelcontextprotocol/server-memory).
type graphLine struct {
	Type         string   `json:"type"`
	Name         string   `json:"name"`
	EntityType   string   `json:"entityType"`
	Observations []string `json:"observations"`
	From         string   `json:"from"`
	To           string   `json:"to"`
	RelationType string   `json:"relationType"`
}

// readGraph reads a knowledge graph: an entity becomes an entry with its
// observations, a relation an entry of one sentence.
func readGraph(r io.Reader, o Options, yield func(Item) bool) error {
	return ndjson(r, yield, each(yield, func(place string, g graphLine) Item {
		switch g.Type {
		case "entity":
			if strings.TrimSpace(g.Name) == "" {
				return Item{Place: place, Field: "name", Refused: "is required"}
			}
			content := g.Name
			if len(g.Observations) > 0 {
				content = "- " + strings.Join(g.Observations, "\n- ")
			}
			return knowledgeLine(place, knowledge.Knowledge{
				ID: o.idOf("mcp-memory", "entity", g.Name), Category: first(g.EntityType, "entity"), Title: g.Name, Content: content,
				Tags: []string{"mcp-memory", g.EntityType}, Source: "mcp-memory entity " + g.Name,
			}, o)
		case "relation":
			for _, part := range []struct{ field, value string }{{"from", g.From}, {"to", g.To}, {"relationType", g.RelationType}} {
				if strings.TrimSpace(part.value) == "" {
					return Item{Place: place, Field: part.field, Refused: "is required"}
				}
			}
			sentence := fmt.Sprintf("%s %s %s", g.From, strings.ReplaceAll(g.RelationType, "_", " "), g.To)
			return knowledgeLine(place, knowledge.Knowledge{
				ID: o.idOf("mcp-memory", "relation", g.From, g.RelationType, g.To), Category: "relation", Title: sentence, Content: sentence,
				Tags: []string{"mcp-memory", g.RelationType}, Source: "mcp-memory relation",
			}, o)
		}
		return Item{Place: place, Field: "type", Refused: "must be entity or relation"}
	}))
}
