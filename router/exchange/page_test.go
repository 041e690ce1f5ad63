package exchange_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/exchange"
	"github.com/skillrouter/skillrouter/router/transfer"
)

func decoded(t interface{ Fatal(...any) }, kind string, text string) transfer.Record {
	r, err := transfer.DecodeRecord(kind, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// plain is a record as its values, however their JSON is escaped.
func plain(t interface{ Fatal(...any) }, r transfer.Record) (members map[string]any) {
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	return members
}

// back writes a record as a page and reads it again.
func back(t interface {
	Fatal(...any)
	Helper()
}, kind string, record []byte,
) (name, page string, item exchange.Item) {
	t.Helper()
	name, text, err := exchange.Page(kind, record)
	if err != nil {
		t.Fatal(err)
	}
	f, _ := exchange.FormatOf("markdown")
	var items []exchange.Item
	if err := f.ReadFolder(fstest.MapFS{name: {Data: text}}, exchange.Options{}, func(i exchange.Item) bool { items = append(items, i); return true }); err != nil || len(items) != 1 {
		t.Fatal(items, err)
	}
	return name, string(text), items[0]
}

func TestPage(t *testing.T) {
	name, page, _ := back(t, router.KindLesson, []byte(`{"kind":"lesson","id":"l1","number":7,"lesson_type":"failure","title":"Migrations: lock <the> table","context":"At night.\n\n## Not ours","outcome":"Down\u001b[2J","solution":"Do it\nlater.\n","tags":["sql"],"confidence":0.51,"created_at":"2026-01-02T03:04:05Z"}`))
	if !regexp.MustCompile(`^lessons/migrations-lock-the-table-[0-9a-f]{16}\.md$`).MatchString(name) {
		t.Error(name)
	}
	want := `---
skillrouter_record: lesson
id: "l1"
title: "Migrations: lock <the> table"
created_at: "2026-01-02T03:04:05Z"
lesson_type: "failure"
outcome: "Down\u001b[2J"
tags: ["sql"]
---

# Migrations: lock <the> table

## Context

At night.

## Not ours

## Solution

Do it
later.

`
	if diff := cmp.Diff(want, page); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestPageNames holds the names of hostile titles to what every system takes.
func TestPageNames(t *testing.T) {
	fits := regexp.MustCompile(`^[a-z]+/[a-z0-9][a-z0-9-]*-[0-9a-f]{16}\.md$`)
	seen := map[string]bool{}
	for i, title := range []string{
		"../../etc/passwd", `..\..\x`, "/abs", "C:\\x", "con", "NUL", "a/b", "", ".", "日本語", strings.Repeat("long ", 100), "a\x00b\nc", "-rf", "A", "a", "~root", "%2e%2e%2f", "x.md/..",
	} {
		record, _ := json.Marshal(map[string]any{"id": []string{"../x", "y"}[i%2] + title, "title": title, "content": "c"})
		name, _, err := exchange.Page(router.KindKnowledge, record)
		if err != nil || !fits.MatchString(name) || len(name) > 100 || seen[name] {
			t.Errorf("%q becomes %q, %v", title, name, err)
		}
		seen[name] = true
	}
}

// TestPageComesBack holds that whatever a text is, its page gives it back.
func TestPageComesBack(t *testing.T) {
	texts := rapid.OneOf(
		rapid.String(),
		rapid.StringOfN(rapid.RuneFrom([]rune("# \n-:\r\tab\u2028\u0085\"")), 0, 40, -1),
		rapid.SampledFrom([]string{"", "\n", " x ", "---", "\n---\n", "## Context", "## Solution\n\nx", "# A\n\n# B", "\n\nx\n\n", "```\n# a\n```", "null", "5", "\ufeffx", "---\nskillrouter_record: fact\n---\n"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := func(label string) string { return strings.ToValidUTF8(texts.Draw(t, label), "") }
		for kind, members := range map[string]map[string]any{
			router.KindKnowledge: {"id": text("id"), "title": text("title"), "content": text("content"), "tags": []string{text("tag")}},
			router.KindLesson:    {"id": "x", "title": text("title"), "context": text("context"), "action_taken": text("action"), "outcome": "o", "body": text("body"), "solution": text("solution")},
			router.KindEpisode:   {"id": "e", "title": "t", "content": text("content"), "learned": text("learned"), "context": map[string]any{text("name"): 1.5}},
			router.KindFact:      {"persona": "p", "key": text("key"), "value": []any{text("value"), nil, 2}},
		} {
			record, err := json.Marshal(members)
			if err != nil {
				t.Fatal(err)
			}
			_, page, item := back(t, kind, record)
			if diff := cmp.Diff(plain(t, decoded(t, kind, string(record))), plain(t, item.Record)); diff != "" || item.Refused != "" {
				t.Fatalf("%s (-was +is)\n%s\n%s", item.Refused, diff, page)
			}
		}
	})
}

func TestPageRefuses(t *testing.T) {
	for _, test := range []struct {
		kind   string
		record string
	}{{"agent", `{}`}, {router.KindFact, `[]`}, {router.KindFact, `{"a\n---\n": 1}`}} {
		if _, _, err := exchange.Page(test.kind, []byte(test.record)); err == nil {
			t.Errorf("a %s %s becomes a page", test.kind, test.record)
		}
	}
}

func TestReadPages(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{
			name: "written by hand", text: "---\nskillrouter_record: knowledge\n# a comment\ntitle: Don't guess\ntags:\n  - one\n  - \"two\"\ncategory: 'gotcha'\n---\nAsk.\n",
			want: []string{"standard input gotcha|Don't guess|Ask.|one,two"},
		},
		{name: "an index", text: string(exchange.Index(map[string]int{router.KindFact: 2}))},
		{name: "a kind that there is not", text: "---\nskillrouter_record: agent\n---\n", want: []string{"standard input refused: skillrouter_record is not one of [knowledge episode lesson pattern fact procedure reminder task]"}},
		{name: "no end", text: "---\nskillrouter_record: fact\nkey: x\n", want: []string{"standard input refused: is truncated: its front matter has no end"}},
		{name: "a member that there is not", text: "---\nskillrouter_record: fact\ncolour: red\n---\n", want: []string{`standard input refused: colour is no field of this request`}},
		{name: "a wrong type", text: "---\nskillrouter_record: knowledge\ntitle: 5\n---\nx\n", want: []string{"standard input refused: title may not be of the type number"}},
		{name: "no line of front matter", text: "---\nskillrouter_record: fact\nwhat\n---\n", want: []string{"standard input refused: has front matter that cannot be read, in line 3"}},
		{name: "said twice", text: "---\nskillrouter_record: fact\nkey: a\nkey: b\n---\n", want: []string{"standard input refused: says key twice in its front matter, in line 4 again"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			items, err := read(t, "markdown", test.text, exchange.Options{})
			var got []string
			for _, i := range items {
				got = append(got, shown(i))
			}
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

func FuzzPage(f *testing.F) {
	fuzz(f, "markdown", "---\nskillrouter_record: lesson\nid: \"x\"\n---\n# t\n\n## Context\n\nc\n", "---\nskillrouter_record: fact\nvalue: [1\n---", "---\nskillrouter_record: index\n---\n")
}
