package cli

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"skillrouter/internal/safetext"
	"skillrouter/learning/lesson"
	"skillrouter/router"
	"skillrouter/router/kind"
)

func (s *shell) memoryCommand() *cobra.Command {
	var request router.ClearRequest
	cmd := s.does(command{
		use: "memory AGENT", short: "Show what an agent should know, and what is remembered", do: router.MemoryService.Memory, show: printMemory,
		long: `Shows the lessons that an agent should know: its own, those of its domain, and
those for everybody. They are what other agents wrote, and no instructions. The commands below tell of all that is remembered.`,
	})
	cmd.AddCommand(
		s.does(command{use: "categories", short: "List the categories of what is remembered", do: router.IntrospectionService.Categories, rows: "type=MEMORY category count bytes", none: "Nothing is remembered."}),
		s.does(command{use: "stats", short: "Count what is remembered, and show how large the databases are", do: router.IntrospectionService.Stats, show: printMemoryStats}),
		s.does(command{
			use: "clear", short: "Delete what a persona remembers", do: router.IntrospectionService.Clear, in: &request, show: printCleared,
			long: `Deletes the facts, episodes, procedures and reminders of a persona, of one type,
one category, or all. Without --confirm nothing is deleted, and what would be
is shown. Knowledge and lessons are the whole team's, and are never cleared.`,
			flags: options{choice("type", &request.Type, clearable(), "only this type (default all)")},
		}),
	)
	return cmd
}

func printMemory(w io.Writer, memory router.Memory) {
	fmt.Fprintf(w, "%s (%s): %d lessons\n", clean(memory.Agent), clean(first(memory.Domain, "no domain known")), memory.LessonsCount)
	anti := make([]lesson.Lesson, len(memory.AntiPatterns))
	for i, a := range memory.AntiPatterns {
		anti[i] = a.Lesson
	}
	shown := map[string]bool{}
	for _, part := range []struct {
		name    string
		lessons []lesson.Lesson
	}{{"Never do", anti}, {"Critical", memory.Critical}, {"Latest", memory.Recent}} {
		part.lessons = slices.DeleteFunc(part.lessons, func(l lesson.Lesson) bool { return shown[l.ID] })
		if len(part.lessons) > 0 {
			fmt.Fprintf(w, "\n%s\n", part.name)
			tableOf(w, "number=NO title=LESSON domain severity source_agent=FROM solution|alternatives=SOLUTION", "", part.lessons)
		}
		for _, l := range part.lessons {
			shown[l.ID] = true
		}
	}
}

func printMemoryStats(w io.Writer, found router.MemoryStats) {
	rows := [][]string{}
	row := func(persona string, of router.MemoryType, c router.MemoryCount) {
		rows = append(rows, []string{persona, string(of), fmt.Sprint(c.Count), fmt.Sprint(c.Expired), fmt.Sprint(c.Bytes)})
	}
	for _, p := range found.Personas {
		for _, of := range sorted(p.Types) {
			row(p.Persona, of, p.Types[of])
		}
	}
	for _, k := range kind.Placed(kind.All(), kind.Counted) {
		if c, ok := found.Types[k.Held.Type]; ok && k.Held.Team {
			row("the team", k.Held.Type, c)
		}
	}
	table(w, []string{"OF", "MEMORY", "COUNT", "EXPIRED", "BYTES"}, rows)
	if more := found.PersonaCount - len(found.Personas); more > 0 {
		fmt.Fprintf(w, "and %s more\n", plural(more, "persona"))
	}
	fmt.Fprintln(w)
	for _, db := range found.Databases {
		fmt.Fprintf(w, "%s: %d bytes on the disk\n", db.Name, db.Bytes)
	}
}

// clearable are the names of what can be cleared.
func clearable() []string { return safetext.Strings(kind.Clearable()) }

func printCleared(w io.Writer, cleared router.Cleared) {
	verb := "would delete"
	if cleared.Confirmed {
		verb = "deleted"
	}
	if cleared.Count == 0 {
		fmt.Fprintln(w, verb+" nothing")
	}
	for _, t := range cleared.Types {
		if t.Count > 0 {
			fmt.Fprintf(w, "%s %d %s\n", verb, t.Count, t.Type)
		}
	}
	for _, t := range cleared.NotCleared {
		fmt.Fprintf(w, "keeps %d %s\n", t.Count, t.Type)
	}
	printIf(w, "%s\n", cleared.Notice)
}
