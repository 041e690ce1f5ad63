package contexts_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/contexts"
	"github.com/skillrouter/skillrouter/tfidf"
)

// labelled is a block of testdata/quiet: what is asked in a project, and every entry that belongs to it.
type labelled struct {
	project, text string
	belong        []string
}

func readLabelled(t *testing.T, name string) (all []labelled) {
	t.Helper()
	raw, err := os.ReadFile("testdata/quiet/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(strings.TrimSpace(string(raw)), "\n\n") {
		head, rest, _ := strings.Cut(block, "\n")
		at := strings.LastIndex(rest, "\n=")
		all = append(all, labelled{strings.TrimPrefix(head, "> "), rest[:at], strings.Fields(rest[at+2:])})
	}
	return all
}

// quietMemory is a memory of so many entries over three projects: 66 notes that were written for these, and pages on commands.
func quietMemory(t *testing.T, entries int) indexed {
	t.Helper()
	x := indexed{&stock{}, tfidf.New(tfidf.Options{})}
	var lines []string
	for _, name := range []string{"notes.txt", "pages.txt"} {
		raw, err := os.ReadFile("testdata/quiet/" + name)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(strings.TrimSpace(string(raw)), "\n")...)
	}
	projects := []string{"pedal", "ledgerly", "tidepool"}
	for i, line := range lines[:entries] {
		part := strings.SplitN(line, " | ", 3)
		head := strings.Fields(part[0])
		id, kind, project, title, text := head[0], router.KindKnowledge, projects[i%len(projects)], part[1], part[2]
		if len(head) == 3 && strings.Contains("PLT", head[0][:1]) {
			kind, project = head[1], head[2]
		} else {
			id, title = fmt.Sprintf("page-%d", i), part[0]+": "+part[1]
		}
		switch kind {
		case router.KindLesson:
			x.lessons = append(x.lessons, lesson.Lesson{ID: id, Level: lesson.LevelCase, Title: title, Solution: text, Project: project, Trust: learning.TrustAgent, Confidence: 0.8, LastOccurred: now})
		case router.KindFact:
			id = title
			x.facts = append(x.facts, fact.Fact{Persona: "default", Key: title, Value: []byte(text), Trust: learning.TrustAgent, CachedAt: now})
		default:
			e := entry(id, title, text)
			e.Project = project
			x.knowledge = append(x.knowledge, e)
		}
		x.index.Put(tfidf.Document{ID: id, Title: title, Body: text})
	}
	return x
}

// factOf are the notes that are facts, which are known by their keys.
var factOf = map[string]string{"P19": "pedal.release.day", "L20": "ledgerly.oncall", "T20": "tidepool.beta.group"}

// quietFigures are what a labelled set gives.
type quietFigures struct{ needed, answered, needless, silent, told, right, characters, asked int }

func figuresOf(t *testing.T, x indexed, set []labelled, failure bool) (f quietFigures) {
	t.Helper()
	b := contexts.NewBuilder(contexts.Sources{
		Lessons: x.stock, Knowledge: stockKnowledge{x.stock}, Facts: stockFacts{x.stock}, Words: []router.Frequencies{x},
	}, contexts.Options{Now: func() time.Time { return now }})
	for _, p := range set {
		c, err := b.Build(asReader(t), contexts.Request{Prompt: true, Failure: failure, Task: p.text, Budget: 600, Project: p.project})
		if err != nil {
			t.Fatal(err)
		}
		got, right := ids(c), 0
		for _, id := range got {
			if slices.ContainsFunc(p.belong, func(b string) bool { return b == id || factOf[b] == id }) {
				right++
			}
		}
		f.asked, f.told, f.right, f.characters = f.asked+1, f.told+len(got), f.right+right, f.characters+utf8.RuneCountInString(c.Text)
		switch {
		case len(p.belong) > 0:
			f.needed++
			if right > 0 {
				f.answered++
			}
		case len(got) == 0:
			f.needless, f.silent = f.needless+1, f.silent+1
		default:
			f.needless++
		}
		if right < len(got) || len(p.belong) > 0 && right == 0 {
			t.Logf("%q is told %q, and %q belong", strings.ReplaceAll(p.text, "\n", "/"), got, p.belong)
		}
	}
	t.Logf("of %d entries: answered %d of %d, silent %d of %d, of %d told %d belong, %d characters a text",
		len(x.knowledge)+len(x.lessons)+len(x.facts), f.answered, f.needed, f.silent, f.needless, f.told, f.right, f.characters/f.asked)
	return f
}

// TestQuietPrompts: a prompt is told little, and what it is told belongs to it. First figures: of 66 entries 24 answered, 19 silent and
// 25 of 45 right, of 300 entries 24, 17 and 25 of 68.
func TestQuietPrompts(t *testing.T) {
	for _, entries := range []int{66, 300} {
		t.Run(fmt.Sprint(entries), func(t *testing.T) {
			f := figuresOf(t, quietMemory(t, entries), readLabelled(t, "prompts.txt"), false)
			if f.needed != 31 || f.needless != 20 || f.answered < 20 || f.silent < 19 || f.right*100 < f.told*60 || f.characters > 200*f.asked {
				t.Errorf("%+v", f)
			}
		})
	}
}

// TestQuietLanguages: a prompt in another language that needs nothing is told nothing.
func TestQuietLanguages(t *testing.T) {
	for _, entries := range []int{66, 300} {
		t.Run(fmt.Sprint(entries), func(t *testing.T) {
			if f := figuresOf(t, quietMemory(t, entries), readLabelled(t, "languages.txt"), false); f.needless != 16 || f.silent < 15 {
				t.Errorf("%+v", f)
			}
		})
	}
}

// TestQuietFailures: a failure that nobody knows is not spoken to. First figures: 4 and 3 of 14 silent, and 5 of 32 and 64 told right.
func TestQuietFailures(t *testing.T) {
	for _, entries := range []int{66, 300} {
		t.Run(fmt.Sprint(entries), func(t *testing.T) {
			f := figuresOf(t, quietMemory(t, entries), readLabelled(t, "failures.txt"), true)
			if f.needed != 6 || f.needless != 14 || f.answered < 3 || f.silent < 13 {
				t.Errorf("%+v", f)
			}
		})
	}
}

// TestInstructed: what the folder's own instructions say word for word is told neither at a start nor with a prompt.
func TestInstructed(t *testing.T) {
	tree := t.TempDir()
	if err := os.WriteFile(filepath.Join(tree, "CLAUDE.md"), []byte("# Tests\n\n- Use `make quick OTTER`.\n- It takes\n  a minute!\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &stock{}
	for id, said := range map[string]string{"said": "Use make quick OTTER. It takes a minute.", "more": "Use make quick OTTER. It wants the VPN."} {
		e := entry(id, "How the otters are tested", said)
		if e.Project = "shop"; id == "more" {
			e.Title = "When the otters are tested"
		}
		s.knowledge = append(s.knowledge, e)
	}
	for name, request := range map[string]contexts.Request{
		"start": {Start: true, Budget: 1000, Project: "shop", Folder: tree}, "prompt": {Prompt: true, Task: "test the otters", Budget: 600, Project: "shop", Folder: tree},
	} {
		for want, caller := range map[int]principal.Principal{1: principal.System().FromNear(), 2: principal.System()} {
			c, err := s.builder().Build(principal.With(t.Context(), caller), request)
			if err != nil {
				t.Fatal(err)
			}
			if got := ids(c); len(got) != want || !slices.Contains(got, "more") {
				t.Errorf("%s: it is told %q", name, got)
			}
		}
	}
}
