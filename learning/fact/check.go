package fact

import (
	"bytes"
	"path"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
)

// checkKey holds a key to what can be put into a path and on one line.
func checkKey(key string) error { return learning.CheckKey("key", key, MaxKey) }

func checkRef(ref *Ref) (err error) {
	if ref.Persona, err = check.Persona(ref.Persona); err != nil {
		return err
	}
	return checkKey(ref.Key)
}

// checkTTL returns the seconds that a fact is to live; 0 is for ever.
func checkTTL(ttl *int64) (int64, error) {
	if ttl == nil {
		return DefaultTTL, nil
	}
	if *ttl < 0 || *ttl > MaxTTL {
		return 0, errs.InvalidField("ttl", "must lie between 0 (for ever) and %d seconds", MaxTTL)
	}
	return *ttl, nil
}

// prepared is a draft that was checked and redacted.
type prepared struct {
	Fact
	Redaction redact.Redaction
	ifVersion *int64
}

// Prepare checks a draft, its author apart, and cuts its secrets out.
func Prepare(draft Draft) (p prepared, err error) {
	f := &p.Fact
	f.Key, f.Trust, p.ifVersion = draft.Key, learning.TrustAgent, draft.IfVersion
	if f.Persona, err = check.Persona(draft.Persona); err != nil {
		return p, err
	}
	if err = checkKey(draft.Key); err != nil {
		return p, err
	}
	if f.Category, err = learning.CheckFactCategory(draft.Category); err != nil {
		return p, err
	}
	if f.TTL, err = checkTTL(draft.TTL); err != nil {
		return p, err
	}
	if v := draft.IfVersion; v != nil && *v < 0 {
		return p, errs.InvalidField("if_version", "may not be negative")
	}
	if text := bytes.TrimSpace(draft.Value); len(text) == 0 || bytes.Equal(text, []byte("null")) {
		return p, errs.InvalidField("value", "is required: any JSON but null, which stands for what is not there")
	}
	if f.Value, err = learning.CleanJSON(&p.Redaction, "value", draft.Value, MaxValue); err != nil {
		return p, err
	}
	if f.Probe, err = p.text("probe", draft.Probe, MaxProbe); err != nil {
		return p, err
	}
	if err = check.Text("source", draft.Source, learning.MaxSource); err != nil { // before NUL becomes a space
		return p, err
	}
	f.Source, err = p.text("source", check.OneLine(draft.Source), learning.MaxSource)
	return p, err
}

// text checks a text and cuts its secrets out.
func (p *prepared) text(field, text string, most int) (string, error) {
	if err := check.Text(field, text, most); err != nil {
		return "", err
	}
	return p.Redaction.Cut(text), nil
}

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
