package question

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/classify"
)

// Bounds of the names that are looked for in questions.
const (
	// maxNames of each kind; more than a team, its open tasks and what is being mended.
	maxNames = 2000
	// namesFor is how long names are kept: reading them costs a few milliseconds.
	namesFor = time.Second
	// maxTitleWords of a title are compared; nobody quotes more.
	maxTitleWords = 16
	// minTitleWords of a title must be said for it to be named: one word is no title.
	minTitleWords = 2
)

// Namer lists what a store knows by name.
type Namer interface {
	Names(ctx context.Context, limit int) (operational.Names, error)
}

// named is a thing that a question names.
type named struct {
	classify.Mention        // in the words of the question
	Stored           string // as the store does; of a task its number
}

// names finds in questions what the stores know.
type names struct {
	source Namer
	now    clock.Clock

	mu      sync.Mutex
	read    time.Time
	agents  []string
	entries map[string][]nameEntry // by their first word
}

type nameEntry struct {
	words  []string
	kind   string
	stored string
}

// in returns what the question names, in the order of the question, each thing once.
func (n *names) in(ctx context.Context, query string) ([]named, error) {
	entries, err := n.fresh(ctx)
	if err != nil {
		return nil, err
	}
	words := classify.Phrase(query)
	var found []named
	add := func(kind, name, stored string) {
		same := func(o named) bool { return o.Kind == kind && o.Stored == stored }
		if len(found) < classify.MaxMentions && !slices.ContainsFunc(found, same) {
			found = append(found, named{classify.Mention{Kind: kind, Name: name}, stored})
		}
	}
	for i := 0; i < len(words); {
		step := 1
		for _, e := range entries[words[i]] {
			if i+len(e.words) <= len(words) && slices.Equal(words[i:i+len(e.words)], e.words) {
				add(e.kind, strings.Join(e.words, " "), e.stored)
				step = max(step, len(e.words))
			}
		}
		if number := taskNumber(words, i); number != "" {
			for _, e := range entries[number] {
				if e.kind == classify.MentionTask {
					add(classify.MentionTask, strings.TrimPrefix(number, "#"), e.stored)
				}
			}
		}
		i += step
	}
	return found, nil
}

// agentsBy are the agents that a part of their name means.
func (n *names) agentsBy(part string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return router.AgentsNamed(part, n.agents)
}

// taskNumber returns "#77" where words[i] is that, or the noun of "task 77"; else "".
func taskNumber(words []string, i int) string {
	if strings.HasPrefix(words[i], "#") {
		return words[i]
	}
	if classify.Numbered[words[i]] && i+1 < len(words) {
		if _, err := strconv.ParseInt(words[i+1], 10, 64); err == nil {
			return "#" + words[i+1]
		}
	}
	return ""
}

// fresh returns the names, read again if they are old. While the store cannot
// be read, the old ones serve.
func (n *names) fresh(ctx context.Context) (map[string][]nameEntry, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if age := n.now().Sub(n.read); n.entries != nil && age >= 0 && age < namesFor {
		return n.entries, nil
	}
	known, err := n.source.Names(ctx, maxNames)
	if err != nil {
		if n.entries != nil {
			return n.entries, nil
		}
		return nil, err
	}
	n.entries, n.agents, n.read = index(known), known.Agents, n.now()
	return n.entries, nil
}

// environments are other names of usual ones.
var environments = map[string]string{"prod": "production", "production": "prod", "dev": "development", "development": "dev", "stage": "staging"}

func index(known operational.Names) map[string][]nameEntry {
	entries := map[string][]nameEntry{}
	add := func(kind, name, stored string, least int) {
		words := classify.Phrase(name)
		if len(words) < least || len(words) == 0 || len(words) > maxTitleWords || (len(words) == 1 && classify.FunctionWords()[words[0]]) {
			return
		}
		entries[words[0]] = append(entries[words[0]], nameEntry{words: words, kind: kind, stored: stored})
	}
	for _, id := range known.Agents {
		add(classify.MentionAgent, id, id, 1)
		if short := router.ShortAgent(id); short != id { // two agents may share it: then both are meant
			add(classify.MentionAgent, short, id, 1)
		}
	}
	for _, name := range known.Environments {
		add(classify.MentionEnvironment, name, name, 1)
		if long := environments[strings.ToLower(name)]; long != "" {
			add(classify.MentionEnvironment, long, name, 1)
		}
	}
	for _, name := range known.Projects {
		add(classify.MentionProject, name, name, 1)
	}
	for _, cve := range known.CVEs {
		add(classify.MentionCVE, cve, cve, 1)
	}
	for _, title := range known.Findings {
		add(classify.MentionFinding, title, title, minTitleWords)
	}
	for _, task := range known.Tasks {
		number := strconv.FormatInt(task.Number, 10)
		add(classify.MentionTask, "#"+number, number, 1)
		add(classify.MentionTask, task.Title, number, minTitleWords)
	}
	return entries
}
