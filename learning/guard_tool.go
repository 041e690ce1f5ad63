package learning

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"
)

// Bounds of a tool call.
const (
	guardMaxArgs     = 200 // values that are looked at
	guardMaxArgDepth = 6
)

// guardProposal is one text of an action, and how to read it.
type guardProposal struct {
	text    string
	dir     string
	told    bool // a tool's argument says that it is a command
	sql     bool
	targets []string
	tool    string
	effects func(s *guardShell) []guardEffect
}

// guardProposals takes an action apart: the commands, statements and paths in
// it, and in rest the words of a tool that the guard does not know.
func guardProposals(action Action) (proposals []guardProposal, rest string) {
	tool, args := action.Tool, action.Args
	if tool == "" {
		if t, a, ok := guardToolCall(action.Command); ok {
			tool, args = t, a
		} else {
			return []guardProposal{{text: action.Command}}, ""
		}
	}
	p, rest := guardToolProposals(tool, args)
	if action.Command != "" && action.Tool != "" {
		p = append(p, guardProposal{text: action.Command})
	}
	return p, rest
}

// guardToolCall reads {"tool": …, "args": {…}} in the spellings that agents use.
func guardToolCall(text string) (tool string, args map[string]any, ok bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") || len(text) > guardMaxInput {
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

// guardCommandArgs are the arguments in which tools take a command.
var guardCommandArgs = []string{"command", "cmd", "script", "shell_command", "commandline", "command_line", "bash", "code", "input", "commands", "line"}

// guardSQLArgs are the arguments in which tools take SQL.
var guardSQLArgs = []string{"sql", "query", "statement", "statements", "sql_query"}

// guardToolProposals reads a tool call. What it does is told from the names of the tool and its arguments.
func guardToolProposals(tool string, args map[string]any) (proposals []guardProposal, rest string) {
	words := guardSplitName(guardCamel(tool))
	has := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(words, n) })
	}
	dir := ""
	for _, k := range []string{"cwd", "workdir", "working_directory", "workingdirectory", "dir", "working_dir"} {
		if v, ok := guardArg(args, k).(string); ok && v != "" {
			dir = guardClean("", v)
		}
	}
	shell := has("bash", "shell", "sh", "exec", "execute", "terminal", "command", "cmd", "zsh", "powershell", "console", "process", "subprocess", "ssh") || has("run") && !has("test", "tests", "query")
	sql := has("sql", "db", "database", "postgres", "postgresql", "mysql", "sqlite", "supabase", "query", "migration", "neon", "bigquery")
	if sql {
		for _, k := range guardSQLArgs {
			for _, text := range guardTexts(guardArg(args, k)) {
				proposals = append(proposals, guardProposal{text: text, sql: true, targets: guardConnectionArgs(args)})
			}
		}
	}
	if shell && len(proposals) == 0 {
		for _, k := range guardCommandArgs {
			v := guardArg(args, k)
			if list, ok := v.([]any); ok && k != "commands" {
				texts := guardTexts(list)
				proposals = append(proposals, guardProposal{text: guardQuoteAll(texts), dir: dir, told: true})
				continue
			}
			if text, ok := v.(string); ok {
				if more := guardTexts(guardArg(args, "args")); len(more) > 0 && k != "code" {
					text += " " + guardQuoteAll(more)
				}
				if has("ssh") {
					if host, ok := guardArg(args, "host").(string); ok && host != "" && !strings.HasPrefix(host, "-") {
						text = "ssh " + guardQuoteAll([]string{host, text})
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
				proposals = append(proposals, guardProposal{text: text, dir: dir, told: true})
				continue
			}
			for _, text := range guardTexts(v) {
				proposals = append(proposals, guardProposal{text: text, dir: dir, told: true})
			}
		}
	}
	if len(proposals) == 0 {
		for _, k := range guardSQLArgs {
			if text, ok := guardArg(args, k).(string); ok && guardLooksSQL(text) {
				proposals = append(proposals, guardProposal{text: text, sql: true, targets: guardConnectionArgs(args)})
			}
		}
	}
	if len(proposals) == 0 && has("http", "https", "request", "fetch", "curl", "api", "web", "rest", "webhook") {
		url, _ := guardArg(args, "url").(string)
		if method, _ := guardArg(args, "method").(string); url != "" {
			if method == "" {
				method = "GET"
			}
			return []guardProposal{{text: guardQuoteAll([]string{"curl", "-X", strings.ToUpper(method), url}), told: true}}, ""
		}
	}
	if len(proposals) == 0 {
		if p, ok := guardFileTool(tool, dir, args, has); ok {
			return []guardProposal{p}, ""
		}
		if has("read", "search", "grep", "list", "get", "find", "fetch", "view", "glob", "describe", "show", "lookup") && !has("write", "delete", "remove", "update", "set", "create", "edit") {
			return nil, "" // it looks, and changes nothing
		}
		var all []string
		guardFlatten(args, 0, &all)
		return nil, strings.Join(append(words, all...), " ")
	}
	return proposals, ""
}

// guardFileTool reads a tool that changes files: write_file, delete_file, str_replace_editor, apply_patch …
func guardFileTool(tool, dir string, args map[string]any, has func(...string) bool) (guardProposal, bool) {
	var paths []string
	for _, k := range []string{"path", "file_path", "filepath", "file", "filename", "target_file", "paths", "source", "destination", "directory", "uri", "notebook_path", "old_path", "new_path"} {
		for _, p := range guardTexts(guardArg(args, k)) {
			if !slices.Contains(paths, p) {
				paths = append(paths, p)
			}
		}
	}
	if len(paths) == 0 {
		return guardProposal{}, false
	}
	verb, _ := guardArg(args, "command").(string)
	if has("read", "view", "list", "ls", "search", "stat", "get", "glob", "grep", "open", "info", "cat") && !has("write", "edit", "replace", "delete", "remove") || verb == "view" {
		return guardProposal{text: "cat " + guardQuoteAll(paths), effects: func(*guardShell) []guardEffect { return nil }, tool: "cat"}, true
	}
	deletes := has("delete", "remove", "rm", "unlink", "rmdir", "trash", "del")
	writes := has("write", "edit", "replace", "create", "update", "append", "insert", "patch", "save", "move", "modify", "put", "str", "editor", "multiedit", "rename", "overwrite", "truncate")
	if !deletes && !writes {
		return guardProposal{}, false
	}
	recursive := has("directory", "dir", "tree", "rmdir", "folder", "recursive", "rmtree")
	if b, ok := guardArg(args, "recursive").(bool); ok {
		recursive = b
	}
	return guardProposal{
		text: tool + " " + strings.Join(paths, " "), tool: "(" + tool + ")",
		effects: func(s *guardShell) (out []guardEffect) {
			for _, p := range paths {
				e := guardEffect{kind: guardEffectWrite, path: guardClean(dir, guardTidy(p))}
				if deletes {
					e.kind, e.whole = guardEffectDelete, recursive
				}
				out = append(out, e)
			}
			return out
		},
	}, true
}

// guardConnectionArgs are the arguments that say which database a tool means.
func guardConnectionArgs(args map[string]any) (targets []string) {
	for _, k := range []string{"connection", "connection_string", "database", "db", "db_path", "database_url", "dsn", "url", "host", "project", "project_id", "project_ref", "path", "file", "environment", "env", "server", "instance", "cluster"} {
		if v, ok := guardArg(args, k).(string); ok && v != "" {
			targets = append(targets, guardPrivate.Replace(v))
		}
	}
	return targets
}

var guardJoined = strings.NewReplacer("_", "", "-", "")

// guardArg finds an argument whatever the case and the signs of its name.
func guardArg(args map[string]any, name string) any {
	if v, ok := args[name]; ok {
		return v
	}
	fold := func(s string) string {
		return strings.ToLower(guardJoined.Replace(s))
	}
	want := fold(name)
	keys := make([]string, 0, len(args))
	for k := range args {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		if fold(k) == want {
			return args[k]
		}
	}
	return nil
}

// guardTexts are the texts of a value: itself, or those of a list.
func guardTexts(v any) (texts []string) {
	switch v := v.(type) {
	case string:
		if v != "" {
			return []string{v}
		}
	case []string:
		return v
	case []any:
		for _, one := range v[:min(len(v), guardMaxArgs)] {
			if t, ok := one.(string); ok {
				texts = append(texts, t)
			}
		}
	}
	return texts
}

// guardFlatten collects the words of any arguments.
func guardFlatten(v any, depth int, out *[]string) {
	if depth > guardMaxArgDepth || len(*out) > guardMaxArgs {
		return
	}
	switch v := v.(type) {
	case string:
		*out = append(*out, v[:min(len(v), 1<<10)])
	case []any:
		for _, one := range v {
			guardFlatten(one, depth+1, out)
		}
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			*out = append(*out, k)
			guardFlatten(v[k], depth+1, out)
		}
	}
}

// guardCamel splits runInTerminal into run_In_Terminal.
func guardCamel(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i > 0 && r >= 'A' && r <= 'Z' && s[i-1] >= 'a' && s[i-1] <= 'z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return b.String()
}
