package learning

import (
	"path"
	"slices"
	"strings"
)

// guardFit says how well an act fits a rule.
type guardFit uint8

const (
	guardNone guardFit = iota
	guardNear          // it may be the act, or is a smaller one of its kind: warns
	guardFull          // it is the act
)

// fits compares a rule's act with one of an action.
func (r *GuardRule) fits(want, got *guardAct, action *Action) guardFit {
	if got.harmless() || !guardWithin(want.where, got.where) || r.instead.is(got) {
		return guardNone
	}
	best := guardNone
	if guardRemovesAround(want, got) {
		best = guardFull
	} else if r.byEffect(want) {
		for i := range want.effects {
			for k := range got.effects {
				best = max(best, r.effectFits(&want.effects[i], &got.effects[k], want, got, action))
			}
		}
	} else {
		best = r.wordsFit(want, got)
	}
	if got.prepared && best == guardFull {
		best = guardNear
	}
	return best
}

// guardWithin reports whether the rule's hosts and containers are all around the act.
func guardWithin(want, got []string) bool {
	for _, w := range want {
		if !guardPlaceholder(w) && !slices.Contains(got, w) {
			return false
		}
	}
	return true
}

// guardBypass are options that are the harm themselves, whatever they are used on.
var guardBypass = map[string]bool{
	"no-verify": true, "break-system-packages": true, "insecure": true, "no-check-certificate": true, "privileged": true, "auto-approve": true, "legacy-peer-deps": true, "trusted-host": true, "allow-unauthenticated": true,
	"force-yes": true, "no-gpg-check": true, "nogpgcheck": true, "no-sandbox": true, "hard": true, "ignore-scripts": true, "no-verify-ssl": true, "skip-ssl": true, "skip-tests": true, "disable-host-key-checking": true, "allow-dirty": true,
	"cap-add": true, "force-with-lease": true, "unsafe-perm": true, "dangerously-skip-permissions": true, "no-audit": true, "allow-root": true, "skip-checks": true, "yolo": true, "no-edit": false,
}

// wordsFit compares by words and options.
func (r *GuardRule) wordsFit(want, got *guardAct) guardFit {
	if want.name != got.name {
		return guardNone
	}
	// A variable that is set is the same act when it stands before a command.
	if want.name == guardSetsVariable {
		return guardFitIf(guardSameWords(want.words, got.words))
	}
	bypass, named, best := false, false, guardFull
	for name, values := range want.options {
		if guardQuiet[name] && !r.title.names(name) && (len(want.words) > 0 || len(want.options) > 1) {
			continue
		}
		has, ok := got.options[name]
		if !ok {
			if want.name == "pip" && name == "break-system-packages" && got.env["PIP_BREAK_SYSTEM_PACKAGES"] != "" {
				bypass = true
				continue
			}
			if got.onlyAsks(name) || got.consents && guardConsent[name] {
				bypass = bypass || guardBypass[name]
				continue
			}
			if fit := r.qualifies(want, name, values); fit != guardNone {
				best = min(best, fit)
				continue
			}
			if guardOptionsOf()[want.name] == nil {
				// Of a program that the table does not know, -a may be --all.
				has, ok = guardOtherLength(name, got.options)
				best = min(best, guardNear)
			}
			if !ok {
				return guardNone
			}
		}
		if last := values[len(values)-1]; last != "" && !guardPlaceholder(last) && !guardBypass[name] {
			// Of a program that the table does not know, --x v and --x=v look different.
			if slices.Contains(has, "") {
				has = append(slices.Clone(has), got.words...)
			}
			if !slices.ContainsFunc(has, func(v string) bool { return guardWordFits(last, v, got) != guardNone }) {
				return guardNone
			}
			named = named || r.title.names(last)
		} else if len(has) > 0 && has[len(has)-1] == "false" {
			return guardNone
		}
		bypass = bypass || guardBypass[name]
	}
	for name, value := range want.env {
		set, ok := got.env[name]
		if ok && set != value || !ok && r.title.names(name) {
			return guardNone
		}
		if !ok && r.title.names(value) {
			best = min(best, guardNear) // it may be set elsewhere
		}
	}
	words, others := want.words, got.words
	fixed := guardFixedWords(want)
	others = others[guardSubcommandAt(want, got, fixed):]
	if len(others) < min(fixed, len(words)) {
		return guardNone
	}
	for i := range min(fixed, len(words)) {
		if words[i] != others[i] && !guardPlaceholder(words[i]) {
			return guardNone
		}
	}
	fixed = min(fixed, len(words))
	words, others = words[fixed:], others[fixed:]
	if len(got.options["all"]) > 0 && (want.name == "kubectl" || want.name == "docker") && len(others) < len(words) {
		return best
	}
	for _, w := range words {
		if (bypass || want.wraps && named) && !r.title.names(w) {
			continue
		}
		found := false
		for o, values := range got.options {
			found = found || slices.Contains(values, w) && !slices.Contains(guardSaying, o)
		}
		for i, o := range others {
			if fit := guardWordFits(w, o, got); fit != guardNone {
				best, others, found = min(best, fit), others[i+1:], true
				break
			}
		}
		if !found && !guardPaired(w, want, got) {
			return guardNone
		}
	}
	return best
}

// guardOtherLength finds the long option that a letter may stand for, or the letter.
func guardOtherLength(name string, options map[string][]string) (values []string, ok bool) {
	if len(name) > 1 {
		values, ok = options[name[:1]]
		return values, ok
	}
	for o, v := range options {
		if len(o) > 2 && strings.HasPrefix(o, name) {
			values, ok = v, true
		}
	}
	return values, ok
}

// guardSubcommandAt is where an act's subcommand stands among its words. Of a
// program that the table does not know, the values of options before it look like words.
func guardSubcommandAt(want, got *guardAct, fixed int) int {
	if fixed == 0 || guardOptionsOf()[want.name] != nil || len(got.source) < 2 || !strings.HasPrefix(got.source[1], "-") {
		return 0
	}
	for at := range min(3, len(got.words)) {
		if got.words[at] == want.words[0] {
			return at
		}
	}
	return 0
}

// guardFixedWords is how many words of a rule's act are subcommands, which
// stand at their place.
func guardFixedWords(a *guardAct) int {
	switch {
	case len(a.words) == 0:
		return 0
	case a.name == "docker" || a.name == "podman":
		switch a.words[0] {
		case "compose", "system", "volume", "network", "image", "container", "builder", "swarm", "stack", "service", "node", "secret", "context", "buildx":
			return 2
		}
		return 1
	case a.name == "aws" || a.name == "gh" || a.name == "az":
		return 2
	case a.name == "gcloud" || guardPrefixes()[a.name]:
		return 1
	}
	switch a.name {
	case "terraform", "helm", "npm", "apt", "yum", "cargo", "pip", "ufw", "systemctl", "go", "gem", "brew", "poetry", "redis-cli", "pulumi", "cdk", "vagrant", "nomad", "vault", "consul", "heroku", "fly", "flyctl", "serverless", "rabbitmqctl", "ip", "nft", "snap":
		return 1
	}
	return 0
}

func guardFitIf(ok bool) guardFit {
	if ok {
		return guardFull
	}
	return guardNone
}

func guardSameWords(want, got []string) bool {
	if len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != got[i] && !guardPlaceholder(want[i]) {
			return false
		}
	}
	return true
}

// guardPlaceholder reports whether a word of a rule stands for any word.
func guardPlaceholder(w string) bool {
	switch {
	case w == "...", w == "…", w == "*", w == string(guardAnyText):
		return true
	case strings.HasPrefix(w, "<") && strings.HasSuffix(w, ">"), strings.HasPrefix(w, "{{") && strings.HasSuffix(w, "}}"):
		return true
	case strings.HasPrefix(w, "YOUR_") || strings.HasPrefix(w, "your-"):
		return true
	}
	return false
}

// guardWordFits compares one operand.
func guardWordFits(want, got string, a *guardAct) guardFit {
	if want == got || guardPlaceholder(want) {
		return guardFull
	}
	if guardNameFits(got, want) || guardNameFits(want, got) {
		return guardFull
	}
	if k, v, ok := strings.Cut(want, "="); ok && len(k) > 1 {
		if gk, gv, ok := strings.Cut(got, "="); ok && gk == k {
			return guardWordFits(v, gv, a)
		}
		return guardNone
	}
	if strings.Contains(got, "://") && !strings.Contains(want, "/") {
		return guardFitIf(path.Base(guardURL(got)) == want)
	}
	if strings.Contains(want, "://") {
		w, g := guardURL(want), guardURL(got)
		return guardFitIf(w == g || strings.HasPrefix(g, w+"/"))
	}
	if strings.ContainsAny(want, "/~") || strings.Contains(want, ".") || strings.Contains(got, "/") {
		whole := len(a.options["recursive"])+len(a.options["R"])+len(a.options["prefix"]) > 0
		switch guardRelate(guardClean("", want), guardClean(a.dir, got)) {
		case guardSame:
			return guardFull
		case guardInside, guardAbove:
			if len(guardParts(guardClean("", want))) == 0 {
				return guardNone
			}
			return guardFitIf(whole)
		case guardPerhaps:
			return guardNear
		}
	}
	return guardNone
}
