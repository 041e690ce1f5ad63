package act

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Bounds of a tool call that edits files or names a program. What is beyond them is not looked at.
const (
	maxEdits     = 64  // of one call
	maxToolWords = 16  // arguments that become words of a command
	maxToolWord  = 200 // bytes of one
)

// edit is a change of a file's content.
type edit struct {
	path     string
	old      string // what new takes the place of; "": of all, or what is added to what is known
	text     string
	complete bool
}

// editsOf are the changes that the arguments of a tool spell out: content, old and new text, or a list of those.
func editsOf(path string, args map[string]any) (edits []*edit) {
	for _, k := range []string{"content", "contents", "file_text", "new_source", "file_content"} {
		if text, ok := arg(args, k).(string); ok {
			return []*edit{{path: path, text: text, complete: true}}
		}
	}
	all := []map[string]any{args}
	if list, ok := arg(args, "edits").([]any); ok {
		for _, one := range list[:min(len(list), maxEdits)] {
			if e, ok := one.(map[string]any); ok {
				all = append(all, e)
			}
		}
	}
	for _, e := range all {
		old, _ := cmp.Or(arg(e, "old_string"), arg(e, "old_str"), arg(e, "old_text")).(string)
		if text, ok := cmp.Or(arg(e, "new_string"), arg(e, "new_str"), arg(e, "new_text"), arg(e, "insert_text")).(string); ok {
			edits = append(edits, &edit{path: path, old: old, text: text})
		}
	}
	return edits
}

// edit takes a change into what is known of a file, and follows what runs by itself from then on. Of a
// file that is not known, the new text alone is: a command in it is still read when the file is run.
func (s *Shell) edit(e *edit) {
	if len(e.text) > maxCarried || !s.step() {
		return
	}
	text := Tidy(e.text)
	if known := s.read(e.path); known.known && !e.complete {
		switch old := Tidy(e.old); {
		case old != "" && strings.Contains(known.text, old):
			text = strings.ReplaceAll(known.text, old, text)
		default:
			text = known.text + "\n" + text
		}
	}
	if len(text) > maxCarried {
		return
	}
	s.files[e.path] = plainText(text)
	if strings.HasPrefix(e.path, "/etc/cron") || strings.HasPrefix(e.path, "/var/spool/cron") {
		s.schedule(text)
	}
}

// patchTool reads a tool that is given a patch: of the form "*** Begin Patch", or a unified one.
func patchTool(tool, dir string, args map[string]any) (Proposal, bool) {
	for _, k := range []string{"patch", "input", "command", "diff", "content", "patch_text"} {
		for _, text := range texts(arg(args, k)) {
			if edits, effects := patchOf(dir, text); len(effects) > 0 {
				var paths []string
				for _, e := range effects {
					paths = append(paths, e.Path)
				}
				return Proposal{Text: tool + " " + strings.Join(paths, " "), tool: "(" + tool + ")", edits: edits, effects: func(*Shell) []Effect { return effects }}, true
			}
		}
	}
	return Proposal{}, false
}

// patchOf reads which files a patch changes or deletes, and the lines that it adds to each.
func patchOf(dir, text string) (edits []*edit, effects []Effect) {
	if !strings.Contains(text, "*** Begin Patch") && !strings.Contains(text, "\n+++ ") && !strings.HasPrefix(text, "+++ ") {
		return nil, nil
	}
	var open *edit
	old := ""
	begin := func(path string, kind EffectKind, full bool) {
		open = nil
		if path = strings.TrimSpace(path); path == "" || path == "/dev/null" || len(effects) >= maxEdits {
			return
		}
		path = Clean(dir, Tidy(path))
		if kind == EffectWrite {
			open = &edit{path: path, complete: full}
			edits = append(edits, open)
		}
		effects = append(effects, Effect{Kind: kind, Path: path, Change: open})
	}
	for line := range strings.Lines(text) {
		head, path, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ": ")
		switch {
		case head == "*** Add File":
			begin(path, EffectWrite, true)
		case head == "*** Update File", head == "*** Move to":
			begin(path, EffectWrite, false)
		case head == "*** Delete File":
			begin(path, EffectDelete, false)
		case strings.HasPrefix(line, "--- "):
			old = patchPath(line)
		case strings.HasPrefix(line, "+++ "):
			switch path := patchPath(line); {
			case path == "/dev/null":
				begin(old, EffectDelete, false)
			default:
				begin(path, EffectWrite, old == "/dev/null")
			}
		case open != nil && strings.HasPrefix(line, "+"):
			open.text += line[1:]
		case open != nil && strings.HasPrefix(line, "-"):
			open.old += line[1:]
		}
	}
	return edits, effects
}

// patchPath is the path of a line "+++ b/x" of a patch.
func patchPath(line string) string {
	path, _, _ := strings.Cut(strings.TrimSpace(line[4:]), "\t")
	if rest, ok := strings.CutPrefix(path, "a/"); ok {
		return rest
	}
	return strings.TrimPrefix(path, "b/")
}

// toolNames are programs, and things they work on, that tools name in another way than their commands.
var toolNames = map[string]string{"repository": "repo", "kubernetes": "kubectl", "k8s": "kubectl", "github": "gh", "gitlab": "glab", "gcp": "gcloud", "azure": "az"}

// programTool reads a tool that nobody has told the guard of as what its name says: by itself, for rules
// about the tool, and as the program it is named after, mcp__kubernetes__delete_namespace as kubectl
// delete namespace. The order of verb and object differs between programs: both are read.
func programTool(tool string, words []string, args map[string]any) []Proposal {
	given := toolWords(args)
	all := []Proposal{{Text: quoteAll(append([]string{tool}, given...)), told: true, named: true}}
	program := ""
	var rest []string
	for _, w := range words {
		switch name := cmp.Or(toolNames[w], w); {
		case w == "mcp" || w == "server" || w == "tool":
		case name == program:
		case program == "" && (Prefixes()[name] || len(harms().rows[name]) > 0):
			program = name
		default:
			rest = append(rest, name)
		}
	}
	if program == "" || len(rest) == 0 {
		return all
	}
	all = append(all, Proposal{Text: quoteAll(slices.Concat([]string{program}, rest, given)), told: true, named: true})
	if len(rest) == 2 {
		all = append(all, Proposal{Text: quoteAll(slices.Concat([]string{program, rest[1], rest[0]}, given)), told: true, named: true})
	}
	return all
}

// toolWords are a tool's arguments as the words of a command: what it is of a kind first, then its
// name, then the others; what is true is an option.
func toolWords(args map[string]any) (words []string) {
	rank := func(key string) int {
		switch strings.ToLower(joined.Replace(key)) {
		case "kind", "type", "resource", "resourcetype":
			return 0
		case "name", "id":
			return 1
		}
		return 2
	}
	keys := slices.Collect(maps.Keys(args))
	slices.SortFunc(keys, func(a, b string) int { return cmp.Or(rank(a)-rank(b), strings.Compare(a, b)) })
	for _, k := range keys[:min(len(keys), maxToolWords)] {
		switch v := args[k].(type) {
		case bool:
			if v {
				words = append(words, "--"+strings.ReplaceAll(k, "_", "-"))
			}
		case string:
			if v != "" && len(v) <= maxToolWord && !strings.ContainsAny(v, "\n\x00") {
				words = append(words, v)
			}
		}
	}
	return words
}

// united is what several changes of a file come to.
func united(edits []*edit) *edit {
	all := *edits[0]
	for _, e := range edits[1:] {
		all.old += "\n" + e.old
		all.text += "\n" + e.text
	}
	return &all
}
