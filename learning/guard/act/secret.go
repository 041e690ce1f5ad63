package act

import (
	"path"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

// secretFile reports whether a path is of a file that holds secrets. Of a pattern only that of a whole folder may be one.
func secretFile(p string) bool {
	if base := path.Base(p); Patterned(base) && base != string(AnyText) {
		p = path.Dir(p)
	}
	return slices.ContainsFunc(harms().places["read"], func(row placeRow) bool { return row.fits(&Effect{Path: p}, "read", p) })
}

// secretHarm is the harm of an act that shows, copies or sends a secret.
func (a *Act) secretHarm() Harm {
	sends := sending()[a.Name]
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
	case keeping()[a.Name], strings.HasPrefix(a.Name, "("), IsShell(a.Name):
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
	words := a.searched()
	if n := len(words); n > 1 && slices.Contains([]string{"cp", "scp", "rsync", "install"}, a.Name) { // the target is only written
		words = words[:n-1]
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

// guardFiles are the files whose content lets its reader act as the owner of a router, or sign what the guard believes.
var guardFiles = wordlist.Set(wordsText, "files of the guard")

// ownerHarm is the harm of an act that shows, copies or sends such a file.
func (a *Act) ownerHarm() Harm {
	if naming()[a.Name] || strings.HasPrefix(a.Name, "(") && a.Name != ReadsFile {
		return ""
	}
	for _, values := range a.Options {
		if slices.ContainsFunc(values, a.ownerFile) {
			return HarmApprove
		}
	}
	if slices.ContainsFunc(a.searched(), a.ownerFile) {
		return HarmApprove
	}
	return ""
}

// searched are an act's operands without what a program that searches looks for.
func (a *Act) searched() []string {
	if searching()[a.Name] && len(a.Words) > 0 && len(a.Options["regexp"])+len(a.Options["e"])+len(a.Options["f"]) == 0 {
		return a.Words[1:]
	}
	return a.Words
}

// guarded reports whether a path is of a file that shows what nobody should be told.
func guarded(p string) bool { return secretFile(p) || guardFiles()[path.Base(p)] }

// ownerFile reports whether a word names a file of the guard, the folder of a router's data, or by a pattern what may be one in it.
func (a *Act) ownerFile(word string) bool {
	for _, cut := range []string{"@", "=", ":"} {
		if _, rest, ok := strings.Cut(word, cut); ok && a.ownerFile(rest) {
			return true
		}
	}
	p := Clean(a.Dir, strings.TrimPrefix(word, "file://"))
	base, folder := path.Base(p), path.Dir(p)
	if NameFits(base, "skillrouter") && slices.Contains([]string{"share", "Application Support", "Local"}, path.Base(folder)) {
		return true
	}
	for name := range guardFiles() {
		switch {
		case strings.EqualFold(base, name):
			return true
		case !Patterned(base) || !anyGlob([]string{strings.ReplaceAll(strings.ReplaceAll(base, string(AnyText), "*"), string(Unknown), "*")}, name):
		case name == "owner.token" && (strings.HasPrefix(base, "owner") || strings.HasSuffix(base, ".token")),
			slices.ContainsFunc(Parts(folder), func(part string) bool {
				return strings.Contains(part, "skillrouter") || part != string(AnyText) && NameFits(part, "skillrouter")
			}):
			return true
		}
	}
	return false
}
