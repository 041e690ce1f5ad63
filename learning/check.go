package learning

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/cases"

	"skillrouter"
)

// checkID holds a client's own id to what can be put into a path and a log line.
func checkID(field, id string) error {
	switch {
	case len(id) > MaxID:
		return skillrouter.InvalidField(field, "is longer than %d bytes", MaxID)
	case id == "":
		return skillrouter.InvalidField(field, "is required")
	case id == "." || id == "..":
		return skillrouter.InvalidField(field, "may not be . or .., which no path can hold")
	case !utf8.ValidString(id):
		return skillrouter.InvalidField(field, "is not valid UTF-8")
	case strings.TrimSpace(id) != id:
		return skillrouter.InvalidField(field, "may not begin or end with white space")
	case strings.ContainsFunc(id, skillrouter.BreaksLine):
		return skillrouter.InvalidField(field, "may not hold control characters or line breaks")
	}
	if err := skillrouter.HoldsSecret(field, id); err != nil {
		return err
	}
	return nil
}

func checkCategory(category string) error {
	if strings.TrimSpace(category) == "" {
		return skillrouter.InvalidField("category", "is required")
	}
	return skillrouter.CheckName("category", category)
}

func checkTitle(title string) error {
	return skillrouter.CheckRequired("title", title, MaxTitle)
}

func checkContent(content string) error {
	return skillrouter.CheckRequired("content", content, MaxContent)
}

// cleanTags trims tags, drops repeats and keeps their order. It never returns nil.
func cleanTags(tags []string) ([]string, error) {
	clean := make([]string, 0, len(tags))
	for _, tag := range tags {
		if err := skillrouter.CheckName("tags", tag); err != nil {
			return nil, err
		}
		tag = strings.TrimSpace(tag)
		if tag == "" {
			return nil, skillrouter.InvalidField("tags", "may not hold an empty tag")
		}
		if !slices.Contains(clean, tag) {
			clean = append(clean, tag)
		}
		if len(clean) > MaxTags {
			return nil, skillrouter.InvalidField("tags", "may hold at most %d tags", MaxTags)
		}
	}
	return clean, nil
}

// foldTags returns the tags as filters compare them: without case.
func foldTags(tags []string) []string {
	if len(tags) == 0 {
		return nil
	}
	folded := make([]string, len(tags))
	for i, tag := range tags {
		folded[i] = fold(tag)
	}
	return folded
}

func fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return cases.Fold().String(s)
		}
	}
	return strings.ToLower(s)
}

// checkDraft checks what a client says of an entry, its author apart, and
// cleans it. An imported entry may have no title: many collections have none.
func checkDraft(draft *KnowledgeDraft, trust Trust) error {
	if draft.ID != "" {
		if err := checkID("id", draft.ID); err != nil {
			return err
		}
	}
	if err := checkCategory(draft.Category); err != nil {
		return err
	}
	if trust != TrustImported || draft.Title != "" {
		if err := checkTitle(draft.Title); err != nil {
			return err
		}
	}
	if err := cmp.Or(
		checkContent(draft.Content),
		skillrouter.CheckText("source", draft.Source, MaxSource),
		skillrouter.CheckName("project", draft.Project),
	); err != nil {
		return err
	}
	draft.Title, draft.Source = skillrouter.OneLine(draft.Title), skillrouter.OneLine(draft.Source)
	tags, err := cleanTags(draft.Tags)
	draft.Tags = tags
	return err
}

// checkPatch checks what a client changes of an entry, and cleans it.
func checkPatch(patch *KnowledgePatch) error {
	for _, part := range []struct {
		value *string
		check func(string) error
	}{
		{patch.Category, checkCategory},
		{patch.Title, checkTitle},
		{patch.Content, checkContent},
		{patch.Source, func(s string) error { return skillrouter.CheckText("source", s, MaxSource) }},
		{patch.Project, func(s string) error { return skillrouter.CheckName("project", s) }},
	} {
		if part.value == nil {
			continue
		}
		if err := part.check(*part.value); err != nil {
			return err
		}
	}
	for _, line := range []**string{&patch.Title, &patch.Source} {
		if *line != nil {
			clean := skillrouter.OneLine(**line)
			*line = &clean
		}
	}
	if patch.Tags == nil {
		return nil
	}
	tags, err := cleanTags(*patch.Tags)
	patch.Tags = &tags
	return err
}

func checkQuery(query string) error {
	return skillrouter.CheckRequired("query", query, MaxQuery)
}

// eventTypes lists the event types of episodes.
func eventTypes() []string {
	return []string{EventAction, EventError, EventDecision, EventOutcome}
}

func checkEventType(eventType string) error {
	if !slices.Contains(eventTypes(), eventType) {
		return skillrouter.InvalidField("event_type", "must be one of %s", strings.Join(eventTypes(), ", "))
	}
	return nil
}

func checkSession(id string) error {
	if strings.TrimSpace(id) != id {
		return skillrouter.InvalidField("session_id", "may not begin or end with white space")
	}
	return skillrouter.CheckName("session_id", id)
}

// checkSpan refuses a span of time that ends before it begins.
func checkSpan(since, until time.Time) error {
	if !since.IsZero() && !until.IsZero() && until.Before(since) {
		return skillrouter.InvalidField("until", "lies before since")
	}
	return nil
}
