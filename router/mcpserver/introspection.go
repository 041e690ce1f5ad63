package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"skillrouter/router"
)

type ofPersona struct {
	Persona string `json:"persona"`
}

type clearMemory struct {
	Category string `json:"category"`
	Confirm  bool   `json:"confirm"`
	Type     string `json:"type"`
	Persona  string `json:"persona"`
}

// listedCategories bounds the categories whose counts are spelled out to a model.
const listedCategories = 100

// addIntrospectionTools offers seed 002's view of what is remembered.
func (s *Server) addIntrospectionTools() {
	persona := text("persona", "Whose memory; default \"default\"")
	add(s, tool{
		name: "list_memory_categories", title: "List memory categories", set: ToolsetAdmin, former: formerContext, effect: reads,
		description: "The categories of what is remembered, with how much is in each.",
		input:       arguments(persona),
		output:      holds("persona", "categories", "count", "held"),
	}, s.listMemoryCategories)
	add(s, tool{
		name: "memory_stats", title: "Count what is remembered", set: ToolsetAdmin, former: formerContext, effect: reads,
		description: "Count and size of each type of memory, and of the databases.",
		input:       arguments(text("persona", "Only this one's; default everybody's")),
		output:      holds("count", "bytes", "types", "personas", "databases"),
	}, s.memoryStats)
	add(s, tool{
		name: "clear_memory", title: "Clear a memory", set: ToolsetAdmin, former: formerContext, effect: steers,
		description: "Delete what a persona remembers for good. Without confirm nothing is deleted, and you are told what would be.",
		input: arguments(
			text("category", "Only this category; default all"),
			boolean("confirm", "true deletes"),
			oneOf("type", "Only this type; default all four",
				router.SemanticMemory, router.EpisodicMemory, router.ProceduralMemory, router.ProspectiveMemory),
			persona,
		),
		output: holds("persona", "confirmed", "count", "types", "remaining"),
	}, s.clearMemory)
}

func (s *Server) listMemoryCategories(ctx context.Context, in ofPersona) (reply[router.MemoryCategories], error) {
	found, err := s.services.Introspection.Categories(ctx, in.Persona)
	if err != nil {
		return reply[router.MemoryCategories]{}, err
	}
	if found.Count == 0 {
		return reply[router.MemoryCategories]{found, "Nothing is remembered yet."}, nil
	}
	f := newFence("%s.", count(found.Count, "category", "categories"))
	f.explain()
	lines := make([]string, 0, listedCategories)
	for _, h := range found.Held[:min(len(found.Held), listedCategories)] {
		lines = append(lines, fmt.Sprintf("%s: %s (%d)", h.Type, h.Category, h.Count))
	}
	f.add("By type, with how many are in each:", lines...)
	return reply[router.MemoryCategories]{found, f.String()}, nil
}

func (s *Server) memoryStats(ctx context.Context, in ofPersona) (reply[router.MemoryStats], error) {
	found, err := s.services.Introspection.Stats(ctx, in.Persona)
	if err != nil {
		return reply[router.MemoryStats]{}, err
	}
	parts := []string{}
	for _, t := range []router.MemoryType{
		router.SemanticMemory, router.EpisodicMemory, router.ProceduralMemory, router.ProspectiveMemory, router.WorkingMemory, router.TeamKnowledge, router.TeamLessons,
	} {
		if c, ok := found.Types[t]; ok {
			parts = append(parts, fmt.Sprintf("%s %d (%d bytes)", t, c.Count, c.Bytes))
		}
	}
	return reply[router.MemoryStats]{found, fmt.Sprintf("%s of %s: %s.",
		count(int(found.Count), "memory", "memories"), count(found.PersonaCount, "persona", "personas"), strings.Join(parts, ", "))}, nil
}

func (s *Server) clearMemory(ctx context.Context, in clearMemory) (reply[router.Cleared], error) {
	cleared, err := s.services.Introspection.Clear(ctx, router.ClearRequest{Persona: in.Persona, Type: in.Type, Category: in.Category, Confirm: in.Confirm})
	if err != nil {
		return reply[router.Cleared]{}, err
	}
	verb := "Would delete"
	if cleared.Confirmed {
		verb = "Deleted"
	}
	parts := []string{}
	for _, c := range cleared.Types {
		if c.Count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.Count, c.Type))
		}
	}
	said := fmt.Sprintf("%s %s of persona %s", verb, count(int(cleared.Count), "memory", "memories"), cleared.Persona)
	if len(parts) > 0 {
		said += " (" + strings.Join(parts, ", ") + ")"
	}
	return reply[router.Cleared]{cleared, strings.TrimSpace(said + ". " + cleared.Notice)}, nil
}
