package classify_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillrouter/skillrouter/router/classify"
)

// The make-up of the training set.
const (
	linesSeed    = 20261
	perClass     = 7000 // lines that the grammar makes for each class
	grammarTries = 60   // times perClass; a small grammar repeats itself before
	handCopies   = 4    // of each hand-made line, all but the first varied
	handWeight   = 4.0  // of a hand-made line beside one of the grammar
)

// TrainingLines reads the hand-made lines and expands the grammar. What is
// also a question to measure on is left out, however it is punctuated.
func TrainingLines(dir string) ([]classify.TrainingLine, error) {
	random := rand.New(rand.NewPCG(linesSeed, 2))
	var lines []classify.TrainingLine
	files, err := filepath.Glob(filepath.Join(dir, "lines*.txt"))
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, set := range heldOut {
		held, err := readLabelled(filepath.Join(dir, set.file))
		if err != nil {
			return nil, err
		}
		for _, l := range held {
			seen[plain(l.Query)] = true
		}
	}
	for _, file := range files {
		labelled, err := readLabelled(file)
		if err != nil {
			return nil, err
		}
		for _, l := range labelled {
			if key := plain(l.Query); seen[key] {
				continue
			} else {
				seen[key] = true
			}
			first := classify.TrainingLine{Query: l.Query, Class: l.Label, Weight: handWeight, HandMade: true, Family: l.Query}
			lines = append(lines, first)
			for range handCopies - 1 {
				copied := first
				copied.HandMade = false
				copied.Query = vary(random, l.Query)
				copied.Weight = handWeight / 2
				lines = append(lines, copied)
			}
		}
	}
	made, err := grammarLines(filepath.Join(dir, "grammar.txt"), random, seen)
	if err != nil {
		return nil, err
	}
	return append(lines, made...), nil
}

// plain is a line without the differences that vary makes and that say nothing.
func plain(line string) string {
	return strings.ToLower(strings.TrimRight(line, "?!. "))
}

// heldOut are the files of questions that are measured on and never trained on.
var heldOut = []struct{ file, name string }{
	{"validation.txt", "the questions that the settings were chosen with"},
	{"blind.txt", "whose errors have been studied since they were first measured"},
	{"sealed.txt", "of which only the total is read"},
}

// Validation reads the questions that the classifier is measured on while it is made.
func Validation(dir string) ([]Labelled, error) {
	return readLabelled(filepath.Join(dir, "validation.txt"))
}

// readLabelled reads lines under their class in brackets.
func readLabelled(path string) ([]Labelled, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var lines []Labelled
	var class classify.Class
	for n, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' && !strings.ContainsAny(line, "0123456789"):
		case line[0] == '[' && line[len(line)-1] == ']':
			class = classify.Class(line[1 : len(line)-1])
		case class == "":
			return nil, fmt.Errorf("%s:%d: a line before the first class", path, n+1)
		default:
			lines = append(lines, Labelled{Query: line, Label: class})
		}
	}
	return lines, nil
}

// grammarLines makes perClass different lines of each class, or fewer if the
// grammar does not have as many. Half of the names of agents, environments
// and the like are marked as known to the stores. Lines in seen are passed over.
func grammarLines(path string, random *rand.Rand, seen map[string]bool) ([]classify.TrainingLine, error) {
	g, err := readGrammar(path)
	if err != nil {
		return nil, err
	}
	var lines []classify.TrainingLine
	for _, class := range classify.Classes() {
		patterns := g.patterns[string(class)]
		if len(patterns) == 0 {
			return nil, fmt.Errorf("%s: no patterns for %s", path, class)
		}
		made := 0
		for try := 0; made < perClass && try < perClass*grammarTries/10; try++ {
			pattern := patterns[try%len(patterns)]
			query, mentions := g.expand(random, pattern)
			if key := plain(query); seen[key] || query == "" {
				continue
			} else {
				seen[key] = true
			}
			made++
			if len(mentions) == 0 || random.IntN(2) == 0 {
				query, mentions = vary(random, query), nil
			}
			lines = append(lines, classify.TrainingLine{
				Query: query, Class: class, Mentions: mentions,
			})
		}
	}
	return lines, nil
}

var openers = []string{"please ", "hey, ", "quick question: ", "can you tell me ", "hi, ", "so ", "ok ", "could you say ", "and ", "i wonder "}

var closers = []string{" please", "?", " ?", " thanks", "!", "...", ".", "??"}

// vary writes a line as somebody else might: in other case, with or without
// its question mark and article, with a slip of the finger, or politely.
func vary(random *rand.Rand, line string) string {
	chance := func(percent int) bool { return random.IntN(100) < percent }
	if chance(6) {
		line = openers[random.IntN(len(openers))] + line
	}
	switch {
	case chance(45):
		line = strings.TrimRight(line, "?") + "?"
	case chance(20):
		line = strings.TrimRight(line, "?.!") + closers[random.IntN(len(closers))]
	}
	if chance(10) {
		for _, article := range []string{" the ", " a ", " an "} {
			line = strings.Replace(line, article, " ", 1)
		}
	}
	if chance(10) {
		line = slip(random, line)
	}
	switch {
	case chance(15):
		line = strings.ToUpper(line[:1]) + line[1:]
	case chance(2):
		line = strings.ToUpper(line)
	case chance(10):
		line = strings.ToLower(line)
	}
	return line
}

// slip mistypes one letter inside a word of five letters or more.
func slip(random *rand.Rand, line string) string {
	words := strings.Split(line, " ")
	at := random.IntN(len(words))
	w := []byte(words[at])
	if len(w) < 5 {
		return line
	}
	for _, ch := range w {
		if ch < 'a' || ch > 'z' {
			return line
		}
	}
	i := 1 + random.IntN(len(w)-2)
	switch random.IntN(4) {
	case 0:
		w[i], w[i+1] = w[i+1], w[i]
	case 1:
		w = append(w[:i], w[i+1:]...)
	case 2:
		w = append(w[:i+1], w[i:]...)
	default:
		w[i] = byte('a' + random.IntN(26))
	}
	words[at] = string(w)
	return strings.Join(words, " ")
}
