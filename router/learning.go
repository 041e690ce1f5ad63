package router

import (
	"context"
	"fmt"
	"strings"
	"time"

	"skillrouter"
	"skillrouter/learning"
	"skillrouter/learning/episode"
	"skillrouter/learning/knowledge"
	"skillrouter/router/classify"
)

// knowledgeSource answers from what agents wrote down.
type knowledgeSource struct{ knowledge Knowledge }

func (s knowledgeSource) ask(ctx context.Context, q question) (found, error) {
	if s.knowledge == nil {
		return found{}, nil
	}
	results, err := s.knowledge.Search(ctx, knowledge.Query{Query: q.text, Project: q.project, PreferProject: q.prefer, Limit: q.limit, Shown: q.subjects})
	if err != nil {
		return found{}, err
	}
	f := found{note: results.Notice, noMatch: results.NoMatch}
	for _, hit := range results.Results {
		f.items = append(f.items, Item{
			Kind: "knowledge", ID: hit.ID, Title: hit.Title, Content: hit.Content, Score: hit.RelevanceScore, Relevance: hit.Relevance,
			Project: hit.Project, AgentID: hit.Author, At: hit.UpdatedAt,
			Fields: map[string]any{"category": hit.Category, "tags": hit.Tags, "trust": hit.Trust, "source": hit.Source, "use_count": hit.UseCount},
		})
	}
	return f, nil
}

// episodeSource answers from what happened: by time, by agent, by session and by words.
type episodeSource struct{ episodes Episodes }

// warm is how recent a session's last episode is while the session may still
// be the present one, and so not what "last session" means.
const warm = 30 * time.Minute

func (s episodeSource) ask(ctx context.Context, q question) (found, error) {
	if s.episodes == nil {
		return found{}, nil
	}
	words := classify.Phrase(q.text)
	span, rest, timed := findTimespan(words, q.now)
	if !timed {
		rest = words
	}
	agent := ""
	skip := classify.WordSet("session sessions agent agents run runs")
	for _, n := range q.names {
		if n.Kind == classify.MentionAgent && agent == "" {
			agent = n.Stored
			for _, w := range classify.Phrase(n.Name) {
				skip[w] = true
			}
		}
	}
	if classify.Has(rest, "i") && agent == "" && !classify.Has(rest, "we") {
		agent = q.agentID
	}
	_, stems := classify.Content(rest, skip)
	filter := episode.Filter{AgentID: agent, Project: q.project, Since: span.From, Until: span.To, Limit: q.limit}
	var looked []string
	if agent != "" {
		looked = append(looked, "by "+agent)
	}
	if timed {
		looked = append(looked, fmt.Sprintf("in the time of “%s”", span.Phrase))
	}
	note := ""
	if len(looked) > 0 {
		note = "looked for episodes " + strings.Join(looked, " ")
	}
	if q.fallback && len(stems) == 0 {
		return found{}, nil
	}
	if before, asked := sessionAsked(words); asked && len(stems) == 0 {
		f, err := s.session(ctx, filter, before, q.now)
		return f, err
	}
	if len(stems) == 0 {
		items, err := s.recent(ctx, filter)
		return found{items: items, note: note, summary: episodeSummary(items, span, agent)}, err
	}
	text := q.text
	if timed { // the words of the time would be searched for too
		text = strings.Join(rest, " ")
	}
	f, err := s.search(ctx, text, agent, q, span, timed)
	if note != "" && f.note != "" {
		note += "; "
	}
	f.note = note + f.note
	return f, err
}

// search looks for the words in the span, then at any time, then for whatever
// happened in the span.
func (s episodeSource) search(ctx context.Context, text, agent string, q question, span timespan, timed bool) (found, error) {
	query := episode.Query{Query: text, AgentID: agent, Project: q.project, PreferProject: q.prefer, Limit: q.limit}
	within := query
	within.Since, within.Until = span.From, span.To
	items, notice, err := s.hits(ctx, within)
	if err != nil || !timed || len(items) > 0 {
		return found{items: items, note: notice}, err
	}
	missed := fmt.Sprintf("no episode in the time of “%s” has these words", span.Phrase)
	if items, notice, err = s.hits(ctx, query); err != nil {
		return found{}, err
	}
	if len(items) > 0 {
		return found{items: items, note: notice, missed: missed + "; these are from other times"}, nil
	}
	items, err = s.recent(ctx, episode.Filter{AgentID: agent, Project: q.project, Since: span.From, Until: span.To, Limit: q.limit})
	if len(items) > 0 {
		missed += "; these are what happened then"
	}
	return found{items: items, missed: missed}, err
}

// hits lists what a search finds, the best first, and what it says of itself.
func (s episodeSource) hits(ctx context.Context, query episode.Query) (items []Item, notice string, err error) {
	results, err := s.episodes.Search(ctx, query)
	if err != nil {
		return nil, "", err
	}
	items = make([]Item, len(results.Results))
	for i, hit := range results.Results {
		items[i] = episodeItem(hit.Episode, hit.RelevanceScore)
		items[i].Relevance = hit.Relevance
	}
	return items, results.Notice, nil
}

// recent lists what the filter selects, the latest first.
func (s episodeSource) recent(ctx context.Context, filter episode.Filter) ([]Item, error) {
	episodes, err := s.episodes.Recent(ctx, filter)
	if err != nil {
		return nil, err
	}
	items := make([]Item, len(episodes))
	for i, e := range episodes {
		items[i] = episodeItem(e, 1/float64(i+1)) // the later, the more likely meant
	}
	return items, nil
}

// sessionAsked tells whether a question is of a session, and whether of the one before.
func sessionAsked(words []string) (before, asked bool) {
	if !classify.Has(words, "session") && !classify.Has(words, "run") {
		return false, false
	}
	for _, w := range []string{"session", "run"} {
		switch {
		case classify.Has(words, "last", w), classify.Has(words, "previous", w), classify.Has(words, "prior", w), classify.Has(words, "earlier", w):
			return true, true
		case classify.Has(words, "this", w), classify.Has(words, "current", w), classify.Has(words, "present", w):
			return false, true
		}
	}
	return false, false
}

// session lists the latest session or the one before it. The latest that was
// recorded is the last one, unless it still goes on and there is one before it.
func (s episodeSource) session(ctx context.Context, filter episode.Filter, before bool, now time.Time) (found, error) {
	filter.Since, filter.Until = time.Time{}, time.Time{}
	limit := filter.Limit
	filter.Limit = learning.MaxLimit
	episodes, err := s.episodes.Recent(ctx, filter)
	if err != nil || len(episodes) == 0 {
		return found{}, err
	}
	chosen := episodes[0].SessionID
	if before && now.Sub(episodes[0].CreatedAt) < warm {
		for _, e := range episodes {
			if e.SessionID != chosen {
				chosen = e.SessionID
				break
			}
		}
	}
	filter.SessionID, filter.Limit = chosen, limit
	items, err := s.recent(ctx, filter)
	if err != nil || len(items) == 0 {
		return found{}, err
	}
	return found{
		items: items, note: "looked for the episodes of session " + chosen,
		summary: fmt.Sprintf("%s of session %s, the latest first.", Amount(len(items), "episode", "episodes"), chosen),
	}, nil
}

func episodeSummary(items []Item, span timespan, agent string) string {
	if len(items) == 0 {
		return ""
	}
	s := Amount(len(items), "episode", "episodes")
	if agent != "" {
		s += " by " + agent
	}
	if span.Phrase != "" {
		s += " (" + span.Phrase + ")"
	}
	return s + ", the latest first."
}

func episodeItem(e episode.Episode, score float64) Item {
	return Item{
		Kind: "episode", ID: e.ID, Title: e.Title, Content: e.Content, Score: score, Project: e.Project, AgentID: e.AgentID, At: e.CreatedAt,
		Fields: map[string]any{"event_type": e.EventType, "session_id": e.SessionID, "importance": e.Importance, "number": e.Number},
	}
}

// Amount says "no task", "1 task" and "3 tasks".
func Amount(n int, one, many string) string {
	if n == 0 {
		return "no " + one
	}
	return skillrouter.Counted(n, one, many)
}
