package verdict

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"skillrouter/tfidf/text"
)

// The weights of what was learned from use. They are judgements, bounded so
// that what many say of the same question can lead an entry to the top, and
// what one says cannot.
const (
	// laneMost is the share of the best score that an entry gains at most.
	laneMost = 1.0
	// laneAlike is the least share of common words, by Jaccard, for questions to be alike.
	laneAlike = 0.5
	// laneHalf is after how long a voice counts for half.
	laneHalf = 180 * 24 * time.Hour
	// laneLooks bounds how many questions are compared with one query: the rarest words come first.
	laneLooks = 4096
	// laneStems bounds how many words of a query are looked up.
	laneStems = 64
)

// lane is what searches ask of the voices: the words of the questions that entries answered. It is
// apart from the entries' own index, so that whatever is learned here can be
// taken back and changes nothing there.
type lane struct {
	mu     *sync.RWMutex
	items  map[string][]*question
	byStem map[string]map[*question]struct{}
}

// question is one that an item answered, and who said so.
type question struct {
	item   string
	stems  []string
	voices []Verdict
}

func newLane() lane {
	return lane{mu: new(sync.RWMutex), items: map[string][]*question{}, byStem: map[string]map[*question]struct{}{}}
}

// learn replaces what is known of some items and of those that the voices name.
func (l *lane) learn(items []string, voices []Verdict) {
	type key struct{ item, question string }
	byKey := map[key]*question{}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, item := range items {
		for _, old := range l.items[item] {
			for _, stem := range old.stems {
				if delete(l.byStem[stem], old); len(l.byStem[stem]) == 0 {
					delete(l.byStem, stem)
				}
			}
		}
		delete(l.items, item)
	}
	for _, v := range voices {
		if !strings.HasPrefix(v.Item, knowledgeItem) {
			continue
		}
		q := byKey[key{v.Item, v.Key}]
		if q == nil {
			q = &question{item: v.Item, stems: stemsOf(v.Subject)}
			byKey[key{v.Item, v.Key}] = q
			l.items[v.Item] = append(l.items[v.Item], q)
			for _, stem := range q.stems {
				if l.byStem[stem] == nil {
					l.byStem[stem] = map[*question]struct{}{}
				}
				l.byStem[stem][q] = struct{}{}
			}
		}
		q.voices = append(q.voices, v)
	}
}

// known lists the items that something is known of.
func (l *lane) known() []string {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return slices.Collect(maps.Keys(l.items))
}

func (l *lane) voices(item string) (n int) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, q := range l.items[item] {
		n += len(q.voices)
	}
	return n
}

// stemsOf are a question's words, each once.
func stemsOf(question string) []string {
	stems, _ := text.QueryTerms(question)
	slices.Sort(stems)
	stems = slices.Compact(stems)
	return stems[:min(len(stems), laneStems)]
}

// gains returns what the entries that answered like questions gain, as a share
// of the best score: at most laneMost.
func (l *lane) gains(query string, now time.Time) map[string]float64 {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if len(l.items) == 0 {
		return nil
	}
	stems := stemsOf(query)
	slices.SortStableFunc(stems, func(x, y string) int { return cmp.Compare(len(l.byStem[x]), len(l.byStem[y])) })
	common := map[*question]int{}
	looks := 0
	for _, stem := range stems {
		if looks += len(l.byStem[stem]); looks > laneLooks {
			break
		}
		for q := range l.byStem[stem] {
			common[q]++
		}
	}
	gains := map[string]float64{}
	for q, n := range common {
		alike := float64(n) / float64(len(stems)+len(q.stems)-n)
		if gain := laneMost * alike * q.belief(now); alike >= laneAlike && gain > 0 {
			id := strings.TrimPrefix(q.item, knowledgeItem)
			gains[id] = max(gains[id], gain)
		}
	}
	return gains
}

// belief is how far the voices are believed that the item answers the
// question, from 0 to 1: one half for one voice, two thirds for two.
func (q *question) belief(now time.Time) float64 {
	sum := 0.0
	for _, v := range q.voices {
		weight := math.Exp2(-max(0, now.Sub(v.At).Hours()) / laneHalf.Hours())
		if !v.Helped {
			weight = -weight
		}
		sum += weight
	}
	if sum <= 0 {
		return 0
	}
	return sum / (sum + 1)
}
