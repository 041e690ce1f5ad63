package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/learning/history"
)

func (s *shell) proposalsCommand() *cobra.Command {
	return s.group(&cobra.Command{
		Use: "proposals", Short: "List and decide what transcripts and imports propose",
		Long: "Finds in a session's transcript what is worth remembering, and stores what is accepted. A proposal is named by its id, or by a beginning or end of it that is no other's.",
	}, s.proposalsExtract(), s.proposalsList(),
		s.proposalsOne("show ID", "Show one proposal with its evidence", history.ConsolidationService.Proposal),
		s.proposalsOne("accept ID", "Store what is proposed", history.ConsolidationService.Accept),
		s.proposalsReject())
}

func (s *shell) proposalsExtract() *cobra.Command {
	var file string
	var draft history.TranscriptDraft
	return asks(s, command{
		use: "extract FILE|-", short: "Propose from a transcript what is worth remembering", args: exactly(&file),
		long: `Reads a transcript: lines that begin with "User:", "Assistant:" and "Tool:", Markdown
headings of these names, messages as JSON (a list, or one a line, as OpenAI's API and
Claude Code write them), or a plain log of a shell. The same transcript again changes nothing.`,
		flags: s.flags(&draft, "persona", "agent", "session", "project"),
		before: func() error {
			text, err := s.read(file, history.MaxTranscript)
			if err != nil {
				return err
			}
			draft.Text = string(text)
			_, err = history.ReadTranscript(draft.Text)
			return err // what is too large or no text need not travel
		},
	}, sends(history.ConsolidationService.Consolidate, &draft), func(w io.Writer, became history.Consolidated) {
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
		proposalTable.list(w, became.Proposals)
	})
}

func (s *shell) proposalsList() *cobra.Command {
	var filter history.ProposalFilter
	var all bool
	return lists(s, command{use: "list", short: "List what waits for a decision, the latest first", flags: append(s.flags(&filter, "persona", "session", "limit"),
		choice("kind", &filter.Kind, history.ProposalKinds(), "only these"),
		choice("status", &filter.Status, []history.ProposalStatus{history.ProposalPending, history.ProposalAccepted, history.ProposalRejected}, "only these"),
		option("all", &all, "decided ones too"),
	), before: func() error {
		if filter.Status == "" && !all {
			filter.Status = history.ProposalPending
		}
		return nil
	}}, history.DefaultProposalLimit, history.MaxProposalLimit, &filter.Limit, sends(history.ConsolidationService.Proposals, &filter), proposalTable.list)
}

// proposalsOne shows one proposal, or decides about it.
func (s *shell) proposalsOne(
	use, short string, method func(proposals history.ConsolidationService, ctx context.Context, id string) (history.Proposal, error),
) *cobra.Command {
	var id string
	return asks(s, command{use: use, short: short, args: exactly(&id)}, withID("proposals", method, &id), printProposal)
}

func (s *shell) proposalsReject() *cobra.Command {
	var id, reason string
	return asks(s, command{
		use: "reject ID [REASON]", short: "Say that it is not worth remembering", args: joined(1, &id, &reason),
	}, withIDTo("proposals", history.ConsolidationService.Reject, &id, &reason), printProposal)
}

func printProposal(w io.Writer, p history.Proposal) {
	fmt.Fprintf(w, "%s  %s, %s, confidence %.2f, by %s\n", p.ID, p.Kind, p.Status, p.Confidence, clean(p.Extractor))
	printIf(w, "stored as %s\n", p.StoredAs)
	printIf(w, "reason: %s\n", p.Reason)
	fmt.Fprintln(w, harmless(string(p.Content)))
	for _, quote := range p.Evidence {
		fmt.Fprintf(w, "  > %s\n", clean(quote))
	}
}

var proposalTable = columns[history.Proposal]{
	"No proposals.",
	[]string{"ID", "KIND", "STATUS", "CONFIDENCE", "SAYS"},
	func(p history.Proposal) cells {
		return cells{shortID(p.ID), p.Kind, p.Status, fmt.Sprintf("%.2f", p.Confidence), p.Says()}
	},
}
