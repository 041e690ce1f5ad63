package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/skillrouter/skillrouter/router/mcpserver"
)

const (
	page      = "../../docs/mcp.md"
	pageBegin = "-update -->\n"
	pageEnd   = "<!-- /tools -->"
)

// TestPage holds the table of tools in docs/mcp.md to the tools that there are.
func TestPage(t *testing.T) {
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(raw), pageBegin)
	_, after, alsoFound := strings.Cut(rest, pageEnd)
	if !found || !alsoFound {
		t.Fatalf("%s has lost the marks of its table", page)
	}
	tools := listTools(t, mcpserver.New(new(house).services(), mcpserver.Options{Toolsets: toolsets(t, "all")}))
	const heading = "| Tool | What it is for | Takes | Always answers |\n|---|---|---|---|\n"
	answers := map[string]string{}
	for _, tool := range mcpserver.New(new(house).services(), mcpserver.Options{}).Tools() {
		answers[tool.Name] = fields(tool.OutputSchema.(*jsonschema.Schema))
	}
	rows := func(names []string) (text string) {
		for _, name := range names {
			text += fmt.Sprintf("| `%s` | %s | %s | %s |\n", name, tools[name].Description, parameters(t, tools[name].InputSchema), answers[name])
		}
		return text
	}
	table := "\n"
	for _, set := range mcpserver.ToolsetNames() {
		count, tokens := listTokens(t, set)
		if set == mcpserver.ToolsetCore {
			table += fmt.Sprintf("The toolset `core`, always on: %d tools, %d tokens:\n\n", count, tokens)
		} else {
			_, core := listTokens(t)
			table += fmt.Sprintf("\nThe toolset `%s`: %d tools, %d tokens more:\n\n", set, count-len(byToolset["core"]), tokens-core)
		}
		table += heading + rows(byToolset[set])
	}
	all, tokens := listTokens(t, "all")
	table += fmt.Sprintf("\nAll of them: %d tools, %d tokens.\n", all, tokens)
	want := before + pageBegin + table + "\n" + pageEnd + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Errorf("%s is out of date: go test ./router/mcpserver -run TestPage -update", page)
	}
}

// fields are the fields that an answer always has, with their types.
func fields(schema *jsonschema.Schema) string {
	var parts []string
	for _, name := range schema.Required {
		part := "`" + name + "`"
		if kind := schema.Properties[name].Type; kind != "" {
			part += " " + kind
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ", ")
}

func parameters(t *testing.T, schema any) string {
	raw, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	var parts []string
	for name, p := range s.Properties {
		part := "`" + name + "`"
		if slices.Contains(s.Required, name) {
			part += "*"
		}
		var details []string
		for _, choice := range p.Enum {
			details = append(details, fmt.Sprintf("`%v`", choice))
		}
		if p.Minimum != nil && p.Maximum != nil {
			details = append(details, fmt.Sprintf("%g–%g", *p.Minimum, *p.Maximum))
		}
		if p.Description != "" {
			details = append(details, strings.ReplaceAll(p.Description, "|", "\\|"))
		}
		if len(details) > 0 {
			part += " (" + strings.Join(details, ", ") + ")"
		}
		parts = append(parts, part)
	}
	slices.SortFunc(parts, func(a, b string) int { // what must be given first, then by name
		if x, y := strings.Contains(a, "`*"), strings.Contains(b, "`*"); x != y {
			if x {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return strings.Join(parts, ", ")
}
