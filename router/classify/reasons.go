package classify

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/check"
)

const (
	maxReasons      = 3   // more explain no better
	maxReasonTokens = 6   // words of the question that one reason quotes
	maxQuoted       = 60  // bytes of a quotation
	minReasonShare  = 0.1 // of the lead over the second class, for a span to be a reason
)

// reasons puts what decided for first over second into words: the mentions
// and the stretches of the question whose features weighed most.
func (r *reading) reasons(first, second int, mentions []Mention) []string {
	out := r.mentionReasons(first, mentions)
	if len(r.tokens) == 0 {
		return append(out, "there are no words to go by")
	}
	out = r.spanReasons(out, first, second)
	if len(out) == 0 {
		out = append(out, "nothing in the words tells; "+string(classAt[first])+" is the likeliest on the whole")
	}
	return out
}

// mentionReasons names the mentions that lean to the class that won.
func (r *reading) mentionReasons(first int, mentions []Mention) (out []string) {
	for _, m := range mentions[:min(len(mentions), MaxMentions)] {
		if r.leaning(m.Kind)[first] <= 0 || len(out) >= 2 {
			continue
		}
		kind := m.Kind
		if kind == MentionCVE {
			kind = "vulnerability"
		}
		out = append(out, "names the "+kind+" "+clip(m.Name))
	}
	return out
}

// spanReasons finds the stretches of up to maxReasonTokens words with the
// greatest weight for first over second, one after the other without overlap.
func (r *reading) spanReasons(out []string, first, second int) []string {
	var weight [maxTokens]float64
	n := len(r.tokens)
	lead := 0.0
	for _, f := range r.features {
		row := r.of.model.weights[f.bucket*numClasses : f.bucket*numClasses+numClasses]
		diff := float64(row[first]) - float64(row[second])
		lead += diff
		if f.kind == featureBias || f.kind == featureForm || f.to <= f.from {
			continue
		}
		share := diff / float64(f.to-f.from)
		for i := f.from; i < f.to; i++ {
			weight[i] += share
		}
	}
	least := minReasonShare * max(lead, 1)
	var used [maxTokens]bool
	for len(out) < maxReasons {
		from, to, best := 0, 0, least
		for i := range n {
			sum := 0.0
			for j := i; j < n && j < i+maxReasonTokens && !used[j]; j++ {
				sum += weight[j]
				// Longer stretches must be worth their words.
				if worth := sum * (1 - 0.04*float64(j-i)); worth > best && weight[j] > 0 && weight[i] > 0 {
					from, to, best = i, j+1, worth
				}
			}
		}
		if to == from {
			return out
		}
		// "last" alone reads oddly: the night, week or session it belongs to is quoted with it.
		for to < n && !used[to] && r.tokens[to].classes&(1<<symSpan|1<<symHistory) != 0 {
			to++
		}
		for i := from; i < to; i++ {
			used[i] = true
		}
		for to > from && r.idle(to-1) {
			to--
		}
		for to > from && r.idle(from) {
			from++
		}
		if to > from {
			out = append(out, r.describe(first, from, to))
		}
	}
	return out
}

// idle says that token i explains nothing at the end of a quotation.
func (r *reading) idle(i int) bool {
	switch r.tokens[i].role {
	case roleArticle, roleConjunction, rolePreposition, rolePolite:
		return true
	}
	return r.tokens[i].symbol == symColon
}

// Marks of question words, beside the word classes.
const (
	symHow = numSymbols + iota
	symWh
)

// signs are what a stretch of a question can show, for each class the most telling first: one of the word classes, and the tense.
var signs = []struct {
	class   int
	symbols []uint8 // none: any
	tense   uint8   // tenseNone: any
	says    string
}{
	{classEpisode, []uint8{symPastTime}, tensePast, "past tense and a time"},
	{classEpisode, []uint8{symPastTime}, tenseNone, "names a past time"},
	{classEpisode, []uint8{symHistory}, tenseNone, "speaks of what happened"},
	{classEpisode, nil, tensePast, "past tense"},
	{classOperational, []uint8{symState, symNow}, tenseNone, "asks about the present state"},
	{classOperational, []uint8{symGerund}, tensePresent, "asks about the present state"},
	{classOperational, []uint8{symAgentName, symTaskName, symTicket}, tenseNone, "names an agent or a task"},
	{classOperational, []uint8{symTeam, symWork}, tenseNone, "speaks of agents or their work"},
	{classOperational, nil, tensePresent, "present tense"},
	{classRecon, []uint8{symCVE}, tenseNone, "names a vulnerability"},
	{classRecon, []uint8{symEnvironment}, tenseNone, "names an environment"},
	{classRecon, []uint8{symSecurity, symSeverity, symFinding}, tenseNone, "speaks of security"},
	{classRecon, []uint8{symAsset, symAddress, symHost}, tenseNone, "speaks of hosts or what they expose"},
	{classKnowledge, []uint8{symError, symErrorCode, symErrorName}, tenseNone, "looks like an error message"},
	{classKnowledge, []uint8{symHow}, tenseNone, "asks how or why"},
	{classKnowledge, []uint8{symLearning}, tenseNone, "asks for advice or a rule"},
	{classKnowledge, []uint8{symWh}, tenseNone, "asks for a fact"},
}

// describe says what tokens from to to are to a question of the class.
func (r *reading) describe(class, from, to int) string {
	var classes uint64
	tense := tenseNone
	for _, t := range r.tokens[from:to] {
		classes |= t.classes
		switch t.role {
		case roleHow:
			classes |= 1 << symHow
		case roleWh:
			classes |= 1 << symWh
		case roleBePresent, roleDoPresent:
			tense = max(tense, tensePresent)
		case roleBePast, roleDoPast, roleHavePast:
			tense = tensePast
		}
		if t.past && t.classes&(1<<symState) == 0 {
			tense = tensePast
		}
	}
	for _, sign := range signs {
		has := func(symbol uint8) bool { return classes&(1<<symbol) != 0 }
		if sign.class == class && (sign.tense == tenseNone || sign.tense == tense) && (sign.symbols == nil || slices.ContainsFunc(sign.symbols, has)) {
			return sign.says + ": " + r.quote(from, to)
		}
	}
	return "worded like other " + string(classAt[class]) + " questions: " + r.quote(from, to)
}

// quote gives the question's own words from one token to another.
func (r *reading) quote(from, to int) string {
	return "“" + clip(r.text[r.tokens[from].start:r.tokens[to-1].end]) + "”"
}

// clip shortens a quotation, at a character's border, and makes it one line of valid UTF-8.
func clip(text string) string {
	if len(text) > maxQuoted {
		text = check.Head(text, maxQuoted) + "…"
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, text)
	return strings.Join(strings.Fields(text), " ")
}
