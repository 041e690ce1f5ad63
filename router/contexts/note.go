package contexts

import (
	"context"
	"strings"

	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
)

// note hands on what an agent was told. That a session begins is told of also where nothing was.
func (b *Builder) note(ctx context.Context, request *Request, answer *Context, chosen []*rated) {
	if b.tell == nil || len(chosen) == 0 && !request.Start {
		return
	}
	told := operational.Telling{Agent: request.AgentID, Project: request.Project, SessionID: request.SessionID, Tokens: answer.Tokens, Moment: operational.ToldAsked}
	switch {
	case request.Start:
		told.Moment = operational.ToldAtStart
	case request.Failure:
		told.Moment, told.About = operational.ToldAtFailure, request.Task
	case request.Prompt:
		told.Moment = operational.ToldAtPrompt
	}
	for _, r := range chosen {
		if r.listed {
			continue // it was offered, and not told
		}
		if r.briefed != nil {
			told.Items = append(told.Items, r.lines()...)
			continue
		}
		told.Items = append(told.Items, operational.ToldItem{Kind: r.kind, ID: r.id, Title: safetext.Visible(r.title), Own: r.project == request.Project, Tokens: r.tokens, Gives: operational.Gives(r.title + "\n" + r.body)})
	}
	b.tell(ctx, told)
}

// lines are the incidents of a brief, each told by a line. The rest of the brief's tokens are around them.
func (r *rated) lines() (items []operational.ToldItem) {
	lines := strings.Split(r.body, "\n")
	for i, id := range r.briefed[:min(len(r.briefed), len(lines))] {
		if r.cut && !strings.Contains(r.block, lines[i]) {
			break
		}
		items = append(items, operational.ToldItem{Kind: router.KindIncident, ID: id, Title: lines[i], Own: true, Text: lines[i], Gives: operational.Gives(lines[i])})
	}
	return items
}
