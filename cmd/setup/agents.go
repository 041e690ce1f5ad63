package setup

import (
	"net/url"
	"path/filepath"
	"runtime"
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
	claudeTools = "Bash|PowerShell|Write|Edit|NotebookEdit|mcp__(?!(?:plugin_skillrouter_)?skillrouter__).*"
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
	parts, notes = t.Agent.profile().parts(t, c)
	return parts, notes, nil
}

// sharing is what the project's files may hold that everybody has who clones it: nothing of this
// machine. An address or a path of it is refused, because without it the agent would work
// otherwise than was asked for; a variable is left out, and a note says so.
func (t Target) sharing(c Content) (Content, []string, error) {
	if t.user() || t.personal() || t.Agent.profile().local {
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
func (c Content) stdio(agent Agent) jsonEdit { return c.stdioAt(agent, "mcpServers", "") }

// stdioAt is the same under another member, with the kind of server that some ask for.
func (c Content) stdioAt(agent Agent, list, kind string) jsonEdit {
	return jsonEdit{members: []member{{path: []string{list, serverName}, value: asJSON(stdioServer{kind, c.Program, c.server(agent), c.vars()})}}}
}

// plainAgent is one of which only the MCP server and the rules are written: where it reads its servers and the member that has
// them, in a project and for all of the user's, and the user's rules. See Target.at for the paths; an empty one is of no file.
type plainAgent struct{ project, projectList, projectKind, user, userList, rules string }

var plainAgents = map[Agent]plainAgent{
	// For the user it is the format and the place that its agents of all kinds read.
	VSCode: {".vscode/mcp.json", "servers", "stdio", "$COPILOT_HOME:.copilot/mcp-config.json", "mcpServers", ""},
	// It has one list of servers for all projects.
	Windsurf:    {"~/.codeium/windsurf/mcp_config.json", "mcpServers", "", "~/.codeium/windsurf/mcp_config.json", "mcpServers", "~/.codeium/windsurf/memories/global_rules.md"},
	Zed:         {".zed/settings.json", "context_servers", "", "$XDG_CONFIG_HOME:.config/zed/settings.json", "context_servers", "$XDG_CONFIG_HOME:.config/zed/AGENTS.md"},
	Amp:         {".amp/settings.json", "amp.mcpServers", "", "$XDG_CONFIG_HOME:.config/amp/settings.json", "amp.mcpServers", "$XDG_CONFIG_HOME:.config/amp/AGENTS.md"},
	Kiro:        {".kiro/settings/mcp.json", "mcpServers", "", "~/.kiro/settings/mcp.json", "mcpServers", "~/.kiro/steering/AGENTS.md"},
	Antigravity: {".agents/mcp_config.json", "mcpServers", "", "~/.gemini/config/mcp_config.json", "mcpServers", "~/.gemini/GEMINI.md"},
}

// serverAndRules are the parts of a plainAgent.
func (t Target) serverAndRules(c Content) (parts []part, notes []string) {
	of := plainAgents[t.Agent]
	list, kind := of.projectList, of.projectKind
	if t.user() {
		list, kind = of.userList, ""
	}
	settings := t.at(of.project, of.user)
	parts = []part{{KindMCP, settings, c.stdioAt(t.Agent, list, kind)}}
	if t.user() && of.rules == "" {
		notes = append(notes, "It has no file for rules of all projects; put this where it takes instructions:\n"+rulesOf(""))
	} else {
		parts = append(parts, part{KindRules, t.at("AGENTS.md", of.rules), markdownBlock(rulesOf(""))})
	}
	if t.Agent == Windsurf && !t.user() {
		notes = append(notes, "Windsurf has one list of servers for all projects: "+settings+".")
	}
	return parts, append(notes, "No hooks are written for this agent: nothing is told at a start or asked before a tool but what it asks for itself.")
}

// at is a file of the project or, where all of the user's projects are meant, the user's. A path that begins with ~/ is in the
// user's home; one that begins with $NAME:folder/ is in the folder that the variable names, else in that one of the home.
func (t Target) at(project, user string) string {
	path := project
	if t.user() {
		path = user
	}
	dir := t.Dir
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		dir, path = t.Home, rest
	} else if named, ok := strings.CutPrefix(path, "$"); ok {
		variable, below, _ := strings.Cut(named, ":")
		folder, rest, _ := strings.Cut(below, "/")
		dir, path = t.folder(variable, folder), rest
	}
	return filepath.Join(dir, filepath.FromSlash(path))
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
	notes := []string{"Codex runs a new or changed hook only once you have trusted it, and passes over it without a word until then: start codex and type /hooks. In CI: codex exec --dangerously-bypass-hook-trust."}
	if !t.user() {
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
		{KindMCP, t.at(".codex/config.toml", "$CODEX_HOME:.codex/config.toml"), hashBlock(table.String(), tomlFree)},
		{KindHooks, t.at(".codex/hooks.json", "$CODEX_HOME:.codex/hooks.json"), jsonEdit{elements: c.groups(Codex, c.prompts([]wired{
			{"SessionStart", "session-start", "", startSeconds},
			{"PreToolUse", "pre-tool-use", codexTools, hookSeconds},
			{"PostToolUse", "post-tool-use", codexTools, hookSeconds},
			{"PreCompact", "pre-compact", "", startSeconds},
			{"SubagentStart", "subagent-start", "", hookSeconds},
			{"Stop", "turn-end", "", hookSeconds},
			{"SessionEnd", "session-end", "", codexEndSeconds},
		}, "UserPromptSubmit"))}},
		{KindRules, t.at("AGENTS.md", "$CODEX_HOME:.codex/AGENTS.md"), markdownBlock(rulesOf(""))},
	}, notes
}

func (t Target) gemini(c Content) ([]part, []string) {
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
		{KindHooks, t.at(".gemini/settings.json", "~/.gemini/settings.json"), both},
		{KindRules, t.at("GEMINI.md", "~/.gemini/GEMINI.md"), markdownBlock(rulesOf(geminiOwn))},
	}, []string{"Gemini CLI runs no MCP server and none of a project's hooks in a folder that is not trusted: start gemini here and trust it. In CI: GEMINI_CLI_TRUST_WORKSPACE=true."}
}

// openCodeSchema stands in every opencode.json: opencode writes it into those that
// have none, which would then be no more what setup wrote.
const openCodeSchema = "https://opencode.ai/config.json"

func (t Target) openCode(c Content) ([]part, []string) {
	const home = "$XDG_CONFIG_HOME:.config/opencode/"
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
		{KindMCP, existing(t.at("opencode.json", home+"opencode.json"), t.at("opencode.jsonc", home+"opencode.jsonc")), server},
		{KindHooks, t.at(".opencode/plugins/skillrouter.js", home+"plugins/skillrouter.js"), ownFile{c.plugin()}},
		{KindRules, t.at("AGENTS.md", home+"AGENTS.md"), markdownBlock(rulesOf(""))},
	}, notes
}

func (t Target) cursor(c Content) ([]part, []string) {
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
		{KindMCP, t.at(".cursor/mcp.json", "~/.cursor/mcp.json"), c.stdio(Cursor)},
		{KindHooks, t.at(".cursor/hooks.json", "~/.cursor/hooks.json"), hooks},
	}
	if t.user() {
		return parts, []string{"Cursor keeps a user's rules in its settings (Rules); put this there:\n" + rulesOf("")}
	}
	return append(parts, part{KindRules, t.at(".cursor/rules/skillrouter.mdc", ""), ownFile{
		"---\ndescription: Shared memory (Skill Router). " + ownMark + "; --remove takes it away.\nalwaysApply: true\n---\n\n" + rulesOf("") + "\n",
	}}), nil
}

func (t Target) aider(Content) ([]part, []string) {
	name := aiderFile
	if t.user() {
		name = t.at("", "~/"+aiderFile)
	}
	return []part{
		{KindHooks, t.at(".aider.conf.yml", "~/.aider.conf.yml"), hashBlock("read: ["+asJSON(name)+"]", yamlFree)},
		{KindRules, t.at(aiderFile, "~/"+aiderFile), ownFile{"<!-- " + ownMark + "; --remove takes it away. -->\n" + shellRules + "\n"}},
	}, []string{"Aider has no hooks. Start it with\n  skillrouter run --agent aider --context-file " + aiderFile + " --watch .aider.chat.history.md -- aider\nto have its context fresh and its end recorded."}
}

func (t Target) generic(c Content) ([]part, []string) {
	return []part{{KindRules, t.at("AGENTS.md", "~/AGENTS.md"), markdownBlock(rulesOf(""))}}, []string{
		"The MCP server, as most agents take it:\n  " + asJSON(map[string]any{"mcpServers": map[string]any{serverName: stdioServer{Command: c.Program, Args: c.server(Generic), Env: c.vars()}}}),
		"Hooks, if the agent has any: the message on standard input, exit code 2 blocks, e.g.\n  " + c.commandLine(runtime.GOOS, Generic, "pre-tool-use"),
	}
}

// folder is the one that a variable names, else one in the user's home.
func (t Target) folder(variable, name string) string {
	if named := t.Env(variable); filepath.IsAbs(named) {
		return named
	}
	return filepath.Join(t.Home, name)
}
