package agents

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/contexts"
)

// story is two sessions of one agent, as stories.json tells them: what is told in the
// first one must be known in the second.
type story struct {
	Story, Why    string
	Folders       []string          // what is made: "repository A", "worktree A of B", "origin A", "clone A of B"
	Files         map[string]string // what is written into them
	Notes         int               // as many notes of no interest are remembered in the first folder, half of them before the first session
	First, Second telling
}

// telling is a session: what a person does before it, what is typed, how the model
// answers, and what must be seen in the agent's questions to the model.
type telling struct {
	In       string
	Person   []string // lines for a shell in that folder
	Prompt   string   // empty: there is no session
	Model    []answerLine
	Sees     []seen
	Never    []string // in no question
	Once     []string // in the last question, where all that was said stands
	Fenced   []string // in the first question inside of our marks alone
	Ran      []string // arguments that the program docker was called with
	NeverRan []string `json:"never_ran"`
}

// answerLine is a step of the scripted model. Person and Second are done while the agent waits for it.
type answerLine struct {
	Text, Shell, Tool string
	Agent             string // the task of a subagent that is started
	Args              object
	Full              bool
	Person            string
	Second            bool
}

// seen is a text that must be told: at the "start" or with the "prompt", which is the
// first question; "after N": in what is new in the question after the model's Nth step;
// after a "compaction"; or in the first question of a "subagent".
type seen struct{ When, Text string }

// hookCall is one run of a hook, as the wrapper around it saw it.
type hookCall struct {
	Event string
	MS    float64
	Out   string
}

// The wrapper around the hooks' program is this test's program. The first variable names what
// it runs, the second the file that it writes a hookCall to.
const wrapped, wrappedLog = "STORIES_HOOK", "STORIES_LOG"

func TestMain(m *testing.M) {
	if program := os.Getenv(wrapped); program != "" {
		os.Exit(wrap(program))
	}
	os.Exit(m.Run())
}

func wrap(program string) int {
	in, _ := io.ReadAll(os.Stdin)
	var out bytes.Buffer
	cmd := exec.Command(program, os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, os.Stderr
	begun := time.Now()
	err := cmd.Run()
	call := hookCall{MS: float64(time.Since(begun).Microseconds()) / 1000, Out: out.String()}
	if len(os.Args) > 2 {
		call.Event = os.Args[2]
	}
	if log, err := os.OpenFile(os.Getenv(wrappedLog), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		fmt.Fprintf(log, "%s\n", asJSON(call))
		_ = log.Close()
	}
	_, _ = os.Stdout.Write(out.Bytes())
	if err != nil {
		return max(cmd.ProcessState.ExitCode(), 1)
	}
	return 0
}

// TestStories plays each story on each agent that is installed and prints what came of it.
func TestStories(t *testing.T) {
	npm := os.Getenv("SKILLROUTER_REAL_AGENTS")
	if npm == "" {
		t.Skip("SKILLROUTER_REAL_AGENTS names no folder that the agents are installed in: make stories")
	}
	text, err := os.ReadFile("stories.json")
	if err != nil {
		t.Fatal(err)
	}
	var stories []story
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&stories); err != nil {
		t.Fatal(err)
	}
	for _, a := range agents() {
		t.Run(a.named(), func(t *testing.T) {
			if _, err := os.Stat(a.installed(npm)); err != nil {
				t.Skipf("%s is not installed", a.name)
			}
			told, played, row := 0, 0, "%-32s %-12s %-6s %7s %7s %6s %10s %8s  %s\n"
			var table strings.Builder
			fmt.Fprintf(&table, row, "STORY", "AGENT", "", "TOKENS", "FIRST", "HOOKS", "MEDIAN MS", "MOST MS", "MISSING")
			for _, s := range stories {
				t.Run(strings.Fields(s.Story)[0], func(t *testing.T) {
					if why := a.cannot[strings.Fields(s.Story)[0]]; why != "" {
						t.Skip(why)
					}
					played++
					r := s.play(t, a, newPlace(t, npm, s.folders()...))
					verdict := "FAIL"
					if len(r.missing) == 0 {
						verdict = "ok"
						told++
					}
					slices.SortFunc(r.hooks, func(a, b hookCall) int { return cmp.Compare(a.MS, b.MS) })
					all, first, median, most := 0, 0, 0.0, 0.0
					for _, h := range r.hooks {
						n := contexts.CountTokens(h.injects())
						all += n
						if h.Event == "session-start" || h.Event == "user-prompt" {
							first += n
						}
						median, most = r.hooks[len(r.hooks)/2].MS, h.MS
					}
					fmt.Fprintf(&table, row, s.Story, a.named(), verdict, fmt.Sprint(all), fmt.Sprint(first), fmt.Sprint(len(r.hooks)), fmt.Sprintf("%.0f", median), fmt.Sprintf("%.0f", most), strings.Join(r.missing, "; "))
					for _, m := range r.missing {
						t.Error(m)
					}
				})
			}
			fmt.Printf("\n%s%s: %d of %d\n", table.String(), a.named(), told, played)
		})
	}
}

// injects is what a hook's answer puts before the model.
func (h hookCall) injects() string {
	var answer struct {
		Reason   string `json:"reason"`
		Specific struct {
			Context string `json:"additionalContext"`
			Reason  string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	_ = json.Unmarshal([]byte(h.Out), &answer) // most say nothing
	return answer.Reason + answer.Specific.Context + answer.Specific.Reason
}

// folders are the names of what a story makes.
func (s story) folders() []string {
	var names []string
	for _, f := range s.Folders {
		if words := strings.Fields(f); words[0] != "origin" {
			names = append(names, words[1])
		}
	}
	return names
}

// result is what came of a story.
type result struct {
	missing []string
	hooks   []hookCall // of the second session
}

// play tells a story to an agent.
func (s story) play(t *testing.T, a agent, p *place) (r result) {
	t.Helper()
	p.wrapHooks()
	s.makeFolders(p)
	a.prepare(p)
	if a.trust != nil {
		a.trust(p)
	}
	p.router("setup", a.name, "--user", "--yes", "--program", "skillrouter")
	miss := func(format string, args ...any) { r.missing = append(r.missing, fmt.Sprintf(format, args...)) }

	var second func()
	session := func(number string, told telling) {
		for _, line := range told.Person {
			p.person(told.In, strings.ReplaceAll(line, "{kind}", a.name))
		}
		if told.Prompt == "" {
			return
		}
		steps, at := told.steps(a, p, second)
		said := p.model.begin(told.Prompt, steps...)
		log := p.path("hooks-" + number + ".jsonl")
		begun := time.Now()
		out, err := a.session(p, told.In, told.Prompt, wrappedLog+"="+log)
		said.end()
		t.Logf("session %s took %.1f s", number, time.Since(begun).Seconds())
		if err != nil {
			miss("session %s: %v", number, err)
			t.Logf("the agent: %s", tail(out))
		}
		p.settle()
		if keep := os.Getenv("SKILLROUTER_STORIES_KEEP"); keep != "" {
			for i, q := range slices.Concat(said.asked, said.aside) {
				_ = os.WriteFile(filepath.Join(keep, fmt.Sprintf("%s-%s-%s-%02d.json", a.name, strings.Fields(s.Story)[0], number, i)), []byte(q), 0o600)
			}
		}
		told.judge(said, at, p, func(format string, args ...any) { miss("session "+number+" "+format, args...) })
		r.hooks = readHooks(log)
		if len(r.hooks) == 0 {
			miss("session %s: no hook was run", number)
		}
		if len(r.missing) > 0 {
			for _, h := range r.hooks {
				t.Logf("hook %s, %.0f ms: %s", h.Event, h.MS, tail(h.Out))
			}
		}
	}
	done := false
	second = func() {
		if !done {
			done = true
			session("2", s.Second)
		}
	}
	others := notes(s.Notes, filepath.Base(p.folders[0]))
	p.remember(others[:s.Notes/2])
	session("1", s.First)
	p.remember(others[s.Notes/2:])
	second()
	r.hooks = readHooks(p.path("hooks-2.jsonl"))
	return r
}

// judge tells what is missing of what a session must see.
func (told telling) judge(said *session, at map[int]int, p *place, miss func(string, ...any)) {
	questions := make([]string, len(said.asked))
	for i := range questions {
		questions[i] = words(said.question(i), map[string]int{})
	}
	if len(questions) == 0 {
		miss("asked the model nothing")
		return
	}
	for _, want := range told.Sees {
		text := questions[0]
		var step int
		switch n, _ := fmt.Sscanf(want.When, "after %d", &step); {
		case n == 1:
			step = at[step]
			text = words(said.question(step), wordCount(said.question(step-1)))
		case want.When == "subagent":
			if len(said.subs) == 0 {
				miss("started no subagent")
				continue
			}
			text = words(said.subs[0], map[string]int{})
		case want.When == "compaction":
			if said.compacted == 0 {
				miss("was not compacted")
				continue
			}
			text = questions[said.compacted]
		}
		if !strings.Contains(text, want.Text) {
			miss("is not told %q (%s)", want.Text, want.When)
		}
	}
	for _, text := range told.Never {
		if slices.ContainsFunc(questions, func(q string) bool { return strings.Contains(q, text) }) {
			miss("is told %q", text)
		}
	}
	for _, text := range told.Once {
		if n := strings.Count(questions[len(questions)-1], text); n != 1 {
			miss("is told %q %d times", text, n)
		}
	}
	outside := withoutFences(questions[0])
	for _, text := range told.Fenced {
		if strings.Contains(outside, text) {
			miss("is told %q outside of a fence", text)
		}
	}
	ran, _ := os.ReadFile(p.path("docker-ran"))
	for _, line := range told.Ran {
		if !strings.Contains(string(ran), line) {
			miss("did not run docker %s", line)
		}
	}
	for _, line := range told.NeverRan {
		if strings.Contains(string(ran), line) {
			miss("ran docker %s", line)
		}
	}
}

// steps are the scripted model's, and the question after each of the story's. An
// agent that names tools only is told to look at one before it is used.
func (told telling) steps(a agent, p *place, second func()) (steps []step, at map[int]int) {
	at = map[int]int{}
	found := map[string]bool{}
	for i, line := range told.Model {
		if line.Tool != "" && a.searches && !found[line.Tool] {
			found[line.Tool] = true
			steps = append(steps, step{tool: line.Tool, search: true})
		}
		s := step{text: line.Text, shell: line.Shell, tool: line.Tool, args: line.Args, agent: line.Agent, full: line.Full}
		if line.Person != "" || line.Second {
			s.before = func() {
				if line.Person != "" {
					p.person(told.In, strings.ReplaceAll(line.Person, "{first}", p.present(a)))
				}
				if line.Second {
					second()
				}
			}
		}
		steps = append(steps, s)
		at[i+1] = len(steps)
	}
	return steps, at
}

// present is the id of the agent that is there.
func (p *place) present(a agent) string {
	var team []struct {
		ID string `json:"agent_id"`
	}
	_ = json.Unmarshal([]byte(p.router("agents", "--json", "--state", "online")), &team)
	for _, one := range team {
		if strings.HasPrefix(one.ID, a.name) {
			return one.ID
		}
	}
	p.t.Errorf("no %s is online", a.name)
	return a.name
}

// person runs a line for the shell, as a person does who sits in a folder.
func (p *place) person(folder, line string) {
	p.t.Helper()
	if out, err := p.runIn(folder, patience, nil, "sh", "-c", line); err != nil {
		p.t.Errorf("%s: %v\n%s", line, err, out)
	}
}

// wrapHooks puts this program before the one that answers hooks. Setup looks for that beside
// the whole one, behind links, and so both become scripts in one folder.
func (p *place) wrapHooks() {
	self, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	small, err := filepath.EvalSymlinks(p.path("bin/skillrouter-hook"))
	if err != nil {
		p.t.Fatalf("make build makes it: %v", err)
	}
	for name, line := range map[string]string{
		"bin/skillrouter":      fmt.Sprintf("exec %q", p.program),
		"bin/skillrouter-hook": fmt.Sprintf("%s=%q exec %q", wrapped, small, self),
	} {
		if err := os.Remove(p.path(name)); err != nil {
			p.t.Fatal(err)
		}
		p.write(name, "#!/bin/sh\n"+line+" \"$@\"\n")
	}
}

func readHooks(path string) (calls []hookCall) {
	text, _ := os.ReadFile(path)
	for line := range bytes.Lines(text) {
		var call hookCall
		if json.Unmarshal(line, &call) == nil {
			calls = append(calls, call)
		}
	}
	return calls
}

// makeFolders makes a story's repositories, each with a commit, and its files.
func (s story) makeFolders(p *place) {
	p.write("home/.gitconfig", "[user]\n\tname = Ann\n\temail = ann@shop.example\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n")
	git := func(args ...string) {
		p.t.Helper()
		if out, err := p.runIn("", patience, nil, append([]string{"git"}, args...)...); err != nil {
			p.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	for _, f := range s.Folders {
		words := append(strings.Fields(f), "", "")
		switch kind, name, from := words[0], words[1], words[3]; kind {
		case "repository":
			git("init", "-q", name)
			git("-C", name, "commit", "-q", "--allow-empty", "-m", "Begin")
		case "worktree":
			git("-C", from, "worktree", "add", "-q", p.path(name))
		case "origin":
			git("init", "-q", "seed")
			git("-C", "seed", "commit", "-q", "--allow-empty", "-m", "Begin")
			git("clone", "-q", "--bare", "seed", name)
		case "clone":
			git("clone", "-q", p.path(from), name)
		default:
			p.t.Fatalf("%s: what is %s?", s.Story, kind)
		}
	}
	for name, text := range s.Files {
		p.write(name, text)
	}
}

// settle waits until the ends of sessions are dealt with, which processes of their own do.
func (p *place) settle() {
	p.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(patience); time.Now().Before(limit); <-tick.C {
		busy := false
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, path := range lines {
			args, _ := os.ReadFile(path)
			if bytes.Contains(args, []byte("\x00session-end\x00")) {
				env, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
				busy = busy || bytes.Contains(env, []byte(p.root))
			}
		}
		if !busy {
			return
		}
	}
	p.t.Error("the end of the session is never dealt with")
}

// remember stores notes as a person does: what is imported is not told by itself.
func (p *place) remember(notes []knowledge.Draft) {
	p.t.Helper()
	log, _ := os.ReadFile(p.path("router.log"))
	token, _ := os.ReadFile(p.path(dataFolder + "/owner.token"))
	at := regexp.MustCompile(`url=(\S+)`).FindSubmatch(log)
	if at == nil {
		p.t.Fatal("the router says nowhere where it listens")
	}
	c, err := client.New(string(at[1]), client.Options{Token: strings.TrimSpace(string(token))})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, note := range notes {
		if _, err := client.Send(p.t.Context(), c, knowledge.Service.Store, note); err != nil {
			p.t.Fatal(err)
		}
	}
}

// notes are entries of knowledge that are of no interest to a story.
func notes(n int, project string) []knowledge.Draft {
	random := rand.New(rand.NewPCG(14, 20)) // the same notes for everybody
	pick := func(words ...string) string { return words[random.IntN(len(words))] }
	drafts := make([]knowledge.Draft, n)
	for i := range drafts {
		part := pick("header", "footer", "basket", "invoice", "picture", "coupon", "address", "rating", "refund", "newsletter")
		drafts[i] = knowledge.Draft{
			Category: "pattern", Project: project,
			Title: fmt.Sprintf("The %s %s keeps its %s in %s_%d.ts", part, pick("form", "page", "view", "dialog", "list"), pick("state", "colours", "limits", "labels"), part, i),
			Content: fmt.Sprintf("It was %s %s in week %d because the %s was %s. Ask %s before you change its %s.", pick("split", "moved", "rewritten"),
				pick("twice", "by hand", "carefully"), 1+random.IntN(52), pick("old one", "designer's draft", "first version"), pick("slow", "wrong on phones", "hard to read"),
				pick("Ann", "Bob", "Carla", "Dan"), pick("order", "width", "wording", "shadow")),
		}
	}
	return drafts
}

// words are the texts of a question but those that describe tools, and those that known
// holds, each as often as it does: what was told with a prompt may be told again.
func words(question string, known map[string]int) string {
	var b strings.Builder
	eachText(question, func(text string) {
		if known[text]--; known[text] < 0 {
			b.WriteString(text)
			b.WriteByte('\n')
		}
	})
	return b.String()
}

func wordCount(question string) map[string]int {
	count := map[string]int{}
	eachText(question, func(text string) { count[text]++ })
	return count
}

func eachText(question string, do func(string)) {
	var walk func(value any)
	walk = func(value any) {
		switch v := value.(type) {
		case string:
			do(html.UnescapeString(v)) // Gemini CLI escapes what hooks say
		case []any:
			for _, one := range v {
				walk(one)
			}
		case map[string]any:
			for name, one := range v {
				if name != "tools" {
					walk(one)
				}
			}
		}
	}
	var whole any
	_ = json.Unmarshal([]byte(question), &whole) // what is no JSON has no texts
	walk(whole)
}

var fenceOpens = regexp.MustCompile(`<memory-([0-9a-f]{8,})[^>]*>`)

// withoutFences is a text without what stands between our marks.
func withoutFences(text string) string {
	var b strings.Builder
	for {
		at := fenceOpens.FindStringSubmatchIndex(text)
		if at == nil {
			return b.String() + text
		}
		b.WriteString(text[:at[0]])
		rest, mark := text[at[1]:], "</memory-"+text[at[2]:at[3]]+">"
		end := strings.Index(rest, mark)
		if end < 0 {
			return b.String() + rest
		}
		text = rest[end+len(mark):]
	}
}

func TestWithoutFences(t *testing.T) {
	const mark = "memory-0123abcd"
	for text, want := range map[string]string{
		"a <" + mark + " fact>b</" + mark + "> c":                 "a  c",
		"<" + mark + ">b</memory-00000000>c</" + mark + ">d":      "d",
		"<" + mark + ">never closed":                              "never closed",
		"<memory-…> is how marks look":                            "<memory-…> is how marks look",
		"<" + mark + ">a</" + mark + ">b<" + mark + ">c</" + mark: "bc</" + mark,
	} {
		if got := withoutFences(text); got != want {
			t.Errorf("withoutFences(%q) is %q, not %q", text, got, want)
		}
	}
}
