package folder

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// maxSlug bounds the readable part of a file's name, in bytes: with the rest it
// stays below what any file system takes.
const maxSlug = 60

// named are ids that are file names as they stand: lower case, so that no file
// system takes two of them for one.
var named = lazyregexp.New(`^[a-z0-9](?:[a-z0-9_-]|\.[a-z0-9_-]){0,78}$`)

// given tells an id that the router gave (a UUID), which no person would look for.
var given = lazyregexp.New(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// devices are names that Windows keeps for itself, whatever stands behind the first dot.
var devices = []string{
	"con", "prn", "aux", "nul", "com0", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
	"lpt0", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
}

// FileName is the path of a lesson that has no file yet, within the folder. It
// depends on the id, and for an id that names nothing on the title of that
// moment; a file that is there keeps its name.
func FileName(d lesson.Draft) string {
	name := d.ID
	device, _, _ := strings.Cut(name, ".")
	if !named.MatchString(name) || given.MatchString(name) || slices.Contains(devices, device) {
		sum := sha256.Sum256([]byte(d.ID))
		// 48 bits of the id keep two lessons of one title apart.
		name = strings.TrimPrefix(slug(d.Title)+"-"+hex.EncodeToString(sum[:6]), "-")
	}
	return path.Join(places[d.Level], name+".md")
}

// slug is a text as part of a file's name: lower-case ASCII letters and digits
// with single dashes, which may be none at all.
func slug(s string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(s) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case r >= 'A' && r <= 'Z':
			b.WriteRune(r + 'a' - 'A')
		case unicode.Is(unicode.Mn, r): // an accent that NFKD took off its letter
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= maxSlug {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}
