package folder

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/markdown"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// preflightPlace is where preflights are kept, within the repository.
const preflightPlace = "logs/agent/preflight"

// Where a shortlist comes from.
const (
	SourceIndex    = "index"
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

// MaxTask bounds a task's text, in bytes.
const MaxTask = learning.MaxQuery

// Preflight is the shortlist of lessons before a task: the original lessons folder's preflight
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
	ID     string        `json:"id"`
	Level  lesson.Level  `json:"level"`
	Status lesson.Status `json:"status"`
	Title  string        `json:"title"`
	Path   string        `json:"path"` // of its file; empty if it came from the router
	Score  float64       `json:"score"`
	Reason string        `json:"reason"`
}

// Prepare makes the shortlist for a task and keeps it in root's logs: from the
// index that the policy names. If no lesson there shares a word with the task, the
// headings of a flat file of lessons that do are listed; else the latest lessons;
// else the latest headings. It returns the shortlist, where it was
// written to, and what stood in the way of a better source.
func Prepare(root string, policy Policy, task string, now time.Time) (p Preflight, artifact string, notes []string, err error) {
	if err := check.Required("task", task, MaxTask); err != nil {
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
	var index Index
	text, err := readNamed(root, policy.Lessons.IndexPath, MaxIndex)
	if err == nil {
		index, err = readIndex(text)
	}
	if err == nil {
		p.Source, p.Matches = SourceIndex, shortlist(words, index.Lessons, p.Selection, now)
	} else if !missing(err) {
		notes = append(notes, policy.Lessons.IndexPath+": "+reason(err))
	}
	if len(p.Matches) == 0 {
		fits, latest, err := headingMatches(root, policy.Lessons.FallbackHeadingsPath, words, p.Selection.Top)
		if err != nil && !missing(err) {
			notes = append(notes, policy.Lessons.FallbackHeadingsPath+": "+reason(err))
		}
		switch lessons := latestLessons(index.Lessons, p.Selection, now); {
		case len(fits) > 0:
			p.Source, p.Matches = SourceHeadings, fits
		case len(lessons) > 0:
			p.Matches = lessons
		case len(latest) > 0:
			p.Source, p.Matches = SourceHeadings, latest
		}
		p.FallbackUsed = len(p.Matches) > 0
	}
	p.MatchCount = len(p.Matches)
	artifact, err = keep(root, preflightPlace, "preflight", p, now)
	return p, artifact, notes, err
}

// shortlist ranks what fits and takes the best, of each level no more than the
// selection says. Equal scores go by level, the most general first, then by id.
func shortlist(words []taskWord, candidates []Listed, selection Selection, now time.Time) []Match {
	var ranked []Match
	for _, c := range candidates {
		if c.Status == lesson.StatusRetired {
			continue
		}
		if m, ok := score(words, c, now); ok {
			ranked = append(ranked, m)
		}
	}
	slices.SortFunc(ranked, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(rank(b.Level), rank(a.Level)), strings.Compare(a.ID, b.ID))
	})
	return choose(ranked, selection)
}

// latestLessons are the lessons for a task that none fits: those that were
// validated last, the most general first among those of a day.
func latestLessons(candidates []Listed, selection Selection, now time.Time) []Match {
	candidates = slices.Clone(candidates)
	date := func(c Listed) string {
		if c.LastValidatedAt == nil {
			return ""
		}
		return *c.LastValidatedAt // dates sort as they are written
	}
	slices.SortStableFunc(candidates, func(a, b Listed) int {
		return cmp.Or(strings.Compare(date(b), date(a)), cmp.Compare(rank(b.Level), rank(a.Level)))
	})
	var ranked []Match
	for _, c := range candidates {
		m, why := rate(c, now)
		if c.Status != lesson.StatusRetired && rank(c.Level) >= 0 {
			m.Score = math.Round(m.Score*1000) / 1000
			m.Reason = "one of the latest; none fits the task; " + strings.Join(why, "; ")
			ranked = append(ranked, m)
		}
	}
	return choose(ranked, selection)
}

// choose takes the first of a ranking, of each level no more than the selection says.
func choose(ranked []Match, selection Selection) []Match {
	room := map[lesson.Level]int{
		lesson.LevelPrinciple: selection.PrinciplesMax, lesson.LevelPattern: selection.PatternsMax, lesson.LevelCase: selection.CasesMax,
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
func score(words []taskWord, c Listed, now time.Time) (Match, bool) {
	tags, byTag := fit(words, bag(c.Tags...))
	text, byText := fit(words, bag(c.Title, c.Summary, c.ID))
	if len(byTag) == 0 && text == 0 {
		return Match{}, false
	}
	m, why := rate(c, now)
	m.Score = math.Round((m.Score+shareTags*tags+shareText*text)*1000) / 1000
	var by []string
	if len(byTag) > 0 {
		by = append(by, "tags "+strings.Join(byTag, ", "))
	}
	if byText = slices.DeleteFunc(byText, func(w string) bool { return slices.Contains(byTag, w) }); len(byText) > 0 {
		by = append(by, "words "+strings.Join(byText, ", "))
	}
	m.Reason = strings.Join(append(by, why...), "; ")
	return m, rank(c.Level) >= 0
}

// rate is what a lesson scores before any word of a task, and why.
func rate(c Listed, now time.Time) (m Match, why []string) {
	recency, validated := 0.0, "never validated"
	if c.LastValidatedAt != nil && c.Status != lesson.StatusCandidate { // a candidate's date is the day it was first listed
		if at, err := time.Parse(time.DateOnly, *c.LastValidatedAt); err == nil {
			days := max(0, now.Sub(at).Hours()/24)
			recency, validated = math.Exp(-lesson.DecayConstant*days), fmt.Sprintf("validated %d days ago", int(days))
		}
	}
	// An index that another program wrote may say anything.
	confidence, transfer := min(max(c.Confidence, 1), 5), min(max(c.Transferability, 1), 5)
	level := float64(rank(c.Level)+1) / float64(len(lesson.Levels()))
	total := shareLevel*level + shareConfidence*Share(confidence) + shareTransfer*Share(transfer) + shareRecency*recency
	return Match{
		ID: c.ID, Level: c.Level, Status: c.Status, Title: c.Title, Path: c.Path, Score: total,
	}, []string{string(c.Level), fmt.Sprintf("confidence %d/5", confidence), fmt.Sprintf("transferability %d/5", transfer), validated}
}

// headingMatches are the headings of a flat file of lessons that fit, best
// first, and its latest ones.
func headingMatches(root, name string, words []taskWord, top int) (fits, latest []Match, err error) {
	text, err := readNamed(root, name, MaxNotes)
	if err != nil {
		return nil, nil, err
	}
	for _, h := range markdown.Read(text).Sections {
		if h.Level == 0 {
			continue
		}
		m := Match{
			ID: fmt.Sprintf("%s-%d", cmp.Or(slug(h.Title), "heading"), h.Line), Level: lesson.LevelCase, Status: lesson.StatusCandidate,
			Title: h.Title, Path: fmt.Sprintf("%s#L%d", name, h.Line), Reason: "latest heading; none fits the task",
		}
		latest = append(latest, m)
		if share, matched := fit(words, bag(h.Title)); share > 0 {
			m.Score, m.Reason = math.Round((shareTags+shareText)*share*1000)/1000, "heading with "+strings.Join(matched, ", ")
			fits = append(fits, m)
		}
	}
	slices.Reverse(latest)
	slices.SortStableFunc(fits, func(a, b Match) int { return cmp.Compare(b.Score, a.Score) })
	return fits[:min(len(fits), top)], latest[:min(len(latest), top)], nil
}

// maxArtifact bounds what is read of a preflight, in bytes.
const maxArtifact = 4 << 20

// clockSlack is how far ahead a preflight's own time may be of ours, which is
// then taken for fresh; one that is further ahead says nothing.
const clockSlack = 5 * time.Minute

// preflight is the latest preflight's matches, and what is to be found about its
// age: by its own time, or by the file's where it has none that can be.
func (g *guarding) preflight(root *os.Root, now time.Time) ([]Match, []Finding) {
	rule := g.policy.Preflight
	names, _ := fs.Glob(root.FS(), filepath.ToSlash(rule.ArtifactGlob)) // the pattern was checked with the policy
	var latest time.Time
	var matches []Match
	name := ""
	for _, candidate := range names {
		info, err := root.Stat(candidate)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		made := info.ModTime()
		var p Preflight
		if text, err := readRegular(info, nil, root.Open, candidate, maxArtifact); err == nil && json.Unmarshal(text, &p) == nil {
			if own, err := time.Parse(time.RFC3339, p.GeneratedAt); err == nil && own.Before(now.Add(clockSlack)) {
				made = own
			}
		}
		if name == "" || made.After(latest) {
			name, latest, matches = candidate, made, p.Matches
		}
	}
	matches = defaults.List(matches)
	if !on(rule.Required) || !on(g.policy.DeterministicChecks.RequirePreflightArtifact) {
		return matches, nil
	}
	if name == "" {
		return matches, []Finding{{RatingMedium, CodeMissingPreflight, "there is no preflight that fits " + rule.ArtifactGlob + "; `skillrouter lessons preflight --task …` makes one"}}
	}
	if age := now.Sub(latest); age > time.Duration(rule.MaxAgeHours*float64(time.Hour)) {
		return matches, []Finding{{RatingMedium, CodeStalePreflight, fmt.Sprintf("the latest preflight %s is %.1f hours old, and may be %g", name, age.Hours(), rule.MaxAgeHours)}}
	}
	return matches, nil
}
