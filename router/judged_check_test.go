package router

import (
	"time"

	"github.com/skillrouter/skillrouter/router/classify"
	"github.com/skillrouter/skillrouter/tfidf"
)

// SelfTest says how well this program's search and routing answer the judged collection.
type SelfTest struct {
	OK        bool               `json:"ok"` // nothing moved
	Documents int                `json:"documents"`
	All       Measure            `json:"all"`
	Styles    map[string]Measure `json:"styles"`
	Golden    Measure            `json:"golden"` // what All was when the ranking was last agreed to
	Routed    int                `json:"routed"` // questions put to the classifier
	Right     int                `json:"routed_right"`
	Moves     []Move             `json:"moves"`
	TookMS    float64            `json:"took_ms"`
}

// Check runs the judged collection that is part of the program on this
// machine, without a router or a database, and compares with the golden. options are
// the engine's; the zero value is what the services use.
func Check(options tfidf.Options) (SelfTest, error) {
	began := time.Now()
	collection, err := LoadCollection()
	if err != nil {
		return SelfTest{}, err
	}
	golden, err := LoadGolden()
	if err != nil {
		return SelfTest{}, err
	}
	now, err := collection.Golden(options)
	if err != nil {
		return SelfTest{}, err
	}
	for i := range golden.Questions { // the figures are made from the ranks, those of the file are to be read
		if at := indexOf(now.Questions, &golden.Questions[i]); at >= 0 {
			golden.Questions[i].measure(collection.Questions[at].Grades)
		}
	}
	t := SelfTest{
		Documents: len(collection.Documents), All: Mean(now.Questions, ""), Golden: Mean(golden.Questions, ""), Styles: map[string]Measure{},
		Routed: len(now.Routing), Right: routedRight(now.Routing), Moves: golden.Compare(now),
	}
	for _, style := range Styles(now.Questions) {
		t.Styles[style] = Mean(now.Questions, style)
	}
	t.OK = len(t.Moves) == 0
	t.TookMS = float64(time.Since(began).Microseconds()) / 1000
	return t, nil
}

// Golden asks all questions of a collection, for a new golden.
func (c *Collection) Golden(options tfidf.Options) (*Golden, error) {
	classifier, err := classify.NewClassifier()
	if err != nil {
		return nil, err
	}
	return &Golden{Questions: c.Run(options), Routing: c.Route(classifier)}, nil
}

func indexOf(results []QuestionResult, q *QuestionResult) int {
	for i := range results {
		if results[i].Query == q.Query && results[i].Project == q.Project {
			return i
		}
	}
	return -1
}
