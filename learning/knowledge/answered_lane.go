package knowledge

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"skillrouter/internal/clock"
	"skillrouter/learning/shelf"
	"skillrouter/tfidf"
	"skillrouter/tfidf/text"
)

// LaneUsed is a Reason's lane: the entry answered a question like this one.
const LaneUsed = "used"

// The weights of what was learned from use. They are judgements, bounded so
// that what many say of the same question can lead an entry to the top, and
// what one says cannot.
const (
	// answeredMost is the share of the best score that an entry gains at most.
	answeredMost = 1.0
	// answeredAlike is the least share of common words, by Jaccard, for questions to be alike.
	answeredAlike = 0.5
	// answeredHalf is after how long a voice counts for half.
	answeredHalf = 180 * 24 * time.Hour
	// answeredLooks bounds how many questions are compared with one query: the rarest words come first.
	answeredLooks = 4096
	// answeredStems bounds how many words of a query are looked up.
	answeredStems = 64
)

// Answered is the AnswerService beside the database, and holds in memory what
// searches ask of it: the words of the questions that entries answered. It is
// apart from the entries' own index, so that whatever is learned here can be
// taken back and changes nothing there.
type Answered struct {
	store AnswerStore
	count func(ids ...string)
	now   clock.Clock

	changing sync.Mutex // a change is stored and then learned before the next begins

	mu      sync.RWMutex
	entries map[string][]*askedQuestion
	byStem  map[string]map[*askedQuestion]struct{}
}

// askedQuestion is a question that an entry answered, and who said so.
type askedQuestion struct {
	entry  string
	stems  []string
	voices []AnswerVoice
}

// learn replaces what is known of an entry.
func (a *Answered) learn(id string, voices []AnswerVoice) {
	byKey := map[string]*askedQuestion{}
	var questions []*askedQuestion
	for _, v := range voices {
		q := byKey[v.Key]
		if q == nil {
			q = &askedQuestion{entry: id, stems: askedStems(v.Question)}
			byKey[v.Key] = q
			questions = append(questions, q)
		}
		q.voices = append(q.voices, v)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, old := range a.entries[id] {
		for _, stem := range old.stems {
			if delete(a.byStem[stem], old); len(a.byStem[stem]) == 0 {
				delete(a.byStem, stem)
			}
		}
	}
	delete(a.entries, id)
	if len(questions) == 0 {
		return
	}
	a.entries[id] = questions
	for _, q := range questions {
		for _, stem := range q.stems {
			if a.byStem[stem] == nil {
				a.byStem[stem] = map[*askedQuestion]struct{}{}
			}
			a.byStem[stem][q] = struct{}{}
		}
	}
}

// forget drops an entry that was deleted.
func (a *Answered) forget(id string) {
	if a != nil {
		a.learn(id, nil)
	}
}

func (a *Answered) voices(id string) (n int) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	for _, q := range a.entries[id] {
		n += len(q.voices)
	}
	return n
}

// askedStems are a question's words, each once.
func askedStems(question string) []string {
	stems, _ := text.QueryTerms(question)
	slices.Sort(stems)
	stems = slices.Compact(stems)
	return stems[:min(len(stems), answeredStems)]
}

// lane returns what the entries that answered like questions gain, as a share
// of the best score: at most answeredMost.
func (a *Answered) lane(query string) map[string]float64 {
	if a == nil {
		return nil
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	if len(a.entries) == 0 {
		return nil
	}
	stems := askedStems(query)
	slices.SortStableFunc(stems, func(x, y string) int { return cmp.Compare(len(a.byStem[x]), len(a.byStem[y])) })
	common := map[*askedQuestion]int{}
	looks := 0
	for _, stem := range stems {
		if looks += len(a.byStem[stem]); looks > answeredLooks {
			break
		}
		for q := range a.byStem[stem] {
			common[q]++
		}
	}
	now := a.now()
	var gains map[string]float64
	for q, n := range common {
		alike := float64(n) / float64(len(stems)+len(q.stems)-n)
		if alike < answeredAlike {
			continue
		}
		if gain := answeredMost * alike * q.belief(now); gain > 0 {
			if gains == nil {
				gains = map[string]float64{}
			}
			gains[q.entry] = max(gains[q.entry], gain)
		}
	}
	return gains
}

// belief is how far the voices are believed that the entry answers the
// question, from 0 to 1: one half for one voice, two thirds for two.
func (q *askedQuestion) belief(now time.Time) float64 {
	sum := 0.0
	for _, v := range q.voices {
		weight := math.Exp2(-max(0, now.Sub(v.At).Hours()) / answeredHalf.Hours())
		if !v.Helpful {
			weight = -weight
		}
		sum += weight
	}
	if sum <= 0 {
		return 0
	}
	return sum / (sum + 1)
}

// gain adds to the hits of a search what entries answered of like questions.
// Entries that the search did not find are added where they fit what it is
// narrowed to, as fits tells.
func (a *Answered) gain(ctx context.Context, hits []tfidf.Hit, request tfidf.Query, limit int, read func(context.Context, []string) ([]tfidf.Document, error)) ([]tfidf.Hit, error) {
	gains := a.lane(request.Text)
	if len(gains) == 0 {
		return hits, nil
	}
	top := 1.0
	if len(hits) > 0 && hits[0].Score > 0 {
		top = hits[0].Score
	}
	out := slices.Clone(hits)
	for i := range out {
		if gain, ok := gains[out[i].ID]; ok {
			out[i] = used(out[i], gain*top, request.Explain)
			delete(gains, out[i].ID)
		}
	}
	if len(gains) > 0 {
		ids := slices.Collect(maps.Keys(gains))
		slices.SortFunc(ids, func(x, y string) int { return cmp.Or(cmp.Compare(gains[y], gains[x]), cmp.Compare(x, y)) })
		documents, err := read(ctx, ids[:min(len(ids), limit)])
		if err != nil {
			return nil, err
		}
		for _, doc := range documents {
			if shelf.Fits(&doc, request) {
				out = append(out, used(tfidf.Hit{ID: doc.ID}, gains[doc.ID]*top, request.Explain))
			}
		}
	}
	slices.SortStableFunc(out, func(x, y tfidf.Hit) int { return cmp.Or(cmp.Compare(y.Score, x.Score), cmp.Compare(x.ID, y.ID)) })
	return out[:min(len(out), max(limit, len(hits)))], nil
}

// used adds the lane to a hit.
func used(hit tfidf.Hit, weight float64, explain bool) tfidf.Hit {
	hit.Score += weight
	if explain {
		hit.Why = append(slices.Clone(hit.Why), tfidf.Reason{Lane: LaneUsed, Weight: weight})
	}
	return hit
}
