package mcpserver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"skillrouter/learning"
)

type storeKnowledge struct {
	Category string   `json:"category"`
	Title    string   `json:"title"`
	Content  string   `json:"content"`
	Tags     []string `json:"tags"`
	Project  string   `json:"project"`
	Source   string   `json:"source"`
}

type searchKnowledge struct {
	Query    string   `json:"query"`
	Category string   `json:"category"`
	Project  string   `json:"project"`
	Tags     []string `json:"tags"`
	Limit    int      `json:"limit"`
	Explain  bool     `json:"explain"`
}

// knowledgeHit is what a model needs of an entry that was found.
type knowledgeHit struct {
	ID             string            `json:"id"`
	Title          string            `json:"title"`
	Content        string            `json:"content"`
	Category       string            `json:"category"`
	Tags           []string          `json:"tags,omitempty"`
	Project        string            `json:"project,omitempty"`
	Author         string            `json:"agent_id,omitempty"`
	Trust          learning.Trust    `json:"trust"`
	RelevanceScore float64           `json:"relevance_score"`
	Why            []learning.Reason `json:"why,omitempty"`
	CutBytes       int               `json:"cut_bytes,omitempty"` // of the content, left out of this answer
}

type knowledgeHits struct {
	Results   []knowledgeHit    `json:"results"`
	LeftOut   int               `json:"left_out,omitempty"` // found too, and over what the service answers at once
	Corrected map[string]string `json:"corrected,omitempty"`
	Degraded  string            `json:"degraded,omitempty"` // that it was searched by words alone, though vectors are configured
	Notice    string            `json:"notice,omitempty"`
}

func (s *Server) addKnowledgeTools() {
	add(s, tool{
		name: "store_knowledge", title: "Store knowledge", effect: ensure,
		description: "Write down something learned: one lesson per entry, with the error texts and names one would search for.",
		input: arguments(
			required(text("category", "error_solution, pattern, best_practice, gotcha, or your own")),
			required(text("title", "One line that says the point")),
			required(text("content", "")),
			texts("tags", ""),
			text("project", "Empty: any"),
			text("source", ""),
		),
		output: holds("knowledge_id"),
	}, s.storeKnowledge)
	add(s, tool{
		name: "search_knowledge", title: "Search knowledge", effect: reads,
		description: "Find what agents have learned. Ask before you solve a problem; give error texts and identifiers as they are.",
		input: arguments(
			required(text("query", "")),
			text("category", ""),
			text("project", ""),
			texts("tags", "All of these"),
			upTo("limit", "1–%d, default 5", learning.MaxLimit),
			boolean("explain", ""),
		),
		output: holds("results"),
	}, s.searchKnowledge)
}

func (s *Server) storeKnowledge(ctx context.Context, in storeKnowledge) (reply[learning.Stored], error) {
	stored, err := s.services.Knowledge.Store(ctx, learning.KnowledgeDraft{
		Category: in.Category, Title: in.Title, Content: in.Content, Tags: in.Tags, Source: in.Source,
		Project: in.Project, AgentID: s.actor(ctx, ""),
	})
	if err != nil {
		return reply[learning.Stored]{}, err
	}
	text := fmt.Sprintf("Stored as %s.", visible(stored.ID))
	if stored.Duplicate {
		text = fmt.Sprintf("Nothing was stored: the same content is there already as %s.", visible(stored.ID))
	}
	if len(stored.Redacted) > 0 {
		text += " Secrets were cut out of it before it was stored: " + strings.Join(stored.Redacted, ", ") + "."
	}
	return reply[learning.Stored]{stored, text}, nil
}

func (s *Server) searchKnowledge(ctx context.Context, in searchKnowledge) (reply[knowledgeHits], error) {
	found, err := s.services.Knowledge.Search(ctx, learning.KnowledgeQuery{
		Query: in.Query, Category: in.Category, Project: in.Project, Tags: in.Tags, Limit: in.Limit, Explain: in.Explain,
	})
	if err != nil {
		return reply[knowledgeHits]{}, err
	}
	out := knowledgeHits{Results: []knowledgeHit{}, LeftOut: found.LeftOut, Corrected: found.Corrected, Degraded: found.Notice}
	var titles, contents []*string
	for _, hit := range found.Results {
		out.Results = append(out.Results, knowledgeHit{
			ID: hit.ID, Title: hit.Title, Content: hit.Content, Category: hit.Category, Tags: hit.Tags,
			Project: hit.Project, Author: hit.Author, Trust: hit.Trust, RelevanceScore: hit.RelevanceScore, Why: hit.Why,
		})
	}
	for i := range out.Results {
		titles, contents = append(titles, &out.Results[i].Title), append(contents, &out.Results[i].Content)
	}
	for i, left := range fit(titles, contents) {
		out.Results[i].CutBytes = left
	}
	if len(out.Results) == 0 {
		return reply[knowledgeHits]{out, "Nothing was found. Try other words or drop the filters; once you have solved it, write it down with store_knowledge." + corrections(out.Corrected) + degraded(out.Degraded)}, nil
	}
	out.Notice = notice
	f := newFence("Found %s, best first.%s%s%s", count(len(out.Results), "entry", "entries"), leftOut(out.LeftOut), corrections(out.Corrected), degraded(out.Degraded))
	f.explain()
	for i, hit := range out.Results {
		f.add(
			fmt.Sprintf("%d. relevance %.3g, by %s, trust %q", i+1, hit.RelevanceScore, author(hit.Author), string(hit.Trust)),
			attributes("id", hit.ID, "category", hit.Category, "project", hit.Project, "tags", strings.Join(hit.Tags, ", ")),
			hit.Title, hit.Content, whyNote(hit.Why), cutNote(hit.CutBytes))
	}
	return reply[knowledgeHits]{out, f.String()}, nil
}

// leftOut says how many results were too much for one answer.
func leftOut(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %d more were too long to add: ask for fewer, or more closely.", n)
}

// corrections says which words of a query nobody wrote, and what was searched
// instead. The words are the caller's own and the index's.
// degraded says what a search could not do.
func degraded(notice string) string {
	if notice == "" {
		return ""
	}
	return " The " + notice + "."
}

func corrections(corrected map[string]string) string {
	if len(corrected) == 0 {
		return ""
	}
	var pairs []string
	for _, from := range slices.Sorted(maps.Keys(corrected)) {
		pairs = append(pairs, fmt.Sprintf("%q for %q", corrected[from], from))
	}
	return " Searched " + strings.Join(pairs, ", ") + ", which no entry has."
}

// author names who wrote something: an agent's id holds no character that
// could pass for anything else.
func author(agentID string) string {
	if agentID == "" {
		return "unknown"
	}
	return "agent " + visible(agentID)
}

// attributes writes the pairs that have a value on one line.
func attributes(pairs ...string) string {
	var parts []string
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			parts = append(parts, pairs[i]+"="+strings.ReplaceAll(pairs[i+1], "\n", " "))
		}
	}
	return strings.Join(parts, "; ")
}
