package router

import (
	"strings"
	"sync"

	"skillrouter/operational"
	"skillrouter/router/classify"
)

// cue is a group of ways to say one thing about state, and what it says.
type cue struct {
	phrases []string
	says    func(q *inquiry)
}

// says splits a cue's phrases at the bars.
func cues(phrases string, says func(q *inquiry)) cue {
	c := cue{says: says}
	for p := range strings.SplitSeq(phrases, "|") {
		c.phrases = append(c.phrases, strings.TrimSpace(p))
	}
	return c
}

func agentState(s operational.AgentState) func(*inquiry) {
	return func(q *inquiry) { q.AgentStates = append(q.AgentStates, s) }
}

func taskStatus(s ...operational.TaskStatus) func(*inquiry) {
	return func(q *inquiry) { q.TaskStatuses = append(q.TaskStatuses, s...) }
}

// weakly is for words that add to a question which names a status already
// ("failed jobs waiting for a retry") and name one only if nothing else does.
func weakly(s ...operational.TaskStatus) func(*inquiry) {
	return func(q *inquiry) {
		if len(q.weak) == 0 {
			q.weak = s
		}
	}
}

// betweenNot stands between a "not" and what it denies, and says nothing.
var betweenNot = classify.WordSet("yet been being fully all completely entirely actually currently really")

// denied has each "not" stand right before what it denies: "not yet been fixed" is "not fixed".
func denied(words []string) (plain []string) {
	for _, w := range words {
		if !betweenNot[w] || len(plain) == 0 || plain[len(plain)-1] != "not" {
			plain = append(plain, w)
		}
	}
	return plain
}

// cueTable is how questions name states, in the order in which they are looked
// for: what has more words comes before the words it is made of. Words that
// can be said of agents and of tasks stand under both; what else the question
// names decides which is meant.
var cueTable = sync.OnceValue(func() []cue {
	return []cue{
		// Of agents.
		cues("not checked in|not been seen|not seen|unseen|not heard from|not responding|not reporting|not reported|not reported in|missed heartbeats|missed heartbeat|missing heartbeats|gone quiet|went quiet|stale|silent|quiet|unresponsive|hanging|hung", agentState(operational.AgentStale)),
		cues("stop requests|stop request|asked to stop|told to stop|should stop|have to stop|being stopped|shutting down", func(q *inquiry) { q.Stopping = true }),
		cues("not idle|not free|not available", func(q *inquiry) { q.Busy = true }),
		cues("nothing to do|without work|without a task|without tasks|has no task|have no task|have no tasks|not working|not busy|can take|could take|take on|spare|free|idle|available|unoccupied", func(q *inquiry) { q.Idle = true }),
		cues("shut down|not running|not online|not up|not alive|offline|down|dead|disconnected|unreachable|gone|away|missing", agentState(operational.AgentOffline)),
		cues("starting up|starting|booting|launching|coming up", agentState(operational.AgentStarting)),
		cues("checked in|online|alive|connected|reachable|responding|awake|is here|are here|around|running|active|up", agentState(operational.AgentOnline)),
		cues("going on|happening|how busy|load|workload|capacity|utilization|utilisation|queue depth|throughput|overview", func(q *inquiry) { q.Load = true }),
		cues("busy|occupied|working on what|doing what", func(q *inquiry) { q.Busy = true }),

		// Of tasks.
		cues("questions for the human|question for the human|questions for me|needs a decision|need a decision|needs a human|need a human|needs input|need input|needs attention|need attention|needs help|need help|needs me|need me|for the human", taskStatus(operational.TaskBlocked)),
		cues("waiting for me|waiting on me|waiting for|waiting on|waits for|waits on", weakly(operational.TaskBlocked)),
		cues("not blocked|not stuck", taskStatus(operational.TaskPending, operational.TaskClaimed, operational.TaskInProgress)),
		cues("on hold|held up|cannot continue|blocked|blocking|blockers|blocker|stuck|impediments|impediment", taskStatus(operational.TaskBlocked)),
		cues("not started|not claimed|unstarted|up for grabs|pending|queued", taskStatus(operational.TaskPending)),
		cues("in the queue|waiting|ready|planned|queue|backlog|to do|todo", weakly(operational.TaskPending)),
		cues("not assigned|without an owner|without owner|without a holder|nobody has|nobody holds|nobody owns|no owner|no holder|nobody works on|nobody is working on|unassigned|unclaimed|unowned|orphaned", func(q *inquiry) {
			q.Unheld = true
			q.TaskStatuses = append(q.TaskStatuses, operational.TaskPending)
		}),
		cues("in progress|in flight|under way|underway|ongoing|wip|being worked on|worked on|being done|running|active|current", taskStatus(operational.TaskClaimed, operational.TaskInProgress)),
		cues("started|start", weakly(operational.TaskClaimed, operational.TaskInProgress)),
		cues("assignments|assignment|assigned|taken|held", taskStatus(operational.TaskClaimed, operational.TaskInProgress, operational.TaskBlocked)),
		cues("claimed", taskStatus(operational.TaskClaimed)),
		cues("not done|not finished|not completed|not complete|not closed|not shipped|not delivered|still to do|unfinished|outstanding|remaining|incomplete|unresolved|open|left", weakly(operational.OpenTaskStatuses()...)),
		cues("accomplished|completed|complete|finished|finish|closed|done|shipped|delivered", taskStatus(operational.TaskCompleted)),
		cues("went wrong|failed|failing|failures|failure|fail|errored|broken|unsuccessful|crashed", taskStatus(operational.TaskFailed)),
		cues("cancelled|canceled|dropped|abandoned|aborted", taskStatus(operational.TaskCancelled)),
		cues("next in the queue|next in line|up next|what is next|comes next|be done next|do next|work on next|pick up next|take next|start next|next highest priority|highest priority|most urgent|next|start a new task|start something new|start a task|can i work on|should i work on|can i do|should i do|something to do|anything to do|some work|need work", func(q *inquiry) { q.Next = true }),
		cues("high priority|top priority|urgent|important", func(q *inquiry) { q.Priority = 1 }),
		cues("low priority|unimportant", func(q *inquiry) { q.Priority = -1 }),
		cues("oldest|longest", func(q *inquiry) { q.Age = 1 }),
		cues("newest|youngest|latest|most recent", func(q *inquiry) { q.Age = -1 }),
		cues("the board|task list|todo list", func(q *inquiry) { q.Board = true }),

		// Of messages.
		cues("not acknowledged|unacknowledged|unacked|unread|undelivered", func(q *inquiry) { q.Mail = true }),
		cues("awaiting an answer|awaiting an acknowledgement|awaiting acknowledgement|overdue", func(q *inquiry) { q.Overdue = true }),
	}
})

// The nouns and pronouns that say what a question is about. They carry nothing else.
var (
	agentNouns = classify.WordSet("agent agents bot bots worker workers fleet team crew session sessions process processes anyone anybody everyone everybody someone somebody nobody colleague colleagues")
	taskNouns  = classify.WordSet("task tasks job jobs work ticket tickets item items issue issues todo todos bug bugs card cards story stories assignment assignments queue backlog board piece pieces chore chores")
	mailNouns  = classify.WordSet("message messages mail mails inbox inboxes mailbox mailboxes signal signals acknowledgement acknowledgements")
	// holdVerbs say that somebody has a task.
	holdVerbs = classify.WordSet("work works working worked own owns owning owner hold holds holding holder handle handles handling edit edits editing do does doing took take takes taking claim claims claimed responsible assigned charge fix fixes fixing build builds building write writes writing busy")
	// askVerbs ask about progress and carry nothing else.
	askVerbs = classify.WordSet("status state progress percentage percent far stand stands going go eta look looks looking plate supposed please answer want wants keep keeps kept need needs show list give next still yet total overall created added opened filed new")
)
