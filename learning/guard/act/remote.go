package act

import (
	"slices"
	"strconv"
	"strings"
)

func (s *Shell) gitEffects(a *Act, _ program, _ stream) (out []Effect) {
	if len(a.Words) == 0 {
		return nil
	}
	sub, operands := a.Words[0], a.Words[1:]
	dir := s.dir
	for _, d := range a.Options["C"] {
		if sub != "commit" {
			dir = Clean(dir, d)
		}
	}
	hooks := len(a.Options["no-verify"]) > 0
	for _, c := range a.Options["c"] {
		if k, _, _ := strings.Cut(c, "="); strings.EqualFold(k, "core.hooksPath") {
			hooks = true
		}
	}
	if a.Env["HUSKY"] == "0" || a.Env["LEFTHOOK"] == "0" || a.Env["SKIP_HOOKS"] != "" || a.Env["PRE_COMMIT_ALLOW_NO_CONFIG"] != "" || s.env["HUSKY"] == "0" || s.env["LEFTHOOK"] == "0" || a.Env["GIT_CONFIG_KEY_0"] == "core.hooksPath" {
		hooks = true
	}
	switch sub {
	case "commit", "merge", "push", "am", "rebase", "cherry-pick":
		if hooks {
			out = append(out, Effect{Kind: EffectHooks, Verb: sub})
		}
	case "config":
		if len(operands) > 0 && strings.EqualFold(operands[0], "core.hooksPath") && (len(operands) > 1) {
			out = append(out, Effect{Kind: EffectHooks, Verb: "config"})
		}
	case "rm":
		if len(a.Options["cached"]) == 0 {
			for _, w := range operands {
				out = append(out, Effect{Kind: EffectDelete, Path: Clean(dir, w), Recursive: len(a.Options["r"]) > 0})
			}
		}
	case "worktree":
		if len(operands) > 1 && operands[0] == "remove" && len(a.Options["force"])+len(a.Options["f"]) > 0 {
			out = append(out, Effect{Kind: EffectDelete, Path: Clean(dir, operands[1]), Recursive: true})
		}
	case "clean":
		if len(a.Options["force"]) > 0 {
			for _, w := range operands {
				out = append(out, Effect{Kind: EffectDelete, Path: Clean(dir, w), Recursive: true})
			}
			if len(operands) == 0 {
				out = append(out, Effect{Kind: EffectDelete, Path: Clean(dir, "."), Recursive: len(a.Options["d"]) > 0, Soft: true})
			}
		}
	}
	if sub == "push" {
		refs := operands
		if len(refs) > 0 {
			refs = refs[1:]
		}
		force := len(a.Options["force"])+len(a.Options["mirror"]) > 0
		for _, r := range refs {
			if strings.HasPrefix(r, "+") || force {
				_, to, ok := strings.Cut(strings.TrimPrefix(r, "+"), ":")
				if !ok {
					to = strings.TrimPrefix(r, "+")
				}
				out = append(out, Effect{Kind: EffectForce, Word: strings.TrimPrefix(to, "refs/heads/")})
			}
		}
		if force && len(refs) == 0 {
			out = append(out, Effect{Kind: EffectForce})
		}
	}
	return out
}

// requestEffects is the request that curl or wget makes, if it changes something.
func requestEffects(_ *Shell, a *Act, p program, _ stream) (out []Effect) {
	method := ""
	for _, m := range append(a.Options["request"], a.Options["method"]...) {
		method = strings.ToUpper(m)
	}
	words := append(append([]string{}, a.Words...), a.Options["url"]...)
	if p.has("methods") && len(words) > 1 && strings.ToUpper(words[0]) == words[0] {
		method, words = words[0], words[1:2]
	}
	if method == "" && len(a.Options["data"])+len(a.Options["data-raw"])+len(a.Options["json"])+len(a.Options["data-binary"])+len(a.Options["post-data"]) > 0 {
		method = "POST"
	}
	if method == "" || method == "GET" || method == "HEAD" {
		return nil
	}
	for _, w := range words {
		out = append(out, Effect{Kind: EffectHTTP, Verb: method, Path: URL(w)})
	}
	return out
}

// URL spells a URL without scheme, user, default port, query and trailing slash.
func URL(u string) string {
	scheme, rest, ok := strings.Cut(u, "://")
	if !ok {
		rest, scheme = u, ""
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, "?")
	host, p, _ := strings.Cut(rest, "/")
	if _, after, found := strings.Cut(host, "@"); found {
		host = after
	}
	host = strings.ToLower(host)
	if scheme == "https" {
		host = strings.TrimSuffix(host, ":443")
	} else {
		host = strings.TrimSuffix(host, ":80")
	}
	return Clean("", host+"/"+p)
}

// objectEffects is the deletion of objects in buckets.
func objectEffects(_ *Shell, a *Act, _ program, _ stream) (out []Effect) {
	all := a.outcomes("objects")
	if len(all) == 0 {
		return nil
	}
	which := all[0]
	whole, soft := slices.Contains(which, "whole"), slices.Contains(which, "soft")
	recursive := whole || len(a.Options["recursive"])+len(a.Options["r"]) > 0
	option, named := strings.CutPrefix(which[0], "--")
	words := a.Options[option]
	switch at, err := strconv.Atoi(which[0]); {
	case named:
	case which[0] == "from":
		words = a.Words[1:]
	case err == nil:
		words = a.Words[at : at+1]
	default:
		words = a.Words[len(a.Words)-1:]
	}
	for _, uri := range words {
		if a.Name == "rclone" {
			uri = strings.Replace(uri, ":", "://", 1)
		}
		if uri != "" || named { // a name that is not known may be any
			whole := recursive || strings.ContainsRune(uri, Unknown) || which[0] == "from" && Patterned(uri)
			out = append(out, Effect{Kind: EffectObjects, Path: bucket(uri), Recursive: whole, Soft: soft})
		}
	}
	return out
}

// bucket spells the address of objects as a path, whose first part is the bucket.
func bucket(uri string) string {
	_, rest, ok := strings.Cut(uri, "://")
	if !ok {
		rest = uri
	}
	return Clean("", "/"+rest)
}
