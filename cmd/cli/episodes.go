package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"skillrouter/internal/errs"
	"skillrouter/learning"
	"skillrouter/learning/episode"
)

func (s *shell) episodesCommand() *cobra.Command {
	return s.verbs(verbs{
		name: "episodes", short: "What happened: add, list, show, edit, delete", of: "EPISODE",
		long: "Records what happened, and looks it up. An episode is named by its number, such as 7, or by its id.",
		add:  named(s.episodesRecord(), "add"), list: named(s.episodesRecent(), "list"), show: s.episodesShow(), edit: s.episodesEdit(),
		remove: removeEpisode, gone: "Delete an episode; lessons that were learned from it stay",
		more: []*cobra.Command{s.episodesRemember(), s.episodesSearch()},
	})
}

func (s *shell) episodesRecord() *cobra.Command {
	var draft episode.Draft
	var words []string
	return asks(s, command{
		use: "record TYPE TITLE [CONTENT]", short: "Record an action, error, decision or outcome", args: listed(cobra.RangeArgs(2, 3), &words),
		long: `Records what happened. TYPE is action, error, decision or outcome. Without
CONTENT the title stands for it; "-" reads it from standard input.`,
		flags: append(s.episodeFlags(&draft),
			optional("importance", &draft.Importance, episode.DefaultImportance, "importance, 0 to 1")),
		before: func() error {
			draft.EventType, draft.Title, draft.Content = words[0], words[1], words[len(words)-1]
			return s.text(&draft.Content, learning.MaxContent)
		},
	}, sends(episode.Service.Record, &draft), func(w io.Writer, episode episode.Episode) {
		fmt.Fprintf(w, "%s recorded, in session %s\n", clean(episode.ID), clean(episode.SessionID))
	})
}

func (s *shell) episodesShow() *cobra.Command {
	var ref string
	return asks(s, command{
		use: "show EPISODE", short: "Show an episode", args: exactly(&ref),
	}, withID("episodes", episode.Service.Episode, &ref), s.printEpisode)
}

func (s *shell) printEpisode(w io.Writer, e episode.Episode) {
	fields(w, section{"Id", e.ID}, section{"Number", fmt.Sprint(e.Number)}, section{"Title", e.Title}, section{"Type", e.EventType}, section{"Event", e.Event},
		section{"Agent", e.AgentID}, section{"Project", e.Project}, section{"Session", e.SessionID}, section{"Persona", e.Persona},
		section{"Importance", fmt.Sprintf("%.2f", e.Importance)}, section{"Recorded", ago(s.now(), e.CreatedAt)})
	sections(w, section{"Content", e.Content}, section{"Learned", e.Learned}, section{"Context", string(e.Context)})
}

func (s *shell) episodesEdit() *cobra.Command {
	var ref string
	var patch episode.Patch
	var kind string
	return asks(s, command{
		use: "edit EPISODE --FIELD TEXT...", short: "Change what an episode says", args: exactly(&ref),
		flags: append(s.flags(&patch, "title", "learned", "project", "importance"),
			optional("content", &patch.Content, "", "what happened; - reads standard input"),
			given("type", &patch.EventType, &kind, choice("type", &kind, episode.EventTypes(), "what it is")),
		),
		before: changes(s, &patch, &patch.Content),
	}, withIDTo("episodes", episode.Service.Edit, &ref, &patch), s.printEpisode)
}

// episodeFlags are what every new episode may be told to belong to.
func (s *shell) episodeFlags(draft *episode.Draft) options {
	return options{
		who("agent", &draft.AgentID, s.sender, "agent that it happened to (SKILLROUTER_AGENT, else captain)"),
		option("session", &draft.SessionID, "session; the agent's current one if none is named"),
		s.belongs(&draft.Project),
	}
}

func (s *shell) episodesRecent() *cobra.Command {
	var filter episode.Filter
	return lists(s, command{
		use: "recent", short: "Show the latest episodes, the newest first",
		flags: append(episodeFilter(&filter.AgentID, &filter.SessionID, &filter.Project, &filter.EventType, &filter.Persona, &filter.Event, &filter.TimeRange),
			limit(&filter.Limit)),
	}, learning.DefaultEpisodeLimit, learning.MaxLimit, &filter.Limit, sends(episode.Service.Recent, &filter), columns[episode.Episode]{
		"No episodes.",
		[]string{"NO", "TYPE", "TITLE", "AGENT", "PROJECT", "WHEN"},
		func(e episode.Episode) cells {
			return cells{e.Number, e.EventType, e.Title, e.AgentID, e.Project, e.CreatedAt}
		},
	}.list)
}

func (s *shell) episodesSearch() *cobra.Command {
	query := episode.Query{Shown: true}
	return finds(s, command{
		use: "search TEXT...", short: "Search episodes", args: joined(1, &query.Query),
		flags: append(episodeFilter(&query.AgentID, &query.SessionID, &query.Project, &query.EventType, &query.Persona, &query.Event, &query.TimeRange),
			limit(&query.Limit), scores(&query.Explain), s.minRelevance(&query.MinRelevance, &query.Shown)),
		before: func() error {
			query.PreferProject = s.project()
			return nil
		},
	}, sends(episode.Service.Search, &query), func(results episode.Results) int { return len(results.Results) }, func(w io.Writer, results episode.Results) {
		searched(w, results.Corrected, results.Notice)
		nothing(w, len(results.Results), nil)
		for i, one := range learning.FoldFound(results.Results) {
			hit := results.Results[one.At]
			hitHead(w, i, hit.Title, "%s, %s", clean(hit.ID), share(hit.Relevance))
			fmt.Fprintf(w, "    (%s by %s, %s)\n", clean(hit.EventType), clean(hit.AgentID), ago(s.now(), hit.CreatedAt))
			indented(w, shortened(hit.Content))
			printIf(w, "    %s\n", one.Like())
			explained(w, hit.RelevanceScore, hit.Why)
		}
	})
}

// episodeFilter offers what episodes are selected by.
func episodeFilter(agent, session, project, kind, persona, event, span *string) options {
	return options{
		option("agent", agent, "only this agent's"),
		option("session", session, "only this session's"),
		option("project", project, "only this project's"),
		choice("type", kind, episode.EventTypes(), "only this type"),
		option("persona", persona, "only this persona's"),
		option("event", event, "only this event, such as mrr-drop-investigation"),
		option("time-range", span, "only of this time: 7d, 24h, 3mo, yesterday, last week, 2026-01-01..2026-02-01 (UTC)").once("range"),
	}
}

func (s *shell) episodesRemember() *cobra.Command {
	var draft episode.Draft
	var object string
	return asks(s, command{
		use: "remember EVENT [LEARNED]", short: "Remember an incident or investigation, and what it taught", args: between(1, &draft.Event, &draft.Learned),
		flags: append(s.episodeFlags(&draft),
			option("context", &object, "what was found, as a JSON object"),
			option("persona", &draft.Persona, "whose memory it is (default)")),
		before: func() error {
			if object == "" {
				return nil
			}
			if draft.Context = json.RawMessage(object); !json.Valid(draft.Context) {
				return errs.InvalidField("context", "is not valid JSON")
			}
			return nil
		},
	}, sends(episode.Service.Record, &draft), func(w io.Writer, episode episode.Episode) {
		fmt.Fprintf(w, "%s remembered, for the persona %s\n", clean(episode.ID), clean(episode.Persona))
	})
}
