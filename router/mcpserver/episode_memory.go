package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"skillrouter/learning"
)

// defaultRecall is how many episodes recall_episodes returns (seed 002).
const defaultRecall = 5

type rememberEpisode struct {
	Event   string          `json:"event"`
	Context json.RawMessage `json:"context"`
	Learned string          `json:"learned"`
	Persona string          `json:"persona"`
	Project string          `json:"project"`
}

type recallEpisodes struct {
	Query     string `json:"query"`
	TimeRange string `json:"time_range"`
	Limit     int    `json:"limit"`
	Persona   string `json:"persona"`
}

// addEpisodeMemoryTools offers seed 002's episodic memory, in the toolset of its
// semantic one. They are the same episodes as those of the core.
func (s *Server) addEpisodeMemoryTools() {
	add(s, tool{
		name: "remember_episode", title: "Remember an episode", set: ToolsetFacts, effect: adds,
		description: "Keep an incident or investigation: what it was, what was found, what is to be learned from it.",
		input: arguments(
			required(text("event", "A short name, such as mrr-drop-investigation")),
			required(anObject("context", "Symptom, cause, resolution and the like")),
			text("learned", "In a sentence"),
			text("persona", "Whose memory; default \"default\""),
			text("project", ""),
		),
		output: holds("episode_id"),
	}, s.rememberEpisode)
	add(s, tool{
		name: "recall_episodes", title: "Recall episodes", set: ToolsetFacts, effect: reads,
		description: "Past incidents of a persona that are like this, best first. Ask before you investigate.",
		input: arguments(
			required(text("query", "")),
			text("time_range", `"7d", "2w", "3mo", "last week", or "2026-01-01..2026-02-01" (UTC)`),
			integer("limit", "Default 5", 1, learning.MaxLimit),
			text("persona", `Default "default"; "*": everybody's`),
		),
		output: holds("episodes"),
	}, s.recallEpisodes)
}

func (s *Server) rememberEpisode(ctx context.Context, in rememberEpisode) (reply[recordedEpisode], error) {
	stored, err := s.services.Episodes.Record(ctx, learning.EpisodeDraft{
		AgentID: s.actor(ctx, ""), Persona: in.Persona, Event: in.Event, Context: in.Context, Learned: in.Learned, Project: in.Project,
	})
	if err != nil {
		return reply[recordedEpisode]{}, err
	}
	return reply[recordedEpisode]{
		recordedEpisode{ID: stored.ID, SessionID: stored.SessionID},
		fmt.Sprintf("Remembered as %s, for the persona %s.", visible(stored.ID), visible(stored.Persona)),
	}, nil
}

func (s *Server) recallEpisodes(ctx context.Context, in recallEpisodes) (reply[episodes], error) {
	found, err := s.services.Episodes.Search(ctx, learning.EpisodeQuery{
		Query: in.Query, Persona: cmp.Or(in.Persona, learning.DefaultPersona), TimeRange: in.TimeRange, Limit: cmp.Or(in.Limit, defaultRecall),
	})
	if err != nil {
		return reply[episodes]{}, err
	}
	out := episodes{Episodes: []episode{}}
	for _, hit := range found.Results {
		shown := shownEpisode(hit.Episode)
		shown.RelevanceScore = &hit.RelevanceScore
		out.Episodes = append(out.Episodes, shown)
	}
	fitEpisodes(out.Episodes)
	if len(out.Episodes) == 0 {
		return reply[episodes]{out, "Nothing like it is remembered. When you are done, keep it with remember_episode." + corrections(found.Corrected)}, nil
	}
	out.Notice = notice
	f := newFence("Found %s, best first.%s%s", count(len(out.Episodes), "episode", "episodes"), leftOut(found.LeftOut), corrections(found.Corrected))
	f.addEpisodes(out.Episodes)
	return reply[episodes]{out, f.String()}, nil
}
