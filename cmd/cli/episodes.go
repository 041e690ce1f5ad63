package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter"
	"skillrouter/learning"
)

func (s *shell) episodesCommand() *cobra.Command {
	return s.group(
		&cobra.Command{Use: "episodes", Short: "Record what happened, and look it up"},
		s.episodesRecord(), s.episodesRemember(), s.episodesRecent(), s.episodesSearch(),
	)
}

func (s *shell) episodesRecord() *cobra.Command {
	var draft learning.EpisodeDraft
	var importance float64
	var cmd *cobra.Command
	cmd = s.remote(s.command(&cobra.Command{
		Use: "record TYPE TITLE [CONTENT]", Short: "Record an action, error, decision or outcome", Args: cobra.RangeArgs(2, 3),
		Long: `Records what happened. TYPE is action, error, decision or outcome. Without
CONTENT the title stands for it; "-" reads it from standard input.`,
	}, func(ctx context.Context, args []string) error {
		draft.EventType, draft.Title, draft.Content = args[0], args[1], args[1]
		if len(args) == 3 {
			draft.Content = args[2]
		}
		if draft.Content == "-" {
			text, err := io.ReadAll(io.LimitReader(s.in, learning.MaxContent+1))
			if err != nil {
				return err
			}
			draft.Content = string(text)
		}
		if cmd.Flags().Changed("importance") {
			draft.Importance = &importance
		}
		episode, err := s.recordEpisode(ctx, draft)
		if err != nil {
			return err
		}
		return s.print(episode, func(w io.Writer) {
			fmt.Fprintf(w, "%s recorded, in session %s\n", clean(episode.ID), clean(episode.SessionID))
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&draft.AgentID, "agent", "", "agent that it happened to (SKILLROUTER_AGENT, else captain)")
	flags.StringVar(&draft.SessionID, "session", "", "session; the agent's current one if none is named")
	flags.StringVar(&draft.Project, "project", "", "project")
	flags.Float64Var(&importance, "importance", learning.DefaultImportance, "importance, 0 to 1")
	return cmd
}

// recordEpisode records an episode of the agent that it names, or of whoever calls.
func (s *shell) recordEpisode(ctx context.Context, draft learning.EpisodeDraft) (learning.Episode, error) {
	draft.AgentID = s.sender(draft.AgentID)
	c, err := s.client()
	if err != nil {
		return learning.Episode{}, err
	}
	return c.Episodes.Record(ctx, draft)
}

func (s *shell) episodesRecent() *cobra.Command {
	var filter learning.EpisodeFilter
	cmd := s.remote(s.command(&cobra.Command{
		Use: "recent", Short: "Show the latest episodes, the newest first", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		episodes, err := c.Episodes.Recent(ctx, filter)
		if err != nil {
			return err
		}
		return s.print(episodes, func(w io.Writer) {
			if len(episodes) == 0 {
				fmt.Fprintln(w, "No episodes.")
				return
			}
			now := s.now()
			rows := make([][]string, len(episodes))
			for i, e := range episodes {
				rows[i] = []string{fmt.Sprint(e.Number), e.EventType, e.Title, e.AgentID, e.Project, ago(now, e.CreatedAt)}
			}
			table(w, []string{"NO", "TYPE", "TITLE", "AGENT", "PROJECT", "WHEN"}, rows)
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&filter.AgentID, "agent", "", "only this agent's")
	flags.StringVar(&filter.SessionID, "session", "", "only this session's")
	flags.StringVar(&filter.Project, "project", "", "only this project's")
	flags.StringVar(&filter.EventType, "type", "", "only this type: action, error, decision, outcome")
	episodeFilter(cmd, &filter.Persona, &filter.Event, &filter.TimeRange)
	flags.IntVar(&filter.Limit, "limit", 0, "how many at most")
	return cmd
}

func (s *shell) episodesSearch() *cobra.Command {
	var query learning.EpisodeQuery
	cmd := s.remote(s.command(&cobra.Command{
		Use: "search TEXT...", Short: "Search episodes", Args: cobra.MinimumNArgs(1),
	}, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		query.Query = strings.Join(args, " ")
		results, err := c.Episodes.Search(ctx, query)
		if err != nil {
			return err
		}
		return s.print(results, func(w io.Writer) {
			corrections(w, results.Corrected)
			noticed(w, results.Notice)
			if len(results.Results) == 0 {
				fmt.Fprintln(w, "Nothing was found.")
			}
			now := s.now()
			for i, hit := range results.Results {
				if i > 0 {
					fmt.Fprintln(w)
				}
				fmt.Fprintf(w, "%d. %s  [%s, %.3f]\n", i+1, clean(hit.Title), clean(hit.ID), hit.RelevanceScore)
				fmt.Fprintf(w, "    (%s by %s, %s)\n", clean(hit.EventType), clean(hit.AgentID), ago(now, hit.CreatedAt))
				indented(w, shortened(hit.Content))
				explained(w, hit.RelevanceScore, hit.Why)
			}
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&query.AgentID, "agent", "", "only this agent's")
	flags.StringVar(&query.Project, "project", "", "only this project's")
	flags.StringVar(&query.SessionID, "session", "", "only this session's")
	flags.StringVar(&query.EventType, "type", "", "only this type: action, error, decision, outcome")
	episodeFilter(cmd, &query.Persona, &query.Event, &query.TimeRange)
	flags.IntVar(&query.Limit, "limit", 0, "how many at most")
	flags.BoolVar(&query.Explain, "explain", false, "show what each score is made of")
	return cmd
}

// episodeFilter offers what seed 002's episodes are selected by.
func episodeFilter(cmd *cobra.Command, persona, event, span *string) {
	flags := cmd.Flags()
	flags.StringVar(persona, "persona", "", "only this persona's")
	flags.StringVar(event, "event", "", "only this event, such as mrr-drop-investigation")
	flags.StringVar(span, "range", "", "only of this time: 7d, 24h, 3mo, yesterday, last week, 2026-01-01..2026-02-01 (UTC)")
}

func (s *shell) episodesRemember() *cobra.Command {
	var draft learning.EpisodeDraft
	var object string
	cmd := s.remote(s.command(&cobra.Command{
		Use: "remember EVENT [LEARNED]", Short: "Remember an incident or investigation, and what it taught", Args: cobra.RangeArgs(1, 2),
		Example: `  skillrouter episodes remember mrr-drop-investigation "Check the payment gateway first" \
    --persona data-analyst --context '{"root_cause": "payment processor outage"}'`,
	}, func(ctx context.Context, args []string) error {
		draft.Event = args[0]
		if len(args) == 2 {
			draft.Learned = args[1]
		}
		if object != "" {
			draft.Context = json.RawMessage(object)
			if !json.Valid(draft.Context) {
				return skillrouter.InvalidField("context", "is not valid JSON")
			}
		}
		episode, err := s.recordEpisode(ctx, draft)
		if err != nil {
			return err
		}
		return s.print(episode, func(w io.Writer) {
			fmt.Fprintf(w, "%s remembered, for the persona %s\n", clean(episode.ID), clean(episode.Persona))
		})
	}))
	flags := cmd.Flags()
	flags.StringVar(&object, "context", "", "what was found, as a JSON object")
	flags.StringVar(&draft.Persona, "persona", "", "whose memory it is (default)")
	flags.StringVar(&draft.AgentID, "agent", "", "agent that it happened to (SKILLROUTER_AGENT, else captain)")
	flags.StringVar(&draft.SessionID, "session", "", "session; the agent's current one if none is named")
	flags.StringVar(&draft.Project, "project", "", "project")
	return cmd
}
