package act

import (
	"slices"
	"strings"
)

func (s *Shell) gitEffects(a *Act) (out []Effect) {
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
func requestEffects(a *Act, p program) (out []Effect) {
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
func objectEffects(a *Act, p program) (out []Effect) {
	bucket := func(uri string, whole bool) {
		if uri != "" {
			// A name that is not known may be any.
			whole = whole || strings.ContainsRune(uri, Unknown)
			out = append(out, Effect{Kind: EffectObjects, Path: bucket(uri), Recursive: whole})
		}
	}
	w := a.Words
	recursive := len(a.Options["recursive"]) > 0
	if len(w) > 1 && p.has("objects") {
		_, all := p.pair("objects", w[0])
		if all || p.says("objects", w[0]) {
			for _, u := range w[1:] {
				bucket(u, recursive || len(a.Options["r"]) > 0 || all || Patterned(u))
			}
		}
		return out
	}
	switch a.Name {
	case "aws":
		switch {
		case len(w) > 2 && w[0] == "s3" && w[1] == "rm":
			bucket(w[2], recursive)
		case len(w) > 2 && w[0] == "s3" && w[1] == "rb":
			bucket(w[2], true)
			// Without --force only an empty bucket goes.
			out[len(out)-1].Soft = len(a.Options["force"]) == 0
		case len(w) > 3 && w[0] == "s3" && w[1] == "sync" && len(a.Options["delete"]) > 0:
			bucket(w[3], true)
		case len(w) > 1 && w[0] == "s3api" && (w[1] == "delete-bucket" || w[1] == "delete-objects"):
			for _, b := range a.Options["bucket"] {
				bucket("s3://"+b, true)
			}
		}
	case "gcloud":
		if len(w) > 2 && w[0] == "storage" && (w[1] == "rm" || w[1] == "buckets") {
			bucket(w[len(w)-1], recursive || w[1] == "buckets" && slices.Contains(w, "delete"))
		}
	case "rclone":
		if len(w) > 1 && (w[0] == "purge" || w[0] == "delete") {
			bucket(strings.Replace(w[1], ":", "://", 1), true)
		}
		if len(w) > 2 && w[0] == "sync" {
			bucket(strings.Replace(w[2], ":", "://", 1), true)
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
