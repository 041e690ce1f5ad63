package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/internal/errs"
	"skillrouter/learning/episode"
	"skillrouter/learning/fact"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/lesson"
	"skillrouter/learning/procedure"
	"skillrouter/operational"
	"skillrouter/router"
	"skillrouter/router/client"
)

// Every kind of memory has the same verbs: add, list, show, edit and delete. What is
// added, listed and edited differs from kind to kind, and is made where the kind's other
// commands are; verbs puts them together and makes the rest.

// verbs are the commands of one kind of memory.
type verbs struct {
	name, short, long string
	of                string // what one is called in a line of use, such as LESSON
	persona           bool   // one belongs to a persona
	add, list, edit   *cobra.Command
	show              *cobra.Command
	more              []*cobra.Command // what only this kind has
	former            []*cobra.Command // commands under names of before: they go on working, and are shown nowhere
	// remove takes one out of use and says in a word what became of it.
	remove func(ctx context.Context, c *client.Client, one removal) (became string, err error)
	gone   string // what delete does, for its help
}

// removal is what is to be taken out of use, and why.
type removal struct{ ref, persona, reason, by string }

// removed is what became of something that was to be deleted.
type removed struct {
	ID     string `json:"deleted"`
	Became string `json:"became"` // deleted, or retired, deprecated or cancelled where its history stays
}

// group makes the commands of a kind.
func (s *shell) verbs(v verbs) *cobra.Command {
	below := []*cobra.Command{v.add, v.list, v.show, v.edit, s.deleteVerb(v)}
	below = slices.DeleteFunc(append(below, v.more...), func(cmd *cobra.Command) bool { return cmd == nil })
	for _, cmd := range v.former {
		cmd.Hidden = true
		below = append(below, cmd)
	}
	return s.group(&cobra.Command{Use: v.name, Short: v.short, Long: v.long}, below...)
}

// named gives a command a name, and that of before as one that still works.
func named(cmd *cobra.Command, name string) *cobra.Command {
	former, rest, _ := strings.Cut(cmd.Use, " ")
	cmd.Use = strings.TrimSpace(name + " " + rest)
	cmd.Aliases = append(cmd.Aliases, former)
	return cmd
}

func (s *shell) deleteVerb(v verbs) *cobra.Command {
	var one removal
	flags := options{
		option("reason", &one.reason, "why, for what keeps a history"),
		who("agent", &one.by, s.person, "who deletes it (SKILLROUTER_AGENT, else you)"),
	}
	if v.persona {
		flags = append(flags, persona(&one.persona))
	}
	return asks(s, command{use: "delete " + v.of, short: v.gone, args: exactly(&one.ref), flags: flags},
		func(ctx context.Context, c *client.Client) (out removed, err error) {
			if one.ref, err = fullID(ctx, c, v.name, one.ref); err != nil {
				return out, err
			}
			out.ID = one.ref
			out.Became, err = v.remove(ctx, c, one)
			return out, err
		}, func(w io.Writer, r removed) { fmt.Fprintf(w, "%s %s\n", clean(r.ID), r.Became) })
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

// withIDs are the kinds of things whose ids can be said in part, and withNumbers reads those
// that have a number too by it.
var (
	withIDs = []string{
		"knowledge", "lessons", "patterns", "episodes", "proposals", "gaps", "incidents", "escalations", "runs", "checks", "approvals", "permissions", "imports", "sessions",
	}
	withNumbers = map[string]func(ctx context.Context, c *client.Client, number string) error{
		"lessons": func(ctx context.Context, c *client.Client, number string) error {
			_, err := client.Send(ctx, c, lesson.Service.Lesson, number)
			return err
		},
		"patterns": func(ctx context.Context, c *client.Client, number string) error {
			_, err := client.Send(ctx, c, lesson.PatternService.Pattern, number)
			return err
		},
		"episodes": func(ctx context.Context, c *client.Client, number string) error {
			_, err := client.Send(ctx, c, episode.Service.Episode, number)
			return err
		},
	}
)

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
	if read := withNumbers[memory]; read != nil && strings.Trim(text, "0123456789") == "" && read(ctx, c, text) == nil {
		return text, nil // its number
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

// full is a request before which an id, which may be named by its beginning or end, is made whole.
func full[A any](memory string, id *string, ask request[A]) request[A] {
	return func(ctx context.Context, c *client.Client) (answer A, err error) {
		if *id, err = fullID(ctx, c, memory, *id); err != nil {
			return answer, err
		}
		return ask(ctx, c)
	}
}

// withID is a request of a method that takes an id.
func withID[S, A any](memory string, method func(service S, ctx context.Context, id string) (A, error), id *string) request[A] {
	return full(memory, id, sends(method, id))
}

// withIDTo is withID for a method that takes what becomes of it too.
func withIDTo[S, In, A any](memory string, method func(service S, ctx context.Context, id string, in In) (A, error), id *string, in *In) request[A] {
	return full(memory, id, sendsTo(method, id, in))
}

// What delete does with one of each kind.
const (
	becameDeleted    = "deleted"
	becameRetired    = "retired"
	becameDeprecated = "deprecated"
	becameCancelled  = "cancelled"
)

// ruleBuiltIn begins the ids of the rules that come with the program.
const ruleBuiltIn = "builtin:"

// byHand is why somebody at a terminal retires a lesson, where nothing else is said.
const byHand = "deleted on the command line"

func removeKnowledge(ctx context.Context, c *client.Client, one removal) (string, error) {
	return becameDeleted, client.Have(ctx, c, knowledge.Service.Delete, one.ref)
}

func removeEpisode(ctx context.Context, c *client.Client, one removal) (string, error) {
	return becameDeleted, client.Have(ctx, c, episode.Service.Delete, one.ref)
}

func removeFact(ctx context.Context, c *client.Client, one removal) (string, error) {
	return becameDeleted, client.Have(ctx, c, fact.Service.Forget, fact.Ref{Persona: one.persona, Key: one.ref})
}

func removeProcedure(ctx context.Context, c *client.Client, one removal) (string, error) {
	return becameDeleted, client.Have(ctx, c, procedure.Service.Delete, procedure.Ref{Persona: one.persona, Name: one.ref})
}

func removeLesson(ctx context.Context, c *client.Client, one removal) (string, error) {
	if strings.HasPrefix(one.ref, ruleBuiltIn) {
		return "", errs.Errorf(errs.Invalid, "this rule comes with the program and is not deleted: only rules of lessons are")
	}
	_, err := client.SendTo(ctx, c, lesson.Service.Retire, one.ref, lesson.RetirementDraft{Reason: first(one.reason, byHand), By: one.by})
	return becameRetired, err
}

func removePattern(ctx context.Context, c *client.Client, one removal) (string, error) {
	_, err := client.SendTo(ctx, c, lesson.PatternService.Deprecate, one.ref, lesson.ConfirmationDraft{Notes: one.reason, By: one.by})
	return becameDeprecated, err
}

func (s *shell) removeReminder(ctx context.Context, c *client.Client, one removal) (string, error) {
	number := reminderNumber{text: one.ref}
	if err := number.read(); err != nil {
		return "", err
	}
	_, err := client.SendTo(ctx, c, operational.ReminderService.Cancel, number.of, operational.ReminderNote{Note: one.reason, AgentID: s.agent("")})
	return becameCancelled, err
}
