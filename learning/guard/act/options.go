package act

import (
	"slices"
	"strings"
	"sync"
)

// optionTable lists the options of the commands whose spelling the guard
// knows, as "command" or "command subcommand" → options. An option is its
// spellings joined by "=", the last of which is its name; a ":" behind it says that
// it takes a value, a "?" that it takes one only when joined by "=". What is not
// listed is read by the common rules: -abc is three options, --long=x one with a value.
//
// The lists come from each program's own manual page, cut to what changes how
// the remaining words are read, or has two spellings.
var optionTable = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"rm":            "r=R=recursive f=force i I d=dir v=verbose one-file-system no-preserve-root",
		"find":          "", // read on its own, see findEffects
		"rsync":         "a=archive n=dry-run r=recursive v=verbose z=compress e=rsh: exclude: include: filter: f: password-file: port: B=block-size: T=temp-dir: compare-dest: copy-dest: link-dest: bwlimit: timeout: files-from: exclude-from: include-from: log-file: backup-dir: out-format: chmod: chown: u=update del=delete delete-before delete-during delete-after delete-excluded delete-delay",
		"shred":         "u=remove? n=iterations: s=size: z=zero f=force v=verbose random-source:",
		"truncate":      "s=size: r=reference: c=no-create o=io-blocks",
		"chmod":         "R=recursive f=quiet=silent v=verbose c=changes reference:",
		"chown":         "R=recursive f=quiet=silent v=verbose c=changes h=no-dereference from: reference: H L P",
		"cp":            "r=R=recursive a=archive f=force t=target-directory: S=suffix: T=no-target-directory v=verbose n=no-clobber i=interactive",
		"mv":            "f=force t=target-directory: S=suffix: T=no-target-directory v=verbose n=no-clobber i=interactive",
		"ln":            "s=symbolic f=force t=target-directory: S=suffix: T=no-target-directory n=no-dereference v=verbose",
		"install":       "m=mode: o=owner: g=group: t=target-directory: S=suffix: d=directory D v=verbose",
		"tee":           "a=append i=ignore-interrupts",
		"sed":           "i=in-place? e=expression: f=file: n=quiet=silent E=r=regexp-extended s=separate z=null-data",
		"crontab":       "u: l r e i s n: T:",
		"kill":          "s=signal: n: l L",
		"pkill":         "s=signal: f=full x=exact n=newest o=oldest u=euid: U=uid: G: g: P=parent: t=terminal: e=echo",
		"killall":       "s=signal: u=user: e=exact g I i q r v w o: y:",
		"iptables":      "F=flush X=delete-chain Z=zero P=policy A=append: D=delete: I=insert: R=replace: t=table: p=protocol: s=source: d=destination: j=jump: i=in-interface: o=out-interface: m=match: dport: sport: w=wait? L=list S=list-rules n=numeric v=verbose N=new-chain: E=rename-chain:",
		"mkfs":          "t=type: L: F f q V v b: m: n: i: U: c K E: O:",
		"wipefs":        "a=all f=force o=offset: t=types: n=no-act b=backup q=quiet",
		"curl":          "X=request: H=header: d=data: data-raw: data-binary: data-urlencode: json: F=form: u=user: o=output: O=remote-name L=location s=silent S=show-error f=fail k=insecure A=user-agent: e=referer: x=proxy: T=upload-file: b=cookie: c=cookie-jar: w=write-out: m=max-time: connect-timeout: retry: retry-delay: retry-max-time: cacert: cert: E: key: resolve: url: I=head G=get v=verbose i=include N=no-buffer C=continue-at: r=range: z=time-cond: K=config: D=dump-header: U=proxy-user: Y: y: P: Q: t: proto: tlsv1.2 noproxy:",
		"wget":          "O=output-document: o=output-file: P=directory-prefix: q=quiet c=continue r=recursive t=tries: T=timeout: U=user-agent: header: post-data: post-file: method: body-data: body-file: user: password: no-check-certificate N=timestamping n: e=execute: i=input-file: a=append-output: b=background S=server-response",
		"pip":           "r=requirement: c=constraint: e=editable: t=target: i=index-url: extra-index-url: f=find-links: U=upgrade q=quiet v=verbose y=yes trusted-host: prefix: root: break-system-packages no-deps pre user force-reinstall ignore-installed no-cache-dir no-index python: cache-dir: proxy: timeout: log: cert:",
		"npm":           "w=workspace: registry: tag: otp: access: g=global f=force D=save-dev S=save E=save-exact prefix: C: userconfig: loglevel: dry-run legacy-peer-deps ignore-scripts no-verify silent s y=yes",
		"docker":        "c=context: H=host: l=log-level: config: tlscacert: tlscert: tlskey: D=debug tls tlsverify v=version",
		"docker system": "", "docker image": "", "docker volume": "",
		"docker compose":       "f=file: p=project-name: profile: env-file: project-directory: ansi: parallel: progress: dry-run compatibility",
		"docker compose down":  "v=volumes rmi: t=timeout: remove-orphans",
		"docker compose up":    "d=detach build force-recreate remove-orphans scale: t=timeout: V=renew-anon-volumes wait",
		"docker compose rm":    "f=force s=stop v=volumes",
		"docker rm":            "f=force v=volumes l=link",
		"docker rmi":           "f=force no-prune platform:",
		"docker stop":          "t=time=timeout: s=signal:",
		"docker restart":       "t=time=timeout: s=signal:",
		"docker kill":          "s=signal:",
		"docker system prune":  "a=all f=force volumes filter:",
		"docker image prune":   "a=all f=force filter:",
		"docker volume prune":  "a=all f=force filter:",
		"docker volume rm":     "f=force",
		"docker run":           runOptions,
		"docker push":          "a=all-tags q=quiet disable-content-trust",
		"docker build":         "t=tag: f=file: build-arg: target: platform: no-cache pull q=quiet network: label: cache-from: secret: ssh: o=output: progress:",
		"git":                  "C: c: git-dir: work-tree: namespace: exec-path? super-prefix: config-env: p=paginate P=no-pager bare no-replace-objects literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs no-optional-locks",
		"git commit":           "a=all m=message: F=file: C=reuse-message: c=reedit-message: fixup: squash: author: date: t=template: n=no-verify e=edit s=signoff q=quiet v=verbose S=gpg-sign? u=untracked-files? p=patch o=only i=include z=null amend no-edit allow-empty allow-empty-message cleanup: pathspec-from-file: trailer: no-gpg-sign verify dry-run reset-author no-post-rewrite short branch porcelain long no-signoff no-status status",
		"git push":             "f=force n=dry-run q=quiet v=verbose u=set-upstream o=push-option: repo: receive-pack: exec: d=delete all=branches mirror tags follow-tags force-with-lease? force-if-includes no-verify verify atomic prune signed? thin no-thin no-force-with-lease recurse-submodules: no-signed progress ipv4 ipv6",
		"git merge":            "m=message: F=file: s=strategy: X=strategy-option: n=no-stat e=edit q=quiet v=verbose S=gpg-sign? no-verify verify ff no-ff ff-only squash abort continue quit no-edit no-commit commit allow-unrelated-histories into-name: cleanup: log? stat",
		"git rebase":           "i=interactive onto: s=strategy: X=strategy-option: x=exec: C: n=no-stat q=quiet v=verbose f=force-rebase=no-ff m=merge r=rebase-merges? S=gpg-sign? no-verify verify autosquash autostash abort continue skip quit root edit-todo",
		"git am":               "3=3way s=signoff k=keep q=quiet i=interactive n=no-verify no-verify p: C: directory: exclude: include: S=gpg-sign? abort continue skip",
		"git cherry-pick":      "n=no-commit e=edit s=signoff x m=mainline: X=strategy-option: strategy: S=gpg-sign? abort continue skip quit ff",
		"git revert":           "n=no-commit e=edit s=signoff m=mainline: X=strategy-option: strategy: S=gpg-sign? abort continue skip quit no-edit",
		"git reset":            "q=quiet p=patch N=intent-to-add hard soft mixed merge keep pathspec-from-file:",
		"git clean":            "f=force d n=dry-run x X q=quiet i=interactive e=exclude:",
		"git checkout":         "f=force b: B: q=quiet t=track? d=detach p=patch m=merge l ours=2 theirs=3 orphan: conflict: pathspec-from-file:",
		"git branch":           "d=delete D=force-delete f=force m=move M c=copy C a=all r=remotes v=verbose q=quiet u=set-upstream-to: t=track? l=list contains? merged? no-merged? sort: format: points-at:",
		"git stash":            "q=quiet a=all u=include-untracked k=keep-index p=patch m=message: S=staged",
		"git tag":              "a=annotate s=sign f=force d=delete m=message: F=file: l=list v=verify u=local-user: n? sort: contains? points-at:",
		"git add":              "f=force A=all=no-ignore-removal n=dry-run v=verbose i=interactive p=patch u=update N=intent-to-add e=edit",
		"git config":           "f=file: blob: global system local worktree get get-all unset unset-all add replace-all l=list e=edit type: default: name-only show-origin z=null",
		"git log":              "n=max-count: grep: author: committer: since: after: until: before: S: G: L: format: pretty? p=patch",
		"git pull":             "r=rebase? f=force n=no-stat q=quiet v=verbose s=strategy: X=strategy-option: no-verify ff-only no-rebase",
		"kubectl":              "n=namespace: context: cluster: user: kubeconfig: s=server: token: as: as-group: request-timeout: l=selector: f=filename: k=kustomize: o=output: A=all-namespaces R=recursive field-selector: grace-period: timeout: cascade? dry-run? c=container: p=patch: type: replicas: r: q v: i=stdin t=tty image: w=watch all force now wait? ignore-not-found to-revision: overwrite field-manager: certificate-authority: tail: since: port:",
		"helm":                 "n=namespace: kube-context: kubeconfig: f=values: set: set-string: set-file: version: timeout: i=install a=atomic wait dry-run? keep-history no-hooks force description: repo: reuse-values reset-values cascade:",
		"aws":                  "profile: region: output: endpoint-url: query: ca-bundle: cli-read-timeout: cli-connect-timeout: color: no-verify-ssl debug no-sign-request no-paginate recursive dryrun quiet include: exclude: force delete page-size: acl: sse: storage-class: bucket: key: request-payer: only-show-errors prefix: version-id: instance-ids: stack-name: db-instance-identifier: db-cluster-identifier: function-name: table-name: cluster: service: user-name: role-name: policy-arn: secret-id: hosted-zone-id: group-id: skip-final-snapshot force-delete-without-recovery",
		"gsutil":               "m o: h: D q u: i: r=R=recursive a f I",
		"gcloud":               "project: account: configuration: region: zone: format: filter: impersonate-service-account: q=quiet verbosity: r=R=recursive command:",
		"az":                   "g=resource-group: n=name: s: subscription: o=output: y=yes no-wait query: l=location: account-name: c:",
		"terraform":            "chdir: var: var-file: target: state: state-out: backup: parallelism: lock? lock-timeout: out: replace: refresh? input? backend-config: generate-config-out: auto-approve destroy compact-warnings json no-color detailed-exitcode refresh-only force-copy migrate-state reconfigure upgrade",
		"systemctl":            "t=type: p=property: H=host: M=machine: s=signal: n=lines: o=output: root: state: kill-whom: kill-who: job-mode: f=force q=quiet no-block no-pager now user system global runtime l=full a=all no-ask-password no-wall i wait dry-run",
		"redis-cli":            "h: p: s: a: u: n: r: i: x X: e d: c raw csv tls sni: cacert: cert: key: user: pass: askpass no-auth-warning eval: pipe scan bigkeys intrinsic-latency: no-raw 3 2 verbose",
		"ssh":                  sshOptions,
		"apt":                  "y=yes=assume-yes q=quiet s=just-print=dry-run=recon=no-act=simulate o=option: t=target-release=default-release: c=config-file: f=fix-broken d=download-only m=fix-missing V=verbose-versions allow-unauthenticated force-yes purge auto-remove no-install-recommends reinstall allow-downgrades allow-remove-essential",
		"yum":                  "y=assumeyes q=quiet v=verbose c: d: e: x=exclude: R: enablerepo: disablerepo: nogpgcheck installroot: setopt: b=best",
		"pacman":               "S=sync R=remove U=upgrade Q=query D=database y=refresh u=sysupgrade s=recursive c=cascade n=nosave d=nodeps noconfirm overwrite: needed",
		"shutdown":             "r=reboot h=halt P=poweroff H k c t: f F n",
		"gh":                   "R=repo: y=yes confirm b=body: t=title: F=body-file: l=label: a=assignee: B=base: H=head: admin d=delete-branch m=merge s=squash r=rebase auto X=method: f=raw-field: input: q=jq:",
		"dropdb":               "h=host: p=port: U=username: w W e=echo f=force i=interactive if-exists maintenance-db:",
		"createdb":             "h=host: p=port: U=username: w W e=echo O=owner: T=template: E=encoding: D=tablespace: l=locale: maintenance-db:",
		"mysqladmin":           "h=host: u=user: p=password? P=port: S=socket: f=force s=silent b c: i: w? r",
		"ansible-playbook":     "i=inventory: l=limit: t=tags: skip-tags: e=extra-vars: C=check D=diff K=ask-become-pass k u=user: b=become f=forks: vault-password-file: v=verbose private-key: start-at-task: syntax-check list-tasks list-hosts",
		"cargo":                "p=package: F=features: allow-dirty no-verify dry-run n registry: token: index: manifest-path: target: j=jobs: q=quiet v=verbose r=release",
		"make":                 "C=directory: f=file=makefile: j=jobs? n=just-print=recon=dry-run k=keep-going s=silent=quiet i=ignore-errors B=always-make I: l? o: W: e",
		"nginx":                "s: c: g: p: e: t T q v V",
		"prisma":               "schema:",
		"prisma migrate":       "schema:",
		"prisma migrate reset": "f=force skip-seed skip-generate schema:",
		"userdel":              "r=remove f=force Z R=root: P=prefix:",
		"swapoff":              "a=all v=verbose",
		"rabbitmqctl":          "n=node: p=vhost: t=timeout: q=quiet s=silent l=longnames",
		"cargo yank":           "vers=version: undo",
		"setenforce":           "",
		"ufw":                  "force dry-run",
		"dd":                   "",
		"openssl":              "",
		"mongosh":              "eval: f=file: host: port: u=username: p=password: authenticationDatabase: quiet norc nodb shell",
		"sqlite3":              "", // SQL clients are read by SQLClients
	}
})

const sshOptions = "B: b: c: D: E: e: F: I: i: J: L: l: m: O: o: P: p: Q: R: S: W: w: A a C f G g K k M N n q s T t V v X x Y y 4 6"

const runOptions = "a=attach: add-host: annotation: blkio-weight: cap-add: cap-drop: cgroup-parent: cgroupns: cidfile: cpus: c=cpu-shares: cpuset-cpus: d=detach detach-keys: device: dns: entrypoint: e=env: env-file: expose: gpus: group-add: health-cmd: h=hostname: init i=interactive ip: ipc: isolation: l=label: label-file: link: log-driver: log-opt: mac-address: m=memory: memory-swap: mount: name: net=network: no-healthcheck oom-kill-disable pid: pids-limit: platform: privileged p=publish: P=publish-all pull: q=quiet read-only restart: rm runtime: security-opt: shm-size: sig-proxy? stop-signal: stop-timeout: storage-opt: sysctl: tmpfs: t=tty ulimit: u=user: userns: uts: v=volume: volume-driver: volumes-from: w=workdir: index: T=no-TTY service-ports build no-deps V=renew-anon-volumes"

// option is what the table says of one spelling.
type option struct {
	name          string
	takes, joined bool // takes a value: the next word, or only one joined by "="
}

// options holds one command's spellings.
type options map[string]option

// OptionsOf reads the table once; a command that has none yields nil.
var OptionsOf = sync.OnceValue(func() map[string]options {
	all := make(map[string]options, len(optionTable()))
	for command, list := range optionTable() {
		all[command] = parseOptionList(list)
	}
	for command, w := range wrappers() {
		if _, there := all[command]; !there && w.options != "" {
			all[command] = parseOptionList(w.options)
		}
	}
	return all
})

var optionLists sync.Map // list → options

// parseOptionList reads a list once. The lists are constants of this package, so the cache is bounded.
func parseOptionList(list string) options {
	if known, ok := optionLists.Load(list); ok {
		return known.(options)
	}
	options := options{}
	for entry := range strings.FieldsSeq(list) {
		takes := strings.HasSuffix(entry, ":")
		joined := strings.HasSuffix(entry, "?")
		spellings := strings.Split(strings.TrimRight(entry, ":?"), "=")
		o := option{name: spellings[len(spellings)-1], takes: takes, joined: joined}
		for _, s := range spellings {
			options[s] = o
		}
	}
	optionLists.Store(list, options)
	return options
}

// longDash lists programs whose -word is one option, as --word is elsewhere.
var longDash = map[string]bool{
	"terraform": true, "tofu": true, "terragrunt": true, "packer": true, "nomad": true, "consul": true, "vault": true,
	"java": true, "go": true, "openssl": true, "convert": true, "ffmpeg": true, "find": true, "mvn": true, "xrandr": true, "gradle": true,
}

// read is a command line split into its parts.
type read struct {
	options  map[string][]string
	operands []string
	rest     int // index in the arguments of the first operand
}

// readOptions splits arguments by the options known for the command.
// With stop, everything from the first operand on belongs to the operands,
// as with programs that run another program.
func readOptions(command string, known options, args []string, stop bool) read {
	r := read{options: map[string][]string{}, rest: len(args)}
	name, _, _ := strings.Cut(command, " ")
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			if r.rest > i+1 {
				r.rest = i + 1
			}
			r.operands = append(r.operands, args[i+1:]...)
			return r
		case len(arg) < 2 || arg[0] != '-':
			if r.rest > i {
				r.rest = i
			}
			if stop {
				r.operands = append(r.operands, args[i:]...)
				return r
			}
			r.operands = append(r.operands, arg)
		case strings.HasPrefix(arg, "--") || longDash[name]:
			long, value, has := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			o := known.long(long)
			if o.takes && !has && i+1 < len(args) {
				i++
				value, has = args[i], true
			}
			r.set(o.name, value)
		default:
			for k := 1; k < len(arg); {
				letter := string(arg[k])
				o, listed := known[letter]
				if !listed {
					o = option{name: letter}
				}
				k++
				if o.joined && k < len(arg) {
					r.set(o.name, arg[k:])
					break
				}
				if !o.takes {
					r.set(o.name, "")
					continue
				}
				value := arg[k:]
				if value == "" && i+1 < len(args) {
					i++
					value = args[i]
				}
				r.set(o.name, strings.TrimPrefix(value, "="))
				break
			}
		}
	}
	return r
}

func (r read) set(name, value string) { r.options[name] = append(r.options[name], value) }

// long finds a long option by its name or by a beginning that no other shares.
func (o options) long(name string) option {
	if found, ok := o[name]; ok {
		return found
	}
	var found []string
	if len(name) >= 3 {
		for spelling, option := range o {
			if len(spelling) > len(name) && strings.HasPrefix(spelling, name) && !slices.Contains(found, option.name) {
				found = append(found, option.name)
			}
		}
	}
	if len(found) == 1 {
		return o[found[0]]
	}
	return option{name: name}
}
