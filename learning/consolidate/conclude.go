package consolidate

import (
	"context"
	"slices"
	"strings"

	"skillrouter/internal/check"
	"skillrouter/internal/principal"
	"skillrouter/learning/episode"
)

// Bounds of what a Summarizer says.
const (
	maxDone = 600 // bytes: a paragraph
	// maxConcluding bounds the sessions that wait to be summed up by a model: each holds its
	// transcript. Those beyond it keep the summary that the rules made.
	maxConcluding = 4
)

// Summarizer says how a session went. router/llm has one, which asks a model.
type Summarizer interface {
	// Name is the model's.
	Name() string
	// Summarize may take as long as a model takes; ctx bounds it.
	Summarize(ctx context.Context, transcript Transcript) (Summary, error)
}

// Summary is what a Summarizer says of a session.
type Summary struct {
	Done    string   // what was done, in a sentence or two
	Decided []Saying // what was decided
	Bound   []Saying // what the person said that must be kept to
	Open    []Saying // what is left open
}

// Saying is a sentence about a session with the words in the transcript that show it. One
// whose words nobody there said is dropped.
type Saying struct{ Text, Quote string }

// concluding is a session that waits to be summed up by a model.
type concluding struct {
	caller     principal.Principal
	made       episode.Episode // as the rules summed it up
	digest     digest
	transcript Transcript
}

// conclude keeps how a session went: once, however often its transcript comes. What the
// rules say is stored at once, because the next session may begin at once; a Summarizer is
// asked later.
func (c *Consolidation) conclude(ctx context.Context, id string, t Transcript, ended bool) error {
	d, ok := summarize(ctx, t)
	if !ok || c.ports.Episodes == nil {
		return nil
	}
	at := c.now.Stamp()
	made, err := c.ports.Episodes.RecordOnce(ctx, SummaryEvent+"/"+id, at, d.draft(t))
	if err != nil || c.Summarizer == nil || !ended || !made.CreatedAt.Equal(at) {
		return err
	}
	select {
	case c.concluding <- concluding{principal.Of(ctx), made, d, t}:
	default:
		c.log.InfoContext(ctx, "a session is summed up by rules alone: the model has others to read", "session_id", t.SessionID)
	}
	return nil
}

// retell has a session summed up by the model, and keeps that in the place of what the rules
// said, unless somebody changed it meanwhile.
func (c *Consolidation) retell(ctx context.Context, one concluding) error {
	ctx, cancel := context.WithTimeout(principal.With(ctx, one.caller), c.ExtractTimeout)
	defer cancel()
	said, err := c.Summarizer.Summarize(ctx, one.transcript)
	if err != nil {
		return err
	}
	d := one.digest
	d.by, d.done = c.Summarizer.Name(), check.Head(oneLine(said.Done), maxDone)
	if d.done != "" {
		d.closing = ""
	}
	people, agents := newQuotations(one.transcript.by(roleUser)), newQuotations(one.transcript.by(roleUser, roleAssistant))
	d.decided = agents.shown(said.Decided, d.decided)
	d.bound = people.shown(said.Bound, d.bound)
	d.open = agents.shown(said.Open, d.open)
	now, err := c.ports.Episodes.Episode(ctx, one.made.ID)
	if err != nil || now.Content != one.made.Content {
		return err
	}
	content := d.draft(one.transcript).Content
	_, err = c.ports.Episodes.Edit(ctx, one.made.ID, episode.Patch{Content: &content})
	return err
}

// by is a transcript of which only these roles spoke.
func (t Transcript) by(roles ...string) Transcript {
	t.Turns = slices.DeleteFunc(slices.Clone(t.Turns), func(turn Turn) bool { return !slices.Contains(roles, turn.Role) })
	return t
}

// shown are the sayings whose words stand in the transcript, shortened, the last few; if
// there are none, what the rules found.
func (q quotations) shown(sayings []Saying, rules []string) (list []string) {
	for _, s := range sayings {
		text := check.Head(oneLine(s.Text), maxSaying)
		if found, _ := q.found([]string{s.Quote}, nil); len(found) > 0 && strings.TrimSpace(text) != "" && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	if len(list) == 0 {
		return rules
	}
	return list[max(0, len(list)-maxSayings):]
}
