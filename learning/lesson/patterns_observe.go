package lesson

import (
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/likeness"
)

// observe is told of a lesson that was reported (first) or occurred again, and by whom,
// in the transaction that stores it and before the next report is. It writes the
// patterns that the lesson forms or joins, with their evidence, and returns them and
// their events, which are to be appended behind the lesson's.
func (p *Patterns) observe(tx PipelineTx, lesson Lesson, by string, first bool, at time.Time) ([]Pattern, []eventlog.Event, error) {
	o := observation{Patterns: p, tx: tx, lesson: lesson, by: by, at: at, kind: patternKindOf(&lesson)}
	if o.by == "" {
		o.by = lesson.SourceAgent
	}
	var there bool
	if o.of, there = p.like.WordsOf(lesson.ID); !there {
		o.of = likeness.Prepare(lesson.likenessParts())
	}
	var known []Pattern
	if !first { // a new lesson is in no pattern yet
		var err error
		if known, err = tx.PatternsOf(Evidence{Kind: EvidenceLesson, Ref: lesson.ID}); err != nil {
			return nil, nil, err
		}
	}
	ofKind := false
	for _, pattern := range known {
		ofKind = ofKind || pattern.Type == o.kind && pattern.Command == ""
		if pattern.Representative != "" {
			if err := o.join(pattern, 1); err != nil {
				return nil, nil, err
			}
		}
	}
	if !ofKind {
		if err := o.gather(!first); err != nil {
			return nil, nil, err
		}
	}
	return o.patterns, o.events, o.failed()
}

// solves tells whether a failure says how it was solved: it is evidence for the solution too.
func solves(kind PatternType, lesson *Lesson) bool {
	return kind == PatternRecurringFailure && lesson.Solution != ""
}

// observation is a lesson that was reported, or occurred again, and what came of it.
type observation struct {
	*Patterns
	tx     PipelineTx
	lesson Lesson
	by     string // who reported it this time
	at     time.Time
	of     likeness.Of
	kind   PatternType

	patterns []Pattern
	events   []eventlog.Event
}

// gathering is a kind of pattern, the types of the lessons that it gathers, and how its description begins.
type gathering struct {
	kind  PatternType
	types []learning.LessonType
	lead  string
}

// gatherings are all kinds. A discovery is of the one with solutions if it says one; the last stands for any other.
var gatherings = []gathering{
	{PatternRecurringFailure, []learning.LessonType{learning.LessonFailure, learning.LessonWarning}, "It fails again and again: "},
	{PatternCommonSolution, []learning.LessonType{learning.LessonWorkaround, learning.LessonDiscovery}, "It was solved like this more than once: "},
	{PatternAntiPattern, []learning.LessonType{learning.LessonAntiPattern}, "It was found to be a mistake more than once: "},
	{PatternOptimization, []learning.LessonType{learning.LessonOptimization}, "It made things better more than once: "},
	{PatternBestPractice, []learning.LessonType{learning.LessonSuccess, learning.LessonDiscovery}, "It worked more than once: "},
}

// gatheringWhere is the first of which something holds, or the last.
func gatheringWhere(holds func(g gathering) bool) gathering {
	if i := slices.IndexFunc(gatherings, holds); i >= 0 {
		return gatherings[i]
	}
	return gatherings[len(gatherings)-1]
}

func gatheringOf(kind PatternType) gathering {
	return gatheringWhere(func(g gathering) bool { return g.kind == kind })
}

// patternKindOf says which kind of pattern lessons like this one form.
func patternKindOf(lesson *Lesson) PatternType {
	return gatheringWhere(func(g gathering) bool {
		return slices.Contains(g.types, lesson.Type) && (lesson.Type != learning.LessonDiscovery || lesson.Solution != "")
	}).kind
}

// gather lets the lesson join the pattern of its kind whose representative it
// is most like, or form one with lessons that are in none. again tells that
// it occurred before: it may then form one by itself.
func (o *observation) gather(again bool) error {
	joined, err := o.joinRepresentative(o.kind)
	if err != nil {
		return err
	}
	if !joined {
		if joined, err = o.gatherLike(); err != nil {
			return err
		}
	}
	if !joined && again && (!principal.SameVoice(o.by, o.lesson.SourceAgent) || o.lesson.Occurrences >= repeatOccurrences) {
		return o.form(nil, nil)
	}
	if solves(o.kind, &o.lesson) {
		_, err = o.joinRepresentative(PatternCommonSolution)
	}
	return err
}

// joinRepresentative joins the pattern of a kind whose representative the
// lesson is most like, if it is like one.
func (o *observation) joinRepresentative(kind PatternType) (bool, error) {
	for _, hit := range o.reps.Like(o.of, likeness.LikeFilter{Types: gatheringOf(kind).types}) {
		rep, there := o.reps.WordsOf(hit.ID)
		if !there || !together(hit, o.of.Domain == rep.Domain) {
			continue
		}
		pattern, found, err := o.tx.PatternOf(hit.ID)
		if err != nil {
			return false, err
		}
		if !found { // the transaction that made it did not commit
			o.reps.Remove(hit.ID)
			continue
		}
		if pattern.Type == kind {
			return true, o.join(pattern, hit.Score)
		}
	}
	return false, nil
}

// together tells whether two lessons, or a lesson and a representative, are
// about one problem. Across domains their texts and causes must be closer.
func together(hit likeness.LikeHit, sameDomain bool) bool {
	return likeness.Recurs(hit) && (sameDomain || hit.Score >= acrossDomains && hit.Cause >= acrossCause)
}

// gatherLike looks at the lessons that are like this one. It joins the pattern that they are in, if the lesson is like
// the whole of it, or forms one with those that are in none.
func (o *observation) gatherLike() (bool, error) {
	hits := o.like.Like(o.of, likeness.LikeFilter{Types: gatheringOf(o.kind).types, Self: o.lesson.ID})
	near := likeness.Near(hits)         // the others are the background that these must stand out against
	groups := make([]string, len(hits)) // the pattern that each is in; empty: none; "-": it can be in none
	found := map[string]Pattern{}
	others := make([]Lesson, len(near))
	for i, hit := range near {
		other, there, err := o.tx.LessonOf(hit.ID)
		if err != nil {
			return false, err
		}
		if !there || other.Status == StatusRetired || patternKindOf(&other) != o.kind {
			groups[i] = "-"
			continue
		}
		others[i] = other
		patterns, err := o.tx.PatternsOf(Evidence{Kind: EvidenceLesson, Ref: other.ID})
		if err != nil {
			return false, err
		}
		for _, pattern := range patterns {
			if pattern.Type == o.kind && pattern.Command == "" {
				groups[i], found[pattern.ID] = pattern.ID, pattern
				break
			}
		}
	}
	var free []Lesson
	var scores []float64
	for i := range near {
		switch {
		case groups[i] == "-":
		case groups[i] != "":
			pattern := found[groups[i]]
			rep, there := o.reps.WordsOf(pattern.ID)
			if len(free) == 0 && there && likeness.Related(o.reps.Alike(o.of, rep)) && likeness.OfGroup(hits, func(j int) bool { return groups[j] == groups[i] }, i, int(pattern.Lessons)) {
				return true, o.join(pattern, hits[i].Score)
			}
		case len(free) < maxFormingLessons && (o.together(hits[i]) || likeness.OfGroup(hits, func(j int) bool { return j <= i && groups[j] == "" }, i, 1)):
			free, scores = append(free, others[i]), append(scores, hits[i].Score)
		}
	}
	if len(free) == 0 {
		return false, nil
	}
	return true, o.form(free, scores)
}

// together tells whether a hit is about one problem with the lesson by itself, whatever else there is.
func (o *observation) together(hit likeness.LikeHit) bool {
	words, there := o.like.WordsOf(hit.ID)
	return there && together(hit, o.of.Domain == words.Domain)
}

// form makes a pattern of the lesson, as its representative, and others that are like it.
func (o *observation) form(others []Lesson, scores []float64) error {
	pattern := Pattern{
		ID: check.NewID(), Type: o.kind, Domain: o.lesson.Domain, Status: PatternEmerging, Representative: o.lesson.ID,
		FirstSeen: o.lesson.CreatedAt, LastSeen: o.at, CreatedAt: o.at, UpdatedAt: o.at, Categories: []string{}, Prevention: []string{},
	}
	describe(&pattern, &o.lesson)
	members := []Lesson{o.lesson}
	evidence := make([]Evidence, 0, 1+len(others))
	for i := range others {
		members = append(members, others[i])
		evidence = append(evidence, Evidence{Kind: EvidenceLesson, Ref: others[i].ID, Agent: others[i].SourceAgent, Score: scores[i], At: others[i].CreatedAt})
		pattern.Weight += scores[i] / float64(len(others))
	}
	if len(others) == 0 {
		pattern.Weight = 1
	}
	evidence = append(evidence, Evidence{Kind: EvidenceLesson, Ref: o.lesson.ID, Agent: o.lesson.SourceAgent, Score: 1, At: o.at})
	return o.found(pattern, members, evidence)
}

// found stores a new pattern of lessons with what they say.
func (o *observation) found(pattern Pattern, members []Lesson, evidence []Evidence) error {
	slices.SortFunc(members, byNumber)
	var tellers []string
	for i := range members {
		m := &members[i]
		tellers = append(tellers, m.SourceAgent)
		draw(&pattern, m, o.at)
		pattern.Lessons++
		pattern.Frequency += m.Occurrences
		if m.CreatedAt.Before(pattern.FirstSeen) {
			pattern.FirstSeen = m.CreatedAt
		}
	}
	agents := kindsOf(append(tellers, o.by)...)
	pattern.Agents = int64(len(agents))
	pattern.Why = whyGathered(&pattern, members, agents)
	pattern.Belief = Belief{InitialConfidence: gatheredConfidence(pattern.Lessons, pattern.Agents, pattern.Frequency), DecayConstant: DecayConstant, ConfidenceAt: o.at}
	confirmed := o.proven(&pattern)
	if err := o.tx.InsertPattern(&pattern); err != nil {
		return err
	}
	if _, err := o.tx.AddEvidence(pattern.ID, evidence...); err != nil {
		return err
	}
	if _, err := o.tx.AddPatternAgents(pattern.ID, agents...); err != nil {
		return err
	}
	if pattern.Command == "" {
		o.reps.Put(pattern.ID, o.of)
	}
	o.tell(&pattern, EventPatternEmerged, confirmed)
	return nil
}

// kindsOf are the kinds of agents, each once.
func kindsOf(agents ...string) []string {
	kinds := []string{}
	for _, agent := range agents {
		if kind := principal.KindOf(agent); kind != "" && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// join adds the lesson, or another occurrence of it, to a pattern. It costs the
// same however much the pattern has gathered. A pattern that somebody
// deprecated gathers in silence; one that faded emerges anew.
func (o *observation) join(pattern Pattern, score float64) error {
	added, err := o.tx.AddEvidence(pattern.ID, Evidence{Kind: EvidenceLesson, Ref: o.lesson.ID, Agent: o.lesson.SourceAgent, Score: score, At: o.at})
	if err != nil {
		return err
	}
	agents, err := o.tx.AddPatternAgents(pattern.ID, kindsOf(o.lesson.SourceAgent, o.by)...)
	if err != nil {
		return err
	}
	if added > 0 {
		pattern.Lessons++
		pattern.Weight += (score - pattern.Weight) / float64(pattern.Lessons)
		if o.lesson.Domain != pattern.Domain {
			pattern.Domain = CrossDomain
		}
		pattern.Frequency += o.lesson.Occurrences // it may have occurred before it was like the others
	} else {
		pattern.Frequency++
	}
	pattern.Agents += int64(agents)
	draw(&pattern, &o.lesson, o.at)
	kind := EventPatternSeen
	if pattern.Status == PatternDeprecated && pattern.ConfirmedBy == "" {
		pattern.Status, kind = PatternEmerging, EventPatternEmerged
	}
	if pattern.LastSeen.Before(o.at) {
		pattern.LastSeen, pattern.UpdatedAt = o.at, o.at
	}
	var names []string
	if agents > 0 || added > 0 {
		if names, err = o.tx.PatternAgents(pattern.ID, maxPatternAgents); err != nil {
			return err
		}
	}
	rewhy(&pattern, names)
	// What is seen again is as sure as its evidence makes it, or surer if somebody confirmed it.
	pattern.Belief = pattern.Moved(max(pattern.At(o.at), gatheredConfidence(pattern.Lessons, pattern.Agents, pattern.Frequency)), o.at)
	confirmed := o.proven(&pattern)
	if err := o.tx.UpdatePattern(pattern); err != nil {
		return err
	}
	if pattern.Status != PatternDeprecated {
		o.tell(&pattern, kind, confirmed)
	}
	return nil
}

// proven confirms an emerging pattern that has the evidence. An anti_pattern
// is left to a person: a confirmed one stops other people's work.
func (o *observation) proven(pattern *Pattern) bool {
	if pattern.Status != PatternEmerging || pattern.Type == PatternAntiPattern ||
		pattern.Lessons < ConfirmLessons || pattern.Agents < ConfirmAgents || pattern.At(o.at) < ConfirmConfidence {
		return false
	}
	pattern.Status, pattern.ConfirmedAt = PatternConfirmed, &o.at
	return true
}

func (o *observation) tell(pattern *Pattern, kind string, confirmed bool) {
	o.patterns = append(o.patterns, presentPattern(*pattern, o.at))
	o.events = append(o.events, PatternTold(kind, pattern, o.by, "", o.at))
	if confirmed {
		o.events = append(o.events, PatternTold(EventPatternConfirmed, pattern, o.by, "its evidence", o.at))
	}
}
