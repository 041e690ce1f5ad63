package feedback

import (
	"context"
	"fmt"
	"math"
	"slices"

	"skillrouter"
	"skillrouter/learning"
	"skillrouter/learning/knowledge"
)

// Measure implements JudgementService.
func (s *Judgements) Measure(ctx context.Context) (JudgementReport, error) {
	if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeAgent); err != nil {
		return JudgementReport{}, err
	}
	list, _, err := s.store.ListJudgements(ctx, "", 0, MaxJudgements)
	if err != nil {
		return JudgementReport{}, err
	}
	report := JudgementReport{At: s.now.Stamp(), Questions: make([]JudgedQuestion, 0, len(list))}
	ranks := make(map[string]map[string]int, len(list))
	for i := range list {
		q, notice, err := s.measure(ctx, &list[i])
		if err != nil {
			return JudgementReport{}, err
		}
		report.add(q, list[i].Last)
		if notice != "" {
			report.Notice = notice
		}
		ranks[q.ID] = q.Ranks
	}
	if n := float64(report.Measured); n > 0 {
		report.NDCG, report.MRR = report.NDCG/n, report.MRR/n
	}
	return report, s.store.SaveJudgementRuns(ctx, report.At, ranks)
}

// add takes a question into the report's sums.
func (r *JudgementReport) add(q JudgedQuestion, last *JudgementRun) {
	r.Questions = append(r.Questions, q)
	if last != nil && (r.Since == nil || last.At.After(*r.Since)) {
		r.Since = &last.At
	}
	if len(q.Worse) > 0 {
		r.Worse++
	}
	if math.IsNaN(q.NDCG) {
		r.Questions[len(r.Questions)-1].NDCG = 0
		return
	}
	r.Measured++
	r.NDCG += q.NDCG
	if q.Best > 0 && q.Best <= judgedTop {
		r.Found++
		r.MRR += 1 / float64(q.Best)
	}
}

// measure asks a judged question as its author would. Its figure is not a
// number if no right entry of it is there any more.
func (s *Judgements) measure(ctx context.Context, j *Judgement) (JudgedQuestion, string, error) {
	q := JudgedQuestion{ID: j.ID, Question: j.Question, Project: j.Project, Ranks: map[string]int{}}
	found, err := s.finder.Find(learning.NotAsked(ctx), knowledge.Query{Query: j.Question, Project: j.Project, Limit: JudgedDepth})
	if err != nil {
		return q, "", err
	}
	all := slices.Concat(j.Good, j.Bad)
	if q.Gone, err = s.gone(ctx, all); err != nil {
		return q, "", err
	}
	gain, ideal := 0.0, 0.0
	for i, id := range all {
		if slices.Contains(q.Gone, id) {
			continue
		}
		rank := 1 + slices.IndexFunc(found.Results, func(h knowledge.Hit) bool { return h.ID == id })
		q.Ranks[id] = rank
		if i >= len(j.Good) {
			continue
		}
		if rank > 0 && (q.Best == 0 || rank < q.Best) {
			q.Best = rank
		}
		if rank > 0 && rank <= judgedTop {
			gain += 1 / math.Log2(float64(rank+1))
		}
	}
	for place := range min(len(j.Good)-countIn(j.Good, q.Gone), judgedTop) {
		ideal += 1 / math.Log2(float64(place+2))
	}
	q.NDCG = gain / ideal // 0/0 if there is no right one
	q.compare(j)
	return q, found.Notice, nil
}

func countIn(ids, gone []string) int {
	n := 0
	for _, id := range ids {
		if slices.Contains(gone, id) {
			n++
		}
	}
	return n
}

// compare says what moved since a question was measured last. Entries that were
// judged since have no place to compare with.
func (q *JudgedQuestion) compare(j *Judgement) {
	if j.Last == nil {
		return
	}
	for i, id := range slices.Concat(j.Good, j.Bad) {
		is, there := q.Ranks[id]
		was, before := j.Last.Ranks[id]
		if !there || !before || is == was {
			continue
		}
		said := fmt.Sprintf("%s %s → %s", id, place(was), place(is))
		fell := is == 0 || was != 0 && is > was
		if good := i < len(j.Good); good == fell {
			q.Worse = append(q.Worse, said)
		} else {
			q.Better = append(q.Better, said)
		}
	}
}

func place(rank int) string {
	if rank == 0 {
		return "not found"
	}
	return fmt.Sprintf("rank %d", rank)
}
