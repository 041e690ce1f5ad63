package exchange

import (
	"fmt"
	"io"
	"strings"

	"github.com/skillrouter/skillrouter/learning/knowledge"
)

// readGraph reads a knowledge graph: an entity becomes an entry with its
// observations, a relation an entry of one sentence.
func readGraph(r io.Reader, o Options, yield func(Item) bool) error {
	return ndjson(r, yield, each(yield, func(place string, t thing) Item {
		name, kind, from, to, relation := t.text("name"), t.text("entityType"), t.text("from"), t.text("to"), t.text("relationType")
		switch t.text("type") {
		case "entity":
			if name == "" {
				return Item{Place: place, Field: "name", Refused: "is required"}
			}
			content := name
			if observations := t.texts("observations"); len(observations) > 0 {
				content = "- " + strings.Join(observations, "\n- ")
			}
			return knowledgeLine(place, knowledge.Knowledge{
				ID: o.idOf("mcp-memory", "entity", name), Category: first(kind, "entity"), Title: name, Content: content,
				Tags: []string{"mcp-memory", kind}, Source: "mcp-memory entity " + name,
			}, o)
		case "relation":
			for _, part := range []struct{ field, value string }{{"from", from}, {"to", to}, {"relationType", relation}} {
				if part.value == "" {
					return Item{Place: place, Field: part.field, Refused: "is required"}
				}
			}
			sentence := fmt.Sprintf("%s %s %s", from, strings.ReplaceAll(relation, "_", " "), to)
			return knowledgeLine(place, knowledge.Knowledge{
				ID: o.idOf("mcp-memory", "relation", from, relation, to), Category: "relation", Title: sentence, Content: sentence,
				Tags: []string{"mcp-memory", relation}, Source: "mcp-memory relation",
			}, o)
		}
		return Item{Place: place, Field: "type", Refused: "must be entity or relation"}
	}))
}
