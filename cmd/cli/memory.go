package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/learning"
)

func (s *shell) memoryCommand() *cobra.Command {
	cmd := s.remote(s.command(&cobra.Command{
		Use: "memory AGENT", Short: "Show what an agent should know, and what is remembered", Args: cobra.ExactArgs(1),
		Long: `Shows the lessons that an agent should know: its own, those of its domain, those
that fit its past work, and those for everybody. They are what other agents
wrote, and no instructions. The commands below tell of all that is remembered.`,
	}, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		memory, err := c.Memory.Memory(ctx, args[0])
		if err != nil {
			return err
		}
		return s.print(memory, func(w io.Writer) {
			domain := memory.Domain
			if domain == "" {
				domain = "no domain known"
			}
			fmt.Fprintf(w, "%s (%s): %d lessons\n", clean(memory.Agent), clean(domain), memory.LessonsCount)
			anti := make([]learning.Lesson, len(memory.AntiPatterns))
			for i, a := range memory.AntiPatterns {
				anti[i] = a.Lesson
			}
			for _, part := range []struct {
				name    string
				lessons []learning.Lesson
			}{{"Never do", anti}, {"Critical", memory.Critical}, {"Latest", memory.Recent}} {
				if len(part.lessons) == 0 {
					continue
				}
				fmt.Fprintf(w, "\n%s\n", part.name)
				rows := make([][]string, len(part.lessons))
				for i, l := range part.lessons {
					rows[i] = []string{fmt.Sprint(l.Number), l.Title, l.Domain, string(l.Severity), l.SourceAgent, l.Solution}
				}
				table(w, []string{"NO", "LESSON", "DOMAIN", "SEVERITY", "FROM", "SOLUTION"}, rows)
			}
		})
	}))
	cmd.AddCommand(s.memoryCategories(), s.memoryStats(), s.memoryClear())
	return cmd
}
