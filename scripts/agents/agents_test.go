package agents

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	// dataFolder is the router's, where it is without any setting.
	dataFolder = "home/.local/share/skillrouter"
	// agentTime bounds one run of an agent. Each takes less than ten seconds on a
	// machine that has nothing else to do.
	agentTime = 10 * time.Minute
	// patience bounds the waiting for what happens behind an agent's back.
	patience = time.Minute
)

// place is a home, a project and a router of their own.
type place struct {
	t       *testing.T
	root    string
	npm     string   // prefix under which the agents are installed
	program string   // the built skillrouter
	folders []string // of the projects; commands are run in the first
	model   *model
	url     string // of the model
}

func (p *place) path(name string) string { return filepath.Join(p.root, name) }

func (p *place) write(name, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(p.path(name), []byte(text), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

// env is all that a command here gets of an environment: nothing of whoever runs this.
func (p *place) env(more ...string) []string {
	node := "/usr/bin"
	if found, err := exec.LookPath("node"); err == nil {
		node = filepath.Dir(found)
	}
	return append([]string{
		"HOME=" + p.path("home"), "PATH=" + p.path("bin") + ":" + node + ":/usr/local/bin:/usr/bin:/bin", "TMPDIR=" + p.path("tmp"),
		"SKILLROUTER_LISTEN=127.0.0.1:0", "XDG_CONFIG_HOME=" + p.path("home/.config"), "XDG_CACHE_HOME=" + p.path("home/.cache"),
	}, more...)
}

// run runs a command in the first project and returns what it wrote.
func (p *place) run(limit time.Duration, env []string, args ...string) (string, error) {
	p.t.Helper()
	return p.runIn(p.folders[0], limit, env, args...)
}

func (p *place) runIn(folder string, limit time.Duration, env []string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = p.path(folder), p.env(env...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// router runs one of the program's commands, which must succeed.
func (p *place) router(args ...string) string {
	p.t.Helper()
	out, err := p.run(patience, nil, append([]string{p.program}, args...)...)
	if err != nil {
		p.t.Errorf("skillrouter %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// await repeats a command until what it writes matches.
func (p *place) await(expression string, args ...string) {
	p.t.Helper()
	want, last := regexp.MustCompile(expression), ""
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(patience); time.Now().Before(limit); <-tick.C {
		if last, _ = p.run(patience, nil, append([]string{p.program}, args...)...); want.MatchString(last) {
			return
		}
	}
	p.t.Errorf("skillrouter %s never says %s:\n%s", strings.Join(args, " "), expression, last)
}

// madeByAgents are the files of a project that an agent makes for itself.
var madeByAgents = []string{".opencode/.gitignore", ".claude/settings.local.json"}

// tree is a digest of each file of the project but those that an agent keeps there itself.
func (p *place) tree() string {
	p.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(p.path("shop"), func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(p.path("shop"), path)
		if err != nil || d.IsDir() || slices.Contains(madeByAgents, name) || strings.HasPrefix(name, ".git/") || strings.Contains(name, "node_modules/") {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %x\n", name, sha256.Sum256(text))
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return b.String()
}

// newPlace makes an empty home and starts a router in it.
func newPlace(t *testing.T, npm string, folders ...string) *place {
	t.Helper()
	program := os.Getenv("SKILLROUTER_BIN")
	if program == "" {
		program = "../../bin/skillrouter"
	}
	program, err := filepath.Abs(program)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Fatalf("build it first, or name it in SKILLROUTER_BIN: %v", err)
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, root: root, npm: npm, program: program, folders: folders, model: &model{}}
	for _, name := range []string{"home/.config/x", "tmp/x", folders[0] + "/x"} {
		p.write(name, "")
	}
	if err := os.Remove(p.path(folders[0] + "/x")); err != nil {
		t.Fatal(err)
	}
	p.write("bin/docker", "#!/bin/sh\necho \"$@\" >> "+p.path("docker-ran")+"\n")
	if err := os.Symlink(program, p.path("bin/skillrouter")); err != nil {
		t.Fatal(err)
	}
	p.write("home/.profile", "PATH="+p.path("bin")+":$PATH\n") // Codex runs a login shell, which sets it anew
	small := filepath.Join(filepath.Dir(program), "skillrouter-hook")
	if _, err := os.Stat(small); err == nil { // then setup writes it into the agents' hooks
		if err := os.Symlink(small, p.path("bin/skillrouter-hook")); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(p.model)
	t.Cleanup(server.Close)
	p.url = server.URL

	log, err := os.Create(p.path("router.log"))
	if err != nil {
		t.Fatal(err)
	}
	serve := exec.Command(program, "serve")
	serve.Env, serve.Stdout, serve.Stderr = p.env(), log, log
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serve.Process.Signal(syscall.SIGTERM)
		_ = serve.Wait()
		_ = log.Close()
		if t.Failed() {
			text, _ := os.ReadFile(p.path("router.log"))
			t.Logf("the router: %s", text[max(0, len(text)-2000):])
		}
	})
	p.await("is healthy", "status")
	return p
}

// newShop is a place with a project that has its own rules for agents and a command that
// must never be run.
func newShop(t *testing.T, npm string) *place {
	t.Helper()
	p := newPlace(t, npm, "shop")
	for _, name := range []string{"shop/.git/objects/x", "shop/.git/refs/x"} {
		p.write(name, "")
	}
	p.write("shop/.git/HEAD", "ref: refs/heads/main\n")
	p.write("shop/.git/config", "[core]\n\trepositoryformatversion = 0\n")
	for _, name := range []string{"CLAUDE.md", "AGENTS.md", "GEMINI.md"} {
		p.write("shop/"+name, "# House rules\n\nBe kind.\r\n")
	}
	p.router("lessons", "report", "Never prune volumes on prod", "--type", "anti_pattern", "--domain", "docker", "--context", "prune removed a volume in use",
		"--outcome", "lost data", "--severity", "critical", "--command", "docker volume prune -f", "--agent", "alice")
	return p
}

// agent is how one is run without a network and a person.
type agent struct {
	name     string
	label    string   // of the tests, if it is not the name: one agent may be run in several ways
	program  []string // where npm installs it
	env      func(p *place) []string
	args     func(program, prompt string) []string
	prepare  func(p *place)    // its own configuration, that it reaches the model
	trust    func(p *place)    // what a person does once: then it runs hooks
	before   string            // what --check says of trust before that
	searches bool              // it names tools of servers and is told their parameters when it searches
	turns    bool              // a message at the end of a turn gives it a further one
	cannot   map[string]string // stories that it has no mechanism for, by their numbers, and why
	told     bool              // a message is told before a tool's use, too
}

// named is what the tests of it are called.
func (a agent) named() string { return cmp.Or(a.label, a.name) }

// installed is the agent's program.
func (a agent) installed(npm string) string {
	return filepath.Join(append([]string{npm, "node_modules"}, a.program...)...)
}

// session runs the agent in a folder, from a prompt to its end.
func (a agent) session(p *place, folder, prompt string, env ...string) (string, error) {
	return p.runIn(folder, agentTime, append(a.env(p), env...), a.args(a.installed(p.npm), prompt)...)
}

// each joins a text for each of the projects' folders; %q stands for the folder.
func (p *place) each(form, between string) string {
	parts := make([]string, len(p.folders))
	for i, folder := range p.folders {
		parts[i] = fmt.Sprintf(form, p.path(folder))
	}
	return strings.Join(parts, between)
}

// codex is where npm installs Codex's program.
var codex = []string{"@openai", "codex-linux-x64", "vendor", "x86_64-unknown-linux-musl", "bin", "codex"}

// codexHome writes Codex's configuration for a model. One that Codex knows is offered no
// tools but one that runs code, which uses the others (code mode).
func codexHome(model string) func(p *place) {
	return func(p *place) {
		if err := os.Symlink(agent{program: codex}.installed(p.npm), p.path("bin/codex")); err != nil { // --check asks it
			p.t.Fatal(err)
		}
		p.write("home/.codex/config.toml", "model = \""+model+"\"\nmodel_auto_compact_token_limit = 100000\nmodel_provider = \"fake\"\n[model_providers.fake]\nname = \"fake\"\nbase_url = \""+p.url+
			"/v1\"\nwire_api = \"responses\"\nenv_key = \"FAKE_KEY\"\n"+p.each("[projects.%q]\ntrust_level = \"trusted\"\n", ""))
	}
}

func agents() []agent {
	codexAgent := agent{
		name: "codex", before: "MISSING", turns: true, told: true,
		program: codex,
		env:     func(*place) []string { return []string{"FAKE_KEY=x"} },
		args: func(program, prompt string) []string {
			return []string{program, "exec", "--json", "--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust", prompt}
		},
		prepare: codexHome("fake-model"),
	}
	codexCode := codexAgent
	codexCode.label, codexCode.prepare = "codex-code", codexHome("gpt-6-sol")
	codexCode.cannot = map[string]string{"22": "in code mode the task of a subagent is encrypted, and no hook is told of it: it begins with the rules alone"}
	return []agent{
		{
			name: "claude-code", before: "not known", searches: true, turns: true, told: true,
			program: []string{"@anthropic-ai", "claude-code-linux-x64", "claude"},
			env: func(p *place) []string {
				return []string{
					"ANTHROPIC_BASE_URL=" + p.url, "ANTHROPIC_API_KEY=sk-ant-dummy", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1",
					"DISABLE_AUTOUPDATER=1", "IS_SANDBOX=1",
				}
			},
			args: func(program, prompt string) []string {
				return []string{program, "-p", prompt, "--output-format", "stream-json", "--verbose", "--permission-mode", "bypassPermissions"}
			},
			prepare: func(*place) {},
			trust: func(p *place) {
				var state struct {
					Projects map[string]map[string]any `json:"projects"` // what setup wrote stays
				}
				text, _ := os.ReadFile(p.path("home/.claude.json"))
				_ = json.Unmarshal(text, &state) // there may be none
				if state.Projects == nil {
					state.Projects = map[string]map[string]any{}
				}
				for _, folder := range p.folders {
					known := state.Projects[p.path(folder)]
					if known == nil {
						known = map[string]any{}
					}
					known["hasTrustDialogAccepted"], known["enabledMcpjsonServers"] = true, []string{"skillrouter"}
					state.Projects[p.path(folder)] = known
				}
				p.write("home/.claude.json", asJSON(state))
			},
		},
		codexAgent,
		codexCode,
		{
			name: "opencode", told: true,
			program: []string{"opencode-linux-x64", "bin", "opencode"},
			env: func(*place) []string {
				return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "npm_config_fetch_retries=0"}
			},
			args: func(program, prompt string) []string {
				return []string{program, "run", "-m", "fake/fake", prompt}
			},
			prepare: func(p *place) {
				p.write("home/.config/opencode/opencode.json", `{"provider":{"fake":{"npm":"@ai-sdk/openai-compatible","name":"fake","options":{"baseURL":"`+p.url+
					`/v1","apiKey":"x"},"models":{"fake":{"name":"fake","limit":{"context":200000,"output":8000}}}}},"permission":"allow"}`)
			},
		},
		{
			name: "gemini", before: "MISSING", turns: true,
			cannot: map[string]string{
				"16": "Gemini CLI compacts nothing after one prompt",
				"21": "Gemini CLI compacts nothing after one prompt, and runs its hook before each request, whether or not it does",
				"22": "Gemini CLI runs no hook at the start of a subagent",
			},
			program: []string{".bin", "gemini"},
			env: func(p *place) []string {
				return []string{"GOOGLE_GEMINI_BASE_URL=" + p.url, "GEMINI_API_KEY=dummy", "GEMINI_CLI_NO_RELAUNCH=true"}
			},
			args: func(program, prompt string) []string {
				return []string{"node", program, "-p", prompt, "-y"}
			},
			prepare: func(p *place) {
				p.write("home/.gemini/settings.json", `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`)
			},
			trust: func(p *place) {
				p.write("home/.gemini/trustedFolders.json", `{`+p.each(`%q:"TRUST_FOLDER"`, ",")+`}`)
			},
		},
	}
}

// TestRealAgents sets each agent up, runs it against a script and takes the setup
// back: what the model is offered and told, what is blocked, what becomes of a
// failure, of a message, of a stop and of the end, and what --check says of it.
func TestRealAgents(t *testing.T) {
	npm := os.Getenv("SKILLROUTER_REAL_AGENTS")
	if npm == "" {
		t.Skip("SKILLROUTER_REAL_AGENTS names no folder that the agents are installed in: make agents")
	}
	for _, a := range agents() {
		t.Run(a.named(), func(t *testing.T) { a.test(t, newShop(t, npm)) })
	}
}

func (a agent) test(t *testing.T, p *place) {
	a.prepare(p)
	before := p.tree()
	check := func() string {
		out, _ := p.run(patience, nil, p.program, "setup", a.name, "--check")
		return out
	}
	p.router("setup", a.name, "--yes")
	if bak := strings.Contains(p.tree(), ".bak"); bak {
		t.Error("a backup lies in the project")
	}
	if out := check(); a.before != "" && !regexp.MustCompile(`(?m)^`+a.before+` +`+a.name+` +trust`).MatchString(out) {
		t.Errorf("before anybody trusted it, --check says\n%s", out)
	}
	if a.trust != nil {
		a.trust(p)
		if out := check(); !regexp.MustCompile(`(?m)^ok +` + a.name + ` +trust`).MatchString(out) {
			t.Errorf("once it is trusted, --check says\n%s", out)
		}
	}
	if out := check(); strings.Contains(out, "it warns") || !regexp.MustCompile(`(?m)^not known +`+a.name+` +heard`).MatchString(out) {
		t.Errorf("before its first session, --check says\n%s", out)
	}

	at := map[string]int{} // the question after each step
	var steps []step
	add := func(name string, s step) {
		steps = append(steps, s)
		at[name] = len(steps)
	}
	add("block", step{shell: "docker volume prune -f"})
	add("fail", step{shell: "cat no-such-file-xyz.txt; exit 3"})
	if a.searches {
		add("search", step{tool: "store_knowledge", search: true})
	}
	add("store", step{tool: "store_knowledge", args: object{"title": "Checkout timeout is 30 s", "content": "The checkout service times out after 30 s.", "category": "gotcha"}})
	add("misuse", step{tool: "store_knowledge", args: object{"title": ""}})
	add("message", step{shell: "echo after-message", before: func() {
		p.router("signal", p.present(a), "message", "--from", "bob", "--context", `{"text":"PINEAPPLE please"}`)
	}})
	if a.turns {
		add("end", step{text: "I am done.", before: func() {
			p.router("signal", p.present(a), "message", "--from", "bob", "--context", `{"text":"CHERRY too"}`)
		}})
	}
	add("stop", step{shell: "echo after-stop", before: func() { p.router("stop", p.present(a), "--from", "bob", "--reason", "BANANA freeze") }})
	add("said", step{text: "The API listens on port 9090."})
	prompt := "Clean up. The API listens on port 8080."
	session := p.model.begin(prompt, steps...)

	out, err := a.session(p, "shop", prompt)
	if err != nil {
		t.Errorf("the agent: %v\n%s", err, tail(out))
	}
	question := func(name string) string { return session.question(at[name]) }
	says := func(where, text, want string) {
		t.Helper()
		if !strings.Contains(text, want) {
			t.Errorf("%s: the model is not told %q:\n%s", where, want, tail(text))
		}
	}
	// A hook gives up after 4 s and says nothing: a machine with a load of 50 fails here.
	says("at the start", session.question(0), "Never prune volumes on prod")
	says("of the rules", session.question(0), "Shared memory (Skill Router)")
	says("after the block", question("block"), "guard blocked this")
	if _, err := os.Stat(p.path("docker-ran")); err == nil {
		t.Error("the command ran")
	}
	p.await("Checkout timeout is 30 s", "search", "checkout timeout")
	says("after the message", question("message"), "PINEAPPLE")
	if a.turns {
		says("after the end of a turn", question("end"), "CHERRY")
	}
	says("after the stop", question("stop"), "BANANA")
	for _, side := range session.aside { // Gemini CLI asks which model to take, with all that was said
		if a.name != "gemini" && strings.Contains(side, "Never prune volumes on prod") {
			t.Errorf("a side question is told what is known:\n%s", tail(side))
		}
	}

	p.await(`"agent_id":"`+a.name+`[^"]*"[^}]*"state":"offline"`, "agents", "--json")
	p.await(`"title":"Failed: cat no-such-file-xyz.txt; exit 3"`, "episodes", "recent", "--json")
	episodes := p.router("episodes", "recent", "--json")
	if n := strings.Count(episodes, `"title":"Failed: cat no-such-file-xyz.txt`); n != 1 {
		t.Errorf("the failure is recorded %d times", n)
	}
	if strings.Contains(episodes, "store_knowledge") || strings.Contains(episodes, "prune") {
		t.Errorf("what was no failure is recorded: %s", episodes)
	}
	p.await("8080", "proposals", "list")
	if proposed := p.router("proposals", "list"); strings.Contains(proposed, "exact_model") || strings.Contains(proposed, "9090") {
		t.Errorf("what no person said is proposed:\n%s", proposed)
	}
	if out := check(); !regexp.MustCompile(`(?m)^ok +` + a.name + ` +heard`).MatchString(out) {
		t.Errorf("after its session, --check says\n%s", out)
	}

	// The stop was that session's.
	session = p.model.begin("Clean up", step{shell: "echo new-session"}, step{text: "Done."})
	if out, err := a.session(p, "shop", "Clean up"); err != nil {
		t.Errorf("the second session: %v\n%s", err, tail(out))
	}
	for i := range 2 {
		if q := session.question(i); q == "" || strings.Contains(q, "BANANA") {
			t.Errorf("the second session is told of the first one's stop, or was not: %s", tail(q))
		}
	}

	// No router: a setup that is strict uses no tool, and the model is told why.
	p.router("setup", a.name, "--yes", "--strict", "--server", "http://192.0.2.1:9") // of no network (RFC 5737); an address of this machine is refused in shared files
	session = p.model.begin("Work strictly", step{shell: "docker strictly"}, step{text: "Done."})
	if out, err := a.session(p, "shop", "Work strictly"); err != nil {
		t.Errorf("the strict session: %v\n%s", err, tail(out))
	}
	says("without a router", session.question(1), "cannot be asked")
	if ran, _ := os.ReadFile(p.path("docker-ran")); strings.Contains(string(ran), "strictly") {
		t.Error("a command ran that the guard was not asked about")
	}

	p.router("setup", a.name, "--remove", "--yes")
	if after := p.tree(); after != before {
		t.Errorf("after the removal the project is\n%s\nand was\n%s", after, before)
	}
	if left, _ := filepath.Glob(p.path(dataFolder + "/setup/*")); len(left) > 0 {
		t.Errorf("of the setup is left: %v", left)
	}
}

// tail is the end of a text, for a message of a test.
func tail(text string) string {
	const most = 1500
	text = string(bytes.ToValidUTF8([]byte(text), nil))
	return text[max(0, len(text)-most):]
}
