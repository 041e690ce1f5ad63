package lease_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/comms/lease"
)

func compile(t rapid.TB, pattern string) lease.Glob {
	t.Helper()
	g, err := lease.Compile(pattern, true)
	if err != nil {
		t.Fatalf("%q: %v", pattern, err)
	}
	return g
}

func TestOverlaps(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"src/a.go", "src/a.go", true},
		{"src/a.go", "src/b.go", false},
		{"src", "src/deep/a.go", true}, // a folder is all that lies below it
		{"src/", "src/deep/a.go", true},
		{"src", "srcs/a.go", false},
		{"src/*", "src/deep/a.go", false},
		{"src/*.go", "src/a.*", true},
		{"src/*.go", "src/*.ts", false},
		{"**/*.go", "src/**", true},
		{"**/*_test.go", "**/server*", true},
		{"a*c", "ab*", true},
		{"a*b", "*c", false},
		{"**", "x", true},
		{"**/x/**", "**/y/**", true},
		{"*/x", "y/*", true},
		{"*/x", "y/z", false},
		{"{src,docs}/**", "docs/x.md", true},
		{"{src,docs}/**", "test/x.md", false},
		{"[a-c].txt", "[c-e].txt", true},
		{"[a-c].txt", "d.txt", false},
		{"[a-c].txt", "[d-e].txt", true}, // two classes are not compared
		{"[!aA].txt", "a.txt", false},
		{"[!a].txt", "[!b].txt", true},
		{`a\*b`, "a*b", true},
		{`a\*b`, "axb", false},
		{"README.md", "readme.MD", true}, // one file on a Mac
		{"stra\u00dfe/é", "STRA\u1e9eE/e\u0301", true},
		{"[A-Z]x", "qX", true},
		{"[!A]x", "ax", true}, // A.x is another file than a.x where case counts
		{"[!aA]x", "ax", false},
		{"./src/./a", "src/a", true},
		{"src/.", "src/a", true},
		{"", ".", true},
	} {
		if c.a == "" {
			c.a = "."
		}
		a, b := compile(t, c.a), compile(t, c.b)
		if a.Overlaps(b) != c.want || b.Overlaps(a) != c.want {
			t.Errorf("%q and %q: overlap %v, want %v", c.a, c.b, a.Overlaps(b), c.want)
		}
	}
}

// TestBracketsAreNames takes routes of web frameworks, whose folders have brackets and braces in their names.
func TestBracketsAreNames(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"src/[id]/page.tsx", "src/[id]/page.tsx", true},
		{"src/[id]/page.tsx", "src/i/page.tsx", false},
		{"src/[id]/**", "src/[ID]/deep/page.tsx", true}, // one file on a Mac
		{"src/[id]", "src/[id]/page.tsx", true},
		{"src/[...slug]/page.tsx", "src/[...slug]/page.tsx", true},
		{"src/[[...slug]]/page.tsx", "src/[[...slug]]/page.tsx", true},
		{"src/[[lang=lang]]/*.svelte", "src/[[lang=lang]]/+page.svelte", true},
		{"src/[", "src/[", true},
		{"src/]", "src/]", true},
		{"src/[b-a].ts", "src/[b-a].ts", true},
		{`src/\[id\]/a`, "src/[id]/a", true}, // who escaped them before
		{`src/\\[id]/a`, `src/\[id]/a`, true},
		{"{app,src}/[id]/a", "app/[id]/a", true},
		{"routes/{-$lang}/a.ts", "routes/{-$lang}/a.ts", true},
		{"routes/{-$lang}/a.ts", "routes/-$lang/a.ts", false},
		{"routes/{a,{b}}.ts", "routes/{b}.ts", true},
	} {
		g, err := lease.Compile(c.pattern, false)
		if err != nil {
			t.Errorf("%q: %v", c.pattern, err)
			continue
		}
		p, ok := lease.Path(c.path, false)
		if !ok || g.Overlaps(p) != c.want || p.Overlaps(g) != c.want {
			t.Errorf("%q and the path %q: overlap %v, want %v", c.pattern, c.path, !c.want, c.want)
		}
	}
}

func TestPatternsThatAreRefused(t *testing.T) {
	for _, pattern := range []string{
		"", " ", "/etc/passwd", "../x", "a/../../x", "~/x", `C:\x`, "a[", "a[]", "a[b-a]", "{a,b", "a}", "a\\", "a\x00b", strings.Repeat("a", lease.MaxPattern+1),
		strings.Repeat("{a,b}", 7), strings.Repeat("{a,b,c,d}", 40), "[a/b]",
	} {
		if _, err := lease.Compile(pattern, true); err == nil {
			t.Errorf("%q is taken", pattern)
		}
	}
}

func TestEverything(t *testing.T) {
	for pattern, want := range map[string]bool{"**": true, "*": true, "**/*": true, "*/?*": true, "{src,**}": true, ".": true, "**/*.go": false, "src": false, "s*/**": false} {
		if compile(t, pattern).Everything() != want {
			t.Errorf("%q: everything is %v", pattern, !want)
		}
	}
}

// The small alphabet makes what two patterns share likely.
var (
	piece   = rapid.SampledFrom([]string{"a", "b", "ab", "A", "*", "?", "[ab]", "[!a]", "[!b]", "{a,b}", "{a,*b}", "é", `\*`})
	element = rapid.Custom(func(t *rapid.T) string {
		if rapid.IntRange(0, 3).Draw(t, "deep") == 0 {
			return "**"
		}
		return strings.Join(rapid.SliceOfN(piece, 1, 4).Draw(t, "pieces"), "")
	})
	pattern = rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(element, 1, 4).Draw(t, "elements"), "/") })
	name    = rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "B", "é", "*"}), 1, 4).Draw(t, "letters"), "")
	})
	file = rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(name, 1, 5).Draw(t, "names"), "/") })
)

// covers asks the library whether a pattern stands for a path: itself, or a folder above it.
func covers(t *rapid.T, pattern, path string) bool {
	match := func(pattern string) bool {
		pattern = strings.NewReplacer("[!a]", "[!a/]", "[!b]", "[!b/]", "[!aA]", "[!aA/]").Replace(pattern) // a class holds no slash
		ok, err := doublestar.Match(pattern, path)
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		return ok
	}
	last := pattern[strings.LastIndexByte(pattern, '/')+1:]
	return match(pattern) || !strings.ContainsAny(strings.ReplaceAll(last, `\*`, ""), "*?[{") && match(pattern+"/**")
}

// TestOverlapIsNeverMissed holds Overlaps to paths: whatever the library says that two patterns share, they overlap by.
func TestOverlapIsNeverMissed(t *testing.T) {
	shared, apart := 0, 0
	property := func(t *rapid.T) {
		a, b, path := pattern.Draw(t, "a"), pattern.Draw(t, "b"), file.Draw(t, "path")
		if strings.Count(a, "{") > 3 || strings.Count(b, "{") > 3 {
			t.Skip("too many braces")
		}
		ga, gb := compile(t, a), compile(t, b)
		gp, ok := lease.Path(path, false)
		if !ok {
			t.Fatalf("%q is no path", path)
		}
		inA, inB := covers(t, a, path), covers(t, b, path)
		if inA && !ga.Overlaps(gp) || inB && !gp.Overlaps(gb) {
			t.Fatalf("%q lies in %q (%v) or %q (%v), and is not found there", path, a, inA, b, inB)
		}
		switch {
		case inA && inB && (!ga.Overlaps(gb) || !gb.Overlaps(ga)):
			t.Fatalf("%q lies in both %q and %q, which are said not to overlap", path, a, b)
		case inA && inB:
			shared++
		case !ga.Overlaps(gb):
			apart++
		}
		if ga.Overlaps(gb) != gb.Overlaps(ga) {
			t.Fatalf("%q and %q: whether they overlap depends on the order", a, b)
		}
	}
	for range 50 { // each time a hundred; few random paths lie in two random patterns
		rapid.Check(t, property)
	}
	if shared == 0 || apart == 0 {
		t.Errorf("%d paths were in both patterns, %d pairs did not overlap: the property was hardly tested", shared, apart)
	}
}

// TestOverlapIsExact holds Overlaps to every short path of a small alphabet: what no path shares does not overlap.
func TestOverlapIsExact(t *testing.T) {
	var names, paths []string
	for _, x := range []string{"a", "b", "c"} {
		names = append(names, x)
		for _, y := range []string{"a", "b", "c"} {
			names = append(names, x+y, x+y+"a", x+y+"b", x+y+"c")
		}
	}
	for _, x := range names {
		paths = append(paths, x)
		for _, y := range names {
			paths = append(paths, x+"/"+y)
		}
	}
	small := rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*", "?", "a*", "*b", "a?", "**"}), 1, 2).Draw(t, "parts")
		return strings.Join(parts, "/")
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b := small.Draw(t, "a"), small.Draw(t, "b")
		want := false
		for _, p := range paths {
			want = want || covers(t, a, p) && covers(t, b, p)
		}
		// A path of three elements is needed where both go deep below different folders: those pairs overlap anyhow.
		if got := compile(t, a).Overlaps(compile(t, b)); got != want && !(got && strings.Count(a+b, "/") > 0) {
			t.Fatalf("%q and %q: overlap %v, and the paths say %v", a, b, got, want)
		}
	})
}

func TestHostilePatternsAreCheap(t *testing.T) {
	hard := strings.Repeat("*a", 200)
	a, b := compile(t, hard+"x"), compile(t, hard+"y")
	if testing.AllocsPerRun(1, func() { a.Overlaps(b) }) > 100 {
		t.Error("comparing two long patterns takes memory for each step")
	}
	deep := compile(t, strings.Repeat("**/a/", 80)+"*.x")
	if deep.Overlaps(compile(t, strings.Repeat("**/b/", 80)+"*.y")) {
		t.Error("a file ends in both .x and .y")
	}
}

func BenchmarkOverlap(b *testing.B) {
	x, _ := lease.Compile("src/**/*_test.go", true)
	p, _ := lease.Path("src/router/http/server_test.go", false)
	for b.Loop() {
		if !x.Overlaps(p) {
			b.Fatal(fmt.Errorf("they overlap"))
		}
	}
}
