package setup

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"skillrouter/cmd/locate"
	"skillrouter/internal/errs"
)

// serverName is the name of our MCP server in every agent's configuration.
const serverName = "skillrouter"

// aiderFile is what Aider is given to read; `skillrouter run --context-file`
// keeps it fresh.
const aiderFile = ".aider.skillrouter.md"

// Which tools' use is worth a question: those that run, write or reach out. Our own
// need none, and no process where the agent's expressions can say so: Codex' know
// no lookahead.
const (
	claudeAsked = claudeTools + "|Agent|Task" // before: what a subagent is given to do is told at its start
	claudeTools = "Bash|PowerShell|Write|Edit|NotebookEdit|mcp__(?!skillrouter__).*"
	codexTools  = "Bash|local_shell|apply_patch|mcp__.*"
	geminiTools = "run_shell_command|write_file|replace|mcp_(?!skillrouter_).*"
)

// Kind says what a file is for.
type Kind string

// The kinds.
const (
	KindMCP   Kind = "mcp"
	KindHooks Kind = "hooks"
	KindRules Kind = "rules"
	// KindIgnore is git's list, for this clone alone, of files that it passes over.
	KindIgnore Kind = "ignore"
)

// part is a file of an agent's, and what is ours in it.
type part struct {
	kind Kind
	path string
	edit edit
}

// parts are the files of an agent's configuration, and notes what a person has
// to do beside.
func (t Target) parts(c Content) (parts []part, notes []string, err error) {
	if c.Program == "" || strings.ContainsAny(c.Program+c.Hook+c.Name+c.Server, "\x00\n\r") {
		return nil, nil, errs.InvalidField("program", "is needed, and may not hold line breaks")
	}
	switch t.Agent {
	case ClaudeCode:
		parts, notes = t.claudeCode(c)
	case Codex:
		parts, notes = t.codex(c)
	case Gemini:
		parts, notes = t.gemini(c)
	case OpenCode:
		parts, notes = t.openCode(c)
	case Cursor:
		parts, notes = t.cursor(c)
	case Aider:
		parts, notes = t.aider(c)
	case VSCode, Windsurf, Zed, Amp, Kiro, Antigravity:
		parts, notes = t.serverAndRules(c)
	case Generic:
		parts, notes = t.generic(c)
	}
	return parts, notes, nil
}

// sharing is what the project's files may hold that everybody has who clones it: nothing of this
// machine. An address or a path of it is refused, because without it the agent would work
// otherwise than was asked for; a variable is left out, and a note says so.
func (t Target) sharing(c Content) (Content, []string, error) {
	if t.user() || t.personal() || slices.Contains([]Agent{Aider, Windsurf, Generic}, t.Agent) { // the files of these three name no program, or are in the home
		return c, nil, nil
	}
	const others = " For all of your projects alone: --user."
	local, err := url.Parse(c.Server)
	switch {
	case c.Server != "" && err == nil && locate.Loopback(local):
		return c, nil, errs.Errorf(errs.Conflict, "the project's files are everybody's who clones it, and may not name %s, an address of this machine; nothing was changed.%s", c.Server, others)
	case filepath.IsAbs(c.Program), filepath.IsAbs(c.Hook):
		return c, nil, errs.Errorf(errs.Conflict, "the project's files are everybody's who clones it, and may not name %s, a path of this machine; nothing was changed. Put skillrouter into PATH, or say --program skillrouter.%s", c.Program, others)
	case len(c.Vars) == 0:
		return c, nil, nil
	}
	names := make([]string, len(c.Vars))
	for i, v := range c.Vars {
		names[i], _, _ = strings.Cut(v, "=")
	}
	c.Vars = nil
	return c, []string{strings.Join(names, " and ") + " is set here and is not written into the project's files, which are everybody's who clones it: an agent that hands its environment on to no MCP server uses the default then." + others}, nil
}

// stdioServer is a server that an agent starts, as most have it.
type stdioServer struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"`
}

// stdio is the member that most agents have for a server that they start.
func (c Content) stdio(agent Agent) jsonEdit {
	return c.stdioAt(agent, "mcpServers", "")
}

// stdioAt is the same under another member, with the kind of server that some ask for.
func (c Content) stdioAt(agent Agent, list, kind string) jsonEdit {
	return jsonEdit{members: []member{{path: []string{list, serverName}, value: asJSON(stdioServer{kind, c.Program, c.server(agent), c.vars()})}}}
}

// serverAndRules are agents of which only the MCP server and the rules are written.
func (t Target) serverAndRules(c Content) (parts []part, notes []string) {
	dir, server := t.Dir, c.stdio(t.Agent)
	config := t.folder("XDG_CONFIG_HOME", ".config")
	rules, own := filepath.Join(t.Dir, "AGENTS.md"), "" // the user's rules; empty: it has no file for them
	var settings string
	switch t.Agent {
	case VSCode:
		server = c.stdioAt(t.Agent, "servers", "stdio")
		settings = filepath.Join(dir, ".vscode", "mcp.json")
		if t.user() { // the format and the place that its agents of all kinds read
			server = c.stdio(t.Agent)
			settings = filepath.Join(t.folder("COPILOT_HOME", ".copilot"), "mcp-config.json")
		}
	case Windsurf: // it has none of a project
		settings = filepath.Join(t.Home, ".codeium", "windsurf", "mcp_config.json")
		own = filepath.Join(t.Home, ".codeium", "windsurf", "memories", "global_rules.md")
	case Zed:
		server = c.stdioAt(t.Agent, "context_servers", "")
		settings = filepath.Join(dir, ".zed", "settings.json")
		if t.user() {
			settings = filepath.Join(config, "zed", "settings.json")
		}
		own = filepath.Join(config, "zed", "AGENTS.md")
	case Amp:
		server = c.stdioAt(t.Agent, "amp.mcpServers", "")
		settings = filepath.Join(dir, ".amp", "settings.json")
		if t.user() {
			settings = filepath.Join(config, "amp", "settings.json")
		}
		own = filepath.Join(config, "amp", "AGENTS.md")
	case Kiro:
		if t.user() {
			dir = t.Home
		}
		settings = filepath.Join(dir, ".kiro", "settings", "mcp.json")
		own = filepath.Join(t.Home, ".kiro", "steering", "AGENTS.md")
	case Antigravity:
		settings = filepath.Join(dir, ".agents", "mcp_config.json")
		if t.user() {
			settings = filepath.Join(t.Home, ".gemini", "config", "mcp_config.json")
		}
		own = filepath.Join(t.Home, ".gemini", "GEMINI.md")
	}
	parts = []part{{KindMCP, settings, server}}
	if t.user() {
		rules = own
	}
	if rules == "" {
		notes = append(notes, "It has no file for rules of all projects; put this where it takes instructions:\n"+rulesOf(""))
	} else {
		parts = append(parts, part{KindRules, rules, markdownBlock(rulesOf(""))})
	}
	if t.Agent == Windsurf && !t.user() {
		notes = append(notes, "Windsurf has one list of servers for all projects: "+settings+".")
	}
	return parts, append(notes, "No hooks are written for this agent: nothing is told at a start or asked before a tool but what it asks for itself.")
}

// prompts adds the event of a person's prompt where it was asked for.
func (c Content) prompts(events []wired, theirs string) []wired {
	if !c.Prompts {
		return events
	}
	return append(events, wired{theirs, "user-prompt", "", hookSeconds})
}

func (t Target) claudeCode(c Content) ([]part, []string) {
	hooks := jsonEdit{elements: c.groups(ClaudeCode, c.prompts([]wired{
		{"SessionStart", "session-start", "", startSeconds},
		{"PreToolUse", "pre-tool-use", claudeAsked, hookSeconds},
		{"PostToolUseFailure", "post-tool-use-failure", claudeTools, hookSeconds},
		{"PreCompact", "pre-compact", "", startSeconds},
		{"SubagentStart", "subagent-start", "", hookSeconds},
		{"Stop", "turn-end", "", hookSeconds},
		{"SessionEnd", "session-end", "", hookSeconds},
	}, "UserPromptSubmit"))}
	// After a tool that went well no hook runs: the next ones read what came of it (respond.settle).
	hooks.elements = append(hooks.elements, element{path: []string{"hooks", "PostToolUse"}, ours: oursAlone})
	server := c.stdio(ClaudeCode)
	home, state := t.claudeHome()
	rules := markdownBlock(rulesOf(claudeOwn))
	closed := "Claude Code keeps its own state in .claude.json: close its sessions first, or it may write over the change."
	switch {
	case t.user():
		return []part{
			{KindMCP, state, server},
			{KindHooks, filepath.Join(home, "settings.json"), hooks},
			{KindRules, filepath.Join(home, "CLAUDE.md"), rules},
		}, []string{closed}
	case t.personal():
		server.members[0].path = append([]string{"projects", t.Dir}, server.members[0].path...)
		parts := []part{
			{KindMCP, state, server},
			{KindHooks, filepath.Join(t.Dir, ".claude", "settings.local.json"), hooks},
			{KindRules, filepath.Join(t.Dir, "CLAUDE.local.md"), rules},
		}
		if checkout, ok := locate.CheckoutOf(t.Dir); ok {
			parts = append(parts, part{KindIgnore, checkout.Exclude(), hashBlock("/.claude/settings.local.json\n/CLAUDE.local.md", nil)})
		}
		return parts, []string{closed, "This is for you alone. For everybody who clones the project: --project. For all of your projects: --user."}
	}
	return []part{
		{KindMCP, filepath.Join(t.Dir, ".mcp.json"), server},
		{KindHooks, filepath.Join(t.Dir, ".claude", "settings.json"), hooks},
		{KindRules, filepath.Join(t.Dir, "CLAUDE.md"), rules},
	}, []string{"Claude Code asks once, at its next start here, whether you trust the folder and whether the server in .mcp.json may be used."}
}

// claudeHome is the folder of Claude Code's settings, and the file of its state.
func (t Target) claudeHome() (home, state string) {
	home = t.folder("CLAUDE_CONFIG_DIR", ".claude")
	if named := t.Env("CLAUDE_CONFIG_DIR"); filepath.IsAbs(named) {
		return home, filepath.Join(named, ".claude.json")
	}
	return home, filepath.Join(t.Home, ".claude.json")
}

func (t Target) codex(c Content) ([]part, []string) {
	home := filepath.Join(t.Dir, ".codex")
	agents := filepath.Join(t.Dir, "AGENTS.md")
	notes := []string{"Codex runs a new or changed hook only once you have trusted it, and passes over it without a word until then: start codex and type /hooks. In CI: codex exec --dangerously-bypass-hook-trust."}
	if t.user() {
		home = t.folder("CODEX_HOME", ".codex")
		agents = filepath.Join(home, "AGENTS.md")
	} else {
		notes = append(notes, "Codex reads a project's .codex folder only if the project is trusted: it asks at its first start here.")
	}
	// A basic string of TOML takes JSON's escapes.
	var table strings.Builder
	table.WriteString("[mcp_servers." + serverName + "]\ncommand = " + asJSON(c.Program) + "\nargs = " + asJSON(c.server(Codex)))
	table.WriteString("\nstartup_timeout_sec = 30")
	if len(c.Vars) > 0 {
		table.WriteString("\n\n[mcp_servers." + serverName + ".env]")
		for _, v := range c.Vars {
			name, value, _ := strings.Cut(v, "=")
			table.WriteString("\n" + name + " = " + asJSON(value))
		}
	}
	return []part{
		{KindMCP, filepath.Join(home, "config.toml"), hashBlock(table.String(), tomlFree)},
		{KindHooks, filepath.Join(home, "hooks.json"), jsonEdit{elements: c.groups(Codex, c.prompts([]wired{
			{"SessionStart", "session-start", "", startSeconds},
			{"PreToolUse", "pre-tool-use", codexTools, hookSeconds},
			{"PostToolUse", "post-tool-use", codexTools, hookSeconds},
			{"PreCompact", "pre-compact", "", startSeconds},
			{"SubagentStart", "subagent-start", "", hookSeconds},
			{"Stop", "turn-end", "", hookSeconds},
			{"SessionEnd", "session-end", "", codexEndSeconds},
		}, "UserPromptSubmit"))}},
		{KindRules, agents, markdownBlock(rulesOf(""))},
	}, notes
}

func (t Target) gemini(c Content) ([]part, []string) {
	home, rulesFile := filepath.Join(t.Dir, ".gemini"), filepath.Join(t.Dir, "GEMINI.md")
	if t.user() {
		home = filepath.Join(t.Home, ".gemini")
		rulesFile = filepath.Join(home, "GEMINI.md")
	}
	both := c.stdio(Gemini)
	both.elements = c.groups(Gemini, c.prompts([]wired{
		{"SessionStart", "session-start", "", startSeconds},
		{"BeforeTool", "pre-tool-use", geminiTools, hookSeconds},
		{"AfterTool", "post-tool-use", geminiTools, hookSeconds},
		{"AfterAgent", "turn-end", "", hookSeconds},
		{"PreCompress", "pre-compact", "manual", startSeconds}, // "auto" comes before each request, whether or not anything is compressed
		{"SessionEnd", "session-end", "", hookSeconds},
	}, "BeforeAgent"))
	return []part{
		{KindHooks, filepath.Join(home, "settings.json"), both},
		{KindRules, rulesFile, markdownBlock(rulesOf(geminiOwn))},
	}, []string{"Gemini CLI runs no MCP server and none of a project's hooks in a folder that is not trusted: start gemini here and trust it. In CI: GEMINI_CLI_TRUST_WORKSPACE=true."}
}

// openCodeSchema stands in every opencode.json: opencode writes it into those that
// have none, which would then be no more what setup wrote.
const openCodeSchema = "https://opencode.ai/config.json"

func (t Target) openCode(c Content) ([]part, []string) {
	home, settings, agents := filepath.Join(t.Dir, ".opencode"), t.Dir, filepath.Join(t.Dir, "AGENTS.md")
	if t.user() {
		home = filepath.Join(t.folder("XDG_CONFIG_HOME", ".config"), "opencode")
		settings, agents = home, filepath.Join(home, "AGENTS.md")
	}
	server := jsonEdit{members: []member{{path: []string{"$schema"}, value: asJSON(openCodeSchema), weak: true}, {path: []string{"mcp", serverName}, value: asJSON(struct {
		Type        string            `json:"type"`
		Command     []string          `json:"command"`
		Enabled     bool              `json:"enabled"`
		Environment map[string]string `json:"environment,omitempty"`
	}{"local", append([]string{c.Program}, c.server(OpenCode)...), true, c.vars()})}}}
	notes := []string{
		"The plugin is for opencode 1.",
		"With any plugin, opencode fetches a package of its own from npm at its first start and waits for it. Where there is no network each start takes more than a minute: set npm_config_fetch_retries=0 for it.",
	}
	return []part{
		{KindMCP, existing(filepath.Join(settings, "opencode.json"), filepath.Join(settings, "opencode.jsonc")), server},
		{KindHooks, filepath.Join(home, "plugins", "skillrouter.js"), ownFile{c.plugin()}},
		{KindRules, agents, markdownBlock(rulesOf(""))},
	}, notes
}

func (t Target) cursor(c Content) ([]part, []string) {
	home := filepath.Join(t.Dir, ".cursor")
	if t.user() {
		home = filepath.Join(t.Home, ".cursor")
	}
	hooks := jsonEdit{
		members: []member{{path: []string{"version"}, value: "1", weak: true}},
		elements: c.flat(Cursor, []wired{
			{"sessionStart", "session-start", "", startSeconds},
			{"beforeShellExecution", "pre-tool-use", "", hookSeconds},
			{"beforeMCPExecution", "pre-tool-use", "", hookSeconds},
			{"afterShellExecution", "post-tool-use", "", hookSeconds},
			{"postToolUseFailure", "post-tool-use-failure", "", hookSeconds},
			{"sessionEnd", "session-end", "", hookSeconds},
		}),
	}
	parts := []part{
		{KindMCP, filepath.Join(home, "mcp.json"), c.stdio(Cursor)},
		{KindHooks, filepath.Join(home, "hooks.json"), hooks},
	}
	if t.user() {
		return parts, []string{"Cursor keeps a user's rules in its settings (Rules); put this there:\n" + rulesOf("")}
	}
	return append(parts, part{KindRules, filepath.Join(home, "rules", "skillrouter.mdc"), ownFile{
		"---\ndescription: Shared memory (Skill Router). " + ownMark + "; --remove takes it away.\nalwaysApply: true\n---\n\n" + rulesOf("") + "\n",
	}}), nil
}

func (t Target) aider(Content) ([]part, []string) {
	dir, name := t.Dir, aiderFile
	if t.user() {
		dir, name = t.Home, filepath.Join(t.Home, aiderFile)
	}
	return []part{
		{KindHooks, filepath.Join(dir, ".aider.conf.yml"), hashBlock("read: ["+asJSON(name)+"]", yamlFree)},
		{KindRules, filepath.Join(dir, aiderFile), ownFile{"<!-- " + ownMark + "; --remove takes it away. -->\n" + shellRules + "\n"}},
	}, []string{"Aider has no hooks. Start it with\n  skillrouter run --agent aider --context-file " + aiderFile + " --watch .aider.chat.history.md -- aider\nto have its context fresh and its end recorded."}
}

func (t Target) generic(c Content) ([]part, []string) {
	agents := filepath.Join(t.Dir, "AGENTS.md")
	if t.user() {
		agents = filepath.Join(t.Home, "AGENTS.md")
	}
	return []part{{KindRules, agents, markdownBlock(rulesOf(""))}}, []string{
		"The MCP server, as most agents take it:\n  " + c.stdio(Generic).asText(),
		"Hooks, if the agent has any: the message on standard input, exit code 2 blocks, e.g.\n  " + c.commandLine(Generic, "pre-tool-use"),
	}
}

// asText is the edit's first member as a whole file would have it.
func (e jsonEdit) asText() string {
	m := e.members[0]
	text := m.value
	for i := len(m.path) - 1; i >= 0; i-- {
		text = `{"` + m.path[i] + `":` + text + `}`
	}
	return text
}

// folder is the one that a variable names, else one in the user's home.
func (t Target) folder(variable, name string) string {
	if named := t.Env(variable); filepath.IsAbs(named) {
		return named
	}
	return filepath.Join(t.Home, name)
}
