package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/learning"
)

func (s *shell) factsCommand() *cobra.Command {
	return s.group(&cobra.Command{
		Use: "facts", Short: "Values that agents keep under keys, until they expire",
	}, s.factsGet(), s.factsSet(), s.factsList("list [PATTERN]", "List facts"), s.factsList("search PATTERN", "Find facts by their keys: * ? [a-z] [!a-z]"),
		s.factsDelete(), s.factsCategories())
}

func (s *shell) factsGet() *cobra.Command {
	var ref learning.FactRef
	cmd := s.remote(s.command(&cobra.Command{
		Use: "get KEY", Short: "Print the value under a key, as JSON", Args: cobra.ExactArgs(1),
		Long: `Prints the value under a key; with --json, all that is known of the fact.
Exits with 1 if there is none or it has expired.`,
	}, func(ctx context.Context, args []string) error {
		ref.Key = args[0]
		c, err := s.client()
		if err != nil {
			return err
		}
		fact, err := c.Facts.Recall(ctx, ref)
		if err != nil {
			return err
		}
		return s.print(fact, func(w io.Writer) {
			if fact.Expired {
				fmt.Fprintf(s.err, "expired %s\n", ago(s.now(), *fact.ExpiresAt))
			}
			fmt.Fprintln(w, clean(string(fact.Value)))
		})
	}))
	cmd.Flags().StringVar(&ref.Persona, "persona", "", "whose memory (default \"default\")")
	cmd.Flags().BoolVar(&ref.StaleOK, "stale-ok", false, "an expired fact too, while it is kept")
	return cmd
}

func (s *shell) factsSet() *cobra.Command {
	var draft learning.FactDraft
	var ttl time.Duration
	var ifVersion int64
	cmd := s.remote(s.command(&cobra.Command{
		Use: "set KEY [VALUE]", Short: "Store a value under a key", Args: cobra.RangeArgs(1, 2),
		Long: `Stores a value under a key, over what is there. VALUE is JSON; what is no JSON
is stored as a text. Without VALUE, or with "-", it is read from standard input.`,
	}, func(ctx context.Context, args []string) error {
		if ttl < 0 || ttl%time.Second != 0 {
			return usagef("--ttl must be whole seconds, and not negative; 0 keeps it for ever")
		}
		draft.Key = args[0]
		text := ""
		if len(args) == 2 && args[1] != "-" {
			text = args[1]
		} else {
			read, err := io.ReadAll(io.LimitReader(s.in, 2*learning.MaxFactValue))
			if err != nil {
				return err
			}
			text = strings.TrimSuffix(string(read), "\n")
		}
		if draft.Value = json.RawMessage(text); !json.Valid(draft.Value) {
			value, err := json.Marshal(text)
			if err != nil {
				return err
			}
			draft.Value = value
		}
		seconds := int64(ttl / time.Second)
		draft.TTL, draft.AgentID = &seconds, s.agent(draft.AgentID)
		if ifVersion >= 0 {
			draft.IfVersion = &ifVersion
		}
		c, err := s.client()
		if err != nil {
			return err
		}
		stored, err := c.Facts.Remember(ctx, draft)
		if err != nil {
			return err
		}
		return s.print(stored, func(w io.Writer) {
			fmt.Fprintf(w, "%s stored as version %d, %s\n", clean(stored.Key), stored.Version, lives(stored.ExpiresAt))
			if len(stored.Redacted) > 0 {
				fmt.Fprintf(w, "secrets were cut out of it: %s\n", strings.Join(stored.Redacted, ", "))
			}
		})
	}))
	flags := cmd.Flags()
	flags.DurationVar(&ttl, "ttl", learning.DefaultFactTTL*time.Second, "how long it is true; 0: for ever")
	flags.StringVarP(&draft.Category, "category", "c", "", "category (default \"general\")")
	flags.StringVar(&draft.Persona, "persona", "", "whose memory (default \"default\")")
	flags.StringVar(&draft.Probe, "probe", "", "the command or URL that verifies it when it has expired; it is never run for you")
	flags.StringVar(&draft.Source, "source", "", "where it comes from")
	flags.StringVar(&draft.AgentID, "agent", "", "agent that stores it (SKILLROUTER_AGENT)")
	flags.Int64Var(&ifVersion, "if-version", -1, "store only over this version; 0: only if nothing is there")
	return cmd
}

func lives(expires *time.Time) string {
	if expires == nil {
		return "for ever"
	}
	return "until " + expires.Local().Format(time.DateTime)
}

// factsList lists facts; a search is a listing that needs its pattern.
func (s *shell) factsList(use, short string) *cobra.Command {
	var query learning.FactQuery
	count := cobra.ExactArgs(1)
	if strings.Contains(use, "[") {
		count = cobra.MaximumNArgs(1)
	}
	cmd := s.remote(s.command(&cobra.Command{Use: use, Short: short, Args: count}, func(ctx context.Context, args []string) error {
		if len(args) == 1 {
			query.Pattern = args[0]
		}
		c, err := s.client()
		if err != nil {
			return err
		}
		page, err := c.Facts.Search(ctx, query)
		if err != nil {
			return err
		}
		return s.print(page, func(w io.Writer) {
			if len(page.Facts) == 0 && page.Next == "" {
				fmt.Fprintln(w, "No facts.")
				return
			}
			now, rows := s.now(), [][]string{}
			for _, f := range page.Facts {
				rows = append(rows, []string{f.Key, string(f.Value), f.Category, f.Author, fmt.Sprint(f.AccessCount), ago(now, f.CachedAt), lives(f.ExpiresAt)})
			}
			table(w, []string{"KEY", "VALUE", "CATEGORY", "AGENT", "USED", "STORED", "TRUE"}, rows)
			if page.Next != "" {
				fmt.Fprintf(w, "More with --cursor %q.\n", clean(page.Next))
			}
		})
	}))
	flags := cmd.Flags()
	flags.StringVarP(&query.Category, "category", "c", "", "only facts of this category")
	flags.StringVar(&query.Persona, "persona", "", "whose memory (default \"default\")")
	flags.StringVar(&query.Cursor, "cursor", "", "go on where a page ended")
	flags.IntVar(&query.Limit, "limit", 0, "how many at most")
	return cmd
}

func (s *shell) factsDelete() *cobra.Command {
	var ref learning.FactRef
	cmd := s.remote(s.command(&cobra.Command{
		Use: "delete KEY", Short: "Delete a fact", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string) error {
		ref.Key = args[0]
		c, err := s.client()
		if err != nil {
			return err
		}
		if err := c.Facts.Forget(ctx, ref); err != nil {
			return err
		}
		return s.print(struct {
			Deleted string `json:"deleted"`
		}{ref.Key}, func(w io.Writer) { fmt.Fprintf(w, "%s deleted\n", clean(ref.Key)) })
	}))
	cmd.Flags().StringVar(&ref.Persona, "persona", "", "whose memory (default \"default\")")
	return cmd
}

func (s *shell) factsCategories() *cobra.Command {
	var persona string
	cmd := s.remote(s.command(&cobra.Command{
		Use: "categories", Short: "List the categories of facts", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		list, err := c.Facts.Categories(ctx, persona)
		if err != nil {
			return err
		}
		return s.print(list, func(w io.Writer) {
			rows := [][]string{}
			for _, category := range list {
				rows = append(rows, []string{category.Category, fmt.Sprint(category.Facts)})
			}
			table(w, []string{"CATEGORY", "FACTS"}, rows)
		})
	}))
	cmd.Flags().StringVar(&persona, "persona", "", "whose memory (default \"default\")")
	return cmd
}
