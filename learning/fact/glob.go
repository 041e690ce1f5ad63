package fact

import (
	"path"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// glob is a pattern of Query: one of path.Match in which * and ? take slashes too, and [! is [^.
type glob struct {
	pattern string
	prefix  string // what every match begins with
}

// meta are the characters of a pattern that mean others.
const meta = `*?[\`

// unslashed makes a text one without slashes, which path.Match keeps apart. No key and no pattern holds the character NUL.
var unslashed = strings.NewReplacer("/", "\x00")

// compileGlob checks a pattern of Query.
func compileGlob(pattern string) (*glob, error) {
	if err := check.Text("pattern", pattern, MaxPattern); err != nil {
		return nil, err
	}
	g := &glob{pattern: strings.NewReplacer(`\\`, `\\`, `\[`, `\[`, "[!", "[^", "/", "\x00").Replace(pattern)}
	if _, err := path.Match(g.pattern, ""); err != nil {
		return nil, errs.InvalidField("pattern", `is no pattern: a [ has no ], or nothing follows a \`)
	}
	if g.prefix = pattern; strings.ContainsAny(pattern, meta) {
		g.prefix = pattern[:strings.IndexAny(pattern, meta)]
	}
	return g, nil
}

// MatchString tells whether a key fits.
func (g *glob) MatchString(key string) bool {
	fits, _ := path.Match(g.pattern, unslashed.Replace(key)) // compileGlob has tried the pattern
	return fits
}
