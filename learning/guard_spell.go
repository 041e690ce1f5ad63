package learning

import (
	"maps"
	"slices"
	"strings"

	"skillrouter"
)

// guardNormalize gives a command its one spelling.
func guardNormalize(words []string) *guardAct {
	name := words[0]
	args := words[1:]
	a := &guardAct{name: name, options: map[string][]string{}, source: words}
	switch name {
	case "kill", "pkill", "killall", "skill":
		args = guardSignals(args)
	case "yarn", "pnpm", "bun":
		if name == "yarn" && len(args) > 0 && args[0] == "npm" {
			args = args[1:]
		}
		if i := slices.IndexFunc(args, func(w string) bool { return !strings.HasPrefix(w, "-") }); i >= 0 && slices.Contains([]string{"publish", "unpublish", "add", "install", "remove"}, args[i]) {
			a.name = "npm"
		}
	case "uv":
		if len(args) > 0 && args[0] == "pip" {
			a.name, args = "pip", args[1:]
		}
	case "docker", "podman":
		args = guardDockerWords(args)
	case "gcloud":
		if len(args) > 0 && (args[0] == "beta" || args[0] == "alpha") {
			args = args[1:]
		}
	}
	if base, kind, ok := strings.Cut(name, "."); ok && base == "mkfs" {
		a.name = "mkfs"
		a.options["type"] = []string{kind}
	}
	key := a.name
	level := guardOptionsOf()[key]
	known := level
	for {
		_, sub := guardPrefixes()[key]
		deeper := sub && a.name == key || strings.HasPrefix(key, "docker ")
		if !deeper {
			break
		}
		r := guardReadOptions(key, known, args, true)
		for k, v := range r.options {
			a.options[k] = append(a.options[k], v...)
		}
		if len(r.operands) == 0 {
			args = nil
			break
		}
		a.words = append(a.words, r.operands[0])
		args = r.operands[1:]
		key += " " + r.operands[0]
		next, listed := guardOptionsOf()[key]
		if !listed {
			break
		}
		merged := make(guardOptions, len(known)+len(next))
		for k, v := range known {
			merged[k] = v
		}
		for k, v := range next {
			merged[k] = v
		}
		known = merged
		if strings.Count(key, " ") > 2 {
			break
		}
	}
	r := guardReadOptions(a.name, known, args, false)
	for k, v := range r.options {
		a.options[k] = append(a.options[k], v...)
	}
	a.words = append(a.words, r.operands...)
	a.respell()
	return a
}

// respell replaces other names of the same subcommand and resource.
func (a *guardAct) respell() {
	if len(a.words) > 0 {
		if verb, ok := guardVerbs[a.name+" "+a.words[0]]; ok {
			a.words[0] = verb
		}
	}
	switch a.name {
	case "kubectl":
		for i := 1; i < len(a.words); i++ {
			w := a.words[i]
			if i == 1 {
				w = guardResource(w)
				a.words[i] = w
			}
			if kind, item, ok := strings.Cut(w, "/"); ok && i <= 2 {
				if same, short := guardKinds[kind]; short {
					kind = same
				}
				a.words = slices.Replace(a.words, i, i+1, kind, item)
			} else if same, short := guardKinds[w]; short && i == 1 {
				a.words[i] = same
			}
		}
	case "terraform":
		if len(a.words) > 0 && a.words[0] == "apply" && len(a.options["destroy"]) > 0 {
			a.words[0] = "destroy"
		}
		if v := a.options["auto-approve"]; len(v) > 0 && v[len(v)-1] == "false" {
			delete(a.options, "auto-approve")
		}
	case "mongosh":
		for _, code := range a.options["eval"] {
			a.words = append(a.words, guardScriptWords(code)...)
		}
		delete(a.options, "eval")
	case "git":
		if len(a.words) > 0 && a.words[0] == "branch" && len(a.options["delete"]) > 0 && len(a.options["force"]) > 0 {
			a.options["force-delete"] = []string{""}
			delete(a.options, "delete")
			delete(a.options, "force")
		}
		if len(a.words) > 2 && a.words[0] == "push" {
			for i, w := range a.words[2:] {
				// An empty source deletes the branch.
				if gone, ok := strings.CutPrefix(w, ":"); ok && gone != "" {
					a.options["delete"] = []string{""}
					a.words[2+i] = strings.TrimPrefix(gone, "refs/heads/")
				}
			}
		}
		// The last of two that contradict each other counts.
		for _, pair := range [][2]string{{"no-verify", "verify"}} {
			if len(a.options[pair[1]]) > 0 && slices.Index(a.source, "--"+pair[1]) > slices.Index(a.source, "--"+pair[0]) {
				delete(a.options, pair[0])
			}
		}
	case "redis-cli":
		for i, w := range a.words {
			a.words[i] = strings.ToLower(w)
		}
		for _, u := range a.options["u"] {
			host, _, _ := strings.Cut(guardURL(strings.TrimPrefix(strings.TrimPrefix(u, "redis://"), "rediss://")), "/")
			host, _, _ = strings.Cut(host, ":")
			a.options["h"] = append(a.options["h"], host)
		}
	case "crontab":
		if len(a.words) == 1 && a.words[0] == "/dev/null" {
			a.words, a.options["r"] = nil, []string{""} // an empty one takes its place
		}
	case "rails":
		if len(a.words) > 0 && strings.Contains(a.words[0], ":") {
			a.name = "rake" // its tasks are rake's
		}
	case "chown":
		if len(a.words) > 0 {
			a.words[0] = guardOwner(a.words[0])
		}
	case "chmod":
		if len(a.words) > 0 {
			a.words[0] = guardMode(a.words[0])
		}
	}
}

// guardResource drops the group and version of a resource: deployments.apps/x is deployments/x.
func guardResource(w string) string {
	kind, item, named := strings.Cut(w, "/")
	short, _, grouped := strings.Cut(kind, ".")
	if !grouped {
		return w
	}
	if _, ok := guardKinds[short]; !ok && !slices.Contains(slices.Collect(maps.Values(guardKinds)), short) {
		return w
	}
	if named {
		return short + "/" + item
	}
	return short
}

// guardCollection are the other ways to write db.name.
var guardCollection = skillrouter.Lazily(`db\s*(?:\.\s*getCollection\s*\(\s*["'](\w+)["']\s*\)|\[\s*["'](\w+)["']\s*\])`)

// guardScriptWords are the statements of a database's own language, without spaces.
func guardScriptWords(code string) (words []string) {
	code = guardCollection.ReplaceAllString(code, "db.$1$2")
	for st := range strings.FieldsFuncSeq(code, func(r rune) bool { return r == ';' || r == '\n' }) {
		if st = strings.ReplaceAll(strings.Join(strings.Fields(st), ""), `"`, "'"); st != "" {
			words = append(words, st)
		}
	}
	return words
}

// guardDockerWords drops the noun that docker's older commands leave out.
func guardDockerWords(args []string) []string {
	r := guardReadOptions("docker", guardOptionsOf()["docker"], args, true)
	if len(r.operands) < 2 {
		return args
	}
	head := args[:r.rest]
	sub := r.operands[1]
	switch r.operands[0] {
	case "container":
		if sub == "remove" {
			sub = "rm"
		}
		if sub != "prune" && sub != "ls" && sub != "list" {
			return append(append(append([]string{}, head...), sub), r.operands[2:]...)
		}
	case "image":
		switch sub {
		case "rm", "remove":
			return append(append(append([]string{}, head...), "rmi"), r.operands[2:]...)
		case "push", "pull", "build", "tag", "save", "load":
			return append(append(append([]string{}, head...), sub), r.operands[2:]...)
		}
	case "volume", "network":
		if sub == "remove" {
			return append(append(append([]string{}, head...), r.operands[0], "rm"), r.operands[2:]...)
		}
	}
	return args
}

// guardOwner names the superuser by name.
func guardOwner(owner string) string {
	user, group, ok := strings.Cut(owner, ":")
	if user == "0" {
		user = "root"
	}
	if group == "0" || ok && group == "" && user == "root" {
		group = "root"
	}
	if ok {
		return user + ":" + group
	}
	return user
}

// guardSignals spells -9, -KILL and -SIGKILL as --signal=KILL.
func guardSignals(args []string) []string {
	names := map[string]string{"9": "KILL", "15": "TERM", "1": "HUP", "2": "INT", "3": "QUIT", "19": "STOP"}
	out := slices.Clone(args)
	for i, a := range out {
		sig := ""
		switch {
		case i > 0 && (out[i-1] == "-s" || out[i-1] == "--signal"):
			out[i] = guardSignal(a, names)
			continue
		case strings.HasPrefix(a, "--signal="):
			sig = strings.TrimPrefix(a, "--signal=")
		case len(a) > 1 && a[0] == '-' && strings.Trim(a[1:], "0123456789") == "":
			sig = a[1:]
		case len(a) > 2 && a[0] == '-' && strings.Trim(a[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ12") == "":
			sig = a[1:]
		default:
			continue
		}
		out[i] = "--signal=" + guardSignal(sig, names)
	}
	return out
}

func guardSignal(sig string, names map[string]string) string {
	sig = strings.TrimPrefix(strings.ToUpper(sig), "SIG")
	if n, ok := names[sig]; ok {
		return n
	}
	return sig
}

// guardMode spells the permissions that everybody gets in octal.
func guardMode(mode string) string {
	switch mode {
	case "a+rwx", "a=rwx", "+rwx", "ugo+rwx", "ugo=rwx", "ogu+rwx", "0777", "a+rwX", "u=rwx,g=rwx,o=rwx", "u+rwx,g+rwx,o+rwx", "=rwx", "1777", "00777":
		return "777"
	}
	if t := strings.TrimLeft(mode, "0"); len(t) == 3 && strings.Trim(t, "01234567") == "" {
		return t
	}
	return mode
}
