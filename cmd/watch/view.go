package watch

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"skillrouter/internal/check"
	"skillrouter/internal/safetext"
	"skillrouter/learning/lesson"
	"skillrouter/operational"
)

// What a terminal is told to show a text in. With NO_COLOR it is told nothing.
const (
	bold, faint, red, green, yellow, reverse = "1", "2", "1;31", "32", "33", "7"
)

// The columns from which more is shown.
const (
	wide   = 60 // columns for projects, seconds and longer names
	fewest = 20 // columns and lines of the smallest screen
	lowest = 6
)

// plan says how many lines each part of the screen has, its heading not counted.
type plan struct{ agents, approvals, timeline int }

// plan gives approvals what they need up to a quarter, agents up to a third, and the timeline the rest.
func (m *Model) plan() plan {
	rows := max(0, m.height-2-3) // the first line, the last line, three headings
	p := plan{approvals: min(len(m.approvals), max(1, rows/4))}
	p.agents = min(max(1, len(m.agents)), max(1, rows/3))
	p.timeline = max(0, rows-p.approvals-p.agents)
	return p
}

// View implements tea.Model.
func (m Model) View() tea.View {
	view := tea.NewView(m.Screen())
	view.AltScreen = true
	return view
}

// Screen is the text of the screen: exactly its lines, none longer than its columns.
func (m Model) Screen() string {
	if m.width == 0 || m.height == 0 {
		return ""
	}
	if m.width < fewest || m.height < lowest {
		return cell("too small", m.width)
	}
	lines := []string{m.top()}
	switch {
	case m.open != nil:
		lines = append(lines, m.decision()...)
	case m.keys:
		lines = append(lines, m.help()...)
	default:
		p := m.plan()
		lines = append(lines, m.agentLines(p.agents)...)
		lines = append(lines, m.timeline(p.timeline)...)
		lines = append(lines, m.waiting(p.approvals)...)
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	return strings.Join(append(lines[:m.height-1], m.bottom()), "\n")
}

// in shows a text in a style; nothing of the text is a style of its own.
func (m *Model) in(style, text string) string {
	if !m.colours || style == "" || text == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[m"
}

// top says which router it is, whether it answers, and how many agents there are.
func (m *Model) top() string {
	if m.away != "" {
		text := fmt.Sprintf("ROUTER AWAY since %s, trying again: %s", m.awaySince.Local().Format(time.TimeOnly), m.away)
		return m.in(red, cell(text, m.width))
	}
	state := "connecting to " + m.address
	if m.connected {
		state = strings.TrimPrefix(m.address, "http://")
	}
	counts := map[operational.AgentState]int{}
	for _, a := range m.agents {
		counts[a.State]++
	}
	right := fmt.Sprintf("%d online, %d stale, %d offline", counts[operational.AgentOnline]+counts[operational.AgentStarting], counts[operational.AgentStale], counts[operational.AgentOffline])
	if m.width < wide {
		right = fmt.Sprintf("%d online", counts[operational.AgentOnline]+counts[operational.AgentStarting])
	}
	return m.in(bold, cell("skillrouter  "+state, m.width-len(right)-1)+" "+right)
}

// bottom says what was last done, or which keys there are.
func (m *Model) bottom() string {
	text := "?: keys  enter: decide  q: quit"
	switch {
	case m.notice != "":
		return m.in(yellow, cell(m.notice, m.width))
	case m.open != nil && m.open.deciding:
		text = "asking the router…"
	case m.open != nil:
		text = "a: allow, once  d: deny  space: on  esc: back"
		if m.width < wide {
			text = "a: allow  d: deny  esc: back"
		}
	case m.back > 0:
		text = fmt.Sprintf("%d later lines; end: to the last", m.back)
	case m.width >= 78: // as many as the text has
		text = "↑ ↓: choose  enter: read and decide  pgup, pgdn: timeline  ?: keys  q: quit"
	}
	return m.in(faint, cell(text, m.width))
}

func (m *Model) heading(text string) string { return m.in(bold, cell(text, m.width)) }

func (m *Model) agentLines(most int) []string {
	heading := "AGENTS"
	if hidden := len(m.agents) - most; hidden > 0 {
		heading = fmt.Sprintf("AGENTS, %d more are not shown", hidden)
	}
	lines := []string{m.heading(heading)}
	if len(m.agents) == 0 {
		return append(lines, fit("  none", m.width))
	}
	for _, a := range m.agents[:min(most, len(m.agents))] {
		task := cmp.Or(a.CurrentTask, a.Status)
		if a.CurrentTask != "" && a.Progress > 0 {
			task = fmt.Sprintf("%d%% %s", a.Progress, task)
		}
		if a.ShouldStop {
			task = "told to stop; " + task
		}
		line := m.in(presenceStyle[a.State], "● ")
		if m.width < wide {
			lines = append(lines, line+cell(a.ID, 12)+" "+cell(string(a.State), 7)+" "+cell(task, m.width-23))
			continue
		}
		lines = append(lines, line+cell(a.ID, 20)+" "+cell(string(a.State), 8)+" "+cell(a.Project, 12)+" "+cell(m.age(a.LastSeen), 4)+" "+cell(task, m.width-50))
	}
	return lines
}

var presenceStyle = map[operational.AgentState]string{operational.AgentOnline: green, operational.AgentStarting: green, operational.AgentStale: yellow, operational.AgentOffline: faint}

// age is how long ago something was, in four columns.
func (m *Model) age(at time.Time) string {
	switch d := m.now().Sub(at); {
	case at.IsZero():
		return ""
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 100*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", min(999, int(d.Hours()/24)))
	}
}

func (m *Model) timeline(most int) []string {
	lines := []string{m.heading("TIMELINE")}
	end := max(0, len(m.lines)-m.back)
	seen := m.lines[max(0, end-most):end]
	if len(m.lines) == 0 && most > 0 {
		lines = append(lines, fit("  nothing yet", m.width))
	}
	for _, e := range seen {
		at, name := time.TimeOnly, 16
		if m.width < wide {
			at, name = "15:04", 10
		}
		text := e.at.Local().Format(at) + " " + cell(e.agent, name) + " "
		style := ""
		if e.blocked {
			style = red
		}
		lines = append(lines, text+m.in(style, cell(e.text, m.width-ansi.StringWidth(text))))
	}
	for len(lines) < most+1 {
		lines = append(lines, "")
	}
	return lines[:most+1]
}

// waiting lists the approvals that wait.
func (m *Model) waiting(most int) []string {
	if len(m.approvals) == 0 {
		return []string{m.heading("APPROVALS: none waits")}
	}
	lines := []string{m.heading(fmt.Sprintf("APPROVALS: %d", len(m.approvals)))}
	from := max(0, min(m.at()-most/2, len(m.approvals)-most))
	for _, a := range m.approvals[from:min(len(m.approvals), from+most)] {
		mark, style := "  ", ""
		if a.ID == m.chosen {
			mark, style = "> ", reverse
		}
		lines = append(lines, m.in(style, mark+cell(a.Agent, 14)+" "+cell(a.Says(), m.width-17)))
	}
	return lines
}

// textHeight is how many lines an open approval has.
func (m *Model) textHeight() int { return max(1, m.height-3) }

// decision shows an approval that is open.
func (m *Model) decision() []string {
	text := m.text(m.open.approval)
	height := m.textHeight()
	heading := "DECIDE"
	if len(text) > height {
		heading = fmt.Sprintf("DECIDE: lines %d to %d of %d", m.open.top+1, min(len(text), m.open.top+height), len(text))
	}
	lines := []string{m.heading(heading)}
	for _, line := range text[min(m.open.top, len(text)):min(len(text), m.open.top+height)] {
		lines = append(lines, fit(line, m.width))
	}
	return lines
}

// text is an approval in full, in lines that fit the screen.
func (m *Model) text(a lesson.Approval) []string {
	var lines []string
	add := func(indent, text string) {
		for line := range strings.Lines(safetext.Visible(text)) {
			line = strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", "    ")
			for _, part := range strings.Split(ansi.Hardwrap(line, max(1, m.width-len(indent)), true), "\n") {
				lines = append(lines, indent+part)
			}
		}
	}
	asked := fmt.Sprintf("%s asks", a.Agent)
	if a.Folder != "" {
		asked += " in " + a.Folder
	}
	if a.Asked > 1 {
		asked += fmt.Sprintf(", %d times", a.Asked)
	}
	add("", check.OneLine(asked)+":")
	add("  ", a.Says())
	for _, match := range a.Matches {
		add("", check.OneLine(fmt.Sprintf("%s rule %s: %s", match.Severity, match.RuleID, match.Title)))
		if match.WhyBad != "" {
			add("  ", check.OneLine(match.WhyBad))
		}
		for _, other := range match.Alternatives {
			add("  instead: ", check.OneLine(other))
		}
	}
	add("", "Until "+a.EndsAt.Local().Format("15:04")+". Allowed is exactly this, once, within ten minutes.")
	return lines
}

func (m *Model) help() []string {
	lines := []string{m.heading("KEYS")}
	for _, line := range []string{
		"up, down       choose an approval",
		"enter          read it; then a allows, d denies",
		"pgup, pgdn     scroll the timeline",
		"home, end      its first line, its last",
		"?, esc         these keys, and back",
		"ctrl-z         leave for a while",
		"q, ctrl-c      quit",
	} {
		lines = append(lines, cell(line, m.width))
	}
	return lines
}
