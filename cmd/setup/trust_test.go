package setup_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/setup"
)

// TestTrust holds what is read of whether an agent runs what was set up: yes, no,
// or that nothing tells (D1).
func TestTrust(t *testing.T) {
	t.Parallel()
	const yes, no, unknown = "yes", "no", "unknown"
	for _, tc := range []struct {
		name  string
		agent setup.Agent
		user  bool
		files map[string]string // DIR is the project, UP the folder above it
		env   map[string]string
		want  string
		said  string
	}{
		{"Gemini of a folder that nobody trusted", setup.Gemini, false, nil, nil, no, "not trusted"},
		{"Gemini of a trusted folder", setup.Gemini, false, map[string]string{".gemini/trustedFolders.json": `{"DIR": "TRUST_FOLDER"}`}, nil, yes, ""},
		{"Gemini of a folder in a trusted one", setup.Gemini, false, map[string]string{".gemini/trustedFolders.json": `{ /* mine */ "UP": "TRUST_FOLDER"}`}, nil, yes, ""},
		{"Gemini of the neighbour's parent", setup.Gemini, false, map[string]string{".gemini/trustedFolders.json": `{"UP/other": "TRUST_PARENT"}`}, nil, yes, ""},
		{"Gemini of a trusted neighbour", setup.Gemini, false, map[string]string{".gemini/trustedFolders.json": `{"UP/other": "TRUST_FOLDER"}`}, nil, no, ""},
		{"Gemini of a folder whose name only begins so", setup.Gemini, false, map[string]string{".gemini/trustedFolders.json": `{"UP/pro": "TRUST_FOLDER"}`}, nil, no, ""},
		{"Gemini of a folder refused in a trusted one", setup.Gemini, false, map[string]string{".gemini/trustedFolders.json": `{"UP": "TRUST_FOLDER", "DIR": "DO_NOT_TRUST"}`}, nil, no, ""},
		{"Gemini's file is none", setup.Gemini, false, map[string]string{".gemini/trustedFolders.json": `{`}, nil, unknown, "trustedFolders.json"},
		{"Gemini told by the environment", setup.Gemini, false, nil, map[string]string{"GEMINI_CLI_TRUST_WORKSPACE": "true"}, yes, ""},
		{"Gemini told otherwise", setup.Gemini, false, map[string]string{".gemini/trustedFolders.json": `{"DIR": "TRUST_FOLDER"}`}, map[string]string{"GEMINI_CLI_TRUST_WORKSPACE": "false"}, no, ""},
		{"Gemini without such trust", setup.Gemini, false, map[string]string{".gemini/settings.json": `{"security":{"folderTrust":{"enabled":false}}}`}, nil, yes, ""},
		{"Gemini without hooks", setup.Gemini, false, map[string]string{
			".gemini/settings.json": `{"hooksConfig":{"enabled":false}}`, ".gemini/trustedFolders.json": `{"DIR": "TRUST_FOLDER"}`,
		}, nil, no, "hooksConfig"},
		{"Gemini without ours", setup.Gemini, false, map[string]string{
			".gemini/settings.json": `{"hooksConfig":{"disabled":["skillrouter-pre-tool-use"]}}`, ".gemini/trustedFolders.json": `{"DIR": "TRUST_FOLDER"}`,
		}, nil, no, "hooksConfig"},
		{"Gemini's user", setup.Gemini, true, nil, nil, unknown, "depends on the folder"},

		{"Claude Code before its first start", setup.ClaudeCode, false, nil, nil, unknown, "asks at its next start"},
		{"Claude Code of a trusted folder", setup.ClaudeCode, false, map[string]string{".claude.json": `{"projects":{"DIR":{"hasTrustDialogAccepted":true}}}`}, nil, unknown, "whether the server"},
		{"Claude Code that has asked", setup.ClaudeCode, false, map[string]string{".claude.json": `{"projects":{"DIR":{"hasTrustDialogAccepted":true,"enabledMcpjsonServers":["skillrouter"]}}}`}, nil, yes, ""},
		{"Claude Code of a folder in a trusted one", setup.ClaudeCode, false, map[string]string{
			".claude.json": `{"projects":{"UP":{"hasTrustDialogAccepted":true}}}`, ".claude/settings.json": `{"enableAllProjectMcpServers":true}`,
		}, nil, yes, ""},
		{"Claude Code that was told no", setup.ClaudeCode, false, map[string]string{".claude.json": `{"projects":{"DIR":{"hasTrustDialogAccepted":true,"disabledMcpjsonServers":["skillrouter"]}}}`}, nil, no, "refused"},
		{"Claude Code without hooks", setup.ClaudeCode, false, map[string]string{".claude/settings.json": `{"disableAllHooks":true}`}, nil, no, "disableAllHooks"},
		{"Claude Code without hooks here", setup.ClaudeCode, false, map[string]string{"../project/.claude/settings.local.json": `{"disableAllHooks":true}`}, nil, no, "settings.local.json"},
		{"Claude Code's user", setup.ClaudeCode, true, nil, nil, yes, ""},
		{"Claude Code's state is none", setup.ClaudeCode, false, map[string]string{".claude.json": `oops`}, nil, unknown, ".claude.json"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.env = tc.env
			target := p.target(tc.agent, tc.user)
			dir := filepath.Join(p.root, "project")
			for name, text := range tc.files {
				p.write("home/"+name, strings.NewReplacer("DIR", filepath.ToSlash(dir), "UP", filepath.ToSlash(p.root)).Replace(text))
			}
			found, asked := target.Trust()
			got := unknown
			switch {
			case !asked:
				t.Fatal("it is not asked")
			case found.Known && found.OK:
				got = yes
			case found.Known:
				got = no
			}
			if got != tc.want || !strings.Contains(found.Said, tc.said) {
				t.Errorf("%s: %+v", got, found)
			}
		})
	}
	for _, agent := range []setup.Agent{setup.Codex, setup.OpenCode, setup.Cursor, setup.Aider, setup.Generic} {
		if _, asked := newPlace(t).target(agent, false).Trust(); asked {
			t.Errorf("files are asked about %s", agent)
		}
	}
}
