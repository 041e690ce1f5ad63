package learning

import (
	"maps"
	"slices"
	"strings"
)

// guardPidOf marks a word that stands for the processes of a program.
const guardPidOf = "pid-of:"

// implied are the lesser acts that an act includes: who does the greater does
// them too, under whichever of their names a rule knows them.
func (a *guardAct) implied() (out []*guardAct) {
	as := func(name string, words ...string) *guardAct {
		b := *a
		b.name, b.words, b.effects, b.within = name, words, nil, true
		b.options = maps.Clone(a.options)
		return &b
	}
	verb, operands := "", []string(nil)
	if len(a.words) > 0 {
		verb, operands = a.words[0], a.words[1:]
	}
	all := slices.Contains(operands, string(guardAnyText))
	switch a.name {
	case "docker":
		switch {
		case len(operands) == 0:
		case verb == "system" && operands[0] == "prune":
			for _, kind := range []string{"container", "network", "image"} {
				out = append(out, as("docker", kind, "prune"))
			}
			if len(a.options["volumes"]) > 0 {
				out = append(out, as("docker", "volume", "prune"))
			}
		case all && (verb == "volume" || verb == "network") && operands[0] == "rm":
			b := as("docker", verb, "prune")
			b.options["all"], b.options["force"] = []string{""}, []string{""}
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
		for _, w := range a.words {
			if a.name == "printenv" {
				w = "${" + w + "}"
			}
			for _, v := range guardUnsetVariable.FindAllString(w, 8) {
				if a.name != "echo" || v != w {
					out = append(out, as("echo", v))
				}
			}
		}
	case "mvn":
		// A goal of a plugin is what the plugin's own program does.
		for _, w := range a.words {
			if plugin, goal, ok := strings.Cut(w, ":"); ok && plugin != "" && goal != "" {
				out = append(out, as(plugin, goal))
			}
		}
	case "ufw":
		// A port without a protocol is that of each.
		for i, w := range a.words {
			if port, ok := guardPorts[w]; ok {
				w = port
			}
			if w != "" && strings.Trim(w, "0123456789:") == "" {
				words := slices.Clone(a.words)
				words[i] = w + "/tcp"
				out = append(out, as("ufw", words...))
			}
		}
	case "pkill":
		if len(a.options["full"]) == 0 {
			out = append(out, as("killall", a.words...))
		}
	case "kill":
		for _, w := range a.words {
			if name, ok := strings.CutPrefix(w, guardPidOf); ok {
				out = append(out, as("killall", name))
			}
		}
	}
	return out
}

// guardPorts are the services that firewalls know by name.
var guardPorts = map[string]string{"ssh": "22", "openssh": "22", "http": "80", "https": "443", "postgresql": "5432", "mysql": "3306"}

// guardListing is what a command lists of the things that a program keeps:
// names that may be any, where nothing narrows the list.
func guardListing(a *guardAct) (paths []string) {
	key := a.name + " " + strings.Join(a.words[:min(len(a.words), 2)], " ")
	anything := string(guardAnyText)
	switch {
	case a.name == "pgrep" || a.name == "pidof":
		for _, w := range a.words {
			paths = append(paths, guardPidOf+w)
		}
		return paths
	case len(a.options["filter"])+len(a.options["f"])+len(a.options["selector"])+len(a.options["field-selector"]) > 0:
		return nil
	case key == "docker volume ls", key == "docker network ls", strings.HasPrefix(key, "docker ps"), key == "docker container ls":
		return []string{anything}
	case strings.HasPrefix(key, "kubectl get ") && len(a.words) == 2:
		if o := a.options["output"]; len(o) > 0 && o[len(o)-1] == "name" {
			return []string{a.words[1] + "/" + anything}
		}
		return []string{anything}
	case a.name == "redis-cli" && len(a.options["scan"]) > 0:
		if p := a.options["pattern"]; len(p) == 0 || p[0] == "" || p[0] == "*" {
			return []string{anything}
		}
	}
	return nil
}

// guardNarrowed is what a filter for a text leaves of names that may be any.
func guardNarrowed(paths []string, text string) []string {
	anything := string(guardAnyText)
	out := slices.Clone(paths)
	for i, p := range out {
		if head, ok := strings.CutSuffix(p, anything); ok && text != "" && (head == "" || strings.HasSuffix(head, "/")) && strings.Trim(text, "^$") == guardWordOf(text) {
			out[i] = head + anything + guardWordOf(text) + anything
		}
	}
	return out
}

// guardWordOf is the plain part of an expression that is a name, "" for any other.
func guardWordOf(expression string) string {
	w := strings.Trim(expression, "^$")
	if strings.IndexFunc(w, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) >= 0 {
		return ""
	}
	return w
}

// guardConsent are options that answer a question beforehand. Who feeds the
// program a yes does without them.
var guardConsent = map[string]bool{"force": true, "yes": true, "auto-approve": true, "assume-yes": true, "quiet": true}

// onlyAsks reports whether the option does no more than skip the program's question.
func (a *guardAct) onlyAsks(option string) bool {
	if option != "force" {
		return false
	}
	return a.name == "docker" && slices.Contains(a.words, "prune") || a.name == "prisma"
}

// guardHarming are options that make a command what it is: without them it is another.
var guardHarming = map[string]bool{
	"force": true, "recursive": true, "all": true, "volumes": true, "delete": true, "remove": true, "now": true, "cascade": true, "prune": true, "purge": true,
	"hard": true, "destroy": true, "overwrite": true, "replace": true, "clean": true, "global": true, "all-namespaces": true,
}

// qualifies says what an act still is to the rule that lacks an option of the
// rule's command: the act, where the title names what is done and to what and
// the option only says how; near it, where the option has a value, which may
// have told the object apart.
func (r *GuardRule) qualifies(want *guardAct, option string, values []string) guardFit {
	fixed := guardFixedWords(want)
	if fixed == 0 || len(option) < 3 || guardBypass[option] || guardHarming[option] || r.title.names(option) || slices.ContainsFunc(values, r.title.names) || !r.title.names(want.words[fixed-1]) {
		return guardNone
	}
	named := slices.ContainsFunc(want.words[fixed:], r.title.names)
	for _, v := range want.options {
		named = named || slices.ContainsFunc(v, r.title.names)
	}
	switch {
	case !named:
		return guardNone
	case values[len(values)-1] == "":
		return guardFull
	}
	return guardNear
}

// guardPaired reports whether a word stands behind the same option in both
// acts. Of options that no table knows the order of the values says nothing.
func guardPaired(w string, want, got *guardAct) bool {
	for i := 1; i < len(want.source); i++ {
		option := want.source[i-1]
		if want.source[i] != w || !strings.HasPrefix(option, "-") || strings.Contains(option, "=") {
			continue
		}
		for k, o := range got.source {
			if o == option && k+1 < len(got.source) && got.source[k+1] == w || o == option+"="+w {
				return true
			}
		}
	}
	return false
}

// removesAround reports whether the act deletes the namespace in which the
// rule's act deletes something.
func guardRemovesAround(want, got *guardAct) bool {
	if want.name != "kubectl" || got.name != "kubectl" || len(want.words) < 2 || len(got.words) < 3 || want.words[0] != "delete" || got.words[0] != "delete" || got.words[1] != "namespace" {
		return false
	}
	in := want.options["namespace"]
	return len(in) > 0 && slices.Contains(got.words[2:], in[len(in)-1])
}
