package router

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/skillrouter/skillrouter/router/classify"
)

// Golden is what the search found when somebody last accepted its ranking.
type Golden struct {
	Questions []QuestionResult
	Routing   []RoutingResult
}

// LoadGolden reads the golden that is part of the program.
func LoadGolden() (*Golden, error) {
	text, err := judgedFiles.ReadFile("testdata/judged/golden.jsonl")
	if err != nil {
		return nil, err
	}
	return ReadGolden(text)
}

// ReadGolden reads what Golden.Encode wrote.
func ReadGolden(text []byte) (*Golden, error) {
	g := &Golden{}
	for n, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		if n == 0 {
			continue
		}
		var question QuestionResult
		var routing RoutingResult
		if err := errors.Join(json.Unmarshal(line, &question), json.Unmarshal(line, &routing)); err != nil {
			return nil, fmt.Errorf("golden line %d: %w", n+1, err)
		}
		if routing.Class != "" { // only these have one
			g.Routing = append(g.Routing, routing)
			continue
		}
		g.Questions = append(g.Questions, question)
	}
	return g, nil
}

func routedRight(results []RoutingResult) int {
	right := 0
	for _, r := range results {
		if r.Class == r.Taken {
			right++
		}
	}
	return right
}

// Move is a question whose answer differs from the golden's.
type Move struct {
	Query   string   `json:"query"`
	Project string   `json:"project,omitempty"`
	Was     float64  `json:"was"` // nDCG@10
	Is      float64  `json:"is"`
	Changes []string `json:"changes"` // in words: which judged entry moved where
}

// Compare lists the questions that moved since a golden, those that lost most first.
func (g *Golden) Compare(now *Golden) []Move {
	before := make(map[string]*QuestionResult, len(g.Questions))
	for i := range g.Questions {
		q := &g.Questions[i]
		before[q.Project+"\x00"+q.Query] = q
	}
	var moves []Move
	for i := range now.Questions {
		q := &now.Questions[i]
		key := q.Project + "\x00" + q.Query
		was := before[key]
		delete(before, key)
		if was == nil {
			moves = append(moves, Move{Query: q.Query, Project: q.Project, Is: q.NDCG, Changes: []string{"it is new"}})
		} else if changes := rankChanges(was, q); len(changes) > 0 {
			moves = append(moves, Move{Query: q.Query, Project: q.Project, Was: was.NDCG, Is: q.NDCG, Changes: changes})
		}
	}
	for _, was := range before {
		moves = append(moves, Move{Query: was.Query, Project: was.Project, Was: was.NDCG, Changes: []string{"it is no longer asked"}})
	}
	taken := map[string]classify.Class{}
	for _, r := range g.Routing {
		taken[r.Query] = r.Taken
	}
	for _, r := range now.Routing {
		if was := taken[r.Query]; was != r.Taken {
			moves = append(moves, Move{
				Query: r.Query, Was: rightness(was == r.Class), Is: rightness(r.Taken == r.Class),
				Changes: []string{fmt.Sprintf("routed to %s, was %s", r.Taken, cmp.Or(was, "not asked"))},
			})
		}
	}
	slices.SortFunc(moves, func(a, b Move) int {
		return cmp.Or(cmp.Compare(a.Is-a.Was, b.Is-b.Was), cmp.Compare(a.Query, b.Query), cmp.Compare(a.Project, b.Project))
	})
	return moves
}

func rightness(right bool) float64 {
	if right {
		return 1
	}
	return 0
}

// rankChanges says in words what moved between two answers to a question.
func rankChanges(was, is *QuestionResult) []string {
	var changes []string
	for _, id := range slices.Sorted(maps.Keys(is.Ranks)) {
		if a, judged := was.Ranks[id]; !judged {
			changes = append(changes, id+" was not judged")
		} else if b := is.Ranks[id]; a != b {
			changes = append(changes, fmt.Sprintf("%s %s → %s", id, ordinal(a), ordinal(b)))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(was.Ranks)) {
		if _, judged := is.Ranks[id]; !judged {
			changes = append(changes, id+" is no longer judged")
		}
	}
	if len(changes) == 0 && !slices.Equal(was.Top, is.Top) {
		for i := range max(len(was.Top), len(is.Top)) {
			if i >= len(was.Top) || i >= len(is.Top) || was.Top[i] != is.Top[i] {
				return []string{fmt.Sprintf("others than the judged moved, from place %d on", i+1)}
			}
		}
	}
	return changes
}

func ordinal(rank int) string {
	if rank == 0 {
		return "not found"
	}
	return fmt.Sprint(rank)
}
