package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/learning/knowledge"
	"skillrouter/router/exchange"
)

func TestImportLines(t *testing.T) {
	tests := []struct {
		name, text string
		want       []knowledge.Draft
		lines      []int // where each draft came from
		refused    []int
	}{
		{
			name: "the fields of an entry",
			text: `{"id":"1","category":"gotcha","title":"t","content":"c","tags":["x"],"project":"p","source":"s","agent_id":"a"}`,
			want: []knowledge.Draft{{ID: "1", Category: "gotcha", Title: "t", Content: "c", Tags: []string{"x"}, Project: "p", Source: "s", AgentID: "a"}}, lines: []int{1},
		},
		{
			name: "other names, defaults, blank lines and a byte order mark",
			text: "\ufeff{\"title\":\"t\",\"text\":\"c\",\"scope\":\"p\"}\r\n\n  \n{\"title\":\"u\",\"body\":\"d\"}",
			want: []knowledge.Draft{
				{Category: "pattern", Title: "t", Content: "c", Project: "p", Tags: []string{"imported"}},
				{Category: "pattern", Title: "u", Content: "d", Project: "default", Tags: []string{"imported"}},
			}, lines: []int{1, 4},
		},
		{name: "a title alone stands for its content", text: `{"title":"t","tags":["x"],"project":"p"}`, want: []knowledge.Draft{{Category: "pattern", Title: "t", Content: "t", Tags: []string{"x"}, Project: "p"}}, lines: []int{1}},
		{name: "what is no entry", text: "[1]\nnull x\n{\"title\":1}\n{\"x\":1}\n{} {}\n\"t\"\n{", refused: []int{1, 2, 3, 4, 5, 6, 7}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := &lineReader{defaults: knowledge.Draft{Category: "pattern", Project: "default", Tags: []string{"imported"}}, read: func(int) {}}
			got := slices.Collect(l.drafts(strings.NewReader(test.text)))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(test.lines, l.lines); diff != "" {
				t.Errorf("lines (-want +got)\n%s", diff)
			}
			var refused []int
			for _, r := range l.refused {
				refused = append(refused, r.Line)
			}
			if diff := cmp.Diff(test.refused, refused); diff != "" || l.err != nil {
				t.Errorf("refused (-want +got)\n%s %v", diff, l.err)
			}
		})
	}
}

func TestImportLineTooLong(t *testing.T) {
	l := &lineReader{read: func(int) {}}
	got := slices.Collect(l.drafts(strings.NewReader("{\"title\":\"t\"}\n" + strings.Repeat("x", exchange.MaxLine+1) + "\n{\"title\":\"u\"}")))
	if len(got) != 2 || len(l.refused) != 1 || l.refused[0].Line != 2 || l.err != nil {
		t.Errorf("%d drafts, refused %v, error %v", len(got), l.refused, l.err)
	}
}

// FuzzImport checks that each line that is not blank is sent or refused, never both and never lost.
func FuzzImport(f *testing.F) {
	f.Add("{\"title\":\"t\",\"text\":\"x\"}\n\nnonsense\n{}")
	f.Add("\ufeff{\"tags\":[null]}\r\n{\"title\":\"\\ud800\"}")
	f.Fuzz(func(t *testing.T, text string) {
		l := &lineReader{read: func(int) {}}
		drafts := slices.Collect(l.drafts(strings.NewReader(text)))
		want := 0
		for i, line := range strings.Split(text, "\n") {
			if i == 0 {
				line = strings.TrimPrefix(line, "\ufeff")
			}
			if strings.TrimSpace(line) != "" {
				want++
			}
		}
		if l.err != nil || len(drafts)+len(l.refused) != want || len(l.lines) != len(drafts) {
			t.Fatalf("%d drafts, %d refused of %d lines: %v", len(drafts), len(l.refused), want, l.err)
		}
	})
}
