package mcpserver

import (
	"fmt"
	"strings"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/knowledge"
)

// unfelt are the members of an entry that no model needs.
const unfelt = "source use_count last_used created_at updated_at redacted relevance"

// knowledgeTools are the two that every agent needs, and those that look after single entries.
func knowledgeTools() []tool {
	return []tool{
		{
			name: "store_knowledge", title: "Store knowledge", effect: ensure, holds: "knowledge_id",
			description: "Write down something learned, one lesson per entry, with the error texts and names to search for.",
			does:        knowledge.Service.Store, takes: "category! title! content! tags project source",
			said: func(stored knowledge.Stored) string {
				said := "Stored as %s."
				if stored.Duplicate {
					said = "Nothing was stored: the same content is there already as %s."
				}
				said = fmt.Sprintf(said, visible(stored.ID))
				if len(stored.Supersedes) > 0 {
					said += fmt.Sprintf(" It supersedes %s: undo by call_tool with update_knowledge if that is wrong.", visible(strings.Join(stored.Supersedes, ", ")))
				}
				return said
			},
		},
		{
			name: "search_knowledge", title: "Search knowledge", effect: reads, holds: "results",
			description: "Find what agents have learned. Ask before you solve a problem; give error texts and names as they are.",
			does:        knowledge.Service.Search, takes: "query! category project tags limit explain", without: "count tried " + unfelt,
			entries: func(found *knowledge.Results) []entry { return entriesOf(&found.Results, knowledgeEntry) },
			about:   words{"tags": "All of these", "limit": upTo(learning.MaxLimit, learning.DefaultKnowledgeLimit)},
			said: func(found knowledge.Results) string {
				return searched(len(found.Results), "entry", "Nothing was found. Try other words or drop the filters; once you have solved it, write it down with store_knowledge.", "best first", found.LeftOut, found.Corrected, found.Notice)
			},
		},
		{
			name: "get_knowledge", title: "One entry of knowledge", effect: reads, walled: true, as: "entry", without: unfelt,
			description: "An entry of knowledge, whole.",
			does:        knowledge.Service.Entry, takes: "knowledge_id!",
			resource: &resource{template: "memory://knowledge/{id}", name: "knowledge", description: "An entry of the team's knowledge", arguments: []string{"knowledge_id"}},
		},
		{
			name: "update_knowledge", title: "Update knowledge", effect: ensure, walled: true, as: "entry", without: unfelt,
			description: "Correct an entry of knowledge; what is left out stays.",
			does:        knowledge.Service.Update, takes: "knowledge_id! title content category tags project source superseded_by",
		},
		{
			name: "delete_knowledge", title: "Delete knowledge", effect: steers, walled: true, holds: "deleted",
			description: "Delete an entry of knowledge; restore_deleted brings it back within 30 days.",
			does:        knowledge.Service.Delete, takes: "knowledge_id!",
		},
	}
}

func knowledgeEntry(hit *knowledge.Hit) entry {
	return entry{texts: []*string{&hit.Title, &hit.Content}, saying: hit.Says(), said: func() (string, []string) {
		return fmt.Sprintf("relevance %.3g, by %s, trust %q", hit.RelevanceScore, author(hit.Author), string(hit.Trust)), []string{
			attributes("id", hit.ID, "category", hit.Category, "project", hit.Project, "tags", strings.Join(hit.Tags, ", "),
				"superseded by", hit.SupersededBy),
			hit.Title, hit.Content, whyNote(hit.Why),
		}
	}}
}
