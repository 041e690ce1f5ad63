// Package watch shows a team of agents in a terminal: who works on what, what happened, and what waits for a person's
// word. It owns the screen and its keys, and what is printed where there is no terminal. It must hold no rule: what may
// be decided, and by whom, is the router's to say.
package watch

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"skillrouter/comms"
	"skillrouter/internal/committer"
	"skillrouter/internal/errs"
	"skillrouter/learning/guard"
	"skillrouter/learning/lesson"
	"skillrouter/operational"
	"skillrouter/router/client"
	"skillrouter/router/feed"
)

// Times and bounds of a watcher.
const (
	// framesPerSecond bounds how often the screen is drawn: a line of ssh bears it, and nobody reads faster.
	framesPerSecond = 20
	// retry is how long to wait for a router that does not answer at the start.
	retry = 2 * time.Second
)

// Options say how the team is watched.
type Options struct {
	Project string // only this project's agents, events and approvals; empty: all
	In      io.Reader
	Out     io.Writer
	Env     []string // of the terminal: TERM, NO_COLOR
	Colours bool
}

// Screen shows the team on a terminal until its reader quits, ctx ends, or the router refuses for good.
func Screen(ctx context.Context, c *client.Client, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	model := NewModel(ctx, team(c, o), c.BaseURL(), time.Now, o.Colours)
	program := tea.NewProgram(model, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithEnvironment(o.Env),
		tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond))
	ended := make(chan error, 1)
	go func() {
		err := follow(ctx, c, o.Project, program.Send)
		if err != nil {
			program.Quit()
		}
		ended <- err
	}()
	_, err := program.Run()
	stopped := ctx.Err() != nil
	cancel()
	if refused := <-ended; refused != nil {
		return refused
	}
	if stopped && errors.Is(err, tea.ErrProgramKilled) {
		return nil
	}
	return err
}

// team is what the screen asks of a router.
func team(c *client.Client, o Options) Team {
	return Team{
		Agents: func(ctx context.Context) ([]operational.Agent, error) {
			return client.Send(ctx, c, comms.PresenceService.Agents, operational.AgentFilter{Project: o.Project, Limit: maxAgents})
		},
		Approvals: func(ctx context.Context) ([]lesson.Approval, error) {
			page, err := client.Send(ctx, c, guard.Service.Approvals, guard.ApprovalFilter{State: lesson.ApprovalPending, Limit: maxApprovals})
			return slices.DeleteFunc(page.Approvals, func(a lesson.Approval) bool { return o.Project != "" && a.Project != o.Project }), err
		},
		Moments: func(ctx context.Context, after string) ([]feed.Moment, error) {
			return momentsAfter(ctx, c, o.Project, after)
		},
		Allow: func(ctx context.Context, a lesson.Approval) (lesson.Approval, error) {
			return client.SendTo(ctx, c, guard.Service.Approve, a.ID, guard.ApprovalDraft{Number: a.Number})
		},
		Deny: func(ctx context.Context, a lesson.Approval) (lesson.Approval, error) {
			return client.SendTo(ctx, c, guard.Service.Deny, a.ID, guard.DenialDraft{Number: a.Number})
		},
	}
}

// momentsAfter reads the timeline back to a moment and some more: what was told is written a little later than it was
// told. It goes no further than the screen keeps lines, and without a moment reads a page.
func momentsAfter(ctx context.Context, c *client.Client, project, after string) (moments []feed.Moment, err error) {
	query := feed.TimelineQuery{Project: project}
	if after == "" {
		query.Limit = feed.MaxMoments
	}
	for len(moments) < maxLines {
		page, err := client.Send(ctx, c, feed.TimelineService.Timeline, query)
		if err != nil {
			return nil, err
		}
		moments = append(moments, page.Moments...)
		if after == "" || page.Next == "" || slices.ContainsFunc(page.Moments, func(m feed.Moment) bool { return m.ID == after }) {
			break
		}
		query.Before = page.Next
	}
	return moments, nil
}

// follow tells what happens from now on, across restarts of the router; what happened before, a look reads. It returns nil
// when ctx ends, and what the router refuses for good.
func follow(ctx context.Context, c *client.Client, project string, send func(tea.Msg)) error {
	follower := client.FeedFollower{
		Query: feed.Query{Project: project, After: feed.Now}, Up: func() { send(up{}) }, Down: func(err error, _ time.Duration) { send(down{err}) },
	}
	for {
		err := c.Feed.Follow(ctx, follower, func(e feed.Event) error {
			send(happened{e})
			return nil
		})
		switch errs.CodeOf(err) {
		case "", errs.Invalid, errs.Unauthenticated, errs.Forbidden, errs.NotFound:
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
		send(down{err}) // it did not answer at the start
		if committer.Pause(ctx, retry) != nil {
			return nil
		}
	}
}
