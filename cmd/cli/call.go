package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/mcpserver"
)

func (s *shell) callCommand() *cobra.Command {
	var agent string
	var words []string
	cmd := s.calls(command{
		use: "call [TOOL] [NAME=VALUE...]", short: "Call any of the tools that agents have, or list them",
		long: `Without a tool it lists those that there are, by toolset; "skillrouter call TOOL
--help" shows what one takes. Every tool of every toolset can be called, whether
it is switched on for agents or not, with the rights of your token.

A value is read as the tool's parameter wants it: a text as it stands, a number,
true or false, an object as JSON. A parameter that takes several is named several
times, or once with a JSON array. NAME=@FILE takes the value from a file, NAME=-
from standard input, and NAME=@@TEXT is a text that begins with one @.

The call is made as the agent that --agent or SKILLROUTER_AGENT names. If neither
does, a token says who calls; without one it is "captain".`,
		into:  []any{&words},
		flags: options{who("agent", &agent, s.agent, "agent that the call is made as (SKILLROUTER_AGENT)")},
	}, func(ctx context.Context, c *client.Client) error {
		caller, err := s.caller(agent)
		if err != nil {
			return err
		}
		tools, err := toolsOf(ctx, c)
		if err != nil {
			return err
		}
		if len(words) == 0 {
			return s.print(tools, func(w io.Writer) { tableOf(w, "toolset name=TOOL description", "", tools) })
		}
		tool, err := toolNamed(tools, words[0])
		if err != nil {
			return err
		}
		arguments, err := s.toolArguments(tool, words[1:])
		if err != nil {
			return err
		}
		var answer struct {
			Result json.RawMessage `json:"result"`
			Text   string          `json:"text"`
		}
		as := url.Values{"text": {"true"}, "agent_id": {caller}}
		if err := c.Call(ctx, http.MethodPost, "/api/tools/"+tool.Name+"?"+as.Encode(), arguments, &answer); err != nil {
			return err
		}
		return s.print(answer.Result, func(w io.Writer) { fmt.Fprintln(w, answer.Text) })
	})
	usual := cmd.HelpFunc()
	cmd.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if given := cmd.Flags().Args(); len(given) > 0 {
			if tool, err := toolNamed(s.tools(cmd.Context()), given[0]); err == nil {
				printTool(s.out, tool)
				fmt.Fprintf(s.out, "\nFlags:\n%s", cmd.LocalFlags().FlagUsages())
				return
			}
		}
		usual(cmd, args)
	})
	cmd.ValidArgsFunction = s.completeCall
	return cmd
}

// caller is who the tools are called as: the agent that is named, else whoever a
// token belongs to, for which it is empty, else the captain.
func (s *shell) caller(agent string) (string, error) {
	if agent == "" && s.token == "" && s.env("SKILLROUTER_TOKEN") == "" {
		agent = mcpserver.DefaultAgent
	}
	if agent != "" {
		if err := check.AgentID("--agent", agent); err != nil {
			return "", usagef("--agent %s", errs.MessageOf(err))
		}
	}
	return agent, nil
}

// tool is a tool as the router lists it.
type tool struct {
	Name         string            `json:"name"`
	Title        string            `json:"title"`
	Description  string            `json:"description"`
	Toolset      string            `json:"toolset"`
	InputSchema  jsonschema.Schema `json:"inputSchema"`
	OutputSchema json.RawMessage   `json:"outputSchema"`
}

// toolsOf are all that the router has. The parameters of each are in order, the required ones first.
func toolsOf(ctx context.Context, c *client.Client) ([]tool, error) {
	var answer struct {
		Tools []tool `json:"tools"`
	}
	err := c.Call(ctx, http.MethodGet, "/api/tools", nil, &answer)
	for i := range answer.Tools {
		schema := &answer.Tools[i].InputSchema
		rest := slices.DeleteFunc(sorted(schema.Properties), func(name string) bool { return slices.Contains(schema.Required, name) })
		schema.PropertyOrder = append(slices.Clone(schema.Required), rest...)
	}
	return answer.Tools, err
}

// tools are those of the router that runs, if one does.
func (s *shell) tools(ctx context.Context) []tool {
	c, err := s.client()
	if err != nil {
		return nil
	}
	list, _ := toolsOf(ctx, c)
	return list
}

// toolNamed finds a tool. The error tells of names that are nearly the same.
func toolNamed(tools []tool, name string) (tool, error) {
	var names []string
	for _, t := range tools {
		if t.Name == name {
			return t, nil
		}
		names = append(names, t.Name)
	}
	return tool{}, usagef("there is no tool %q%s; \"skillrouter call\" lists them, and \"skillrouter call find_tools query=...\" searches them",
		name, nearNames(names, name))
}

// nearNames are those that a person may have meant, if any.
func nearNames(names []string, meant string) string {
	near := nearest(meant, names)
	if len(near) == 0 {
		return ""
	}
	return " (do you mean " + strings.Join(near, " or ") + "?)"
}

// toolArguments reads the words NAME=VALUE of a call. A name that is given several times gets a list.
func (s *shell) toolArguments(tool tool, words []string) (map[string]any, error) {
	schema, given := tool.InputSchema, map[string]any{}
	for _, word := range words {
		name, text, ok := strings.Cut(word, "=")
		if !ok {
			return nil, usagef("%q is no NAME=VALUE", word)
		}
		parameter := schema.Properties[name]
		if parameter == nil {
			return nil, usagef("%s has no parameter %q%s; it takes %s",
				tool.Name, name, nearNames(schema.PropertyOrder, name), strings.Join(schema.PropertyOrder, ", "))
		}
		text, err := s.given(name, text)
		if err != nil {
			return nil, err
		}
		before, again := given[name].([]json.RawMessage)
		switch several := parameter.Type == "array" && !strings.HasPrefix(strings.TrimSpace(text), "["); {
		case several && (again || given[name] == nil):
			given[name] = append(before, toolValue(parameter.Items.Type, text))
		case given[name] != nil:
			return nil, usagef("%s is given twice", name)
		default:
			given[name] = toolValue(parameter.Type, text)
		}
	}
	for _, name := range schema.Required {
		if given[name] == nil {
			return nil, usagef("%s needs %s; \"skillrouter call %[1]s --help\" shows what it takes", tool.Name, name)
		}
	}
	return given, nil
}

// given is a parameter's text: what stands there, or in a file or on standard input.
func (s *shell) given(name, text string) (string, error) {
	file, named := strings.CutPrefix(text, "@")
	switch {
	case text == "-":
		file = text
	case !named:
		return text, nil
	case strings.HasPrefix(file, "@"):
		return file, nil
	}
	read, err := s.read(file, mcpserver.MaxMessage)
	if len(read) > mcpserver.MaxMessage {
		return "", usagef("%s is longer than %d bytes", name, mcpserver.MaxMessage)
	}
	return string(read), err
}

// toolValue is a text as JSON for a parameter of a type. The router refuses a value of another type.
func toolValue(wanted, text string) json.RawMessage {
	if wanted == "string" {
		quoted, _ := json.Marshal(text) // a text always can be
		return quoted
	}
	return asJSON(strings.TrimSpace(text))
}

var printTool = page[tool](`{{.Description}}

Usage:
  skillrouter call {{.Name}} [NAME=VALUE...] [flags]
{{- with .Parameters}}

{{table "name=PARAMETER type needed about" .}}
{{- end}}`)

// parameter is what people are shown of a tool's parameter.
type parameter struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Needed bool   `json:"needed"`
	About  string `json:"about"`
}

// Parameters are those of the tool.
func (t tool) Parameters() (list []parameter) {
	for _, name := range t.InputSchema.PropertyOrder {
		of := t.InputSchema.Properties[name]
		one := parameter{name, first(of.Type, "any"), slices.Contains(t.InputSchema.Required, name), of.Description}
		if of.Items != nil {
			one.Type, of = "several, "+of.Items.Type, of.Items
		}
		if of.Minimum != nil && of.Maximum != nil {
			one.Type += fmt.Sprintf(" %.0f to %.0f", *of.Minimum, *of.Maximum)
		}
		if len(of.Enum) > 0 {
			one.About = strings.TrimSpace(fmt.Sprint(one.About, " ", of.Enum))
		}
		list = append(list, one)
	}
	return list
}

// completeCall completes a tool's name, and then its parameters.
func (s *shell) completeCall(cmd *cobra.Command, words []string, begun string) (fitting []cobra.Completion, how cobra.ShellCompDirective) {
	tools := s.tools(cmd.Context())
	if len(words) == 0 {
		for _, tool := range tools {
			fitting = append(fitting, cobra.CompletionWithDesc(tool.Name, cell(tool.Description)))
		}
		how = cobra.ShellCompDirectiveNoFileComp
	} else if tool, err := toolNamed(tools, words[0]); err == nil {
		for _, one := range tool.Parameters() {
			fitting = append(fitting, cobra.CompletionWithDesc(one.Name+"=", about(one.About)))
		}
		how = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return slices.DeleteFunc(fitting, func(one cobra.Completion) bool { return !strings.HasPrefix(one, begun) }), how
}
