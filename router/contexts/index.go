package contexts

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/router"
)

// The sections that a start has beside those of kinds.
const (
	sectionDecided = "decided"
	sectionIndex   = "index"
	sectionLessons = "lessons"
)

// Figures of an index.
const (
	// mostLines is how many entries are looked at: twice as many as have room.
	mostLines = 400
	// lessonShare is the part of what is left that lessons may take before other entries.
	lessonShare = 6
	// longTitle and manyTitle bound a title, in characters; the second where there are more than fewLines.
	longTitle, manyTitle, fewLines = 120, 80, 80
	// firstWords is how much of a text is told where its title says nothing, in bytes.
	firstWords = 60
	// shortValue is how long a fact's value may be that stands on its line, in bytes.
	shortValue = 80
	// daysAlone is for how long the day is told on which an entry was written, and not its month.
	daysAlone = 10 * 24 * time.Hour
	// mostMisses is after how many lines without room the rest is not tried.
	mostMisses = 40
	// furtherRoom is kept for the count of what has no room, in tokens.
	furtherRoom = 40
	// mostSubjects bounds how many subjects are counted.
	mostSubjects = 8
)

// startIndex asks for the entries of the project, and of none, that are worth the most.
func (s Sources) startIndex(ctx context.Context, r Request, at time.Time) (f gathered, err error) {
	caller := principal.Of(ctx)
	query := learning.LinesQuery{Place: learning.Place{Folder: r.Subfolder, Branch: r.Branch}, At: at, Limit: mostLines}
	for _, project := range slices.Compact([]string{r.Project, ""}) {
		if caller.Sees(project) {
			query.Projects = append(query.Projects, project)
		}
	}
	if len(query.Projects) == 0 {
		return f, nil
	}
	if !caller.Walled() {
		query.Persona = r.Persona
	}
	found, err := s.Index.Lines(ctx, query)
	f.subjects = found.Subjects
	for _, l := range found.Lines {
		f.candidates = append(f.candidates, candidate{
			section: sectionIndex, kind: l.Kind, id: l.ID, handle: router.HandleOf(l.Kind, l.Number), title: l.Title, body: l.Text, partial: l.Length > learning.LineText, author: l.Author, trust: string(l.Trust),
			project: l.Project, place: l.Place, date: l.At, uses: l.Uses, subject: l.Subject, worth: l.Worth,
		})
	}
	return f, err
}

// lineWorth is what a line is worth, from 0 to 1, for the room that it takes: many that are short tell more than few that are long. What fits
// the words that a session begins with, such as its branch's, is worth more.
func (c *choice) lineWorth(r *rated) float64 {
	worth := r.worth
	if len(c.terms.weights) > 0 {
		worth += c.terms.relevance(r.said()) / 2
	}
	if worth < 0 { // imported: behind all others
		return max((worth+3)/100, 0.001)
	}
	length := min(max(utf8.RuneCountInString(r.title), usualTitle/2), longTitle)
	return min(0.05+worth/4*usualTitle/float64(usualTitle+length), 1)
}

// usualTitle is how long a title is that is worth half of one that takes no room, in characters.
const usualTitle = 60

// part is the section that a candidate stands in.
func (c *candidate) part() string { return cmp.Or(c.section, c.kind) }

// listable tells whether an entry may stand in an index. What was imported may by its title, unless nothing may that nobody vouched for.
func (c *choice) listable(r *rated) bool {
	title := r.trust == string(learning.TrustImported) && !c.vouched && !c.untrusted
	return (title || !c.distrusted(r)) && !c.toldBefore(r)
}

// list takes in lines, each by its title, the first ones first, up to a number of tokens. What begins their groups and days is counted in.
func (c *choice) list(section string, lines []*rated, most int) (taken []*rated) {
	heading := c.heading(section)
	from, seen, misses := c.tokens, map[string]bool{}, 0
	for _, r := range lines {
		r.listed = r.body != "" && !onLine(r)
		r.cut, r.block = r.listed, c.line(r, len(lines), "")
		head := heading
		for _, one := range []string{groupOf(r), groupOf(r) + c.day(r)} {
			if !seen[one] {
				head += one[strings.LastIndexByte(strings.TrimSuffix(one, "\n"), '\n')+1:]
			}
		}
		r.tokens = CountTokens(r.block)
		tokens := CountTokens(head) + r.tokens
		if c.tokens+tokens > min(from+most, c.budget) || c.characters > 0 && c.length+utf8.RuneCountInString(head+r.block) > c.characters {
			c.leave(&r.candidate, reasonBudget)
			if misses++; misses > mostMisses {
				break
			}
			continue
		}
		heading, seen[groupOf(r)], seen[groupOf(r)+c.day(r)] = "", true, true
		c.spend(head, r.block)
		taken = append(taken, r)
	}
	return taken
}

// settle puts the lines of a section in order, by who said them and when, the first of each behind words that say so.
func (c *choice) settle(taken []*rated) {
	slices.SortStableFunc(taken, func(a, b *rated) int {
		return cmp.Or(groupRank(a)-groupRank(b), strings.Compare(c.day(b), c.day(a)), behind(a, b))
	})
	group, day := "", ""
	for i, r := range taken {
		head := ""
		if g := groupOf(r); g != group {
			group, day, head = g, "", g
		}
		if d := c.day(r); d != day {
			day, head = d, head+d
		}
		r.block, r.position, r.tokens = head+r.block, i+1, r.tokens+CountTokens(head)
	}
	if n := len(taken); n > 0 && taken[0].section == sectionIndex {
		taken[n-1].block, taken[n-1].tokens = taken[n-1].block+c.more, taken[n-1].tokens+CountTokens(c.more)
	}
	c.chosen = append(c.chosen, taken...)
}

// day is a line of when the entries below it were written: the day, or the month where that is a while ago.
func (c *choice) day(r *rated) string {
	switch {
	case r.date.IsZero():
		return "no date\n"
	case c.at.Sub(r.date) > daysAlone:
		return r.date.UTC().Format("2006-01\n")
	}
	return r.date.UTC().Format("2006-01-02\n")
}

// The groups of an index, by who said what is in them.
var groups = []string{"By people:\n", "By agents:\n", "Imported, UNTRUSTED:\n"}

func groupRank(r *rated) int {
	switch r.trust {
	case router.TrustPerson:
		return 0
	case router.TrustAgent, router.TrustBuiltin:
		return 1
	}
	return 2
}

func groupOf(r *rated) string { return groups[groupRank(r)] }

// onLine tells whether all that an entry says stands on its line: a fact with a short value, which was not imported.
func onLine(r *rated) bool {
	return r.kind == router.KindFact && groupRank(r) < 2 && !r.partial && len(r.body) <= shortValue && !strings.Contains(r.body, "\n")
}

// line is an entry in an index of so many, and below it what is told of its text.
func (c *choice) line(r *rated, of int, text string) string {
	title := oneLine(r.title)
	if r.kind != router.KindFact && text == "" && vague(title) && groupRank(r) < 2 {
		title = strings.TrimPrefix(strings.TrimSuffix(title, ":")+": "+beginningOf(r.body), ": ")
	}
	if onLine(r) {
		title += " = " + oneLine(r.body)
	}
	most := longTitle
	if of > fewLines {
		most = manyTitle
	}
	return cmp.Or(r.handle, "-") + " " + c.elsewhere(r.place) + safe(shortened(title, most)) + gone(r) + "\n" + text
}

func gone(r *rated) string {
	if note := r.doubts(); note != "" {
		return " [" + safe(shortened(note, longTitle)) + "]"
	}
	return ""
}

// shortened is a text of at most so many characters, cut between words if that leaves most of it.
func shortened(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	head := string([]rune(text)[:most-1])
	if at := strings.LastIndexByte(head, ' '); at > len(head)/2 {
		head = head[:at]
	}
	return strings.TrimRight(head, " ,;:") + "…"
}

// beginningOf are the first words of a text.
func beginningOf(text string) string {
	return shortened(oneLine(check.Head(text, 4*firstWords)), firstWords)
}

// nothing are titles that say nothing of their entries: words of a kind alone, dates, numbers and names of files.
var nothing = lazyregexp.New(`(?i)^(?:|(?:session|summary|conversation|chat)\b.*|(?:an? |the |my |new |untitled )?(?:untitled|notes?|memo|todo|misc|info|information|text|title|entry|memory|knowledge|lesson|decision|fact|update|fix|bug|issue|error|idea|learned|learning|insight|tip|reminder|document|doc|file|draft|test|temp|tmp|readme|changelog)s?[ #:._-]*\d*|[\d\s:./_-]+|[\w./\\-]+\.[a-z]{1,5})$`)

// vague tells whether a title says nothing.
func vague(title string) bool { return nothing.MatchString(strings.Trim(title, " .:#*-_\"'")) }

// elsewhere says where an entry was written, if that is not where the agent works. What was written on the repository's usual branch
// holds on the others too.
func (c *choice) elsewhere(p learning.Place) string {
	var parts []string
	if !learning.Within(c.here.Folder, p.Folder) {
		parts = append(parts, "in "+safe(p.Folder))
	}
	if p.Branch != "" && p.Branch != c.here.Branch && !slices.Contains(usualBranches, p.Branch) {
		parts = append(parts, "on branch "+safe(p.Branch))
	}
	if len(parts) == 0 {
		return ""
	}
	return "[" + strings.Join(parts, ", ") + "] "
}

var usualBranches = []string{"main", "master", "trunk", "develop", "default"}

// fill tells more of entries that are told by their titles, as long as there is room: of those that are worth the most first.
func (c *choice) fill(taken []*rated, of int) {
	misses := 0
	for _, r := range taken {
		if !r.listed || groupRank(r) == 2 && !c.untrusted || misses > mostMisses {
			continue
		}
		body, cut := tidied(r.body), r.partial
		if share := c.budget / startShare; cut || CountTokens(body) > share {
			ends := sentenceEnds(check.Head(body, share*perToken))
			if len(ends) == 0 {
				continue
			}
			body, cut = body[:ends[max(0, min(len(ends)-1, mostSentences-1))]], true
		}
		block := c.line(r, of, indented(body, cut))
		tokens, length := CountTokens(block), utf8.RuneCountInString(block)-utf8.RuneCountInString(r.block)
		if c.tokens+tokens-r.tokens > c.budget || c.characters > 0 && c.length+length > c.characters {
			misses++
			continue
		}
		c.tokens, c.length = c.tokens+tokens-r.tokens, c.length+length
		r.block, r.tokens, r.cut, r.listed = block, tokens, cut, false
	}
}

// mostSentences is how many sentences of a long text are told beside its title.
const mostSentences = 2

// further counts what has no room, by subject, behind the last line: all entries but those that were looked at, and of these the listed
// ones that were not taken in.
func (c *choice) further(looked, listed, taken []*rated) {
	left := maps.Clone(c.subjects)
	count := func(some []*rated, by int64) {
		for _, r := range some {
			left[r.subject] += by
		}
	}
	count(looked, -1)
	count(listed, 1)
	count(taken, -1)
	total := int64(0)
	var parts []string
	for _, name := range slices.SortedFunc(maps.Keys(left), func(a, b string) int { return cmp.Or(cmp.Compare(left[b], left[a]), strings.Compare(a, b)) }) {
		if total += left[name]; left[name] > 0 && len(parts) < mostSubjects {
			parts = append(parts, fmt.Sprintf("%d %s", left[name], shortened(safe(cmp.Or(name, "of no subject")), 30)))
		}
	}
	if total <= 0 || len(taken) == 0 {
		return
	}
	more := fmt.Sprintf("And %d more (%s): search for them.\n", total, strings.Join(parts, ", "))
	if c.tokens+CountTokens(more) <= c.budget && (c.characters == 0 || c.length+utf8.RuneCountInString(more) <= c.characters) {
		c.spend(more)
		c.more = more
	}
}
