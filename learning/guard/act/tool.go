package act

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Bounds of a tool call.
const (
	maxArgs     = 200 // values that are looked at
	maxArgDepth = 6
)

// Proposal is one text of an action, and how to read it.
type Proposal struct {
	Text    string
	Dir     string
	told    bool // a tool's argument says that it is a command
	named   bool // it is made of a tool's name
	sql     bool
	targets []string
	tool    string
	words   []string // of the tool's act
	effects func(s *Shell) []Effect
	edits   []*edit
}

// Plain tells that nothing says what the text is: a command, SQL or a sentence.
func (p Proposal) Plain() bool { return !p.told && !p.sql && p.effects == nil }

// Command tells that the text is what a shell is given, and not made of a tool's name.
func (p Proposal) Command() bool { return !p.sql && !p.named && p.effects == nil }

// Proposals takes an action apart, which is a command, a call of a tool or both: the commands,
// statements and paths in it, and in rest the words of a tool that the guard does not know. folder is the working folder, "" if not known.
func Proposals(command, tool string, args map[string]any, folder string) (proposals []Proposal, rest string) {
	folder = Clean("", folder)
	if tool == "" {
		t, a, ok := toolCall(command)
		if !ok {
			return []Proposal{{Text: command, Dir: folder}}, ""
		}
		return toolProposals(t, a, folder)
	}
	p, rest := toolProposals(tool, args, folder)
	if command != "" {
		p = append(p, Proposal{Text: command, Dir: folder})
	}
	return p, rest
}

// toolCall reads {"tool": …, "args": {…}} in the spellings that agents use.
func toolCall(text string) (tool string, args map[string]any, ok bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") || len(text) > MaxInput {
		return "", nil, false
	}
	var call map[string]any
	if json.Unmarshal([]byte(text), &call) != nil {
		return "", nil, false
	}
	if f, is := call["function"].(map[string]any); is {
		call = f
	}
	for _, k := range []string{"tool", "tool_name", "name", "function"} {
		if v, is := call[k].(string); is && v != "" {
			tool = v
			break
		}
	}
	if tool == "" {
		return "", nil, false
	}
	for _, k := range []string{"args", "arguments", "input", "tool_input", "parameters", "params"} {
		switch v := call[k].(type) {
		case map[string]any:
			return tool, v, true
		case string:
			var inner map[string]any
			if json.Unmarshal([]byte(v), &inner) == nil {
				return tool, inner, true
			}
			return tool, map[string]any{"command": v}, true
		}
	}
	delete(call, "tool")
	return tool, call, true
}

// commandArgs are the arguments in which tools take a command.
var commandArgs = []string{"command", "cmd", "script", "shell_command", "commandline", "command_line", "bash", "code", "input", "commands", "line"}

// dirArgs are the arguments in which tools take the directory to run a command in.
var dirArgs = []string{"cwd", "workdir", "working_directory", "workingdirectory", "dir", "working_dir"}

// sqlArgs are the arguments in which tools take SQL.
var sqlArgs = []string{"sql", "query", "statement", "statements", "sql_query"}

// toolProposals reads a tool call. What it does is told from the names of the tool and its arguments.
func toolProposals(tool string, args map[string]any, dir string) (proposals []Proposal, rest string) {
	if action, ok := arg(args, "action").(map[string]any); ok && arg(args, "command") == nil {
		args = action // Codex' local_shell
	}
	if cmp.Or(arg(args, "shell_id"), arg(args, "bash_id"), arg(args, "task_id")) != nil && arg(args, "command") == nil {
		return nil, "" // it ends or reads a shell of the agent's own
	}
	words := SplitName(camel(tool))
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(words, n) })
	}
	for _, k := range dirArgs {
		if v, ok := arg(args, k).(string); ok && v != "" {
			dir = Clean(dir, v)
		}
	}
	shell := has("bash", "shell", "sh", "exec", "execute", "terminal", "command", "cmd", "zsh", "powershell", "console", "process", "subprocess", "ssh") || has("run") && !has("test", "tests", "query")
	sql := has("sql", "db", "database", "postgres", "postgresql", "mysql", "sqlite", "supabase", "query", "migration", "neon", "bigquery")
	if sql {
		for _, k := range sqlArgs {
			for _, text := range texts(arg(args, k)) {
				proposals = append(proposals, Proposal{Text: text, sql: true, targets: connectionArgs(args)})
			}
		}
	}
	if shell && len(proposals) == 0 {
		proposals = commandProposals(dir, args, has)
	}
	if len(proposals) == 0 {
		for _, k := range sqlArgs {
			if text, ok := arg(args, k).(string); ok && LooksSQL(text) {
				proposals = append(proposals, Proposal{Text: text, sql: true, targets: connectionArgs(args)})
			}
		}
	}
	if len(proposals) == 0 && has("http", "https", "request", "fetch", "curl", "api", "web", "rest", "webhook", "browser", "browse", "navigate", "download", "scrape", "crawl", "goto", "visit") {
		url, _ := arg(args, "url").(string)
		if method, _ := arg(args, "method").(string); url != "" {
			method = cmp.Or(method, "GET")
			return []Proposal{{Text: quoteAll([]string{"curl", "-X", strings.ToUpper(method), url}), told: true}}, ""
		}
	}
	if len(proposals) == 0 {
		if p, ok := patchTool(tool, dir, args); ok {
			return []Proposal{p}, ""
		}
		if p, ok := fileTool(tool, dir, args, has); ok {
			return []Proposal{p}, ""
		}
		if has("read", "search", "grep", "list", "get", "find", "fetch", "view", "glob", "describe", "show", "lookup") && !has("write", "delete", "remove", "update", "set", "create", "edit") {
			return nil, "" // it looks, and changes nothing
		}
		var all []string
		flatten(args, 0, &all)
		return programTool(tool, words, args), strings.Join(append(words, all...), " ")
	}
	return proposals, ""
}

// commandProposals are the commands among the arguments of a tool that runs them.
func commandProposals(dir string, args map[string]any, has func(...string) bool) (proposals []Proposal) {
	for _, k := range commandArgs {
		v := arg(args, k)
		if list, ok := v.([]any); ok && k != "commands" {
			texts := texts(list)
			proposals = append(proposals, Proposal{Text: quoteAll(texts), Dir: dir, told: true})
			continue
		}
		if text, ok := v.(string); ok {
			if more := texts(arg(args, "args")); len(more) > 0 && k != "code" {
				text += " " + quoteAll(more)
			}
			if has("ssh") {
				if host, ok := arg(args, "host").(string); ok && host != "" && !strings.HasPrefix(host, "-") {
					text = "ssh " + quoteAll([]string{host, text})
				}
			}
			if has("python", "python3") || k == "code" && has("python", "node", "javascript") {
				language := "python"
				if has("node", "javascript") {
					language = "node"
				}
				text = language + " <<'GUARD_END_OF_CODE'\n" + text + "\nGUARD_END_OF_CODE"
				if language == "node" {
					text = strings.Replace(text, "node <<", "node - <<", 1)
				}
			}
			if has("powershell", "pwsh") || has("power") && has("shell") {
				text = shellOf(text)
			}
			proposals = append(proposals, Proposal{Text: text, Dir: dir, told: true})
			continue
		}
		for _, text := range texts(v) {
			proposals = append(proposals, Proposal{Text: text, Dir: dir, told: true})
		}
	}
	return proposals
}

// pathArgs are the arguments that name files.
var pathArgs = []string{"path", "file_path", "filepath", "file", "filename", "target_file", "paths", "source", "destination", "directory", "uri", "notebook_path", "old_path", "new_path"}

// About is what a tool's arguments are about, in one of them: a command, a file, an address. Empty: none says.
func About(args map[string]any) string {
	for _, k := range slices.Concat(commandArgs, pathArgs, []string{"url", "query", "pattern", "prompt"}) {
		if text, ok := arg(args, k).(string); ok && text != "" {
			return text
		}
	}
	return ""
}

// fileTool reads a tool that changes files: write_file, delete_file, str_replace_editor, apply_patch …
func fileTool(tool, dir string, args map[string]any, has func(...string) bool) (Proposal, bool) {
	var paths []string
	for _, k := range pathArgs {
		for _, p := range texts(arg(args, k)) {
			if !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
	}
	if len(paths) == 0 {
		return Proposal{}, false
	}
	verb, _ := arg(args, "command").(string)
	if has("read", "view", "list", "ls", "search", "stat", "get", "glob", "grep", "open", "info", "cat") && !has("write", "edit", "replace", "delete", "remove") || verb == "view" {
		return Proposal{Text: "cat " + quoteAll(paths), effects: func(*Shell) []Effect { return nil }, tool: "cat", words: paths}, true
	}
	deletes := has("delete", "remove", "rm", "unlink", "rmdir", "trash", "del")
	writes := has("write", "edit", "replace", "create", "update", "append", "insert", "patch", "save", "move", "modify", "put", "str", "editor", "multiedit", "rename", "overwrite", "truncate")
	if !deletes && !writes {
		return Proposal{}, false
	}
	recursive := has("directory", "dir", "tree", "rmdir", "folder", "recursive", "rmtree")
	if b, ok := arg(args, "recursive").(bool); ok {
		recursive = b
	}
	var edits []*edit
	if !deletes {
		edits = editsOf(Clean(dir, Tidy(paths[0])), args)
	}
	return Proposal{
		Text: tool + " " + strings.Join(paths, " "), tool: "(" + tool + ")", edits: edits,
		effects: func(s *Shell) (out []Effect) {
			for _, p := range paths {
				e := Effect{Kind: EffectWrite, Path: Clean(dir, Tidy(p))}
				switch {
				case deletes:
					e.Kind, e.Recursive = EffectDelete, recursive
				case len(edits) > 0:
					e.Change = united(edits)
				}
				out = append(out, e)
			}
			return out
		},
	}, true
}

// connectionArgs are the arguments that say which database a tool means.
func connectionArgs(args map[string]any) (targets []string) {
	for _, k := range []string{"connection", "connection_string", "database", "db", "db_path", "database_url", "dsn", "url", "host", "project", "project_id", "project_ref", "path", "file", "environment", "env", "server", "instance", "cluster"} {
		if v, ok := arg(args, k).(string); ok && v != "" {
			targets = append(targets, private.Replace(v))
		}
	}
	return targets
}

var joined = strings.NewReplacer("_", "", "-", "")

// arg finds an argument whatever the case and the signs of its name.
func arg(args map[string]any, name string) any {
	if v, ok := args[name]; ok {
		return v
	}
	fold := func(s string) string {
		return strings.ToLower(joined.Replace(s))
	}
	want := fold(name)
	for _, k := range slices.Sorted(maps.Keys(args)) {
		if fold(k) == want {
			return args[k]
		}
	}
	return nil
}

// texts are the texts of a value: itself, or those of a list.
func texts(v any) (texts []string) {
	switch v := v.(type) {
	case string:
		if v != "" {
			return []string{v}
		}
	case []string:
		return v
	case []any:
		for _, one := range v[:min(len(v), maxArgs)] {
			if t, ok := one.(string); ok {
				texts = append(texts, t)
			}
		}
	}
	return texts
}

// flatten collects the words of any arguments.
func flatten(v any, depth int, out *[]string) {
	if depth > maxArgDepth || len(*out) > maxArgs {
		return
	}
	switch v := v.(type) {
	case string:
		*out = append(*out, v[:min(len(v), 1<<10)])
	case []any:
		for _, one := range v {
			flatten(one, depth+1, out)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			*out = append(*out, k)
			flatten(v[k], depth+1, out)
		}
	}
}

// camel splits runInTerminal into run_In_Terminal.
func camel(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 && r >= 'A' && r <= 'Z' && s[i-1] >= 'a' && s[i-1] <= 'z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return b.String()
}
