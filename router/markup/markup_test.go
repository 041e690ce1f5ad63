package markup_test

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"skillrouter/router/markup"
)

// thing is what the templates of these tests show.
type thing struct {
	Name, URL string
	Kind      kind
	Count     int64
	Share     float64
	Yes       bool
	At        time.Time
	Next      *thing
	Tags      []string
	Members   map[string]any
	Any       any
	Number    *int
	Failed    error
	Took      time.Duration
}

type kind string

var functions = markup.Functions{
	"short": func(most int, text any) string { return fmt.Sprint(text)[:min(most, len(fmt.Sprint(text)))] },
	"dict":  func(pairs ...any) map[string]any { return map[string]any{pairs[0].(string): pairs[1]} },
	"share": func(value float64) string { return fmt.Sprintf("%.2f", value) },
	"has":   func(list []string, one string) bool { return strings.Contains(strings.Join(list, "\n"), one) },
	"name":  func(k kind) string { return string(k) },
	"fail":  func() (string, error) { return "", errors.New("it failed") },
	"year":  func(at time.Time) int { return at.Year() },
}

// templates are pages that html/template makes too.
var templates = []string{
	`<p>{{.Name}}</p>`,
	`<p title="{{.Name}}" data-x='{{.Name}}' class="a {{.Kind}} b">{{.Name}}{{.Count}}{{.Share}}{{.Yes}}{{.Kind}}{{.At}}{{.Took}}{{.Failed}}</p>`,
	`<a href="{{.URL}}">x</a><a href="{{.URL}}&amp;more">x</a>`,
	`<a href="/ui/{{.Name}}/{{.URL}}">x</a><a href="#{{.Name}}">x</a><a href="/x?a={{.Name}}&amp;b={{.URL}}">x</a>`,
	`<form action="{{.URL}}"><img src="{{.URL}}" data-url="{{.URL}}"><textarea name="x">{{.Name}}</textarea></form><title>{{.Name}}</title>`,
	`{{if .Name}}<b>{{.Name}}</b>{{else if .Yes}}yes{{else}}no{{end}}{{if not .Yes}}n{{end}}{{if and .Yes .Name}}a{{end}}{{or .Name "or"}}`,
	`{{range .Tags}}<li>{{.}} {{$.Name}}</li>{{else}}none{{end}}{{range $i, $t := .Tags}}{{if $i}}, {{end}}{{$t}}{{end}}`,
	`{{range $k, $v := .Members}}{{$k}}={{$v}};{{end}}{{.Members.a}}{{.Members.none}}{{with .Members.none}}some{{else}}none{{end}}{{index .Members "a"}}{{len .Members}}`,
	`{{with .Next}}{{.Name}}{{with .Next}}{{.Name}}{{end}}{{end}}{{with $x := .Name}}{{$x}}{{end}}{{$y := .Count}}{{$y}}`,
	`{{eq .Name "a" "b"}}{{ne .Name "a"}}{{lt .Count 3}}{{le .Count 3}}{{gt .Count 3}}{{ge .Count 3}}{{eq .Kind "k"}}{{eq .Yes true}}{{lt .Share 0.5}}`,
	`{{short 5 .Name}}{{.Name | short 3}}{{share .Share}}{{share 1}}{{if has .Tags "a"}}has{{end}}{{(dict "A" .Name).A}}{{len .Tags}}{{print .Count " " .Name}}`,
	`{{.Any}}{{.Number}}{{with .Any}}{{.}}{{end}}{{year .At}}`,
	`{{define "part"}}<i>{{.}}</i>{{end}}{{template "part" .Name}}{{template "part" .Count}}<p title="{{template "value" .}}">{{template "value" .}}</p>{{define "value"}}{{.Name}}{{end}}`,
	"{{- /* a remark */ -}}\n<input {{if .Yes}}checked{{end}} value=\"{{.Name}}\"{{if .Yes}} disabled{{end}}>",
	`<!doctype html><meta content='{"a":false}'><script defer src="{{.URL}}"></script><p>1 {{index .Tags 0}}</p>`,
}

func both(t *testing.T, text string, data any) (ours, standard string) {
	t.Helper()
	files := fstest.MapFS{"page.html": {Data: []byte(text)}}
	read, err := markup.Read(functions, files, "page.html")
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var page, other bytes.Buffer
	if err := read.Execute(&page, "page.html", data); err != nil {
		ours = "failed"
	} else {
		ours = page.String()
	}
	if err := template.Must(template.New("page.html").Funcs(template.FuncMap(functions)).Parse(text)).Execute(&other, data); err != nil {
		return ours, "failed"
	}
	return ours, strings.ReplaceAll(other.String(), "#ZgotmplZ", "#refused")
}

func something(text string, count int64) thing {
	n := 7
	return thing{
		Name: text, URL: text, Kind: kind(text), Count: count, Share: float64(count) / 7, Yes: count%2 == 0, At: time.UnixMilli(count).UTC(),
		Next: &thing{Name: text}, Tags: strings.Fields(text), Members: map[string]any{"a": text, "b": count, "c": nil}, Any: text, Number: &n,
		Failed: errors.New(text), Took: time.Duration(count),
	}
}

// FuzzLikeHTMLTemplate: what is shown, however hostile, is escaped byte for byte as html/template does it.
func FuzzLikeHTMLTemplate(f *testing.F) {
	for _, text := range []string{
		"", "plain words", `<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "' onmouseover='x", "javascript:alert(1)", " JaVaScript:alert(1)", "data:text/html,x",
		"https://example.com/a b?c=d&e=%2f%zz#f", "mailto:a@b", "//host/x", "/ui/lesson?id=1&x=2", "a\x00b", "é日本\u2028", "\xff\xfe", "{{.Name}}", "&amp;+", "a:b/c", "\\", "`",
	} {
		f.Add(text, int64(len(text)))
	}
	f.Fuzz(func(t *testing.T, text string, count int64) {
		for _, page := range templates {
			if ours, standard := both(t, page, something(text, count)); ours != standard {
				t.Errorf("%s of %q:\n%s\nhtml/template:\n%s", page, text, ours, standard)
			}
		}
	})
}

// TestRead refuses templates that would put a value where it cannot be made harmless.
func TestRead(t *testing.T) {
	for text, says := range map[string]string{
		`<script>x = {{.Name}}</script>`:   "a script or a style",
		`<style>{{.Name}}</style>`:         "a script or a style",
		`<p onclick="{{.Name}}">`:          "a script or a style",
		`<p style="{{.Name}}">`:            "a script or a style",
		`<img srcset="{{.Name}}">`:         "a script or a style",
		`<iframe srcdoc="{{.Name}}">`:      "a script or a style",
		`<p {{.Name}}>`:                    "a tag cannot be made",
		`<{{.Name}}>`:                      "a tag cannot be made",
		`<p title={{.Name}}>`:              "not in quotation marks",
		`<p title=x>`:                      "not in quotation marks",
		`<!-- {{.Name}} -->`:               "a comment",
		`<p title="{{.Name}}`:              "does not end where it began",
		`{{if .Yes}}<p title="{{end}}x`:    "different places",
		`{{range .Tags}}<p title="{{end}}`: "different places",
		`{{define "a"}}{{.Name}}{{end}}{{template "a" .}}<a href="{{template "a" .}}">`: "two places",
		`{{template "none" .}}`:           `no template "none"`,
		`{{none .}}`:                      `"none" not defined`,
		`{{$x := 1}}{{$x = 2}}`:           "keeps its first value",
		`{{range .Tags}}{{break}}{{end}}`: "is not known here",
		`{{if}}`:                          "missing value",
	} {
		_, err := markup.Read(functions, fstest.MapFS{"page.html": {Data: []byte(text)}}, "page.html")
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v does not say %q", text, err, says)
		}
	}
	if _, err := markup.Read(functions, fstest.MapFS{}, "page.html"); err == nil {
		t.Error("a file that is not there is read")
	}
}

// TestExecuteFails: a page that cannot be made says which part of it could not.
func TestExecuteFails(t *testing.T) {
	for text, says := range map[string]string{
		`{{.Nobody}}`:              "has no field Nobody",
		`{{.At.Year}}`:             "a method needs a function",
		`{{.Name 1}}`:              "methods are not called here",
		`{{.Next.Next.Name}}`:      "nothing that could have Name",
		`{{fail}}`:                 "it failed",
		`{{share .Name}}`:          "takes a float64, and got a string",
		`{{share 1 2}}`:            "takes 1 values, and got 2",
		`{{index .Tags 9}}`:        "has no such place",
		`{{index .Next.Next "a"}}`: "nothing to look in",
		`{{lt .Name 1}}`:           "cannot compare string with int",
		`{{range .Count}}{{end}}`:  "cannot go through a int64",
		`{{len .Count}}`:           "has no length",
		`{{and}}`:                  "takes a value",
		`{{eq .Name}}`:             "something to compare with",
		`{{define "a"}}{{template "a" .}}{{end}}{{template "a" .}}`: "more than 50 deep",
	} {
		read, err := markup.Read(functions, fstest.MapFS{"page.html": {Data: []byte(text)}}, "page.html")
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		var page bytes.Buffer
		if err := read.Execute(&page, "page.html", something("x", 1)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: error %v does not say %q", text, err, says)
		}
	}
}
