package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	shellwords "mvdan.cc/sh/v3/shell"

	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/feed"
)

// watchedBefore is how many things are shown that happened before.
const watchedBefore = 20

func (s *shell) watchCommand() *cobra.Command {
	var project string
	return s.calls(command{
		use: "watch [--project NAME]", short: "Watch the team: its agents, what happens, and what waits for your word",
		long: `Shows on the terminal which agents there are, what happened lately, and then each thing
as it happens. What the guard blocked and waits for a person is shown whole.

A line that you type is a command without the word skillrouter: "check approve ID",
"agents", "search backups", "knowledge edit ID --content TEXT". The passphrase is asked
for once, at the start. q ends it, as Ctrl-C does.

It goes on across restarts of the router. Where the output is no terminal, and
with --json, it prints each event on a line of its own from now on.`,
		flags: options{option("project", &project, "only this project's agents, events and approvals")},
	}, func(ctx context.Context, c *client.Client) error {
		query := feed.Query{After: feed.Now, Project: project}
		if s.json || !isTerminal(s.in) || !isTerminal(s.out) || s.env("TERM") == "" || s.env("TERM") == "dumb" {
			return s.followEvents(ctx, c, query, printMoment)
		}
		if state, err := c.Persons.State(ctx); err == nil && state.Set {
			s.asked = "Passphrase, to allow and deny what waits (empty: only watch): "
			if err := c.SignIn(ctx); err != nil && !errors.Is(err, errNothingTyped) {
				return err
			}
		}
		return s.watch(ctx, c, query)
	})
}

// watch shows what happens, and does the commands that are typed meanwhile.
func (s *shell) watch(ctx context.Context, c *client.Client, query feed.Query) error {
	fd := int(s.in.(*os.File).Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return err
	}
	defer func() { _ = term.Restore(fd, before) }()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	screen := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{s.in, s.out}, "> ")
	if width, height, err := term.GetSize(fd); err == nil && width > 0 {
		_ = screen.SetSize(width, height) // else lines are wrapped as for 80 columns
	}
	s.out, s.err, s.in, s.screen, s.dialled = screen, screen, strings.NewReader(""), true, c
	s.typedCommand(ctx, "agents --project "+shellQuoted(query.Project))
	s.showBefore(ctx, c, query.Project)
	ended := make(chan error, 2)
	go func() {
		shown := map[string]bool{}
		s.showWaiting(ctx, c, query.Project, shown)
		ended <- s.followEvents(ctx, c, query, func(w io.Writer, event feed.Event) {
			printMoment(w, event)
			if strings.HasPrefix(event.Type, "guard.") {
				s.showWaiting(ctx, c, query.Project, shown)
			}
		})
	}()
	go func() { // it ends with the program: a terminal's line cannot be given up
		for {
			line, err := screen.ReadLine()
			if err != nil || strings.TrimSpace(line) == "q" {
				ended <- nil
				return
			}
			s.typedCommand(ctx, line)
		}
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return nil
	}
}

// typedCommand does a command as it would be done in a shell.
func (s *shell) typedCommand(ctx context.Context, line string) {
	words, err := shellwords.Fields(line, func(string) string { return "" })
	switch {
	case err != nil:
		fmt.Fprintf(s.err, "skillrouter: %s\n", harmless(err.Error()))
	case len(words) == 0:
	case slices.Contains([]string{"watch", "serve", "run", "mcp", "hook"}, words[0]), slices.Contains(words, "--follow"), slices.Contains(words, "-f"): // no line is read until it ends
		fmt.Fprintf(s.err, "skillrouter: %s is not done here: give it in another terminal\n", words[0])
	default:
		one := *s
		one.began, one.json = false, false
		one.run(ctx, words)
	}
}

// showBefore prints what happened lately. Somebody who may not read the timeline sees what happens from now on.
func (s *shell) showBefore(ctx context.Context, c *client.Client, project string) {
	page, err := client.Send(ctx, c, feed.TimelineService.Timeline, feed.TimelineQuery{Project: project, Limit: watchedBefore})
	if err != nil {
		fmt.Fprintf(s.err, "skillrouter: %s\n", harmless(explain(err)))
	}
	_ = s.print(nil, func(w io.Writer) {
		for _, m := range slices.Backward(page.Moments) {
			printMomentOf(w, m)
		}
	})
}

// showWaiting prints the approvals that wait, each once.
func (s *shell) showWaiting(ctx context.Context, c *client.Client, project string, shown map[string]bool) {
	page, err := client.Send(ctx, c, guard.Service.Approvals, guard.ApprovalFilter{State: lesson.ApprovalPending})
	if err != nil {
		return // the next event looks again
	}
	for _, a := range page.Approvals {
		if shown[a.ID] || project != "" && a.Project != project {
			continue
		}
		shown[a.ID] = true
		_ = s.print(nil, func(w io.Writer) {
			render(w, approvalPage, a)
			fmt.Fprintf(w, "    check approve %[1]s allows it once, check deny %[1]s refuses it\n", shortID(a.ID))
		})
	}
}

// printMoment says an event on a line.
func printMoment(w io.Writer, event feed.Event) { printMomentOf(w, feed.Told(event)) }

func printMomentOf(w io.Writer, m feed.Moment) {
	where := ""
	if m.Project != "" {
		where = " in " + clean(m.Project)
	}
	fmt.Fprintf(w, "%s  %s%s  %s\n", m.At.Local().Format(time.TimeOnly), cmp.Or(clean(m.Agent), "-"), where, momentLine(m))
}

// momentLine says in a line what happened.
func momentLine(m feed.Moment) string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	if m.Kind == feed.KindBlock {
		add("BLOCKED")
	}
	add(m.Verb)
	switch {
	case m.Withheld:
		add("(another agent's)")
	case m.Kind == feed.KindMessage:
		add("to " + cmp.Or(m.To, "everybody") + ": " + m.Title)
	default:
		add(m.Title)
	}
	if m.Type == operational.EventTaskProgress || !slices.Contains([]string{feed.KindBlock, feed.KindCheck, feed.KindTask}, m.Kind) { // else the verb says it
		add(strings.ReplaceAll(m.State, "_", " "))
	}
	if len(m.Items) > 0 && m.Items[0].Title != "" { // what was told, or the rule that stopped it: the first says what it is about
		add("(" + m.Items[0].Title + ")")
	}
	text := strings.Join(parts, " ")
	if m.Detail != "" {
		text += ": " + m.Detail
	}
	const most = 1024 // characters: more than the widest terminal has columns
	if characters := []rune(text); len(characters) > most {
		text = string(characters[:most-1]) + "…"
	}
	return clean(text)
}
