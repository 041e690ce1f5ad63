package cli

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"text/template"
	"text/template/parse"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/skillrouter/skillrouter/learning/folder"
	"github.com/skillrouter/skillrouter/operational"
)

// A page is a template for what people are shown of an answer (see package text/template). Each value in it is said as in
// a table, on one line, and cleaned: a time is so long ago, several things are joined by commas. A line of a page that
// begins with "{{-" follows on the line before.

// notedPage is a template and what it is of.
type notedPage struct {
	text string
	of   reflect.Type
}

var allPages []notedPage // for TestPages

func noted(text string, of reflect.Type) { allPages = append(allPages, notedPage{text, of}) }

// page shows an answer by a template.
func page[T any](text string) func(w io.Writer, answer T) {
	noted(text, reflect.TypeFor[T]())
	return func(w io.Writer, answer T) { render(w, text, answer) }
}

// block is a part of a page that is ready to be shown.
type block string

// pageWords are the words of pages beside those of package template.
var pageWords = template.FuncMap{
	"said": func(value any) block {
		if ready, is := value.(block); is {
			return ready
		}
		return block(clean(shownText("", reflect.ValueOf(value))))
	},
	"until":   func(at any) string { return shownText("expires_at", reflect.ValueOf(at)) },
	"clock":   func(at time.Time) string { return at.Local().Format(time.TimeOnly) },
	"date":    func(at time.Time) string { return at.Local().Format(time.DateTime) },
	"day":     func(at time.Time) string { return at.Format(time.DateOnly) },
	"list":    func(texts []string, between string) string { return strings.Join(texts, between) },
	"count":   func(n any, noun string) string { return plural(int(reflect.ValueOf(n).Int()), noun) },
	"short":   shortID,
	"plus":    func(a, b, c int) int { return a + b + c },
	"halts":   operational.Halts,
	"brought": func(action folder.Action) string { return broughtWords[action] },
	"head": func(list any) any { // the first two
		all := reflect.ValueOf(list)
		return all.Slice(0, min(2, all.Len())).Interface()
	},
	"place": func(index int) int { return index + 1 },
	"lines": func(before, text string) block {
		var b strings.Builder
		for line := range strings.SplitSeq(text, "\n") {
			b.WriteString("\n" + before + clean(line))
		}
		return block(strings.TrimPrefix(b.String(), "\n"))
	},
	"without": strings.TrimSuffix,
	"pairs": func(counters map[string]int64) string {
		var said []string
		for _, name := range sorted(counters) {
			if counters[name] > 0 {
				said = append(said, fmt.Sprintf("%s %d", name, counters[name]))
			}
		}
		return strings.Join(said, ", ")
	},
	"size":   func(bytes int64) string { return humanize.IBytes(uint64(bytes)) },
	"table":  func(rows string, list any) block { return written(func(w io.Writer) { tableOf(w, rows, "", list) }) },
	"fields": func(of any) block { return written(func(w io.Writer) { details(w, reflect.ValueOf(of), "") }) },
	"indent": func(text string) block { return written(func(w io.Writer) { indented(w, text) }) },
}

// written is a part of a page that a function prints.
func written(show func(w io.Writer)) block {
	var b strings.Builder
	show(&b)
	return block(strings.TrimSuffix(b.String(), "\n"))
}

// render prints a page, without empty lines before and after it.
func render(w io.Writer, text string, answer any) {
	page := template.Must(template.New("page").Funcs(pageWords).Parse(text))
	cleaned(page.Root)
	of := reflect.New(reflect.TypeOf(answer)) // methods of pointers are the answer's too
	of.Elem().Set(reflect.ValueOf(answer))
	var b strings.Builder
	if err := page.Execute(&b, of.Interface()); err != nil {
		panic(err) // TestPages has each page say something
	}
	if said := strings.Trim(b.String(), "\n"); said != "" {
		_, _ = io.WriteString(w, said+"\n")
	}
}

// cleaned has every value of a page said, as package html/template has each escaped.
func cleaned(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, node := range list.Nodes {
		switch node := node.(type) {
		case *parse.ActionNode:
			if len(node.Pipe.Decl) == 0 {
				said := parse.NewIdentifier("said").SetPos(node.Pos)
				node.Pipe.Cmds = append(node.Pipe.Cmds, &parse.CommandNode{NodeType: parse.NodeCommand, Pos: node.Pos, Args: []parse.Node{said}})
			}
		case *parse.IfNode:
			cleaned(node.List)
			cleaned(node.ElseList)
		case *parse.WithNode:
			cleaned(node.List)
			cleaned(node.ElseList)
		case *parse.RangeNode:
			cleaned(node.List)
			cleaned(node.ElseList)
		}
	}
}
