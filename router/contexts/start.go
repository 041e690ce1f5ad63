package contexts

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
)

// Figures of what a session begins with.
const (
	// MaxCharacters bounds Request.Characters: what is longer than a model's window holds nobody reads.
	MaxCharacters = 1_000_000
	// startPage is how many of each kind are looked at, the newest first.
	startPage = learning.MaxLimit
	// startShare is the part of the budget that one item may take at a start, where many
	// short things are worth more than one long.
	startShare = 8
	// sessionShare is that of the last session: what was decided and left open in it is
	// what the work goes on with.
	sessionShare = 4
	// decidedShare is the part of the budget that decisions may take whole. Others stand in the index.
	decidedShare = 0.25
	// mostDecisions is how many decisions are looked at.
	mostDecisions = 40
	// generalPart is what counts of an item that belongs to no project beside one of this project.
	generalPart = 0.8
	// enoughUses is how many uses make an entry as much used as can be.
	enoughUses = 32
	// mostSessions is how many ended sessions are looked at for one of this agent's.
	mostSessions = 20
	// mostOpen bounds how many open ends of the last session are listed.
	mostOpen = 6
)

// startOrder is the order of the sections at a start: what must not be done, where
// the last session stopped, and then what is known.
var startOrder = []string{
	router.KindGuard, sectionDecided, router.KindIncident, router.KindSession, router.KindTask, sectionIndex, sectionLessons,
}

// starting returns the stores that are there, each asked for what a session in a
// project begins with: of this project, and of none.
func (s Sources) starting(r Request, at time.Time) (list []source) {
	add := adder(&list)
	add(s.Lessons != nil, "rules", s.startRules)
	add(s.Knowledge != nil, "knowledge", s.inForce)
	add(s.Episodes != nil && r.Project != "", "decisions", s.decisions)
	if r.Prompt {
		return list
	}
	add(s.Incidents != nil && r.Project != "", "incidents", s.brief)
	add(s.Lessons != nil, "lessons", s.startLessons)
	add((s.Sessions != nil || s.Episodes != nil) && (r.Project != "" || r.AgentID != ""), "sessions", s.lastSession)
	add(s.Tasks != nil && r.AgentID != "", "tasks", func(ctx context.Context, r Request) (gathered, error) {
		r.Project = "" // those that the agent itself holds
		return s.tasks(ctx, r)
	})
	add(s.Index != nil, "index", func(ctx context.Context, r Request) (gathered, error) { return s.startIndex(ctx, r, at) })
	return list
}

// ownAndGeneral asks a listing for what belongs to the project, if there is one, and for what belongs to none.
func ownAndGeneral[T any](project string, list func(project string, general bool) ([]T, error)) (all []T, err error) {
	if project != "" {
		if all, err = list(project, false); err != nil {
			return nil, err
		}
	}
	general, err := list("", true)
	return append(all, general...), err
}

func (s Sources) startRules(ctx context.Context, r Request) (f gathered, err error) {
	found, err := ownAndGeneral(r.Project, func(project string, general bool) ([]lesson.Lesson, error) {
		page, err := s.Lessons.List(ctx, lesson.Filter{Type: learning.LessonAntiPattern, Project: project, General: general, Limit: startPage})
		return page.Lessons, err
	})
	for _, l := range found {
		if l.Proposed {
			continue // it is no rule
		}
		c := lessonCandidate(&l)
		c.kind, c.body = router.KindGuard, lines("Instead: ", strings.Join(l.Alternatives, "; "))
		f.candidates = append(f.candidates, c)
	}
	return f, err
}

func (s Sources) startLessons(ctx context.Context, r Request) (f gathered, err error) {
	found, err := ownAndGeneral(r.Project, func(project string, general bool) ([]lesson.Lesson, error) {
		page, err := s.Lessons.List(ctx, lesson.Filter{Project: project, General: general, Limit: startPage})
		return page.Lessons, err
	})
	for _, l := range found {
		if l.Type != learning.LessonAntiPattern && !ofIncident(&l) {
			c := lessonCandidate(&l)
			c.section = sectionLessons
			f.candidates = append(f.candidates, c)
		}
	}
	return f, err
}

// ofIncident tells whether a lesson is the copy of an incident, which accepted ones once got: the brief, and the answer after the
// failure, tell what worked. One that was promoted says more.
func ofIncident(l *lesson.Lesson) bool {
	return l.Category == "incident" && l.Level == lesson.LevelCase && l.Solution != ""
}

// brief is what fails in the project again and again.
func (s Sources) brief(ctx context.Context, r Request) (f gathered, err error) {
	brief, err := s.Incidents.Brief(ctx, history.BriefQuery{Project: r.Project, Folder: r.Folder})
	if err == nil && brief.Text != "" {
		f.candidates = []candidate{{
			kind: router.KindIncident, id: "brief", title: "Errors of earlier sessions, and what worked then", body: brief.Text, author: "skillrouter",
			trust: router.TrustAgent, project: r.Project, confidence: 1, briefed: brief.Shown,
		}}
	}
	return f, err
}

// inForce are the decisions and constraints that hold in the project, and everywhere.
func (s Sources) inForce(ctx context.Context, r Request) (f gathered, err error) {
	found, err := s.Knowledge.InForce(ctx, r.Project)
	for _, e := range found {
		c := knowledgeCandidate(&e)
		c.section, c.confidence = sectionDecided, 1
		f.candidates = append(f.candidates, c)
	}
	return f, err
}

func (s Sources) decisions(ctx context.Context, r Request) (f gathered, err error) {
	found, err := s.Episodes.Recent(ctx, episode.Filter{Persona: r.Persona, Project: r.Project, EventType: episode.EventDecision, Limit: mostDecisions})
	for _, e := range found {
		c := episodeCandidate(&e)
		c.section = sectionDecided
		f.candidates = append(f.candidates, c)
	}
	return f, err
}

// lastSession is how the last session of this agent in this project ended; if it
// had none, that of another agent of its kind, or else of anybody. Who begins and ends
// sessions says so; of the others it is what their transcript was summed up to. Of this
// session itself comes first what was kept of it when it was compacted.
func (s Sources) lastSession(ctx context.Context, r Request) (f gathered, err error) {
	var found []candidate
	own := map[string]bool{} // what was kept of this session, before it was compacted
	agent := ""              // whoever worked in the project, and outside of any the agent itself
	if r.Project == "" {
		agent = r.AgentID
	}
	if s.Sessions != nil {
		sessions, err := s.Sessions.List(ctx, operational.SessionFilter{AgentID: agent, Persona: r.Persona, Project: r.Project, Status: operational.SessionEnded, Limit: mostSessions})
		if err != nil {
			return f, err
		}
		for _, one := range sessions {
			if (one.Summary != "" || one.Handover.Count() > 0) && one.EndedAt != nil {
				found = append(found, candidate{
					id: one.ID, title: cmp.Or(one.Goal, "The last session"), body: one.Summary + openEnds(one.Handover), author: one.AgentID, project: one.Project, date: *one.EndedAt,
				})
			}
		}
	}
	if s.Episodes != nil {
		summaries, err := s.Episodes.Recent(ctx, episode.Filter{AgentID: agent, Persona: r.Persona, Project: r.Project, Event: history.SummaryEvent, Limit: mostSessions})
		if err != nil {
			return f, err
		}
		for _, e := range summaries {
			found = append(found, candidate{id: e.ID, title: e.Title, body: e.Content, author: e.AgentID, project: e.Project, date: e.CreatedAt})
			own[e.ID] = r.SessionID != "" && e.SessionID == r.SessionID
		}
	}
	found = slices.DeleteFunc(found, func(c candidate) bool { return c.project != r.Project })
	near := func(c candidate) int {
		switch {
		case own[c.id]:
			return -1
		case c.author == r.AgentID:
			return 0
		case principal.SameVoice(c.author, r.AgentID):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Or(near(a)-near(b), b.date.Compare(a.date)) })
	if len(found) == 0 {
		return f, nil
	}
	f.candidates = found[:1:1]
	if own[found[0].id] {
		f.candidates[0].title = "This session so far"
		if before := slices.IndexFunc(found, func(c candidate) bool { return !own[c.id] }); before > 0 {
			f.candidates = append(f.candidates, found[before])
		}
	}
	for i := range f.candidates {
		c := &f.candidates[i]
		c.kind, c.trust, c.confidence = router.KindSession, router.TrustAgent, 1
	}
	return f, nil
}

// openEnds lists what a session left undone, a line each.
func openEnds(h *operational.Handover) string {
	if h == nil {
		return ""
	}
	var b strings.Builder
	listed := 0
	for _, items := range [][]operational.OpenItem{h.Tasks, h.Steps, h.Reminders} {
		for _, item := range items {
			if listed++; listed <= mostOpen {
				fmt.Fprintf(&b, "\nOpen %s: %s", item.Kind, item.Title)
			}
		}
	}
	if more := h.TaskCount + h.StepCount + h.ReminderCount - min(listed, mostOpen); more > 0 {
		fmt.Fprintf(&b, "\nand %d more", more)
	}
	return b.String()
}

// chooseStart chooses by the order of the sections. What must not be done, what is decided, what fails and where the last session stopped
// is told whole, of all else the titles, and more of them if there is room.
func (c *choice) chooseStart(candidates []candidate) Context {
	c.begin(candidates)
	var head, entries, lessons []*rated
	for _, r := range once(candidates) {
		r.score = startWorth(&r.candidate, c.at, c.project)
		switch {
		case r.section == sectionIndex:
			r.score = c.lineWorth(r)
			entries = append(entries, r)
		case c.withheld(r):
		case r.section == sectionLessons:
			lessons = append(lessons, r)
		default:
			head = append(head, r)
		}
	}
	told, looked := c.head(head), slices.Clone(entries)
	entries = slices.DeleteFunc(entries, func(r *rated) bool { return told[r.kind+"/"+r.id] })
	slices.SortStableFunc(entries, c.byWorth)
	entries = slices.DeleteFunc(c.withoutSuperseded(entries), func(r *rated) bool { return !c.listable(r) })
	c.markGone(entries)
	slices.SortStableFunc(lessons, c.byWorth)
	left := c.budget - c.tokens - furtherRoom
	taught := c.list(sectionLessons, lessons, left/lessonShare)
	known := c.list(sectionIndex, entries, left)
	c.further(looked, entries, known)
	c.fill(known, len(entries))
	c.fill(taught, len(lessons))
	c.settle(known)
	c.settle(taught)
	return c.write()
}

// chooseBrief chooses what a subagent begins with: what must not be done, what is decided, and what belongs to its task.
func (c *choice) chooseBrief(asked asking, candidates []candidate) Context {
	c.begin(candidates)
	var head []*rated
	for _, r := range once(candidates) {
		if r.kind == router.KindGuard || r.section == sectionDecided {
			if r.score = startWorth(&r.candidate, c.at, c.project); !c.withheld(r) {
				head = append(head, r)
			}
		}
	}
	c.head(head)
	c.fitting(asked, slices.DeleteFunc(candidates, func(r candidate) bool { return r.section != "" || r.kind == router.KindGuard }))
	return c.write()
}

// byWorth orders items by their sections, and in each by what they are worth.
func (c *choice) byWorth(a, b *rated) int {
	return cmp.Or(slices.Index(c.order, a.part())-slices.Index(c.order, b.part()), cmp.Compare(b.score, a.score), b.date.Compare(a.date))
}

// head takes in what a start tells whole, and tells what that is.
func (c *choice) head(all []*rated) (told map[string]bool) {
	slices.SortStableFunc(all, c.byWorth)
	c.markGone(all)
	slices.SortStableFunc(all, func(a, b *rated) int { return slices.Index(c.order, a.part()) - slices.Index(c.order, b.part()) })
	told, guards, decided := map[string]bool{}, 0, 0
	for _, r := range all {
		before := c.tokens
		switch {
		case r.kind == router.KindGuard && guards >= mostGuards:
			c.leave(&r.candidate, reasonBudget)
			continue
		case r.section == sectionDecided && float64(decided) > decidedShare*float64(c.budget):
			continue // it stands in the index
		}
		if told[r.kind+"/"+r.id] = c.place(r); r.section == sectionDecided {
			decided += c.tokens - before
		} else if r.kind == router.KindGuard {
			guards++
		}
	}
	return told
}

// startWorth is what an item is worth at a start, from 0 to 1: how much it is used,
// how fresh it is, how sure and how grave, in equal parts, but how grave a rule is counts
// as much as all else. What belongs to no project is worth a little less.
func startWorth(r *candidate, at time.Time, project string) float64 {
	used := math.Log1p(min(float64(r.uses), enoughUses)) / math.Log1p(enoughUses)
	weight := 1.0
	if r.kind == router.KindGuard {
		weight = 3
	}
	worth := (used + recentness(r.date, at) + min(max(r.confidence, 0), 1) + weight*r.grave) / (3 + weight)
	if project != "" && r.project == "" {
		worth *= generalPart
	}
	return worth
}

// withoutSuperseded leaves out what was written anew: of entries of knowledge with the same title in the same project, folder and branch
// the newest counts.
func (c *choice) withoutSuperseded(all []*rated) []*rated {
	newest := map[string]*rated{}
	name := func(r *rated) string {
		return r.project + "\n" + r.place.Folder + "\n" + r.place.Branch + "\n" + strings.ToLower(oneLine(r.title))
	}
	for _, r := range all {
		if r.kind == router.KindKnowledge && !vague(r.title) {
			if other := newest[name(r)]; other == nil || r.date.After(other.date) {
				newest[name(r)] = r
			}
		}
	}
	return slices.DeleteFunc(all, func(r *rated) bool {
		other := newest[name(r)]
		if r.kind != router.KindKnowledge || other == nil || other == r {
			return false
		}
		c.leave(&r.candidate, "superseded by "+other.id)
		return true
	})
}
