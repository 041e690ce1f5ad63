package verdict

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/tfidf/text"
)

// knowledgeItem begins the items that are entries of the knowledge.
const knowledgeItem = "knowledge/"

// Finder asks a kind of memory a question, and tells whether it finds something that its asker can have meant.
type Finder func(ctx context.Context, question, project string) (bool, error)

// Options are the settings of Verdicts.
type Options struct {
	learning.Options
	// Used is told of each entry that helped; nil: nobody is.
	Used func(ids ...string)
	// Finders are asked gaps again when Changed rings: something was stored that may answer one. nil: no gap is asked again.
	Finders []Finder
	Changed *committer.Bell
}

// Verdicts is the Service beside the database. It keeps the questions that entries answered in memory, for the lane of the
// searches, and gathers the misses of searches: they are written in batches after the answers are given, and those of the
// last seconds are lost with a process that is killed.
type Verdicts struct {
	store   Store
	options Options
	now     clock.Clock
	log     *slog.Logger

	changing sync.Mutex // a change is stored and then learned before the next begins
	lane     lane

	mu      sync.Mutex
	waiting map[missKey]Verdict
}

var (
	_ Service               = (*Verdicts)(nil)
	_ learning.MissObserver = (*Verdicts)(nil)
)

// New makes Verdicts that know what the store holds.
func New(ctx context.Context, store Store, options Options) (*Verdicts, error) {
	o := options.Options.WithDefaults()
	v := &Verdicts{store: store, options: options, now: o.Now, log: o.Log, waiting: map[missKey]Verdict{}}
	if v.options.Used == nil {
		v.options.Used = func(...string) {}
	}
	return v, v.Load(ctx)
}

// Load reads the voices from the store: those that another router took in, too.
func (v *Verdicts) Load(ctx context.Context) error {
	all, err := v.store.Verdicts(ctx, nil)
	if err == nil {
		v.lane.learn(nil, all)
	}
	return err
}

// Lane returns what the entries that answered like questions gain, by their ids, as a share of the best score.
func (v *Verdicts) Lane(query string) map[string]float64 { return v.lane.gains(query, v.now()) }

// Forget drops an entry that was deleted from the lane.
func (v *Verdicts) Forget(id string) { v.lane.learn([]string{knowledgeItem + id}, nil) }

// Answered implements Service.
func (v *Verdicts) Answered(ctx context.Context, id string, draft Draft) (Learned, error) {
	caller := principal.Of(ctx)
	if err := cmp.Or(caller.Need(principal.ScopeAgent), learning.CheckID("id", id)); err != nil {
		return Learned{}, err
	}
	author, err := caller.ActingAs("agent_id", draft.AgentID)
	if err != nil {
		return Learned{}, err
	}
	if draft.Query != "" {
		if err := learning.CheckQuery(draft.Query); err != nil {
			return Learned{}, err
		}
	}
	at := v.now.Stamp()
	one := Verdict{Item: knowledgeItem + id, Agent: principal.KindOf(author), Helped: draft.Helpful == nil || *draft.Helpful, Times: 1, First: at, At: at}
	one.Subject = learning.GapQuestion(draft.Query)
	var learned bool
	one.Key, learned = learning.GapID(one.Subject, "")
	v.changing.Lock()
	defer v.changing.Unlock()
	if learned {
		changed, err := v.store.AddVerdict(ctx, one)
		if err == nil {
			err = v.read(ctx, changed)
		}
		if err != nil {
			return Learned{}, err
		}
	} else if err := v.store.NeedEntry(ctx, id); err != nil {
		return Learned{}, err
	}
	if one.Helped {
		v.options.Used(id)
	}
	return Learned{ID: id, Learned: learned, Questions: v.lane.voices(one.Item)}, nil
}

// Questions implements Service.
func (v *Verdicts) Questions(ctx context.Context, id string) (List, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), learning.CheckID("id", id)); err != nil {
		return List{}, err
	}
	kept, err := v.store.Verdicts(ctx, []string{knowledgeItem + id})
	slices.Reverse(kept)
	return List{Answers: kept, Count: len(kept)}, err
}

// Unlearn implements Service.
func (v *Verdicts) Unlearn(ctx context.Context, id string) (Gone, error) {
	caller := principal.Of(ctx)
	if err := cmp.Or(caller.Need(principal.ScopeAgent), learning.CheckID("id", id)); err != nil {
		return Gone{}, err
	}
	v.changing.Lock()
	defer v.changing.Unlock()
	gone, err := v.store.DeleteVerdicts(ctx, knowledgeItem+id, principal.KindOf(caller.AgentID), caller.Has(principal.ScopeCaptain))
	if err != nil {
		return Gone{}, err
	}
	return Gone{Deleted: gone}, v.read(ctx, []string{knowledgeItem + id})
}

// read learns items anew from the store.
func (v *Verdicts) read(ctx context.Context, items []string) error {
	kept, err := v.store.Verdicts(ctx, items)
	if err == nil {
		v.lane.learn(items, kept)
	}
	return err
}

// Gaps implements Service.
func (v *Verdicts) Gaps(ctx context.Context, query GapQuery) (GapPage, error) {
	caller := principal.Of(ctx)
	query.Order = cmp.Or(query.Order, GapsRecent)
	if err := cmp.Or(
		caller.Keeping().Need(principal.ScopeRead),
		check.OneOf("order", query.Order, []GapOrder{GapsRecent, GapsOften}),
		check.Name("project", query.Project),
	); err != nil {
		return GapPage{}, err
	}
	limit, err := check.Limit(query.Limit, learning.DefaultListing, learning.MaxLimit)
	if err != nil {
		return GapPage{}, err
	}
	gaps, err := v.gaps(ctx)
	if err != nil {
		return GapPage{}, err
	}
	gaps = slices.DeleteFunc(gaps, func(gap Gap) bool {
		return query.Project != "" && gap.Project != query.Project || !caller.Sees(gap.Project)
	})
	if query.Order == GapsOften {
		slices.SortStableFunc(gaps, func(a, b Gap) int { return cmp.Compare(b.Count, a.Count) })
	}
	page := GapPage{Gaps: gaps[:min(len(gaps), limit)], Total: int64(len(gaps))}
	page.Count = len(page.Gaps)
	return page, nil
}

// gaps gathers what the agents missed by question, the last asked first.
func (v *Verdicts) gaps(ctx context.Context) ([]Gap, error) {
	misses, err := v.store.Misses(ctx)
	gaps, at := []Gap{}, map[string]int{}
	for _, m := range misses {
		i, known := at[m.Key]
		if !known {
			i = len(gaps)
			at[m.Key] = i
			gaps = append(gaps, Gap{ID: m.Key, Question: m.Subject, Project: m.Project, Agents: []string{}, FirstAsked: m.First, LastAsked: m.At})
		}
		gap := &gaps[i]
		gap.Count += m.Times
		if m.First.Before(gap.FirstAsked) {
			gap.FirstAsked = m.First
		}
		if m.Agent != "" && len(gap.Agents) < MaxGapAgents {
			gap.Agents = append(gap.Agents, m.Agent)
		}
	}
	return gaps, err
}

// Dismiss implements Service.
func (v *Verdicts) Dismiss(ctx context.Context, id string) error {
	caller := principal.Of(ctx)
	if err := cmp.Or(caller.Keeping().Need(principal.ScopeAgent), learning.CheckID("id", id)); err != nil {
		return err
	}
	gaps, err := v.gaps(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(gaps, func(gap Gap) bool { return gap.ID == id && caller.Sees(gap.Project) }) {
		return errs.Errorf(errs.NotFound, "no gap has this id")
	}
	return v.store.DeleteMisses(ctx, id)
}

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
