package setup

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"skillrouter/internal/file"
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

// claudeSettings are what Claude Code's settings and its state say of hooks and servers.
type claudeSettings struct {
	NoHooks  bool     `json:"disableAllHooks"`
	AllMCP   bool     `json:"enableAllProjectMcpServers"`
	Enabled  []string `json:"enabledMcpjsonServers"`
	Disabled []string `json:"disabledMcpjsonServers"`
}

func (t Target) claudeTrust() Trust {
	state := t.at("$CLAUDE_CONFIG_DIR:./.claude.json")
	files := []string{t.at("$CLAUDE_CONFIG_DIR:.claude/settings.json")}
	if !t.user() {
		files = append(files, filepath.Join(t.Dir, ".claude", "settings.json"), filepath.Join(t.Dir, ".claude", "settings.local.json"))
	}
	approved := t.personal() // its server is in Claude Code's own state, and asked about by nobody
	refused := func(s claudeSettings, path string) (Trust, bool) {
		approved = approved || s.AllMCP || slices.Contains(s.Enabled, serverName)
		switch {
		case s.NoHooks:
			return Trust{Known: true, Said: "Claude Code runs no hooks: disableAllHooks stands in " + path, Mend: "take disableAllHooks out of " + path}, true
		case !t.user() && slices.Contains(s.Disabled, serverName):
			return Trust{Known: true, Said: "Claude Code does not start the server in .mcp.json: it is refused in " + path, Mend: "claude mcp reset-project-choices"}, true
		}
		return Trust{}, false
	}
	for _, path := range files {
		var s claudeSettings
		if err := readJSON(path, &s); err != nil {
			return unread(path, err)
		}
		if found, is := refused(s, path); is {
			return found
		}
	}
	if t.user() {
		return Trust{Known: true, OK: true, Said: "no setting of Claude Code forbids hooks"}
	}
	var known struct {
		Projects map[string]struct {
			claudeSettings
			Accepted bool `json:"hasTrustDialogAccepted"`
		} `json:"projects"`
	}
	if err := readJSON(state, &known); err != nil {
		return unread(state, err)
	}
	if found, is := refused(known.Projects[t.Dir].claudeSettings, state); is {
		return found
	}
	trusted := false
	for dir := t.Dir; ; dir = filepath.Dir(dir) {
		if trusted = known.Projects[dir].Accepted; trusted || dir == filepath.Dir(dir) {
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
		var s struct {
			Security struct {
				FolderTrust struct {
					Enabled *bool `json:"enabled"`
				} `json:"folderTrust"`
			} `json:"security"`
			Hooks struct {
				Enabled  *bool    `json:"enabled"`
				Disabled []string `json:"disabled"`
			} `json:"hooksConfig"`
		}
		if err := readJSON(path, &s); err != nil {
			return unread(path, err)
		}
		if enabled := s.Security.FolderTrust.Enabled; i == 0 && enabled != nil {
			always = !*enabled
		}
		off := slices.ContainsFunc(s.Hooks.Disabled, func(name string) bool { return ourHook.MatchString(name) || strings.HasPrefix(name, "skillrouter-") })
		if off || s.Hooks.Enabled != nil && !*s.Hooks.Enabled {
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
	var rules map[string]string
	if err := readJSON(path, &rules); err != nil {
		return unread(path, err)
	}
	// The rule with the longest path counts, as Gemini CLI has it.
	longest, trust := "", ""
	for rule, level := range rules {
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
func readJSON(path string, into any) error {
	text, err := file.ReadSmall(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if text = standard(text); text == nil {
		return errors.New("it is no JSON")
	}
	return json.Unmarshal(text, into)
}
