package text_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/tfidf/text"
)

// probe is analysed by TestVersion: every way in which a text becomes words.
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

// TestVersion holds that a snapshot of another analysis is never
// opened: the words and stems of a text are written down, and must not change
// without the version.
func TestVersion(t *testing.T) {
	var b strings.Builder
	fmt.Fprintf(&b, "version %d\n", text.Version)
	for _, p := range probe {
		fmt.Fprintf(&b, "\n%q\nwords %q\nterms %q\n", p, text.Words(p), text.Terms(p))
	}
	got, path := b.String(), filepath.Join("testdata", "analysis.golden")
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
	t.Errorf("Texts are analysed in another way than in snapshots that people have: raise Version, then run: go test ./tfidf/text -run TestVersion -update\n%s", cmp.Diff(string(want), got))
}

var update = flag.Bool("update", false, "write the golden anew, if its version is a new one")
