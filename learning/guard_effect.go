package learning

import (
	"slices"
	"strings"
)

// effects says what the act does, for the commands whose deeds have many spellings.
func (s *guardShell) effects(a *guardAct, in guardStream) []guardEffect {
	if a.harmless() {
		return nil
	}
	switch a.name {
	case "rm", "unlink", "shred", "srm", "wipe", "trash", "trash-put", "rimraf", "del-cli", "del", "gio":
		return s.removal(a)
	case "find":
		return s.findEffects(a)
	case "fd", "fdfind":
		s.fdRuns(a)
		return nil
	case "rsync":
		if slices.ContainsFunc([]string{"del", "delete", "delete-before", "delete-during", "delete-after", "delete-excluded", "delete-delay"}, func(o string) bool { return len(a.options[o]) > 0 }) && len(a.words) > 1 {
			return guardPaths(guardEffectDelete, true, s.path(guardRemotePath(a.words[len(a.words)-1])))
		}
		if len(a.options["remove-source-files"]) > 0 && len(a.words) > 1 {
			return guardPaths(guardEffectDelete, true, s.path(guardRemotePath(a.words[0])))
		}
	case "rclone", "gsutil", "s3cmd", "s5cmd", "mc", "aws", "gcloud", "az":
		return s.objectEffects(a)
	case "dd":
		return s.ddEffects(a)
	case "mkfs", "mke2fs", "wipefs", "blkdiscard", "sgdisk", "sfdisk", "fdisk", "parted", "mkswap", "badblocks", "hdparm", "cryptsetup", "pvcreate", "zpool":
		return s.deviceEffects(a)
	case "truncate", "vi", "nano", "emacs", "ed", "ex", "pico", "micro", "code", "joe", "patch", "visudo", "vipw":
		return s.editEffects(a, a.words)
	case "sed", "perl":
		if len(a.options["in-place"]) > 0 || a.name == "perl" && len(a.options["i"]) > 0 {
			return s.editEffects(a, guardAfterScript(a))
		}
	case "cp", "mv", "install", "ln":
		return s.copyEffects(a)
	case "systemctl", "service", "rc-service", "invoke-rc.d", "initctl", "restart", "stop", "start", "supervisorctl", "sv", "launchctl", "brew", "pm2", "monit", "docker", "kubectl", "nginx", "apachectl", "apache2ctl":
		return s.serviceEffects(a)
	case "reboot", "shutdown", "poweroff", "halt", "init", "telinit":
		return guardPowerEffects(a)
	case "git":
		return s.gitEffects(a)
	case "chmod":
		var out []guardEffect
		for i, w := range a.words {
			if i > 0 {
				out = append(out, guardEffect{kind: guardEffectMode, verb: a.words[0], path: s.path(w), whole: len(a.options["recursive"]) > 0})
			}
		}
		return out
	case "curl", "wget", "http", "xh":
		return guardRequestEffects(a)
	}
	return s.sqlEffects(a, in)
}

func guardPaths(kind guardEffectKind, whole bool, paths ...string) (out []guardEffect) {
	for _, p := range paths {
		if p != "" {
			out = append(out, guardEffect{kind: kind, path: p, whole: whole})
		}
	}
	return out
}

// guardServiceVerb is the common name of what is done to a service, "" for what changes nothing.
func guardServiceVerb(v string) string {
	switch v {
	case "restart", "try-restart", "reload-or-restart", "try-reload-or-restart", "condrestart", "force-reload", "force-restart", "kickstart", "reload-or-try-restart":
		return "restart"
	case "stop", "kill", "down", "exit", "bootout", "unload", "force-stop", "t", "k", "d":
		return "stop"
	case "start", "up", "run", "bootstrap", "load":
		return "start"
	case "disable", "mask":
		return "disable"
	case "enable", "unmask":
		return "enable"
	case "reload":
		return "reload"
	}
	return ""
}

func guardService(manager, verb string, units []string) (out []guardEffect) {
	if verb == "" {
		return nil
	}
	for _, u := range units {
		u = guardActivate(strings.ToLower(u))
		for _, suffix := range []string{".service", ".socket", ".target"} {
			u = strings.TrimSuffix(u, suffix)
		}
		out = append(out, guardEffect{kind: guardEffectService, verb: verb, path: manager, word: u})
	}
	return out
}

func (s *guardShell) serviceEffects(a *guardAct) []guardEffect {
	w := a.words
	switch a.name {
	case "systemctl":
		if len(w) == 0 {
			return nil
		}
		switch w[0] {
		case "reboot", "poweroff", "halt", "kexec", "soft-reboot":
			return guardPowerEffects(&guardAct{name: w[0]})
		case "rescue", "emergency":
			return []guardEffect{{kind: guardEffectPower, verb: w[0]}}
		case "edit", "set-property", "revert":
			return nil
		}
		verb := guardServiceVerb(w[0])
		units := w[1:]
		if len(a.options["now"]) > 0 {
			switch verb {
			case "disable":
				return append(guardService("system", verb, units), guardService("system", "stop", units)...)
			case "enable":
				return append(guardService("system", verb, units), guardService("system", "start", units)...)
			}
		}
		if len(a.options["root"]) > 0 {
			return nil
		}
		return guardService("system", verb, units)
	case "service", "rc-service", "invoke-rc.d":
		if len(w) > 1 {
			return guardService("system", guardServiceVerb(w[1]), w[:1])
		}
	case "initctl", "brew", "supervisorctl", "sv", "pm2", "monit", "launchctl":
		manager := a.name
		if manager == "initctl" {
			manager = "system"
		}
		if len(w) > 1 && a.name == "brew" && w[0] == "services" {
			w = w[1:]
		} else if a.name == "brew" {
			return nil
		}
		if len(w) > 1 {
			return guardService(manager, guardServiceVerb(w[0]), w[1:])
		}
	case "nginx":
		if signals := a.options["s"]; len(signals) > 0 {
			signal := signals[0]
			if signal == "quit" {
				signal = "stop"
			}
			return guardService("system", guardServiceVerb(signal), []string{"nginx"})
		}
	case "apachectl", "apache2ctl":
		if len(w) > 0 {
			return guardService("system", guardServiceVerb(strings.TrimPrefix(w[0], "graceful-")), []string{"apache2", "httpd"})
		}
	case "restart", "stop", "start":
		if len(w) == 1 {
			return guardService("system", a.name, w)
		}
	case "kubectl":
		if len(w) > 3 && w[0] == "rollout" && w[1] == "restart" {
			return guardService("kubernetes", "restart", w[3:])
		}
		if len(w) > 2 && w[0] == "rollout" && w[1] == "restart" {
			_, unit, _ := strings.Cut(w[2], "/")
			return guardService("kubernetes", "restart", []string{unit})
		}
	case "docker":
		if len(w) > 1 && w[0] == "compose" {
			w = w[1:]
		}
		if len(w) > 1 && (w[0] == "restart" || w[0] == "stop" || w[0] == "kill") {
			return guardService("docker", guardServiceVerb(w[0]), w[1:])
		}
	}
	return nil
}

func guardPowerEffects(a *guardAct) []guardEffect {
	verb := ""
	switch a.name {
	case "reboot", "kexec", "soft-reboot":
		verb = "reboot"
	case "poweroff", "halt":
		verb = "poweroff"
	case "shutdown":
		verb = "poweroff"
		if len(a.options["reboot"]) > 0 {
			verb = "reboot"
		}
		if len(a.options["c"])+len(a.options["k"]) > 0 {
			return nil
		}
	case "init", "telinit":
		if len(a.words) > 0 && a.words[0] == "6" {
			verb = "reboot"
		} else if len(a.words) > 0 && a.words[0] == "0" {
			verb = "poweroff"
		}
	}
	if verb == "" || len(a.options["help"]) > 0 {
		return nil
	}
	return []guardEffect{{kind: guardEffectPower, verb: verb}}
}
