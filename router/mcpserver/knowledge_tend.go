package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"skillrouter/learning"
)

type knowledgeRef struct {
	ID string `json:"knowledge_id"`
}

type updateKnowledge struct {
	ID       string    `json:"knowledge_id"`
	Category *string   `json:"category"`
	Title    *string   `json:"title"`
	Content  *string   `json:"content"`
	Tags     *[]string `json:"tags"`
	Project  *string   `json:"project"`
	Source   *string   `json:"source"`
}

type oneKnowledge struct {
	Entry  knowledgeHit `json:"entry"`
	Notice string       `json:"notice"`
}

type deleted struct {
	Deleted string `json:"deleted"` // what it was named by
}

// addKnowledgeTending offers what looks after single entries.
func (s *Server) addKnowledgeTending() {
	id := required(text("knowledge_id", ""))
	add(s, tool{
		name: "get_knowledge", title: "One entry of knowledge", set: ToolsetLessons, effect: reads,
		description: "An entry of knowledge, whole.",
		input:       arguments(id), output: holds("entry"),
	}, s.getKnowledge)
	add(s, tool{
		name: "update_knowledge", title: "Update knowledge", set: ToolsetLessons, effect: ensure,
		description: "Correct an entry of knowledge; what is left out stays.",
		input:       arguments(id, text("title", ""), text("content", ""), text("category", ""), texts("tags", ""), text("project", ""), text("source", "")),
		output:      holds("entry"),
	}, s.updateKnowledge)
	add(s, tool{
		name: "delete_knowledge", title: "Delete knowledge", set: ToolsetLessons, effect: steers,
		description: "Delete an entry of knowledge for good.",
		input:       arguments(id), output: holds("deleted"),
	}, s.deleteKnowledge)
}

func (s *Server) getKnowledge(ctx context.Context, in knowledgeRef) (reply[oneKnowledge], error) {
	return shownKnowledge(s.services.Knowledge.Entry(ctx, in.ID))
}

func (s *Server) updateKnowledge(ctx context.Context, in updateKnowledge) (reply[oneKnowledge], error) {
	return shownKnowledge(s.services.Knowledge.Update(ctx, in.ID, learning.KnowledgePatch{
		Category: in.Category, Title: in.Title, Content: in.Content, Tags: in.Tags, Project: in.Project, Source: in.Source,
	}))
}

func (s *Server) deleteKnowledge(ctx context.Context, in knowledgeRef) (reply[deleted], error) {
	if err := s.services.Knowledge.Delete(ctx, in.ID); err != nil {
		return reply[deleted]{}, err
	}
	return reply[deleted]{deleted{in.ID}, fmt.Sprintf("Deleted: %s.", visible(in.ID))}, nil
}

// shownKnowledge is an entry as a model sees it.
func shownKnowledge(e learning.Knowledge, err error) (reply[oneKnowledge], error) {
	if err != nil {
		return reply[oneKnowledge]{}, err
	}
	hit := knowledgeHit{
		ID: e.ID, Title: e.Title, Content: e.Content, Category: e.Category, Tags: e.Tags, Project: e.Project, Author: e.Author, Trust: e.Trust, RelevanceScore: 1,
	}
	hit.CutBytes = fit([]*string{&hit.Title}, []*string{&hit.Content})[0]
	f := newFence("One entry, by %s, trust %q.", author(hit.Author), string(hit.Trust))
	f.explain()
	f.add("Entry", attributes("id", hit.ID, "category", hit.Category, "project", hit.Project, "tags", strings.Join(hit.Tags, ", ")),
		hit.Title, hit.Content, cutNote(hit.CutBytes))
	return reply[oneKnowledge]{oneKnowledge{hit, notice}, f.String()}, nil
}
