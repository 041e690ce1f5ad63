package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"skillrouter/learning"
	"skillrouter/learning/episode"
)

// anySession is the session_id by which get_recent_episodes asks for every session.
const anySession = "*"

// defaultRecall is how many episodes recall_episodes returns (of the persona's memory).
const defaultRecall = 5

type recordedEpisode struct {
	ID        string `json:"episode_id"`
	SessionID string `json:"session_id"`
}

// episodeView is what a model needs of something that happened.
type episodeView struct {
	ID             string            `json:"id"`
	Persona        string            `json:"persona"`
	EventType      string            `json:"event_type"`
	Event          string            `json:"event,omitempty"`
	Title          string            `json:"title"`
	Content        string            `json:"content"`
	Context        json.RawMessage   `json:"context,omitempty"` // left out, as is Learned, if it is long: the content says it too
	Learned        string            `json:"learned,omitempty"`
	SessionID      string            `json:"session_id"`
	AgentID        string            `json:"agent_id"`
	Project        string            `json:"project,omitempty"`
	Importance     float64           `json:"importance"`
	CreatedAt      time.Time         `json:"created_at"`
	RelevanceScore *float64          `json:"relevance_score,omitempty"` // of what was searched for
	Why            []learning.Reason `json:"why,omitempty"`
	CutBytes       int               `json:"cut_bytes,omitempty"` // of the content, left out of this answer
}

type episodes struct {
	Episodes []episodeView `json:"episodes"`
	Notice   string        `json:"notice,omitempty"`
}

// episodeSearch is what search_episodes takes. An event type may also be an event's name.
type episodeSearch struct {
	episode.Query
	dates json.RawMessage
}

// addEpisodeTools offers the episodes of the core.
func (s *Server) addEpisodeTools() {
	add(s, tool{
		name: "record_episode", title: "Record an episode", effect: adds, holds: "episode_id",
		description: "Log what happened, for you and others to go on from.",
	}, func(p *params, d *episode.Draft) {
		p.must("event_type", &d.EventType, "", among(episode.EventAction, episode.EventError, episode.EventDecision, episode.EventOutcome))
		p.must("title", &d.Title, "")
		p.must("content", &d.Content, "What happened, why, and what came of it")
		p.belongsHere(&d.Project)
		p.may("importance", &d.Importance, "0–1")
		p.may("session_id", &d.SessionID, "")
		p.actor(&d.AgentID)
	}, then(s.services.Episodes.Record, func(e episode.Episode) (recordedEpisode, string) {
		return recordedEpisode{ID: e.ID, SessionID: e.SessionID}, fmt.Sprintf("Recorded as %s in session %s.", visible(e.ID), visible(e.SessionID))
	}))
	add(s, tool{
		name: "get_recent_episodes", title: "Recent episodes", effect: reads, holds: "episodes",
		description: "What happened last, newest first: your current session, or what was before.",
	}, func(p *params, f *episode.Filter) {
		p.may("session_id", &f.SessionID, `A session, or "*" for all`)
		p.may("agent_id", &f.AgentID, "")
		p.may("limit", &f.Limit, upTo(learning.MaxLimit, learning.DefaultEpisodeLimit))
	}, then(s.recentEpisodes, func(found []episode.Episode) (episodes, string) {
		out := episodes{Episodes: views(found, shownEpisode)}
		shortenFields(out.Episodes)
		return out, listing(out.Episodes, &out.Notice, episodeEntry,
			`Nothing is recorded there. Ask with session_id "*" for other sessions, or use search_episodes.`,
			"%s, newest first.", count(len(found), "episode", "episodes")).String()
	}))
	add(s, tool{
		name: "search_episodes", title: "Search episodes", effect: reads, holds: "results",
		description: "Find past situations; without query, the latest.",
	}, func(p *params, q *episodeSearch) {
		p.may("query", &q.Query.Query, "")
		p.may("event_type", &q.EventType, "Or an event's name")
		p.may("date_range", &q.dates, "7d, or two dates")
		p.may("persona", &q.Persona, "")
		p.may("project", &q.Project, "")
		p.here(&q.PreferProject)
		p.may("agent_id", &q.AgentID, "")
		p.may("limit", &q.Limit, upTo(learning.MaxLimit, learning.DefaultEpisodeLimit))
		p.may("explain", &q.Explain, "")
	}, s.searchEpisodes)
	s.addEpisodeMemoryTools()
}

// addEpisodeMemoryTools offers the persona's episodic memory, in the toolset of its
// semantic one. They are the same episodes as those of the core.
func (s *Server) addEpisodeMemoryTools() {
	add(s, tool{
		name: "remember_episode", title: "Remember an episode", set: ToolsetFacts, effect: adds, holds: "episode_id",
		description: "Keep an incident or investigation: what it was, what was found, what is to be learned from it.",
	}, described[episode.Draft]("event!", "context", "learned", "persona", "project"), then(s.services.Episodes.Record, func(e episode.Episode) (recordedEpisode, string) {
		return recordedEpisode{ID: e.ID, SessionID: e.SessionID}, fmt.Sprintf("Remembered as %s, for the persona %s.", visible(e.ID), visible(e.Persona))
	}))
	add(s, tool{
		name: "recall_episodes", title: "Recall episodes", set: ToolsetFacts, effect: reads, holds: "episodes",
		description: "Past incidents of a persona that are like this, best first. Ask before you investigate.",
	}, described[episode.Query]("query!", "time_range", "limit", "persona"), then(func(ctx context.Context, q episode.Query) (episode.Results, error) {
		q.Persona, q.Limit = cmp.Or(q.Persona, learning.DefaultPersona), cmp.Or(q.Limit, defaultRecall)
		return s.services.Episodes.Search(ctx, q)
	}, func(found episode.Results) (episodes, string) {
		out := episodes{Episodes: views(found.Results, shownHit)}
		shortenFields(out.Episodes)
		return out, listing(out.Episodes, &out.Notice, episodeEntry,
			"Nothing like it is remembered. When you are done, keep it with remember_episode."+corrections(found.Corrected),
			"Found %s, best first.%s%s", count(len(out.Episodes), "episode", "episodes"), leftOut(found.LeftOut), corrections(found.Corrected)).String()
	}))
}

// recentEpisodes answers with the agent's current session unless another is
// named. If nothing happened in it yet, the agent sees where it stopped.
func (s *Server) recentEpisodes(ctx context.Context, filter episode.Filter) ([]episode.Episode, error) {
	asked := filter.SessionID
	switch asked {
	case anySession:
		filter.SessionID = ""
	case "":
		filter.SessionID, filter.AgentID = episode.CurrentSession, s.actor(ctx, filter.AgentID)
	}
	found, err := s.services.Episodes.Recent(ctx, filter)
	if err == nil && len(found) == 0 && asked == "" {
		return s.formerEpisodes(ctx, filter)
	}
	return found, err
}

// formerEpisodes returns those of the agent's latest session or, of an agent
// that has recorded none, the latest of all agents.
func (s *Server) formerEpisodes(ctx context.Context, filter episode.Filter) ([]episode.Episode, error) {
	latest, err := s.services.Episodes.Recent(ctx, episode.Filter{AgentID: filter.AgentID, Limit: 1})
	if err != nil {
		return nil, err
	}
	filter.SessionID = ""
	if len(latest) > 0 {
		filter.SessionID = latest[0].SessionID
	} else {
		filter.AgentID = ""
	}
	return s.services.Episodes.Recent(ctx, filter)
}

func (s *Server) searchEpisodes(ctx context.Context, in episodeSearch) (out hits[episodeView], text string, err error) {
	q := in.Query
	if q.TimeRange, err = learning.DateRange("date_range", in.dates); err != nil {
		return out, "", err
	}
	q.EventType, q.Event = episode.SplitEventType(q.EventType)
	order := "best first"
	if q.Query == "" {
		order = "newest first"
		var latest []episode.Episode
		latest, err = s.services.Episodes.Recent(ctx, episode.Filter{
			Persona: q.Persona, Project: q.Project, AgentID: q.AgentID, EventType: q.EventType, Event: q.Event, TimeRange: q.TimeRange, Limit: q.Limit,
		})
		out.Results = views(latest, shownEpisode)
	} else {
		var found episode.Results
		found, err = s.services.Episodes.Search(ctx, q)
		out = hits[episodeView]{Results: views(found.Results, shownHit), LeftOut: found.LeftOut, Corrected: found.Corrected, Degraded: found.Notice}
	}
	if err != nil {
		return out, "", err
	}
	shortenFields(out.Results)
	return out, out.said(episodeEntry, "Nothing was found. Try other words or drop the filters.", order, "episode", "episodes"), nil
}

func shownEpisode(e episode.Episode) episodeView {
	return episodeView{
		ID: e.ID, Persona: e.Persona, EventType: e.EventType, Event: e.Event, Title: e.Title, Content: e.Content,
		Context: e.Context, Learned: e.Learned, SessionID: e.SessionID,
		AgentID: e.AgentID, Project: e.Project, Importance: e.Importance, CreatedAt: e.CreatedAt,
	}
}

func shownHit(hit episode.Hit) episodeView {
	shown := shownEpisode(hit.Episode)
	shown.RelevanceScore, shown.Why = &hit.RelevanceScore, hit.Why
	return shown
}

// maxEpisodeFields bounds the contexts and what was learned in one answer, in
// bytes. They repeat the contents for programs.
const maxEpisodeFields = 16 << 10

func shortenFields(list []episodeView) {
	left := maxEpisodeFields
	for i := range list {
		if left -= len(list[i].Context) + len(list[i].Learned); left < 0 {
			list[i].Context, list[i].Learned = nil, ""
		}
	}
}

// Says is what an episode that was found says, to be compared with what others say.
func (e *episodeView) Says() (s learning.Saying) {
	if e.RelevanceScore != nil {
		s = learning.Saying{ID: e.ID, Kind: "episode", Where: e.Project, Text: e.Title + "\n" + e.Content}
	}
	return s
}

func episodeEntry(e *episodeView) entry {
	whole := len(e.Content)
	return entry{[]*string{&e.Title, &e.Content}, func(int) (string, []string) {
		e.CutBytes = whole - len(e.Content)
		label := fmt.Sprintf("%s by %s at %s", visible(e.EventType), author(e.AgentID), e.CreatedAt.UTC().Format(time.RFC3339))
		if e.RelevanceScore != nil {
			label += fmt.Sprintf(", relevance %.3g", *e.RelevanceScore)
		}
		return label, []string{attributes("id", e.ID, "session", e.SessionID, "project", e.Project), e.Title, e.Content, whyNote(e.Why), cutNote(e.CutBytes)}
	}}
}
