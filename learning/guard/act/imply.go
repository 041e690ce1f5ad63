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
	verb, operands := "", []string(nil)
	if len(a.Words) > 0 {
		verb, operands = a.Words[0], a.Words[1:]
	}
	all := slices.Contains(operands, string(AnyText))
	switch a.Name {
	case "docker":
		switch {
		case len(operands) == 0:
		case verb == "system" && operands[0] == "prune":
			for _, kind := range []string{"container", "network", "image"} {
				out = append(out, as("docker", kind, "prune"))
			}
			if len(a.Options["volumes"]) > 0 {
				out = append(out, as("docker", "volume", "prune"))
			}
		case all && (verb == "volume" || verb == "network") && operands[0] == "rm":
			b := as("docker", verb, "prune")
			b.Options["all"], b.Options["force"] = []string{""}, []string{""}
			out = append(out, b)
		}
	case "redis-cli":
		if verb == "flushall" {
			out = append(out, as("redis-cli", append([]string{"flushdb"}, operands...)...))
		}
		if all && (verb == "del" || verb == "unlink") {
			out = append(out, as("redis-cli", "flushdb"))
		}
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
	case "pkill":
		if len(a.Options["full"]) == 0 {
			out = append(out, as("killall", a.Words...))
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

// listing is what a command lists of the things that a program keeps:
// names that may be any, where nothing narrows the list.
func listing(a *Act) (paths []string) {
	key := a.Name + " " + strings.Join(a.Words[:min(len(a.Words), 2)], " ")
	anything := string(AnyText)
	whole := []string{"docker volume ls", "docker network ls", "docker container ls", "docker image ls", "docker images", "docker images -q"}
	switch {
	case a.Name == "pgrep" || a.Name == "pidof":
		for _, w := range a.Words {
			paths = append(paths, pidOf+w)
		}
		return paths
	case a.Name == "lsof":
		for _, w := range a.Source[1:] {
			if _, port, ok := strings.Cut(w, ":"); ok {
				paths = append(paths, pidOf+port)
			}
		}
		return paths
	case len(a.Options["filter"])+len(a.Options["f"])+len(a.Options["selector"])+len(a.Options["field-selector"]) > 0:
		return nil
	case slices.Contains(whole, key), strings.HasPrefix(key, "docker ps"):
		return []string{anything}
	case strings.HasPrefix(key, "kubectl get ") && len(a.Words) == 2:
		if o := a.Options["output"]; len(o) > 0 && o[len(o)-1] == "name" {
			return []string{a.Words[1] + "/" + anything}
		}
		return []string{anything}
	case a.Name == "redis-cli" && len(a.Words) > 1 && a.Words[0] == "keys" && Spelling.Replace(a.Words[1]) == "*":
		return []string{anything}
	case a.Name == "redis-cli" && len(a.Options["scan"]) > 0:
		if p := a.Options["pattern"]; len(p) == 0 || p[0] == "" || p[0] == "*" {
			return []string{anything}
		}
	}
	return nil
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
