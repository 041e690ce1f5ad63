package mcpserver

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/internal/errs"
)

//go:embed prompts.yaml
var promptsText []byte

// prompt is a text that a person has put before their model. It is made of
// what tools answer now, each fenced as the tool fences it.
type prompt struct {
	Name, Title, Description string
	Arguments                []*mcp.PromptArgument
	Parts                    []promptPart
	End                      string // what the model is to do with it
}

// promptPart is one tool's answer. A part whose required argument was not given is left out.
type promptPart struct {
	Heading, Tool string
	Arguments     map[string]string // the tool's parameter to the prompt's argument, or to a list of JSON
	Needs         string
}

// prompts are those that the services can fill.
var prompts = sync.OnceValue(func() (list []prompt) {
	if err := yaml.Unmarshal(promptsText, &list); err != nil {
		panic(err) // a mistake of this program's
	}
	return list
})

// addPrompts offers the prompts.
func (s *Server) addPrompts() {
	for _, p := range prompts() {
		offered := false
		for _, part := range p.Parts {
			_, ok := s.tools[part.Tool]
			offered = offered || ok
		}
		if !offered {
			continue
		}
		s.mcp.AddPrompt(&mcp.Prompt{Name: p.Name, Title: p.Title, Description: p.Description, Arguments: p.Arguments},
			func(ctx context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				text, err := s.fill(ctx, p, req.Params.Arguments)
				if err != nil {
					return nil, s.fault(ctx, "prompts/get", err)
				}
				return &mcp.GetPromptResult{Description: p.Description, Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: text}}}}, nil
			})
	}
}

// fill writes a prompt. A part that cannot be had now is said to be missing: the others are still of use.
func (s *Server) fill(ctx context.Context, p prompt, given map[string]string) (string, error) {
	known := map[string]bool{}
	for _, a := range p.Arguments {
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
	for _, part := range p.Parts {
		t, ok := s.tools[part.Tool]
		if !ok || part.Needs != "" && given[part.Needs] == "" {
			continue
		}
		arguments := map[string]any{}
		for parameter, from := range part.Arguments {
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
		b.WriteString("# " + part.Heading + "\n\n" + text + "\n\n")
	}
	b.WriteString("# What to do\n\n" + p.End)
	return b.String(), nil
}
