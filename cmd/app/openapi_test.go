package app_test

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

// undocumented are the routes that the OpenAPI document may lack, by the beginning of their paths, and why.
var undocumented = map[string]string{
	"/ui":      "the dashboard's pages and forms are for people with browsers",
	"/assets/": "what those pages load",
}

// openAPI returns the document of a router, as JSON and parsed, and its routes.
func openAPI(t *testing.T) (raw []byte, parsed map[string]any, routes []httpapi.Route) {
	t.Helper()
	a, err := app.New(t.Context(), settings(t), slog.New(slog.DiscardHandler), app.Options{Version: "doc"})
	if err != nil {
		t.Fatal(err)
	}
	stop(t, a)
	w := httptest.NewRecorder()
	a.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/openapi.json", nil))
	raw, err = io.ReadAll(w.Body)
	if err != nil || w.Code != http.StatusOK {
		t.Fatal(w.Code, err)
	}
	if err := json.Unmarshal(raw, &parsed); err != nil {
		t.Fatal(err)
	}
	return raw, parsed, a.Routes()
}

// TestOpenAPIHasEveryRoute: what is mounted is described, also where no typed handler describes itself.
func TestOpenAPIHasEveryRoute(t *testing.T) {
	_, document, routes := openAPI(t)
	used := map[string]bool{}
	for _, route := range missing(document, routes) {
		excused := false
		for prefix := range undocumented {
			if strings.HasPrefix(route.Path, prefix) {
				excused, used[prefix] = true, true
			}
		}
		if !excused {
			t.Errorf("%s %s is not in the document: register it as a typed handler, or describe it in httpapi's plainOperations", route.Method, route.Path)
		}
	}
	for prefix := range undocumented {
		if !used[prefix] {
			t.Errorf("%s is excused, and needs no excuse", prefix)
		}
	}
	paths := document["paths"].(map[string]any)
	delete(paths, "/messages")
	delete(paths["/api/tasks"].(map[string]any), "post")
	for _, want := range []httpapi.Route{{Method: "GET", Path: "/messages"}, {Method: "POST", Path: "/api/tasks"}} {
		if !slices.Contains(missing(document, routes), want) {
			t.Errorf("%v was taken out of the document, and is not missed", want)
		}
	}
}

// missing lists the routes that a document does not describe.
func missing(document map[string]any, routes []httpapi.Route) (list []httpapi.Route) {
	paths, _ := document["paths"].(map[string]any)
	for _, route := range routes {
		parts := strings.Split(route.Path, "/")
		for i, part := range parts {
			if part != "" && (part[0] == ':' || part[0] == '*') {
				parts[i] = "{" + part[1:] + "}"
			}
		}
		item, _ := paths[strings.Join(parts, "/")].(map[string]any)
		if item[strings.ToLower(route.Method)] == nil {
			list = append(list, route)
		}
	}
	return list
}

// TestOpenAPIIsValid holds the document to the schema that the specification publishes
// (https://spec.openapis.org/oas/3.1/schema/2021-04-15) and to what that cannot say.
func TestOpenAPIIsValid(t *testing.T) {
	raw, document, _ := openAPI(t)
	text, err := os.ReadFile("testdata/openapi-3.1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(document); err != nil {
		t.Errorf("the document is not one of OpenAPI 3.1: %v", err)
	}
	for _, fault := range faults(raw, document) {
		t.Error(fault)
	}
	broken := strings.NewReplacer(`"in":"path","name":"id"`, `"in":"query","name":"id"`, `"#/components/schemas/Problem"`, `"#/components/schemas/Nothing"`).Replace(string(raw))
	var wrong map[string]any
	if err := json.Unmarshal([]byte(broken), &wrong); err != nil {
		t.Fatal(err)
	}
	found := strings.Join(faults([]byte(broken), wrong), "\n")
	for _, want := range []string{"does not describe {id}", "there is no Nothing"} {
		if !strings.Contains(found, want) {
			t.Errorf("a broken document is not found to be so (%s): %.300s", want, found)
		}
	}
	delete(wrong["info"].(map[string]any), "title")
	if resolved.Validate(wrong) == nil {
		t.Error("a document without a title passes the schema: the schema says nothing")
	}
}

var (
	braced     = regexp.MustCompile(`\{(\w+)\}`)
	references = regexp.MustCompile(`"\$ref": ?"#/components/schemas/([^"]+)"`)
	nameable   = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
)

// faults lists what is wrong with a document that its schema does not see: parameters of paths
// that are not described, ids that are not unique, and references to nothing.
func faults(raw []byte, document map[string]any) (list []string) {
	ids := map[string]bool{}
	paths, _ := document["paths"].(map[string]any)
	for path, item := range paths {
		for method, value := range item.(map[string]any) {
			op := value.(map[string]any)
			id, _ := op["operationId"].(string)
			if id == "" || ids[id] {
				list = append(list, method+" "+path+" has no id of its own")
			}
			ids[id] = true
			described := map[string]bool{}
			parameters, _ := op["parameters"].([]any)
			for _, p := range parameters {
				if p := p.(map[string]any); p["in"] == "path" {
					described[p["name"].(string)] = true
				}
			}
			for _, name := range braced.FindAllStringSubmatch(path, -1) {
				if !described[name[1]] {
					list = append(list, method+" "+path+" does not describe {"+name[1]+"}")
				}
			}
		}
	}
	components, _ := document["components"].(map[string]any)
	schemas, _ := components["schemas"].(map[string]any)
	for name := range schemas {
		if !nameable.MatchString(name) {
			list = append(list, "a component cannot be called "+name)
		}
	}
	for _, reference := range references.FindAllSubmatch(raw, -1) {
		if schemas[string(reference[1])] == nil {
			list = append(list, "there is no "+string(reference[1]))
		}
	}
	return list
}
