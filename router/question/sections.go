package question

import (
	"strings"
	"unicode"

	"skillrouter/router/classify"
)

// Bounds of taking a query apart.
const (
	// MaxSections is how many questions in one query are answered each; what follows
	// belongs to the last. Who asks five things at once reads no answer to the fifth.
	MaxSections = 4
	// maxSplit is up to how many bytes a query is taken apart: a longer one is a pasted
	// text, in which "and who" is no second question.
	maxSplit = 400
	// leastClause is how many words a question has at least: "and who", "but why" go with
	// what stands before.
	leastClause = 2
	// leastSure is the confidence that each part must be classified with to be a question of its own.
	leastSure = 0.6
)

// clause is a part of a query that may be a question of its own.
type clause struct {
	text     string
	from, to int  // of it in the query, in bytes
	sentence bool // it begins after a full sentence, not after "and"
	decided  classify.Classification
}

// split takes a query apart into its questions: the parts that read as
// questions and are of different classes, or are sentences of their own that do
// not point back. A query with one question gives one part, the query itself.
func (a *Asker) split(query string, mentions func(text string) []classify.Mention) []clause {
	whole := []clause{{text: query}}
	parts := clauses(query)
	if len(parts) < 2 {
		return whole
	}
	for i := range parts {
		parts[i].decided = a.classifier.Classify(parts[i].text, mentions(parts[i].text))
		if parts[i].decided.Confidence < leastSure {
			return whole
		}
	}
	joined := parts[:1]
	for _, next := range parts[1:] {
		last := &joined[len(joined)-1]
		apart := next.decided.Class != last.decided.Class || next.sentence && !pointsBack(next.text)
		if apart && len(joined) < MaxSections {
			joined = append(joined, next)
			continue
		}
		last.to = next.to
		last.text = query[last.from:last.to]
	}
	if len(joined) < 2 {
		return whole
	}
	return joined
}

// clauses cuts a query where a word that joins is followed by one that opens a
// question. Quoted text, code and what looks like a message of a program are
// left whole.
func clauses(query string) []clause {
	if len(query) > maxSplit || strings.Contains(query, "```") {
		return nil
	}
	words := splitWords(query)
	if len(words) < 2*leastClause {
		return nil
	}
	var parts []clause
	start, sentence := 0, false // the word that the present part begins with
	for i := 1; i+leastClause <= len(words); i++ {
		if i-start < leastClause {
			continue
		}
		from, isSentence, ok := cutAt(words, start, i)
		if !ok {
			continue
		}
		parts = append(parts, clauseOf(query, words[start:i], sentence))
		start, sentence = from, isSentence
		i = from
	}
	if len(parts) == 0 {
		return nil
	}
	return append(parts, clauseOf(query, words[start:], sentence))
}

// word is a word of a query: folded, without the punctuation at its ends.
type word struct {
	folded     string
	start, end int
	stop       byte // the sign that it ends with: . ? ! ; , or 0
	quoted     bool // it stands in quotes or is code
}

// splitWords splits at white space and marks what is quoted.
func splitWords(query string) []word {
	var words []word
	var quote rune
	start := -1
	add := func(end int, quoted bool) {
		if start < 0 {
			return
		}
		text := query[start:end]
		w := word{start: start, end: end, quoted: quoted}
		w.folded = strings.Trim(strings.ToLower(strings.ReplaceAll(text, "’", "'")), `.,;:!?"'()[]{}`)
		if n := len(text); n > 0 && strings.IndexByte(".?!;,", text[n-1]) >= 0 {
			w.stop = text[n-1]
		}
		if strings.ContainsAny(text, "`{}<>=|\\") || strings.Contains(text, "()") || strings.Contains(text, "&&") {
			w.quoted = true
		}
		words, start = append(words, w), -1
	}
	inQuote := false
	for i, c := range query {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '`' || c == '“' || c == '\'' && start < 0):
			closing := c
			if c == '“' {
				closing = '”'
			}
			if strings.ContainsRune(query[i+1:], closing) {
				quote, inQuote = closing, true
			}
		}
		switch {
		case unicode.IsSpace(c):
			add(i, inQuote)
			inQuote = quote != 0
		case start < 0:
			start = i
		}
	}
	add(len(query), inQuote)
	return words
}

// clauseOf is the part of a query that words are, without the punctuation that parts it from the rest.
func clauseOf(query string, words []word, sentence bool) clause {
	from, to := words[0].start, words[len(words)-1].end
	text := strings.TrimRight(query[from:to], ",;&")
	return clause{text: text, from: from, to: from + len(text), sentence: sentence}
}

// The words that join two questions.
var joiners = classify.WordSet("and but plus also & then")

// cutAt tells whether a question ends before words[i] and another begins, at
// which word, and whether the first was a sentence.
func cutAt(words []word, start, i int) (from int, sentence, ok bool) {
	before := words[i-1]
	if before.quoted || words[i].quoted {
		return 0, false, false
	}
	from = i
	for from < len(words) && joiners[words[from].folded] && from-i < 3 {
		from++
	}
	if from+leastClause > len(words) || words[from].quoted || !asks(words[from:]) {
		return 0, false, false
	}
	switch {
	case before.stop == '?' || before.stop == '!' || before.stop == '.' || before.stop == ';':
		return from, true, true
	case parallel(words[start:i], words[from:]):
		return 0, false, false
	case from > i: // "and", with or without a comma
		// "how do I build and show the docs" goes on; so does "when it fails and is retried".
		return from, false, !orders[words[from].folded] || !goesOn(words[start:i])
	case before.stop == ',': // a comma alone parts two questions, and no subordinate clause
		return from, false, asks(words[start:]) && !orders[words[from].folded]
	}
	return 0, false, false
}

var (
	wonders = classify.WordSet("what who which when where how why whose what's who's where's how's when's whats whos wheres hows")
	helpers = classify.WordSet("is are was were did does do has have had can could should will would isn't aren't didn't doesn't hasn't")
	orders  = classify.WordSet("show list give tell find summarize summarise remind explain any anything anyone")
	// subjects follow a helper that opens a question: "is the", "did we", "are there".
	subjects = classify.WordSet(`the a an i we you he she it they there this that these those any anyone anybody anything someone somebody
		everyone everybody everything all my our your his her their its one no each both either`)
	objects = classify.WordSet("me us the all any every my our open anything everything what who which how when where why")
)

// asks tells whether words begin as a question does.
func asks(words []word) bool {
	first, next := words[0].folded, ""
	if len(words) > 1 {
		next = words[1].folded
	}
	switch {
	case first == "when" || first == "where": // "when we deploy" is no question
		return helpers[next]
	case wonders[first]:
		return next != "not"
	case helpers[first]: // "is not tested" goes on; "is red free" asks
		return subjects[next] || len(words) >= 3 && next != "not" && next != "to" && !verbal(next) && !plainAdjective(next)
	case orders[first]:
		return objects[next] || first == "any" || first == "anything" || first == "anyone"
	}
	return false
}

// parallel tells whether words begin as something before them does: "what is
// on and what is off by default" is one question with two arms.
func parallel(before, after []word) bool {
	for i := range len(before) - 1 {
		if before[i].folded == after[0].folded && before[i+1].folded == after[1].folded {
			return true
		}
	}
	return false
}

// verbal tells whether a word after a helper goes on with what stood before: "and is failing", "and was merged".
func verbal(w string) bool {
	return strings.HasSuffix(w, "ing") || strings.HasSuffix(w, "ed") || strings.HasSuffix(w, "en") || w == "been" || w == "be"
}

// plainAdjective tells whether a word says how something is, rather than who.
func plainAdjective(w string) bool { return adjectives[w] }

var adjectives = classify.WordSet(`still now also only always never too very so as in on at by for from of with up down out off
	good bad slow fast safe broken stuck free busy idle ready done late empty full green red-hot wrong right missing invalid required null nil true false`)

// goesOn tells whether an order behind these words belongs to them: "how do I
// build it and show …", "an example to parse and list …".
func goesOn(words []word) bool {
	for _, w := range words {
		switch w.folded {
		case "how", "to", "can", "could", "should", "let", "must":
			return true
		}
	}
	return false
}

// pointsBack tells whether a question needs the one before to be understood.
func pointsBack(text string) bool {
	for _, w := range splitWords(text) {
		if pronouns[w.folded] {
			return true
		}
	}
	return false
}

var pronouns = classify.WordSet("it its they them their he she him his her that this those these one ones there so same")
