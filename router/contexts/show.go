package contexts

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/kind"
)

// Showing asks for the whole texts of entries.
type Showing struct {
	Handles []string `json:"handles" doc:"Handles from an index, such as k7f3, or ids"`
	AgentID string   `json:"agent_id,omitempty" actor:"true"`
}

// Bounds of what is shown at once.
const (
	mostShown   = 50
	showBudget  = 20_000 // tokens
	leastPrefix = 6      // of an id's beginning, in bytes
)

// Show implements Service. What a caller may not know of is not found.
func (b *Builder) Show(ctx context.Context, showing Showing) (Context, error) {
	caller := principal.Of(ctx).Keeping()
	if err := caller.Need(principal.ScopeRead); err != nil {
		return Context{}, err
	}
	if n := len(showing.Handles); n == 0 || n > mostShown {
		return Context{}, errs.InvalidField("handles", "must be 1 to %d", mostShown)
	}
	var candidates []candidate
	var missing []string
	for _, handle := range showing.Handles {
		if err := check.Required("handles", handle, maxFolder); err != nil {
			return Context{}, err
		}
		found, err := b.named(ctx, handle)
		if err != nil {
			return Context{}, err
		}
		if len(found) == 1 {
			candidates = append(candidates, found[0])
		} else {
			missing = append(missing, safe(shortened(handle, firstWords)))
		}
	}
	if len(candidates) == 0 {
		return Context{}, errs.Errorf(errs.NotFound, "nothing has the handle or id %s: search for the words of its title", strings.Join(missing, ", "))
	}
	unnumbered(ctx, candidates)
	c := choice{budget: showBudget, untrusted: true, fencer: b.fencer, at: b.now().UTC().Truncate(time.Hour), share: 1, order: kindOrder}
	c.begin(candidates)
	for _, r := range once(candidates) {
		r.score = 1
		c.place(r)
	}
	answer := c.write()
	b.note(ctx, &Request{AgentID: showing.AgentID}, &answer, c.chosen)
	b.used("", answer.Items)
	if len(missing) > 0 {
		none := "Not found: " + strings.Join(missing, ", ") + ". Search for words of its title, or give more of an id.\n"
		answer.Text, answer.Tokens = answer.Text+none, answer.Tokens+CountTokens(none)
	}
	return answer, nil
}

// named are the entries that a handle, an id or its beginning names, of those that the caller may know of.
func (b *Builder) named(ctx context.Context, text string) (found []candidate, err error) {
	var names []learning.Named
	if name, number, ok := router.ParseHandle(text); ok && b.sources.Index != nil {
		names, err = b.sources.Index.Numbered(ctx, name, number)
	}
	if text = strings.TrimSpace(text); err == nil && len(names) == 0 && len(text) >= leastPrefix && b.sources.Index != nil {
		names, err = b.sources.Index.Beginning(ctx, text)
	}
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		for _, memory := range b.sources.Kinds {
			if memory.Name != name.Kind || memory.Undo.Read == nil || principal.Of(ctx).Walled() && !memory.Walled {
				continue
			}
			row, err := memory.Undo.Read(ctx, name.ID)
			if errs.CodeOf(err) == errs.NotFound {
				continue
			} else if err != nil {
				return nil, err
			}
			found = append(found, shown(memory, name.ID, row))
		}
	}
	return found, nil
}

// shown is a row as it is shown whole.
func shown(memory kind.Memory, id string, row any) (c candidate) {
	about := ""
	switch e := row.(type) {
	case knowledge.Knowledge:
		c, about = knowledgeCandidate(&e), e.Category
	case episode.Episode:
		c, about = episodeCandidate(&e), e.EventType
	case lesson.Lesson:
		c, about = lessonCandidate(&e), e.Domain
	case fact.Fact:
		c, about = factCandidate(&e), e.Category
	default:
		text, _ := json.MarshalIndent(row, "", " ")
		c = candidate{title: id, body: string(text), trust: router.TrustAgent}
	}
	if c.kind == "" {
		c.kind, c.id = memory.Name, id
	}
	c.confidence = 1
	c.body = lines("By ", c.author, "About ", about, "Project ", c.project, "In ", c.place.Folder, "On branch ", c.place.Branch, "", c.body)
	return c
}
