package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/verdict"
)

// These are the kinds of memory. How a plain command is made of its line, see plain.go.

func (s *shell) factsCommand() *cobra.Command {
	return s.verbs(verbs{
		name: "facts", short: "Values under keys: add, list, show, edit, delete", of: "KEY",
		rows: "key value category agent_id access_count=USED _cached_at=STORED expires_at=TRUE",
		plain: []command{
			{
				use: "add KEY [VALUE]", aliases: []string{"set"}, short: "Store a value under a key", do: fact.Service.Remember, hides: "exact",
				in: &fact.Draft{Value: json.RawMessage("-"), TTL: new(int64(0))}, // what a person writes down does not become untrue by itself
				long: `Stores a value under a key, over what is there. VALUE is JSON; what is no JSON
is stored as a text. Without VALUE, or with "-", it is read from standard input.
Without --ttl it is true for ever.`,
				says: "{{.Key}} stored as version {{.Version}}, {{until .ExpiresAt}}{{with .Redacted}}\nsecrets were cut out of it: {{.}}{{end}}",
			},
			{use: "list [PATTERN]", short: "List facts", do: fact.Service.Search},
			{
				use: "search PATTERN", short: "Find facts by their keys: * ? [a-z] [!a-z]", do: fact.Service.Search, finds: true,
				none: "No facts.\nKeys were compared with the pattern; for words of a value: skillrouter search --kind fact WORDS",
			},
			{use: "show KEY", short: "Show a fact with where it comes from and how long it is true", do: fact.Service.Recall},
			{
				use: "get KEY", short: "Print the value under a key, as JSON", do: fact.Service.Recall,
				long: "Prints the value under a key; with --json, all that is known of the fact.\nExits with 1 if there is none or it has expired.",
				show: func(w io.Writer, fact fact.Fact) {
					if fact.Expired {
						fmt.Fprintf(s.err, "expired %s\n", ago(s.now(), *fact.ExpiresAt))
					}
					fmt.Fprintln(w, clean(string(fact.Value)))
				},
			},
			{use: "edit KEY [VALUE] --FIELD TEXT...", short: "Change a fact; its time to live begins anew", do: fact.Service.Update, hides: "stale_ok"},
			{use: "categories", short: "List the categories of facts", do: fact.Service.Categories, rows: "category facts"},
		},
		remove: command{do: fact.Service.Forget, short: "Delete a fact", hides: "stale_ok"},
	})
}

func (s *shell) episodesCommand() *cobra.Command {
	var draft episode.Draft
	query := episode.Query{Shown: true}
	return s.verbs(verbs{
		name: "episodes", short: "Episodes, the record of what happened: add, list, show, edit, delete", of: "EPISODE",
		long: "Records what happened, and looks it up. An episode is named by its number, such as 7, or by its id.",
		rows: "number=NO event_type=TYPE title agent_id project created_at=WHEN",
		plain: []command{
			{
				use: "add TYPE TITLE [CONTENT]", aliases: []string{"record"}, choices: episode.EventTypes(), short: "Record an action, error, decision or outcome", do: episode.Service.Record,
				long: `Records what happened. TYPE is action, error, decision or outcome. Without
CONTENT the title stands for it; "-" reads it from standard input.`,
				words: []string{"event_type"}, in: &draft, hides: "event learned context persona", as: s.sender, says: "{{.ID}} recorded{{with .SessionID}}, in session {{.}}{{end}}",
				before: func() error {
					draft.Content = first(draft.Content, draft.Title)
					return nil
				},
			},
			{
				use: "remember EVENT [LEARNED]", short: "Remember an incident or investigation, and what it taught", do: episode.Service.Record, as: s.sender,
				hides: "content importance title event_type", says: "{{.ID}} remembered, for the persona {{.Persona}}",
			},
			{use: "list", aliases: []string{"recent"}, short: "Show the latest episodes, the newest first", do: episode.Service.Recent},
			{use: "show EPISODE", do: episode.Service.Episode},
			{use: "edit EPISODE --FIELD TEXT...", short: "Change what an episode says", do: episode.Service.Edit, full: true},
			{
				use: "search TEXT...", do: episode.Service.Search, in: &query, found: "event_type agent_id created_at", words: []string{"query"}, hides: "shown prefer_project",
				flags: options{s.minRelevance(&query.MinRelevance, &query.Shown)},
				before: func() error {
					query.PreferProject = s.project()
					return nil
				},
			},
		},
		remove: command{do: episode.Service.Delete, short: "Delete an episode; lessons that were learned from it stay"},
	})
}

func (s *shell) knowledgeCommand() *cobra.Command {
	add := s.rememberCommand()
	add.Use, add.Aliases = strings.Replace(add.Use, "remember", "add", 1), []string{"remember"}
	return s.verbs(verbs{
		name: "knowledge", short: "Knowledge that was written down: add, list, show, edit, delete", of: "ID",
		long: "Tends the entries of knowledge. One is named by its id, or by a beginning or end of it that is no other's: lists show the end.",
		rows: "short=ID title category project agent_id=BY use_count=USED updated_at=CHANGED",
		plain: []command{
			{use: "list", do: knowledge.Lister.List, none: "No entries."},
			{use: "show ID", short: "Show an entry", do: knowledge.Service.Entry},
			{use: "edit ID --FIELD TEXT...", short: "Change what an entry says", do: knowledge.Service.Update, full: true},
			{use: "unlearn ID", short: "Take back what was learned of an entry by the command used", do: verdict.Service.Unlearn, says: "{{.Deleted}} forgotten"},
		},
		more:   []*cobra.Command{add},
		remove: command{do: knowledge.Service.Delete, short: "Delete an entry"},
	})
}

const patternRows = "number=NO pattern_name=NAME pattern_type=TYPE status occurrence_count=SEEN confidence=CONF domain last_seen=LAST"

func (s *shell) patternsCommand() *cobra.Command {
	emerging := lesson.PatternFilter{Statuses: []lesson.PatternStatus{lesson.PatternEmerging}}
	return s.verbs(verbs{
		name: "patterns", short: "Patterns, which recur in lessons and episodes: add, list, show, edit, confirm, delete", of: "PATTERN",
		long: "Shows what recurs in lessons and episodes, by itself or because somebody says so. One is named by its number, such as 7, or by its id.",
		rows: patternRows,
		plain: []command{
			{
				use: "add NAME DESCRIPTION --domain DOMAIN", do: lesson.PatternService.Add,
				words: []string{"pattern_name"}, in: &lesson.PatternDraft{Type: lesson.PatternBestPractice},
			},
			{use: "list", short: "List patterns, the latest seen first", do: lesson.PatternService.List},
			{
				use: "emerging", short: "List patterns that are not confirmed yet, and why they are patterns", do: lesson.PatternService.List, in: &emerging, hides: "status",
				show: func(w io.Writer, patterns []lesson.Pattern) {
					tableOf(w, patternRows, "No patterns.", patterns)
					for _, p := range patterns {
						fmt.Fprintf(w, "\n%d  %s\n", p.Number, p.Name)
						indented(w, strings.Join(p.Why, "\n"))
					}
				},
			},
			{use: "show PATTERN", short: "Show one pattern with its reasons and evidence", do: lesson.PatternService.Pattern},
			{use: "edit PATTERN --FIELD TEXT...", short: "Change what a pattern says; for the captain", do: lesson.PatternService.Edit, as: s.person},
			{use: "confirm PATTERN [NOTES...]", short: "Say that a pattern is real and should be enforced", do: lesson.PatternService.Confirm, as: s.person},
			{use: "deprecate PATTERN [NOTES...]", do: lesson.PatternService.Deprecate, as: s.person, hidden: true},
		},
		remove: command{do: lesson.PatternService.Deprecate, short: "Deprecate a pattern: it holds no more, and is kept", became: "deprecated", as: s.person},
	})
}

const proposalRows = "short=ID kind status confidence says"

func (s *shell) proposalsCommand() *cobra.Command {
	var draft history.TranscriptDraft
	var filter history.ProposalFilter
	return s.verbs(verbs{
		name: "proposals", short: "List and decide what transcripts and imports propose",
		long: "Finds in a session's transcript what is worth remembering, and stores what is accepted. A proposal is named by its id, or by a beginning or end of it that is no other's.",
		rows: proposalRows,
		plain: []command{
			{
				use: "extract FILE|-", short: "Propose from a transcript what is worth remembering", do: history.ConsolidationService.Consolidate,
				long: `Reads a transcript. It has lines that begin with "User:", "Assistant:" and "Tool:", or
Markdown headings of these names. Messages as JSON are read too, in a list or one a line, as
OpenAI's API and Claude Code write them. So is a plain log of a shell. The same transcript again changes nothing.`,
				words: []string{"text"}, in: &draft, hides: "ended compacted",
				before: func() error {
					text, err := s.read(draft.Text, history.MaxTranscript)
					if err != nil {
						return err
					}
					draft.Text = string(text)
					_, err = history.ReadTranscript(draft.Text)
					return err // what is too large or no text need not travel
				},
				show: func(w io.Writer, became history.Consolidated) {
					if became.Duplicate {
						fmt.Fprintln(w, "This transcript was consolidated before; nothing changed.")
					}
					if became.Notice != "" {
						fmt.Fprintln(s.err, "note:", clean(became.Notice))
					}
					tableOf(w, proposalRows, "Nothing to remember was found.", became.Proposals)
				},
			},
			{
				use: "list", short: "List what waits for a decision, the latest first", do: history.ConsolidationService.Proposals, in: &filter,
				all: "decided ones too", unlessAll: func() { filter.Status = cmp.Or(filter.Status, history.ProposalPending) },
			},
			{use: "show ID", do: history.ConsolidationService.Proposal, full: true},
			{use: "accept ID", short: "Store what is proposed", do: history.ConsolidationService.Accept, full: true},
			{use: "reject ID [REASON...]", do: history.ConsolidationService.Reject, full: true},
		},
	})
}

func (s *shell) gapsCommand() *cobra.Command {
	return s.verbs(verbs{
		name: "gaps", short: "Questions that found nothing",
		plain: []command{
			{use: "list", short: "List gaps", do: verdict.Service.Gaps, rows: "short=GAP count=ASKED last_asked=LAST project question"},
			{use: "dismiss GAP", do: verdict.Service.Dismiss, says: "{{.ID}} dismissed"},
		},
	})
}
