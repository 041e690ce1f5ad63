package mcpserver

import (
	"fmt"
	"strings"

	"skillrouter/router"
	"skillrouter/router/kind"
)

// listedCategories bounds the categories whose counts are spelled out to a model.
const listedCategories = 100

// addIntrospectionTools offers the persona memory's view of what is remembered.
func (s *Server) addIntrospectionTools() {
	add(s, tool{
		name: "list_memory_categories", title: "List memory categories", set: ToolsetAdmin, former: formerContext, effect: reads, holds: "persona categories count held",
		description: "The categories of what is remembered, with how much is in each.",
	}, func(p *params, persona *string) { p.may("persona", persona, whoseMemory) }, then(s.services.Introspection.Categories, shownCategories))
	add(s, tool{
		name: "memory_stats", title: "Count what is remembered", set: ToolsetAdmin, former: formerContext, effect: reads, holds: "count bytes types personas databases",
		description: "Count and size of each type of memory, and of the databases.",
	}, func(p *params, persona *string) { p.may("persona", persona, "Only this one's; default everybody's") }, then(s.services.Introspection.Stats, shownStats))
	add(s, tool{
		name: "clear_memory", title: "Clear a memory", set: ToolsetAdmin, former: formerContext, effect: steers, readable: true, holds: "persona confirmed count types remaining",
		description: "Delete what a persona remembers for good. Without confirm nothing is deleted, and you are told what would be.",
	}, func(p *params, r *router.ClearRequest) {
		p.may("category", &r.Category, "Only this category; default all")
		p.may("confirm", &r.Confirm, "true deletes")
		p.may("type", &r.Type, "Only this type; default all four",
			among(kind.Clearable()...))
		p.may("persona", &r.Persona, whoseMemory)
	}, then(s.services.Introspection.Clear, shownCleared))
}

func shownCategories(found router.MemoryCategories) (router.MemoryCategories, string) {
	if found.Count == 0 {
		return found, "Nothing is remembered yet."
	}
	f := newFence("%s.", count(found.Count, "category", "categories"))
	f.explain()
	lines := make([]string, 0, listedCategories)
	for _, h := range found.Held[:min(len(found.Held), listedCategories)] {
		lines = append(lines, fmt.Sprintf("%s: %s (%d)", h.Type, h.Category, h.Count))
	}
	f.add("By type, with how many are in each:", lines...)
	return found, f.String()
}

func shownStats(found router.MemoryStats) (router.MemoryStats, string) {
	parts := []string{}
	for _, k := range kind.Placed(kind.All(), kind.Counted) {
		if c, ok := found.Types[k.Held.Type]; ok {
			parts = append(parts, fmt.Sprintf("%s %d (%d bytes)", k.Held.Type, c.Count, c.Bytes))
		}
	}
	return found, fmt.Sprintf("%s of %s: %s.",
		count(int(found.Count), "memory", "memories"), count(found.PersonaCount, "persona", "personas"), strings.Join(parts, ", "))
}

func shownCleared(cleared router.Cleared) (router.Cleared, string) {
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
	return cleared, strings.TrimSpace(said + ". " + cleared.Notice)
}
