package laws_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// shared are the small packages that every room but tfidf's may know; in the tables "shared" stands for all of them.
var shared = []string{
	"internal/check", "internal/clock", "internal/committer", "internal/deadline", "internal/defaults", "internal/errs", "internal/eventlog", "internal/file", "internal/lazyregexp", "internal/markdown", "internal/operation", "internal/overlay", "internal/plainyaml",
	"internal/principal", "internal/redact", "internal/safetext", "internal/strictjson", "internal/tally", "internal/trace",
}

// domains are the packages that the router's families and the transports may know.
var domains = append([]string{"shared", "learning", "operational", "operational/person", "comms", "comms/lease"}, learned...)

// learned are the rooms of the memory that the router knows: the kinds, and what is made of them.
// Each package below learning is one, but for these, which serve them.
var learned = roomsBelow("learning", "condition", "contradict", "folder", "learningtest", "likeness", "runbooks", "store", "subject", "worktree")

// roomsBelow lists the packages in a folder, but for some; guard/rule is a room of its own.
func roomsBelow(folder string, but ...string) (rooms []string) {
	entries, err := os.ReadDir(path.Join("../..", folder)) // before TestMain has gone to the top
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		if e.IsDir() && !slices.Contains(but, e.Name()) {
			rooms = append(rooms, path.Join(folder, e.Name()))
		}
	}
	return append(rooms, "learning/guard/rule")
}

// families are the rooms of the router: each does one thing with what the domains know.
var families = []string{
	"router", "router/classify", "router/contexts", "router/crossing", "router/decision", "router/feed", "router/kind", "router/question", "router/reminder", "router/search", "router/session", "router/transfer", "router/trash", "router/value",
}

// rooms says which packages of this module a package may import, besides the
// standard library and libraries. An entry that ends in /* stands for every
// package below it. The first room that matches the importer counts.
var rooms = []struct {
	importer string
	allowed  []string
	why      string
}{
	{"internal/redact", []string{"internal/lazyregexp", "tfidf/wordlist"}, "a text is looked through for secrets, whoever stores it"},
	{"internal/check", []string{"internal/errs", "internal/redact"}, "a name holds no secret, and what is wrong with it is an error"},
	{"internal/committer", []string{"internal/errs"}, "writes are joined, whatever they write, and a hook links no spans"},
	{"internal/principal", []string{"internal/check", "internal/errs"}, "who acts has a name, and may be refused"},
	{"internal/markdown", []string{"internal/lazyregexp"}, "Markdown is read without knowing what a heading means"},
	{"internal/safetext", []string{"internal/lazyregexp"}, "a text is made safe to show, whoever wrote it"},
	{"internal/operation", []string{"internal/errs", "internal/strictjson"}, "a call is read by the tags of types, whatever it calls"},
	{"internal/strictjson", []string{"internal/check", "internal/errs", "internal/safetext"}, "JSON is read, whatever it says"},
	{"internal/trace", []string{"internal/check", "internal/clock", "internal/errs", "internal/redact"}, "spans hold no secret, and of an error its code alone"},
	{"internal/tally", []string{"internal/check", "internal/committer", "internal/principal"}, "rows are counted and cleared alike, whatever they are"},
	{"internal/database/wal", nil, "a log is read without knowing whose it is"},
	{"internal/database/postgres", []string{"shared", "migrations"}, "a server is written to without knowing what"},
	{"internal/database/databasetest", []string{"shared", "internal/database", "internal/database/postgres"}, "tests of every room open databases with it: it links no room"},
	{"internal/database/table", []string{"shared"}, "rows become values, whatever table they are of"},
	{"internal/database", []string{"shared", "internal/database/postgres", "internal/database/wal", "migrations"}, "databases are opened and migrated without knowing what is stored"},
	{"internal/*", nil, "what every room shares knows none of them"},
	{"tfidf/wordlist/wordlisttest", []string{"tfidf/wordlist"}, "tests of every room check their lists with it"},
	{"tfidf/wordlist", nil, "who reads lists of words knows none of them"},
	{"tfidf/text", []string{"tfidf/wordlist"}, "texts become words, whatever finds them"},
	{"tfidf", []string{"tfidf/text"}, "the engine knows no database and no domain"},
	{"tfidf/keep", []string{"tfidf", "tfidf/text"}, "an index is kept in step with any source"},
	{"migrations", nil, "SQL only"},
	{"operational/store", []string{"shared", "internal/database/table", "operational", "operational/person"}, "a store serves its own domain"},
	{"operational/operationaltest", []string{"shared", "operational"}, "a contract knows the interface and no implementation"},
	{"learning/store", slices.Concat([]string{"shared", "internal/database/table", "learning"}, learned), "a store serves its own domain"},
	{"learning/runbooks", []string{"shared", "learning", "learning/procedure"}, "files and rows are two forms of the same procedures, and the service has the rules"},
	{"learning/folder", []string{"shared", "learning", "learning/guard/act", "learning/lesson", "learning/share", "tfidf/wordlist"}, "a folder gives to and takes from the service's interface, whoever implements it"},
	{"learning/learningtest", slices.Concat([]string{"shared", "learning"}, learned), "a contract knows the interface and no implementation"},
	{"operational/person", []string{"shared"}, "who a person is hangs on no other rule"},
	{"operational", []string{"shared"}, "a domain knows no other domain"},
	{"learning/guard/act", []string{"shared", "tfidf/wordlist"}, "what a command does is known without any rule of ours"},
	{"learning/shelf", []string{"shared", "learning", "tfidf", "tfidf/keep", "tfidf/text"}, "rows are found alike, whatever they are"},
	{"learning/condition", []string{"shared", "learning"}, "a condition knows what it is asked of by name alone"},
	{"learning/worktree", []string{"shared", "tfidf/wordlist"}, "a text is compared with a folder, whoever has them"},
	{"learning/contradict", []string{"tfidf/text", "tfidf/wordlist"}, "texts are compared, whoever has them"},
	{"learning/likeness", []string{"shared", "learning", "tfidf/text", "tfidf/wordlist"}, "texts are compared, whoever has them"},
	{"learning/subject", []string{"tfidf/text", "tfidf/wordlist"}, "a question and a memory name a subject alike, whoever asks"},
	{"learning/knowledge", []string{"shared", "learning", "learning/contradict", "learning/shelf", "learning/subject", "tfidf", "tfidf/text"}, "a kind knows no other kind"},
	{"learning/guard/rule", []string{"shared", "learning", "learning/guard/act", "tfidf", "tfidf/text", "tfidf/wordlist"}, "a rule is compared with what a command does, wherever it came from"},
	{"learning/lesson", []string{"shared", "learning", "learning/contradict", "learning/shelf", "learning/likeness", "learning/guard/act", "learning/guard/rule", "tfidf", "tfidf/text"}, "a lesson is found, compared, and may be a rule"},
	{"learning/procedure", []string{"shared", "learning", "learning/shelf", "learning/condition", "learning/lesson", "tfidf"}, "steps have conditions, and runs propose lessons"},
	{"learning/guard", []string{"shared", "learning", "learning/lesson", "learning/guard/act", "learning/guard/rule", "tfidf"}, "rules come from lessons, and their outcomes move them"},
	{"learning/escalation", []string{"shared", "learning", "learning/condition", "learning/lesson"}, "conditions choose lessons"},
	{"learning/propagation", []string{"shared", "learning", "learning/lesson", "tfidf/wordlist"}, "a lesson reaches the agents of its domain"},
	{"learning/experience", []string{"shared", "learning", "learning/episode", "learning/lesson"}, "how operations went is learned from episodes"},
	{"learning/decision", []string{"shared", "learning", "learning/knowledge", "tfidf/text", "tfidf/wordlist"}, "what a person decides is read of sentences, and is an entry of knowledge"},
	{"learning/history", []string{
		"shared", "learning", "learning/decision", "learning/episode", "learning/fact", "learning/lesson", "learning/procedure", "learning/worktree", "learning/guard/act", "tfidf/wordlist",
	}, "what agents did is learned from commands, which the guard reads, and proposes kinds"},
	{"learning/share", []string{"shared", "learning", "learning/episode", "learning/knowledge", "learning/lesson"}, "entries of three kinds come from others, and are stored as theirs are"},
	{"learning/verdict", []string{"shared", "learning", "tfidf/text"}, "what helped is said of items by their names, whatever their kind"},
	{"learning/*", []string{"shared", "learning", "learning/shelf", "tfidf"}, "a kind knows no other kind"}, // of a kind without a line
	{"learning", []string{"shared", "tfidf/text"}, "the vocabulary knows no kind"},
	{"comms/lease", []string{"shared", "operational", "comms"}, "leases are rules over operational state, presence and the mailbox"},
	{"comms", []string{"shared", "operational"}, "presence and mailbox are rules over operational state"},
	{"router/classify", []string{"shared", "tfidf/text", "tfidf/wordlist"}, "what a question is about is told by its words and those like them, and asks no store"},
	{"router/kind", slices.Concat(learned, []string{"shared", "learning", "operational", "tfidf", "tfidf/keep", "router"}), "a kind knows its service, and no family of the router"},
	{"router/transfer", []string{"shared", "learning", "router/kind"}, "it moves what the kinds of memory keep, whatever they are"},
	{"router/trash", slices.Concat(learned, []string{"shared", "learning", "router", "router/kind"}), "it gives back what was deleted, whatever its kind"},
	{"router/follow", []string{"shared", "operational"}, "it reads event logs, whatever is in them"},
	{"router/session", slices.Concat(learned, []string{"shared", "learning", "operational"}), "a session begins and ends in both domains"},
	{"router/crossing", slices.Concat(learned, []string{"shared", "learning", "operational", "router", "router/follow"}), "it carries what crosses between the domains"},
	{"router/feed", slices.Concat(learned, []string{"shared", "learning", "operational", "operational/person", "router", "router/follow", "router/kind", "tfidf/wordlist"}), "it orders what the event logs tell"},
	{"router/reminder", slices.Concat(learned, []string{"shared", "learning/condition", "learning", "operational", "router", "router/follow"}), "what reminders wait for happens in both domains"},
	{"router/decision", slices.Concat(learned, []string{"shared", "learning", "operational"}), "what waits for a person is gathered from both domains"},
	{"router/value", slices.Concat(learned, []string{"shared", "learning", "operational", "router"}), "what agents were told is compared with what they did"},
	{"router/search", slices.Concat(learned, []string{"shared", "learning", "operational", "router", "router/follow", "router/kind", "learning/subject", "tfidf", "tfidf/text", "tfidf/wordlist"}), "one search over what the domains keep"},
	{"router/question", slices.Concat(learned, []string{"shared", "learning", "operational", "router", "router/classify", "router/decision", "router/kind", "router/search", "tfidf/wordlist"}), "a question is put to the search and to the state of both domains"},
	{"router/contexts", slices.Concat(learned, []string{"shared", "learning", "learning/worktree", "operational", "router", "router/kind", "learning/subject", "tfidf", "tfidf/text", "tfidf/wordlist"}), "it chooses from what the domains keep"},
	{"router", slices.Concat(learned, []string{"shared", "learning", "operational", "router/classify", "tfidf"}), "it asks the domains, and knows no family"},
	{"router/httpapi", slices.Concat(domains, families), "handlers translate between HTTP and the services"},
	{"router/routertest/fixture", []string{"*"}, "tests of several rooms stand on real stores"},
	{"comms/commstest", []string{"shared", "operational", "comms"}, "a contract knows the interface and no implementation"},
	{"router/cluster/register", []string{"shared", "internal/database/postgres", "router/cluster"}, "which node writes stands in the databases"},
	{"router/cluster", []string{"shared"}, "which node writes is decided without knowing what is written"},
	{"router/client/clienttest", slices.Concat(domains, families, []string{"router/client"}), "suites hold a router to the promises of its services"},
	{"router/client/plain", []string{"shared"}, "a hook links no more than what asks"},
	{"router/client", slices.Concat(domains, families, []string{"router/client/plain"}), "it calls the services, and reads refusals as the plain one does"},
	{"router/otlp", []string{"shared"}, "spans are sent without knowing whose they are"},
	{"router/*", slices.Concat(domains, families, []string{"router/sse"}), "transports translate, and know no sibling"},
	{"cmd/config", []string{"shared"}, "configuration is known in cmd alone"},
	{"cmd/*", []string{"*"}, "commands and the composition root see everything"},
	{"scripts/*", []string{"*"}, "programs that people run by hand"},
}

// libraries says where a library may be imported; one that is not listed may be anywhere.
var libraries = map[string][]string{
	"text/template":                 {"cmd/cli"}, // the terminal's pages clean each value themselves; the browser's escape it: html/template
	"text/template/parse":           {"cmd/cli"},
	"html/template":                 {"router/web", "router/httpapi"},
	"gorm.io/gorm":                  {"operational/store", "learning/store", "internal/database", "internal/database/postgres", "internal/database/table", "internal/database/databasetest"},
	"gorm.io/driver/postgres":       {"internal/database/postgres"},
	"github.com/jackc/pgx/v5":       {"internal/database/postgres", "internal/database/databasetest"},
	"github.com/nats-io/nats.go":    {"cmd/app/nats"},
	"github.com/glebarez/sqlite":    {"internal/database"},
	"github.com/glebarez/go-sqlite": {"internal/database"},
	"github.com/expr-lang/expr":     {"learning/condition"},
	"modernc.org/sqlite":            nil, // go-sqlite runs it, and registers under the same name
	"github.com/gin-gonic/gin":      {"router/httpapi"},
	"github.com/r3labs/sse/v2":      {"router/stream"},
	"github.com/tmaxmax/go-sse":     {"router/client", "router/llm"},
	"github.com/spf13/cobra":        {"cmd/cli"},
	"go.opentelemetry.io/otel":      {"internal/trace", "router/otlp", "router/httpapi"},
	"go.opentelemetry.io/otel/sdk":  {"router/otlp"},
}

// topLevel is the prescribed top level, and the few that join it.
var topLevel = []string{
	"cmd", "router", "comms", "learning", "operational", "tfidf", "migrations", "scripts", "docs",
	"go.mod", "go.sum", "Makefile", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "SECURITY.md", "VERSION", "internal",
}

func TestImports(t *testing.T) {
	packages := imports(t)
	if len(packages) < 8 {
		t.Fatalf("only %d packages were found: the walk is broken", len(packages))
	}
	for importer, imported := range packages {
		for _, other := range imported {
			if msg := refusal(importer, other); msg != "" {
				t.Error(msg)
			}
		}
	}
}

// TestImportsRefuses is the negative control: the rules can fail.
func TestImportsRefuses(t *testing.T) {
	for _, pair := range [][2]string{
		{"learning", "github.com/skillrouter/skillrouter/operational"},
		{"learning", "github.com/skillrouter/skillrouter/learning/lesson"},
		{"learning/knowledge", "github.com/skillrouter/skillrouter/learning/episode"},
		{"learning/fact", "github.com/skillrouter/skillrouter/learning/episode"},
		{"learning/glossary", "github.com/skillrouter/skillrouter/learning/likeness"}, // a room without a line
		{"router/kind", "github.com/skillrouter/skillrouter/learning/worktree"},
		{"learning/lesson", "github.com/skillrouter/skillrouter/learning/guard"},
		{"learning/guard/rule", "github.com/skillrouter/skillrouter/learning/lesson"},
		{"operational", "github.com/skillrouter/skillrouter/learning"},
		{"tfidf", "github.com/skillrouter/skillrouter/internal/errs"},
		{"internal/errs", "github.com/skillrouter/skillrouter/internal/check"},
		{"internal/committer", "github.com/skillrouter/skillrouter/learning"},
		{"internal/committer", "github.com/skillrouter/skillrouter/internal/trace"},
		{"learning/guard/act", "github.com/skillrouter/skillrouter/internal/database"},
		{"tfidf/wordlist", "github.com/skillrouter/skillrouter/tfidf"},
		{"tfidf/text", "github.com/skillrouter/skillrouter/tfidf"},
		{"tfidf", "github.com/skillrouter/skillrouter/tfidf/keep"},
		{"tfidf/keep", "github.com/skillrouter/skillrouter/learning/shelf"},
		{"learning/guard/act", "github.com/skillrouter/skillrouter/learning"},
		{"router/classify", "github.com/skillrouter/skillrouter/router"},
		{"router/transfer", "github.com/skillrouter/skillrouter/router/classify"},
		{"router", "github.com/skillrouter/skillrouter/router/search"},
		{"router/search", "github.com/skillrouter/skillrouter/router/contexts"},
		{"router/session", "github.com/skillrouter/skillrouter/router"},
		{"router/kind", "github.com/skillrouter/skillrouter/router/search"},
		{"router", "github.com/skillrouter/skillrouter/router/kind"},
		{"router/mcpserver", "github.com/skillrouter/skillrouter/router/follow"},
		{"router/client/plain", "github.com/skillrouter/skillrouter/learning"},
		{"router/cluster", "github.com/skillrouter/skillrouter/router/httpapi"},
		{"comms", "gorm.io/gorm"},
		{"router/httpapi", "github.com/skillrouter/skillrouter/router/mcpserver"},
		{"router", "github.com/skillrouter/skillrouter/cmd/config"},
		{"learning/store", "github.com/glebarez/sqlite"},
		{"cmd/app", "github.com/jackc/pgx/v5"},
		{"cmd/app", "gorm.io/gorm"},
		{"internal/database", "github.com/skillrouter/skillrouter/operational"},
		{"internal/database/databasetest", "github.com/skillrouter/skillrouter/cmd/app"},
		{"router/mcpserver", "github.com/gin-gonic/gin"},
		{"router/feed", "html/template"},
		{"router/web", "text/template"},
		{"internal/trace", "go.opentelemetry.io/otel/sdk/trace"},
	} {
		if refusal(pair[0], pair[1]) == "" {
			t.Errorf("%s may import %s, and should not", pair[0], pair[1])
		}
	}
}

func TestTopLevel(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || slices.Contains(topLevel, name) || name == "bin" || name == "dist" {
			continue
		}
		t.Errorf("%s is not part of the prescribed top level", name)
	}
}

// TestNoClockOrBackground holds two habits below cmd: the context comes from
// the caller, and nothing sleeps in tests.
func TestNoClockOrBackground(t *testing.T) {
	walk(t, func(file string) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		test := strings.HasSuffix(file, "_test.go")
		below := !strings.HasPrefix(file, "cmd/") && !strings.HasPrefix(file, "scripts/")
		if !test && below && strings.Contains(string(text), "context.Background()") {
			t.Errorf("%s calls context.Background(): take the caller's context", file)
		}
		if test && file != "internal/laws/layout_test.go" && strings.Contains(string(text), "time.Sleep(") {
			t.Errorf("%s sleeps: wait for what you wait for, or use virtual time", file)
		}
	})
}

// refusal says why importer may not import other, or "".
func refusal(importer, other string) string {
	for library, where := range libraries {
		if (other == library || strings.HasPrefix(other, library+"/")) && !slices.Contains(where, importer) && !strings.HasPrefix(importer, "scripts/") {
			return importer + " imports " + other + ", which belongs in " + strings.Join(where, ", ")
		}
	}
	other, ours := strings.CutPrefix(other, "github.com/skillrouter/skillrouter/")
	if !ours {
		return ""
	}
	for _, room := range rooms {
		if !matches(room.importer, importer) {
			continue
		}
		for _, allowed := range room.allowed {
			if matches(allowed, other) {
				return ""
			}
		}
		return importer + " may not import " + other + ": " + room.why
	}
	return importer + " has no room in the table"
}

func matches(pattern, name string) bool {
	switch pattern {
	case "*":
		return true
	case "shared":
		return slices.Contains(shared, name)
	}
	if below, ok := strings.CutSuffix(pattern, "/*"); ok {
		return strings.HasPrefix(name, below+"/")
	}
	return pattern == name
}

// linksApp are the rooms whose tests link the whole application. A room's tests stand on databasetest and on what they need: the list only gets shorter.
var linksApp = []string{"cmd/app", "cmd/cli", "cmd/skillrouter", "router/client", "router/web", "scripts/conformance", "scripts/manual"}

func TestRoomsDoNotLinkTheApplication(t *testing.T) {
	packages, tests := imports(t), importsOf(t, true)
	if len(tests) < 60 {
		t.Fatalf("only %d packages with tests were found: the walk is broken", len(tests))
	}
	for dir, imported := range tests {
		seen := map[string]bool{dir: true}
		for todo := append(imported, packages[dir]...); len(todo) > 0; todo = todo[1:] {
			if other, ours := strings.CutPrefix(todo[0], "github.com/skillrouter/skillrouter/"); ours && !seen[other] {
				seen[other] = true
				todo = append(todo, packages[other]...)
			}
		}
		if links := seen["cmd/app"]; links != slices.Contains(linksApp, dir) {
			t.Errorf("the tests of %s link cmd/app: %t, and linksApp says otherwise", dir, links)
		}
	}
}

// imports reads what each package's files, tests apart, import.
func imports(t *testing.T) map[string][]string { return importsOf(t, false) }

// importsOf reads what each package's tests import, or its other files.
func importsOf(t *testing.T, tests bool) map[string][]string {
	packages := map[string][]string{}
	walk(t, func(file string) {
		if strings.HasSuffix(file, "_test.go") != tests {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		dir := path.Dir(file)
		for _, spec := range parsed.Imports {
			other, _ := strconv.Unquote(spec.Path.Value)
			packages[dir] = append(packages[dir], other)
		}
	})
	return packages
}

func walk(t *testing.T, visit func(file string)) {
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (name == "testdata" || name != "." && strings.HasPrefix(name, ".")) {
			return filepath.SkipDir
		}
		file = filepath.ToSlash(file)
		if strings.HasSuffix(name, ".go") {
			visit(file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
