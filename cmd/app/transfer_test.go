package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/client/clienttest"
	"github.com/skillrouter/skillrouter/router/transfer"
)

// transferring is a router in this process, and a client of it.
func transferring(t *testing.T) *client.Client { return transferringIn(t, settings(t)) }

func transferringIn(t *testing.T, cfg config.Config) *client.Client {
	t.Helper()
	a, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	c, err := client.New(a.URL(), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return c
}

func exported(t *testing.T, c *client.Client, query transfer.ExportQuery) (records []transfer.Record) {
	t.Helper()
	if err := clienttest.Export(t.Context(), c, query, func(r transfer.Record) error {
		records = append(records, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return records
}

func call(t *testing.T, c *client.Client, method, path, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, c.BaseURL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		said, _ := io.ReadAll(answer.Body)
		t.Fatalf("%s %s: %s %s", method, path, answer.Status, said)
	}
}

// teach has a router remember something of every kind, through its ordinary doors.
func teach(t *testing.T, c *client.Client) {
	t.Helper()
	post := func(path, body string) { t.Helper(); call(t, c, http.MethodPost, path, body) }
	post("/api/knowledge", `{"category":"gotcha","title":"Wiped","content":"The staging database is wiped\nat \"two\" <b>.","tags":["db","night"],"agent_id":"builder","project":"shop","source":"runbook.md"}`)
	post("/api/knowledge", `{"id":"my/own id","category":"pattern","title":"Ünïcode","content":"😀"}`)
	post("/api/episodes", `{"agent_id":"builder","event_type":"decision","title":"Chose SQLite","content":"One file.","project":"shop","importance":0.9}`)
	post("/api/episodes", `{"agent_id":"builder","event":"mrr-drop","persona":"analyst","context":{"a":1},"learned":"Look at churn first."}`)
	for i := range 4 {
		post("/api/experience", fmt.Sprintf(`{"operation_type":"deploy","outcome":"failure","problem":{"query":"port %d is taken"},"solution":{"approach":"free it"},"metadata":{"environment":"ci"},"quality_score":0.25,"duration_ms":12,"notes":"n","agent_id":"builder","project":"shop"}`, i))
	}
	post("/lessons/report", `{"lesson_type":"failure","domain":"ops","category":"db","title":"Migrations lock the table","context":"c","action_taken":"a","outcome":"o","solution":"Do it at night","severity":"high","source_agent":"builder","tags":["sql"],"project":"shop"}`)
	post("/lessons/report", `{"lesson_type":"failure","domain":"ops","category":"db","title":"Migrations lock the table","context":"c","action_taken":"a","outcome":"o","source_agent":"tester"}`)
	post("/lessons/report", `{"lesson_type":"anti_pattern","domain":"ops","category":"shell","title":"Never force-push to main","context":"c","action_taken":"git push --force origin main","outcome":"History was lost","severity":"critical","related_commands":["git push --force origin main"]}`)
	call(t, c, http.MethodPut, "/api/facts/default/db.schema", `{"value":{"b":1.50,"a":[1,"x"]},"ttl":3600,"category":"schemas","probe":"psql","agent_id":"builder"}`)
	call(t, c, http.MethodPut, "/api/facts/analyst/for.ever", `{"value":"yes","ttl":0}`)
	call(t, c, http.MethodPut, "/api/procedures/default/release", `{"description":"Release it","category":"ops","params":[{"name":"v"}],"steps":[{"name":"tag","run":"git tag {{v}}"},{"action":"Tell the team","on_failure":"continue"}],"agent_id":"builder"}`)
	post("/api/reminders", `{"task":"Renew the certificate","trigger":"time:+3h","agent_id":"builder","created_by":"builder","project":"shop","context":{"host":"x"}}`)
	post("/api/reminders", `{"task":"Look at the queue","trigger":"cron:0 9 * * MON-FRI","timezone":"Europe/Berlin"}`)
	post("/api/reminders", `{"task":"Check the deploy","trigger":"event:deployment"}`)
	post("/api/tasks", `{"title":"Build the image","description":"d","priority":2,"agent_id":"builder","created_by":"builder","project":"shop"}`)
	post("/api/tasks", `{"title":"Deploy it","after":["#1"]}`)
}

// promised is what a record is to keep on its way: all but the numbers and versions
// that a router gives, and its trust, which is what comes from elsewhere has.
func promised(t *testing.T, records []transfer.Record) (all []map[string]any) {
	t.Helper()
	for _, r := range records {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var members map[string]any
		if err := json.Unmarshal(text, &members); err != nil {
			t.Fatal(err)
		}
		delete(members, "trust")
		delete(members, "confidence") // decays between two exports
		switch r.Kind {
		case router.KindFact:
			delete(members, "version")
		case router.KindProcedure:
			delete(members, "file") // written by itself, a moment later
		}
		all = append(all, members)
	}
	return all
}

func TestExportImportRoundTrip(t *testing.T) {
	from, to := transferring(t), transferring(t)
	teach(t, from)
	records := exported(t, from, transfer.ExportQuery{})
	found := map[string]int{}
	for _, r := range records {
		found[r.Kind]++
	}
	for _, kind := range transfer.Kinds() {
		if found[kind] == 0 {
			t.Errorf("no %s is exported: %v", kind, found)
		}
	}

	dry, err := client.Send(t.Context(), to, transfer.Service.Import, transfer.ImportRequest{Records: records, DryRun: true})
	if err != nil || dry.Stored != len(records) || len(exported(t, to, transfer.ExportQuery{})) != 0 {
		t.Fatalf("a dry run: %+v, %v", dry, err)
	}
	imported, err := client.Send(t.Context(), to, transfer.Service.Import, transfer.ImportRequest{Records: records})
	if err != nil || imported.Stored != len(records) {
		t.Fatalf("%+v, %v", imported, err)
	}
	again := exported(t, to, transfer.ExportQuery{})
	if diff := cmp.Diff(promised(t, records), promised(t, again)); diff != "" {
		t.Errorf("what arrived differs (-sent +arrived)\n%s", diff)
	}
	for _, r := range again {
		if k, ok := r.Memory.(*knowledge.Knowledge); ok && k.Trust != "imported" {
			t.Errorf("what came from elsewhere is trusted as %q", k.Trust)
		}
	}
	// Once more costs nothing.
	for _, dryRun := range []bool{true, false} {
		if twice, err := client.Send(t.Context(), to, transfer.Service.Import, transfer.ImportRequest{Records: records, DryRun: dryRun}); err != nil || twice.Duplicates != len(records) {
			t.Errorf("the second time, dry run %v: %+v, %v", dryRun, twice, err)
		}
	}
	// Neither does what comes back to where it began, from there or by way of another router.
	for _, back := range [][]transfer.Record{records, again} {
		if home, err := client.Send(t.Context(), from, transfer.Service.Import, transfer.ImportRequest{Records: back}); err != nil || home.Duplicates != len(records) {
			t.Errorf("back home: %+v, %v", home, err)
		}
	}
	// It is found, and guards.
	results, err := client.Send(t.Context(), to, knowledge.Service.Search, searchFor("staging database wiped"))
	if err != nil || results.Count != 1 {
		t.Errorf("%+v, %v", results, err)
	}
	status, said := checkAction(t, to, "git push --force origin main")
	if status != http.StatusOK || !strings.Contains(said, "Never force-push to main") {
		t.Errorf("the rule that came along does not guard: %d %s", status, said)
	}
}

// TestProposedRulesUndone: a rule that nobody has confirmed guards nobody, so that taking it back takes no person; any other lesson does.
func TestProposedRulesUndone(t *testing.T) {
	to := transferring(t)
	for _, proposed := range []bool{true, false} {
		line := fmt.Sprintf(`{"kind":"lesson","id":"rule-%t","lesson_type":"anti_pattern","domain":"d","category":"c","title":"Never %[1]t","context":"x","action_taken":"a","outcome":"o","severity":"high","related_commands":["wipe-%[1]t --all"],"proposed":%[1]t}`, proposed)
		record, err := transfer.DecodeRecord("lesson", []byte(line))
		if err != nil {
			t.Fatal(err)
		}
		imported, err := client.Send(t.Context(), to, transfer.Service.Import, transfer.ImportRequest{Records: []transfer.Record{record}})
		if err != nil || imported.Stored != 1 {
			t.Fatalf("%+v, %v", imported, err)
		}
		if _, err := client.SendTo(t.Context(), to, transfer.Service.Undo, imported.ImportID, transfer.UndoDraft{}); (err == nil) != proposed {
			t.Errorf("proposed %t: %v", proposed, err)
		}
	}
}

// TestImportUndone: an import is taken back by its id, what was there and what was changed since stays.
func TestImportUndone(t *testing.T) {
	cfg := settings(t)
	from, to := transferring(t), transferringIn(t, cfg)
	person := asPerson(t, cfg, to.BaseURL()) // an import's rules guard everybody, so that taking them back takes one
	teach(t, from)
	call(t, to, http.MethodPost, "/api/knowledge", `{"category":"c","title":"Mine","content":"It was here before."}`)
	call(t, to, http.MethodPost, "/api/knowledge", `{"id":"my/own id","category":"pattern","title":"Ünïcode","content":"Ours"}`)
	records := exported(t, from, transfer.ExportQuery{})
	half := len(records) / 2
	dry, err := client.Send(t.Context(), to, transfer.Service.Import, transfer.ImportRequest{Records: records, DryRun: true})
	if err != nil || dry.ImportID != "" {
		t.Fatalf("a dry run: %+v, %v", dry, err)
	}
	first, err := client.Send(t.Context(), to, transfer.Service.Import, transfer.ImportRequest{Records: records[:half], Source: "jsonl team.jsonl"})
	if err != nil || first.ImportID == "" {
		t.Fatalf("the first part: %+v, %v", first, err)
	}
	second, err := client.Send(t.Context(), to, transfer.Service.Import, transfer.ImportRequest{Records: records[half:], ImportID: first.ImportID})
	if err != nil || second.ImportID != first.ImportID || first.Duplicates != 1 {
		t.Fatalf("the second part: %+v, %v; duplicates of the first: %d", second, err, first.Duplicates)
	}
	if again, err := client.Send(t.Context(), to, transfer.Service.Import, transfer.ImportRequest{Records: records}); err != nil || again.ImportID != "" || again.Stored != 0 {
		t.Fatalf("the same again: %+v, %v", again, err)
	}
	stored := first.Stored + second.Stored
	page, err := client.Send(t.Context(), to, transfer.Service.Imports, transfer.ImportFilter{})
	if err != nil || page.Count != 1 || page.Imports[0].Stored != int64(stored) || page.Imports[0].Left != int64(stored) || page.Imports[0].Source != "jsonl team.jsonl" {
		t.Fatalf("the list: %+v, %v", page, err)
	}

	wiped, err := client.Send(t.Context(), to, knowledge.Service.Search, searchFor("staging database wiped")) // which counts as a use
	if err != nil || wiped.Count == 0 {
		t.Fatal(wiped, err)
	}
	call(t, to, http.MethodPatch, "/api/facts/analyst/for.ever", `{"value":"no"}`)
	undone, err := client.SendTo(t.Context(), person, transfer.Service.Undo, first.ImportID, transfer.UndoDraft{})
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]bool{}
	for _, k := range undone.Skipped {
		kept[k.Kind+" "+k.ID] = true
	}
	want := map[string]bool{"knowledge " + wiped.Results[0].ID: true, "fact analyst/for.ever": true}
	if diff := cmp.Diff(want, kept); diff != "" || undone.Undone != stored-len(want) || undone.Gone != 0 {
		t.Errorf("kept (-want +got):\n%s\nof %d: %+v", diff, stored, undone)
	}
	if page, err = client.Send(t.Context(), to, transfer.Service.Imports, transfer.ImportFilter{}); err != nil || page.Imports[0].Left != int64(len(want)) || page.Imports[0].UndoneAt == nil {
		t.Errorf("the list then: %+v, %v", page, err)
	}
	if all, err := client.SendTo(t.Context(), person, transfer.Service.Undo, first.ImportID, transfer.UndoDraft{Force: true}); err != nil || all.Undone != len(want) || len(all.Skipped) != 0 {
		t.Errorf("by force: %+v, %v", all, err)
	}
	var left []string
	for _, r := range exported(t, to, transfer.ExportQuery{}) {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var one struct{ Title, Status, Kind string }
		if err := json.Unmarshal(text, &one); err != nil {
			t.Fatal(err)
		}
		if one.Status == "retired" || one.Status == "deprecated" || one.Status == "cancelled" {
			continue
		}
		left = append(left, one.Kind+" "+one.Title)
	}
	if diff := cmp.Diff([]string{"knowledge Mine", "knowledge Ünïcode"}, left); diff != "" {
		t.Errorf("what is left (-want +got):\n%s", diff)
	}
	if code, said := checkAction(t, to, "git push --force origin main"); strings.Contains(said, "Never force-push") {
		t.Errorf("the import's rule still judges: %d %s", code, said)
	}
	if _, err := client.SendTo(t.Context(), person, transfer.Service.Undo, "01a20974-ab77-7ad9-9f59-27941e7af07f", transfer.UndoDraft{}); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("an unknown import: %v", err)
	}
}

func TestExportSelects(t *testing.T) {
	c := transferring(t)
	teach(t, c)
	for _, r := range exported(t, c, transfer.ExportQuery{Project: "shop"}) {
		text, _ := json.Marshal(r)
		if !strings.Contains(string(text), `"project":"shop"`) {
			t.Errorf("of another project: %s", text)
		}
	}
	kinds := []string{router.KindFact, router.KindLesson}
	for _, r := range exported(t, c, transfer.ExportQuery{Kinds: kinds}) {
		if !slices.Contains(kinds, r.Kind) {
			t.Errorf("a %s was not asked for", r.Kind)
		}
	}
	for _, query := range []transfer.ExportQuery{{Kinds: []string{"x"}}, {Kinds: []string{router.KindFact}, Project: "shop"}, {Project: "\x00"}} {
		if err := clienttest.Export(t.Context(), c, query, func(transfer.Record) error { return nil }); errs.CodeOf(err) != errs.Invalid {
			t.Errorf("%+v: %v", query, err)
		}
	}
}

// TestImportRefuses sends records with one thing wrong each, beside good ones.
func TestImportRefuses(t *testing.T) {
	c := transferring(t)
	tests := []struct{ name, record, field string }{
		{"no kind", `{"id":"x"}`, "kind"},
		{"another kind", `{"kind":"agent"}`, "kind"},
		{"no object", `[1]`, ""},
		{"a member that there is not", `{"kind":"knowledge","category":"c","content":"x","colour":"red"}`, ""},
		{"a wrong type", `{"kind":"knowledge","category":"c","content":5}`, "content"},
		{"no content", `{"kind":"knowledge","category":"c"}`, "content"},
		{"a content that is too long", `{"kind":"knowledge","category":"c","content":"` + strings.Repeat("x", 1<<20+1) + `"}`, "content"},
		{"a NUL", `{"kind":"knowledge","category":"c","content":"a\u0000b"}`, "content"},
		{"an author that is none", `{"kind":"knowledge","category":"c","content":"x","agent_id":"a b"}`, "agent_id"},
		{"a count below zero", `{"kind":"knowledge","category":"c","content":"x","use_count":-1}`, "use_count"},
		{"an episode without an id", `{"kind":"episode","event_type":"action","title":"t","content":"c"}`, "id"},
		{"an event type that there is not", `{"kind":"episode","id":"e","event_type":"party","title":"t","content":"c"}`, "event_type"},
		{"an importance above one", `{"kind":"episode","id":"e","event_type":"action","title":"t","content":"c","importance":2}`, "importance"},
		{"an outcome that there is not", `{"kind":"episode","id":"e","event_type":"action","title":"t","content":"c","experience":{"operation_type":"o","outcome":"maybe"}}`, "outcome"},
		{"a lesson whose id is a number", `{"kind":"lesson","id":"5","lesson_type":"failure","domain":"d","category":"c","title":"t"}`, "id"},
		{"a lesson type that there is not", `{"kind":"lesson","id":"l","lesson_type":"joke","domain":"d","category":"c","title":"t"}`, "lesson_type"},
		{"a rule that fits everything", `{"kind":"lesson","id":"l","lesson_type":"anti_pattern","domain":"d","category":"c","title":"t","trigger_pattern":".","decay_constant":0.01}`, ""},
		{"a pattern status that there is not", `{"kind":"pattern","id":"p","pattern_type":"success","status":"?"}`, "status"},
		{"a fact that is over", `{"kind":"fact","persona":"default","key":"k","value":1,"ttl":5,"expires_at":"2001-01-01T00:00:00Z"}`, "expires_at"},
		{"a fact without a value", `{"kind":"fact","persona":"default","key":"k"}`, "value"},
		{"a procedure whose name leads elsewhere", `{"kind":"procedure","name":"../x","steps":[{"action":"x"}]}`, "name"},
		{"a reminder without a trigger", `{"kind":"reminder","task":"t","status":"pending"}`, "trigger"},
	}
	body := &strings.Builder{}
	body.WriteString(`{"records":[{"kind":"knowledge","id":"first","category":"c","content":"good"}`)
	for _, test := range tests {
		body.WriteString("," + test.record)
	}
	body.WriteString(`,{"kind":"knowledge","id":"last","category":"c","content":"good too"}]}`)
	answer, err := http.Post(c.BaseURL()+"/api/import", "application/json", strings.NewReader(body.String()))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var imported transfer.Imported
	if err := json.NewDecoder(answer.Body).Decode(&imported); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer.Status, err)
	}
	if imported.Stored != 2 || imported.Refused != len(tests) || len(imported.Results) != len(tests)+2 {
		t.Fatalf("%+v", imported)
	}
	for i, test := range tests {
		r := imported.Results[i+1]
		if r.Status != transfer.ImportRefused || r.Error == "" || r.Index != i+1 || test.field != "" && r.Field != test.field {
			t.Errorf("%s: %+v", test.name, r)
		}
	}
	if got := exported(t, c, transfer.ExportQuery{}); len(got) != 2 {
		t.Errorf("%d records are there", len(got))
	}
}

func TestImportRedacts(t *testing.T) {
	c := transferring(t)
	call(t, c, http.MethodPost, "/api/import", `{"records":[{"kind":"knowledge","category":"c","content":"key AKIAIOSFODNN7EXAMPLE and ghp_abcdefghijklmnopqrstuvwxyz0123456789"}]}`)
	for _, r := range exported(t, c, transfer.ExportQuery{}) {
		if k := r.Memory.(*knowledge.Knowledge); strings.Contains(k.Content, "ghp_") {
			t.Errorf("a secret was stored: %q", k.Content)
		}
	}
}

// TestExportBroken holds that an export without its end is not taken for a whole one.
func TestExportBroken(t *testing.T) {
	for name, serve := range map[string]http.HandlerFunc{
		"no end": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-ndjson")
			fmt.Fprintln(w, `{"kind":"knowledge","id":"x","category":"c","title":"","content":"x"}`)
		},
		"another count": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-ndjson")
			fmt.Fprintln(w, `{"kind":"end","records":7}`)
		},
		"cut off": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-ndjson")
			fmt.Fprint(w, `{"kind":"know`)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(serve)
			defer server.Close()
			c, err := client.New(server.URL, client.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if err := clienttest.Export(t.Context(), c, transfer.ExportQuery{}, func(transfer.Record) error { return nil }); err == nil {
				t.Error("it passes for a whole one")
			}
		})
	}
}

func searchFor(text string) knowledge.Query { return knowledge.Query{Query: text} }

func checkAction(t *testing.T, c *client.Client, action string) (int, string) {
	t.Helper()
	body, _ := json.Marshal(map[string]string{"proposed_action": action})
	answer, err := http.Post(c.BaseURL()+"/check/anti-pattern", "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(said)
}
