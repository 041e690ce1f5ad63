package watch_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"skillrouter/cmd/watch"
	"skillrouter/internal/errs"
	"skillrouter/internal/eventlog"
	"skillrouter/internal/principal"
	"skillrouter/learning/guard/rule"
	"skillrouter/learning/lesson"
	"skillrouter/operational"
	"skillrouter/router/feed"
)

var update = flag.Bool("update", false, "write the screens instead of comparing them")

func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

var noon = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

// crew is a team that answers what it is told to.
type crew struct {
	agents    []operational.Agent
	approvals []lesson.Approval
	moments   func(after string) ([]feed.Moment, error)
	looks     atomic.Int64
	asked     []string // what was decided
	refusal   error
}

func (c *crew) team() watch.Team {
	decide := func(verb string, state lesson.ApprovalState) func(context.Context, lesson.Approval) (lesson.Approval, error) {
		return func(_ context.Context, a lesson.Approval) (lesson.Approval, error) {
			c.asked = append(c.asked, fmt.Sprintf("%s %s #%d", verb, a.ID, a.Number))
			a.State, a.EndsAt = state, noon.Add(10*time.Minute)
			return a, c.refusal
		}
	}
	var moments func(context.Context, string) ([]feed.Moment, error)
	if c.moments != nil {
		moments = func(_ context.Context, after string) ([]feed.Moment, error) { return c.moments(after) }
	}
	return watch.Team{
		Moments: moments,
		Agents: func(context.Context) ([]operational.Agent, error) {
			c.looks.Add(1)
			return c.agents, nil
		},
		Approvals: func(context.Context) ([]lesson.Approval, error) { return c.approvals, nil },
		Allow:     decide("allow", lesson.ApprovalApproved),
		Deny:      decide("deny", lesson.ApprovalDenied),
	}
}

// screen drives a model as bubbletea does, without a terminal and without waiting.
type screen struct {
	t *testing.T
	watch.Model
}

func newScreen(t *testing.T, c *crew, width, height int, colours bool) *screen {
	s := &screen{t, watch.NewModel(t.Context(), c.team(), "http://127.0.0.1:8025", func() time.Time { return noon }, colours)}
	s.send(tea.WindowSizeMsg{Width: width, Height: height}, watch.Up{}, s.Init()())
	return s
}

// send gives messages, and returns the last command.
func (s *screen) send(messages ...tea.Msg) (cmd tea.Cmd) {
	for _, msg := range messages {
		var next tea.Model
		next, cmd = s.Update(msg)
		s.Model = next.(watch.Model)
	}
	return cmd
}

// press presses keys by their names, and runs what the last of them calls for.
func (s *screen) press(names ...string) tea.Cmd {
	var cmd tea.Cmd
	for _, name := range names {
		key := tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
		if code, ok := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "up": tea.KeyUp, "down": tea.KeyDown, "pgup": tea.KeyPgUp, "end": tea.KeyEnd, "space": tea.KeySpace}[name]; ok {
			key = tea.KeyPressMsg{Code: code}
		}
		cmd = s.send(key)
	}
	return cmd
}

func event(second int, kind, agent string, data map[string]any) feed.Event {
	text, _ := json.Marshal(data)
	return feed.Event{Event: eventlog.Event{Seq: int64(second), Type: kind, Agent: agent, At: noon.Add(time.Duration(second-600) * time.Second), Data: text}}
}

const hostile = "\x1b]0;evil\x07\x1b[2J\u202egnp.exe\u009b31m\xff\t\r\n" + "家族の写真"

// aTeam is one at work, with what a program wrote that means no good.
func aTeam() (*crew, watch.Happened) {
	long := "docker run --rm alpine sh -c '" + strings.Repeat("echo 家族 && ", 120) + "rm -rf /data'"
	c := &crew{
		agents: []operational.Agent{
			{ID: "claude-code/3f2a9b", State: operational.AgentOnline, Project: "shop", CurrentTask: "write the parser", Progress: 40, LastSeen: noon.Add(-3 * time.Second)},
			{ID: "gone", State: operational.AgentOffline, Project: "web", Status: "idle", LastSeen: noon.Add(-50 * time.Hour)},
			{ID: "codex", State: operational.AgentStale, Project: "家族の写真を整理する会", CurrentTask: hostile, LastSeen: noon.Add(-4 * time.Minute)},
			{ID: "gemini", State: operational.AgentOnline, Project: "shop", CurrentTask: "e" + strings.Repeat("\u0301", 5000) + " marks", ShouldStop: true, LastSeen: noon},
		},
		approvals: []lesson.Approval{
			{
				ID: "one", Number: 7, Agent: "codex", Folder: "/src/shop", Action: "rm -rf /data " + hostile, State: lesson.ApprovalPending, Asked: 2, EndsAt: noon.Add(time.Hour),
				Matches: []rule.Match{{RuleID: "builtin:data-directories", Severity: "critical", Title: "Running rm -rf on data directories", WhyBad: "It deletes what no backup may hold yet.", Alternatives: []string{"Move it aside"}}},
			},
			{ID: "two", Number: 8, Agent: "claude-code/3f2a9b", Tool: "Bash", Action: long, State: lesson.ApprovalPending, Asked: 1, EndsAt: noon.Add(time.Hour)},
		},
	}
	return c, watch.Happened{
		event(1, "agent.state", "codex", map[string]any{"from": "online", "to": "stale"}),
		event(2, "task.claimed", "claude-code/3f2a9b", map[string]any{"number": 4, "title": "write the parser", "status": "claimed", "progress": 0}),
		event(3, "task.progress", "claude-code/3f2a9b", map[string]any{"number": 4, "title": "write the parser", "progress": 40, "note": hostile}),
		event(4, "guard.checked", "codex", map[string]any{"decision": "block", "rule_ids": []string{"builtin:data-directories", "other"}}),
		event(5, "lease.taken", "codex", map[string]any{"patterns": []string{"cmd/**", "docs/x.md"}, "shared": false, "why": "the parser"}),
		event(6, "message.sent", "captain", map[string]any{"signal": "pause", "to_agent_id": "codex"}),
		event(7, "some.other", "", nil),
	}
}

// TestScreens compares screens with their files, and looks that each has exactly its lines, none too long, and
// nothing that a terminal would act on.
func TestScreens(t *testing.T) {
	for name, tc := range map[string]struct {
		width, height int
		do            func(s *screen)
	}{
		"80x24": {80, 24, func(*screen) {}},
		"40x10": {40, 10, func(*screen) {}},
		"80x24_away": {80, 24, func(s *screen) {
			s.send(watch.DownBecause(errs.Errorf(errs.Unavailable, "nobody answers\x1b[2J")))
		}},
		"80x24_decide":  {80, 24, func(s *screen) { s.press("enter") }},
		"40x10_decide":  {40, 10, func(s *screen) { s.press("down", "enter", "space") }},
		"40x10_keys":    {40, 10, func(s *screen) { s.press("?") }},
		"80x24_resized": {120, 40, func(s *screen) { s.send(tea.WindowSizeMsg{Width: 80, Height: 24}) }},
		"19x5":          {19, 5, func(*screen) {}},
	} {
		t.Run(name, func(t *testing.T) {
			c, events := aTeam()
			s := newScreen(t, c, tc.width, tc.height, false)
			s.send(events)
			tc.do(s)
			got := s.Screen()
			if name == "80x24_resized" {
				name = "80x24"
			}
			golden := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got+"\n"); diff != "" {
				t.Errorf("the screen is another (-want +got); -update writes it:\n%s", diff)
			}
			fits(t, got, tc.width, tc.height)
		})
	}
}

// fits looks that a screen keeps to its size and holds only what is seen.
func fits(t *testing.T, text string, width, height int) {
	t.Helper()
	lines := strings.Split(text, "\n")
	if len(lines) > height {
		t.Errorf("the screen of %d lines has %d", height, len(lines))
	}
	for _, line := range lines {
		if w := ansi.StringWidth(line); w > max(width, 80) {
			t.Errorf("%q has %d columns", line, w)
		}
		if at := strings.IndexFunc(line, func(r rune) bool { return unicode.IsControl(r) || r == '\u202e' }); at >= 0 {
			t.Errorf("%q holds what a terminal acts on", line)
		}
		if len(line) > 1024 {
			t.Errorf("a line has %d bytes", len(line))
		}
	}
}

// TestTimeline: the lines are those of the timeline, each once and in its place, and those of the feed where it is refused.
func TestTimeline(t *testing.T) {
	moment := func(id string, second int, kind, verb, title string) feed.Moment {
		return feed.Moment{ID: id, At: noon.Add(time.Duration(second) * time.Second), Kind: kind, Agent: "codex", Verb: verb, Title: title}
	}
	c, events := aTeam()
	all := []feed.Moment{
		moment("a", 1, feed.KindBlock, "was stopped before", "rm -rf /data "+hostile), moment("b", 2, feed.KindMessage, "sent", "on it "+hostile),
		{ID: "c", At: noon.Add(3 * time.Second), Kind: feed.KindTold, Agent: "codex", Verb: "began, and was told", Title: "2 memories", Detail: "90 tokens", Items: []operational.ToldItem{{Title: "Use pnpm"}, {Title: "Other"}}},
		{ID: "d", At: noon.Add(4 * time.Second), Kind: feed.KindCheck, Agent: "gemini", Verb: "checked", Withheld: true},
	}
	c.moments = func(after string) (newest []feed.Moment, err error) {
		for i := len(all) - 1; i >= 0; i-- {
			newest = append(newest, all[i])
		}
		return newest, nil
	}
	s := newScreen(t, c, 120, 24, true)
	s.send(events) // they ring, and tell no line of their own
	text := s.Screen()
	for _, want := range []string{"\x1b[1;31mBLOCKED was stopped before rm -rf /data", "sent to everybody: on it", "began, and was told 2 memories (Use pnpm): 90 tokens", "checked (another agent's)"} {
		if !strings.Contains(text, want) {
			t.Errorf("the screen lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "write the parser #4") || strings.Contains(text, "task claimed") {
		t.Errorf("the events are told beside the moments:\n%s", text)
	}
	all = append(all[:2:2], append([]feed.Moment{moment("late", 2, feed.KindTask, "claimed", "what was written late")}, all[2:]...)...)
	all = append(all, moment("e", 5, feed.KindTask, "finished", "the parser"))
	s.send(s.Look())
	s.send(s.Look())
	if _, _, lines := s.Shown(); lines != 6 {
		t.Errorf("%d lines of 6 moments", lines)
	}
	text = ansi.Strip(s.Screen())
	if late, told, last := strings.Index(text, "what was written late"), strings.Index(text, "2 memories"), strings.Index(text, "finished the parser"); late < 0 || late > told || told > last {
		t.Errorf("the lines are not in the order of their times:\n%s", text)
	}
	fits(t, text, 120, 24)

	c.moments = func(string) ([]feed.Moment, error) { return nil, principal.Unkept("the timeline") }
	s = newScreen(t, c, 80, 24, false)
	s.send(events)
	if !strings.Contains(s.Screen(), "BLOCKED") || strings.Contains(s.Screen(), "bound to projects") {
		t.Errorf("where the timeline is refused, the feed's events are not shown:\n%s", s.Screen())
	}
}

// TestColours shows that styles are of the screen's own: a text brings none, and without colours there is none.
func TestColours(t *testing.T) {
	c, events := aTeam()
	s := newScreen(t, c, 80, 24, true)
	s.send(events)
	coloured := s.Screen()
	if !strings.Contains(coloured, "\x1b[1mAGENTS") || !strings.Contains(coloured, "\x1b[1;31mBLOCKED") {
		t.Errorf("there are no colours: %q", coloured)
	}
	golden, err := os.ReadFile(filepath.Join("testdata", "80x24.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(golden), ansi.Strip(coloured)+"\n"); diff != "" {
		t.Errorf("without its colours it is another screen: %s", diff)
	}
	if view := s.View(); !view.AltScreen || view.Content != coloured {
		t.Error("the terminal is shown something else, or not on a screen of its own")
	}
}

// TestDecide reads an approval to its end, allows it, and denies the other one.
func TestDecide(t *testing.T) {
	c, _ := aTeam()
	s := newScreen(t, c, 60, 12, false)
	if cmd := s.press("a"); cmd != nil || len(c.asked) > 0 {
		t.Fatal("it was decided before it was opened")
	}
	if cmd := s.press("down", "enter", "a"); cmd != nil || !strings.Contains(s.Screen(), "Read it to its end first") {
		t.Fatalf("it was allowed without having been read:\n%s", s.Screen())
	}
	var cmd tea.Cmd
	for range 10 {
		cmd = s.press("space")
	}
	if cmd != nil || !strings.Contains(s.Screen(), "rm -rf /data") {
		t.Fatalf("its end is not shown:\n%s", s.Screen())
	}
	cmd = s.press("a")
	if again := s.press("a", "d"); again != nil {
		t.Error("it is decided twice")
	}
	s.send(cmd())
	if !strings.Contains(s.Screen(), "Allowed once, until 12:10, for claude-code/3f2a9b.") || !strings.Contains(s.Screen(), "APPROVALS: 1") {
		t.Errorf("what came of it is not said:\n%s", s.Screen())
	}
	s.send(s.press("enter", "d")())
	if !strings.Contains(s.Screen(), "Denied, for codex.") || !strings.Contains(s.Screen(), "APPROVALS: none waits") {
		t.Errorf("the denial is not said:\n%s", s.Screen())
	}
	if diff := cmp.Diff([]string{"allow two #8", "deny one #7"}, c.asked); diff != "" {
		t.Error(diff)
	}
}

// TestRefused says why somebody may not decide, and leaves the approval open.
func TestRefused(t *testing.T) {
	c, _ := aTeam()
	c.refusal = errs.Errorf(errs.Forbidden, "only a person decides this, and the token is an agent's")
	s := newScreen(t, c, 80, 24, false)
	s.send(s.press("enter", "a")())
	if text := s.Screen(); !strings.Contains(text, "the token is an agent's") || !strings.Contains(text, "codex asks in /src/shop") {
		t.Errorf("the refusal is not said:\n%s", text)
	}
	if cmd := s.press("esc", "q"); cmd == nil || cmd() != (tea.QuitMsg{}) {
		t.Error("q does not quit")
	}
}

// TestScroll keeps the place of who has scrolled back while lines come, and bounds the timeline.
func TestScroll(t *testing.T) {
	s := newScreen(t, &crew{}, 80, 24, false)
	several := func(from, to int) (events watch.Happened) {
		for i := from; i < to; i++ {
			events = append(events, event(i, "task.created", "a", map[string]any{"number": i, "title": "t"}))
		}
		return events
	}
	s.send(several(0, 100))
	if !strings.Contains(s.Screen(), "#99 t") {
		t.Errorf("the last line is not shown:\n%s", s.Screen())
	}
	s.press("pgup")
	before := strings.Split(s.Screen(), "\n")[3:20]
	s.send(several(100, 150))
	if diff := cmp.Diff(before, strings.Split(s.Screen(), "\n")[3:20]); diff != "" {
		t.Errorf("the lines moved: %s", diff)
	}
	s.press("end")
	s.send(several(150, 3*watch.MaxLines))
	if _, _, lines := s.Shown(); lines != watch.MaxLines || !strings.Contains(s.Screen(), fmt.Sprintf("#%d t", 3*watch.MaxLines-1)) {
		t.Errorf("%d lines are in memory", lines)
	}
}

// TestLooks runs the screen in virtual time: a burst of events calls for one look, and silence for one every few seconds.
func TestLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, events := aTeam()
		s := &screen{t, watch.NewModel(t.Context(), c.team(), "http://r", time.Now, false)}
		messages, ending := make(chan tea.Msg, 100), false
		run := func(cmd tea.Cmd) {
			if cmd != nil && !ending {
				go func() { messages <- cmd() }()
			}
		}
		counted := c.looks.Load() // a look may run as soon as it is called for
		run(s.Init())
		during := func(wait time.Duration) int {
			end := time.After(wait)
			for {
				select {
				case msg := <-messages:
					run(s.send(msg))
				case <-end:
					before := counted
					counted = c.looks.Load()
					return int(counted - before)
				}
			}
		}
		if n := during(time.Second); n != 1 {
			t.Errorf("%d looks at the start", n)
		}
		for range 20 {
			run(s.send(events))
		}
		if n := during(watch.LookSoon + time.Millisecond); n != 1 {
			t.Errorf("a burst called for %d looks", n)
		}
		if n := during(10*watch.LookEvery + time.Millisecond); n != 10 {
			t.Errorf("%d looks in silence", n)
		}
		// An event while a look is on its way calls for another.
		run(s.send(watch.Up{}))
		var cmd tea.Cmd
		for cmd == nil { // timers that count no more come too
			cmd = s.send(<-messages)
		}
		s.send(events)
		run(cmd)
		if n := during(2*watch.LookSoon + time.Millisecond); n != 2 {
			t.Errorf("%d looks, where a second one was called for", n)
		}
		ending = true
		during(2 * watch.LookEvery) // the last timers end
	})
}
