package folder

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"path"
	"strings"

	"skillrouter/internal/check"
)

// specDocuments are the documents that a feature's specification begins with.
//
//go:embed spec/*.md
var specDocuments embed.FS

// DefaultSpecRoot is where specifications lie if the policy does not say.
const DefaultSpecRoot = ".specs"

// InitSpec writes the documents of a feature's specification, and returns their paths from the repository's root. One that is
// there stays and is not among them, unless it is forced.
func InitSpec(root string, policy Policy, feature string, force bool) (written []string, err error) {
	feature = check.OneLine(feature)
	if err := check.Required("feature", feature, check.MaxName); err != nil {
		return nil, err
	}
	dir, err := Open(root, false)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	sum := sha256.Sum256([]byte(feature))
	name := cmp.Or(slug(feature), "feature-"+hex.EncodeToString(sum[:4])) // of a script without ASCII letters
	for _, document := range []string{"design.md", "requirements.md", "tasks.md"} {
		text, err := specDocuments.ReadFile("spec/" + document)
		if err != nil {
			return written, err
		}
		place := path.Join(cmp.Or(policy.SpecRoot, DefaultSpecRoot), name, document)
		if _, err := dir.root.Lstat(place); err == nil && !force {
			continue
		}
		if err := dir.write(place, []byte(strings.ReplaceAll(string(text), "{{feature}}", feature))); err != nil {
			return written, err
		}
		written = append(written, place)
	}
	return written, nil
}
