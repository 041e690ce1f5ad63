package act

import (
	"maps"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
)

// normalize gives a command its one spelling.
func normalize(words []string) *Act {
	name := words[0]
	args := words[1:]
	a := &Act{Name: name, Options: map[string][]string{}, Source: words}
	p := programOf(name)
	if p.has("signals") {
		args = signals(args)
	}
	if len(args) > 0 && p.says("skips", args[0]) {
		args = args[1:]
	}
	if i := slices.IndexFunc(args, func(w string) bool { return !strings.HasPrefix(w, "-") }); i >= 0 && p.has("as") && slices.Contains(p["as"][1:], args[i]) {
		a.Name = p.one("as")
	}
	switch {
	case name == "uv" && len(args) > 0 && args[0] == "pip":
		a.Name, args = "pip", args[1:]
	case name == "docker":
		args = dockerWords(args)
	}
	if base, kind, ok := strings.Cut(name, "."); ok && base == "mkfs" {
		a.Name = "mkfs"
		a.Options["type"] = []string{kind}
	}
	key := a.Name
	known := OptionsOf()[key]
	for Prefixes()[key] && a.Name == key || strings.HasPrefix(key, "docker ") {
		r := readOptions(key, known, args, true)
		a.take(r)
		if len(r.operands) == 0 {
			args = nil
			break
		}
		a.Words = append(a.Words, r.operands[0])
		args = r.operands[1:]
		key += " " + r.operands[0]
		next, listed := OptionsOf()[key]
		if !listed {
			break
		}
		known = maps.Clone(known)
		maps.Copy(known, next)
		if strings.Count(key, " ") > 2 {
			break
		}
	}
	r := readOptions(a.Name, known, args, false)
	a.take(r)
	a.Words = append(a.Words, r.operands...)
	a.respell()
	return a
}

// take adds the options of a part of the command line.
func (a *Act) take(r read) {
	for name, values := range r.options {
		a.Options[name] = append(a.Options[name], values...)
	}
}

// respell replaces other names of the same subcommand and resource.
func (a *Act) respell() {
	if len(a.Words) > 0 {
		if verb, ok := programOf(a.Name).pair("means", a.Words[0]); ok {
			a.Words[0] = verb
		}
	}
	switch a.Name {
	case "kubectl":
		a.respellResources()
	case "terraform":
		if len(a.Words) > 0 && a.Words[0] == "apply" && len(a.Options["destroy"]) > 0 {
			a.Words[0] = "destroy"
		}
		if v := a.Options["auto-approve"]; len(v) > 0 && v[len(v)-1] == "false" {
			delete(a.Options, "auto-approve")
		}
	case "mongosh":
		for _, code := range a.Options["eval"] {
			a.Words = append(a.Words, scriptWords(code)...)
		}
		delete(a.Options, "eval")
	case "git":
		a.respellGit()
	case "redis-cli":
		for i, w := range a.Words {
			a.Words[i] = strings.ToLower(w)
		}
		for _, u := range a.Options["u"] {
			host, _, _ := strings.Cut(URL(strings.TrimPrefix(strings.TrimPrefix(u, "redis://"), "rediss://")), "/")
			host, _, _ = strings.Cut(host, ":")
			a.Options["h"] = append(a.Options["h"], host)
		}
	case "crontab":
		if len(a.Words) == 1 && a.Words[0] == "/dev/null" {
			a.Words, a.Options["r"] = nil, []string{""} // an empty one takes its place
		}
	case "rails":
		if len(a.Words) > 0 && strings.Contains(a.Words[0], ":") {
			a.Name = "rake" // its tasks are rake's
		}
	case "chown":
		if len(a.Words) > 0 {
			a.Words[0] = owner(a.Words[0])
		}
	case "chmod":
		if len(a.Words) > 0 {
			a.Words[0] = mode(a.Words[0])
		}
	}
}

// respellResources spells the resources of kubectl in full, and their names apart.
func (a *Act) respellResources() {
	for i := 1; i < len(a.Words); i++ {
		w := a.Words[i]
		if i == 1 {
			w = resource(w)
			a.Words[i] = w
		}
		if kind, item, ok := strings.Cut(w, "/"); ok && i <= 2 {
			if same, short := kinds()[kind]; short {
				kind = same
			}
			a.Words = slices.Replace(a.Words, i, i+1, kind, item)
		} else if same, short := kinds()[w]; short && i == 1 {
			a.Words[i] = same
		}
	}
}

// respellGit spells what git has several options for in one way.
func (a *Act) respellGit() {
	if len(a.Words) > 0 && a.Words[0] == "branch" && len(a.Options["delete"]) > 0 && len(a.Options["force"]) > 0 {
		a.Options["force-delete"] = []string{""}
		delete(a.Options, "delete")
		delete(a.Options, "force")
	}
	if len(a.Words) > 2 && a.Words[0] == "push" {
		for i, w := range a.Words[2:] {
			// An empty source deletes the branch.
			if gone, ok := strings.CutPrefix(w, ":"); ok && gone != "" {
				a.Options["delete"] = []string{""}
				a.Words[2+i] = strings.TrimPrefix(gone, "refs/heads/")
			}
		}
	}
	// The last of two that contradict each other counts.
	if len(a.Options["verify"]) > 0 && slices.Index(a.Source, "--verify") > slices.Index(a.Source, "--no-verify") {
		delete(a.Options, "no-verify")
	}
}

// resource drops the group and version of a resource: deployments.apps/x is deployments/x.
func resource(w string) string {
	kind, item, named := strings.Cut(w, "/")
	short, _, grouped := strings.Cut(kind, ".")
	if !grouped {
		return w
	}
	if _, ok := kinds()[short]; !ok {
		return w
	}
	if named {
		return short + "/" + item
	}
	return short
}

// collection are the other ways to write db.name.
var collection = lazyregexp.New(`db\s*(?:\.\s*getCollection\s*\(\s*["'](\w+)["']\s*\)|\[\s*["'](\w+)["']\s*\])`)

// scriptWords are the statements of a database's own language, without spaces.
func scriptWords(code string) (words []string) {
	code = collection.ReplaceAllString(code, "db.$1$2")
	for st := range strings.FieldsFuncSeq(code, func(r rune) bool { return r == ';' || r == '\n' }) {
		if st = strings.ReplaceAll(strings.Join(strings.Fields(st), ""), `"`, "'"); st != "" {
			words = append(words, st)
		}
	}
	return words
}

// dockerWords drops the noun that docker's older commands leave out.
func dockerWords(args []string) []string {
	r := readOptions("docker", OptionsOf()["docker"], args, true)
	if len(r.operands) < 2 {
		return args
	}
	noun, sub := r.operands[0], r.operands[1]
	if sub == "remove" && slices.Contains([]string{"container", "image", "volume", "network"}, noun) {
		sub = "rm"
	}
	words := []string{noun, sub}
	switch {
	case noun == "container" && sub != "prune" && sub != "ls" && sub != "list", noun == "image" && slices.Contains([]string{"push", "pull", "build", "tag", "save", "load"}, sub):
		words = []string{sub}
	case noun == "image" && sub == "rm":
		words = []string{"rmi"}
	}
	return slices.Concat(args[:r.rest], words, r.operands[2:])
}

// owner names the superuser by name.
func owner(owner string) string {
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

// signals spells -9, -KILL and -SIGKILL as --signal=KILL.
func signals(args []string) []string {
	names := map[string]string{"9": "KILL", "15": "TERM", "1": "HUP", "2": "INT", "3": "QUIT", "19": "STOP"}
	out := slices.Clone(args)
	for i, a := range out {
		sig := ""
		switch {
		case i > 0 && (out[i-1] == "-s" || out[i-1] == "--signal"):
			out[i] = signal(a, names)
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
		out[i] = "--signal=" + signal(sig, names)
	}
	return out
}

func signal(sig string, names map[string]string) string {
	sig = strings.TrimPrefix(strings.ToUpper(sig), "SIG")
	if n, ok := names[sig]; ok {
		return n
	}
	return sig
}

// mode spells the permissions that everybody gets in octal.
func mode(mode string) string {
	switch mode {
	case "a+rwx", "a=rwx", "+rwx", "ugo+rwx", "ugo=rwx", "ogu+rwx", "0777", "a+rwX", "u=rwx,g=rwx,o=rwx", "u+rwx,g+rwx,o+rwx", "=rwx", "1777", "00777":
		return "777"
	}
	if t := strings.TrimLeft(mode, "0"); len(t) == 3 && strings.Trim(t, "01234567") == "" {
		return t
	}
	return mode
}
