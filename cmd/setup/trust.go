package setup

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skillrouter/skillrouter/internal/file"
)

// Trust is whether an agent runs what is set up for it, as far as its own files
// tell. Agents pass over hooks that they do not trust without a word.
type Trust struct {
	Known bool
	OK    bool // if Known
	Said  string
	Mend  string // what a person does about it
}

// Trust reads whether the agent trusts the target. Asked is false for agents that
// have no such thing, or keep it where only they can read it.
func (t Target) Trust() (found Trust, asked bool) {
	switch t.Agent {
	case ClaudeCode:
		return t.claudeTrust(), true
	case Gemini:
		return t.geminiTrust(), true
	}
	return Trust{}, false
}

func (t Target) claudeTrust() Trust {
	state := t.at("$CLAUDE_CONFIG_DIR:./.claude.json")
	files := []string{t.at("$CLAUDE_CONFIG_DIR:.claude/settings.json")}
	if !t.user() {
		files = append(files, filepath.Join(t.Dir, ".claude", "settings.json"), filepath.Join(t.Dir, ".claude", "settings.local.json"))
	}
	approved := t.personal() // its server is in Claude Code's own state, and asked about by nobody
	refused := func(s gjson.Result, path string) (Trust, bool) {
		approved = approved || s.Get("enableAllProjectMcpServers").Bool() || s.Get(`enabledMcpjsonServers.#(=="`+serverName+`")`).Exists()
		switch {
		case s.Get("disableAllHooks").Bool():
			return Trust{Known: true, Said: "Claude Code runs no hooks: disableAllHooks stands in " + path, Mend: "take disableAllHooks out of " + path}, true
		case !t.user() && s.Get(`disabledMcpjsonServers.#(=="`+serverName+`")`).Exists():
			return Trust{Known: true, Said: "Claude Code does not start the server in .mcp.json: it is refused in " + path, Mend: "claude mcp reset-project-choices"}, true
		}
		return Trust{}, false
	}
	for _, path := range files {
		s, err := readJSON(path)
		if err != nil {
			return unread(path, err)
		}
		if found, is := refused(s, path); is {
			return found
		}
	}
	if t.user() {
		return Trust{Known: true, OK: true, Said: "no setting of Claude Code forbids hooks"}
	}
	known, err := readJSON(state)
	if err != nil {
		return unread(state, err)
	}
	projects, trusted := known.Get("projects").Map(), false
	if found, is := refused(projects[t.Dir], state); is {
		return found
	}
	for dir := t.Dir; !trusted; dir = filepath.Dir(dir) {
		if trusted = projects[dir].Get("hasTrustDialogAccepted").Bool(); dir == filepath.Dir(dir) {
			break
		}
	}
	switch {
	case !trusted:
		return Trust{Said: "Claude Code asks at its next start here whether the folder is trusted", Mend: "start claude here and answer"}
	case !approved:
		return Trust{Said: "the folder is trusted; Claude Code asks at its next start whether the server in .mcp.json may be used", Mend: "start claude here and answer"}
	}
	return Trust{Known: true, OK: true, Said: "Claude Code trusts the folder and the server"}
}

// How much Gemini CLI trusts a folder, in its file of them.
const (
	geminiTrusted       = "TRUST_FOLDER"
	geminiTrustedParent = "TRUST_PARENT" // the folder above it
)

func (t Target) geminiTrust() Trust {
	const untrusted = ": Gemini CLI runs no MCP server there and none of the hooks"
	const mend = "start gemini in the folder and trust it, or set GEMINI_CLI_TRUST_WORKSPACE=true"
	home := filepath.Join(t.Home, ".gemini")
	files := []string{filepath.Join(home, "settings.json")}
	if !t.user() {
		files = append(files, filepath.Join(t.Dir, ".gemini", "settings.json"))
	}
	always := false
	for i, path := range files {
		s, err := readJSON(path)
		if err != nil {
			return unread(path, err)
		}
		if enabled := s.Get("security.folderTrust.enabled"); i == 0 && enabled.IsBool() {
			always = !enabled.Bool()
		}
		off := s.Get("hooksConfig.enabled").Type == gjson.False
		for _, name := range s.Get("hooksConfig.disabled").Array() {
			off = off || ourHook.MatchString(name.String()) || strings.HasPrefix(name.String(), "skillrouter-")
		}
		if off {
			return Trust{Known: true, Said: "Gemini CLI runs no hooks of ours: hooksConfig in " + path, Mend: "take it out of hooksConfig in " + path}
		}
	}
	switch {
	case t.Env("GEMINI_RESTRICTED_MODE") == "true", t.Env("GEMINI_CLI_TRUST_WORKSPACE") == "false":
		return Trust{Known: true, Said: "no folder is trusted, says the environment" + untrusted, Mend: mend}
	case t.Env("GEMINI_CLI_TRUST_WORKSPACE") == "true", always:
		return Trust{Known: true, OK: true, Said: "Gemini CLI trusts every folder here"}
	case t.user():
		return Trust{Said: "it depends on the folder, if that is trusted", Mend: mend}
	}
	path := filepath.Join(home, "trustedFolders.json")
	if named := t.Env("GEMINI_CLI_TRUSTED_FOLDERS_PATH"); named != "" {
		path = named
	}
	rules, err := readJSON(path)
	if err != nil {
		return unread(path, err)
	}
	// The rule with the longest path counts, as Gemini CLI has it.
	longest, trust := "", ""
	for rule, level := range rules.Map() {
		level := level.String()
		above := rule
		if level == geminiTrustedParent {
			above = filepath.Dir(rule)
		}
		if real, err := filepath.EvalSymlinks(above); err == nil {
			above = real
		}
		if rest, err := filepath.Rel(above, t.Dir); err == nil && filepath.IsLocal(rest) && len(rule) > len(longest) {
			longest, trust = rule, level
		}
	}
	if trust == geminiTrusted || trust == geminiTrustedParent {
		return Trust{Known: true, OK: true, Said: "Gemini CLI trusts the folder"}
	}
	return Trust{Known: true, Said: "the folder is not trusted" + untrusted, Mend: mend}
}

func unread(path string, err error) Trust {
	return Trust{Said: "it stands in " + path + ", which cannot be read: " + err.Error()}
}

// readJSON reads a configuration file, with its comments. One that is not there says nothing.
func readJSON(path string) (gjson.Result, error) {
	text, err := file.ReadSmall(path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return gjson.Result{}, nil
	case err != nil:
		return gjson.Result{}, err
	}
	if text = standard(text); text == nil {
		return gjson.Result{}, errors.New("it is no JSON")
	}
	return gjson.ParseBytes(text), nil
}
