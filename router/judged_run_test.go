package router

import (
	"math"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/router/classify"
	"github.com/skillrouter/skillrouter/tfidf"
)

const (
	// judgedDepth is how far down a judged entry is looked for. It is less than what
	// the engine's second pass scores anyway, so that the ranking is that of the usual ten.
	judgedDepth = 50
	// judgedTop is how many hits are measured: what a reader looks at.
	judgedTop = 10
	// scoreNoise is the relative difference under which two scores are one: processors
	// that fuse a multiplication and an addition round it once instead of twice, and what
	// they find must not differ for it.
	scoreNoise = 1e-9
)

// QuestionResult is what a search found for a judged question.
type QuestionResult struct {
	Style   string         `json:"style"`
	Project string         `json:"project,omitempty"`
	Query   string         `json:"query"`
	NDCG    float64        `json:"ndcg"`  // nDCG@10, linear gain, four decimals
	Ranks   map[string]int `json:"ranks"` // of each judged entry, from 1; 0: not among the first fifty
	Top     []string       `json:"top"`   // the first ten
	first   float64        // the reciprocal of the first relevant one's rank among the ten
	recall  float64
}

// RoutingResult is what the classifier made of a question.
type RoutingResult struct {
	Query string         `json:"query"`
	Class classify.Class `json:"class"`
	Taken classify.Class `json:"taken_for"`
}

// Measure is what a collection's questions have in the mean, four decimals.
type Measure struct {
	Questions int     `json:"questions"`
	NDCG      float64 `json:"ndcg_at_10"`
	Recall    float64 `json:"recall_at_10"`
	MRR       float64 `json:"mrr_at_10"`
}

// Run asks a collection's questions of an engine with options. What it
// answers depends on the engine and the collection alone.
func (c *Collection) Run(options tfidf.Options) []QuestionResult {
	index := tfidf.New(options)
	index.Put(c.Documents...)
	results := make([]QuestionResult, len(c.Questions))
	for i, q := range c.Questions {
		found := index.Search(tfidf.Query{Text: q.Text, Project: q.Project, Limit: judgedDepth})
		results[i] = judge(&q, settled(found.Hits))
	}
	return results
}

// Route puts a collection's questions for routing to a classifier that knows nobody's names.
func (c *Collection) Route(classifier *classify.Classifier) []RoutingResult {
	results := make([]RoutingResult, len(c.Routing))
	for i, q := range c.Routing {
		results[i] = RoutingResult{q.Text, q.Class, classifier.Classify(q.Text, nil).Class}
	}
	return results
}

// settled returns the ids of hits, those of one score by id; see scoreNoise.
func settled(hits []tfidf.Hit) []string {
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	for from := 0; from < len(hits); {
		to := from + 1
		for to < len(hits) && hits[to-1].Score-hits[to].Score <= scoreNoise*hits[to-1].Score {
			to++
		}
		slices.Sort(ids[from:to])
		from = to
	}
	return ids
}

// judge measures what was found for a question.
func judge(q *JudgedQuestion, found []string) QuestionResult {
	r := QuestionResult{
		Style: q.Style, Project: q.Project, Query: q.Text, Ranks: make(map[string]int, len(q.Grades)), Top: found[:min(len(found), judgedTop)],
	}
	for id := range q.Grades {
		r.Ranks[id] = slices.Index(found, id) + 1
	}
	r.measure(q.Grades)
	return r
}

// measure computes the figures from the ranks.
func (r *QuestionResult) measure(grades map[string]int) {
	ideal := make([]int, 0, len(grades))
	gains := make([]int, judgedTop) // by rank, so that sums are made in one order
	within := 0
	best := 0
	for id, grade := range grades {
		ideal = append(ideal, grade)
		if rank := r.Ranks[id]; rank > 0 && rank <= judgedTop {
			gains[rank-1] = grade
			within++
			if best == 0 || rank < best {
				best = rank
			}
		}
	}
	slices.SortFunc(ideal, func(a, b int) int { return b - a })
	r.NDCG = decimals(discounted(gains) / discounted(ideal[:min(len(ideal), judgedTop)]))
	r.recall = float64(within) / float64(min(len(grades), judgedTop))
	r.first = 0
	if best > 0 {
		r.first = 1 / float64(best)
	}
}

// discounted is the discounted cumulative gain: Järvelin, Kekäläinen, "Cumulated
// gain-based evaluation of IR techniques", 2002.
func discounted(gains []int) float64 {
	sum := 0.0
	for i, gain := range gains {
		sum += float64(gain) / math.Log2(float64(i+2))
	}
	return sum
}

func decimals(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// Mean measures questions of a style; empty: all.
func Mean(results []QuestionResult, style string) Measure {
	var m Measure
	for i := range results {
		if r := &results[i]; style == "" || r.Style == style {
			m.Questions++
			m.NDCG += r.NDCG
			m.Recall += r.recall
			m.MRR += r.first
		}
	}
	n := float64(max(m.Questions, 1))
	m.NDCG, m.Recall, m.MRR = decimals(m.NDCG/n), decimals(m.Recall/n), decimals(m.MRR/n)
	return m
}

// Styles lists the styles of questions, in the order of the alphabet.
func Styles(results []QuestionResult) []string {
	var styles []string
	for _, r := range results {
		styles = append(styles, r.Style)
	}
	slices.SortFunc(styles, strings.Compare)
	return slices.Compact(styles)
}
