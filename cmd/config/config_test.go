package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/internal/errs"
)

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func environment(pairs map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := pairs[name]; return v, ok }
}

func TestOrder(t *testing.T) {
	file := write(t, "listen: 127.0.0.1:1\nlog:\n  level: warn\n  format: json\npresence:\n  stale_after: 50s\n")
	got, err := config.Load(config.Sources{
		File:      file,
		LookupEnv: environment(map[string]string{"SKILLROUTER_LISTEN": "127.0.0.1:2", "SKILLROUTER_LOG_LEVEL": "error", "SKILLROUTER_LOG_FORMAT": "", "SKILLROUTER_DATA": "/env"}),
		Flags:     map[string]string{"listen": "127.0.0.1:3"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.Listen, want.Log.Level, want.Log.Format, want.Presence.StaleAfter = "127.0.0.1:3", "error", "json", 50*time.Second
	want.Data, _ = filepath.Abs("/env")
	if diff := cmp.Diff(want, got.Config); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for name, origin := range map[string]config.Origin{
		"listen": "--listen", "log.level": "SKILLROUTER_LOG_LEVEL", "log.format": config.Origin(file),
		"presence.stale_after": config.Origin(file), "shutdown_grace": config.OriginDefault,
	} {
		if got.Origins[name] != origin {
			t.Errorf("%s comes from %q, want %q", name, got.Origins[name], origin)
		}
	}
}

func TestDefaultsAreValid(t *testing.T) {
	c := config.Default()
	if c.Data == "" {
		c.Data = t.TempDir()
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
}

// TestExampleIsComplete holds the example to the settings: each is there, with
// its default, and nothing else is.
func TestExampleIsComplete(t *testing.T) {
	got, err := config.Load(config.Sources{File: write(t, config.Example)})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(config.Default(), got.Config); diff != "" {
		t.Errorf("the example is not the defaults (-default +example)\n%s", diff)
	}
	for _, s := range config.Settings() {
		if got.Origins[s.Name] == config.OriginDefault {
			t.Errorf("the example does not say %s", s.Name)
		}
	}
}

// TestSettingsAreComplete holds the settings to the struct: each leaf has a
// name in the environment and on the command line.
func TestSettingsAreComplete(t *testing.T) {
	text, err := yaml.Marshal(config.Default())
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	leaves := map[string]bool{}
	var walk func(prefix string, tree map[string]any)
	walk = func(prefix string, tree map[string]any) {
		for key, value := range tree {
			if below, ok := value.(map[string]any); ok {
				walk(prefix+key+".", below)
			} else {
				leaves[prefix+key] = true
			}
		}
	}
	walk("", tree)
	for _, s := range config.Settings() {
		if !leaves[s.Name] {
			t.Errorf("the setting %s is not in the struct", s.Name)
		}
		delete(leaves, s.Name)
	}
	for name := range leaves {
		t.Errorf("%s is in the struct and not among the settings", name)
	}
}

// TestSecretsAreMasked: a key is read from the environment, and shown to nobody.
func TestSecretsAreMasked(t *testing.T) {
	const key = "sk-of-the-endpoint"
	got, err := config.Load(config.Sources{File: write(t, ""), LookupEnv: environment(map[string]string{"SKILLROUTER_LLM_API_KEY": key})})
	if err != nil || got.LLM.APIKey != key {
		t.Fatalf("%q %v", got.LLM.APIKey, err)
	}
	for _, s := range config.Settings() {
		if strings.Contains(s.Show(got.Config), key) {
			t.Errorf("%s shows the key", s.Name)
		}
		if s.Name == "llm.api_key" && (!s.Secret || s.Show(got.Config) == "") {
			t.Error("llm.api_key is no secret, or looks unset")
		}
	}
}

// TestShowIsRead checks that what Show writes is read back as the same value.
func TestShowIsRead(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // no file of whoever runs the tests
	want := config.Default()
	want.AllowedHosts = []string{"router.lan", "10.0.0.7"}
	want.Retention.Messages = 90 * time.Minute
	want.Escalation = config.Escalation{Rules: "rules.yaml", Supervisors: []string{"security=AEGIS", "data & ml=HADES"}}
	want.Ranking.SimilarityWeight = 0.25
	want.Consolidation.Threshold = 0.8
	want.LLM = config.LLM{
		BaseURL: "http://localhost:11434/v1", Model: "qwen3-coder", ContextWindow: 32768, Timeout: time.Minute, EmbeddingModel: "nomic-embed-text",
		EmbeddingBaseURL: "https://vectors.lan", MemoryBudget: 800, Record: true,
	}
	want.Data = t.TempDir()
	want.TLSCert, want.TLSKey, want.TLSCA = "/tls/router.crt", "/tls/router.key", "/tls/ca.crt"
	flags := map[string]string{}
	for _, s := range config.Settings() {
		flags[s.Name] = s.Show(want)
	}
	got, err := config.Load(config.Sources{Flags: flags})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Config); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		name    string
		file    string
		env     map[string]string
		flags   map[string]string
		message []string // each must be in the message
	}{
		{name: "unknown key", file: "listen: 127.0.0.1:1\nlisten_on: x\n", message: []string{":2:", "listen_on"}},
		{name: "unknown nested key", file: "log:\n  level: info\n  colour: red\n", message: []string{":3:", "colour"}},
		{name: "repeated key", file: "listen: 127.0.0.1:1\nlisten: 127.0.0.1:2\n", message: []string{":2:", "listen"}},
		{name: "wrong type", file: "log: loud\n", message: []string{":1:"}},
		{name: "duration without unit", file: "\nshutdown_grace: 10\n", message: []string{":2:", "shutdown_grace", "a duration such as 15s"}},
		{name: "alias", file: "listen: &a 127.0.0.1:1\ndata: *a\n", message: []string{":1:", "aliases"}},
		{name: "alias bomb", file: "a: &a [x,x]\nb: &b [*a,*a]\nc: &c [*b,*b]\n", message: []string{":1:", "aliases"}},
		{name: "merge key", file: "log:\n  <<: {level: info}\n", message: []string{":2:", "merge"}},
		{name: "tag", file: "listen: !!binary aGk=\n", message: []string{":1:", "tags"}},
		{name: "two documents", file: "listen: 127.0.0.1:1\n---\nlisten: 127.0.0.1:2\n", message: []string{"more than one document"}},
		{name: "a list", file: "- listen\n", message: []string{":1:", "key: value"}},
		{name: "not YAML", file: "listen: [\n", message: []string{"c.yaml"}},
		{name: "too large", file: "# " + strings.Repeat("x", config.MaxFile), message: []string{"larger"}},
		{name: "bad level in the file", file: "log:\n  level: loud\n", message: []string{"log.level", "one of", "c.yaml"}},
		{name: "bad level in the environment", env: map[string]string{"SKILLROUTER_LOG_LEVEL": "loud"}, message: []string{"log.level", "SKILLROUTER_LOG_LEVEL"}},
		{name: "no scheme for a collector", flags: map[string]string{"telemetry.endpoint": "127.0.0.1:4318"}, message: []string{"telemetry.endpoint", "must be a URL such as http://127.0.0.1:4318"}},
		{name: "another scheme for a collector", flags: map[string]string{"telemetry.endpoint": "grpc://x:4317"}, message: []string{"telemetry.endpoint", "must be a URL such as http://127.0.0.1:4318"}},
		{name: "a user for a collector", flags: map[string]string{"telemetry.endpoint": "http://u:p@x"}, message: []string{"telemetry.endpoint", "must be a URL such as http://127.0.0.1:4318"}},
		{name: "a query for a collector", flags: map[string]string{"telemetry.endpoint": "http://x?key=1"}, message: []string{"telemetry.endpoint", "must be a URL such as http://127.0.0.1:4318"}},
		{name: "an empty query for a collector", flags: map[string]string{"telemetry.endpoint": "http://x?"}, message: []string{"telemetry.endpoint", "must be a URL such as http://127.0.0.1:4318"}},
		{name: "a fragment for a collector", flags: map[string]string{"telemetry.endpoint": "http://x#f"}, message: []string{"telemetry.endpoint", "must be a URL such as http://127.0.0.1:4318"}},
		{name: "bad duration in a flag", flags: map[string]string{"presence.stale_after": "soon"}, message: []string{"presence.stale_after", "--presence-stale-after", `"soon"`}},
		{name: "stale before the next heartbeat", flags: map[string]string{"presence.stale_after": "10s"}, message: []string{"longer than presence.heartbeat_interval"}},
		{name: "offline before stale", flags: map[string]string{"presence.offline_after": "30s"}, message: []string{"longer than presence.stale_after"}},
		{name: "negative interval", flags: map[string]string{"presence.heartbeat_interval": "-1s"}, message: []string{"between"}},
		{name: "negative retention", flags: map[string]string{"retention.messages": "-1s"}, message: []string{"negative"}},
		{name: "listen without port", flags: map[string]string{"listen": "127.0.0.1"}, message: []string{"HOST:PORT"}},
		{name: "listen with scheme", flags: map[string]string{"listen": "http://127.0.0.1:80"}, message: []string{"listen"}},
		{name: "port too great", flags: map[string]string{"listen": ":65536"}, message: []string{"65535"}},
		{name: "host with wildcard", flags: map[string]string{"allowed_hosts": "*.lan"}, message: []string{"allowed_hosts"}},
		{name: "host with port", flags: map[string]string{"allowed_hosts": "a,b:80"}, message: []string{"allowed_hosts"}},
		{name: "supervisor without a domain", flags: map[string]string{"escalation.supervisors": "AEGIS"}, message: []string{"escalation.supervisors", "DOMAIN=AGENT"}},
		{name: "supervisor that is no id", flags: map[string]string{"escalation.supervisors": "a=b c"}, message: []string{"escalation.supervisors"}},
		{name: "weight over one", flags: map[string]string{"ranking.similarity_weight": "1.1"}, message: []string{"ranking.similarity_weight", "between"}},
		{name: "threshold over one", flags: map[string]string{"consolidation.threshold": "1.5"}, message: []string{"consolidation.threshold", "between"}},
		{name: "weight that is no number", flags: map[string]string{"ranking.similarity_weight": "NaN"}, message: []string{"ranking.similarity_weight"}},
		{name: "weight in words", file: "ranking:\n  similarity_weight: much\n", message: []string{":2:", "a number"}},
		{name: "endpoint that is no URL", flags: map[string]string{"llm.base_url": "localhost:11434"}, message: []string{"llm.base_url", "http://127.0.0.1:11434/v1"}},
		{name: "endpoint with a user", flags: map[string]string{"llm.base_url": "http://me:pass@localhost"}, message: []string{"llm.base_url", "llm.api_key"}},
		{name: "model without an endpoint", flags: map[string]string{"llm.model": "qwen"}, message: []string{"llm.model", "llm.base_url"}},
		{name: "embedding model without an endpoint", flags: map[string]string{"llm.embedding_model": "nomic"}, message: []string{"llm.embedding_model", "llm.embedding_base_url"}},
		{name: "embedding endpoint without a model", flags: map[string]string{"llm.embedding_base_url": "http://localhost"}, message: []string{"llm.embedding_base_url"}},
		{name: "key with a line break", env: map[string]string{"SKILLROUTER_LLM_API_KEY": "a\nb"}, message: []string{"llm.api_key", "control"}},
		{name: "negative window", flags: map[string]string{"llm.context_window": "-1"}, message: []string{"llm.context_window", "between"}},
		{name: "window in words", file: "llm:\n  context_window: large\n", message: []string{":2:", "a whole number"}},
		{name: "budget of nothing much", flags: map[string]string{"llm.memory_budget": "7"}, message: []string{"llm.memory_budget", "50"}},
		{name: "budget of ten million", flags: map[string]string{"llm.memory_budget": "10000000"}, message: []string{"llm.memory_budget"}},
		{name: "time-out of nothing", flags: map[string]string{"llm.timeout": "0s"}, message: []string{"llm.timeout"}},
		{name: "record perhaps", flags: map[string]string{"llm.record": "perhaps"}, message: []string{"llm.record", "true or false"}},
		{name: "certificate without a key", flags: map[string]string{"tls_cert": "a.crt"}, message: []string{"tls_key", "a.crt"}},
		{name: "key without a certificate", file: "tls_key: b.key\n", message: []string{"tls_cert", "b.key"}},
		{name: "certificate with NUL", flags: map[string]string{"tls_cert": "a\x00", "tls_key": "b"}, message: []string{"tls_cert", "NUL"}},
		{name: "secret without a node", flags: map[string]string{"cluster_secret_file": "s"}, message: []string{"node is required"}},
		{name: "node without a database", flags: map[string]string{"node": "a", "cluster_secret_file": "s"}, message: []string{"node needs database"}},
		{name: "node without a secret", flags: map[string]string{"node": "a", "database": "postgres://h/d"}, message: []string{"cluster_secret_file", "openssl"}},
		{name: "node of two words", flags: map[string]string{"node": "a b", "database": "postgres://h/d", "cluster_secret_file": "s"}, message: []string{"node must be"}},
		{name: "node with a path", flags: map[string]string{"node": "a", "database": "postgres://h/d", "cluster_secret_file": "s", "node_url": "http://h:1/x"}, message: []string{"node_url"}},
		{name: "node at every address", flags: map[string]string{"node": "a", "database": "postgres://h/d", "cluster_secret_file": "s", "listen": "0.0.0.0:8025"}, message: []string{"node_url is required"}},
		{name: "node at every address, by port alone", flags: map[string]string{"node": "a", "database": "postgres://h/d", "cluster_secret_file": "s", "listen": ":8025"}, message: []string{"node_url is required"}},
		{name: "bell without a node", env: map[string]string{"SKILLROUTER_NATS": "nats://127.0.0.1:4222"}, message: []string{"node is required", "nats"}},
		{name: "bell of another kind", flags: map[string]string{"node": "a", "database": "postgres://h/d", "cluster_secret_file": "s", "nats": "http://h:4222"}, message: []string{"nats must be", "nats+tls://"}},
		{name: "bell with a path", flags: map[string]string{"node": "a", "database": "postgres://h/d", "cluster_secret_file": "s", "nats": "nats://h:4222/x"}, message: []string{"nats must be"}},
		{name: "grace too long", flags: map[string]string{"shutdown_grace": "1h"}, message: []string{"shutdown_grace"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			sources := config.Sources{LookupEnv: environment(test.env), Flags: test.flags, File: write(t, test.file)}
			_, err := config.Load(sources)
			if errs.CodeOf(err) != errs.Invalid {
				t.Fatalf("error is %v, want an invalid one", err)
			}
			for _, part := range test.message {
				if !strings.Contains(errs.Explain(err), part) {
					t.Errorf("message %q does not hold %q", errs.Explain(err), part)
				}
			}
		})
	}
}

// TestCertificatesAreFound: what a file names starts from the file's folder, everything else from the working folder.
func TestCertificatesAreFound(t *testing.T) {
	file := write(t, "tls_cert: certs/a.crt\ntls_key: /keys/a.key\ntls_ca: ~/ca.crt\n")
	t.Setenv("HOME", "/home/a")
	got, err := config.Load(config.Sources{File: file})
	if err != nil {
		t.Fatal(err)
	}
	if got.TLSCert != filepath.Join(filepath.Dir(file), "certs", "a.crt") || got.TLSKey != "/keys/a.key" || got.TLSCA != "/home/a/ca.crt" || got.Scheme() != "https" {
		t.Errorf("%q %q %q", got.TLSCert, got.TLSKey, got.TLSCA)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	got, err = config.Load(config.Sources{File: file, LookupEnv: environment(map[string]string{"SKILLROUTER_TLS_CERT": "b.crt"}), Flags: map[string]string{"tls_key": "b.key"}})
	if err != nil || got.TLSCert != filepath.Join(here, "b.crt") || got.TLSKey != filepath.Join(here, "b.key") {
		t.Errorf("%q %q %v", got.TLSCert, got.TLSKey, err)
	}
}

func TestMissingFile(t *testing.T) {
	_, err := config.Load(config.Sources{File: filepath.Join(t.TempDir(), "none.yaml")})
	if err == nil || !strings.Contains(errs.MessageOf(err), "none.yaml") {
		t.Errorf("a file that was named and is not there: %v", err)
	}
}

func TestEmptyFiles(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "comments": "# nothing\n", "null": "null\n", "empty section": "log:\n"} {
		t.Run(name, func(t *testing.T) {
			got, err := config.Load(config.Sources{File: write(t, text)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(config.Default(), got.Config); diff != "" {
				t.Errorf("(-default +got)\n%s", diff)
			}
		})
	}
}

func TestDataFolder(t *testing.T) {
	tests := []struct {
		name, goos, home string
		env              map[string]string
		want             string
	}{
		{"linux", "linux", "/home/a", nil, "/home/a/.local/share/skillrouter"},
		{"XDG", "linux", "/home/a", map[string]string{"XDG_DATA_HOME": "/d"}, "/d/skillrouter"},
		{"relative XDG is ignored", "linux", "/home/a", map[string]string{"XDG_DATA_HOME": "d"}, "/home/a/.local/share/skillrouter"},
		{"macOS", "darwin", "/Users/a", nil, "/Users/a/Library/Application Support/skillrouter"},
		{"Windows", "windows", "/u", map[string]string{"LocalAppData": "/l"}, "/l/skillrouter"},
		{"Windows without its variable", "windows", "/u", nil, "/u/AppData/Local/skillrouter"},
		{"nothing known", "linux", "", nil, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := config.DataFolder(test.goos, test.home, func(name string) string { return test.env[name] })
			if filepath.ToSlash(got) != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// FuzzLoad checks that no file makes Load panic or answer settings that are not valid.
func FuzzLoad(f *testing.F) {
	f.Add(config.Example)
	f.Add("listen: &a 127.0.0.1:1\ndata: *a\n")
	f.Add("log: {level: info, format: [}")
	f.Add("? a\n: b\n")
	f.Add("---\n...\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		name := filepath.Join(t.TempDir(), "c.yaml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := config.Load(config.Sources{File: name})
		if err != nil {
			if code := errs.CodeOf(err); code != errs.Invalid {
				t.Fatalf("code %s: %v", code, err)
			}
			return
		}
		if err := got.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestCompatiblePorts: the one switch opens the four ports that the papers name, on
// the host that is listened on, and none twice.
func TestCompatiblePorts(t *testing.T) {
	c := config.Default()
	if _, on := c.InterLockAddress(); on || len(c.HTTPAddresses())+len(c.WebSocketAddresses()) > 0 {
		t.Error("more than the one listener is open by default")
	}
	c.CompatiblePorts = true
	for _, test := range []struct {
		listen                string
		http, websocket, mesh string
	}{
		{"127.0.0.1:8025", "127.0.0.1:8031", "127.0.0.1:9031", "127.0.0.1:3031"},
		{"[::1]:9000", "[::1]:8025 [::1]:8031", "[::1]:9031", "[::1]:3031"},
	} {
		c.Listen = test.listen
		mesh, on := c.InterLockAddress()
		if got := joined(c.HTTPAddresses()); got != test.http {
			t.Errorf("HTTP beside %s: %s", test.listen, got)
		}
		if got := joined(c.WebSocketAddresses()); got != test.websocket {
			t.Errorf("WebSocket beside %s: %s", test.listen, got)
		}
		if !on || mesh.Listen != test.mesh {
			t.Errorf("InterLock beside %s: %v", test.listen, mesh)
		}
	}
	c.Listeners.HTTP, c.InterLock.Listen = []string{"[::1]:8031", "127.0.0.1:0", "127.0.0.1:0"}, "127.0.0.1:7"
	if got := joined(c.HTTPAddresses()); got != "[::1]:8031 127.0.0.1:0 127.0.0.1:0 [::1]:8025" {
		t.Errorf("named and by the switch: %s", got)
	}
	if mesh, _ := c.InterLockAddress(); mesh.Listen != "127.0.0.1:7" {
		t.Errorf("a named address does not outweigh the switch: %v", mesh)
	}
}

func joined(list []config.Address) string {
	var text []string
	for _, address := range list {
		text = append(text, address.Listen)
	}
	return strings.Join(text, " ")
}

func TestListenersAreChecked(t *testing.T) {
	for _, text := range []string{
		"listeners:\n  http: [8031]\n", "listeners:\n  websocket: ['http://x:1']\n", "listeners:\n  http: ['127.0.0.1:70000']\n",
		"interlock:\n  listen: nowhere\n", "listeners:\n  http: [" + strings.Repeat("'127.0.0.1:0',", 16+1) + "]\n",
	} {
		if _, err := config.Load(config.Sources{File: write(t, text)}); errs.CodeOf(err) != errs.Invalid {
			t.Errorf("%q: %v", text, err)
		}
	}
}
