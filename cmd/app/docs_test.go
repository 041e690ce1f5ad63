package app_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/feed"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

var update = flag.Bool("update", false, "write the generated pages instead of comparing them")

// schema is as much of a JSON schema as the page shows.
type schema struct {
	Ref        string            `json:"$ref"`
	Type       any               `json:"type"`
	Items      *schema           `json:"items"`
	Enum       []any             `json:"enum"`
	Required   []string          `json:"required"`
	Properties map[string]schema `json:"properties"`
}

type operation struct {
	Summary    string   `json:"summary"`
	Tags       []string `json:"tags"`
	Parameters []struct {
		Name     string `json:"name"`
		In       string `json:"in"`
		Required bool   `json:"required"`
		Schema   schema `json:"schema"`
	} `json:"parameters"`
	RequestBody struct {
		Content map[string]struct {
			Schema schema `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content map[string]struct {
			Schema schema `json:"schema"`
		} `json:"content"`
	} `json:"responses"`
}

type document struct {
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
}

// TestHTTPPage holds docs/http-api.md to the routes that there are.
func TestHTTPPage(t *testing.T) {
	a, err := app.New(t.Context(), settings(t), slog.New(slog.DiscardHandler), app.Options{Version: "doc"})
	if err != nil {
		t.Fatal(err)
	}
	stop(t, a)
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "http://localhost/openapi.json", nil)
	a.Handler().ServeHTTP(w, r)
	var doc document
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	byTag := map[string][]string{}
	var plain []string
	for path, methods := range doc.Paths {
		for method, op := range methods {
			method = strings.ToUpper(method)
			if slices.Contains(op.Tags, "streams") {
				plain = append(plain, fmt.Sprintf("| `%s %s` | %s |\n", method, path, op.Summary))
				continue
			}
			line := fmt.Sprintf("| `%s %s` | %s | %s | %s |\n", method, path, op.Summary, doc.request(op), doc.response(op))
			tag := "other"
			if len(op.Tags) > 0 {
				tag = op.Tags[0]
			}
			byTag[tag] = append(byTag[tag], path+" "+method+"\x00"+line)
		}
	}
	var page strings.Builder
	page.WriteString(`# HTTP API

A running router shows these calls at ` + "`/docs`" + `, and as OpenAPI 3.1 at ` + "`/openapi.json`" + `. This page is generated from the handlers: ` + "`go test ./cmd/app -run HTTPPage -update`" + ` writes it.

- A body is JSON and needs ` + "`Content-Type: application/json`" + `. A * marks a field that is required. The router refuses fields and parameters that it does not know.
- An error is ` + "`application/problem+json`" + `. It has ` + "`status`, `code`, `detail`" + ` and ` + "`error`" + ` (the same text as ` + "`detail`" + `). If one field caused it, ` + "`field`" + ` names that field.
- The codes and their statuses are: ` + codes() + `.
- Once a token is issued, send it as ` + "`Authorization: Bearer …`" + `.
`)
	for _, tag := range slices.Sorted(maps.Keys(byTag)) {
		fmt.Fprintf(&page, "\n## %s\n\n| call | what it does | request | answer |\n|---|---|---|---|\n", tag)
		lines := byTag[tag]
		slices.Sort(lines)
		for _, line := range lines {
			_, line, _ = strings.Cut(line, "\x00")
			page.WriteString(line)
		}
	}
	page.WriteString("\n## Streams and documents\n\n| call | what it does |\n|---|---|\n")
	slices.Sort(plain)
	page.WriteString(strings.Join(plain, ""))
	page.WriteString(`
## Types of events

The [feed](integrations.md#events) has these types. A member of the data with ? may be missing.

| type | in its log | log | data | when |
|---|---|---|---|---|
`)
	for _, event := range feed.Types() {
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s | %s |\n", event.Type, code(event.Kinds...), event.Source, code(event.Data), event.When)
	}
	compare(t, "../../docs/http-api.md", page.String())
}

// code are words as a table shows them; nothing where there is none.
func code(words ...string) string {
	words = slices.DeleteFunc(words, func(word string) bool { return word == "" })
	if len(words) == 0 {
		return ""
	}
	return "`" + strings.Join(words, "`, `") + "`"
}

func codes() string {
	var parts []string
	for _, code := range errs.Codes() {
		parts = append(parts, fmt.Sprintf("%s %d", code, httpapi.Status(code)))
	}
	return strings.Join(parts, ", ")
}

func (d document) request(op operation) string {
	var parts []string
	for _, p := range op.Parameters {
		if p.In == "path" || p.In == "query" {
			parts = append(parts, mark(p.Name, p.Required || p.In == "path", p.Schema))
		}
	}
	for _, body := range op.RequestBody.Content {
		parts = append(parts, d.fields(body.Schema)...)
	}
	return strings.Join(parts, ", ")
}

func (d document) response(op operation) string {
	for _, status := range []string{"200", "201"} {
		for _, body := range op.Responses[status].Content {
			return strings.Join(d.names(body.Schema), ", ")
		}
	}
	return ""
}

func (d document) resolve(s schema) schema {
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return d.Components.Schemas[name]
	}
	return s
}

func (d document) fields(s schema) []string {
	s = d.resolve(s)
	var parts []string
	for _, name := range slices.SortedFunc(maps.Keys(s.Properties), func(a, b string) int {
		ra, rb := slices.Contains(s.Required, a), slices.Contains(s.Required, b)
		if ra != rb {
			if ra {
				return -1
			}
			return 1
		}
		return cmp.Compare(a, b)
	}) {
		parts = append(parts, mark(name, slices.Contains(s.Required, name), s.Properties[name]))
	}
	return parts
}

// names lists what an answer holds, one level deep into lists.
func (d document) names(s schema) []string {
	s = d.resolve(s)
	if s.Items != nil {
		return []string{"[{" + strings.Join(d.names(*s.Items), ", ") + "}]"}
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		part := "`" + name + "`"
		if items := s.Properties[name].Items; items != nil {
			if inner := d.names(*items); len(inner) > 0 {
				part += " [{…}]"
			} else {
				part += " […]"
			}
		}
		parts = append(parts, part)
	}
	return parts
}

func mark(name string, required bool, s schema) string {
	part := "`" + name + "`"
	if required {
		part += "*"
	}
	if len(s.Enum) > 0 {
		var values []string
		for _, v := range s.Enum {
			values = append(values, fmt.Sprint(v))
		}
		part += " (" + strings.Join(values, ", ") + ")"
	}
	return part
}

// compare holds a generated page to the one that is committed.
func compare(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is out of date: go test ./cmd/app -update", path)
	}
}

// TestConfigurationPage holds docs/configuration.md to the annotated example,
// which a test of its own holds to the settings that there are.
func TestConfigurationPage(t *testing.T) {
	compare(t, "../../docs/configuration.md", `# Configuration

The router needs none. `+"`skillrouter config show`"+` prints the values in force and where each comes from; `+"`skillrouter config example`"+` prints this:

`+"```yaml\n"+config.Example+"```"+`

## How commands find the router

By `+"`--server`"+`, else `+"`SKILLROUTER_SERVER`"+`, else the router that holds your data folder, over its socket there. If none runs, commands start one (not `+"`stop`, `status`, `doctor`"+`); its log is `+"`serve.log`"+` in the data folder.

## Environment

`+"`SKILLROUTER_SERVER`, `SKILLROUTER_TOKEN`, `SKILLROUTER_AGENT`"+` stand for the flags of the same names in every command; `+"`skillrouter run`"+` sets them for its command.
`+"`SKILLROUTER_PROJECT`"+`, or a file `+"`.skillrouter`"+`, names the project. Each setting above is also a variable: `+"`log.level` is `SKILLROUTER_LOG_LEVEL`"+`.

## The data folder

| file | what it is |
|---|---|
| `+"`learning.db`, `operational.db`"+` | the databases, with their `+"`-wal` and `-shm`"+` while the router runs; copy them with it stopped, or by `+"`VACUUM INTO`"+` |
| `+"`*.backup`"+` | copies made before a migration; whole, once they have that name |
| `+"`high-water`"+` | how far the logs had come, so that a loss after a crash is known |
| `+"`lost-writes.log`"+` | what turned out to be lost: [look](operations.md#trouble), then remove it |
| `+"`owner.token`"+` | the owner's token, for `+"`skillrouter token`"+` |
| `+"`guard.copy`, `guard.key`, `guard.seen`"+` | the guard's rules for hooks that get no answer, the key that signs them, and when the copy was made |
| `+"`procedures/`, `setup/`"+` | procedures; settings of agents before `+"`setup`"+` |
| `+"`ballast`, `serve.log`"+` | room for stops on a full disk; the log of a router that a command started |
| `+"`skillrouter.lock`, `skillrouter.sock`"+` | the process that holds the folder; the socket for its user's programs |

The folder is 0700, its files 0600.
`)
}
