package act

import (
	"maps"
	"slices"
	"strings"
)

// pidOf marks a word that stands for the processes of a program.
const pidOf = "pid-of:"

// implied are the lesser acts that an act includes: who does the greater does
// them too, under whichever of their names a rule knows them.
func (a *Act) implied() (out []*Act) {
	as := func(name string, words ...string) *Act {
		b := *a
		b.Name, b.Words, b.Effects, b.Within = name, words, nil, true
		b.Options = maps.Clone(a.Options)
		return &b
	}
	for _, gives := range a.outcomes("includes") {
		b := as(gives[0])
		for _, w := range gives[1:] {
			switch option, is := strings.CutPrefix(w, "--"); {
			case is:
				b.Options[option] = []string{""}
			case w == "$*":
				b.Words = append(b.Words, a.Words[1:]...)
			default:
				b.Words = append(b.Words, a.filled(w))
			}
		}
		out = append(out, b)
	}
	switch a.Name {
	case "echo", "printf", "printenv":
		// What is printed is the variable, whatever stands around it.
		for _, w := range a.Words {
			if a.Name == "printenv" {
				w = "${" + w + "}"
			}
			for _, v := range unsetVariable.FindAllString(w, 8) {
				if a.Name != "echo" || v != w {
					out = append(out, as("echo", v))
				}
			}
		}
	case "mvn":
		// A goal of a plugin is what the plugin's own program does.
		for _, w := range a.Words {
			if plugin, goal, ok := strings.Cut(w, ":"); ok && plugin != "" && goal != "" {
				out = append(out, as(plugin, goal))
			}
		}
	case "ufw":
		// A port without a protocol is that of each.
		for i, w := range a.Words {
			if port, ok := ports()[w]; ok {
				w = port
			}
			if w != "" && strings.Trim(w, "0123456789:") == "" {
				words := slices.Clone(a.Words)
				words[i] = w + "/tcp"
				out = append(out, as("ufw", words...))
			}
		}
	case "kill":
		for _, w := range a.Words {
			if name, ok := strings.CutPrefix(w, pidOf); ok {
				out = append(out, as("killall", name))
			}
		}
	}
	for _, file := range a.secretsRead() {
		out = append(out, as("cat", file))
	}
	return out
}

// secretsRead are the secret files that an act other than cat shows, copies or sends.
func (a *Act) secretsRead() (files []string) {
	if h := a.secretHarm(); a.Name == "cat" || h != HarmSecret && h != HarmSend {
		return nil
	}
	for _, w := range a.Words {
		if w = strings.TrimPrefix(w, "if="); secretFile(Clean(a.Dir, w)) {
			files = append(files, w)
		}
	}
	return files
}

// filled is a word of an outcome with the act's own words in it.
func (a *Act) filled(word string) string {
	if len(a.Words) > 1 {
		word = strings.ReplaceAll(word, "$1", a.Words[1])
	}
	return activate(strings.ReplaceAll(word, "$0", strings.Join(a.Words[:min(1, len(a.Words))], "")))
}

// listing is what a command lists of the things that a program keeps:
// names that may be any, where nothing narrows the list.
func listing(a *Act) (paths []string) {
	switch a.Name {
	case "pgrep", "pidof":
		for _, w := range a.Words {
			paths = append(paths, pidOf+w)
		}
	case "lsof":
		for _, w := range a.Source[1:] {
			if _, port, ok := strings.Cut(w, ":"); ok {
				paths = append(paths, pidOf+port)
			}
		}
	}
	if all := a.outcomes("lists"); len(all) > 0 {
		paths = []string{a.filled(all[0][0])}
	}
	return paths
}

// narrowed is what a filter for a text leaves of names that may be any.
func narrowed(paths []string, text string) []string {
	anything := string(AnyText)
	out := slices.Clone(paths)
	for i, p := range out {
		if head, ok := strings.CutSuffix(p, anything); ok && text != "" && (head == "" || strings.HasSuffix(head, "/")) && strings.Trim(text, "^$") == wordOf(text) {
			out[i] = head + anything + wordOf(text) + anything
		}
	}
	return out
}

// wordOf is the plain part of an expression that is a name, "" for any other.
func wordOf(expression string) string {
	w := strings.Trim(expression, "^$")
	if strings.IndexFunc(w, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) >= 0 {
		return ""
	}
	return w
}

// OnlyAsks reports whether the option does no more than skip the program's question.
func (a *Act) OnlyAsks(option string) bool {
	if option != "force" {
		return false
	}
	return a.Name == "docker" && slices.Contains(a.Words, "prune") || a.Name == "prisma"
}
