package act

import "strings"

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

// managedEffects reads what a manager of services is told; the shape says where its verb and its units
// stand. Words of the shape in small letters must stand there too.
func managedEffects(a *Act, shape []string) []Effect {
	manager, words := shape[0], a.Words
	for shape = shape[1:]; strings.ToLower(shape[0]) == shape[0]; shape = shape[1:] {
		if len(words) == 0 || words[0] != shape[0] {
			return nil
		}
		words = words[1:]
	}
	switch order := strings.Join(shape, " "); {
	case order == "NAME UNIT" && len(words) == 1:
		return service(manager, serviceVerbs()[a.Name], words)
	case order == "UNIT VERB" && len(words) > 1:
		return service(manager, serviceVerbs()[words[1]], words[:1])
	case order == "VERB UNITS" && len(words) > 1:
		return service(manager, serviceVerbs()[words[0]], words[1:])
	}
	return nil
}

func (s *Shell) systemctlEffects(a *Act, p program, _ stream) []Effect {
	if len(a.Words) == 0 {
		return nil
	}
	if power := powerEffects(a, p); power != nil {
		return power
	}
	verb, units := serviceVerbs()[a.Words[0]], a.Words[1:]
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
}

// serviceEffects reads the programs that are told of services in ways of their own.
func serviceEffects(_ *Shell, a *Act, p program, _ stream) []Effect {
	w := a.Words
	switch p.one("does") {
	case "nginx":
		if signals := a.Options["s"]; len(signals) > 0 {
			signal := signals[0]
			if signal == "quit" {
				signal = "stop"
			}
			return service("system", serviceVerbs()[signal], []string{"nginx"})
		}
	case "apache":
		if len(w) > 0 {
			return service("system", serviceVerbs()[strings.TrimPrefix(w[0], "graceful-")], []string{"apache2", "httpd"})
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
			return service("docker", serviceVerbs()[w[0]], w[1:])
		}
	}
	return nil
}

// powerEffects reads what stops the machine: always, with a word or with an option. Of several
// that are said the last counts; one without a verb takes it back.
func powerEffects(a *Act, p program) []Effect {
	verb := ""
	for _, fact := range p["power"] {
		said, does, conditional := strings.Cut(fact, "=")
		option, isOption := strings.CutPrefix(said, "--")
		switch {
		case !conditional:
			verb = said
		case isOption && len(a.Options[option]) > 0, !isOption && len(a.Words) > 0 && a.Words[0] == said:
			verb = does
		}
	}
	if verb == "" {
		return nil
	}
	return []Effect{{Kind: EffectPower, Verb: verb}}
}
