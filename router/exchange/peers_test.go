package exchange_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/exchange"
)

// tasks are the records of beads' lines, and what was said of the others.
func tasks(t *testing.T, text string, o exchange.Options) (tasks []operational.Task, others []string) {
	t.Helper()
	items, err := read(t, "beads", text, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range items {
		if task, is := i.Record.Memory.(*operational.Task); is {
			tasks = append(tasks, *task)
		} else {
			others = append(others, shown(i))
		}
	}
	return tasks, others
}

// TestBeads reads lines as three versions of beads write them.
func TestBeads(t *testing.T) {
	text := "\ufeff" + strings.Join([]string{
		// 0.2x: no priority is the most urgent, comments have numbers
		`{"id":"ab-1","title":"Add the columns","description":"ALTER TABLE","status":"closed","issue_type":"task","created_at":"2025-12-18T02:02:00.468223-08:00","updated_at":"2025-12-18T02:49:10.575133-08:00","closed_at":"2025-12-18T02:49:10.575133-08:00","close_reason":"merged","dependencies":[{"issue_id":"ab-1","depends_on_id":"ab-9","type":"parent-child","created_at":"2025-12-18T02:02:00Z","created_by":"daemon"}],"comments":[{"id":1,"issue_id":"ab-1","author":"jason","text":"Looks right","created_at":"2025-11-27T08:56:05Z"}]}`,
		`{"id":"ab-2","title":"Use  the\ncolumns","description":"","design":"One query.","acceptance_criteria":"- fast","notes":"seen","status":"open","priority":3,"issue_type":"feature","labels":["ui","db"],"created_at":"2025-12-17T21:19:11.124496-08:00","updated_at":"2025-12-17T21:19:11.124496-08:00","dependencies":[{"issue_id":"ab-2","depends_on_id":"ab-1","type":"blocks"},{"issue_id":"ab-2","depends_on_id":"ab-3","type":"blocks"},{"issue_id":"ab-2","depends_on_id":"ab-1","type":"discovered-from"}]}`,
		`{"id":"ab-4","title":"Gone","status":"tombstone","priority":2,"issue_type":"bug","created_at":"2025-12-16T13:26:47Z","updated_at":"2025-12-17T16:11:17Z","deleted_at":"2025-12-17T16:11:17Z"}`,
		// 0.5x, a table's row: null and numbers for what is not there, comments with ids that are texts
		`{"acceptance_criteria":"","assignee":"builder-1","close_reason":"","closed_at":null,"created_at":"2026-02-26T01:48:05Z","created_by":"mayor","defer_until":null,"description":"d","ephemeral":0,"estimated_minutes":null,"id":"ab-5","is_template":0,"issue_type":"feature","priority":9,"status":"in_progress","title":"Break the circuit","updated_at":"2026-02-27T23:31:00Z","comments":[{"id":"019c","author":"","text":"now","created_at":"2026-02-27T23:31:00Z"}]}`,
		// 1.x
		`{"_type":"issue","id":"ab-6","title":"Later","status":"deferred","priority":4,"issue_type":"chore","assignee":"team/a b","defer_until":"2026-06-01T00:00:00Z","created_at":"2026-03-01T00:00:00Z","updated_at":"2026-03-01T00:00:00Z"}`,
		`{"_type":"memory","key":"port","value":"The dashboard listens on a port. Nothing else may."}`,
		`{"_type":"schema","version":1}`,
		`{"id":"ab-7","title":"hello","status":"open","issue_type":"message"}`,
		`{"title":"nameless","status":"open"}`,
		`{"id":"ab-8","title":7,"priority":"2","labels":"[\"a\"]"}`,
		`[{"id":"ab-1"}]`,
		"{\"id\":\"ab-\xe9\"}",
		`{"id":"ab-10","title":"cut`,
	}, "\r\n")
	got, others := tasks(t, text, exchange.Options{Project: "demo", Agent: "me"})
	wanted := []string{
		"line 3 skipped: was deleted in beads",
		"line 6 pattern|The dashboard listens on a port.|The dashboard listens on a port. Nothing else may.|beads", "line 7 skipped: is no issue",
		"line 8 skipped: is no work: its type is message", "line 9 refused: id is required",
		"line 11 refused: is a JSON array; each line has one object (jq -c '.[]' writes them so)",
		"line 12 refused: is not valid UTF-8", "line 13 refused: is truncated: it is not finished JSON",
	}
	if diff := cmp.Diff(wanted, others); diff != "" {
		t.Errorf("the others (-want +got):\n%s", diff)
	}
	var short [][]string
	for _, task := range got {
		short = append(short, []string{task.Title, string(task.Status), task.AgentID, task.CreatedBy, task.Project, task.Description, task.Result + task.BlockedReason})
	}
	if diff := cmp.Diff([][]string{
		{"Add the columns", "completed", "", "me", "demo", "ALTER TABLE\n\njason: Looks right\n\n(task ab-1 of beads; part of ab-9)", "merged"},
		{"Use the columns", "pending", "", "me", "demo", "## Design\n\nOne query.\n\n## Acceptance criteria\n\n- fast\n\n## Notes\n\nseen\n\n(feature ab-2 of beads; labels: ui, db; discovered-from ab-1)", ""},
		{"Break the circuit", "in_progress", "builder-1", "mayor", "demo", "d\n\nComment: now\n\n(feature ab-5 of beads)", ""},
		{"Later", "blocked", "", "me", "demo", "(chore ab-6 of beads; assigned to team/a b)", "deferred in beads until 2026-06-01T00:00:00Z"},
		{"7", "pending", "", "me", "demo", "(issue ab-8 of beads; labels: a)", ""},
	}, short); diff != "" {
		t.Errorf("tasks (-want +got):\n%s", diff)
	}
	if p := []int{got[0].Priority, got[1].Priority, got[2].Priority, got[3].Priority}; !slices.Equal(p, []int{10, -5, -10, -10}) {
		t.Errorf("priorities %v", p)
	}
	if len(got[1].After) != 2 || got[1].After[0] != got[0].ID || got[0].FinishedAt == nil || got[0].FinishedAt.Unix() != 1766054950 {
		t.Errorf("%+v waits for %v", got[0], got[1].After)
	}
	if again, _ := tasks(t, text, exchange.Options{Project: "demo"}); again[1].ID != got[1].ID {
		t.Error("the same issue is another task")
	}
	if other, _ := tasks(t, text, exchange.Options{Project: "other"}); other[1].ID == got[1].ID {
		t.Error("the issues of two projects are one task")
	}
}

// TestBeadsFolder reads the issues of a repository, and not the older copies.
func TestBeadsFolder(t *testing.T) {
	line := []byte(`{"id":"ab-1","title":"T"}`)
	folder := fstest.MapFS{
		".beads/issues.jsonl": {Data: line}, ".beads/deletions.jsonl": {Data: line}, ".beads/backup/issues.jsonl": {Data: line}, ".git/issues.jsonl": {Data: line},
		".beads/beads.jsonl": {Data: []byte("/etc/passwd"), Mode: 0o777 | 1<<27},
	}
	f, _ := exchange.FormatOf("beads")
	var got []string
	if err := f.ReadFolder(folder, exchange.Options{}, func(i exchange.Item) bool {
		got = append(got, shown(i))
		return true
	}); err != nil {
		t.Fatal(err)
	}
	if want := []string{".beads/beads.jsonl refused: is no regular file", ".beads/issues.jsonl, line 1 task"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// TestClaudeMem reads an export as two versions write it; lists may stand as texts.
func TestClaudeMem(t *testing.T) {
	text := `{"exportedAt":"2026-01-03T10:00:00Z","query":"x","totalObservations":3,
		"observations":[
		 {"id":7,"memory_session_id":"m-1","project":"shop","text":null,"type":"bugfix","title":"Login fails","subtitle":"A token is old","facts":"[\"The clock was off\",\"NTP mends it\"]","narrative":"The clock of the host was off.","concepts":"[\"problem-solution\"]","files_read":"[]","files_modified":"[\"auth.go\"]","prompt_number":2,"discovery_tokens":10,"created_at":"2026-01-02T10:00:00.000Z","created_at_epoch":1767348000000},
		 {"id":8,"sdk_session_id":"m-2","project":"shop-fix-1","merged_into_project":"shop","text":"Old text","type":"decision","title":null,"facts":["a"],"concepts":null,"created_at":"2026-01-02T11:00:00.000Z","created_at_epoch":1767351600000},
		 {"id":9,"memory_session_id":"m-1","type":"change","created_at":"x"}, {"id":"ten"}],
		"sessions":[{"id":1,"content_session_id":"c-1","memory_session_id":"m-1","project":"shop","user_prompt":"p"}, 5],
		"summaries":[{"id":1,"memory_session_id":"m-1","project":"shop","request":"Mend the login","learned":"Clocks drift.","completed":"Login works","next_steps":null,"created_at_epoch":1767348000000},{"id":2}],
		"prompts":[{"id":1,"content_session_id":"c-1","prompt_number":1,"prompt_text":"Why does the login fail?","created_at":"2026-01-02T10:00:00.000Z","created_at_epoch":1767348000000},
		 {"id":2,"claude_session_id":"c-9","prompt_number":1,"prompt_text":"Hm?"}],
		"directives":[{"id":1,"scope":"project","project":"shop","content":"Use tabs.","status":"active"},{"id":2,"content":"No.","status":"paused"}]}`
	items, err := read(t, "claude-mem", text, exchange.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range items {
		got = append(got, shown(i))
	}
	if diff := cmp.Diff([]string{
		`observations[0] error_solution|Login fails|A token is old\n\nThe clock of the host was off.\n\n- The clock was off\n- NTP mends it\n\nFiles: auth.go|claude-mem,problem-solution`,
		`observations[1] decision|Old text|Old text\n\n- a|claude-mem`,
		"observations[2] refused: narrative is required, or text, title or facts", "observations[3] refused: narrative is required, or text, title or facts",
		"summaries[0] episode outcome|Session: Mend the login|Learned: Clocks drift.\n\nCompleted: Login works", "summaries[1] skipped: is a summary without words",
		"prompts[0] episode action|Asked: Why does the login fail?|Why does the login fail?", "prompts[1] episode action|Asked: Hm?|Hm?",
		"directives[0] best_practice|Use tabs.|Use tabs.|claude-mem,directive", "directives[1] skipped: is a directive that is paused",
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if k := items[0].Record.Memory.(*knowledge.Knowledge); k.Project != "shop" || k.CreatedAt.Unix() != 1767348000 || k.Source != "claude-mem observation 7, session m-1" {
		t.Errorf("%+v", k)
	}
	if k := items[1].Record.Memory.(*knowledge.Knowledge); k.Project != "shop" {
		t.Errorf("a worktree's observation is of the project %s, not of its repository's", k.Project)
	}
	if e := items[6].Record.Memory.(*experience.EpisodeRecord); e.Project != "shop" || e.SessionID != "c-1" {
		t.Errorf("%+v", e)
	}
	for text, wrong := range map[string]string{
		"": "truncated", "[]": "no JSON object", "{}": "neither observations", text[:900]: "truncated", `{"observations":7}`: "is no list",
	} {
		if _, err := read(t, "claude-mem", text, exchange.Options{}); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

func FuzzBeads(f *testing.F) {
	fuzz(f, "beads", `{"id":"a-1","title":"t","status":"closed","dependencies":[{"depends_on_id":"a-2"}]}`, `{"_type":"memory","value":"x"}`, `{"dependencies":[null]}`)
}

func FuzzClaudeMem(f *testing.F) {
	fuzz(f, "claude-mem", `{"observations":[{"title":"t","facts":"[1]","created_at_epoch":"x"}],"prompts":[{}],"sessions":[{}]}`, `{"summaries":[{"learned":"x"}]}`)
}
