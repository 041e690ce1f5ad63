package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"skillrouter/learning"
	"skillrouter/learning/knowledge"
)

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
	SupersededBy   string            `json:"superseded_by,omitempty"`
	CutBytes       int               `json:"cut_bytes,omitempty"` // of the content, left out of this answer
}

type oneKnowledge struct {
	Entry  knowledgeHit `json:"entry"`
	Notice string       `json:"notice"`
}

type deleted struct {
	Deleted string `json:"deleted"` // what it was named by
}

// addKnowledgeTools offers the two that every agent needs, and those that look
// after single entries.
func (s *Server) addKnowledgeTools() {
	add(s, tool{
		name: "store_knowledge", title: "Store knowledge", effect: ensure, holds: "knowledge_id",
		description: "Write down something learned, one lesson per entry, with the error texts and names to search for.",
	}, described[knowledge.Draft]("category!", "title!", "content!", "tags", "project", "source"), then(s.services.Knowledge.Store, func(stored knowledge.Stored) (knowledge.Stored, string) {
		said := "Stored as %s."
		if stored.Duplicate {
			said = "Nothing was stored: the same content is there already as %s."
		}
		return stored, fmt.Sprintf(said, visible(stored.ID)) + listed(" It supersedes %s: undo by call_tool with update_knowledge if that is wrong.", stored.Supersedes) + redacted(stored.Redacted)
	}))
	add(s, tool{
		name: "search_knowledge", title: "Search knowledge", effect: reads, holds: "results",
		description: "Find what agents have learned. Ask before you solve a problem; give error texts and names as they are.",
	}, func(p *params, q *knowledge.Query) {
		p.must("query", &q.Query, "")
		p.may("category", &q.Category, "")
		p.may("project", &q.Project, "")
		p.here(&q.PreferProject)
		p.may("tags", &q.Tags, "All of these")
		p.may("limit", &q.Limit, upTo(learning.MaxLimit, learning.DefaultKnowledgeLimit))
		p.may("explain", &q.Explain, "")
	}, then(s.services.Knowledge.Search, func(found knowledge.Results) (hits[knowledgeHit], string) {
		out := hits[knowledgeHit]{
			Results: views(found.Results, shownKnowledge), LeftOut: found.LeftOut, Corrected: found.Corrected, Degraded: found.Notice,
		}
		return out, out.said(knowledgeEntry, "Nothing was found. Try other words or drop the filters; once you have solved it, write it down with store_knowledge.", "best first", "entry", "entries")
	}))
	id := func(p *params, id *string) { p.must("knowledge_id", id, "") }
	add(s, tool{
		name: "get_knowledge", title: "One entry of knowledge", set: ToolsetLessons, effect: reads, holds: "entry",
		description: "An entry of knowledge, whole.",
		resource:    &resource{template: "memory://knowledge/{id}", name: "knowledge", description: "An entry of the team's knowledge", arguments: []string{"knowledge_id"}},
	}, id, then(s.services.Knowledge.Entry, fullKnowledge))
	add(s, tool{
		name: "update_knowledge", title: "Update knowledge", set: ToolsetLessons, effect: ensure, holds: "entry",
		description: "Correct an entry of knowledge; what is left out stays.",
	}, func(p *params, c *change[string, knowledge.Patch]) {
		id(p, &c.id)
		p.may("title", &c.draft.Title, "")
		p.may("content", &c.draft.Content, "")
		p.may("category", &c.draft.Category, "")
		p.may("tags", &c.draft.Tags, "")
		p.may("project", &c.draft.Project, "")
		p.may("source", &c.draft.Source, "")
		p.may("superseded_by", &c.draft.SupersededBy, "The entry that stands in its place; \"\" undoes it")
	}, then(changing(s.services.Knowledge.Update), fullKnowledge))
	add(s, tool{
		name: "delete_knowledge", title: "Delete knowledge", set: ToolsetLessons, effect: steers, holds: "deleted",
		description: "Delete an entry of knowledge for good.",
	}, id, func(ctx context.Context, id string) (deleted, string, error) {
		return deleted{id}, fmt.Sprintf("Deleted: %s.", visible(id)), s.services.Knowledge.Delete(ctx, id)
	})
}

// listed says something of ids, if there are any.
func listed(format string, ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return fmt.Sprintf(format, visible(strings.Join(ids, ", ")))
}

func shownKnowledge(hit knowledge.Hit) knowledgeHit {
	return knowledgeHit{
		ID: hit.ID, Title: hit.Title, Content: hit.Content, Category: hit.Category, Tags: hit.Tags,
		Project: hit.Project, Author: hit.Author, Trust: hit.Trust, RelevanceScore: hit.RelevanceScore, Why: hit.Why,
		SupersededBy: hit.SupersededBy,
	}
}

// fullKnowledge is an entry by itself. Nothing was searched for, which it fits best.
func fullKnowledge(e knowledge.Knowledge) (oneKnowledge, string) {
	hit := shownKnowledge(knowledge.Hit{Knowledge: e, RelevanceScore: 1})
	shown := knowledgeEntry(&hit)
	fitTexts([][]*string{shown.texts})
	_, lines := shown.said(0)
	f := newFence("One entry, by %s, trust %q.", author(hit.Author), string(hit.Trust))
	f.explain()
	f.add("Entry", lines...)
	return oneKnowledge{hit, notice}, f.String()
}

// Says is what the entry says, to be compared with what others say.
func (h *knowledgeHit) Says() learning.Saying {
	return learning.Saying{ID: h.ID, Kind: "knowledge", Where: h.Project, Trust: h.Trust, Text: h.Title + "\n" + h.Content}
}

func knowledgeEntry(hit *knowledgeHit) entry {
	whole := len(hit.Content)
	return entry{[]*string{&hit.Title, &hit.Content}, func(int) (string, []string) {
		hit.CutBytes = whole - len(hit.Content)
		return fmt.Sprintf("relevance %.3g, by %s, trust %q", hit.RelevanceScore, author(hit.Author), string(hit.Trust)), []string{
			attributes("id", hit.ID, "category", hit.Category, "project", hit.Project, "tags", strings.Join(hit.Tags, ", "),
				"superseded by", hit.SupersededBy),
			hit.Title, hit.Content, whyNote(hit.Why), cutNote(hit.CutBytes),
		}
	}}
}
