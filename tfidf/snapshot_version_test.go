package tfidf_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/tfidf"
)

// probe is analysed by TestSnapshotAnalysis: every way in which a text becomes words.
var probe = []string{
	"parseJSONBody HTTPServer2 snake_case_name kebab-case-name SCREAMING_CASE dotted.name.v2 path/to/file.go C:\\Windows\\system32",
	"error[E0308]: mismatched types, expected `&str`, found `String` at src/main.rs:42:7",
	"0xDEADBEEF 3.14 1,000,000 2026-11-21T23:01:00Z v1.26.8 10.0.0.1 a@b.example --dry-run -v $HOME %PATH% #42 C++ C# .NET",
	"running runs ran easily happiness generalizations hopping hoped caresses ponies agreed conflated relational studies",
	"don't can't it's O'Brien naïve café CAFÉ Straße STRASSE İstanbul ﬁle Ångström x² №5",
	"Ошибка соединения с сервером, ошибки соединений; Ёлка ёлки",
	"数据库连接池已满 データベースの接続 데이터베이스 연결 ฐานข้อมูล",
	"قاعدة البيانات مغلقة נעול מסד הנתונים Ελληνικά σίγμας βάση δεδομένων",
	"emoji 🚀🔥 flags 🇩🇪 zero\u200bwidth soft\u00adhyphen combining e\u0301 nul\x00byte bad\xff\xfeutf8",
	"aa a1b2c3d4e5f6 " + strings.Repeat("long", 40) + " " + strings.Repeat("ä", 100),
	"the of and to what when how file name filename data base",
}

// TestSnapshotAnalysis holds that a snapshot of another analysis is never
// opened: the words and stems of a text are written down, and must not change
// without the version.
func TestSnapshotAnalysis(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "version %d\n", tfidf.SnapshotAnalysis)
	for _, text := range probe {
		fmt.Fprintf(&b, "\n%q\nwords %q\nterms %q\n", text, tfidf.Words(text), tfidf.Terms(text))
	}
	golden(t, "analysis.golden", b.String(), "Texts are analysed in another way than in snapshots that people have: raise snapshotAnalysis in snapshot_format.go")
}

// TestSnapshotFormat holds the same for what the columns of a segment hold.
func TestSnapshotFormat(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round the bounds of blocks in another way")
	}
	w := tfidf.DefaultWeights()
	w.K1, w.B, w.Title = 1.2, 0.75, 3
	ix := tfidf.New(tfidf.Options{Weights: &w})
	var docs []tfidf.Document
	for i := range 2000 {
		d := tfidf.Document{ID: fmt.Sprint("id", i), Title: fmt.Sprint("title ", i%7), Body: strings.Repeat("repeated ", i%300), Order: int64(i), At: int64(i) * 1e9}
		d.Project, d.Category, d.Tags = fmt.Sprint("p", i%3), fmt.Sprint("c", i%5), []string{fmt.Sprint("t", i%11)}
		for j := range i % 40 {
			d.Body += fmt.Sprintf(" word%d", int(math.Sqrt(float64(i*j*97))))
		}
		docs = append(docs, d)
	}
	for _, d := range docs { // one by one: several cores would number the words in any order
		ix.Put(d)
	}
	ix.Delete("id77", "id1234")
	golden(t, "snapshot.golden", fmt.Sprintf("version %d\nsegments %#x\n", tfidf.SnapshotFormat, tfidf.FormatOf(ix)),
		"The columns of a segment hold something else than in snapshots that people have: raise snapshotFormat in snapshot_format.go")
}

var update = flag.Bool("update", false, "write the goldens anew, if their version is a new one")

// golden compares with a file of testdata, which only another version may replace.
func golden(t *testing.T, name, got, advice string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	want, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if string(want) == got {
		return
	}
	version, _, _ := strings.Cut(got, "\n")
	before, _, _ := strings.Cut(string(want), "\n")
	if *update && version != before {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s, then run: go test ./tfidf -run TestSnapshot -update\n%s", advice, cmp.Diff(string(want), got))
}
