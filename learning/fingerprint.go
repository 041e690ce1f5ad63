package learning

import (
	"crypto/sha256"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Fingerprint is the same for entries of the same content. It is half of a SHA-256 over the
// project and the normalised title and content. With 128 bits two different entries do not
// get the same one by chance.
type Fingerprint [16]byte

// FingerprintOf normalises title and content and hashes them. The project is a
// name and is compared exactly.
func FingerprintOf(project, title, content string) Fingerprint {
	// NUL separates the parts: no text may hold it.
	buf := make([]byte, 0, len(project)+len(title)+len(content)+2)
	buf = append(append(buf, project...), 0)
	buf = append(AppendNormal(buf, title), 0)
	buf = AppendNormal(buf, content)
	sum := sha256.Sum256(buf)
	return Fingerprint(sum[:16])
}

// AppendNormal appends text as it is compared: Unicode NFC, case folded, each
// run of white space one space, none at either end.
func AppendNormal(buf []byte, text string) []byte {
	// Folding can undo the composition (U+0390 folds to three runes), and so it is
	// composed again; https://www.unicode.org/reports/tr15/#Detecting_Normalization_Forms
	text = norm.NFC.String(cases.Fold().String(norm.NFC.String(text)))
	return append(buf, strings.Join(strings.Fields(text), " ")...)
}
