package watch

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"skillrouter/internal/clock"
	"skillrouter/internal/errs"
	"skillrouter/learning/lesson"
	"skillrouter/operational"
	"skillrouter/router/feed"
)

// Times and bounds of the screen.
const (
	// lookEvery is how often agents and approvals are read where no event calls for it: ages grow, and a state changes in silence.
	lookEvery = 5 * time.Second
	// lookSoon is how long after an event they are read: the events of a burst call for one look.
	lookSoon = 300 * time.Millisecond
	// maxLines bounds the timeline that is in memory.
	maxLines = 1000
	// maxAgents bounds the agents that are read: a screen shows less.
	maxAgents = 200
	// maxApprovals bounds the approvals that are read.
	maxApprovals = 100
)

// Team is what the screen asks of the router.
type Team struct {
	Agents    func(ctx context.Context) ([]operational.Agent, error)
	Approvals func(ctx context.Context) ([]lesson.Approval, error)
	// Moments returns what happened at least since a moment, the newest first; without one the latest.
	// Nil: nothing but the events of the feed is shown.
	Moments func(ctx context.Context, after string) ([]feed.Moment, error)
	// Allow and Deny decide an approval as it was seen.
	Allow func(ctx context.Context, a lesson.Approval) (lesson.Approval, error)
	Deny  func(ctx context.Context, a lesson.Approval) (lesson.Approval, error)
}

// Model is the screen: what was read last, and where its reader is. It is a value, as bubbletea wants it.
type Model struct {
	ctx     context.Context
	team    Team
	now     clock.Clock
	address string
	colours bool

	width, height int
	agents        []operational.Agent
	approvals     []lesson.Approval
	lines         []entry // the timeline, the oldest first
	newest        string  // the last moment that was read, by id
	eventsOnly    bool    // whoever looks may not read the timeline: the lines are the feed's events
	back          int     // how many lines the timeline is scrolled back
	chosen        string  // the approval that is chosen, by id
	open          *reading
	keys          bool // the list of keys is shown
	notice        string

	connected bool
	away      string // why the router does not answer; empty: nothing was tried yet, or it answers
	awaySince time.Time

	timer   int  // the look that is waited for; others came too late
	looking bool // a look is on its way
	again   bool // something happened since it began
	soon    bool // a look will come soon
}

// entry is a line of the timeline.
type entry struct {
	id          string // of its moment
	at          time.Time
	agent, text string
	blocked     bool
}

func entryOf(m feed.Moment) entry {
	return entry{id: m.ID, at: m.At, agent: shown(m.Agent), text: MomentLine(m), blocked: m.Kind == feed.KindBlock}
}

// reading is an approval that is open, and where its reader is.
type reading struct {
	approval lesson.Approval
	top      int
	deciding bool
}

// What the program tells the model.
type (
	// happened are events, in order.
	happened []feed.Event
	// up says that the stream of events is open.
	up struct{}
	// down says that it is not, and why.
	down struct{ err error }
	// due is a look's time.
	due int
	// looked is what a look found.
	looked struct {
		agents    []operational.Agent
		approvals []lesson.Approval
		moments   []feed.Moment // the newest first
		unread    error         // why there are no moments
		err       error
	}
	// decided is what came of a decision.
	decided struct {
		approval lesson.Approval
		err      error
	}
)

// NewModel makes the screen of a router's team.
func NewModel(ctx context.Context, team Team, address string, now clock.Clock, colours bool) Model {
	return Model{ctx: ctx, team: team, address: address, now: now, colours: colours, looking: true, eventsOnly: team.Moments == nil}
}

// Init implements tea.Model.
func (m Model) Init() tea.Cmd { return m.look }

// look reads agents, approvals and what happened since the last look.
func (m Model) look() tea.Msg {
	var found looked
	if !m.eventsOnly {
		found.moments, found.unread = m.team.Moments(m.ctx, m.newest)
	}
	if found.agents, found.err = m.team.Agents(m.ctx); found.err == nil {
		found.approvals, found.err = m.team.Approvals(m.ctx)
	}
	return found
}

// after has a look begin after a time. One that was waited for before counts no more.
func (m *Model) after(wait time.Duration) tea.Cmd {
	m.timer++
	timer := due(m.timer)
	return tea.Tick(wait, func(time.Time) tea.Msg { return timer })
}

// Update implements tea.Model.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case happened:
		m.tell(msg)
		return m, m.call()
	case up:
		m.connected, m.away = true, ""
		return m, m.call()
	case down:
		m.lost(msg.err)
	case due:
		if int(msg) != m.timer || m.looking {
			return m, nil
		}
		m.looking, m.soon = true, false
		return m, m.look
	case looked:
		return m, m.take(msg)
	case decided:
		m.settle(msg)
		return m, m.call()
	case tea.KeyPressMsg:
		return m, m.press(msg.String())
	}
	return m, nil
}

// call has a look come soon.
func (m *Model) call() tea.Cmd {
	switch {
	case m.looking:
		m.again = true
		return nil
	case m.soon:
		return nil
	}
	m.soon = true
	return m.after(lookSoon)
}

// tell puts events at the end of the timeline. Who has scrolled back sees the same lines as before.
func (m *Model) tell(events []feed.Event) {
	if m.newest != "" { // the next look tells them, as moments
		return
	}
	var lines []entry
	for _, e := range events {
		lines = append(lines, entryOf(feed.Told(e)))
	}
	m.add(lines)
}

// add puts lines at the end of the timeline.
func (m *Model) add(lines []entry) {
	m.lines = append(slices.Clone(m.lines), lines...)
	if m.back > 0 {
		m.back += len(lines)
	}
	m.lines = m.lines[max(0, len(m.lines)-maxLines):]
	m.back = min(m.back, len(m.lines))
}

// read puts the moments that a look found, and that were not known, in their places. The first ones take the place of
// the feed's events, which tell less.
func (m *Model) read(moments []feed.Moment) {
	if len(moments) == 0 {
		return
	}
	if m.newest == "" {
		m.lines, m.back = nil, 0
	}
	m.newest = moments[0].ID
	known := make(map[string]bool, len(m.lines))
	for _, line := range m.lines {
		known[line.id] = true
	}
	var lines []entry
	for _, one := range slices.Backward(moments) {
		if !known[one.ID] {
			lines = append(lines, entryOf(one))
		}
	}
	m.add(lines)
	slices.SortStableFunc(m.lines, func(a, b entry) int { return a.at.Compare(b.at) })
}

func (m *Model) lost(err error) {
	if m.away == "" {
		m.awaySince = m.now()
	}
	m.connected, m.away = false, shown(errs.Explain(err))
}

// take shows what a look found, and has the next one come.
func (m *Model) take(found looked) tea.Cmd {
	m.looking = false
	m.read(found.moments)
	switch errs.CodeOf(found.unread) {
	case errs.Forbidden, errs.NotFound: // a token that is bound to projects, or a router from before there was a timeline
		m.eventsOnly = true
	}
	switch {
	case found.err == nil:
		m.agents, m.approvals = found.agents, found.approvals
		slices.SortStableFunc(m.agents, func(a, b operational.Agent) int { return presence(a.State) - presence(b.State) })
		if m.at() < 0 && len(m.approvals) > 0 {
			m.chosen = m.approvals[0].ID
		}
	case m.connected: // a stream that is open says by itself when it breaks
		m.notice = shown(errs.Explain(found.err))
	}
	wait := lookEvery
	if m.again {
		wait, m.soon = lookSoon, true
	}
	m.again = false
	return m.after(wait)
}

// presence is the place of a state in the list of agents.
func presence(state operational.AgentState) int {
	return slices.Index([]operational.AgentState{operational.AgentOnline, operational.AgentStarting, operational.AgentStale, operational.AgentOffline}, state)
}

// at is the place of the chosen approval, or -1.
func (m *Model) at() int {
	return slices.IndexFunc(m.approvals, func(a lesson.Approval) bool { return a.ID == m.chosen })
}

// settle says what came of a decision. A refusal is left beside what it was about.
func (m *Model) settle(d decided) {
	if d.err != nil {
		m.notice = shown(errs.Explain(d.err))
		if m.open != nil {
			open := *m.open
			open.deciding = false
			m.open = &open
		}
		return
	}
	m.open = nil
	m.notice = fmt.Sprintf("Denied, for %s.", shown(d.approval.Agent))
	if d.approval.State == lesson.ApprovalApproved {
		m.notice = fmt.Sprintf("Allowed once, until %s, for %s.", d.approval.EndsAt.Local().Format("15:04"), shown(d.approval.Agent))
	}
	m.approvals = slices.DeleteFunc(slices.Clone(m.approvals), func(a lesson.Approval) bool { return a.ID == d.approval.ID })
	if m.at() < 0 && len(m.approvals) > 0 {
		m.chosen = m.approvals[0].ID
	}
}

// press does what a key is for.
func (m *Model) press(key string) tea.Cmd {
	if key == "ctrl+c" || key == "q" {
		return tea.Quit
	}
	if key == "ctrl+z" {
		return tea.Suspend
	}
	if m.open != nil {
		return m.pressOpen(key)
	}
	m.notice = ""
	page := max(1, m.plan().timeline-1)
	switch key {
	case "?":
		m.keys = !m.keys
	case "esc":
		m.keys = false
	case "up", "k":
		m.choose(-1)
	case "down", "j":
		m.choose(1)
	case "enter":
		if at := m.at(); at >= 0 {
			m.keys, m.open = false, &reading{approval: m.approvals[at]}
		}
	case "pgup", "b":
		m.back = min(m.back+page, max(0, len(m.lines)-page))
	case "pgdown", "space":
		m.back = max(0, m.back-page)
	case "end", "G":
		m.back = 0
	case "home", "g":
		m.back = max(0, len(m.lines)-page)
	}
	return nil
}

func (m *Model) choose(step int) {
	if len(m.approvals) > 0 {
		at := min(max(m.at()+step, 0), len(m.approvals)-1)
		m.chosen = m.approvals[at].ID
	}
}

// pressOpen does what a key is for while an approval is open.
func (m *Model) pressOpen(key string) tea.Cmd {
	open := *m.open
	if open.deciding { // the router has the decision
		return nil
	}
	m.notice = ""
	height := m.textHeight()
	last := max(0, len(m.text(open.approval))-height)
	switch key {
	case "esc", "left":
		m.open = nil
		return nil
	case "up", "k":
		open.top = max(0, open.top-1)
	case "down", "j", "enter":
		open.top = min(last, open.top+1)
	case "pgup", "b":
		open.top = max(0, open.top-height)
	case "pgdown", "space":
		open.top = min(last, open.top+height)
	case "a":
		if open.top < last {
			m.notice = "Read it to its end first: space."
			return nil
		}
		open.deciding = true
		m.open = &open
		return m.decide(m.team.Allow, open.approval)
	case "d":
		open.deciding = true
		m.open = &open
		return m.decide(m.team.Deny, open.approval)
	}
	m.open = &open
	return nil
}

func (m *Model) decide(how func(ctx context.Context, a lesson.Approval) (lesson.Approval, error), a lesson.Approval) tea.Cmd {
	ctx := m.ctx
	return func() tea.Msg {
		settled, err := how(ctx, a)
		return decided{settled, err}
	}
}
