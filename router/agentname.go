package router

import (
	"slices"
	"strings"
)

// ShortAgent is an agent's name without what runs it: young-lark of claude-code:young-lark.
func ShortAgent(id string) string { return id[strings.LastIndexByte(id, ':')+1:] }

// AgentsNamed returns those of the agents that a part of their name means: the one of that id, else those whose name
// without what runs them is it, else those that have it between signs, such as lark of claude-code:young-lark. Case does
// not count. More than one is ambiguous.
func AgentsNamed(part string, ids []string) (found []string) {
	part = strings.ToLower(part)
	if part == "" {
		return nil
	}
	for _, is := range []func(id string) bool{
		func(id string) bool { return id == part },
		func(id string) bool { return ShortAgent(id) == part },
		func(id string) bool {
			return slices.Contains(strings.FieldsFunc(ShortAgent(id), func(r rune) bool { return strings.ContainsRune("-._", r) }), part)
		},
		func(id string) bool { return strings.HasPrefix(id, part+":") || strings.HasSuffix(id, ":"+part) },
	} {
		for _, id := range ids {
			if is(strings.ToLower(id)) {
				found = append(found, id)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}
