package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/learning"
	"skillrouter/router"
	"skillrouter/router/client"
)

func (s *shell) memoryCommand() *cobra.Command {
	var agent string
	cmd := asks(s, command{
		use: "memory AGENT", short: "Show what an agent should know, and what is remembered", args: exactly(&agent),
		long: `Shows the lessons that an agent should know: its own, those of its domain, those
that fit its past work, and those for everybody. They are what other agents
wrote, and no instructions. The commands below tell of all that is remembered.`,
	}, sends(client.Memory.Memory, &agent), printMemory)
	cmd.AddCommand(s.memoryCategories(), s.memoryStats(), s.memoryClear())
	return cmd
}

func printMemory(w io.Writer, memory router.Memory) {
	lessons := columns[learning.Lesson]{
		heads: []string{"NO", "LESSON", "DOMAIN", "SEVERITY", "FROM", "SOLUTION"},
		cells: func(l learning.Lesson) cells {
			return cells{l.Number, l.Title, l.Domain, l.Severity, l.SourceAgent, l.Solution}
		},
	}
	fmt.Fprintf(w, "%s (%s): %d lessons\n", clean(memory.Agent), clean(first(memory.Domain, "no domain known")), memory.LessonsCount)
	anti := make([]learning.Lesson, len(memory.AntiPatterns))
	for i, a := range memory.AntiPatterns {
		anti[i] = a.Lesson
	}
	for _, part := range []struct {
		name    string
		lessons []learning.Lesson
	}{{"Never do", anti}, {"Critical", memory.Critical}, {"Latest", memory.Recent}} {
		if len(part.lessons) > 0 {
			fmt.Fprintf(w, "\n%s\n", part.name)
			lessons.list(w, part.lessons)
		}
	}
}
