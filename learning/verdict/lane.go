package verdict

import (
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/tfidf/text"
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
	// laneStems bounds how many words of a query are looked up.
	laneStems = 64
)

// lane is what searches ask of the voices: the words of the questions that entries answered. It is
// apart from the entries' own index, so that whatever is learned here can be
// taken back and changes nothing there.
type lane struct {
	mu        sync.RWMutex
	questions []*question
}

// question is one that an item answered, and who said so.
type question struct {
	item   string
	stems  []string
	voices []Verdict
}

// learn replaces what is known of some items, or of all if items is nil.
func (l *lane) learn(items []string, voices []Verdict) {
	type key struct{ item, question string }
	byKey := map[key]*question{}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.questions = slices.DeleteFunc(l.questions, func(q *question) bool { return items == nil || slices.Contains(items, q.item) })
	for _, v := range voices {
		if !strings.HasPrefix(v.Item, knowledgeItem) {
			continue
		}
		q := byKey[key{v.Item, v.Key}]
		if q == nil {
			q = &question{item: v.Item, stems: stemsOf(v.Subject)}
			byKey[key{v.Item, v.Key}] = q
			l.questions = append(l.questions, q)
		}
		q.voices = append(q.voices, v)
	}
}

func (l *lane) voices(item string) (n int) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	for _, q := range l.questions {
		if q.item == item {
			n += len(q.voices)
		}
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
	if len(l.questions) == 0 {
		return nil
	}
	stems := stemsOf(query)
	gains := map[string]float64{}
	for _, q := range l.questions {
		alike := alike(stems, q.stems)
		if alike < laneAlike {
			continue
		}
		if gain := laneMost * alike * q.belief(now); gain > 0 {
			id := strings.TrimPrefix(q.item, knowledgeItem)
			gains[id] = max(gains[id], gain)
		}
	}
	return gains
}

// alike is the share of common words of two questions, by Jaccard; 0 if their lengths alone say that it is below laneAlike.
func alike(a, b []string) float64 {
	if float64(min(len(a), len(b))) < laneAlike*float64(max(len(a), len(b), 1)) {
		return 0
	}
	jaccard, _ := learning.Likeness(a, b)
	return jaccard
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
