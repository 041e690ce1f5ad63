package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"skillrouter/learning"
)

// anySession is the session_id by which get_recent_episodes asks for every session.
const anySession = "*"

type recordEpisode struct {
	EventType  string   `json:"event_type"`
	Title      string   `json:"title"`
	Content    string   `json:"content"`
	Project    string   `json:"project"`
	Importance *float64 `json:"importance"`
	SessionID  string   `json:"session_id"`
}

type recordedEpisode struct {
	ID        string `json:"episode_id"`
	SessionID string `json:"session_id"`
}

type recentEpisodes struct {
	SessionID string `json:"session_id"`
	AgentID   string `json:"agent_id"`
	Limit     int    `json:"limit"`
}

type searchEpisodes struct {
	Query     string          `json:"query"`
	EventType string          `json:"event_type"` // also an event's name
	DateRange json.RawMessage `json:"date_range"`
	Persona   string          `json:"persona"`
	Project   string          `json:"project"`
	AgentID   string          `json:"agent_id"`
	Limit     int             `json:"limit"`
	Explain   bool            `json:"explain"`
}

// episode is what a model needs of something that happened.
type episode struct {
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
	Episodes []episode `json:"episodes"`
	Notice   string    `json:"notice,omitempty"`
}

type episodeHits struct {
	Results   []episode         `json:"results"`
	LeftOut   int               `json:"left_out,omitempty"` // found too, and over what the service answers at once
	Corrected map[string]string `json:"corrected,omitempty"`
	Degraded  string            `json:"degraded,omitempty"` // see knowledgeHits
	Notice    string            `json:"notice,omitempty"`
}

func eventTypes() []string {
	return []string{learning.EventAction, learning.EventError, learning.EventDecision, learning.EventOutcome}
}

func (s *Server) addEpisodeTools() {
	add(s, tool{
		name: "record_episode", title: "Record an episode", effect: adds,
		description: "Log what happened, so that you and others can pick up from there.",
		input: arguments(
			required(oneOf("event_type", "", eventTypes()...)),
			required(text("title", "")),
			required(text("content", "What happened, why, and what came of it")),
			text("project", ""),
			value("number", "importance", "0–1"),
			text("session_id", ""),
		),
		output: holds("episode_id"),
	}, s.recordEpisode)
	add(s, tool{
		name: "get_recent_episodes", title: "Recent episodes", effect: reads,
		description: "What happened last, newest first: your current session, or what was before.",
		input: arguments(
			text("session_id", `A session, or "*" for all`),
			text("agent_id", ""),
			upTo("limit", "1–%d, default 10", learning.MaxLimit),
		),
		output: holds("episodes"),
	}, s.recentEpisodes)
	add(s, tool{
		name: "search_episodes", title: "Search episodes", effect: reads,
		description: "Find past situations; without query, the latest.",
		input: arguments(
			text("query", ""),
			text("event_type", "Or an event's name"),
			anything("date_range", "7d, or two dates"),
			text("persona", ""),
			text("project", ""),
			text("agent_id", ""),
			upTo("limit", "1–%d, default 10", learning.MaxLimit),
			boolean("explain", ""),
		),
		output: holds("results"),
	}, s.searchEpisodes)
}

func (s *Server) recordEpisode(ctx context.Context, in recordEpisode) (reply[recordedEpisode], error) {
	stored, err := s.services.Episodes.Record(ctx, learning.EpisodeDraft{
		SessionID: in.SessionID, AgentID: s.actor(ctx, ""), EventType: in.EventType,
		Title: in.Title, Content: in.Content, Project: in.Project, Importance: in.Importance,
	})
	if err != nil {
		return reply[recordedEpisode]{}, err
	}
	return reply[recordedEpisode]{
		recordedEpisode{ID: stored.ID, SessionID: stored.SessionID},
		fmt.Sprintf("Recorded as %s in session %s.", visible(stored.ID), visible(stored.SessionID)),
	}, nil
}

// recentEpisodes answers with the agent's current session unless another is
// named. If nothing happened in it yet, the agent sees where it stopped.
func (s *Server) recentEpisodes(ctx context.Context, in recentEpisodes) (reply[episodes], error) {
	filter := learning.EpisodeFilter{SessionID: in.SessionID, AgentID: in.AgentID, Limit: in.Limit}
	switch in.SessionID {
	case anySession:
		filter.SessionID = ""
	case "":
		filter.SessionID, filter.AgentID = learning.CurrentSession, s.actor(ctx, in.AgentID)
	}
	found, err := s.services.Episodes.Recent(ctx, filter)
	if err == nil && len(found) == 0 && in.SessionID == "" {
		found, err = s.formerEpisodes(ctx, filter)
	}
	if err != nil {
		return reply[episodes]{}, err
	}
	out := episodes{Episodes: []episode{}}
	for _, e := range found {
		out.Episodes = append(out.Episodes, shownEpisode(e))
	}
	fitEpisodes(out.Episodes)
	if len(out.Episodes) == 0 {
		return reply[episodes]{out, `Nothing is recorded there. Ask with session_id "*" for other sessions, or use search_episodes.`}, nil
	}
	out.Notice = notice
	f := newFence("%s, newest first.", count(len(out.Episodes), "episode", "episodes"))
	f.addEpisodes(out.Episodes)
	return reply[episodes]{out, f.String()}, nil
}

// formerEpisodes returns those of the agent's latest session or, of an agent
// that has recorded none, the latest of all agents.
func (s *Server) formerEpisodes(ctx context.Context, filter learning.EpisodeFilter) ([]learning.Episode, error) {
	latest, err := s.services.Episodes.Recent(ctx, learning.EpisodeFilter{AgentID: filter.AgentID, Limit: 1})
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

func (s *Server) searchEpisodes(ctx context.Context, in searchEpisodes) (reply[episodeHits], error) {
	span, err := learning.DateRange("date_range", in.DateRange)
	if err != nil {
		return reply[episodeHits]{}, err
	}
	query := learning.EpisodeQuery{Query: in.Query, Persona: in.Persona, Project: in.Project, AgentID: in.AgentID, TimeRange: span, Limit: in.Limit, Explain: in.Explain}
	query.EventType, query.Event = learning.SplitEventType(in.EventType)
	var found learning.EpisodeResults
	if in.Query == "" {
		var latest []learning.Episode
		latest, err = s.services.Episodes.Recent(ctx, learning.EpisodeFilter{
			Persona: query.Persona, Project: query.Project, AgentID: query.AgentID, EventType: query.EventType, Event: query.Event, TimeRange: span, Limit: in.Limit,
		})
		for _, e := range latest {
			found.Results = append(found.Results, learning.EpisodeHit{Episode: e})
		}
	} else {
		found, err = s.services.Episodes.Search(ctx, query)
	}
	if err != nil {
		return reply[episodeHits]{}, err
	}
	out := episodeHits{Results: []episode{}, LeftOut: found.LeftOut, Corrected: found.Corrected, Degraded: found.Notice}
	for _, hit := range found.Results {
		shown := shownEpisode(hit.Episode)
		if in.Query != "" {
			shown.RelevanceScore, shown.Why = &hit.RelevanceScore, hit.Why
		}
		out.Results = append(out.Results, shown)
	}
	fitEpisodes(out.Results)
	if len(out.Results) == 0 {
		return reply[episodeHits]{out, "Nothing was found. Try other words or drop the filters." + corrections(out.Corrected) + degraded(out.Degraded)}, nil
	}
	out.Notice = notice
	order := "best first"
	if in.Query == "" {
		order = "newest first"
	}
	f := newFence("Found %s, %s.%s%s%s", count(len(out.Results), "episode", "episodes"), order, leftOut(out.LeftOut), corrections(out.Corrected), degraded(out.Degraded))
	f.addEpisodes(out.Results)
	return reply[episodeHits]{out, f.String()}, nil
}

func shownEpisode(e learning.Episode) episode {
	return episode{
		ID: e.ID, Persona: e.Persona, EventType: e.EventType, Event: e.Event, Title: e.Title, Content: e.Content,
		Context: e.Context, Learned: e.Learned, SessionID: e.SessionID,
		AgentID: e.AgentID, Project: e.Project, Importance: e.Importance, CreatedAt: e.CreatedAt,
	}
}

// maxEpisodeFields bounds the contexts and what was learned in one answer, in
// bytes. They repeat the contents for programs.
const maxEpisodeFields = 16 << 10

func fitEpisodes(list []episode) {
	left := maxEpisodeFields
	for i := range list {
		if left -= len(list[i].Context) + len(list[i].Learned); left < 0 {
			list[i].Context, list[i].Learned = nil, ""
		}
	}
	var titles, contents []*string
	for i := range list {
		titles, contents = append(titles, &list[i].Title), append(contents, &list[i].Content)
	}
	for i, left := range fit(titles, contents) {
		list[i].CutBytes = left
	}
}

func (f *fence) addEpisodes(list []episode) {
	f.explain()
	for i, e := range list {
		label := fmt.Sprintf("%d. %s by %s at %s", i+1, visible(e.EventType), author(e.AgentID), e.CreatedAt.UTC().Format(time.RFC3339))
		if e.RelevanceScore != nil {
			label += fmt.Sprintf(", relevance %.3g", *e.RelevanceScore)
		}
		f.add(label, attributes("id", e.ID, "session", e.SessionID, "project", e.Project), e.Title, e.Content, whyNote(e.Why), cutNote(e.CutBytes))
	}
}
