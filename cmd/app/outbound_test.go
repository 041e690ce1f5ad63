package app_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/router"
)

// dialers are the files that may hold what opens connections or runs programs,
// and why. A place in app.Outbounds stands behind "place NAME".
var dialers = map[string]string{
	"cmd/locate/router.go":                           "the socket in the user's own data folder",
	"internal/database/postgres/reading.go":          "reading from the PostgreSQL server that is named",
	"cmd/process/sockets_linux.go":                   "a question to the kernel, which leaves the machine by no way",
	"router/llm/proxy.go":                            "place model: hands on by the transport of endpoint.go",
	"router/llm/endpoint.go":                         "place model, place embeddings: one transport, which dials the configured endpoint alone",
	"router/otlp/otlp.go":                            "place telemetry: sends spans to the configured collector alone",
	"internal/database/postgres/postgres.go":         "place database: the server that the setting names, alone",
	"cmd/app/nats/nats.go":                           "place nats: the server that the setting names, alone",
	"router/cluster/forward.go":                      "place cluster: hands requests to the node of the cluster that writes, and asks the node that handed one on, alone",
	"internal/database/postgres/move.go":             "reads the answers of that one",
	"internal/database/databasetest/databasetest.go": "the tests' server: it is no part of the program",
	"cmd/app/nats/natstest/natstest.go":              "the tests' NATS server: it is no part of the program",
	"router/client/client.go":                        "the commands' way to the router",
	"router/client/plain/plain.go":                   "the hooks' way to the router on this machine",
	"router/interlock/interlock.go":                  "place mesh: sends to the peers that its file lists, from the socket that it listens at; Send is for the command that is asked to",

	"cmd/cli/start.go":               "looks whether a router answers at the address that a command was told, and starts this program where none does",
	"cmd/app/listen.go":              "reads its own address, to say which program has its port; it asks nobody",
	"cmd/hook/respond/guard.go":      "runs the whole program, which judges in the place of a router that is away, for the hook that an agent runs",
	"cmd/hook/respond/session.go":    "runs this program for a session's end, for the hook that an agent runs",
	"cmd/process/process_unix.go":    "the small program hands a hook over to the whole one beside it",
	"cmd/process/process_windows.go": "the same",

	"learning/folder/shared_git.go":  "asks the repository's git, without a network, for the command that shares memory",
	"learning/folder/semantic.go":    "looks for the program of a review on the PATH, which run.go runs",
	"learning/folder/run.go":         "runs the checks that a project's policy names, for the command that is asked to",
	"learning/folder/run_unix.go":    "ends those",
	"learning/folder/run_windows.go": "ends those",
}

// mayRun tells whether a file may run programs: the commands that people call do, as they are told.
func mayRun(file string) bool { return strings.HasPrefix(file, "cmd/cli/") }

// runs tells whether a use is of what runs programs.
func runs(use string) bool {
	return strings.HasPrefix(use, "import os/exec") || use == "os.StartProcess"
}

// connects tells, by import path, which names of a package open connections, look names up or run programs.
// A nil list stands for the whole package.
var connects = map[string][]string{
	"net": {
		"Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix", "Dialer", "Resolver", "DefaultResolver", "FileConn",
		"LookupAddr", "LookupCNAME", "LookupHost", "LookupIP", "LookupMX", "LookupNS", "LookupPort", "LookupSRV", "LookupTXT",
		"ResolveIPAddr", "ResolveTCPAddr", "ResolveUDPAddr", "ListenPacket", "ListenUDP", "ListenMulticastUDP", "ListenIP", "ListenConfig",
	},
	"net/http":          {"Client", "Transport", "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm"},
	"net/http/httputil": {"ReverseProxy", "NewSingleHostReverseProxy"},
	"crypto/tls":        {"Dial", "DialWithDialer", "Dialer"},
	"net/rpc":           nil, "net/smtp": nil, "log/syslog": nil,
	"os/exec":                        nil,
	"os":                             {"StartProcess"},
	"syscall":                        {"Connect", "Socket", "Sendto", "Exec", "ForkExec", "StartProcess"},
	"golang.org/x/sys/unix":          {"Connect", "Socket", "Sendto", "Sendmsg", "Exec"},
	"github.com/coder/websocket":     {"Dial"},
	"github.com/r3labs/sse/v2":       {"NewClient", "Client"},
	"github.com/tmaxmax/go-sse":      {"NewConnection", "Client", "DefaultClient"},
	"github.com/openai/openai-go/v3": nil,
	"github.com/nats-io/nats.go":     nil,
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp": nil,
	"github.com/jackc/pgx/v5":           nil,
	"gorm.io/driver/postgres":           nil,
	"github.com/jackc/pgx/v5/pgxpool":   nil,
	"github.com/jackc/pgx/v5/stdlib":    nil,
	"golang.org/x/net/proxy":            nil,
	"google.golang.org/grpc":            nil,
	"golang.org/x/crypto/acme":          nil,
	"golang.org/x/crypto/ssh":           nil,
	"golang.org/x/crypto/acme/autocert": nil,
}

// TestOnlyListedPlacesDial reads the sources: what opens connections or runs
// programs stands in the listed files alone, and each place that app.Outbounds
// tells of stands behind one of them.
func TestOnlyListedPlacesDial(t *testing.T) {
	found, files := map[string][]string{}, 0
	err := filepath.WalkDir("../..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (name == "testdata" || name == "scripts" || strings.HasPrefix(name, ".") && name != "..") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		uses, err := connecting(file, nil)
		if err != nil {
			return err
		}
		files++
		if len(uses) > 0 {
			found[strings.TrimPrefix(filepath.ToSlash(file), "../../")] = uses
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Fatalf("only %d files were read: the walk is broken", files)
	}
	for file, uses := range found {
		if mayRun(file) && !slices.ContainsFunc(uses, func(use string) bool { return !runs(use) }) {
			continue
		}
		if dialers[file] == "" {
			t.Errorf("%s uses %s: whatever opens a connection or runs a program must be listed, in app.Outbounds too if the router does it by itself", file, strings.Join(uses, ", "))
		}
	}
	reasons := ""
	for file, why := range dialers {
		if len(found[file]) == 0 {
			t.Errorf("%s is listed, and uses nothing of the kind", file)
		}
		reasons += why + "\n"
	}
	for _, place := range app.Outbounds(config.Default()) {
		if place.On || place.Leaves || place.Target != "" {
			t.Errorf("%s is on by default", place.Name)
		}
		if !strings.Contains(reasons, "place "+place.Name) {
			t.Errorf("no file stands behind %s", place.Name)
		}
	}
}

// TestOnlyListedPlacesDialSees is the negative control: each way to open a connection is seen.
func TestOnlyListedPlacesDialSees(t *testing.T) {
	for _, test := range []struct{ imports, use string }{
		{`"net"`, `net.Dial("tcp", "x:1")`},
		{`n "net"`, `(&n.Dialer{}).Dial("tcp", "x:1")`},
		{`. "net"`, `Dial("tcp", "x:1")`},
		{`"net"`, `net.LookupHost("x")`},
		{`"net/http"`, `http.Get("http://x")`},
		{`"net/http"`, `new(http.Client)`},
		{`web "net/http"`, `web.DefaultTransport.RoundTrip(nil)`},
		{`"os/exec"`, `exec.Command("curl")`},
		{`"github.com/nats-io/nats.go"`, `nats.Connect("x")`},
		{`_ "gorm.io/driver/postgres"`, `println()`},
		{`"syscall"`, `syscall.Socket(1, 2, 3)`},
	} {
		text := fmt.Sprintf("package x\nimport %s\nfunc f() { %s }\n", test.imports, test.use)
		uses, err := connecting("x.go", text)
		if err != nil || len(uses) == 0 {
			t.Errorf("%s with import %s is not seen (%v)", test.use, test.imports, err)
		}
	}
	for _, text := range []string{
		"package x\nimport \"net\"\nvar _, _, _ = net.SplitHostPort(\"x\")\n",
		"package x\nimport \"net/http\"\nfunc f(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) }\n",
	} {
		if uses, err := connecting("x.go", text); err != nil || len(uses) > 0 {
			t.Errorf("%s: %v %v", text, uses, err)
		}
	}
}

// connecting lists what of connects a file uses; text is the file's, or nil to read it.
func connecting(file string, text any) ([]string, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var uses []string
	names := map[string]string{} // of packages in this file
	for _, spec := range parsed.Imports {
		from, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		which, listed := connects[from]
		if !listed {
			continue
		}
		local := path.Base(from)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if which == nil || local == "." {
			uses = append(uses, "import "+from)
			continue
		}
		names[local] = from
	}
	ast.Inspect(parsed, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := selector.X.(*ast.Ident); ok {
			if from, there := names[x.Name]; there && slices.Contains(connects[from], selector.Sel.Name) {
				uses = append(uses, from+"."+selector.Sel.Name)
			}
		}
		return true
	})
	return uses, nil
}

// TestBellServerIsListed: the address of the bell's server is shown without its password, and leaves the machine unless it is on it.
func TestBellServerIsListed(t *testing.T) {
	for address, leaves := range map[string]bool{"nats://me:s3cret@127.0.0.1:4222": false, "nats+tls://me:s3cret@nats.example.com": true} {
		place := slices.DeleteFunc(app.Outbounds(config.Config{NATS: address}), func(p router.Outbound) bool { return p.Name != "nats" })[0]
		if !place.On || place.Leaves != leaves || place.Target != strings.Replace(address, "me:s3cret@", "", 1) {
			t.Errorf("%+v", place)
		}
	}
}

// TestOnThisMachine: what leaves is told by the form of an address.
func TestOnThisMachine(t *testing.T) {
	for address, want := range map[string]bool{
		"http://127.0.0.1:11434/v1": true, "http://127.9.9.9": true, "http://[::1]:8080/v1": true, "http://LOCALHOST:1234": true, "http://[::ffff:127.0.0.1]": true,
		"http://192.0.2.1": false, "https://api.openai.com/v1": false, "http://localhost.evil.example": false, "http://127.0.0.1.evil.example": false, "http://0.0.0.0:80": false, "": false, "http://%": false,
	} {
		if got := app.OnThisMachine(address); got != want {
			t.Errorf("%q: %v, want %v", address, got, want)
		}
	}
}
