package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/router"
)

func (s *shell) memoryCategories() *cobra.Command {
	var persona string
	cmd := s.remote(s.command(&cobra.Command{
		Use: "categories", Short: "List the categories of what is remembered", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		found, err := c.Introspection.Categories(ctx, persona)
		if err != nil {
			return err
		}
		return s.print(found, func(w io.Writer) {
			if len(found.Held) == 0 {
				fmt.Fprintln(w, "Nothing is remembered.")
				return
			}
			rows := make([][]string, len(found.Held))
			for i, h := range found.Held {
				rows[i] = []string{string(h.Type), h.Category, fmt.Sprint(h.Count), fmt.Sprint(h.Bytes)}
			}
			table(w, []string{"MEMORY", "CATEGORY", "COUNT", "BYTES"}, rows)
		})
	}))
	cmd.Flags().StringVar(&persona, "persona", "", "whose memory (default \"default\")")
	return cmd
}

func (s *shell) memoryStats() *cobra.Command {
	var persona string
	cmd := s.remote(s.command(&cobra.Command{
		Use: "stats", Short: "Count what is remembered, and show how large the databases are", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		found, err := c.Introspection.Stats(ctx, persona)
		if err != nil {
			return err
		}
		return s.print(found, func(w io.Writer) {
			rows := [][]string{}
			row := func(persona string, kind router.MemoryType, c router.MemoryCount) {
				rows = append(rows, []string{persona, string(kind), fmt.Sprint(c.Count), fmt.Sprint(c.Expired), fmt.Sprint(c.Bytes)})
			}
			for _, p := range found.Personas {
				for _, kind := range sorted(p.Types) {
					row(p.Persona, kind, p.Types[kind])
				}
			}
			for _, kind := range []router.MemoryType{router.TeamKnowledge, router.TeamLessons} {
				if c, ok := found.Types[kind]; ok {
					row("the team", kind, c)
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
		})
	}))
	cmd.Flags().StringVar(&persona, "persona", "", "only this one's (default everybody's)")
	return cmd
}

func (s *shell) memoryClear() *cobra.Command {
	var request router.ClearRequest
	cmd := s.remote(s.command(&cobra.Command{
		Use: "clear", Short: "Delete what a persona remembers", Args: cobra.NoArgs,
		Long: `Deletes the facts, episodes, procedures and reminders of a persona, of one type,
one category, or all. Without --confirm nothing is deleted, and what would be
is shown. Knowledge and lessons are the whole team's, and are never cleared.`,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		cleared, err := c.Introspection.Clear(ctx, request)
		if err != nil {
			return err
		}
		return s.print(cleared, func(w io.Writer) {
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
			for _, t := range cleared.Kept {
				fmt.Fprintf(w, "keeps %d %s\n", t.Count, t.Type)
			}
			if cleared.Notice != "" {
				fmt.Fprintln(w, cleared.Notice)
			}
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&request.Persona, "persona", "", "whose memory (default \"default\")")
	flags.StringVar(&request.Type, "type", "", "semantic, episodic, procedural or prospective (default all four)")
	flags.StringVarP(&request.Category, "category", "c", "", "only this category")
	flags.BoolVar(&request.Confirm, "confirm", false, "delete, and do not only say what would be")
	return cmd
}
