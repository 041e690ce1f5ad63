package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/learning"
)

func (s *shell) proposalsCommand() *cobra.Command {
	return s.group(&cobra.Command{
		Use: "proposals", Short: "What transcripts propose to remember",
		Long: "Finds in a session's transcript what is worth remembering, and stores what is accepted. A proposal is named by its id.",
	}, s.proposalsExtract(), s.proposalsList(), s.proposalsShow(), s.proposalsAccept(), s.proposalsReject())
}

func (s *shell) proposalsExtract() *cobra.Command {
	var draft learning.TranscriptDraft
	cmd := s.remote(s.command(&cobra.Command{
		Use: "extract FILE|-", Short: "Propose from a transcript what is worth remembering", Args: cobra.ExactArgs(1),
		Long: `Reads a transcript: lines that begin with "User:", "Assistant:" and "Tool:", Markdown
headings of these names, messages as JSON (a list, or one a line, as OpenAI's API and
Claude Code write them), or a plain log of a shell. The same transcript again changes nothing.`,
	}, func(ctx context.Context, args []string) error {
		file, _, err := s.open(args[0])
		if err != nil {
			return err
		}
		defer file.Close()
		text, err := io.ReadAll(io.LimitReader(file, learning.MaxTranscript+1))
		if err != nil {
			return err
		}
		if _, err := learning.ReadTranscript(string(text)); err != nil {
			return err // what is too large or no text need not travel
		}
		draft.Text, draft.AgentID = string(text), s.agent(draft.AgentID)
		c, err := s.client()
		if err != nil {
			return err
		}
		became, err := c.Consolidation.Consolidate(ctx, draft)
		if err != nil {
			return err
		}
		return s.print(became, func(w io.Writer) {
			if became.Duplicate {
				fmt.Fprintln(w, "This transcript was consolidated before; nothing changed.")
			}
			if became.Notice != "" {
				fmt.Fprintln(s.err, "note:", clean(became.Notice))
			}
			if len(became.Proposals) == 0 {
				fmt.Fprintln(w, "Nothing to remember was found.")
				return
			}
			s.proposalTable(w, became.Proposals)
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&draft.Persona, "persona", "", "whose memory (default \"default\")")
	flags.StringVar(&draft.AgentID, "agent", "", "whose transcript it is (SKILLROUTER_AGENT)")
	flags.StringVar(&draft.SessionID, "session", "", "the session's id")
	flags.StringVar(&draft.Project, "project", "", "the project")
	return cmd
}

func (s *shell) proposalsList() *cobra.Command {
	var filter learning.ProposalFilter
	var kind, status string
	var all bool
	cmd := s.remote(s.command(&cobra.Command{
		Use: "list", Short: "List what waits for a decision, the latest first", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		filter.Kind, filter.Status = learning.ProposalKind(kind), learning.ProposalStatus(status)
		if status == "" && !all {
			filter.Status = learning.ProposalPending
		}
		c, err := s.client()
		if err != nil {
			return err
		}
		list, err := c.Consolidation.Proposals(ctx, filter)
		if err != nil {
			return err
		}
		return s.print(list, func(w io.Writer) {
			if len(list) == 0 {
				fmt.Fprintln(w, "No proposals.")
				return
			}
			s.proposalTable(w, list)
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&filter.Persona, "persona", "", "only this persona's")
	flags.StringVar(&filter.SessionID, "session", "", "only of this session")
	flags.StringVar(&kind, "kind", "", "only these: fact, episode or procedure")
	flags.StringVar(&status, "status", "", "only these: pending, accepted or rejected")
	flags.BoolVar(&all, "all", false, "decided ones too")
	flags.IntVar(&filter.Limit, "limit", 0, "how many at most")
	return cmd
}

func (s *shell) proposalsShow() *cobra.Command {
	return s.remote(s.command(&cobra.Command{
		Use: "show ID", Short: "Show one proposal with its evidence", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		p, err := c.Consolidation.Proposal(ctx, args[0])
		return s.printProposal(p, err)
	}))
}

func (s *shell) proposalsAccept() *cobra.Command {
	return s.remote(s.command(&cobra.Command{
		Use: "accept ID", Short: "Store what is proposed", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		p, err := c.Consolidation.Accept(ctx, args[0])
		return s.printProposal(p, err)
	}))
}

func (s *shell) proposalsReject() *cobra.Command {
	return s.remote(s.command(&cobra.Command{
		Use: "reject ID [REASON]", Short: "Say that it is not worth remembering", Args: cobra.MinimumNArgs(1),
	}, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		p, err := c.Consolidation.Reject(ctx, args[0], strings.Join(args[1:], " "))
		return s.printProposal(p, err)
	}))
}

func (s *shell) printProposal(p learning.Proposal, err error) error {
	if err != nil {
		return err
	}
	return s.print(p, func(w io.Writer) {
		fmt.Fprintf(w, "%s  %s, %s, confidence %.2f, by %s\n", p.ID, p.Kind, p.Status, p.Confidence, clean(p.Extractor))
		if p.StoredAs != "" {
			fmt.Fprintf(w, "stored as %s\n", clean(p.StoredAs))
		}
		if p.Reason != "" {
			fmt.Fprintf(w, "reason: %s\n", clean(p.Reason))
		}
		fmt.Fprintln(w, clean(string(p.Content)))
		for _, quote := range p.Evidence {
			fmt.Fprintf(w, "  > %s\n", clean(quote))
		}
	})
}

func (s *shell) proposalTable(w io.Writer, list []learning.Proposal) {
	rows := make([][]string, len(list))
	for i, p := range list {
		rows[i] = []string{p.ID, string(p.Kind), string(p.Status), fmt.Sprintf("%.2f", p.Confidence), p.Says()}
	}
	table(w, []string{"ID", "KIND", "STATUS", "CONFIDENCE", "SAYS"}, rows)
}
