package tfidf_test

import (
	"fmt"
	"testing"

	"github.com/skillrouter/skillrouter/tfidf"
)

// practice is what a coding team might have written down. Several entries are
// about one thing each time, so that the exact one has rivals.
var practice = []tfidf.Document{
	{ID: "e0382", Title: "Use of moved value", Body: "error[E0382]: borrow of moved value. Clone it, or take a reference before the move."},
	{ID: "e0308", Title: "Mismatched types", Body: "error[E0308]: expected &str, found String. Borrow it."},
	{ID: "e0382b", Title: "Moves in loops", Body: "a value that a loop moves is gone in the second round; the compiler says so with a borrow error"},
	{ID: "enoent", Title: "ENOENT on start", Body: "ENOENT: no such file or directory, open 'config/local.yaml'. Copy the example first."},
	{ID: "eaddr", Title: "Address already in use", Body: "listen tcp 127.0.0.1:8025: bind: address already in use. Another router is running."},
	{ID: "port5432", Title: "Postgres port", Body: "the staging database listens on port 5432, the replica on 5433"},
	{ID: "port6432", Title: "Pooler port", Body: "pgbouncer listens on port 6432"},
	{ID: "parse", Title: "parse_config_file", Body: "reads YAML and fills the defaults"},
	{ID: "parseall", Title: "parse_all_config_files", Body: "calls parse_config_file for each file of a folder"},
	{ID: "retry", Title: "RetryBudgetExceeded", Body: "thrown by the gateway when retries are over the budget"},
	{ID: "retry2", Title: "How retries work", Body: "the gateway retries three times; a budget bounds them"},
	{ID: "path", Title: "Where the wiring is", Body: "everything is wired in cmd/app/wire.go"},
	{ID: "path2", Title: "Where the flags are", Body: "flags are read in cmd/cli/flags.go"},
	{ID: "dryrun", Title: "Migrations without risk", Body: "run the migration with --dry-run first"},
	{ID: "nodelete", Title: "Copying to the mirror", Body: "rsync -a --delete-after to the mirror, never --delete-before"},
	{ID: "sigkill", Title: "Exit code 137", Body: "the container was killed for memory: exit code 137"},
	{ID: "exit1", Title: "Exit code 1", Body: "any failure of the linter gives exit code 1"},
	{ID: "version", Title: "Go 1.26.2", Body: "pinned to 1.26.2 because 1.26.1 miscompiled the codec"},
	{ID: "uuid", Title: "Stuck job", Body: "job 0190b3e2-7c1d-7f4a-9d2e-5b7a1c3d9e10 never finished"},
	{ID: "hash", Title: "Bad merge", Body: "commit 9f3c2ab broke the build, reverted in 77d01fe"},
	{ID: "http429", Title: "Rate limits", Body: "the payment provider answers 429 Too Many Requests after 100 calls a minute"},
	{ID: "http502", Title: "Bad gateway", Body: "502 from nginx while the app restarts"},
	{ID: "envvar", Title: "Where data lives", Body: "SKILLROUTER_DATA names the folder, SKILLROUTER_TOKEN the token"},
	{ID: "cpp", Title: "C++ codec", Body: "the C++ codec must be built with -fPIC"},
	{ID: "csharp", Title: "C# client", Body: "the C# client lives in its own repository"},
	{ID: "de", Title: "Fehler beim Verbindungsaufbau", Body: "Die Datenbank lehnt die Verbindung ab, wenn das Zertifikat abgelaufen ist."},
	{ID: "de2", Title: "Größe der Anhänge", Body: "Anhänge über zehn Megabyte werden abgelehnt."},
	{ID: "ru", Title: "Ошибка подключения", Body: "сервер базы данных не отвечает после обновления"},
	{ID: "ru2", Title: "Журнал событий", Body: "журнал хранится тридцать дней"},
	{ID: "zh", Title: "数据库连接失败", Body: "升级之后证书过期,数据库连接失败"},
	{ID: "zh2", Title: "日志保存时间", Body: "日志保存三十天"},
	{ID: "decision", Title: "Why we chose SQLite", Body: "one process, one file, no service to run; Postgres stays an option"},
	{ID: "decision2", Title: "Why we chose gRPC", Body: "streams between nodes, not for clients"},
}

// TestPractice asks what a coding team asks in passing: the exact thing comes first.
func TestPractice(t *testing.T) {
	ix := tfidf.New(tfidf.Options{})
	ix.Put(filler(300)...)
	docs := append([]tfidf.Document(nil), practice...)
	for i := range docs {
		docs[i].Order = int64(i + 1)
	}
	ix.Put(docs...)
	for query, want := range map[string]string{
		"E0382":                                "e0382",
		"error[E0308]":                         "e0308",
		"ENOENT":                               "enoent",
		"bind: address already in use":         "eaddr",
		"127.0.0.1:8025":                       "eaddr",
		"port 5432":                            "port5432",
		"what listens on 6432":                 "port6432",
		"parse_config_file":                    "parse",
		"parseConfigFile":                      "parse",
		"parse config file":                    "parse",
		"RetryBudgetExceeded":                  "retry",
		"retry budget exceeded":                "retry",
		"cmd/app/wire.go":                      "path",
		"wire.go":                              "path",
		"flags.go":                             "path2",
		"--dry-run":                            "dryrun",
		"--delete-before":                      "nodelete",
		"exit code 137":                        "sigkill",
		"exit code 1":                          "exit1",
		"go 1.26.2":                            "version",
		"0190b3e2-7c1d-7f4a-9d2e-5b7a1c3d9e10": "uuid",
		"9f3c2ab":                              "hash",
		"429":                                  "http429",
		"HTTP 502":                             "http502",
		"SKILLROUTER_TOKEN":                    "envvar",
		"C++":                                  "cpp",
		"c#":                                   "csharp",
		"Datenbank Verbindung abgelehnt":       "de",
		"Größe":                                "de2",
		"grosse anhange":                       "de2",
		"ошибка подключения к серверу": "ru",
		"журналы":                  "ru2",
		"数据库连接":                    "zh",
		"日志":                       "zh2",
		"Fehler ENOENT beim Start": "enoent",
		"why did we choose sqlite": "decision",
		"why choose grpc":          "decision2",
		"adress alredy in use":     "eaddr",
	} {
		t.Run(query, func(t *testing.T) {
			r := ix.Search(tfidf.Query{Text: query, Explain: true, Limit: 3})
			if len(r.Hits) == 0 || r.Hits[0].ID != want {
				t.Errorf("want %s first, got %+v", want, r.Hits)
			}
		})
	}
	for _, d := range docs {
		t.Run("the title of "+d.ID, func(t *testing.T) {
			r := ix.Search(tfidf.Query{Text: d.Title, Limit: 3})
			if len(r.Hits) == 0 || r.Hits[0].ID != d.ID {
				t.Errorf("want %s first for %q, got %+v", d.ID, d.Title, r.Hits)
			}
		})
	}
}

// TestPracticeAmongMany asks for one of a thousand entries that differ by one number only.
func TestPracticeAmongMany(t *testing.T) {
	ix := tfidf.New(tfidf.Options{})
	var docs []tfidf.Document
	for i := range 1000 {
		docs = append(docs, tfidf.Document{
			ID: fmt.Sprint("id", i), Order: int64(i + 1),
			Title: fmt.Sprintf("Ticket OPS-%d", 1000+i), Body: fmt.Sprintf("worker %d failed with code %d on host node%d", i%10, 7000+i, i),
		})
	}
	ix.Put(docs...)
	for query, want := range map[string]string{"OPS-1500": "id500", "ticket ops-1999": "id999", "code 7123": "id123", "node77": "id77", "failed on host node900": "id900"} {
		if r := ix.Search(tfidf.Query{Text: query}); len(r.Hits) == 0 || r.Hits[0].ID != want {
			t.Errorf("%q: want %s first, got %+v", query, want, r.Hits[:min(3, len(r.Hits))])
		}
	}
}

// TestIrregularFormsFind asks in one tense for what was written in another.
func TestIrregularFormsFind(t *testing.T) {
	ix := tfidf.New(tfidf.Options{})
	ix.Put(filler(60)...)
	ix.Put(
		tfidf.Document{ID: "a", Body: "we chose the smaller queue and it held"},
		tfidf.Document{ID: "b", Body: "the queue is drained at midnight"},
	)
	for _, q := range []string{"why choose the queue", "does the queue hold", "the queue that was chosen"} {
		if got := ix.Search(tfidf.Query{Text: q}); len(got.Hits) == 0 || got.Hits[0].ID != "a" {
			t.Errorf("%q found %+v", q, got.Hits)
		}
	}
}
