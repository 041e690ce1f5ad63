package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter"
	"skillrouter/operational"
)

func (s *shell) tokenCommand() *cobra.Command {
	return s.group(&cobra.Command{
		Use: "token", Short: "Issue, list and revoke tokens",
		Long: `Tokens say who is calling. With the first one issued, every call needs one. The
owner's token, in the data folder, is used by these commands if you can read it.`,
	}, s.tokenCreate(), s.tokenList(), s.tokenRevoke())
}

func (s *shell) tokenCreate() *cobra.Command {
	var draft operational.TokenDraft
	var scopes []string
	var ttl time.Duration
	cmd := s.remote(s.command(&cobra.Command{
		Use: "create [--agent ID] --scope SCOPE", Short: "Issue a token and print its secret, once", Args: cobra.NoArgs,
		Long: `Issues a token and prints its secret on standard output: it is shown once.
Scopes: read (see what is shared), agent (act as the agent that --agent names),
captain (act as any agent), admin (everything, tokens too).`,
	}, func(ctx context.Context, _ []string) error {
		if len(scopes) == 0 {
			return usagef("--scope is required: read, agent, captain or admin")
		}
		for _, scope := range scopes {
			draft.Scopes = append(draft.Scopes, skillrouter.Scope(scope))
		}
		draft.TTLSeconds = int64(ttl / time.Second)
		c, err := s.client()
		if err != nil {
			return err
		}
		issued, err := c.Tokens.Issue(ctx, draft)
		if err != nil {
			return err
		}
		if !s.json {
			fmt.Fprintf(s.err, "Token %s. Keep the secret: it is not shown again.\n", clean(issued.ID))
		}
		return s.print(issued, func(w io.Writer) { fmt.Fprintln(w, clean(issued.Secret)) })
	}))
	flags := cmd.Flags()
	flags.StringVar(&draft.AgentID, "agent", "", "agent that it is for; needed for the scope agent")
	flags.StringSliceVar(&scopes, "scope", nil, "what it may do: read, agent, captain, admin; may be repeated")
	flags.StringVar(&draft.Note, "note", "", "what it is for, in your words")
	flags.DurationVar(&ttl, "ttl", 0, "how long it lives, such as 720h; until revoked if nothing is said")
	return cmd
}

func (s *shell) tokenList() *cobra.Command {
	return s.remote(s.command(&cobra.Command{
		Use: "list", Short: "List tokens, without their secrets", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		tokens, err := c.Tokens.List(ctx)
		if err != nil {
			return err
		}
		return s.print(tokens, func(w io.Writer) {
			now := s.now()
			rows := make([][]string, len(tokens))
			for i, t := range tokens {
				scopes := make([]string, len(t.Scopes))
				for j, scope := range t.Scopes {
					scopes[j] = string(scope)
				}
				state := "valid"
				switch {
				case t.RevokedAt != nil:
					state = "revoked"
				case t.ExpiresAt != nil && t.ExpiresAt.Before(now):
					state = "expired"
				case t.ExpiresAt != nil:
					state = "until " + t.ExpiresAt.Local().Format(time.DateTime)
				}
				rows[i] = []string{t.ID, t.AgentID, strings.Join(scopes, ","), state, ago(now, t.CreatedAt), t.Note}
			}
			listing(w, "tokens", []string{"TOKEN", "AGENT", "SCOPES", "STATE", "ISSUED", "NOTE"}, rows)
		})
	}))
}

func (s *shell) tokenRevoke() *cobra.Command {
	return s.remote(s.command(&cobra.Command{
		Use: "revoke TOKEN", Short: "Revoke a token, at once and for good", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		token, err := c.Tokens.Revoke(ctx, args[0])
		if err != nil {
			return err
		}
		return s.print(token, func(w io.Writer) { fmt.Fprintf(w, "%s revoked\n", clean(token.ID)) })
	}))
}
