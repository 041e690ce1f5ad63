package store_test

import (
	"cmp"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
)

// TestTaskWords compares listings and summaries by words with a look at every task: of a few tasks and of many, of words that
// nearly all have and that none has, of short words and of parts of words, and of tasks that another connection wrote.
func TestTaskWords(t *testing.T) {
	databasetest.FilesOnly(t)
	s, db := openStore(t)
	tasks := operational.NewTasks(s, testClock())
	ctx := principal.With(t.Context(), principal.System())
	other, err := sql.Open("sqlite", "file:"+db.Path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	random := rand.New(rand.NewPCG(17, 2))
	parts := strings.Fields("re pay ment que ry über ÄR 日本 10% a_b tion o ' \\ fix")
	word := func() string {
		var w strings.Builder
		for range 1 + random.IntN(3) {
			w.WriteString(parts[random.IntN(len(parts))])
		}
		return w.String()
	}
	phrase := func(n int) string {
		words := make([]string, n)
		for i := range words {
			words[i] = word()
		}
		return strings.Join(words, " ")
	}
	number := 0
	write := func(n int) { // past the store, and rolled back at first
		for _, end := range []string{"ROLLBACK", "COMMIT"} {
			conn, err := other.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			statements := []string{"BEGIN IMMEDIATE"}
			for i := range n {
				id, title, description := fmt.Sprintf("%s-%d-%d", end, number, i), "common "+phrase(2), phrase(random.IntN(20))
				finished := "NULL"
				if random.IntN(2) == 0 {
					finished = fmt.Sprint(random.IntN(1000))
				}
				quoted := func(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
				statements = append(statements, fmt.Sprintf("INSERT INTO tasks (id, title, description, status, priority, folded, created_at, updated_at, finished_at) VALUES (%s, %s, %s, '%s', %d, %s, 0, 0, %s)",
					quoted(id), quoted(title), quoted(description), map[bool]string{true: "pending", false: "completed"}[finished == "NULL"], random.IntN(5), quoted(strings.ToLower(title+"\n"+description)), finished))
			}
			for _, statement := range append(statements, end) {
				if _, err := conn.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			_ = conn.Close()
		}
		number += n
	}
	var all []operational.Task
	read := func() {
		all = all[:0]
		for after := int64(0); ; {
			page, err := s.TasksAfter(t.Context(), "", after)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				return
			}
			all, after = append(all, page...), page[len(page)-1].Number
		}
	}
	folded := func(task operational.Task) string {
		return strings.ToLower(task.Title + "\n" + task.Description)
	}
	expected := func(f operational.TaskFilter) (want []int64, total int) {
		type found struct {
			task operational.Task
			held int
		}
		var list []found
		for _, task := range all {
			text, held := folded(task), 0
			for _, w := range f.AnyOf {
				if strings.Contains(text, strings.ToLower(w)) {
					held++
				}
			}
			holds := !slices.ContainsFunc(strings.Fields(strings.ToLower(f.Text)), func(w string) bool { return !strings.Contains(text, w) })
			if !holds || f.Open != nil && *f.Open != (task.FinishedAt == nil) {
				continue
			}
			total++
			if held > 0 || len(f.AnyOf) == 0 {
				list = append(list, found{task, held})
			}
		}
		slices.SortFunc(list, func(a, b found) int {
			if a.task.FinishedAt == nil != (b.task.FinishedAt == nil) {
				return map[bool]int{true: -1, false: 1}[a.task.FinishedAt == nil]
			}
			if a.held != b.held {
				return b.held - a.held
			}
			if a.task.FinishedAt == nil {
				return cmp.Or(b.task.Priority-a.task.Priority, cmp.Compare(a.task.Number, b.task.Number))
			}
			return cmp.Or(b.task.FinishedAt.Compare(*a.task.FinishedAt), cmp.Compare(b.task.Number, a.task.Number))
		})
		for _, one := range list[:min(len(list), f.Limit)] {
			want = append(want, one.task.Number)
		}
		return want, total
	}
	yes := []bool{true, false}
	for _, n := range []int{0, 1, 63, 2, 1000, 2500} {
		write(n)
		if n < 100 { // and by the store itself
			if _, err := tasks.Create(ctx, operational.TaskDraft{Title: "common " + phrase(3), Description: phrase(5)}); err != nil {
				t.Fatal(err)
			}
		}
		read()
		for range 25 {
			f := operational.TaskFilter{Limit: 1 + random.IntN(operational.MaxLimit)}
			if random.IntN(2) == 0 {
				f.Open = &yes[random.IntN(2)]
			}
			words := []string{"common", "never-there", word(), word(), word() + word(), "er", "o", strings.ToUpper(word()), word() + " " + word()}
			random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
			if random.IntN(2) == 0 {
				f.Text = strings.Join(words[:1+random.IntN(3)], " ")
			}
			if random.IntN(2) == 0 {
				f.AnyOf = words[3 : 4+random.IntN(6)]
			}
			want, total := expected(f)
			list, err := tasks.List(ctx, f)
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			for _, task := range list {
				got = append(got, task.Number)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("of %d tasks, text %q, any of %q, open %v, limit %d:\n%v, want\n%v", len(all), f.Text, f.AnyOf, f.Open, f.Limit, got, want)
			}
			summary, err := tasks.Summary(ctx, f)
			if err != nil || summary.Total != total {
				t.Fatalf("of %d tasks, text %q: %d are counted (%v), want %d", len(all), f.Text, summary.Total, err, total)
			}
		}
	}
}
