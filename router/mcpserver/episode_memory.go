package mcpserver

import (
	"cmp"
	"context"
	"fmt"

	"skillrouter/learning"
)

// defaultRecall is how many episodes recall_episodes returns (seed 002).
const defaultRecall = 5

// addEpisodeMemoryTools offers seed 002's episodic memory, in the toolset of its
// semantic one. They are the same episodes as those of the core.
func (s *Server) addEpisodeMemoryTools() {
	add(s, tool{
		name: "remember_episode", title: "Remember an episode", set: ToolsetFacts, effect: adds, holds: "episode_id",
		description: "Keep an incident or investigation: what it was, what was found, what is to be learned from it.",
	}, func(p *params, d *learning.EpisodeDraft) {
		p.must("event", &d.Event, "A short name, such as mrr-drop-investigation")
		p.must("context", &d.Context, "Symptom, cause, resolution and the like", object)
		p.may("learned", &d.Learned, "In a sentence")
		p.may("persona", &d.Persona, whoseMemory)
		p.may("project", &d.Project, "")
		p.actor(&d.AgentID)
	}, then(s.services.Episodes.Record, func(e learning.Episode) (recordedEpisode, string) {
		return recordedEpisode{ID: e.ID, SessionID: e.SessionID}, fmt.Sprintf("Remembered as %s, for the persona %s.", visible(e.ID), visible(e.Persona))
	}))
	add(s, tool{
		name: "recall_episodes", title: "Recall episodes", set: ToolsetFacts, effect: reads, holds: "episodes",
		description: "Past incidents of a persona that are like this, best first. Ask before you investigate.",
	}, func(p *params, q *learning.EpisodeQuery) {
		p.must("query", &q.Query, "")
		p.may("time_range", &q.TimeRange, `"7d", "2w", "3mo", "last week", or "2026-01-01..2026-02-01" (UTC)`)
		p.may("limit", &q.Limit, "Default 5", within(1, learning.MaxLimit))
		p.may("persona", &q.Persona, `Default "default"; "*": everybody's`)
	}, then(func(ctx context.Context, q learning.EpisodeQuery) (learning.EpisodeResults, error) {
		q.Persona, q.Limit = cmp.Or(q.Persona, learning.DefaultPersona), cmp.Or(q.Limit, defaultRecall)
		return s.services.Episodes.Search(ctx, q)
	}, func(found learning.EpisodeResults) (episodes, string) {
		out := episodes{Episodes: views(found.Results, shownHit)}
		shortenFields(out.Episodes)
		return out, listing(out.Episodes, &out.Notice, episodeEntry,
			"Nothing like it is remembered. When you are done, keep it with remember_episode."+corrections(found.Corrected),
			"Found %s, best first.%s%s", count(len(out.Episodes), "episode", "episodes"), leftOut(found.LeftOut), corrections(found.Corrected)).String()
	}))
}
