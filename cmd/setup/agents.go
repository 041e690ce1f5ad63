package setup

import (
	_ "embed"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// serverName is the name of our MCP server in every agent's configuration.
const serverName = "skillrouter"

// aiderFile is what Aider is given to read; `skillrouter run --context-file`
// keeps it fresh.
const aiderFile = ".aider.skillrouter.md"

// agentsText holds what is known of each agent; how a line is written is told in it.
//
//go:embed agents.txt
var agentsText string

// Agents lists every agent.
func Agents() (agents []Agent) {
	for line := range strings.Lines(agentsText) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "["); ok {
			agents = append(agents, Agent(strings.TrimSuffix(name, "]")))
		}
	}
	return agents
}

// Known tells whether the agent is one of Agents.
func (a Agent) Known() bool { return slices.Contains(Agents(), a) }

// fact is what is known of the agent under a key, "" if nothing is.
func (a Agent) fact(key string) string {
	if a.Known() {
		for known, value := range wordlist.Pairs(agentsText, string(a)) {
			if known == key {
				return value
			}
		}
	}
	return ""
}

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
	for key, value := range wordlist.Pairs(agentsText, string(t.Agent)) {
		scope, what, scoped := strings.Cut(key, " ")
		switch {
		case key == "note", scope == t.scope() && what == "note":
			notes = append(notes, value)
		case scoped && scope == t.scope():
			words := strings.Fields(value)
			path := t.at(words[0])
			if path == "" {
				continue
			}
			ours, last := formats[words[1]](t, c, words[2:]), len(parts)-1
			if last >= 0 && parts[last].path == path {
				ours, last = parts[last].edit.(jsonEdit).and(ours.(jsonEdit)), last-1
			}
			parts = append(parts[:last+1], part{Kind(what), path, ours})
		}
	}
	if parts[0].kind == KindMCP && !t.Agent.Hooked() {
		notes = append(notes, "No hooks are written for this agent: nothing is told at a start or asked before a tool but what it asks for itself.")
	}
	say := strings.NewReplacer(`\n`, "\n", "{rules}", rulesOf(""), "{file}", parts[0].path, "{hook}", c.commandLine(runtime.GOOS, t.Agent, "pre-tool-use"),
		"{servers}", asJSON(map[string]any{"mcpServers": map[string]any{serverName: c.stdio(t.Agent, "")}}))
	for i := range notes {
		notes[i] = say.Replace(notes[i])
	}
	return parts, notes, nil
}

// scope is the word for the target in the lines of agents.txt.
func (t Target) scope() string {
	switch {
	case t.user():
		return "user"
	case t.personal():
		return "personal"
	}
	return "project"
}

// sharing is what the project's files may hold that everybody has who clones it: nothing of this
// machine. An address or a path of it is refused, because without it the agent would work
// otherwise than was asked for; a variable is left out, and a note says so.
func (t Target) sharing(c Content) (Content, []string, error) {
	if t.user() || t.personal() || t.Agent.fact("local") != "" {
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

// formats are what can be written into a file: how that is edited, with what agents.txt says behind the name of the format.
var formats = map[string]func(t Target, c Content, words []string) edit{
	"rules": func(_ Target, _ Content, words []string) edit { return markdownBlock(rulesOf(strings.Join(words, ""))) },
	"shell": func(Target, Content, []string) edit {
		return ownFile{"<!-- " + ownMark + "; --remove takes it away. -->\n" + shellRules}
	},
	"mdc": func(Target, Content, []string) edit {
		return ownFile{"---\ndescription: Shared memory (Skill Router). " + ownMark + "; --remove takes it away.\nalwaysApply: true\n---\n\n" + rulesOf("") + "\n"}
	},
	"plugin":   func(_ Target, c Content, _ []string) edit { return ownFile{c.plugin()} },
	"ignored":  func(_ Target, _ Content, words []string) edit { return hashBlock(strings.Join(words, "\n"), nil) },
	"toml":     func(t Target, c Content, _ []string) edit { return hashBlock(c.toml(t.Agent), tomlFree) },
	"server":   server,
	"opencode": openCode,
	"hooks":    func(t Target, c Content, _ []string) edit { return jsonEdit{elements: c.hooks(t.Agent, false)} },
	"flat": func(t Target, c Content, _ []string) edit {
		return jsonEdit{members: []member{{path: []string{"version"}, value: "1", weak: true}}, elements: c.hooks(t.Agent, true)}
	},
	"read": func(t Target, _ Content, words []string) edit {
		name := words[0]
		if t.user() {
			name = t.at(name)
		}
		return hashBlock("read: ["+asJSON(name)+"]", yamlFree)
	},
}

// stdioServer is a server that an agent starts, as most have it.
type stdioServer struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"`
}

func (c Content) stdio(agent Agent, kind string) stdioServer {
	return stdioServer{kind, c.Program, c.server(agent), c.vars()}
}

// server is the member that most agents have for a server that they start: below the members of these names, with a kind where
// one is asked for.
func server(t Target, c Content, names []string) edit {
	path, kind := []string{}, ""
	for _, name := range names {
		if word, is := strings.CutPrefix(name, "type="); is {
			kind = word
			continue
		}
		path = append(path, strings.Replace(name, "{dir}", t.Dir, 1))
	}
	return jsonEdit{members: []member{{path: append(path, serverName), value: asJSON(c.stdio(t.Agent, kind))}}}
}

// openCodeSchema stands in every opencode.json: opencode writes it into those that
// have none, which would then be no more what setup wrote.
const openCodeSchema = "https://opencode.ai/config.json"

func openCode(t Target, c Content, _ []string) edit {
	return jsonEdit{members: []member{{path: []string{"$schema"}, value: asJSON(openCodeSchema), weak: true}, {path: []string{"mcp", serverName}, value: asJSON(struct {
		Type        string            `json:"type"`
		Command     []string          `json:"command"`
		Enabled     bool              `json:"enabled"`
		Environment map[string]string `json:"environment,omitempty"`
	}{"local", append([]string{c.Program}, c.server(t.Agent)...), true, c.vars()})}}}
}

// toml is the table of our server. A basic string of TOML takes JSON's escapes.
func (c Content) toml(agent Agent) string {
	const table = "mcp_servers." + serverName
	text := "[" + table + "]\ncommand = " + asJSON(c.Program) + "\nargs = " + asJSON(c.server(agent)) + "\nstartup_timeout_sec = 30"
	for i, v := range c.Vars {
		if i == 0 {
			text += "\n\n[" + table + ".env]"
		}
		name, value, _ := strings.Cut(v, "=")
		text += "\n" + name + " = " + asJSON(value)
	}
	return text
}

// at is the path of a file as agents.txt writes it, "" where there is none.
func (t Target) at(path string) string {
	if first, more, either := strings.Cut(path, "|"); either {
		return existing(t.at(first), t.at(more))
	}
	dir := t.Dir
	if path == "{exclude}" {
		checkout, ok := locate.CheckoutOf(dir)
		if !ok {
			return ""
		}
		return checkout.Exclude()
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		dir, path = t.Home, rest
	} else if named, ok := strings.CutPrefix(path, "$"); ok {
		variable, below, _ := strings.Cut(named, ":")
		folder, rest, _ := strings.Cut(below, "/")
		if dir, path = t.Env(variable), rest; !filepath.IsAbs(dir) {
			dir = filepath.Join(t.Home, folder)
		}
	}
	return filepath.Join(dir, filepath.FromSlash(path))
}

// wired is one of an agent's events, and ours for it.
type wired struct {
	theirs  string // the agent's name of the event
	ours    string
	matcher string // of tools; empty: every one
	seconds int
}

// events are those of an agent that run a hook; one without ours runs none any more.
func (c Content) events(agent Agent) (events []wired) {
	for key, value := range wordlist.Pairs(agentsText, string(agent)) {
		switch what, theirs, _ := strings.Cut(key, " "); {
		case what == "on", what == "prompt" && c.Prompts:
			words := append(strings.Fields(value), "")
			seconds, _ := strconv.Atoi(words[1]) // the golden files hold each
			events = append(events, wired{theirs, words[0], words[2], seconds})
		case what == "gone":
			events = append(events, wired{theirs: theirs})
		}
	}
	return events
}
