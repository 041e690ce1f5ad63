package learning

import (
	"slices"
	"strings"
)

func (s *guardShell) gitEffects(a *guardAct) (out []guardEffect) {
	if len(a.words) == 0 {
		return nil
	}
	sub, operands := a.words[0], a.words[1:]
	dir := s.dir
	for _, d := range a.options["C"] {
		if sub != "commit" {
			dir = guardClean(dir, d)
		}
	}
	hooks := len(a.options["no-verify"]) > 0
	for _, c := range a.options["c"] {
		if k, _, _ := strings.Cut(c, "="); strings.EqualFold(k, "core.hooksPath") {
			hooks = true
		}
	}
	if a.env["HUSKY"] == "0" || a.env["LEFTHOOK"] == "0" || a.env["SKIP_HOOKS"] != "" || a.env["PRE_COMMIT_ALLOW_NO_CONFIG"] != "" || s.env["HUSKY"] == "0" || s.env["LEFTHOOK"] == "0" || a.env["GIT_CONFIG_KEY_0"] == "core.hooksPath" {
		hooks = true
	}
	switch sub {
	case "commit", "merge", "push", "am", "rebase", "cherry-pick":
		if hooks {
			out = append(out, guardEffect{kind: guardEffectHooks, verb: sub})
		}
	case "config":
		if len(operands) > 0 && strings.EqualFold(operands[0], "core.hooksPath") && (len(operands) > 1) {
			out = append(out, guardEffect{kind: guardEffectHooks, verb: "config"})
		}
	case "rm":
		if len(a.options["cached"]) == 0 {
			for _, w := range operands {
				out = append(out, guardEffect{kind: guardEffectDelete, path: guardClean(dir, w), whole: len(a.options["r"]) > 0})
			}
		}
	case "clean":
		if len(a.options["force"]) > 0 {
			roots := operands
			if len(roots) == 0 {
				roots = []string{"."}
			}
			for _, w := range roots {
				out = append(out, guardEffect{kind: guardEffectDelete, path: guardClean(dir, w), whole: len(a.options["d"]) > 0, soft: true})
			}
		}
	}
	if sub == "push" {
		refs := operands
		if len(refs) > 0 {
			refs = refs[1:]
		}
		force := len(a.options["force"])+len(a.options["mirror"]) > 0
		for _, r := range refs {
			if strings.HasPrefix(r, "+") || force {
				_, to, ok := strings.Cut(strings.TrimPrefix(r, "+"), ":")
				if !ok {
					to = strings.TrimPrefix(r, "+")
				}
				out = append(out, guardEffect{kind: guardEffectForce, word: strings.TrimPrefix(to, "refs/heads/")})
			}
		}
		if force && len(refs) == 0 {
			out = append(out, guardEffect{kind: guardEffectForce})
		}
	}
	return out
}

// guardRequestEffects is the request that curl or wget makes, if it changes something.
func guardRequestEffects(a *guardAct) (out []guardEffect) {
	method := ""
	for _, m := range append(a.options["request"], a.options["method"]...) {
		method = strings.ToUpper(m)
	}
	words := append(append([]string{}, a.words...), a.options["url"]...)
	if a.name == "http" || a.name == "xh" {
		if len(words) > 1 && strings.ToUpper(words[0]) == words[0] {
			method, words = words[0], words[1:2]
		}
	}
	if method == "" && len(a.options["data"])+len(a.options["data-raw"])+len(a.options["json"])+len(a.options["data-binary"])+len(a.options["post-data"]) > 0 {
		method = "POST"
	}
	if method == "" || method == "GET" || method == "HEAD" {
		return nil
	}
	for _, w := range words {
		out = append(out, guardEffect{kind: guardEffectHTTP, verb: method, path: guardURL(w)})
	}
	return out
}

// guardURL spells a URL without scheme, user, default port, query and trailing slash.
func guardURL(u string) string {
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
	return guardClean("", host+"/"+p)
}

// objectEffects is the deletion of objects in buckets.
func (s *guardShell) objectEffects(a *guardAct) (out []guardEffect) {
	bucket := func(uri string, whole bool) {
		if uri != "" {
			// A name that is not known may be any.
			whole = whole || strings.ContainsRune(uri, guardUnknown)
			out = append(out, guardEffect{kind: guardEffectObjects, path: guardBucket(uri), whole: whole})
		}
	}
	w := a.words
	recursive := len(a.options["recursive"]) > 0
	switch a.name {
	case "aws":
		switch {
		case len(w) > 2 && w[0] == "s3" && w[1] == "rm":
			bucket(w[2], recursive)
		case len(w) > 2 && w[0] == "s3" && w[1] == "rb":
			bucket(w[2], true)
			// Without --force only an empty bucket goes.
			out[len(out)-1].soft = len(a.options["force"]) == 0
		case len(w) > 3 && w[0] == "s3" && w[1] == "sync" && len(a.options["delete"]) > 0:
			bucket(w[3], true)
		case len(w) > 1 && w[0] == "s3api" && (w[1] == "delete-bucket" || w[1] == "delete-objects"):
			for _, b := range a.options["bucket"] {
				bucket("s3://"+b, true)
			}
		}
	case "gsutil":
		if len(w) > 1 && (w[0] == "rm" || w[0] == "rb") {
			for _, u := range w[1:] {
				bucket(u, recursive || w[0] == "rb" || guardPatterned(u))
			}
		}
	case "gcloud":
		if len(w) > 2 && w[0] == "storage" && (w[1] == "rm" || w[1] == "buckets") {
			bucket(w[len(w)-1], recursive || w[1] == "buckets" && slices.Contains(w, "delete"))
		}
	case "s3cmd", "s5cmd", "mc":
		if len(w) > 1 && (w[0] == "del" || w[0] == "rm" || w[0] == "rb") {
			for _, u := range w[1:] {
				bucket(u, recursive || len(a.options["r"]) > 0 || w[0] == "rb" || guardPatterned(u))
			}
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

// guardBucket spells the address of objects as a path, whose first part is the bucket.
func guardBucket(uri string) string {
	_, rest, ok := strings.Cut(uri, "://")
	if !ok {
		rest = uri
	}
	return guardClean("", "/"+rest)
}
