package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/search"
)

// Every kind of memory has the same verbs: add, list, show, edit and delete. What is
// added, listed and edited differs from kind to kind, and is made where the kind's other
// commands are; verbs puts them together and makes the rest.

// verbs are the commands of one kind of memory.
type verbs struct {
	name, short, long string
	of                string           // what one is called in a line of use, such as LESSON
	rows              string           // how its things are shown in a table, see answer.go
	plain             []command        // the commands that are one operation each
	more              []*cobra.Command // the others
	names             string           // the members that name one and say what it is, where these are not the first columns of rows
	remove            command          // what takes one out of use; without an operation there is nothing that does
}

// removed is what became of something that was to be deleted.
type removed struct {
	ID     string `json:"deleted"`
	Became string `json:"became"` // deleted, or retired, deprecated or cancelled where its history stays
}

// verbs makes the commands of a kind.
func (s *shell) verbs(v verbs) *cobra.Command {
	if v.remove.do != nil {
		v.remove.use, v.remove.became, v.remove.says = "delete "+v.of, first(v.remove.became, "deleted"), "{{.ID}} {{.Became}}"
		v.plain = append(v.plain, v.remove)
	}
	kind := strings.TrimSuffix(v.name, "s")
	if searched := func(of command) bool { return strings.HasPrefix(of.use, "search ") }; slices.Contains(search.Kinds(), kind) && !slices.ContainsFunc(v.plain, searched) {
		v.plain = append(v.plain, s.searching(&search.Query{Kinds: []string{kind}, Shown: true}))
	}
	var things *thing
	for _, of := range v.plain {
		if strings.HasPrefix(of.use, "list") || slices.Contains(of.aliases, "list") {
			things = &thing{of.do, first(v.names, firstColumns(first(of.rows, v.rows)))}
		}
	}
	for _, cmd := range v.more {
		if words := wordsOf(cmd.Use); things != nil && len(words) > 0 && words[0].name == v.of {
			cmd.ValidArgsFunction = s.suggest(*things, nil)
		}
	}
	for _, of := range v.plain {
		of.things = things
		of.kind, of.rows = first(of.kind, v.name), first(of.rows, v.rows)
		v.more = append(v.more, s.does(of))
	}
	if list := slices.IndexFunc(v.more, func(cmd *cobra.Command) bool { return cmd.Name() == "list" }); deletable[v.name] != "" {
		v.more = append(v.more, s.trashed(v, v.more[list])...)
	}
	return s.group(&cobra.Command{Use: v.name, Short: v.short, Long: v.long}, v.more...)
}

// idLetters is how many letters of an id are shown where there is little room: its end,
// since ids of one time begin alike.
const idLetters = 8

// shortID is the end of an id, by which commands find it.
func shortID(id string) string {
	if !isID(id) {
		return id
	}
	return id[len(id)-idLetters:]
}

// isID tells whether an id is one that the router made: a UUID, or the 16 or 32 digits of a hash.
func isID(id string) bool {
	if strings.Trim(id, "0123456789abcdef-") != "" {
		return false
	}
	switch strings.Count(id, "-") {
	case 0:
		return len(id) == 16 || len(id) == 32
	case 4:
		return len(id) == 36
	}
	return false
}

// withIDs are the kinds of things whose ids can be said in part. Where they have a number too, a short row of digits is that.
var withIDs = []string{
	"knowledge", "lessons", "patterns", "episodes", "proposals", "gaps", "incidents", "escalations", "runs", "checks", "approvals", "permissions", "imports", "sessions",
}

// fullID is the id that begins or ends as a text does. A text that nothing fits is left as
// it is, for the router to say so; one that several fit is refused.
func fullID(ctx context.Context, c *client.Client, memory, text string) (string, error) {
	if memory == "rules" {
		memory = "lessons"
	}
	const fewest = 4 // of what the router looks for
	if len(text) < fewest || isID(text) || strings.Trim(text, "0123456789abcdef-") != "" || !slices.Contains(withIDs, memory) {
		return text, nil
	}
	if numbered := slices.Contains([]string{"lessons", "patterns", "episodes"}, memory); numbered && len(text) < idLetters && strings.Trim(text, "0123456789") == "" {
		return text, nil
	}
	found, err := client.Send(ctx, c, router.IntrospectionService.IDs, router.IDQuery{Type: memory, Part: text})
	switch {
	case err != nil:
		return "", err
	case len(found.IDs) == 1:
		return found.IDs[0], nil
	case len(found.IDs) > 1 && !slices.Contains(found.IDs, text):
		return "", errs.Errorf(errs.Conflict, "%q fits several: %s", text, strings.Join(found.IDs, ", "))
	}
	return text, nil
}

// fullIDs makes each of a list whole, in its place.
func fullIDs(ctx context.Context, c *client.Client, memory string, ids []string) (err error) {
	for i, id := range ids {
		if ids[i], err = fullID(ctx, c, memory, id); err != nil {
			return err
		}
	}
	return nil
}
