package act

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// wrapper describes a program that runs another program.
type wrapper struct {
	options string // as in optionTable
	skip    int    // operands before the program: timeout's duration, chroot's root
	text    string // an option whose value is a script; "*" means the operands are one
	env     bool   // NAME=value may stand before the program
	where   bool   // the operand that is skipped names a host or container
}

// wrappers lists them by name, or by name and subcommands. What they run is
// the act; they themselves are none.
var wrappers = sync.OnceValue(func() map[string]wrapper {
	return map[string]wrapper{
		"sudo":               {options: "u=user: g=group: h=host: p=prompt: C=close-from: D=chdir: R=chroot: r=role: t=type: T=command-timeout: U=other-user: A b E=preserve-env? H n k K S s=shell i=login", env: true},
		"doas":               {options: "u: C: n s L", env: true},
		"run0":               {options: "u=user: g=group: D=chdir: setenv: property: unit: slice: nice:", env: true},
		"pkexec":             {options: "user:", env: true},
		"env":                {options: "u=unset: C=chdir: S=split-string: i=ignore-environment 0=null v=debug", env: true},
		"nohup":              {},
		"time":               {options: "f=format: o=output: a p=portability v=verbose"},
		"nice":               {options: "n=adjustment:"},
		"ionice":             {options: "c=class: n=classdata: p=pid: t=ignore"},
		"chrt":               {options: "T: P: D: p: f r b o i d a v", skip: 1},
		"taskset":            {options: "c a p", skip: 1},
		"numactl":            {options: "i=interleave: m=membind: N=cpunodebind: C=physcpubind: p=preferred: l=localalloc"},
		"timeout":            {options: "s=signal: k=kill-after: v=verbose f=foreground p=preserve-status", skip: 1},
		"gtimeout":           {options: "s=signal: k=kill-after: v=verbose f=foreground p=preserve-status", skip: 1},
		"setsid":             {options: "c=ctty f=fork w=wait"},
		"stdbuf":             {options: "i=input: o=output: e=error:"},
		"unbuffer":           {options: "p"},
		"exec":               {options: "a: c l"},
		"builtin":            {},
		"busybox":            {},
		"toybox":             {},
		"chroot":             {options: "userspec: groups: skip-chdir", skip: 1},
		"unshare":            {options: "S=setuid: G=setgid: R=root: w=wd: propagation: setgroups: map-user: map-group:"},
		"nsenter":            {options: "t=target: S=setuid: G=setgid: r=root? w=wd? a=all m=mount? u=uts? i=ipc? n=net? p=pid? U=user? C=cgroup?"},
		"systemd-run":        {options: "u=unit: p=property: slice: description: uid: gid: nice: working-directory: E=setenv: on-active: on-boot: on-calendar: timer-property: M=machine: H=host: t=pty P=pipe q=quiet r=remain-after-exit G=collect S=shell scope user wait no-block"},
		"systemd-inhibit":    {options: "what: who: why: mode:"},
		"setpriv":            {options: "reuid: regid: groups: inh-caps: ambient-caps: bounding-set: securebits: selinux-label: apparmor-profile: clear-groups keep-groups init-groups no-new-privs reset-env"},
		"strace":             {options: "e: o: p: s: u: E: O: S: P: a: b: X: I: f F c C d q r t T v V w x y"},
		"ltrace":             {options: "e: o: p: s: u: a: n: l: f c C r t T"},
		"gosu":               {skip: 1},
		"su-exec":            {skip: 1},
		"faketime":           {options: "f m", skip: 1},
		"flock":              {options: "w=wait=timeout: E=conflict-exit-code: c=command: n=nonblock s=shared x=exclusive u=unlock o=close F v", skip: 1, text: "command"},
		"script":             {options: "c=command: I: O: B: T: m: E: o: q=quiet a=append e=return f=flush t?", text: "command"},
		"watch":              {options: "n=interval: d=differences? t=no-title b=beep e=errexit g=chgexit c=color x=exec p=precise w=no-wrap q=equexit:", text: "*"},
		"eval":               {text: "*"},
		"entr":               {options: "a c d n p r s z"},
		"dumb-init":          {options: "c=single-child r=rewrite: v q"},
		"tini":               {options: "p: e: s v w g"},
		"catatonit":          {},
		"fakeroot":           {options: "l: s: i: b: f:"},
		"eatmydata":          {},
		"proxychains":        {options: "q f:"},
		"proxychains4":       {options: "q f:"},
		"torsocks":           {},
		"firejail":           {options: "noprofile quiet"},
		"bwrap":              {options: "die-with-parent"},
		"cpulimit":           {options: "l=limit: p: e: i z f v b"},
		"prlimit":            {options: "p: n:"},
		"caffeinate":         {options: "t: w: d i m s u"},
		"retry":              {options: "t: s: d: n: times: delay:"},
		"hyperfine":          {options: "w: r: N m: M: warmup: runs: prepare: cleanup: shell: export-json:", text: "*"},
		"xvfb-run":           {options: "s: n: e: f: p: w: a l"},
		"dbus-run-session":   {},
		"ssh-agent":          {options: "a: t: P: E: c s k D d"},
		"nodemon":            {options: "exec: w: e: watch: ext:", text: "exec"},
		"nix-shell":          {options: "p: run: command: I: A: pure", text: "run"},
		"ssh":                {options: sshOptions, skip: 1, text: "*", where: true},
		"mosh":               {options: "ssh: p: port:", skip: 1, where: true},
		"autossh":            {options: sshOptions, skip: 1, text: "*", where: true},
		"vagrant ssh":        {options: "c=command:", text: "command"},
		"gcloud compute ssh": {options: "zone: project: command: tunnel-through-iap internal-ip", skip: 1, text: "command", where: true},
		"tsh ssh":            {options: "l: proxy: cluster:", skip: 1, text: "*", where: true},
		"fly ssh console":    {options: "C=command: a=app: s g:", text: "command"},
		"flyctl ssh console": {options: "C=command: a=app: s g:", text: "command"},
		"heroku run":         {options: "a=app: r=remote: s=size: e=env: x=exit-code"},
		"railway run":        {}, "doppler run": {options: "p=project: c=config: t=token: command:", text: "command"},
		"op run": {options: "env-file: account: no-masking"}, "chamber exec": {skip: 1}, "aws-vault exec": {options: "d=duration: n=no-session", skip: 1},
		"direnv exec": {skip: 1}, "mise exec": {options: "C:"}, "mise x": {options: "C:"}, "asdf exec": {}, "rbenv exec": {}, "pyenv exec": {},
		"poetry run": {}, "pipenv run": {}, "uv run": {options: "p=python: with: extra: group: m=module"}, "hatch run": {}, "pdm run": {}, "rye run": {},
		"conda run": {options: "n=name: p=prefix: cwd: no-capture-output live-stream"}, "mamba run": {options: "n=name: p=prefix:"}, "micromamba run": {options: "n=name: p=prefix:"},
		"bundle exec": {options: "gemfile:"}, "npx": {options: "p=package: c=call: y=yes q", text: "call"}, "npm exec": {options: "p=package: c=call: y=yes", text: "call"}, "pnpm exec": {}, "pnpm dlx": {}, "yarn exec": {}, "yarn dlx": {}, "bunx": {}, "uvx": {options: "from: with: p:"}, "pipx run": {options: "spec:"},
		"dotenv": {options: "f: e: v:"}, "dotenvx run": {options: "f: e:"}, "infisical run": {options: "env: path: command:", text: "command"},
		"docker exec":         {options: "d=detach e=env: env-file: i=interactive privileged t=tty u=user: w=workdir: detach-keys:", skip: 1, where: true},
		"docker run":          {options: runOptions, skip: 1, where: true},
		"docker compose exec": {options: "d=detach e=env: index: T=no-TTY privileged u=user: w=workdir: i t", skip: 1, where: true},
		"docker compose run":  {options: runOptions, skip: 1, where: true},
		"lxc exec":            {options: "env: cwd: user: group: t n mode: T", skip: 1, where: true},
		"incus exec":          {options: "env: cwd: user: group: t n mode: T", skip: 1, where: true},
		"lxc-attach":          {options: "n=name: u: g: e s:"},
		"multipass exec":      {options: "d=working-directory: n", skip: 1, where: true},
		"limactl shell":       {options: "workdir: shell:", skip: 1, where: true},
		"machinectl shell":    {options: "uid: E: q", skip: 1, where: true},
		"distrobox enter":     {options: "n=name: e a=additional-flags: T"},
		"toolbox run":         {options: "c=container: d: r:"},
		"crictl exec":         {options: "i t s timeout:", skip: 1, where: true},
		"ctr tasks exec":      {options: "exec-id: t u: cwd:", skip: 1, where: true},
		"kubectl exec":        {options: "n=namespace: c=container: context: cluster: user: kubeconfig: f: filename: request-timeout: pod-running-timeout: i=stdin t=tty q=quiet", skip: 1, where: true},
		"kubectl debug":       {options: "n=namespace: c=container: context: image: target: copy-to: profile: i=stdin t=tty q", skip: 1, where: true},
		"nomad alloc exec":    {options: "task: job i t e: m", skip: 1, where: true},
		"kubectl run":         {options: "n=namespace: image: context: restart: labels: env: port: overrides: i=stdin t=tty rm q=quiet command attach", skip: 1, where: true},
		"ansible":             {options: "m=module-name: a=args: i=inventory: l=limit: u=user: f=forks: b=become K=ask-become-pass k e=extra-vars: v C=check", skip: 1, text: "args", where: true},
		"salt":                {options: "G=grain L=list E=pcre t=timeout: out: b=batch-size:", skip: 2, text: "*"},
		"pdsh":                {options: "w: x: l: g: R: t: u: f:", text: "*"},
		"pssh":                {options: "H: h: l: p: t: o: e: i A v", text: "*"},
		"parallel-ssh":        {options: "H: h: l: p: t: o: e: i A v", text: "*"},
		"clush":               {options: "w: x: g: l: t: f: a b B", text: "*"},
		"wsl":                 {options: "d=distribution: u=user: e=exec cd:"},
		"cmd":                 {options: ""},
	}
})

// spread lists programs that run a command once for each item of their input.
var spread = map[string]string{
	"xargs":    "I=replace: i? n=max-args: L=max-lines: l? P=max-procs: s=max-chars: d=delimiter: a=arg-file: E: e? 0=null r=no-run-if-empty t=verbose p=interactive x=exit o",
	"parallel": "j=jobs: I: N: n: L: a=arg-file: S=sshlogin: colsep: joblog: retries: timeout: tmpdir: C: d=delimiter: 0=null k=keep-order X m u bar dry-run halt: delay: results: tagstring: tag v",
}

// imageProgram is the program that an image is named after, and likely runs.
func imageProgram(image string) string {
	name, _, _ := strings.Cut(path.Base(image), "@")
	name, _, _ = strings.Cut(name, ":")
	switch name {
	case "aws-cli":
		return "aws"
	case "azure-cli":
		return "az"
	case "cloud-sdk", "google-cloud-cli":
		return "gcloud"
	case ".", "/":
		return ""
	}
	return name
}

// packaged are programs that packages of JavaScript bring along.
var packaged = map[string]bool{
	"prisma": true, "rimraf": true, "del-cli": true, "supabase": true, "pm2": true, "wrangler": true, "sequelize": true, "sequelize-cli": true, "typeorm": true, "knex": true, "drizzle-kit": true, "mikro-orm": true,
	"firebase": true, "vercel": true, "netlify": true, "serverless": true, "sls": true, "cdk": true, "lerna": true, "n8n": true, "nx": true, "np": true, "semantic-release": true, "gh-pages": true, "hasura": true,
}

// unwrap runs what a wrapper runs. It reports false when the words are no wrapper.
func (s *Shell) unwrap(words []string, env map[string]string, in stream) (stream, bool) {
	if name := words[0]; name == "pnpm" || name == "yarn" || name == "bun" {
		// They run the programs of the package by their mere name.
		if r := readOptions(name, parseOptionList("C=dir: filter: cwd:"), words[1:], true); len(r.operands) > 1 && packaged[r.operands[0]] {
			return s.command(r.operands, env, in), true
		}
	}
	key, used := longestKey(words, func(k string) bool { _, ok := wrappers()[k]; return ok })
	if key == "" {
		return stream{}, false
	}
	w := wrappers()[key]
	name := words[0]
	args := words[used:]
	r := readOptions(key, OptionsOf()[key], args, true)
	if _, help := r.options["help"]; help && name != "docker" {
		return stream{}, true
	}
	text, scripted := r.options[w.text]
	rest := r.operands
	for w.env && len(rest) > 0 && Assignment(rest[0]) {
		n, v, _ := strings.Cut(rest[0], "=")
		if env == nil {
			env = map[string]string{}
		}
		env[n] = v
		s.noteVariable(n, v)
		rest = rest[1:]
	}
	if split := r.options["split-string"]; name == "env" && len(split) > 0 {
		return s.within("", func() stream { return s.script(strings.Join(append(split, rest...), " "), in) }), true
	}
	if scripted = scripted || w.skip > 0 && w.text != "" && w.text != "*"; scripted && len(text) == 0 && len(rest) > w.skip {
		// These take their options behind the operand too.
		more := readOptions(key, OptionsOf()[key], rest[w.skip:], true)
		text, scripted = more.options[w.text]
		rest = append(rest[:w.skip:w.skip], more.operands...)
	}
	if dir := r.options["chdir"]; len(dir) > 0 {
		old := s.dir
		s.dir = s.path(dir[len(dir)-1])
		defer func() { s.dir = old }()
	}
	skipped := ""
	if n := min(w.skip, len(rest)); n > 0 {
		skipped = rest[n-1]
		rest = rest[n:]
	}
	where := ""
	if w.where {
		// Where something runs, and with which rights, may itself be what a rule forbids.
		outer := &Act{Name: name, Options: r.options, Source: words, Wraps: true}
		for _, sub := range append(strings.Fields(key)[1:], skipped) {
			if sub != "" {
				outer.Words = append(outer.Words, sub)
			}
		}
		s.note(outer)
		where = host(skipped)
		if i := slices.Index(rest, "--"); i >= 0 && strings.HasPrefix(key, "kubectl") {
			rest = rest[i+1:]
		} else if len(rest) > 0 && strings.HasPrefix(rest[0], "-") {
			rest = readOptions(key, OptionsOf()[key], rest, true).operands
		}
	}
	run := func() stream {
		switch {
		case scripted && len(text) > 0:
			return s.script(strings.Join(text, "\n"), in)
		case len(rest) == 0 && (w.where || name == "sudo" || name == "doas" || name == "chroot" || name == "unshare" || name == "nsenter" || name == "busybox" || name == "systemd-run" || name == "wsl"):
			// A shell of its own, which reads what is fed to it.
			return s.feed(in)
		case len(rest) == 0:
			return in
		case w.text == "*":
			return s.script(join(rest, len(rest) == 1), in)
		}
		return s.command(rest, env, in)
	}
	if key == "docker run" || key == "docker compose run" {
		return s.within(where, func() stream {
			if own := imageProgram(skipped); own != "" && len(rest) > 0 && len(r.options["entrypoint"]) == 0 && !KnownProgram(Program(rest[0])) && key == "docker run" {
				rest = append([]string{own}, rest...) // words for the image's own program
			}
			return s.mounted(r.options["volume"], r.options["mount"], r.options["entrypoint"], rest, env, in)
		}), true
	}
	return s.within(where, func() stream {
		for _, o := range []string{"workdir", "working-directory", "cwd"} {
			if dir := r.options[o]; len(dir) > 0 && where != "" {
				s.dir = Clean("", dir[len(dir)-1])
			}
		}
		return run()
	}), true
}

// within follows what happens on another host or in a container, where the
// working directory is another.
func (s *Shell) within(where string, run func() stream) stream {
	if where == "" {
		return run()
	}
	old, dir := s.where, s.dir
	s.where = append(s.where[:len(s.where):len(s.where)], where)
	s.dir = ""
	out := run()
	s.where, s.dir = old, dir
	return out
}

// mounted follows what a new container runs, its mounted paths spelt as the host's.
func (s *Shell) mounted(volumes, mounts, entry, rest []string, env map[string]string, in stream) stream {
	if len(entry) > 0 {
		rest = append([]string{entry[len(entry)-1]}, rest...)
	}
	type mount struct{ host, inside string }
	var all []mount
	for _, v := range volumes {
		parts := strings.SplitN(v, ":", 3)
		if len(parts) > 1 && (len(parts) < 3 || parts[2] != "ro") && strings.ContainsAny(parts[0], "/.~$") {
			// The path in a named volume is known by its name inside alone.
			all = append(all, mount{Clean(s.dir, parts[0]), Clean("", parts[1])})
		}
	}
	for _, m := range mounts {
		var one mount
		for field := range strings.SplitSeq(m, ",") {
			k, v, _ := strings.Cut(field, "=")
			switch k {
			case "source", "src":
				one.host = v
			case "target", "dst", "destination":
				one.inside = v
			}
		}
		if one.host != "" && one.inside != "" {
			all = append(all, one)
		}
	}
	if len(rest) == 0 {
		return s.feed(in)
	}
	before := len(s.Acts)
	out := s.command(rest, env, in)
	for _, a := range s.Acts[before:] {
		for i, e := range a.Effects {
			for _, m := range all {
				if below, ok := strings.CutPrefix(e.Path, m.inside); ok && (below == "" || below[0] == '/' || m.inside == "/") {
					a.Effects[i].Path = Clean("", m.host+"/"+below)
					break
				}
			}
		}
	}
	return out
}

// spread follows a command that xargs or parallel runs for each item.
func (s *Shell) spread(name string, args []string, env map[string]string, in stream) stream {
	r := readOptions(name, parseOptionList(spread[name]), args, true)
	items := in.items()
	if in.known && len(r.options["null"]) == 0 && name == "xargs" && len(r.options["delimiter"]) == 0 {
		items = append(strings.Fields(unquoted.Replace(in.text)), in.paths...)
	}
	items = items[:min(len(items), maxTurns)]
	rest := r.operands
	for i, w := range rest {
		if w == ":::" && name == "parallel" {
			items, rest = rest[i+1:], rest[:i]
			break
		}
	}
	if len(rest) == 0 {
		if name == "parallel" {
			for _, item := range items {
				s.script(item, stream{})
			}
		}
		return stream{}
	}
	mark := "{}"
	if v := r.options["replace"]; len(v) > 0 && v[0] != "" {
		mark = v[0]
	}
	marked := strings.Contains(strings.Join(rest, " "), mark) && (len(r.options["replace"])+len(r.options["i"]) > 0 || name == "parallel")
	if !marked {
		whole := append(append([]string{}, rest...), items...)
		if name == "parallel" && len(rest) == 1 {
			return s.script(strings.Join(whole, " "), stream{given: true})
		}
		return s.command(whole, env, stream{given: true})
	}
	var out stream
	for _, item := range items {
		one := make([]string, len(rest))
		for i, w := range rest {
			one[i] = strings.ReplaceAll(w, mark, item)
		}
		if name == "parallel" && len(one) == 1 {
			out = out.followedBy(s.script(one[0], stream{given: true}))
		} else {
			out = out.followedBy(s.command(one, env, stream{given: true}))
		}
	}
	return out
}

// Prefixes are the programs whose first operands are subcommands the guard tells apart.
var Prefixes = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for key := range optionTable() {
		if name, _, ok := strings.Cut(key, " "); ok {
			names[name] = true
		}
	}
	for key := range wrappers() {
		if name, _, ok := strings.Cut(key, " "); ok {
			names[name] = true
		}
	}
	return names
})

// longestKey finds the longest "name sub sub" that is known, skipping the
// name's own options, and how many words it took. It looks at three words at most.
func longestKey(words []string, known func(string) bool) (key string, used int) {
	name := words[0]
	if known(name) {
		key, used = name, 1
	}
	if _, listed := Prefixes()[name]; !listed {
		return key, used
	}
	options := OptionsOf()[name]
	prefix, at := name, 1
	for range 2 {
		r := readOptions(name, options, words[at:], true)
		if len(r.operands) == 0 {
			break
		}
		at += r.rest + 1
		prefix += " " + r.operands[0]
		if known(prefix) {
			key, used = prefix, at
		}
		if o, ok := OptionsOf()[prefix]; ok {
			options = o
		}
	}
	return key, used
}

// Assignment reports whether a word reads NAME=value.
func Assignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	if !ok || name == "" || name[0] >= '0' && name[0] <= '9' {
		return false
	}
	return strings.IndexFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) < 0
}

// host is the host of user@host:port, or the name of a container or pod/name.
func host(s string) string {
	s = strings.TrimPrefix(s, "ssh://")
	if _, after, ok := strings.Cut(s, "@"); ok {
		s = after
	}
	for _, kind := range []string{"pod/", "pods/", "deploy/", "deployment/", "sts/", "statefulset/"} {
		s = strings.TrimPrefix(s, kind)
	}
	return strings.ToLower(s)
}

// join writes words as one script. A single word is a script already;
// several are joined as ssh and eval join them.
func join(words []string, single bool) string {
	if single {
		return words[0]
	}
	return strings.Join(words, " ")
}
