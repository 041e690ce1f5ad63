package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/client"
)

func (s *shell) messagesCommand() *cobra.Command {
	var query comms.InboxQuery
	var follow, ack, all bool
	since := client.FromCursor
	cmd := s.calls(command{
		lists: true, use: "messages [--agent ID] [--follow] [--ack]", short: "Show an agent's messages, or follow them as they come",
		long: `Shows the messages that the agent has not acknowledged, the oldest first. With
--follow it goes on with each new one as it arrives, across restarts of the
router, until it is interrupted.`,
		flags: append(s.flags(&query, "thread", "limit"),
			who("agent", &query.AgentID, s.sender, "agent whose messages are meant (SKILLROUTER_AGENT, else captain)"),
			option("follow,f", &follow, "go on with new messages as they arrive"),
			option("ack", &ack, "acknowledge what was shown"),
			option("all", &all, "also those that are acknowledged"),
			option("after", &since, "only those with a greater seq; 0: all that are kept").once("since"),
		),
		before: func() error {
			query.Since, query.Unacked = max(since, 0), !all && since != 0
			return nil
		},
	}, func(ctx context.Context, c *client.Client) error {
		if follow {
			return s.follow(ctx, c, query, since, ack)
		}
		inbox, err := client.Send(ctx, c, comms.MailboxService.Inbox, query)
		if err := printed(s, inbox, err, printInbox); err != nil || !ack || len(inbox.Messages) == 0 {
			return err
		}
		ids := make([]string, len(inbox.Messages))
		for i, m := range inbox.Messages {
			ids[i] = m.ID
		}
		_, err = client.Send(ctx, c, comms.MailboxService.Ack, comms.Ack{AgentID: query.AgentID, MessageIDs: ids})
		return err
	})
	cmd.MarkFlagsMutuallyExclusive("follow", "limit")
	return cmd
}

// follow prints each message on a line of its own as it arrives, or only those of a thread. If the router was away, the next
// acknowledgement includes the messages before it.
func (s *shell) follow(ctx context.Context, c *client.Client, query comms.InboxQuery, since int64, ack bool) error {
	up, down := s.awayOnce()
	var shown []string // and not acknowledged yet
	return c.Mailbox.Follow(ctx, client.Follower{AgentID: query.AgentID, After: since, Up: up, Down: down}, func(m operational.Message) error {
		if query.Thread != "" && m.ThreadID != query.Thread {
			return nil
		}
		if err := printed(s, m, nil, printMessage); err != nil || !ack {
			return err
		}
		shown = append(shown[max(0, len(shown)+1-comms.MaxAckIDs):], m.ID)
		switch _, err := client.Send(ctx, c, comms.MailboxService.Ack, comms.Ack{AgentID: query.AgentID, MessageIDs: shown}); {
		case err == nil:
			shown = nil
		case errs.CodeOf(err) != errs.Unavailable:
			fmt.Fprintf(s.err, "skillrouter: not acknowledged: %s\n", harmless(explain(err)))
		}
		return nil
	})
}

// awayOnce tells what to do when a stream is open and when it is not: say once
// that the router is away, and once that it is back.
func (s *shell) awayOnce() (up func(), down func(err error, _ time.Duration)) {
	away := false
	up = func() {
		if away {
			fmt.Fprintln(s.err, "skillrouter: connected again")
		}
		away = false
	}
	down = func(err error, _ time.Duration) {
		if !away {
			fmt.Fprintf(s.err, "skillrouter: %s; trying again\n", harmless(explain(err)))
		}
		away = true
	}
	return up, down
}

var printMessage = page[operational.Message]("{{clock .CreatedAt}}  #{{.Seq}}  {{.From}} -> {{or .To \"all\"}}  {{.Signal}}  {{.Says}}")

var printInbox = page[comms.Inbox](`{{with .Messages}}{{table "seq from_agent_id=FROM signal says=MESSAGE created_at=SENT" .}}{{else}}No messages.{{end}}
{{- if and .More .Messages}}
There are more: --after {{.LastSeq}}
{{- end}}`)

// captain is whom a person at the terminal speaks as.
const captain = "captain"

// sender is who a message is from: the flag, else the agent whose wrapper
// started this shell, else the captain.
func (s *shell) sender(flag string) string { return first(s.agent(flag), captain) }

func (s *shell) signalCommand() *cobra.Command {
	var draft operational.MessageDraft
	var object, text string
	var broadcast, wait bool
	return asks(s, command{
		use:   "signal AGENT SIGNAL [--text TEXT | --context JSON]\n  skillrouter signal --all SIGNAL [--text TEXT | --context JSON]",
		short: "Send a signal to an agent, or to all", into: []any{&draft.To, &draft.Signal}, lacks: 1,
		long: `Stores a signal and hands it to whoever listens. SIGNAL is stop, pause, resume,
message or any name that the agents agreed on. AGENT is an agent's name, or that
of a group: a kind of agents (claude-code), a project or a role. A group's message
is for the first member that comes, with --all for each that comes within --ttl
(a day). A stop, pause or resume is for those members that live now. Without
AGENT, --all means every agent; so does the AGENT "all".`,
		flags: append(s.flags(&draft, "thread", "priority", "ack-required", "ttl", "key"),
			who("agent", &draft.From, s.sender, "agent that you speak as (SKILLROUTER_AGENT, else captain)").once("from"),
			option("all", &broadcast, "to every agent, or with AGENT to each member of that group").once("broadcast"),
			waits(&wait),
			option("context", &object, "JSON object that goes with it"),
			option("text", &text, "text that goes with it, as the context {\"text\": TEXT}"),
		),
		before: func() error {
			switch {
			case draft.To == everybody && draft.Signal != "":
				draft.To, broadcast = "", true
			case draft.Signal != "":
				draft.Each = broadcast
			case broadcast:
				draft.To, draft.Signal = "", draft.To
			default:
				return usagef("name the agent and the signal, or use --all")
			}
			if strings.ContainsAny(draft.Signal, " \t\n") && text == "" && object == "" { // no signal's name: it is what to tell
				draft.Signal, text = operational.SignalMessage, draft.Signal
			}
			switch {
			case object != "" && text != "":
				return usagef("--text and --context exclude each other")
			case text != "":
				draft.Context = said("text", text)
			case object != "":
				if draft.Context = json.RawMessage(object); !json.Valid(draft.Context) || !comms.Object(draft.Context) {
					return usagef("--context must be a JSON object")
				}
			}
			return nil
		},
	}, sendsToKnown(&draft, &wait), printSent)
}

// everybody stands for every agent where an agent's name is wanted.
const everybody = "all"

// waits is the flag that lets a message wait for an agent that nobody knows yet.
func waits(p *bool) boundFlag {
	return option("wait", p, "also for an agent that is not known yet: it waits until one of that name comes")
}

// sendsToKnown sends a message. For a name that nobody is known by, and that is no group's, it is refused: it was
// most likely meant to be another. With wait it is stored all the same.
func sendsToKnown(draft *operational.MessageDraft, wait *bool) request[comms.Sent] {
	return func(ctx context.Context, c *client.Client) (comms.Sent, error) {
		if !*wait && draft.To != "" {
			var err error
			if draft.To, err = known(ctx, c, draft.To); err != nil {
				return comms.Sent{}, err
			}
		}
		sent, err := client.Send(ctx, c, comms.MailboxService.Send, *draft)
		if err != nil || !operational.Halts(draft.Signal) || draft.To == "" || len(sent.Recipients) > 0 {
			return sent, err
		}
		if _, err := client.Send(ctx, c, comms.PresenceService.Agent, draft.To); errs.CodeOf(err) == errs.NotFound && !*wait {
			return sent, errs.Errorf(errs.NotFound, "no agent of the group %q is there: nobody was told to %s", draft.To, draft.Signal)
		}
		return sent, nil
	}
}

// known returns the agent or group that a name means. It refuses one that is no agent's and no group's: a kind's, a project's
// or a role's. Kinds that can be set up and projects of this machine may come at any time.
func known(ctx context.Context, c *client.Client, name string) (string, error) {
	if locate.KnownAgent(name) || locate.KnownProject(name) {
		return name, nil
	}
	id, err := agentNamed(ctx, c, name)
	if errs.CodeOf(err) == errs.NotFound {
		return "", errs.Errorf(errs.NotFound, "%s; with --wait it is kept until one of that name comes", errs.MessageOf(err))
	}
	return id, err
}

// agentNamed returns the agent that a name or any unambiguous part of one means, or the group: a kind of agents, a project
// or a role. A name that two agents share is refused, with both.
func agentNamed(ctx context.Context, c *client.Client, name string) (string, error) {
	if _, err := client.Send(ctx, c, comms.PresenceService.Agent, name); errs.CodeOf(err) != errs.NotFound {
		return name, nil // whatever else is wrong, the call itself is refused for
	}
	agents, err := client.Send(ctx, c, comms.PresenceService.Agents, operational.AgentFilter{Limit: operational.MaxLimit})
	if err != nil {
		return "", err
	}
	var ids, groups []string
	for _, a := range agents {
		ids, groups = append(ids, a.ID), append(groups, principal.KindOf(a.ID), a.Project, a.Role)
	}
	switch found := router.AgentsNamed(name, ids); {
	case slices.Contains(groups, name):
		return name, nil
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", errs.Errorf(errs.Conflict, "%q may be any of %s: give the whole name", name, strings.Join(found, ", "))
	}
	names := slices.Compact(slices.Sorted(slices.Values(slices.Concat(ids, groups))))
	return "", errs.Errorf(errs.NotFound, "no agent %q is known%s", name, didYouMean(name, names))
}

// said is a text under a name, as the context of a signal.
func said(name, text string) json.RawMessage {
	object, _ := json.Marshal(map[string]string{name: text}) // texts cannot fail
	return object
}

// printSent tells what became of a signal.
var printSent = page[comms.Sent](`{{.Signal}} to {{.Target}}: 
{{- if .Duplicate}} not sent again: the key was used before
{{- else if .Recipients}} sent to {{.Recipients}}
{{- else if .Delivered}} delivered
{{- else if eq .Target "broadcast"}} stored; each agent{{if halts .Signal}} that is there now{{end}} is told when it listens next
{{- else}} stored; it waits until the agent listens
{{- end}} (seq {{.Seq}}, {{.MessageID}})`)

func (s *shell) stopCommand() *cobra.Command {
	draft := operational.MessageDraft{Signal: operational.SignalStop}
	var reason string
	var all, wait bool
	return asks(s, command{
		use: "stop AGENT [--reason TEXT]\n  skillrouter stop --all [--reason TEXT]", short: "Ask an agent to stop, or all", into: []any{&draft.To}, lacks: 1, starts: never,
		long: `Sends the signal "stop". An agent under "skillrouter run" is ended at once. Any
other is told at its next heartbeat or check, also if the router was restarted in
between. The stop ends when the agent begins a new run, or by "signal AGENT resume".
A group (a kind of agents, a project, a role) is asked as those of
its members that live now.`,
		flags: options{
			option("reason", &reason, "why it should stop"),
			option("all", &all, "every agent"),
			waits(&wait),
			who("agent", &draft.From, s.sender, "agent that you speak as (SKILLROUTER_AGENT, else captain)").once("from"),
		},
		before: func() error {
			if draft.To == everybody && !all {
				draft.To, all = "", true
			}
			if all == (draft.To != "") {
				return usagef("name the agent, or use --all")
			}
			if reason != "" {
				draft.Context = said("reason", reason)
			}
			return nil
		},
	}, sendsToKnown(&draft, &wait), printSent)
}
