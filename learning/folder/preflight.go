package folder

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"skillrouter"
	"skillrouter/learning"
)

// preflightPlace is where preflights are kept, within the repository.
const preflightPlace = "logs/agent/preflight"

// Where a shortlist comes from.
const (
	SourceIndex    = "index"
	SourceRouter   = "router"
	SourceHeadings = "headings"
	SourceNone     = "none"
)

// The parts of a match's score; they add up to 100.
const (
	shareTags       = 40.0
	shareText       = 25.0
	shareLevel      = 20.0 // principle all of it, pattern two thirds, case one
	shareConfidence = 5.0
	shareTransfer   = 5.0
	shareRecency    = 5.0 // e^(−0.01·days) since the last validation; none: nothing
)

// askRouter is how many lessons the router is asked for, from which the
// shortlist is then drawn by the same formula as from an index.
const askRouter = 50

// MaxTask bounds a task's text, in bytes.
const MaxTask = learning.MaxQuery

// Preflight is the shortlist of lessons before a task: seed 001's preflight
// artifact, in the order of its keys.
type Preflight struct {
	Task         string    `json:"task"`
	Tokens       []string  `json:"tokens"` // the task's words that count, the heaviest first
	Source       string    `json:"source"`
	IndexPath    string    `json:"indexPath"`
	MatchCount   int       `json:"matchCount"` // of matches
	Matches      []Match   `json:"matches"`    // best first
	FallbackUsed bool      `json:"fallbackUsed"`
	Selection    Selection `json:"selection"`
	GeneratedAt  string    `json:"generatedAt"`
}

// Match is a lesson of a shortlist.
type Match struct {
	ID     string                `json:"id"`
	Level  learning.Level        `json:"level"`
	Status learning.LessonStatus `json:"status"`
	Title  string                `json:"title"`
	Path   string                `json:"path"` // of its file; empty if it came from the router
	Score  float64               `json:"score"`
	Reason string                `json:"reason"`
}

// candidate is a lesson that may be put on a shortlist.
type candidate struct {
	Listed
	similarity float64 // what the router's search found, 0 to 1
}

// Prepare makes the shortlist for a task and keeps it in root's logs: from the
// index that the policy names; if that is not there, from the router that ask
// reaches, which may be nil; and if neither has anything that fits, from the
// headings of a flat file of lessons. It returns the shortlist, where it was
// written to, and what stood in the way of a better source.
func Prepare(ctx context.Context, root string, policy Policy, task string, ask learning.LessonService, now time.Time) (p Preflight, artifact string, notes []string, err error) {
	if err := skillrouter.CheckRequired("task", task, MaxTask); err != nil {
		return p, "", nil, err
	}
	task = redacted(task) // it is kept in a file
	words := tokens(task)
	p = Preflight{
		Task: task, Tokens: []string{}, Source: SourceNone, IndexPath: policy.Lessons.IndexPath, Matches: []Match{},
		Selection: policy.Lessons.Selection, GeneratedAt: stamp(now),
	}
	for _, w := range words {
		p.Tokens = append(p.Tokens, w.text)
	}
	candidates, source, notes := collect(ctx, root, policy, task, ask)
	if source != "" {
		p.Source, p.Matches = source, shortlist(words, candidates, p.Selection, now)
	}
	if len(p.Matches) == 0 {
		matches, err := headingMatches(root, policy.Lessons.FallbackHeadingsPath, words, p.Selection.Top)
		switch {
		case err == nil && len(matches) > 0:
			p.Source, p.FallbackUsed, p.Matches = SourceHeadings, true, matches
		case err != nil && !missing(err):
			notes = append(notes, policy.Lessons.FallbackHeadingsPath+": "+reason(err))
		}
	}
	p.MatchCount = len(p.Matches)
	artifact, err = keep(root, preflightPlace, "preflight", p, now)
	return p, artifact, notes, err
}

// collect is what a shortlist is drawn from, and where it is from.
func collect(ctx context.Context, root string, policy Policy, task string, ask learning.LessonService) (candidates []candidate, source string, notes []string) {
	text, err := readNamed(root, policy.Lessons.IndexPath, MaxIndex)
	if err == nil {
		var index Index
		if index, err = readIndex(text); err == nil {
			for _, l := range index.Lessons {
				candidates = append(candidates, candidate{Listed: l})
			}
			return candidates, SourceIndex, nil
		}
	}
	if !missing(err) {
		notes = append(notes, policy.Lessons.IndexPath+": "+reason(err))
	}
	if ask == nil {
		return nil, "", notes
	}
	found, err := ask.Relevant(ctx, learning.LessonQuery{Context: task, Limit: askRouter})
	if err != nil {
		return nil, "", append(notes, "the router was not asked: "+reason(err))
	}
	for _, hit := range found.Results {
		e := Of(hit.Lesson)
		c := candidate{similarity: hit.Similarity, Listed: Listed{
			ID: e.ID, Level: e.Level, Status: e.Status, Tags: e.Tags, Confidence: e.Confidence, Transferability: e.Transferability,
			Title: e.Title, Summary: e.Summary,
		}}
		if e.LastValidatedAt != "" {
			c.LastValidatedAt = &e.LastValidatedAt
		}
		candidates = append(candidates, c)
	}
	return candidates, SourceRouter, notes
}

// shortlist ranks what fits and takes the best, of each level no more than the
// selection says. Equal scores go by level, the most general first, then by id.
func shortlist(words []taskWord, candidates []candidate, selection Selection, now time.Time) []Match {
	var ranked []Match
	for _, c := range candidates {
		if c.Status == learning.StatusRetired {
			continue
		}
		if m, ok := score(words, c, now); ok {
			ranked = append(ranked, m)
		}
	}
	slices.SortFunc(ranked, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(rank(b.Level), rank(a.Level)), strings.Compare(a.ID, b.ID))
	})
	room := map[learning.Level]int{
		learning.LevelPrinciple: selection.PrinciplesMax, learning.LevelPattern: selection.PatternsMax, learning.LevelCase: selection.CasesMax,
	}
	chosen := []Match{}
	for _, m := range ranked {
		if len(chosen) == selection.Top {
			break
		}
		if room[m.Level] > 0 {
			room[m.Level]--
			chosen = append(chosen, m)
		}
	}
	return chosen
}

// score rates a lesson for a task; one that shares no word with it does not match.
func score(words []taskWord, c candidate, now time.Time) (Match, bool) {
	tags, byTag := fit(words, bag(c.Tags...))
	text, byText := fit(words, bag(c.Title, c.Summary, c.ID))
	text = max(text, min(max(c.similarity, 0), 1))
	if len(byTag) == 0 && text == 0 {
		return Match{}, false
	}
	recency, validated := 0.0, "never validated"
	if c.LastValidatedAt != nil {
		if at, err := time.Parse(time.DateOnly, *c.LastValidatedAt); err == nil {
			days := max(0, now.Sub(at).Hours()/24)
			recency, validated = math.Exp(-learning.DecayConstant*days), fmt.Sprintf("validated %d days ago", int(days))
		}
	}
	// An index that another program wrote may say anything.
	confidence, transfer := min(max(c.Confidence, 1), 5), min(max(c.Transferability, 1), 5)
	level := float64(rank(c.Level)+1) / float64(len(learning.Levels()))
	total := shareTags*tags + shareText*text + shareLevel*level + shareConfidence*Share(confidence) + shareTransfer*Share(transfer) + shareRecency*recency
	var why []string
	if len(byTag) > 0 {
		why = append(why, "tags "+strings.Join(byTag, ", "))
	}
	if byText = slices.DeleteFunc(byText, func(w string) bool { return slices.Contains(byTag, w) }); len(byText) > 0 {
		why = append(why, "words "+strings.Join(byText, ", "))
	}
	if c.similarity > 0 {
		why = append(why, fmt.Sprintf("similar %.2f", c.similarity))
	}
	why = append(why, string(c.Level), fmt.Sprintf("confidence %d/5", confidence), fmt.Sprintf("transferability %d/5", transfer), validated)
	return Match{
		ID: c.ID, Level: c.Level, Status: c.Status, Title: c.Title, Path: c.Path,
		Score: math.Round(total*1000) / 1000, Reason: strings.Join(why, "; "),
	}, rank(c.Level) >= 0
}

// headingMatches are the headings of a flat file of lessons that fit, or its
// latest ones if none does.
func headingMatches(root, name string, words []taskWord, top int) ([]Match, error) {
	text, err := readNamed(root, name, MaxNotes)
	if err != nil {
		return nil, err
	}
	var fits, latest []Match
	for _, h := range headings(text) {
		m := Match{
			ID: fmt.Sprintf("%s-%d", first(slug(h.title), "heading"), h.line), Level: learning.LevelCase, Status: learning.StatusCandidate,
			Title: h.title, Path: fmt.Sprintf("%s#L%d", name, h.line), Reason: "latest heading; none fits the task",
		}
		latest = append(latest, m)
		if share, matched := fit(words, bag(h.title)); share > 0 {
			m.Score, m.Reason = math.Round((shareTags+shareText)*share*1000)/1000, "heading with "+strings.Join(matched, ", ")
			fits = append(fits, m)
		}
	}
	if len(fits) == 0 {
		slices.Reverse(latest)
		return latest[:min(len(latest), top)], nil
	}
	slices.SortStableFunc(fits, func(a, b Match) int { return cmp.Compare(b.Score, a.Score) })
	return fits[:min(len(fits), top)], nil
}
