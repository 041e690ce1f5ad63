package classify_test

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/router/classify"
)

// leastAccuracy is what the embedded model may not fall under on the
// validation questions; leastRecall, what no class may.
const (
	leastAccuracy = 0.96
	leastRecall   = 0.93
)

func newClassifier(t testing.TB) *classify.Classifier {
	t.Helper()
	c, err := classify.NewClassifier()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type labelled struct {
	query string
	class classify.Class
}

func validation(t testing.TB) []labelled {
	t.Helper()
	text, err := os.ReadFile("testdata/validation.txt")
	if err != nil {
		t.Fatal(err)
	}
	var lines []labelled
	var class classify.Class
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
		case line[0] == '[':
			class = classify.Class(strings.Trim(line, "[]"))
		default:
			lines = append(lines, labelled{line, class})
		}
	}
	if len(lines) < 300 {
		t.Fatalf("only %d validation questions", len(lines))
	}
	return lines
}

func TestClassifyAccuracy(t *testing.T) {
	t.Parallel()
	c := newClassifier(t)
	right, total := map[classify.Class]int{}, map[classify.Class]int{}
	all := 0
	lines := validation(t)
	for _, l := range lines {
		total[l.class]++
		if got := c.Classify(l.query, nil); got.Class == l.class {
			right[l.class]++
			all++
		} else {
			t.Logf("%s taken for %s (%.2f): %s", l.class, got.Class, got.Confidence, l.query)
		}
	}
	if accuracy := float64(all) / float64(len(lines)); accuracy < leastAccuracy {
		t.Errorf("accuracy %.3f is under %.3f", accuracy, leastAccuracy)
	}
	for _, class := range classify.Classes() {
		if recall := float64(right[class]) / float64(total[class]); recall < leastRecall {
			t.Errorf("recall of %s %.3f is under %.3f", class, recall, leastRecall)
		}
	}
}

func TestClassifyIsCalibrated(t *testing.T) {
	t.Parallel()
	c := newClassifier(t)
	var sure, sureRight, confidence, right float64
	lines := validation(t)
	for _, l := range lines {
		got := c.Classify(l.query, nil)
		hit := 0.0
		if got.Class == l.class {
			hit = 1
		}
		confidence += got.Confidence
		right += hit
		if got.Confidence >= 0.9 {
			sure++
			sureRight += hit
		}
	}
	if sureRight/sure < 0.97 || sure < float64(len(lines))/2 {
		t.Errorf("of the %.0f questions it is 0.9 sure of it has %.3f right", sure, sureRight/sure)
	}
	if gap := math.Abs(confidence-right) / float64(len(lines)); gap > 0.06 {
		t.Errorf("mean confidence is %.3f away from accuracy", gap)
	}
}

func TestClassifySeedExamples(t *testing.T) {
	t.Parallel()
	c := newClassifier(t)
	for _, tt := range []labelled{
		{"How do I fix auth redirect?", classify.ClassKnowledge},
		{"What happened last session?", classify.ClassEpisode},
		{"What agents are running?", classify.ClassOperational},
		{"What vulnerabilities in MSS?", classify.ClassRecon},
	} {
		if got := c.Classify(tt.query, nil); got.Class != tt.class {
			t.Errorf("%q is %s, want %s", tt.query, got.Class, tt.class)
		}
	}
}

func TestClassifyResultIsComplete(t *testing.T) {
	t.Parallel()
	c := newClassifier(t)
	for _, l := range validation(t) {
		checkComplete(t, l.query, c.Classify(l.query, nil))
	}
}

// checkWhole checks what holds of every classification.
func checkComplete(t *testing.T, query string, got classify.Classification) {
	t.Helper()
	sum := 0.0
	for _, class := range classify.Classes() {
		p := got.Probabilities[class]
		if math.IsNaN(p) || p < 0 || p > 1 {
			t.Fatalf("%.40q: probability of %s is %v", query, class, p)
		}
		if p > got.Confidence {
			t.Fatalf("%.40q: %s is likelier than the chosen %s", query, class, got.Class)
		}
		sum += p
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Fatalf("%.40q: probabilities add up to %v", query, sum)
	}
	if got.Second == got.Class || got.Probabilities[got.Class] != got.Confidence {
		t.Fatalf("%.40q: first and second do not fit: %+v", query, got)
	}
	if want := got.Confidence - got.Probabilities[got.Second]; math.Abs(got.Margin-want) > 1e-12 || got.Margin < 0 {
		t.Fatalf("%.40q: margin %v, want %v", query, got.Margin, want)
	}
	if len(got.Reasons) == 0 || len(got.Reasons) > 5 {
		t.Fatalf("%.40q: %d reasons", query, len(got.Reasons))
	}
	for _, r := range got.Reasons {
		if r == "" || !utf8.ValidString(r) || strings.ContainsAny(r, "\n\r\x00") || len(r) > 500 {
			t.Fatalf("%.40q: reason %q", query, r)
		}
	}
}

func TestClassifyReasons(t *testing.T) {
	t.Parallel()
	c := newClassifier(t)
	for _, tt := range []struct {
		query    string
		mentions []classify.Mention
		want     string
	}{
		{"what happened last night", nil, "“what happened last night”"},
		{"is builder-2 still running", []classify.Mention{{Kind: classify.MentionAgent, Name: "builder-2"}}, "names the agent builder-2"},
		{"is anyone idle right now", nil, "present state"},
		{"panic: runtime error: index out of range", nil, "error message"},
		{"any exposed credentials on the perimeter", nil, "security"},
		{"", nil, "no words"},
	} {
		got := c.Classify(tt.query, tt.mentions)
		if !strings.Contains(strings.Join(got.Reasons, "; "), tt.want) {
			t.Errorf("%q: reasons %q lack %q", tt.query, got.Reasons, tt.want)
		}
	}
}

func TestMentionsLean(t *testing.T) {
	t.Parallel()
	c := newClassifier(t)
	for _, tt := range []struct {
		query, kind, name string
		want              classify.Class
	}{
		{"what does xanthippe do now", classify.MentionAgent, "xanthippe", classify.ClassOperational},
		{"what did xanthippe do yesterday", classify.MentionAgent, "xanthippe", classify.ClassEpisode},
		{"xanthippe", classify.MentionAgent, "xanthippe", classify.ClassOperational},
		{"Make The Logo Bigger", classify.MentionTask, "make the logo bigger", classify.ClassOperational},
		{"blue lagoon", classify.MentionEnvironment, "Blue Lagoon", classify.ClassRecon},
		{"CVE-2031-1", classify.MentionCVE, "CVE-2031-1", classify.ClassRecon},
		{"zebra-9-q", classify.MentionFinding, "zebra-9-q", classify.ClassRecon},
	} {
		mentions := []classify.Mention{{Kind: tt.kind, Name: tt.name}}
		if got := c.Classify(tt.query, mentions); got.Class != tt.want {
			t.Errorf("%q with the %s is %s (%.2f), want %s: %q", tt.query, tt.kind, got.Class, got.Confidence, tt.want, got.Reasons)
		}
	}
}

// TestMentionsDoNoHarm names everything in the validation questions that a
// store could know, among it words that say something themselves.
func TestMentionsDoNoHarm(t *testing.T) {
	t.Parallel()
	c := newClassifier(t)
	names := map[string]string{
		"builder-1": classify.MentionAgent, "builder-2": classify.MentionAgent, "builder-3": classify.MentionAgent, "qa-1": classify.MentionAgent,
		"qa-agent": classify.MentionAgent, "planner": classify.MentionAgent, "scout": classify.MentionAgent, "tester": classify.MentionAgent,
		"reviewer-4": classify.MentionAgent, "alice-bot": classify.MentionAgent, "worker-9": classify.MentionAgent, "frontend-dev": classify.MentionAgent,
		"parser": classify.MentionProject, "importer": classify.MentionProject, "atlas": classify.MentionProject, "release": classify.MentionProject,
		"task 118": classify.MentionTask, "migration": classify.MentionTask, "css cleanup": classify.MentionTask, "release notes": classify.MentionTask,
		"staging": classify.MentionEnvironment, "production": classify.MentionEnvironment, "payments": classify.MentionEnvironment, "MSS": classify.MentionEnvironment,
		"CVE-2021-44228": classify.MentionCVE, "CVE-2024-3094": classify.MentionCVE, "F-31": classify.MentionFinding,
	}
	right, named := 0, 0
	for _, l := range validation(t) {
		var mentions []classify.Mention
		for name, kind := range names {
			if strings.Contains(" "+strings.ToLower(l.query)+" ", " "+strings.ToLower(name)+" ") {
				mentions = append(mentions, classify.Mention{Kind: kind, Name: name})
			}
		}
		if len(mentions) == 0 {
			continue
		}
		named++
		if got := c.Classify(l.query, mentions); got.Class == l.class {
			right++
		} else {
			t.Logf("%s taken for %s (%.2f): %s", l.class, got.Class, got.Confidence, l.query)
		}
	}
	if named < 30 || float64(right)/float64(named) < leastAccuracy {
		t.Errorf("%d of %d questions with names are right", right, named)
	}
}

func TestMentionsAreBounded(t *testing.T) {
	t.Parallel()
	c := newClassifier(t)
	one := c.Classify("how do i undo a commit", []classify.Mention{{Kind: classify.MentionAgent, Name: "agent 0"}})
	var many []classify.Mention
	for i := range 10_000 {
		many = append(many, classify.Mention{Kind: classify.MentionAgent, Name: fmt.Sprint("agent", i)})
	}
	if got := c.Classify("how do i undo a commit", many); got.Class != one.Class || got.Confidence != one.Confidence {
		t.Errorf("ten thousand agents give %s %.3f, one gives %s %.3f", got.Class, got.Confidence, one.Class, one.Confidence)
	}
	odd := []classify.Mention{{}, {Kind: "no such kind", Name: "x"}, {Kind: classify.MentionAgent, Name: strings.Repeat("x", 1<<20)}}
	checkComplete(t, "odd", c.Classify("how do i undo a commit", odd))
}

func TestClassifyConcurrently(t *testing.T) {
	t.Parallel()
	c := newClassifier(t)
	lines := validation(t)
	want := make([]classify.Classification, len(lines))
	for i, l := range lines {
		want[i] = c.Classify(l.query, nil)
	}
	var group sync.WaitGroup
	for w := range 8 {
		group.Go(func() {
			for i := range lines {
				k := (i*7 + w*31) % len(lines)
				if got := c.Classify(lines[k].query, nil); !reflect.DeepEqual(got, want[k]) {
					t.Errorf("%q differs between callers", lines[k].query)
					return
				}
			}
		})
	}
	group.Wait()
}

// oddQueries are inputs that a person would not type.
func oddQueries() map[string]string {
	return map[string]string{
		"empty":            "",
		"blanks":           " \t\n  ",
		"NUL":              "what\x00is\x00running",
		"invalid UTF-8":    "who \xff\xfe did \xc3\x28 this",
		"emoji":            "🔥🔥🔥 what is on 🔥?",
		"emoji alone":      "👩‍👩‍👧‍👦",
		"right to left":    "ما هي الوكلاء قيد التشغيل",
		"bidi override":    "is \u202ebuilder\u202c idle",
		"combining marks":  "wha\u0301t ha\u0308ppened yesterda\u0300y",
		"Chinese":          "昨天发生了什么",
		"punctuation":      "?!?!... --- ((())) [[]] {}{} <> '' \"\" ``",
		"apostrophes":      "'' ' 's 't what's' who''s it'",
		"one letter":       "a",
		"a megabyte":       strings.Repeat("what is running ", 1<<16),
		"a long word":      strings.Repeat("x", 1<<20),
		"a megabyte of \"": strings.Repeat("\"", 1<<20),
		"blank megabyte":   strings.Repeat(" ", 1<<20),
		"ten thousand":     tenThousandTerms(),
		"dotless i":        "İSTANBUL ığŞ ẞ K",
		"flags":            "- -- --- -x --long=1 -1 0x 0xzz #1 # @ ::",
	}
}

func tenThousandTerms() string {
	var b strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&b, "term%d ", i)
	}
	return b.String()
}

func TestClassifyOddQueries(t *testing.T) {
	t.Parallel()
	c := newClassifier(t)
	for name, query := range oddQueries() {
		t.Run(name, func(t *testing.T) {
			checkComplete(t, name, c.Classify(query, []classify.Mention{{Kind: classify.MentionAgent, Name: "x"}, {Kind: classify.MentionTask, Name: query}}))
		})
	}
}

func TestLongQueryIsReadAtBothEnds(t *testing.T) {
	t.Parallel()
	c := newClassifier(t)
	trace := strings.Repeat("lorem ipsum dolor sit amet ", 2000)
	if got := c.Classify("which agents are idle right now? "+trace, nil); got.Class != classify.ClassOperational {
		t.Errorf("the head is not heard: %s", got.Class)
	}
	if got := c.Classify(trace+" which agents are idle right now?", nil); got.Class != classify.ClassOperational {
		t.Errorf("the foot is not heard: %s", got.Class)
	}
}

func FuzzClassify(f *testing.F) {
	c := newClassifier(f)
	for _, query := range oddQueries() {
		if len(query) < 1<<12 {
			f.Add(query, "x", "agent")
		}
	}
	for _, l := range validation(f) {
		f.Add(l.query, "builder-2", classify.MentionTask)
	}
	f.Fuzz(func(t *testing.T, query, name, kind string) {
		mentions := []classify.Mention{{Kind: kind, Name: name}, {Kind: classify.MentionAgent, Name: name}}
		got := c.Classify(query, mentions)
		checkComplete(t, query, got)
		if again := c.Classify(query, mentions); !reflect.DeepEqual(got, again) {
			t.Fatalf("%q is classified differently the second time", query)
		}
	})
}

func BenchmarkClassify(b *testing.B) {
	c := newClassifier(b)
	lines := validation(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		c.Classify(lines[i%len(lines)].query, nil)
	}
}

func BenchmarkClassifyLongest(b *testing.B) {
	c := newClassifier(b)
	query := strings.Repeat("which exposed hostnames misbehave ", 1<<15)
	b.ReportAllocs()
	for b.Loop() {
		c.Classify(query, nil)
	}
}
