package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"skillrouter/router/mcpserver"
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
	const heading = "| Tool | What it is for | Takes |\n|---|---|---|\n"
	rows := func(names []string) (text string) {
		for _, name := range names {
			text += fmt.Sprintf("| `%s` | %s | %s |\n", name, tools[name].Description, parameters(t, tools[name].InputSchema))
		}
		return text
	}
	table := "\n" + heading + rows(toolNames) + "\nThe toolset `lessons`:\n\n" + heading + rows(lessonTools) +
		"\nThe toolset `facts`:\n\n" + heading + rows(factTools) +
		"\nThe toolset `procedures`:\n\n" + heading + rows(procedureTools) +
		"\nThe toolset `context`:\n\n" + heading + rows(contextTools) +
		"\nThe toolset `reminders`:\n\n" + heading + rows(reminderTools)
	want := before + pageBegin + table + "\n" + pageEnd + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(raw) {
		t.Errorf("%s is out of date: go test ./router/mcpserver -run TestPage -update", page)
	}
	for _, name := range everyTool() {
		if strings.Count(want, "`"+name+"`") < 2 {
			t.Errorf("%s does not say what %s answers", page, name)
		}
	}
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
