package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"skillrouter/internal/principal"
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
	var ttl time.Duration
	return asks(s, command{
		use: "create [--agent ID|--person NAME] --scope SCOPE", short: "Issue a token and print its secret, once",
		long: `Issues a token and prints its secret on standard output: it is shown once.
Scopes: read (see what is shared), agent (act as the agent that --agent names),
captain (act as any agent), admin (everything, tokens too).

A person's token bears a name, by which the ledger says who allowed or refused
what the guard blocked: --person NAME --scope captain, or --scope read for one
who only looks. It signs in to the dashboard. No agent's token is a person's,
and a program that an agent runs cannot issue one.

With --project, a token of the scope read or agent sees and writes the rows of
these projects alone: what has another project, or none, is not there for it.
What does not keep to projects is refused to it.`,
		flags: append(s.flags(&draft, "agent", "person", "note"),
			choices("scope", &draft.Scopes, principal.Scopes(), "what it may do"),
			option("project", &draft.Projects, "project that it is bound to; none: it sees all"),
			lifetime("ttl", &ttl, "how long it lives, such as 720h; until revoked if nothing is said"),
		),
		before: func() error {
			if len(draft.Scopes) == 0 {
				return usagef("--scope is required: read, agent, captain or admin")
			}
			var err error
			draft.TTLSeconds, err = seconds(ttl)
			return err
		},
	}, sends(operational.TokenService.Issue, &draft), func(w io.Writer, issued operational.IssuedToken) {
		fmt.Fprintf(s.err, "Token %s. Keep the secret: it is not shown again.\n", clean(issued.ID))
		fmt.Fprintln(w, clean(issued.Secret))
	})
}

func (s *shell) tokenList() *cobra.Command {
	return asks(s, command{use: "list", short: "List tokens, without their secrets"}, gets(operational.TokenService.List), columns[operational.Token]{
		"No tokens.",
		[]string{"TOKEN", "WHOSE", "SCOPES", "STATE", "ISSUED", "PROJECTS", "NOTE"},
		func(t operational.Token) cells {
			state := "valid"
			switch {
			case t.RevokedAt != nil:
				state = "revoked"
			case t.ExpiresAt != nil && t.ExpiresAt.Before(s.now()):
				state = "expired"
			case t.ExpiresAt != nil:
				state = lives(t.ExpiresAt)
			}
			return cells{t.ID, cmp.Or(t.AgentID, t.Person), strings.ReplaceAll(names(t.Scopes), ", ", ","), state, t.CreatedAt, strings.Join(t.Projects, ","), t.Note}
		},
	}.list)
}

func (s *shell) tokenRevoke() *cobra.Command {
	var id string
	return asks(s, command{
		use: "revoke TOKEN", short: "Revoke a token, at once and for good", args: exactly(&id),
	}, sends(operational.TokenService.Revoke, &id), func(w io.Writer, token operational.Token) { fmt.Fprintf(w, "%s revoked\n", clean(token.ID)) })
}
