package act

import (
	"path"
	"slices"
	"strings"
)

// secretFile reports whether a path is of a file that holds secrets.
func secretFile(p string) bool {
	p = strings.TrimPrefix(p, "file://")
	base := path.Base(p)
	switch {
	case secretFiles()[base]:
		return base != "shadow" && base != "gshadow" || strings.HasPrefix(p, "/etc/")
	case strings.HasPrefix(base, ".env.") || strings.HasSuffix(base, ".env") && len(base) > 4:
		return !slices.ContainsFunc(SplitName(base), func(w string) bool {
			return w == "example" || w == "sample" || w == "template" || w == "dist" || w == "defaults" || w == "schema" || w == "test" || w == "tmpl"
		})
	case strings.HasPrefix(p, "/proc/") && base == "environ":
		return true
	}
	for _, folder := range []string{"/.ssh", "/.gnupg", "/.aws", "/.azure", "/.config/gcloud", "/.password-store", "/.docker", "/.kube", "/.config/gh"} {
		at := strings.LastIndex("/"+p, folder)
		if at < 0 {
			continue
		}
		switch rest := ("/" + p)[at+len(folder):]; {
		case rest == "" || rest == "/"+string(AnyText):
			return folder != "/.docker" && folder != "/.kube"
		case rest[0] != '/':
		case folder == "/.ssh":
			return !strings.HasSuffix(rest, ".pub") && rest != "/config" && !strings.HasPrefix(rest, "/known_hosts") && rest != "/authorized_keys"
		case folder == "/.aws":
			return rest == "/credentials" || strings.HasPrefix(rest, "/sso") || strings.HasPrefix(rest, "/cli")
		case folder == "/.docker":
			return rest == "/config.json"
		case folder == "/.kube":
			return strings.HasPrefix(rest, "/config")
		case folder == "/.config/gh":
			return rest == "/hosts.yml"
		default:
			return true
		}
	}
	return false
}

// keeps are programs that name a file without showing what is in it.
var keeps = strings.Fields("ls stat file test [ [[ chmod chown chgrp touch rm mkdir rmdir du df find fd readlink realpath basename dirname which echo printf ssh ssh-add " +
	"ssh-keygen wc md5sum sha256sum shred unlink truncate ln source vi nano emacs code micro diff cmp cd pushd tree ssh-copy-id locate whereis type dotenv direnv kubectl " +
	"helm docker make npm python node ruby php git chattr setfacl mv tee mktemp gio trash export set logger mount umount umask sed")

// senders are programs that send what they are given.
var senders = strings.Fields("curl wget nc http mail mailx ftp telnet socat")

// secretHarm is the harm of an act that shows, copies or sends a secret.
func (a *Act) secretHarm() Harm {
	sends := slices.Contains(senders, a.Name)
	switch {
	case a.Sends && (sends || a.Name == "ssh"):
		return HarmSend
	case sends:
		return a.sendHarm()
	case a.Name == "git":
		if len(a.Words) > 1 && a.Words[0] == "add" && slices.ContainsFunc(a.Words[1:], secretFile) {
			return HarmCommit
		}
	case a.Name == "echo" || a.Name == "printf" || a.Name == "printenv":
		for _, w := range a.Words {
			if a.Name == "printenv" {
				w = "${" + w + "}"
			}
			if holdsSecretVariable(w) {
				return HarmSecret
			}
		}
	case a.Name == ReadsFile:
		if len(a.Words) > 0 && secretFile(a.Words[0]) {
			return HarmSecret
		}
	case slices.Contains(keeps, a.Name), strings.HasPrefix(a.Name, "("), IsShell(a.Name):
	default:
		return a.readHarm()
	}
	return ""
}

// sendHarm looks for secrets in what a request sends: files behind an @, files that are sent whole, variables.
func (a *Act) sendHarm() Harm {
	for _, o := range []string{"data", "data-raw", "data-binary", "data-urlencode", "form", "F", "d", "json"} {
		for _, v := range a.Options[o] {
			if _, file, ok := strings.Cut(v, "@"); ok && secretFile(Clean(a.Dir, file)) || o != "json" && holdsSecretVariable(v) {
				return HarmSend
			}
		}
	}
	for _, o := range []string{"upload-file", "T", "post-file", "body-file"} {
		if slices.ContainsFunc(a.Options[o], func(v string) bool { return secretFile(Clean(a.Dir, v)) }) {
			return HarmSend
		}
	}
	for _, w := range a.Words {
		if _, file, ok := strings.Cut(w, "@"); ok && secretFile(Clean(a.Dir, file)) && !strings.Contains(file, "://") {
			return HarmSend
		}
	}
	return ""
}

// readHarm looks for secret files among those that an act reads.
func (a *Act) readHarm() Harm {
	words := a.Words
	switch a.Name {
	case "cp", "scp", "rsync", "install":
		if n := len(words); n > 1 { // the target is only written
			words = words[:n-1]
		}
	case "grep", "egrep", "fgrep", "rg", "ag", "awk", "jq":
		if len(words) > 0 && len(a.Options["regexp"])+len(a.Options["e"])+len(a.Options["f"]) == 0 {
			words = words[1:]
		}
	}
	for _, w := range words {
		w = strings.TrimPrefix(w, "if=")
		if strings.HasPrefix(w, "of=") || strings.HasPrefix(w, "-") || !secretFile(Clean(a.Dir, w)) {
			continue
		}
		if a.Name == "scp" || a.Name == "rsync" && strings.Contains(strings.Join(a.Words, " "), ":") {
			return HarmSend
		}
		return HarmSecret
	}
	return ""
}

// holdsSecretVariable reports whether a text names a variable that was never set and whose name
// says that it holds a secret.
func holdsSecretVariable(text string) bool {
	for _, v := range unsetVariable.FindAllString(text, 8) {
		words := SplitName(v)
		for i, w := range words {
			if secretWords()[w] || i > 0 && w == "key" && (words[i-1] == "api" || words[i-1] == "access" || words[i-1] == "private" || words[i-1] == "secret") {
				return true
			}
		}
	}
	return false
}

// ownersToken is the file whose content lets its reader act as the owner of a router.
const ownersToken = "owner.token"

// namesOnly are programs that show nothing of a file which they name.
var namesOnly = strings.Fields("ls stat file test [ [[ chmod chown du find fd readlink realpath basename dirname echo printf touch rm shred unlink git gh skillrouter which locate log true")

// ownerHarm is the harm of an act that shows, copies or sends the owner's token.
func (a *Act) ownerHarm() Harm {
	if slices.Contains(namesOnly, a.Name) || strings.HasPrefix(a.Name, "(") && a.Name != ReadsFile {
		return ""
	}
	words := a.Words
	if slices.Contains(strings.Fields("grep egrep fgrep rg ag jq sed"), a.Name) && len(words) > 0 && len(a.Options["regexp"])+len(a.Options["e"])+len(a.Options["f"]) == 0 {
		words = words[1:]
	}
	if slices.ContainsFunc(words, a.ownerFile) {
		return HarmApprove
	}
	for _, values := range a.Options {
		if slices.ContainsFunc(values, a.ownerFile) {
			return HarmApprove
		}
	}
	return ""
}

// guarded reports whether a path is of a file that shows what nobody should be told.
func guarded(p string) bool { return secretFile(p) || path.Base(p) == ownersToken }

// ownerFile reports whether a word names the owner's token, or may by a pattern in the folder of a router's data.
func (a *Act) ownerFile(word string) bool {
	for _, cut := range []string{"@", "=", ":"} {
		if _, rest, ok := strings.Cut(word, cut); ok && a.ownerFile(rest) {
			return true
		}
	}
	p := Clean(a.Dir, strings.TrimPrefix(word, "file://"))
	base := path.Base(p)
	switch {
	case strings.EqualFold(base, ownersToken):
		return true
	case !Patterned(base) || !anyGlob([]string{strings.ReplaceAll(strings.ReplaceAll(base, string(AnyText), "*"), string(Unknown), "*")}, ownersToken):
		return false
	case strings.HasPrefix(base, "owner") || strings.HasSuffix(base, ".token"):
		return true
	}
	return slices.ContainsFunc(Parts(path.Dir(p)), func(part string) bool { return strings.Contains(part, "skillrouter") })
}
