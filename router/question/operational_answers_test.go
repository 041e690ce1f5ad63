package question_test

import (
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/classify"
)

// TestOperationalAnswers asks questions about the seeded team. want is the
// items in their order; says is what the summary must hold.
func TestOperationalAnswers(t *testing.T) {
	team := seeded(t)
	r := team.router(classify.Classification{Class: classify.ClassOperational, Confidence: 1, Margin: 1}, nil)
	const open = "#4 #1 #2 #3 #5 #9"
	for _, c := range []struct{ query, want, says string }{
		// Agents by state.
		{"which agents are stale?", "blue", "1 agent is stale: blue (12 min ago)."},
		{"What agents are running?", "builder-1 builder-2 red sergeant-1 halted", "5 agents are online"},
		{"who's online", "builder-1 builder-2 red sergeant-1 halted", "5 agents are online"},
		{"active sessions", "builder-1 builder-2 red sergeant-1 halted", "5 agents"},
		{"any agents down", "blue purple", "2 agents are"},
		{"is any agent offline?", "purple", "1 agent is offline: purple"},
		{"is anyone idle", "builder-2 sergeant-1", "2 agents are idle: builder-2, sergeant-1."},
		{"is anyone free", "builder-2 sergeant-1", "idle"},
		{"who has nothing to do?", "builder-2 sergeant-1", "idle"},
		{"which sergeant can take this", "sergeant-1", "1 agent is idle: sergeant-1"},
		{"which agents are online in project router", "builder-1 builder-2", "2 agents in project router are online"},
		{"which agents are stale in project router", "", "No agent in project router is stale."},
		{"agents that have not checked in for ten minutes", "blue purple", "silent for 10 min"},
		{"agents not seen for more than 2 hours", "purple", "silent for 2 h"},
		{"stop requests awaiting an answer", "halted", "told to stop: halted"},
		{"who was told to stop", "halted", "halted"},
		{"are any agents starting up?", "starter", "1 agent is starting"},
		{"which agents are not idle", "builder-1 red halted", "3 agents are busy"},
		{"which agents are busy", "builder-1 red halted", "3 agents are busy"},
		{"what is everyone working on", "builder-1 red halted blue", "builder-1 (importer rewrite)"},
		{"who is doing what", "builder-1 red halted", "3 agents"},
		{"how many agents are online?", "builder-1 builder-2 red sergeant-1 halted", "5 agents are online"},

		{"which agents have no tasks", "builder-2 sergeant-1", "2 agents are idle"},
		{"who hasn't reported in an hour", "purple", "silent for 60 min"},
		{"who has not been seen in the last 5 minutes", "blue purple", "silent for 5 min"},
		{"who is around", "builder-1 builder-2 red sergeant-1 halted", "5 agents are online"},
		{"agents in project shop", "red sergeant-1 halted blue", "4 agents in project shop"},
		{"list agents by status", "builder-1 builder-2 red sergeant-1 halted starter blue purple", "8 agents"},

		// One agent.
		{"what is builder-2 doing", "builder-2", "builder-2 is online, and holds no task."},
		{"what is builder-1 working on right now?", "builder-1 #1", "doing: importer rewrite"},
		{"is purple still running", "purple", "purple is offline, last seen 3 h ago"},
		{"status of blue", "blue #9", "blue is stale"},
		{"is red done with the security sweep", "#3", `task #3 "Security sweep of the shop" is in progress`},
		{"how many tasks does red have", "#2 #3", "2 tasks of red are open"},
		{"show me blocked tasks of red", "#2", "1 task of red is blocked"},
		{"red's finished tasks", "", "No task of red is completed."},
		{"what did builder-1 finish", "#6", "1 task of builder-1 is completed"},
		{"tasks red failed", "#7", "1 task of red is failed"},
		{"tasks assigned to builder-1", "#1", "1 task of builder-1 is assigned"},
		{"what should builder-2 do next", "#4 #5", "Next is #4"},
		{"is Builder-1 online?", "builder-1 #1", "builder-1 is online"},

		// Tasks by status.
		{"what is blocked?", "#2", "1 task is blocked: #2 \"Fix the login form\" by red: needs approval of the captain."},
		{"which tasks are blocked", "#2", "1 task is blocked"},
		{"how many tasks are in progress", "#1 #3 #9", "3 tasks are in progress"},
		{"what is in flight", "#1 #3 #9", "3 tasks"},
		{"current assignments", "#1 #2 #3 #9", "4 tasks"},
		{"does anyone need help", "#2", "1 task is blocked"},
		{"anything that needs me", "#2", "blocked"},
		{"list ready work", "#4 #5", "2 tasks are pending"},
		{"show me the queue", "#4 #5", "2 tasks are pending"},
		{"unassigned bugs", "#4 #5", "2 tasks are unassigned"},
		{"unclaimed tasks in project shop", "#5", "1 task in project shop is unassigned"},
		{"the board, please", open, "6 tasks are open"},
		{"open tasks", open, "6 tasks are open"},
		{"what's left for today", open, "6 tasks are open"},
		{"which tasks are not yet done?", open, "6 tasks are open"},
		{"which tasks have not been finished", open, "6 tasks are open"},
		{"which tasks are not blocked", "#4 #1 #3 #5 #9", "5 tasks are"},
		{"open items older than a week", "#4 #1 #2 #3 #9", "5 tasks are open"},
		{"which tasks were created yesterday", "#5", "1 task is open"},
		{"which tasks created last month are done", "#6 #10", "2 tasks are completed"}, // and were ended later
		{"what did we finish", "#6 #10", "2 tasks are completed"},
		{"what was completed yesterday", "#6", "1 task is completed (yesterday): #6"},
		{"what did we finish last week", "#10", "1 task is completed (last week)"},
		{"failed tasks", "#7", "1 task is failed: #7 \"Deploy to staging\" by red: no route to the registry."},
		{"cancelled tasks", "#8", "1 task is cancelled"},
		{"failed tasks in project router", "", "No task in project router is failed."},
		{"number of open tasks in project shop", "#2 #3 #5", "3 tasks in project shop are open"},

		{"oldest open task", "#1 #2 #3 #4 #9 #5", "6 tasks are open: #1"},
		{"high priority tasks", "#4", "1 task is urgent and open: #4"},
		{"tasks without an owner", "#4 #5", "2 tasks are unassigned"},
		{"are all tasks done?", open, "No: 6 tasks are open"},
		{"recently completed tasks", "#6 #10", "2 tasks are completed"},

		// One task.
		{"is task 9 claimed", "#9", "Yes: task #9"},
		{"is task 1 claimed?", "#1", "Yes: task #1"},
		{"is task 4 claimed", "#4", "No: task #4"},
		{"is task 77 claimed", "", "There is no task 77."},
		{"what is the status of #2?", "#2", "is blocked, held by red"},
		{"how many retries has job 9 used", "#9", "Task #9"},

		// By words.
		{"who works on the importer?", "#1 builder-1", `builder-1 holds #1 "Rewrite the importer"`},
		{"who is editing the readme", "halted", "doing: editing the README"},
		{"who owns the export page at present", "#5", `nobody holds #5 "Export page"`},
		{"status of the importer rewrite", "#1 builder-1", "in progress, held by builder-1, 40 % done"},
		{"who does the deploy of the router to staging", "#7", `red had #7 "Deploy to staging"`},
		{"where are we with the migration", "#6", "is completed by builder-1"},
		{"is anyone working on the docs?", "#4", "nobody holds #4"},

		{"is the importer done", "#1", `No: task #1 "Rewrite the importer" is in progress`},
		{"is the deploy failing", "#7", "Yes: 1 task is failed"},
		{"has anyone claimed the docs", "#4", "nobody holds #4"},
		{"who is the scout", "red", "red is online"},
		{"how much budget is left", "", ""},

		// Next and load.
		{"next highest priority item", "#4 #5", `Next is #4 "Write the docs", priority 5.`},
		{"what's next in the queue", "#4 #5", "Next is #4"},
		{"what should be done next", "#4 #5", "Next is #4"},
		{"can i start a new task", "#4 #5", "Next is #4"},
		{"what's the load on the fleet", "red builder-1 blue builder-2 sergeant-1 halted starter", "5 agents are online (2 idle), 1 stale, 1 offline; 3 tasks are in progress or claimed, 1 blocked, 2 waiting."},
		{"how busy are we", "red builder-1 blue builder-2 sergeant-1 halted starter", "5 agents are online"},
		{"queue depth per worker", "red builder-1 blue builder-2 sergeant-1 halted starter", "2 waiting"},

		{"what's going on", "red builder-1 blue builder-2 sergeant-1 halted starter", "5 agents are online"},
		{"what can i work on", "#4 #5", "Next is #4"},

		// Messages.
		{"unread messages for red", "red", "3 messages wait for red."},
		{"how many messages wait for builder-2", "builder-2", "No message waits for builder-2."},
		{"who has unread messages", "red blue", "4 messages wait: red (3), blue (1)."},
		{"overdue messages", "m1 m2", "2 messages are overdue: stop from captain to red"},
		{"messages overdue for more than an hour", "m2", "1 message is overdue"},
	} {
		answer, err := r.Ask(principal.With(t.Context(), principal.Open()), router.Query{Query: c.query})
		if err != nil {
			t.Errorf("%q: %v", c.query, err)
			continue
		}
		if got := team.called(answer); !strings.HasPrefix(got+" ", c.want+" ") || !strings.Contains(answer.Summary, c.says) {
			t.Errorf("%q\n  has   %s\n  want  %s\n  says  %s\n  want  %s", c.query, got, c.want, answer.Summary, c.says)
		}
		if answer.Count != len(answer.Items) || answer.Items == nil || answer.QueryType != classify.ClassOperational || answer.Source != router.SourceOperational {
			t.Errorf("%q: count %d of %d items, type %s, source %s", c.query, answer.Count, len(answer.Items), answer.QueryType, answer.Source)
		}
		if (answer.Miss != nil) != (c.want == "" && answer.Summary == "") {
			t.Errorf("%q: the miss is %+v", c.query, answer.Miss)
		}
	}
}

// TestMyQuestions asks as an agent.
func TestMyQuestions(t *testing.T) {
	team := seeded(t)
	r := team.router(classify.Classification{Class: classify.ClassOperational, Confidence: 1, Margin: 1}, nil)
	red := principal.Principal{AgentID: "red", Scopes: []principal.Scope{principal.ScopeAgent}}
	for _, c := range []struct{ query, want, says string }{
		{"what am i supposed to be doing", "red #2 #3", "red is online"},
		{"my blocked tasks", "#2", "1 task of red is blocked"},
		{"did my job start yet", "#3", "1 task of red is in progress"},
		{"do i have unread messages", "red", "3 messages wait for red."},
		{"unread messages for blue", "", "Only an agent itself, or a captain"},
		{"who has unread messages", "red", "red (3)"},
		{"overdue messages", "", "No message is overdue."},
	} {
		answer, err := r.Ask(principal.With(t.Context(), red), router.Query{Query: c.query})
		if err != nil {
			t.Errorf("%q: %v", c.query, err)
			continue
		}
		if got := team.called(answer); !strings.HasPrefix(got+" ", c.want+" ") || !strings.Contains(answer.Summary, c.says) {
			t.Errorf("%q\n  has   %s\n  want  %s\n  says  %s\n  want  %s", c.query, got, c.want, answer.Summary, c.says)
		}
	}
}
