package episode

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
)

// resolve checks a filter and replaces what stands for something else: the
// time range, the persona for all, and the current session, which stays
// CurrentSession if the agent is in none. It sets the limit.
func (l *Episodes) resolve(ctx context.Context, filter *Filter) error {
	if err := cmp.Or(checkFilter(*filter), check.SetLimit(&filter.Limit, learning.DefaultEpisodeLimit, learning.MaxLimit)); err != nil {
		return err
	}
	if filter.Persona == EveryPersona {
		filter.Persona = ""
	} else if filter.Persona != "" {
		if _, err := check.Persona(filter.Persona); err != nil {
			return err
		}
	}
	span, err := learning.ParseTimeRange("time_range", filter.TimeRange, l.now())
	if err != nil {
		return err
	}
	span = span.Meet(learning.TimeRange{From: filter.Since, To: filter.Until})
	filter.Since, filter.Until, filter.TimeRange = span.From, span.To, ""
	if filter.SessionID != CurrentSession {
		return nil
	}
	agent := filter.AgentID
	if agent == "" {
		agent = principal.Of(ctx).AgentID
	}
	current, err := l.Sessions.now(ctx, agent, l.now())
	if current != "" {
		filter.SessionID = current
	}
	return err
}

// List is Recent page by page; next is the cursor of the page after, empty if there is none.
func (l *Episodes) List(ctx context.Context, filter Filter, cursor string) (found []Episode, next string, err error) {
	limit, err := check.Limit(filter.Limit, learning.DefaultListing, learning.MaxLimit-1)
	if err != nil {
		return nil, "", err
	}
	if filter.Before, err = learning.ReadCursor(cursor); err != nil {
		return nil, "", err
	}
	filter.Limit = limit + 1 // one more tells whether there is a next page
	if found, err = l.Recent(ctx, filter); err != nil {
		return nil, "", err
	}
	size := 0
	for i := range found {
		size += len(found[i].Content) + len(found[i].Context) + len(found[i].Learned)
	}
	if len(found) > limit || size >= learning.MaxAnswer {
		found = found[:min(len(found), limit)]
		next = strconv.FormatInt(found[len(found)-1].Number, 10)
	}
	return found, next, nil
}

// tags are the tags of what is given, each told apart by its first letters.
func tags(agent, persona, session, event string) []string {
	var tags []string
	for _, tag := range [][2]string{{"agent:", agent}, {"persona:", persona}, {"session:", session}, {"event:", event}} {
		if tag[1] != "" {
			tags = append(tags, tag[0]+tag[1])
		}
	}
	return tags
}

func checkDraft(draft Draft) error {
	if draft.EventType == "" {
		return errs.InvalidField("event_type", "is required: one of %s", strings.Join(EventTypes(), ", "))
	}
	if err := cmp.Or(
		checkEventType(draft.EventType),
		learning.CheckTitle(draft.Title),
		learning.CheckContent(draft.Content),
		check.Name("project", draft.Project),
	); err != nil {
		return err
	}
	return check.OptionalRange("importance", draft.Importance, 0, 1)
}

func checkFilter(filter Filter) error {
	if err := cmp.Or(CheckSession(filter.SessionID), check.OptionalAgent("agent_id", filter.AgentID), check.Name("project", filter.Project)); err != nil {
		return err
	}
	if filter.EventType != "" {
		if err := checkEventType(filter.EventType); err != nil {
			return err
		}
	}
	return cmp.Or(check.Name("event", filter.Event), learning.CheckSpan(filter.Since, filter.Until))
}
