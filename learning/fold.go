package learning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/skillrouter/skillrouter/tfidf/text"
)

// Saying is what a found row says, to be compared with what others say.
type Saying struct {
	ID, Kind string
	Where    string // the project, and of a lesson its domain too: what holds elsewhere is another matter
	Trust    Trust
	Text     string
}

// Folded is a found row, with those that stand lower and say nearly the same.
type Folded struct {
	At   int      // its place among the rows
	More []string // the others' ids, in their order
}

const (
	// foldAlike and foldPart are from which share of all their words in common on two rows say nearly the same: any two, and two of
	// which one only says more. A word that stands in the place of another may turn a short text around: "before" for "after".
	foldAlike, foldPart = 0.9, 0.75
	// foldWords is how many words it takes to tell that two rows are alike.
	foldWords = 4
	// foldBytes is how long a text may be that is folded: of a longer one, or of one that is cut, nobody sees what else it says.
	foldBytes = 4 << 10
	// foldNamed is how many of the folded rows are named: whoever wants more of them asks by what they say.
	foldNamed = 20
)

// folded are the kinds of which there are near-duplicates: what people and agents wrote in words of their own. A task or a message is one of its own.
var folded = []string{"knowledge", "episode", "lesson"}

// FoldAlike puts rows that say nearly what a higher one says beneath that one, for people and models, who read each matter once.
// Rows of different kinds, places or trust are never folded, nor those that differ in a number or a negation, or may contradict each other.
func FoldAlike(rows int, says func(at int) Saying) []Folded {
	folds, sayings := make([]Folded, 0, rows), make([]said, 0, rows)
	for i := range rows {
		s := saidBy(says(i))
		at := slices.IndexFunc(sayings, func(higher said) bool { return higher.nearly(&s) })
		if at >= 0 {
			folds[at].More = append(folds[at].More, s.ID)
			continue
		}
		folds, sayings = append(folds, Folded{At: i}), append(sayings, s)
	}
	return folds
}

// Like says how many more say nearly the same, and which. Empty: none does.
func (f Folded) Like() string {
	if len(f.More) == 0 {
		return ""
	}
	ids := strings.Join(f.More[:min(len(f.More), foldNamed)], ", ")
	if len(f.More) > foldNamed {
		ids += ", …"
	}
	return fmt.Sprintf("and %d more like it: %s", len(f.More), ids)
}

// said is a saying with its words.
type said struct {
	Saying
	words, sharp []string // distinct, in order; none: it is not folded
}

func saidBy(s Saying) said {
	one := said{Saying: s}
	if len(s.Text) > foldBytes || strings.HasSuffix(s.Text, "…") || !slices.Contains(folded, s.Kind) {
		return one
	}
	one.words = text.Terms(s.Text)
	for _, word := range one.words {
		if Sharp(word) {
			one.sharp = append(one.sharp, word)
		}
	}
	slices.Sort(one.words)
	slices.Sort(one.sharp)
	one.words, one.sharp = slices.Compact(one.words), slices.Compact(one.sharp)
	return one
}

func (a *said) nearly(b *said) bool {
	if a.Kind != b.Kind || a.Where != b.Where || a.Trust != b.Trust || min(len(a.words), len(b.words)) < foldWords || !slices.Equal(a.sharp, b.sharp) {
		return false
	}
	jaccard, contained := Likeness(a.words, b.words)
	return jaccard >= foldAlike || contained == 1 && jaccard >= foldPart
}

// negations are the words that negate, and the contractions that do as the search reads them: "doesnt", "cant".
var negations = func() map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq("not never no nor none nobody nothing neither without avoid cannot except unless don't " +
		"dont doesnt didnt isnt arent wasnt werent wont cant couldnt shouldnt wouldnt mustnt hasnt havent hadnt neednt") {
		words[word] = true
	}
	return words
}()

// Sharp tells whether a term is a number or a negation: texts that differ in one do not say the same, however alike they are.
func Sharp(term string) bool {
	return negations[term] || strings.ContainsFunc(term, unicode.IsDigit)
}

// Likeness is the share of terms, each once and in order, that two texts have in common (Jaccard), and the share that the shorter
// one has in common with the other.
func Likeness[Term cmp.Ordered](a, b []Term) (jaccard, contained float64) {
	common := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			common, i, j = common+1, i+1, j+1
		}
	}
	if common == 0 {
		return 0, 0
	}
	return float64(common) / float64(len(a)+len(b)-common), float64(common) / float64(min(len(a), len(b)))
}
