package respond

import (
	"context"
	"strings"

	"skillrouter"
)

// Bounds of what a hook tells of failures.
const (
	// failureBudget and failureCharacters bound what is told after a failure, in tokens and characters.
	failureBudget     = 400
	failureCharacters = 1600
	// failureText is how much of what a program said is asked with, from its end, in bytes.
	failureText = 1500
	// failureOutput is how much of what a program said is compared with earlier failures, in bytes: its beginning and its end.
	failureOutput = 12 << 10
	// foreignTools is how the tools of MCP servers are named.
	foreignTools = "mcp__"
)

// mend is what memory has for a failure: what worked the last time. Empty where nothing fits.
func (h *Hook) mend(ctx context.Context) (string, error) {
	if !h.call.Failed || h.call.Stopped || h.call.Tool == "" || !h.Dialect.Tells(h.Event) {
		return "", nil
	}
	c, err := h.connect()
	if err != nil {
		return "", err
	}
	said := h.call.Failure
	request := h.request(storable(h.did()+"\n"+said[max(0, len(said)-failureText):]), failureBudget)
	if command, foreign := h.did(), strings.HasPrefix(h.call.Tool, foreignTools); command != "" || foreign {
		failed := failedCommand{Project: h.project, Command: storable(command), Error: storable(ends(said, failureOutput)), Session: request.SessionID}
		if command == "" {
			failed.Tool, failed.Args = h.call.Tool, h.call.Args
		}
		known, err := c.failedBefore(ctx, failed)
		if err != nil || known.Text != "" || known.Incident != "" { // what else memory has of it would be the same again
			return known.Text, err
		}
	}
	request.Prompt, request.Characters = true, failureCharacters
	if request.SessionID != "" {
		request.SessionID = digest(request.SessionID) + "-failures" // what was told before it was needed is told again, once
	}
	known, err := c.context(ctx, request)
	return known.Text, err
}

// ends is a text of at most so many bytes: the first third of them from its beginning, the rest from its end.
func ends(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:most/3] + "\n" + text[len(text)-most+most/3+1:]
}

// did is what the tool was asked to do, in a line of its own words.
func (h *Hook) did() string {
	text, _ := h.call.Args["command"].(string)
	return skillrouter.Head(text, MaxFailureCommand)
}
