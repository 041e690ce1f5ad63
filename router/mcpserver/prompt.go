package mcpserver

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"skillrouter/internal/errs"
)

// prompt is a text that a person has put before their model. It is made of
// what tools answer now, each fenced as the tool fences it.
type prompt struct {
	name, title, description string
	arguments                []*mcp.PromptArgument
	parts                    []promptPart
	end                      string // what the model is to do with it
}

// promptPart is one tool's answer. A part whose required argument was not given is left out.
type promptPart struct {
	heading, tool string
	arguments     map[string]string // the tool's parameter to the prompt's argument, or to a text in quotes
	needs         string
}

// prompts are those that the services can fill.
func prompts() []prompt {
	return []prompt{
		{
			name: "session_start", title: "Begin a session", description: "What you should know before you begin: what was left to you, critical lessons, messages, and what is known for your task.",
			arguments: []*mcp.PromptArgument{
				{Name: "task", Title: "Task", Description: "What you are about to do, in plain words"},
				{Name: "project", Title: "Project", Description: "Which project it is for"},
			},
			parts: []promptPart{
				{heading: "What the last session left to you", tool: "get_handover"},
				{heading: "What you should know", tool: "get_agent_memory"},
				{heading: "What happened last", tool: "get_recent_episodes"},
				{heading: "Lessons that fit the task", tool: "get_relevant_lessons", arguments: map[string]string{"context": "task"}, needs: "task"},
				{heading: "What scheduled tasks are due", tool: "get_pending_tasks"},
			},
			end: "Read your messages with check_messages. Before a command that could do harm ask check_before_action; record what you do with record_episode.",
		},
		{
			name: "session_end", title: "End a session", description: "What is still open, and what to record before you end.",
			arguments: []*mcp.PromptArgument{{Name: "summary", Title: "Summary", Description: "What was done, if you know it already"}},
			parts: []promptPart{
				{heading: "What you did in this session", tool: "get_recent_episodes"},
				{heading: "What scheduled tasks are due", tool: "get_pending_tasks"},
				{heading: "Open tasks of the team", tool: "list_team_tasks", arguments: map[string]string{"status": `["claimed","in_progress","blocked"]`}},
			},
			end: "Before you end: report_lesson for each failure, workaround or discovery; store_knowledge for what others will search for; " +
				"then find_tools for end_session, and end your session with a summary of what was done, how it stands and what comes next.",
		},
		{
			name: "before_risky_action", title: "Before a risky action", description: "Whether the team learned never to do this, and the lessons that fit it.",
			arguments: []*mcp.PromptArgument{
				{Name: "action", Title: "Action", Description: "The command line or SQL", Required: true},
				{Name: "why", Title: "Why", Description: "What it is for"},
			},
			parts: []promptPart{
				{heading: "The guard's verdict", tool: "check_before_action", arguments: map[string]string{"proposed_action": "action", "context": "why"}},
				{heading: "Lessons that fit", tool: "get_relevant_lessons", arguments: map[string]string{"context": "action"}},
			},
			end: "Do not do what is blocked. If you act against a warning, say so and say how it went by call_tool with check_outcome.",
		},
	}
}

// addPrompts offers the prompts.
func (s *Server) addPrompts() {
	for _, p := range prompts() {
		offered := false
		for _, part := range p.parts {
			_, ok := s.tools[part.tool]
			offered = offered || ok
		}
		if !offered {
			continue
		}
		s.mcp.AddPrompt(&mcp.Prompt{Name: p.name, Title: p.title, Description: p.description, Arguments: p.arguments},
			func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				text, err := s.fill(ctx, p, req.Params.Arguments)
				if err != nil {
					return nil, s.fault(ctx, "prompts/get", err)
				}
				return &mcp.GetPromptResult{Description: p.description, Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}, nil
			})
	}
}

// fill writes a prompt. A part that cannot be had now is said to be missing: the others are still of use.
func (s *Server) fill(ctx context.Context, p prompt, given map[string]string) (string, error) {
	known := map[string]bool{}
	for _, a := range p.arguments {
		known[a.Name] = true
		if a.Required && strings.TrimSpace(given[a.Name]) == "" {
			return "", errs.InvalidField(a.Name, "is required")
		}
	}
	for name := range given {
		if !known[name] {
			return "", errs.InvalidField(shown(name), "is no argument of this prompt")
		}
	}
	var b strings.Builder
	for _, part := range p.parts {
		t, ok := s.tools[part.tool]
		if !ok || part.needs != "" && given[part.needs] == "" {
			continue
		}
		arguments := map[string]any{}
		for parameter, from := range part.arguments {
			if strings.HasPrefix(from, "[") {
				arguments[parameter] = json.RawMessage(from)
			} else if value := given[from]; value != "" {
				arguments[parameter] = value
			}
		}
		raw, err := json.Marshal(arguments)
		if err != nil {
			return "", err
		}
		_, text, err := t.call(ctx, raw)
		switch code := errs.CodeOf(err); {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case code == errs.Unauthenticated || code == errs.Forbidden || code == errs.Invalid:
			return "", err
		case err != nil:
			text = "This cannot be had now (" + string(code) + ")."
		}
		b.WriteString("# " + part.heading + "\n\n" + text + "\n\n")
	}
	b.WriteString("# What to do\n\n" + p.end)
	return b.String(), nil
}
