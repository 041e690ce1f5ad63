package exchange_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/exchange"
)

func read(t *testing.T, format, text string, o exchange.Options) (items []exchange.Item, err error) {
	t.Helper()
	f, err := exchange.FormatOf(format)
	if err != nil {
		t.Fatal(err)
	}
	err = f.Read(strings.NewReader(text), o, func(i exchange.Item) bool {
		items = append(items, i)
		return true
	})
	return items, err
}

// shown is an item in one line.
func shown(i exchange.Item) string {
	switch {
	case i.Skipped:
		return i.Place + " skipped: " + i.Refused
	case i.Refused != "":
		return i.Place + " refused: " + strings.TrimSpace(i.Field+" "+i.Refused)
	case i.Record.Kind == router.KindKnowledge:
		k := i.Record.Memory.(*knowledge.Knowledge)
		return i.Place + " " + k.Category + "|" + k.Title + "|" + strings.ReplaceAll(k.Content, "\n", "\\n") + "|" + strings.Join(k.Tags, ",")
	case i.Record.Kind == router.KindEpisode:
		e := i.Record.Memory.(*experience.EpisodeRecord)
		return i.Place + " episode " + e.EventType + "|" + e.Title + "|" + e.Content
	case i.Record.Kind == router.KindLesson:
		l := i.Record.Memory.(*lesson.Lesson)
		return i.Place + " " + string(l.Type) + "|" + l.Title + "|" + strings.Join(l.RelatedCommands, ",") + "|" + strconv.FormatBool(l.Proposed)
	}
	return i.Place + " " + string(i.Record.Kind)
}

func TestFormats(t *testing.T) {
	tests := []struct {
		name, format, text string
		want               []string
		wrong              string
	}{
		{
			name: "lines of knowledge and of an export", format: "jsonl",
			text: "\ufeff{\"title\":\"t\",\"text\":\"c\",\"tags\":[\"x\"]}\n\nnonsense\n{\"kind\":\"knowledge\",\"id\":\"1\",\"category\":\"gotcha\",\"title\":\"a\",\"content\":\"b\"}\n{\"kind\":\"fact\",\"key\":\"k\",\"value\":1}\n{\"kind\":\"agent\"}\n{\"title\":1}\n{\"colour\":2}\n{\"kind\":\"end\",\"records\":2}\n{\"tit",
			want: []string{
				"line 1 pattern|t|c|x", "line 3 refused: is not valid JSON at byte 2", "line 4 gotcha|a|b|", "line 5 fact",
				"line 6 refused: kind is not one of [knowledge episode lesson pattern fact procedure reminder task]",
				"line 7 refused: title may not be of the type number", `line 8 refused: cannot be read: unknown field "colour"`, "line 10 refused: is truncated: it is not finished JSON",
			},
		},
		{
			name: "a line of more than may be held", format: "jsonl",
			text: `{"title":"a"}` + "\n" + strings.Repeat("x", exchange.MaxLine+1) + "\n" + `{"title":"b"}`,
			want: []string{"line 1 pattern|a|a|", "line 2 refused: is longer than 8 MiB", "line 3 pattern|b|b|"},
		},
		{
			name: "engram", format: "engram",
			text: `{"version":"0.1.0","exported_at":"x","sessions":[{"id":"s1","project":"p","started_at":"2026-01-02 03:04:05","summary":"Done."},{"id":"s2"}],
				"observations":[{"id":1,"sync_id":"obs-1","session_id":"s1","type":"bugfix","title":"T","content":"C","scope":"project","created_at":"2026-01-02 03:04:05"},{"id":2,"deleted_at":"x"},{"id":"x"}],
				"prompts":[{"id":1,"session_id":"s1","content":"Why?","created_at":"2026-01-02 03:04:05"}],"other":{"a":[1,{"b":2}]}}`,
			want: []string{
				"sessions[0] episode outcome|Session: Done.|Done.", "sessions[1] skipped: is a session without a summary",
				"observations[0] error_solution|T|C|engram,project", "observations[1] skipped: was deleted in engram", "observations[2] refused: content is required",
				"prompts[0] episode action|Asked: Why?|Why?",
			},
		},
		{name: "engram, truncated", format: "engram", text: `{"observations":[{"id":1,"title":"T","content":"C"},{"id":`, want: []string{"observations[0] pattern|T|C|engram"}, wrong: "truncated"},
		{name: "not engram", format: "engram", text: `{"a":1}`, wrong: "no export of engram"},
		{
			name: "mem0, results", format: "mem0",
			text: `{"results":[{"id":"m1","memory":"Likes tests. A lot.","user_id":"dev","metadata":{"category":"preference","lang":"go"},"created_at":"2026-01-02T03:04:05.1-07:00"},{"id":"m2"}],"count":2}`,
			want: []string{"results[0] preference|Likes tests.|Likes tests. A lot.|mem0,lang:go,user:dev", "results[1] refused: memory is required"},
		},
		{name: "mem0, a list", format: "mem0", text: ` [{"memory":"x","agent_id":"a b"}]`, want: []string{"[0] pattern|x|x|mem0,agent:a b"}},
		{name: "mem0, something behind it", format: "mem0", text: `[] {}`, wrong: "something follows"},
		{
			name: "a knowledge graph", format: "mcp-memory",
			text: `{"type":"entity","name":"Ada","entityType":"person","observations":["writes Go","likes tea"]}` + "\n" + `{"type":"relation","from":"Ada","to":"Shop","relationType":"works_at"}` + "\n" + `{"type":"x"}` + "\n" + `{"type":"entity"}`,
			want: []string{
				"line 1 person|Ada|- writes Go\\n- likes tea|mcp-memory,person", "line 2 relation|Ada works at Shop|Ada works at Shop|mcp-memory,works_at",
				"line 3 refused: type must be entity or relation", "line 4 refused: name is required",
			},
		},
		{
			name: "markdown", format: "markdown", text: "---\ntags: [a, b]\n---\nIntro.\n# One\nText of one.\n```\n# no heading\n```\n## Two\n\n### Three\nText of three.\n",
			want: []string{
				"standard input:4 pattern|standard input|Intro.|a,b", "standard input:5 pattern|One|Text of one.\\n```\\n# no heading\\n```|a,b", "standard input:12 pattern|Three|Text of three.|a,b",
			},
		},
		{
			name: "instructions", format: "claude-md", text: "# Build\n- Use `make`.\nNever npm.\n- **Lint** first.\n@../secret.md\n\nA paragraph.\n",
			want: []string{
				"standard input:2 best_practice|Build: Use make.|Use `make`.\\nNever npm.|instructions",
				"standard input:5 skipped: refers to another file, which is not followed",
				"standard input:4 best_practice|Build: Lint first.|**Lint** first.|instructions",
				"standard input:7 best_practice|Build: A paragraph.|A paragraph.|instructions",
			},
		},
		{
			name: "instructions that announce", format: "claude-md",
			text: "# *Guide* to `x`\n<!-- a\nb -->\nRun the tests with:\n\n```bash\nmake **test**\n```\n***\nNever:\n- push\n- prune\n\n- See [the docs](https://e.org/a) of __init__.py.\n",
			want: []string{
				"standard input:4 best_practice|Guide to x: Run the tests with: make test|Run the tests with:\\n\\n```bash\\nmake **test**\\n```|instructions",
				"standard input:10 best_practice|Guide to x: Never: push|Never:\\n- push\\n- prune\\n\\n- See [the docs](https://e.org/a) of __init__.py.|instructions",
			},
		},
		{
			name: "a table, code and headings in bold letters", format: "claude-md",
			text: "# App\n## Services\n| Name | Port |\n|---|---|\n| **api** | `80` |\n| db | 5432 |\n\n**Start**\n- one\n- two\n\n```\ngo\n```\n### Known issues\nSlow.\n",
			want: []string{
				"standard input:5 best_practice|Services: api: 80|| Name | Port |\\n|---|---|\\n| **api** | `80` ||instructions",
				"standard input:6 best_practice|Services: db: 5432|| Name | Port |\\n|---|---|\\n| db | 5432 ||instructions",
				"standard input:8 best_practice|Services: Start|**Start**\\n- one\\n- two\\n\\n```\\ngo\\n```|instructions",
				"standard input:16 gotcha|Services > Known issues: Slow.|Slow.|instructions",
			},
		},
		{
			name: "what is forbidden", format: "claude-md", text: "# Ops\n- Never run `docker volume prune`\n- Hosts:\n  - Do not use `sudo`\n- Never commit without `make lint`\n",
			want: []string{
				"standard input:2 best_practice|Ops: Never run docker volume prune|Never run `docker volume prune`|instructions",
				"standard input:3 best_practice|Ops: Hosts: Do not use sudo|Hosts:\\n- Do not use `sudo`|instructions",
				"standard input:5 best_practice|Ops: Never commit without make lint|Never commit without `make lint`|instructions",
				"standard input:2 anti_pattern|Never run docker volume prune|docker volume prune|true",
				"standard input:4 anti_pattern|Do not use sudo|sudo|true",
			},
		},
		{
			name: "what is forbidden in sentences", format: "claude-md", text: "Never run `terraform destroy`.\n\n> [!CAUTION]\n> Do not `kubectl delete ns` by hand.\n",
			want: []string{
				"standard input:1 best_practice|Never run terraform destroy.|Never run `terraform destroy`.|instructions",
				"standard input:3 best_practice|Do not kubectl delete ns by hand.|> [!CAUTION]\\n> Do not `kubectl delete ns` by hand.|instructions",
				"standard input:1 anti_pattern|Never run terraform destroy.|terraform destroy|true",
				"standard input:3 anti_pattern|Do not kubectl delete ns by hand.|kubectl delete ns|true",
			},
		},
		{
			name: "a heading that forbids", format: "markdown", text: "## Never `git push --force`\nIt drops work.\n",
			want: []string{
				"standard input:1 pattern|Never git push --force|It drops work.|", "standard input:1 anti_pattern|Never git push --force|git push --force|true",
			},
		},
		{name: "a bad line", format: "claude-md", text: "- one\n- tw\xffo\n- three\n", want: []string{
			"standard input:1 best_practice|one|one|instructions", "standard input:3 best_practice|three|three|instructions", "standard input:2 refused: is not valid UTF-8",
		}},
		{name: "a reference", format: "claude-md", text: "@/etc/passwd\n", want: []string{"standard input:1 skipped: refers to another file, which is not followed"}},
		{
			name: "a note", format: "basic-memory",
			text: "---\ntitle: Coffee\ntype: guide\ntags: [brewing]\npermalink: coffee\n---\n# Coffee\nGood.\n## Observations\n- [method] Pour over is clear #taste (personal)\n- [ ] a task\n- [10:30] a time\n## Relations\n- relates_to [[Tea]]\n",
			want: []string{
				"standard input:10 method|Coffee: Pour over is clear|Pour over is clear #taste\\n\\nContext: personal|brewing,guide,taste",
				"standard input:14 relation|Coffee relates to Tea|Coffee relates to Tea|relates_to,brewing,guide",
				"standard input:7 note|Coffee|Coffee\\n\\nGood.\\n\\nObservations\\n\\n- [ ] a task\\n- [10:30] a time|brewing,guide",
			},
		},
		{
			name: "a secret across the end of a title", format: "mem0",
			text: `[{"memory":"` + strings.Repeat("x ", 53) + `AKIAIOSFODNN7EXAMPLE"}]`,
			want: []string{"[0] pattern|" + strings.Repeat("x ", 53) + "[redacted:…|" + strings.Repeat("x ", 53) + "AKIAIOSFODNN7EXAMPLE|mem0"}, // what is stored of the content, learning cuts out
		},
		{name: "no text", format: "markdown", text: "a\xff", want: []string{"standard input:1 refused: is not valid UTF-8"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			items, err := read(t, test.format, test.text, exchange.Options{})
			var got []string
			for _, i := range items {
				got = append(got, shown(i))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			if (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
				t.Errorf("the error is %v, and should say %q", err, test.wrong)
			}
			again, _ := read(t, test.format, test.text, exchange.Options{})
			for n := range again {
				if k, ok := again[n].Record.Memory.(*knowledge.Knowledge); ok && k.ID != items[n].Record.Memory.(*knowledge.Knowledge).ID {
					t.Errorf("%s has another id the second time", items[n].Place)
				}
			}
		})
	}
}

func TestReadFolder(t *testing.T) {
	f, _ := exchange.FormatOf("basic-memory")
	folder := fstest.MapFS{
		"b/two.md": {Data: []byte("Two.")}, "one.md": {Data: []byte("One.")}, "x.txt": {Data: []byte("no")}, ".git/c.md": {Data: []byte("no")},
		"link.md": {Data: []byte("/etc/passwd"), Mode: 0o777 | 1<<27},
	}
	var got []string
	if err := f.ReadFolder(folder, exchange.Options{}, func(i exchange.Item) bool {
		got = append(got, shown(i))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	want := []string{"b/two.md:1 note|two|Two.|", "link.md refused: is no regular file", "one.md:1 note|one|One.|"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestHugeLine passes over a line of 1 GiB without holding it.
// TestEngramFolder reads the chunks of a repository, of which a broken one refuses itself and no other.
func TestEngramFolder(t *testing.T) {
	packed := func(text string) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	good := packed(`{"sessions":[],"observations":[{"id":1,"sync_id":"obs-1","type":"bugfix","title":"T","content":"C","project":"demo"}],"prompts":[]}`)
	folder := fstest.MapFS{
		".engram/manifest.json":       {Data: []byte(`{"version":1}`)},
		".engram/chunks/a.jsonl.gz":   {Data: good},
		".engram/chunks/b.jsonl.gz":   {Data: good[:len(good)-12]},
		".engram/chunks/c.jsonl.gz":   {Data: []byte("no gzip")},
		".engram/chunks/d.jsonl.gz":   {Data: packed(`{"observations":[{"id":2,"title":"U","content":"D"}]}`)},
		".engram/chunks/e.jsonl.gz":   {Data: good, Mode: fs.ModeSymlink},
		".git/chunks/hidden.jsonl.gz": {Data: good},
	}
	f, err := exchange.FormatOf("engram")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := f.ReadFolder(folder, exchange.Options{}, func(i exchange.Item) bool {
		got = append(got, shown(i))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	const broken = " refused: cannot be read to its end: "
	want := []string{
		".engram/chunks/a.jsonl.gz, observations[0] error_solution|T|C|engram",
		".engram/chunks/b.jsonl.gz, observations[0] error_solution|T|C|engram", // the end alone is missing
		".engram/chunks/b.jsonl.gz" + broken + "something follows the document, at byte 131", ".engram/chunks/c.jsonl.gz" + broken + "unexpected EOF",
		".engram/chunks/d.jsonl.gz, observations[0] pattern|U|D|engram", ".engram/chunks/e.jsonl.gz refused: is no regular file",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestHugeLine(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a gigabyte")
	}
	f, _ := exchange.FormatOf("jsonl")
	var got []string
	err := f.Read(io.MultiReader(strings.NewReader(`{"title":"a"}`+"\n"), io.LimitReader(endless{}, 1<<30), strings.NewReader("\n"+`{"title":"b"}`)), exchange.Options{}, func(i exchange.Item) bool {
		got = append(got, shown(i))
		return true
	})
	if err != nil || len(got) != 3 || !strings.HasPrefix(got[1], "line 2 refused") {
		t.Errorf("%q, %v", got, err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func fuzz(f *testing.F, format string, seeds ...string) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		items, _ := read(t, format, text, exchange.Options{})
		for _, i := range items {
			if i.Place == "" || (i.Refused == "") == (i.Record.Kind == "") {
				t.Fatalf("%+v is neither a record nor refused", i)
			}
		}
	})
}

func FuzzLines(f *testing.F) {
	fuzz(f, "jsonl", `{"kind":"lesson","id":"x"}`+"\n", "{", "\ufeff{}\r\n[1]")
}

func FuzzMarkdown(f *testing.F) {
	fuzz(f, "markdown", "---\na: [b, c]\n---\n# x\n```\n# y\n", "---\n---", "#\n##### z\nt")
}
func FuzzInstructions(f *testing.F) { fuzz(f, "claude-md", "- a\n  b\n1. c\n\n@d\n```\n- e\n") }
func FuzzEngram(f *testing.F) {
	fuzz(f, "engram", `{"sessions":null,"observations":[{"id":1},2],"prompts":[{}]}`, `{"observations":{}}`)
}

func FuzzMem0(f *testing.F) {
	fuzz(f, "mem0", `{"results":[{"memory":"x","metadata":{"tags":[1]}}]}`, `[{}]`, " ")
}

func FuzzGraph(f *testing.F) {
	fuzz(f, "mcp-memory", `{"type":"entity","name":"a"}`, `{"type":"relation"}`)
}

func FuzzNote(f *testing.F) {
	fuzz(f, "basic-memory", "---\ntitle: x\n---\n- [a] b #c (d)\n- e [[f]] g\n", "- [[a]]")
}

// TestProjectsApart: the same words of two projects are an entry each, and the same again is the same.
func TestProjectsApart(t *testing.T) {
	of := func(format, text, project string) (ids []string) {
		items, err := read(t, format, text, exchange.Options{Project: project})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range items {
			ids = append(ids, i.Record.Memory.(*knowledge.Knowledge).ID)
		}
		return ids
	}
	for format, text := range map[string]string{
		"claude-md": "# Testing\n- Run `make test`\n", "markdown": "# Testing\nRun it.\n", "mcp-memory": `{"type":"entity","name":"default_user","observations":["likes Go"]}`,
		"jsonl": `{"id":"mine","title":"t","text":"c"}`,
	} {
		shop, infra, none := of(format, text, "shop"), of(format, text, "infra"), of(format, text, "")
		if format == "jsonl" { // which says its own
			if !slices.Equal(shop, []string{"mine"}) || !slices.Equal(infra, shop) {
				t.Errorf("%s: %q, %q", format, shop, infra)
			}
			continue
		}
		if len(shop) != 1 || shop[0] == infra[0] || shop[0] == none[0] || !slices.Equal(shop, of(format, text, "shop")) {
			t.Errorf("%s: %q, %q, %q", format, shop, infra, none)
		}
	}
}

// TestHeadingsThatEndInASign: a sign closes a heading only behind a space.
func TestHeadingsThatEndInASign(t *testing.T) {
	items, err := read(t, "markdown", "## Using C#\nAs here.\n\n## Closed ##\nAs there.\n", exchange.Options{})
	if err != nil || len(items) != 2 {
		t.Fatalf("%+v, %v", items, err)
	}
	for i, want := range []string{"Using C#", "Closed"} {
		if title := items[i].Record.Memory.(*knowledge.Knowledge).Title; title != want {
			t.Errorf("%q, want %q", title, want)
		}
	}
}

// TestTimesOfLines: what another system calls a time is read as one, and what stands within a value stays as it is.
func TestTimesOfLines(t *testing.T) {
	format, err := exchange.FormatOf("jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := `{"title":"a","content":"x","created_at":"2025-01-02 03:04:05"}
{"kind":"fact","persona":"p","key":"k","category":"c","value":{"seen_at":"2025-01-02 03:04:05"},"version":1,"ttl":0,"trust":"agent","access_count":0,"_cached_at":"2025-01-02 03:04:05","created_at":"2025-01-02T03:04:05Z","updated_at":"2025-01-02T03:04:05Z"}
`
	var got []string
	if err := format.Read(strings.NewReader(lines), exchange.Options{}, func(i exchange.Item) bool {
		text, _ := json.Marshal(i.Record.Memory)
		got = append(got, i.Refused+string(text))
		return true
	}); err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	if !strings.Contains(got[0], `"created_at":"2025-01-02T03:04:05Z"`) || !strings.Contains(got[1], `{"seen_at":"2025-01-02 03:04:05"}`) {
		t.Errorf("%s", got)
	}
}
