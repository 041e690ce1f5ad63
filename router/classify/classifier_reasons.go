package classify

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"skillrouter/internal/check"
)

const (
	maxReasons      = 3   // more explain no better
	maxReasonTokens = 6   // words of the question that one reason quotes
	maxQuoted       = 60  // bytes of a quotation
	minReasonShare  = 0.1 // of the lead over the second class, for a span to be a reason
)

// reasons puts what decided for first over second into words: the mentions
// and the stretches of the question whose features weighed most.
func (c *Classifier) reasons(s *scratch, first, second int, mentions []Mention) []string {
	out := make([]string, 0, maxReasons+1)
	out = s.mentionReasons(out, first, mentions)
	if len(s.tokens) == 0 {
		return append(out, "there are no words to go by")
	}
	out = c.spanReasons(s, out, first, second)
	if len(out) == 0 {
		out = append(out, "nothing in the words tells; "+string(classAt[first])+" is the likeliest on the whole")
	}
	return out
}

// mentionReasons names the mentions that lean to the class that won.
func (s *scratch) mentionReasons(out []string, first int, mentions []Mention) []string {
	past := s.inPast()
	for _, m := range mentions[:min(len(mentions), MaxMentions)] {
		prior, ok := mentionPriors[m.Kind]
		if !ok || len(out) >= 2 {
			continue
		}
		lean := prior.present[first]
		if past {
			lean = prior.past[first]
		}
		if lean <= 0 {
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
func (c *Classifier) spanReasons(s *scratch, out []string, first, second int) []string {
	var weight [maxTokens]float64
	n := len(s.tokens)
	lead := 0.0
	for _, f := range s.features {
		row := c.model.weights[f.bucket*numClasses : f.bucket*numClasses+numClasses]
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
		for to < n && !used[to] && s.tokens[to].classes&(1<<symSpan|1<<symHistory) != 0 {
			to++
		}
		for i := from; i < to; i++ {
			used[i] = true
		}
		for to > from && s.idle(to-1) {
			to--
		}
		for to > from && s.idle(from) {
			from++
		}
		if to > from {
			out = append(out, s.describe(first, from, to))
		}
	}
	return out
}

// idle says that token i explains nothing at the end of a quotation.
func (s *scratch) idle(i int) bool {
	switch s.tokens[i].role {
	case roleArticle, roleConjunction, rolePreposition, rolePolite:
		return true
	}
	return s.tokens[i].symbol == symColon
}

// describe says what tokens from to to are to a question of the class.
func (s *scratch) describe(class, from, to int) string {
	var classes uint64
	var tense uint8
	how, wh := false, false
	for i := from; i < to; i++ {
		t := &s.tokens[i]
		classes |= t.classes
		switch t.role {
		case roleHow:
			how = true
		case roleWh:
			wh = true
		case roleBePresent, roleDoPresent:
			tense = max(tense, tensePresent)
		case roleBePast, roleDoPast, roleHavePast:
			tense = tensePast
		}
		if t.past && t.classes&(1<<symState) == 0 {
			tense = tensePast
		}
	}
	has := func(symbols ...uint8) bool {
		for _, sym := range symbols {
			if classes&(1<<sym) != 0 {
				return true
			}
		}
		return false
	}
	quote := s.quote(from, to)
	switch class {
	case classEpisode:
		switch {
		case has(symPastTime) && tense == tensePast:
			return "past tense and a time: " + quote
		case has(symPastTime):
			return "names a past time: " + quote
		case has(symHistory):
			return "speaks of what happened: " + quote
		case tense == tensePast:
			return "past tense: " + quote
		}
	case classOperational:
		switch {
		case has(symState, symNow) || tense == tensePresent && has(symGerund):
			return "asks about the present state: " + quote
		case has(symAgentName, symTaskName, symTicket):
			return "names an agent or a task: " + quote
		case has(symTeam, symWork):
			return "speaks of agents or their work: " + quote
		case tense == tensePresent:
			return "present tense: " + quote
		}
	case classRecon:
		switch {
		case has(symCVE):
			return "names a vulnerability: " + quote
		case has(symEnvironment):
			return "names an environment: " + quote
		case has(symSecurity, symSeverity, symFinding):
			return "speaks of security: " + quote
		case has(symAsset, symAddress, symHost):
			return "speaks of hosts or what they expose: " + quote
		}
	case classKnowledge:
		switch {
		case has(symError, symErrorCode, symErrorName):
			return "looks like an error message: " + quote
		case how:
			return "asks how or why: " + quote
		case has(symLearning):
			return "asks for advice or a rule: " + quote
		case wh:
			return "asks for a fact: " + quote
		}
	}
	return "worded like other " + string(classAt[class]) + " questions: " + quote
}

// quote gives the question's own words from one token to another.
func (s *scratch) quote(from, to int) string {
	start, end := int(s.tokens[from].start), int(s.tokens[to-1].end)
	return "“" + clip(string(s.text[start:end])) + "”"
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
