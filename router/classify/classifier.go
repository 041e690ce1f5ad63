// Package classify tells what a question in plain words is about, and so which store can answer it: knowledge,
// episodes, operations or reconnaissance.
//
// A question is cut into words and their shapes (token.go, shape.go), which a small linear model weighs (model.bin, trained
// by TestCommittedModel); names that the stores know (Mention) move the answer, and a Classification gives its confidence
// and its reasons. It asks no store: who calls brings the names.
package classify

import (
	"cmp"
	"math"
	"slices"

	"github.com/skillrouter/skillrouter/internal/safetext"
)

// Classification is what kind of question a query is held to be, and why.
type Classification struct {
	Class         Class             `json:"class"`
	Confidence    float64           `json:"confidence"` // calibrated probability of Class, 0 to 1
	Reasons       []string          `json:"reasons"`    // what decided, in words, weightiest first
	Second        Class             `json:"second"`     // the next likely class
	Margin        float64           `json:"margin"`     // probability of Class less that of Second, 0 to 1
	Probabilities map[Class]float64 `json:"probabilities"`
}

// Classifier tells what kind of question a query is. It works offline from an
// embedded model: a multinomial logistic regression over words, their order,
// word classes and verb frames. It is safe for concurrent use, and the same
// query always gets the same answer.
type Classifier struct {
	model   *model
	lexicon lexicon
}

// NewClassifier loads the embedded model. An error means that the binary was
// built from a model file that does not belong to it.
func NewClassifier() (*Classifier, error) {
	m, err := decodeModel(embeddedModel)
	if err != nil {
		return nil, err
	}
	return newClassifier(m)
}

func newClassifier(m *model) (*Classifier, error) {
	lex, err := parseLexicon(lexiconText)
	if err != nil {
		return nil, err
	}
	return &Classifier{model: m, lexicon: lex}, nil
}

// Classify says what kind of question query is. mentions are the things that
// the stores know and the query names; each kind leans to a class, by the
// tense of the question. Of a long query only the head and the foot are read.
// A query without a word gets even odds.
func (c *Classifier) Classify(query string, mentions []Mention) Classification {
	r := c.read(query, mentions)
	z := c.model.logits(r.features)
	if len(r.tokens) == 0 {
		z = [numClasses]float64{}
	}
	r.leans(&z, mentions)
	p := softmax(z, math.Exp)
	order := [numClasses]int{classKnowledge, classEpisode, classOperational, classRecon}
	slices.SortStableFunc(order[:], func(a, b int) int { return cmp.Compare(p[b], p[a]) })
	first, second := order[0], order[1]
	result := Classification{
		Class: classAt[first], Confidence: p[first], Second: classAt[second], Margin: p[first] - p[second],
		Probabilities: make(map[Class]float64, numClasses),
	}
	for k := range p {
		result.Probabilities[classAt[k]] = p[k]
	}
	result.Reasons = r.reasons(first, second, mentions)
	return result
}

// Class is what a question is about, and so which source can answer it.
type Class string

// The classes.
const (
	// ClassKnowledge asks what is known: how to do it, what an error means, what was learned.
	ClassKnowledge Class = "knowledge"
	// ClassEpisode asks what happened.
	ClassEpisode Class = "episode"
	// ClassOperational asks how things stand now: agents, tasks, queues.
	ClassOperational Class = "operational"
	// ClassRecon asks what reconnaissance found: hosts, vulnerabilities, exposures.
	ClassRecon Class = "recon"
)

// Classes lists the classes.
func Classes() []Class {
	return []Class{ClassKnowledge, ClassEpisode, ClassOperational, ClassRecon}
}

// Choices are the values as texts, for whoever asks for one.
func (Class) Choices() []string { return safetext.Strings(Classes()) }

// The classes' places in the model's rows. They are part of its format.
const (
	classKnowledge = iota
	classEpisode
	classOperational
	classRecon
	numClasses
)

// classAt gives the class at a place of the model's rows.
var classAt = [numClasses]Class{ClassKnowledge, ClassEpisode, ClassOperational, ClassRecon}
