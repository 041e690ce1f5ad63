package learning

import (
	"path"
	"slices"
	"strings"
)

func (s *guardShell) removal(a *guardAct) (out []guardEffect) {
	words := a.words
	whole := len(a.options["recursive"]) > 0 || a.name == "rimraf" || strings.HasPrefix(a.name, "trash") || strings.HasPrefix(a.name, "del")
	if a.name == "gio" {
		if len(words) == 0 || words[0] != "trash" && words[0] != "remove" {
			return nil
		}
		words, whole = words[1:], true
	}
	for _, w := range words {
		out = append(out, guardDevice(guardEffectDelete, s.path(w), whole))
	}
	return out
}

// guardDevice is the effect on a path, which is another for devices.
func guardDevice(kind guardEffectKind, p string, whole bool) guardEffect {
	if guardIsDevice(p) {
		kind = guardEffectDevice
	}
	return guardEffect{kind: kind, path: p, whole: whole}
}

func guardIsDevice(p string) bool {
	rest, ok := strings.CutPrefix(p, "/dev/")
	if !ok {
		return false
	}
	for _, d := range []string{"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "mapper/", "md", "dm-", "loop", "rdisk"} {
		if strings.HasPrefix(rest, d) {
			return true
		}
	}
	return false
}

// guardWriteEffects is what a redirection into a file does.
func guardWriteEffects(p string) []guardEffect {
	if strings.HasPrefix(p, "/dev/") && !guardIsDevice(p) {
		return nil
	}
	return []guardEffect{guardDevice(guardEffectWrite, p, false)}
}

// guardRemotePath is the path of host:path.
func guardRemotePath(w string) string {
	host, p, ok := strings.Cut(w, ":")
	if ok && host != "" && !strings.Contains(host, "/") {
		return strings.TrimPrefix(p, ":")
	}
	return w
}

// guardFindRoots are the directories that find starts from.
func guardFindRoots(args []string) (roots []string) {
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case w == "-H" || w == "-L" || w == "-P" || strings.HasPrefix(w, "-O") && len(roots) == 0:
		case w == "-D":
			i++
		case strings.HasPrefix(w, "-") || w == "(" || w == "!":
			if len(roots) == 0 {
				return []string{"."}
			}
			return roots
		default:
			roots = append(roots, w)
		}
	}
	if len(roots) == 0 {
		return []string{"."}
	}
	return roots
}

// guardFindFilter is the first -name, -path or -regex; it narrows what find reaches.
func guardFindFilter(args []string) (pattern string, whole bool) {
	for i, w := range args {
		if i+1 < len(args) {
			switch w {
			case "-name", "-iname":
				return guardActivate(args[i+1]), false
			case "-path", "-ipath", "-wholename":
				return guardActivate(args[i+1]), true
			case "-regex", "-iregex":
				return string(guardAnyText), false
			}
		}
	}
	return "", false
}

// guardFound is what find lists: the root and what lies below it, or what in it
// has the name that is looked for.
func guardFound(root string, args []string) []string {
	pattern, whole := guardFindFilter(args)
	switch {
	case pattern == "":
		below := root + "/" + string(guardAnyText)
		if i := slices.Index(args, "-type"); i >= 0 && i+1 < len(args) && args[i+1] == "f" || slices.Contains(args, "-mindepth") {
			return []string{below}
		}
		return []string{root, below}
	case whole:
		return []string{guardClean("", pattern)}
	}
	return []string{root + "/" + pattern}
}

func (s *guardShell) findEffects(a *guardAct) (out []guardEffect) {
	args := a.source[1:]
	roots := guardFindRoots(args)
	deletes := slices.Contains(args, "-delete")
	for i := 0; i < len(args); i++ {
		switch args[i] {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := i + 1
			for end < len(args) && args[end] != ";" && args[end] != "+" {
				end++
			}
			words := args[i+1 : end]
			if len(words) > 0 {
				for _, root := range roots {
					for _, found := range guardFound(s.path(root), args) {
						one := make([]string, len(words))
						for k, w := range words {
							one[k] = strings.ReplaceAll(w, "{}", found)
						}
						before := len(s.acts)
						s.command(one, nil, guardStream{})
						if !slices.Contains(args, "-maxdepth") && guardFindsAll(args) {
							guardDeepen(s.acts[min(before, len(s.acts)):])
						}
					}
				}
			}
			i = end
		}
	}
	if !deletes {
		return nil
	}
	pattern, whole := guardFindFilter(args)
	for _, root := range roots {
		e := guardEffect{kind: guardEffectDelete, path: s.path(root), whole: true}
		switch {
		case pattern == "":
		case whole:
			e.path = guardClean("", strings.TrimSuffix(pattern, "/"+string(guardAnyText)))
		default:
			// Files of a certain name, at any depth: below the guarded directory they are part of it;
			// above it only a directory of that very name is meant.
			e.word = pattern
			out = append(out, guardEffect{kind: guardEffectDelete, path: guardClean("", s.path(root)+"/"+pattern)})
		}
		out = append(out, e)
	}
	return out
}

// guardFindsAll reports whether find passes on everything below its roots.
func guardFindsAll(args []string) bool {
	pattern, _ := guardFindFilter(args)
	return pattern == ""
}

// guardDeepen makes acts that find runs for everything below a directory what
// they are with their own -R.
func guardDeepen(acts []*guardAct) {
	for _, a := range acts {
		if a.name != "chmod" && a.name != "chown" {
			continue
		}
		a.options["recursive"] = []string{""}
		for i := range a.effects {
			a.effects[i].whole = true
		}
	}
}

// fdRuns follows what fd runs for each file it finds.
func (s *guardShell) fdRuns(a *guardAct) {
	args := a.source[1:]
	at := slices.IndexFunc(args, func(w string) bool { return w == "-x" || w == "-X" || w == "--exec" || w == "--exec-batch" })
	if at < 0 || at+1 >= len(args) {
		return
	}
	r := guardReadOptions("fd", guardParseOptionList("t=type: e=extension: E=exclude: d=max-depth: S=size: o=owner: j: C=base-directory: search-path:"), args[:at], false)
	roots := r.options["search-path"]
	if len(r.operands) > 1 {
		roots = append(roots, r.operands[1:]...)
	}
	for _, root := range roots {
		s.command(append(slices.Clone(args[at+1:]), s.path(root)+"/"+string(guardAnyText)), nil, guardStream{})
	}
}

func (s *guardShell) ddEffects(a *guardAct) (out []guardEffect) {
	for _, w := range a.words {
		if to, ok := strings.CutPrefix(w, "of="); ok {
			out = append(out, guardDevice(guardEffectWrite, s.path(to), true))
		}
	}
	return out
}

func (s *guardShell) deviceEffects(a *guardAct) (out []guardEffect) {
	switch a.name {
	case "parted", "fdisk", "sfdisk", "sgdisk", "hdparm", "cryptsetup", "badblocks", "zpool":
		line := " " + strings.Join(a.source[1:], " ") + " "
		changes := false
		for _, w := range []string{"mklabel", "mkpart", " rm ", "--zap-all", " -Z", " -o ", "--delete", "--wipe", "--security-erase", "luksFormat", "erase", " -w ", "create", "destroy"} {
			changes = changes || strings.Contains(line, w)
		}
		if !changes {
			return nil
		}
	case "wipefs":
		if len(a.options["all"])+len(a.options["offset"]) == 0 {
			return nil
		}
	}
	for _, w := range a.words {
		if strings.HasPrefix(w, "/dev/") || strings.HasPrefix(w, "${") {
			out = append(out, guardEffect{kind: guardEffectDevice, path: s.path(w), whole: true})
		}
	}
	return out
}

func (s *guardShell) editEffects(a *guardAct, words []string) (out []guardEffect) {
	if a.name == "visudo" && len(words) == 0 {
		words = []string{"/etc/sudoers"}
	}
	if a.name == "vipw" {
		words = []string{"/etc/passwd"}
	}
	for _, w := range words {
		if !strings.HasPrefix(w, "+") {
			out = append(out, guardDevice(guardEffectWrite, s.path(w), false))
		}
	}
	return out
}

// guardAfterScript drops sed's script from its operands.
func guardAfterScript(a *guardAct) []string {
	if len(a.options["expression"])+len(a.options["file"])+len(a.options["e"]) > 0 && (a.name == "sed" || len(a.words) == 1) {
		return a.words
	}
	if len(a.words) > 0 && a.name == "sed" {
		return a.words[1:]
	}
	return a.words
}

func (s *guardShell) copyEffects(a *guardAct) (out []guardEffect) {
	sources, to := a.words, ""
	if t := a.options["target-directory"]; len(t) > 0 {
		to = t[0] + "/"
	} else if len(a.words) > 1 {
		to, sources = a.words[len(a.words)-1], a.words[:len(a.words)-1]
	}
	if to == "" {
		return nil
	}
	clean := s.path(to)
	if a.name == "mv" && (clean == "/dev/null" || strings.HasPrefix(clean, "/dev/null/")) {
		for _, w := range sources {
			out = append(out, guardEffect{kind: guardEffectDelete, path: s.path(w), whole: true})
		}
		return out
	}
	out = append(out, guardDevice(guardEffectWrite, clean, false))
	for _, w := range sources {
		// The target may be a directory, which takes the source's name.
		out = append(out, guardEffect{kind: guardEffectWrite, path: clean + "/" + path.Base(s.path(w))})
		if a.name == "mv" {
			out = append(out, guardEffect{kind: guardEffectWrite, path: s.path(w), verb: "move"})
		}
	}
	return out
}
