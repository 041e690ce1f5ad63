package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/experience"
)

// anySession is the session_id by which get_recent_episodes asks for every session.
const anySession = "*"

// defaultRecall is how many episodes recall_episodes returns (of the persona's memory).
const defaultRecall = 5

type recordedEpisode struct {
	ID        string `json:"episode_id"`
	SessionID string `json:"session_id"`
	persona   string
}

// episodeSearch is what search_episodes takes. An event type may also be an event's name.
type episodeSearch struct {
	episodeQuery
	Dates json.RawMessage `json:"date_range"`
}

// pastEpisode is something that happened, with how well it fits what was searched for.
type pastEpisode struct {
	episode.Episode
	RelevanceScore *float64          `json:"relevance_score,omitempty"`
	Why            []learning.Reason `json:"why,omitempty"`
}

// Says is what an episode that was found says, to be compared with what others say.
func (e *pastEpisode) Says() (s learning.Saying) {
	if e.RelevanceScore != nil {
		s = (&episode.Hit{Episode: e.Episode}).Says()
	}
	return s
}

// episodeQuery does not hide its member query where it is embedded.
type episodeQuery = episode.Query

// foundEpisodes are those of a search, or the latest without one.
type foundEpisodes struct {
	Results   []pastEpisode     `json:"results"`
	LeftOut   int               `json:"left_out,omitempty"`
	Corrected map[string]string `json:"corrected,omitempty"`
	Notice    string            `json:"notice,omitempty"`
	latest    bool
}

// episodeTools are the episodes of the core, and the persona's episodic memory in the toolset of its semantic one. They
// are the same episodes.
func episodeTools() []tool {
	limit := upTo(learning.MaxLimit, learning.DefaultEpisodeLimit)
	return []tool{
		{
			name: "record_episode", title: "Record an episode", effect: adds, walled: true, holds: "episode_id",
			description: "Log what happened, for you and others to go on from.",
			does:        (*Server).recordEpisode, takes: "event_type! title! content! project importance session_id",
			about: words{
				"event_type": oneOf(episode.EventAction, episode.EventError, episode.EventDecision, episode.EventOutcome),
				"content":    "What happened, why, and what came of it", "importance": "0–1",
			},
			said: func(e recordedEpisode) string {
				return fmt.Sprintf("Recorded as %s in session %s.", visible(e.ID), visible(e.SessionID))
			},
		},
		{
			name: "get_recent_episodes", title: "Recent episodes", effect: reads, walled: true, as: "episodes",
			description: "What happened last, newest first: your current session, or what was before.",
			does:        (*Server).recentEpisodes, takes: "session_id agent_id limit", without: "number",
			entries: func(found *[]pastEpisode) []entry { return entriesOf(found, episodeEntry) },
			about:   words{"session_id": `A session, or "*" for all`, "limit": limit},
			said: func(found []pastEpisode) string {
				if len(found) == 0 {
					return `Nothing is recorded there. Ask with session_id "*" for other sessions, or use search_episodes.`
				}
				return count(len(found), "episode", "episodes") + ", newest first."
			},
		},
		{
			name: "search_episodes", title: "Search episodes", effect: reads, walled: true, holds: "results",
			description: "Find past situations; without query, the latest.",
			does:        (*Server).searchEpisodes, takes: "query event_type date_range persona project agent_id limit explain", without: "number",
			entries: func(found *foundEpisodes) []entry { return entriesOf(&found.Results, episodeEntry) },
			about:   words{"event_type": "Or an event's name", "date_range": "7d, or two dates", "persona": "", "limit": limit},
			said: func(found foundEpisodes) string {
				order := "best first"
				if found.latest {
					order = "newest first"
				}
				return searched(len(found.Results), "episode", "Nothing was found. Try other words or drop the filters.", order, found.LeftOut, found.Corrected, found.Notice)
			},
		},
		{
			name: "remember_episode", title: "Remember an episode", effect: adds, holds: "episode_id",
			description: "Keep an incident or investigation: what it was, what was found, what is to be learned from it.",
			does:        (*Server).recordEpisode, takes: "event! context learned persona project",
			said: func(e recordedEpisode) string {
				return fmt.Sprintf("Remembered as %s, for the persona %s.", visible(e.ID), visible(e.persona))
			},
		},
		{
			name: "recall_episodes", title: "Recall episodes", effect: reads, holds: "episodes",
			description: "Past incidents of a persona that are like this, best first. Ask before you investigate.",
			does:        (*Server).recallEpisodes, takes: "query! time_range limit persona", without: "number",
			entries: func(found *recalledEpisodes) []entry { return entriesOf(&found.Episodes, episodeEntry) },
			none:    "Nothing like it is remembered. When you are done, keep it with remember_episode",
		},
	}
}

func (s *Server) recordEpisode(ctx context.Context, d episode.Draft) (recordedEpisode, error) {
	e, err := s.services.Episodes.Record(ctx, d)
	return recordedEpisode{ID: e.ID, SessionID: e.SessionID, persona: e.Persona}, err
}

// recalledEpisodes are those of recall_episodes.
type recalledEpisodes struct {
	Episodes []pastEpisode `json:"episodes"`
	LeftOut  int           `json:"left_out,omitempty"`
}

func (s *Server) recallEpisodes(ctx context.Context, q episode.Query) (recalledEpisodes, error) {
	q.Persona, q.Limit = cmp.Or(q.Persona, learning.DefaultPersona), cmp.Or(q.Limit, defaultRecall)
	found, err := s.services.Episodes.Search(ctx, q)
	return recalledEpisodes{pastHits(found.Results), found.LeftOut}, err
}

// recentEpisodes answers with the agent's current session unless another is
// named. If nothing happened in it yet, the agent sees where it stopped.
func (s *Server) recentEpisodes(ctx context.Context, filter episode.Filter) ([]pastEpisode, error) {
	asked := filter.SessionID
	switch asked {
	case anySession:
		filter.SessionID = ""
	case "":
		filter.SessionID, filter.AgentID = episode.CurrentSession, s.actor(ctx, filter.AgentID)
	}
	found, err := s.services.Episodes.Recent(ctx, filter)
	if err == nil && len(found) == 0 && asked == "" {
		found, err = s.formerEpisodes(ctx, filter)
	}
	return past(found), err
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

func (s *Server) searchEpisodes(ctx context.Context, in episodeSearch) (out foundEpisodes, err error) {
	q := in.episodeQuery
	if q.TimeRange, err = learning.DateRange("date_range", in.Dates); err != nil {
		return out, err
	}
	q.EventType, q.Event = episode.SplitEventType(q.EventType)
	if q.Query == "" {
		var latest []episode.Episode
		latest, err = s.services.Episodes.Recent(ctx, episode.Filter{
			Persona: q.Persona, Project: q.Project, AgentID: q.AgentID, EventType: q.EventType, Event: q.Event, TimeRange: q.TimeRange, Limit: q.Limit,
		})
		out = foundEpisodes{Results: past(latest), latest: true}
	} else {
		var found episode.Results
		found, err = s.services.Episodes.Search(ctx, q)
		out = foundEpisodes{Results: pastHits(found.Results), LeftOut: found.LeftOut, Corrected: found.Corrected, Notice: found.Notice}
	}
	return out, err
}

// past are episodes that nothing was searched for.
func past(found []episode.Episode) (list []pastEpisode) {
	for _, e := range found {
		list = append(list, pastEpisode{Episode: e})
	}
	shortenFields(list)
	return list
}

func pastHits(found []episode.Hit) (list []pastEpisode) {
	for i := range found {
		list = append(list, pastEpisode{found[i].Episode, &found[i].RelevanceScore, found[i].Why})
	}
	shortenFields(list)
	return list
}

// maxEpisodeFields bounds the contexts and what was learned in one answer, in
// bytes. They repeat the contents for programs.
const maxEpisodeFields = 16 << 10

func shortenFields(list []pastEpisode) {
	left := maxEpisodeFields
	for i := range list {
		if left -= len(list[i].Context) + len(list[i].Learned); left < 0 {
			list[i].Context, list[i].Learned = nil, ""
		}
	}
}

func episodeEntry(e *pastEpisode) entry {
	return entry{texts: []*string{&e.Title, &e.Content}, saying: e.Says(), said: func() (string, []string) {
		label := fmt.Sprintf("%s by %s at %s", visible(e.EventType), author(e.AgentID), e.CreatedAt.UTC().Format(time.RFC3339))
		if e.RelevanceScore != nil {
			label += fmt.Sprintf(", relevance %.3g", *e.RelevanceScore)
		}
		return label, []string{attributes("id", e.ID, "session", e.SessionID, "project", e.Project), e.Title, e.Content, whyNote(e.Why)}
	}}
}

// maxRecalledPatterns bounds the patterns that come with recalled experiences: an agent's context is dear, and
// as many as experiences come by default are enough.
const maxRecalledPatterns = experience.DefaultRecall

// experienceTools are the experience server's, in a toolset of their own.
func experienceTools() []tool {
	list := []tool{
		{
			name: "record_experience", title: "Record an experience", effect: adds, holds: "episode_id recorded utility_score",
			description: "Store how an operation went, so that what recurs becomes a pattern (recall_by_type shows it) and a lesson (learn_from_pattern makes it).",
			does:        experience.Service.Record, takes: "operation_type! server_name problem solution outcome! metadata quality_score duration_ms notes",
			about: words{
				"operation_type": "build, search, verify, …", "problem": "{query, constraints, context}", "solution": "{tool, params, approach}",
				"metadata": "{environment, dependencies, triggers}", "quality_score": "0 to 1", "notes": "",
			},
		},
		{
			name: "recall_by_type", title: "Recall by operation type", effect: reads, holds: "episodes count avg_utility",
			description: "Past experiences of an operation type, newest first, and the patterns in them.",
			does:        (*Server).recallByType, takes: "operation_type! outcome_filter=outcome limit",
		},
		{
			name: "recall_by_outcome", title: "Recall by outcome", effect: reads, holds: "episodes count avg_utility",
			description: "Past experiences that went so, newest first.",
			does:        (*Server).recallByOutcome, takes: "outcome! operation_type limit", about: words{"operation_type": "Filter"},
		},
		{
			name: "get_lessons", title: "Lessons that apply", effect: reads, holds: "lessons confidence_summary",
			description: "Lessons that hold in a context, the surest first, with their confidence now. Say with apply_lesson how it went when you applied one.",
			does:        (*Server).applicable, takes: "context operation_type min_confidence", none: "No lesson holds there yet",
			about: words{"context": "Its names and texts are compared with the lessons' contexts, such as server:NAME, env:NAME"},
		},
		{
			name: "apply_lesson", title: "A lesson was applied", effect: adds,
			holds:       "applied lesson_id previous_confidence new_confidence total_applications success_rate",
			description: "Say that you applied a lesson and how it went; its confidence moves with it.",
			does:        experience.Service.Apply, takes: "lesson_id! outcome! notes", about: words{"lesson_id": "Its number"},
		},
		{
			name: "learn_from_pattern", title: "Learn from a pattern", effect: ensure, holds: "lesson_id created initial_confidence",
			does: experience.Service.Learn, takes: "pattern_description! episode_ids! lesson_statement!",
		},
	}
	for i := range list {
		if strings.HasPrefix(list[i].name, "recall") {
			list[i].without, list[i].none = "total", "There is no such experience yet"
		}
	}
	return list
}

func (s *Server) recallByType(ctx context.Context, f experience.Filter) (experience.Recall, error) {
	f.Patterns = maxRecalledPatterns
	return s.services.Experiences.Recall(ctx, f)
}

func (s *Server) recallByOutcome(ctx context.Context, f experience.Filter) (experience.Recall, error) {
	f.ByOutcome = true
	return s.recallByType(ctx, f)
}

func (s *Server) applicable(ctx context.Context, q experience.ApplicableQuery) (experience.Applicable, error) {
	q.Limit = experience.DefaultRecall
	return s.services.Experiences.Applicable(ctx, q)
}
