package router

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"skillrouter/operational"
	"skillrouter/router/classify"
)

// inquiry is what a question about the state of things asks for, as filters.
type inquiry struct {
	AgentStates  []operational.AgentState
	Idle, Busy   bool
	Stopping     bool // agents that were told to stop
	Load         bool // how much there is to do, and who does it
	TaskStatuses []operational.TaskStatus
	weak         []operational.TaskStatus // the statuses of words that name one only if no other word does
	Unheld       bool
	Next         bool // the task that would be claimed next
	Board        bool
	Priority     int  // above 0: only tasks that are more urgent than usual; below 0: less
	Age          int  // above 0: the oldest first; below 0: the newest first
	Mail         bool // messages that wait for an acknowledgement
	Overdue      bool

	Agents  []string // that it names
	Project string
	Numbers []int64 // of tasks that it names
	Firm    bool    // the number is one of a task for sure: "task 77", "#77"
	Mine    bool    // "my", "I"
	Who     bool    // asks for a person
	Count   bool    // asks how many
	YesNo   bool    // is answered by yes or no
	All     bool    // of all: "are all tasks done"

	OfAgents, OfTasks, OfMail bool          // the nouns that it has
	Asked                     bool          // "status of", "where are we with"
	Created                   bool          // the span is of when it was created
	Span                      timespan      // when it was finished or, with Created, created
	Older                     time.Duration // silent, or waiting, for longer than this
	Said                      []string      // what else it says
	Stems                     []string      // the stems of that
}

// stateful tells whether the question names a state, so that an empty list is an answer too.
func (q *inquiry) stateful() bool {
	return q.ofAgentState() || q.ofTaskState() || q.Load || q.Next || q.Mail || q.Overdue
}

// readInquiry reads a question about state. names are the things in it that the stores know.
func readInquiry(query string, names []named, now time.Time) inquiry {
	words := classify.Phrase(query)
	var q inquiry
	skip := map[string]bool{}
	for _, n := range names {
		switch n.Kind {
		case classify.MentionAgent:
			q.Agents = append(q.Agents, n.Stored)
		case classify.MentionProject:
			q.Project = n.Stored
		default: // a task's number is read below, titles are text
			continue
		}
		for _, w := range classify.Phrase(n.Name) {
			skip[w] = true
		}
	}
	words = q.readNumbers(words)
	words = q.readProject(words)
	words = q.readAge(words)
	if span, rest, found := findTimespan(words, now); found {
		q.Span, words = span, rest
	}
	q.Count = classify.HasAny(words, "how many", "number of", "count", "how much")
	q.YesNo = len(words) > 0 && yesNoWords[words[0]]
	q.All = classify.HasAny(words, "all", "everything")
	q.Asked = classify.HasAny(words, "status", "progress", "where are we", "how far", "percentage", "state of", "eta")
	for _, w := range words {
		q.OfAgents = q.OfAgents || agentNouns[w]
		q.OfTasks = q.OfTasks || taskNouns[w]
		q.OfMail = q.OfMail || mailNouns[w]
		q.Who = q.Who || w == "who" || w == "whose" || w == "whom"
	}
	q.Who = q.Who || classify.HasAny(words, "which agent", "what agent") || (q.OfAgents && classify.Has(words, "working", "on"))
	q.Created = classify.HasAny(words, "created", "added", "opened", "filed", "new")
	pronoun := classify.HasAny(words, "anyone", "anybody", "someone", "somebody")
	words = q.readCues(denied(words), skip)
	q.Mine = classify.HasAny(words, "my", "i", "mine", "me")
	for _, set := range []map[string]bool{agentNouns, taskNouns, mailNouns, holdVerbs, askVerbs} {
		words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return set[w] })
	}
	q.Said, q.Stems = classify.Content(words, skip)
	if len(q.Stems) > 0 && pronoun { // "has anyone claimed the docs"
		q.Who = true
	}
	return q
}

// yesNoWords open questions that are answered by yes or no.
var yesNoWords = classify.WordSet("is are was were did does do has have am")

// readCues applies each cue once and returns the words that no cue used.
func (q *inquiry) readCues(words []string, names map[string]bool) []string {
	used := make([]bool, len(words))
	for _, c := range cueTable() {
		for _, p := range c.phrases {
			want := strings.Fields(p)
			i := classify.At(words, want...)
			if i < 0 || (len(want) == 1 && names[want[0]]) {
				continue
			}
			if len(want) == 1 && used[i] && !shared[want[0]] { // it belongs to a longer phrase that was read
				continue
			}
			c.says(q)
			for j := range want {
				used[i+j] = true
			}
			break
		}
	}
	if len(q.TaskStatuses) == 0 {
		q.TaskStatuses = q.weak
	}
	var rest []string
	for i, w := range words {
		if !used[i] {
			rest = append(rest, w)
		}
	}
	return rest
}

// shared are the words that cues of agents and of tasks both have.
var shared = classify.WordSet("running active")

// readNumbers takes "task 77", "job 9" and "#77" out of the words.
func (q *inquiry) readNumbers(words []string) []string {
	var rest []string
	for i := 0; i < len(words); i++ {
		w := words[i]
		if digits, ok := strings.CutPrefix(w, "#"); ok {
			if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n > 0 {
				q.Numbers, q.Firm = append(q.Numbers, n), true
				continue
			}
		}
		if classify.Numbered[w] && i+1 < len(words) {
			j := i + 1
			if words[j] == "number" && j+1 < len(words) {
				j++
			}
			if n, err := strconv.ParseInt(strings.TrimPrefix(words[j], "#"), 10, 64); err == nil && n > 0 {
				q.Numbers = append(q.Numbers, n)
				q.Firm = q.Firm || w == "task" || strings.HasPrefix(words[j], "#")
				q.OfTasks = true
				i = j
				continue
			}
		}
		rest = append(rest, w)
	}
	return rest
}

// readProject takes "project X" out of the words, for a project that nothing is of.
func (q *inquiry) readProject(words []string) []string {
	i := classify.At(words, "project")
	if i < 0 {
		return words
	}
	n := 1
	if q.Project == "" && i+1 < len(words) && !classify.FunctionWords()[words[i+1]] {
		q.Project, n = words[i+1], 2
	}
	return append(slices.Clone(words[:i]), words[i+n:]...)
}

// readAge takes "for ten minutes", "for more than an hour" and "older than a week" out of the words.
func (q *inquiry) readAge(words []string) []string {
	for i, w := range words {
		j := i + 1
		switch {
		case w == "for":
			for j < len(words) && (words[j] == "more" || words[j] == "over" || words[j] == "than" || words[j] == "longer" || words[j] == "at" || words[j] == "least" || words[j] == "the" || words[j] == "last") {
				j++
			}
		case w == "in" && classify.Has(words, "not"): // "has not reported in an hour"
		case (w == "older" || w == "longer" || w == "more") && j < len(words) && words[j] == "than":
			j++
		default:
			continue
		}
		if j+1 >= len(words) {
			continue
		}
		n, ok := countWord(words[j])
		if !ok {
			continue
		}
		epoch := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		then, ok := back(epoch, words[j+1], n)
		if !ok {
			continue
		}
		q.Older = epoch.Sub(then)
		return append(slices.Clone(words[:i]), words[j+2:]...)
	}
	return words
}

// subjectOf is which list answers the question.
type subjectOf int

const (
	subjectText   subjectOf = iota // whatever the words fit
	subjectAgents                  // agents by state
	subjectAgent                   // the agents that it names, with what they do
	subjectTasks                   // tasks by status
	subjectTask                    // the tasks that it names by number
	subjectHolder                  // who has what the words name
	subjectNext
	subjectLoad
	subjectMail
	subjectOverdue
)

// subject decides from everything that was read. The order matters: the more
// particular comes first.
func (q *inquiry) subject() subjectOf {
	switch {
	case q.Stopping:
		return subjectAgents
	case q.Overdue && (q.OfMail || !q.OfTasks):
		return subjectOverdue
	case q.Mail || (q.OfMail && !q.OfTasks):
		return subjectMail
	case len(q.Numbers) > 0:
		return subjectTask
	case q.Load:
		return subjectLoad
	case q.Next:
		return subjectNext
	case len(q.Agents) > 0:
		return q.subjectOfNamed()
	}
	return q.subjectOfWords()
}

// ofAgentState tells whether the question names a state of agents.
func (q *inquiry) ofAgentState() bool {
	return len(q.AgentStates) > 0 || q.Idle || q.Busy || q.Stopping
}

// ofTaskState tells whether the question names a state of tasks.
func (q *inquiry) ofTaskState() bool {
	return len(q.TaskStatuses) > 0 || q.Unheld || q.Board || q.Priority != 0
}

// subjectOfNamed is for questions that name agents: what they do, or which of the tasks are theirs.
func (q *inquiry) subjectOfNamed() subjectOf {
	ended := len(q.TaskStatuses) > 0 && !slices.ContainsFunc(q.TaskStatuses, operational.TaskStatus.Open)
	if q.ofTaskState() && (q.OfTasks || ended && !q.YesNo && len(q.Stems) == 0) {
		return subjectTasks
	}
	return subjectAgent
}

// subjectOfWords is for questions that name nothing that is stored: their nouns
// and the states that they name decide.
func (q *inquiry) subjectOfWords() subjectOf {
	agentState, taskState := q.ofAgentState(), q.ofTaskState()
	ofAgents, plain := q.OfAgents || q.Who, len(q.Stems) == 0
	switch {
	case q.Mine && !ofAgents && !agentState && plain:
		return subjectTasks
	case q.Idle && ofAgents:
		return subjectAgents
	case q.Who && !plain && !q.Idle && !(agentState && q.OfAgents):
		return subjectHolder
	case agentState && !q.OfTasks && (ofAgents || !taskState && (plain || q.Idle)):
		return subjectAgents
	case ofAgents && !q.OfTasks && !taskState && plain:
		return subjectAgents
	case taskState && (q.OfTasks || q.OfAgents || q.Board || plain):
		return subjectTasks
	case q.OfTasks && plain:
		return subjectTasks
	}
	return subjectText
}
