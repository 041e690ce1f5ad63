package act

import (
	"slices"
	"strings"
)

// effects says what the act does, for the commands whose deeds have many spellings.
func (s *Shell) effects(a *Act, in stream) []Effect {
	if a.Harmless() {
		return nil
	}
	switch a.Name {
	case "rm", "unlink", "shred", "srm", "wipe", "trash", "trash-put", "rimraf", "del-cli", "del", "gio":
		return s.removal(a)
	case "find":
		return s.findEffects(a)
	case "fd", "fdfind":
		s.fdRuns(a)
		return nil
	case "rsync":
		if slices.ContainsFunc([]string{"del", "delete", "delete-before", "delete-during", "delete-after", "delete-excluded", "delete-delay"}, func(o string) bool { return len(a.Options[o]) > 0 }) && len(a.Words) > 1 {
			return paths(EffectDelete, true, s.path(remotePath(a.Words[len(a.Words)-1])))
		}
		if len(a.Options["remove-source-files"]) > 0 && len(a.Words) > 1 {
			return paths(EffectDelete, true, s.path(remotePath(a.Words[0])))
		}
	case "rclone", "gsutil", "s3cmd", "s5cmd", "mc", "aws", "gcloud", "az":
		return s.objectEffects(a)
	case "dd":
		return s.ddEffects(a)
	case "mkfs", "mke2fs", "wipefs", "blkdiscard", "sgdisk", "sfdisk", "fdisk", "parted", "mkswap", "badblocks", "hdparm", "cryptsetup", "pvcreate", "zpool":
		return s.deviceEffects(a)
	case "truncate", "vi", "nano", "emacs", "ed", "ex", "pico", "micro", "code", "joe", "patch", "visudo", "vipw":
		return s.editEffects(a, a.Words)
	case "sed", "perl":
		if len(a.Options["in-place"]) > 0 || a.Name == "perl" && len(a.Options["i"]) > 0 {
			return s.editEffects(a, afterScript(a))
		}
	case "cp", "mv", "install", "ln":
		return s.copyEffects(a)
	case "systemctl", "service", "rc-service", "invoke-rc.d", "initctl", "restart", "stop", "start", "supervisorctl", "sv", "launchctl", "brew", "pm2", "monit", "docker", "kubectl", "nginx", "apachectl", "apache2ctl":
		return s.serviceEffects(a)
	case "reboot", "shutdown", "poweroff", "halt", "init", "telinit":
		return powerEffects(a)
	case "git":
		return s.gitEffects(a)
	case "chmod":
		var out []Effect
		for i, w := range a.Words {
			if i > 0 {
				out = append(out, Effect{Kind: EffectMode, Verb: a.Words[0], Path: s.path(w), Whole: len(a.Options["recursive"]) > 0})
			}
		}
		return out
	case "curl", "wget", "http", "xh":
		return requestEffects(a)
	}
	return s.sqlEffects(a, in)
}

func paths(kind EffectKind, whole bool, paths ...string) (out []Effect) {
	for _, p := range paths {
		if p != "" {
			out = append(out, Effect{Kind: kind, Path: p, Whole: whole})
		}
	}
	return out
}

// serviceVerb is the common name of what is done to a service, "" for what changes nothing.
func serviceVerb(v string) string {
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

func service(manager, verb string, units []string) (out []Effect) {
	if verb == "" {
		return nil
	}
	for _, u := range units {
		u = activate(strings.ToLower(u))
		for _, suffix := range []string{".service", ".socket", ".target"} {
			u = strings.TrimSuffix(u, suffix)
		}
		out = append(out, Effect{Kind: EffectService, Verb: verb, Path: manager, Word: u})
	}
	return out
}

func (s *Shell) serviceEffects(a *Act) []Effect {
	w := a.Words
	switch a.Name {
	case "systemctl":
		if len(w) == 0 {
			return nil
		}
		switch w[0] {
		case "reboot", "poweroff", "halt", "kexec", "soft-reboot":
			return powerEffects(&Act{Name: w[0]})
		case "rescue", "emergency":
			return []Effect{{Kind: EffectPower, Verb: w[0]}}
		case "edit", "set-property", "revert":
			return nil
		}
		verb := serviceVerb(w[0])
		units := w[1:]
		if len(a.Options["now"]) > 0 {
			switch verb {
			case "disable":
				return append(service("system", verb, units), service("system", "stop", units)...)
			case "enable":
				return append(service("system", verb, units), service("system", "start", units)...)
			}
		}
		if len(a.Options["root"]) > 0 {
			return nil
		}
		return service("system", verb, units)
	case "service", "rc-service", "invoke-rc.d":
		if len(w) > 1 {
			return service("system", serviceVerb(w[1]), w[:1])
		}
	case "initctl", "brew", "supervisorctl", "sv", "pm2", "monit", "launchctl":
		manager := a.Name
		if manager == "initctl" {
			manager = "system"
		}
		if len(w) > 1 && a.Name == "brew" && w[0] == "services" {
			w = w[1:]
		} else if a.Name == "brew" {
			return nil
		}
		if len(w) > 1 {
			return service(manager, serviceVerb(w[0]), w[1:])
		}
	case "nginx":
		if signals := a.Options["s"]; len(signals) > 0 {
			signal := signals[0]
			if signal == "quit" {
				signal = "stop"
			}
			return service("system", serviceVerb(signal), []string{"nginx"})
		}
	case "apachectl", "apache2ctl":
		if len(w) > 0 {
			return service("system", serviceVerb(strings.TrimPrefix(w[0], "graceful-")), []string{"apache2", "httpd"})
		}
	case "restart", "stop", "start":
		if len(w) == 1 {
			return service("system", a.Name, w)
		}
	case "kubectl":
		if len(w) > 3 && w[0] == "rollout" && w[1] == "restart" {
			return service("kubernetes", "restart", w[3:])
		}
		if len(w) > 2 && w[0] == "rollout" && w[1] == "restart" {
			_, unit, _ := strings.Cut(w[2], "/")
			return service("kubernetes", "restart", []string{unit})
		}
	case "docker":
		if len(w) > 1 && w[0] == "compose" {
			w = w[1:]
		}
		if len(w) > 1 && (w[0] == "restart" || w[0] == "stop" || w[0] == "kill") {
			return service("docker", serviceVerb(w[0]), w[1:])
		}
	}
	return nil
}

func powerEffects(a *Act) []Effect {
	verb := ""
	switch a.Name {
	case "reboot", "kexec", "soft-reboot":
		verb = "reboot"
	case "poweroff", "halt":
		verb = "poweroff"
	case "shutdown":
		verb = "poweroff"
		if len(a.Options["reboot"]) > 0 {
			verb = "reboot"
		}
		if len(a.Options["c"])+len(a.Options["k"]) > 0 {
			return nil
		}
	case "init", "telinit":
		if len(a.Words) > 0 && a.Words[0] == "6" {
			verb = "reboot"
		} else if len(a.Words) > 0 && a.Words[0] == "0" {
			verb = "poweroff"
		}
	}
	if verb == "" || len(a.Options["help"]) > 0 {
		return nil
	}
	return []Effect{{Kind: EffectPower, Verb: verb}}
}
