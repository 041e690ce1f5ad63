package learning

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/cases"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// CheckIDs checks a list of at most so many ids.
func CheckIDs(field string, ids []string, most int) error {
	if len(ids) > most {
		return errs.InvalidField(field, "are more than %d", most)
	}
	for _, id := range ids {
		if err := CheckID(field, id); err != nil {
			return err
		}
	}
	return nil
}

// CheckID holds a client's own id to what can be put into a path and a log line.
func CheckID(field, id string) error { return CheckKey(field, id, MaxID) }

// CheckKey is CheckID for what may have most bytes.
func CheckKey(field, id string, most int) error {
	switch {
	case len(id) > most:
		return errs.InvalidField(field, "is longer than %d bytes", most)
	case id == "":
		return errs.InvalidField(field, "is required")
	case id == "." || id == "..":
		return errs.InvalidField(field, "may not be . or .., which no path can hold")
	case !utf8.ValidString(id):
		return errs.InvalidField(field, "is not valid UTF-8")
	case strings.TrimSpace(id) != id:
		return errs.InvalidField(field, "may not begin or end with white space")
	case strings.ContainsFunc(id, check.BreaksLine):
		return errs.InvalidField(field, "may not hold control characters or line breaks")
	}
	return check.NoSecret(field, id)
}

// CheckCategory refuses a category that is missing, too long or no name.
func CheckCategory(category string) error {
	return CheckRequiredName("category", category)
}

// CheckRequiredName refuses a name that is missing, too long or none.
func CheckRequiredName(field, name string) error {
	if strings.TrimSpace(name) == "" {
		return errs.InvalidField(field, "is required")
	}
	return check.Name(field, name)
}

// CheckTitle refuses a title that is missing or longer than MaxTitle bytes.
func CheckTitle(title string) error {
	return check.Required("title", title, MaxTitle)
}

// CheckContent refuses a text that is missing or longer than MaxContent bytes.
func CheckContent(content string) error {
	return check.Required("content", content, MaxContent)
}

// CleanTags trims tags, drops repeats and keeps their order. It never returns nil.
func CleanTags(tags []string) ([]string, error) {
	clean := make([]string, 0, len(tags))
	for _, tag := range tags {
		if err := check.Name("tags", tag); err != nil {
			return nil, err
		}
		tag = strings.TrimSpace(tag)
		if tag == "" {
			return nil, errs.InvalidField("tags", "may not hold an empty tag")
		}
		if !slices.Contains(clean, tag) {
			clean = append(clean, tag)
		}
		if len(clean) > MaxTags {
			return nil, errs.InvalidField("tags", "may hold at most %d tags", MaxTags)
		}
	}
	return clean, nil
}

// FoldTags returns the tags as filters compare them: without case.
func FoldTags(tags []string) []string {
	if len(tags) == 0 {
		return nil
	}
	folded := make([]string, len(tags))
	for i, tag := range tags {
		folded[i] = Fold(tag)
	}
	return folded
}

// Fold returns a text without case, as names are compared.
func Fold(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return cases.Fold().String(s)
		}
	}
	return strings.ToLower(s)
}

// ReadCursor returns the number of the last row of the page before; 0 if the
// cursor is empty, for the first page. One that no listing answered is Invalid.
func ReadCursor(cursor string) (before int64, err error) {
	if cursor == "" {
		return 0, nil
	}
	if before, err = strconv.ParseInt(cursor, 10, 64); err != nil || before < 1 {
		return 0, errs.InvalidField("cursor", "is not one that a listing answered")
	}
	return before, nil
}

// CheckQuery refuses a question that is missing or longer than MaxQuery bytes.
func CheckQuery(query string) error {
	return check.Required("query", query, MaxQuery)
}

// CheckSpan refuses a span of time that ends before it begins.
func CheckSpan(since, until time.Time) error {
	if !since.IsZero() && !until.IsZero() && until.Before(since) {
		return errs.InvalidField("until", "lies before since")
	}
	return nil
}

// MayChange returns a Forbidden error unless p is the author or a captain. Its
// reason is such as "learned this lesson: only that agent".
func MayChange(p principal.Principal, author, reason string) error {
	if p.Has(principal.ScopeCaptain) || p.Has(principal.ScopeAgent) && p.Is(author) {
		return nil
	}
	return errs.Errorf(errs.Forbidden, "another agent %s or a captain may change it", reason)
}

// MayReplace returns a Forbidden error unless p may write over or delete what
// owner wrote last for a persona: as that agent, or as a captain; for the personas
// that are everybody's, any agent may. A captain alone may where nobody in
// particular wrote it, such as a file that a person edits.
func MayReplace(p principal.Principal, persona, owner string) error {
	if persona == check.DefaultPersona || persona == check.SharedPersona || owner != "" && p.ActAs(owner) == nil || p.Has(principal.ScopeCaptain) {
		return nil
	}
	return errs.Errorf(errs.Forbidden, "another agent wrote this for the persona %s: only that agent or a captain may change it; what is for the persona %s or %s any agent may",
		persona, check.DefaultPersona, check.SharedPersona)
}

// Place is where in a project's repository an entry was made: it holds there first.
type Place struct {
	Folder string `json:"folder,omitempty" here:"folder" doc:"Folder below the repository's root that it was made in"` // with slashes; empty: the root, or nobody said
	Branch string `json:"branch,omitempty" here:"branch" doc:"Branch that it was made on"`
}

// Apart tells whether two places are in folders of which neither holds the other: what is said of the one is not said of the other.
func (p Place) Apart(other Place) bool {
	return !Within(p.Folder, other.Folder) && !Within(other.Folder, p.Folder)
}

// Within tells whether a folder of the repository is another one or lies below it; every folder lies below the root, whose name is empty.
func Within(folder, other string) bool {
	return other == "" || strings.HasPrefix(folder+"/", other+"/")
}

// CheckPlace checks a place.
func CheckPlace(p Place) error {
	return cmp.Or(check.Text("folder", p.Folder, check.MaxPlace), check.Text("branch", p.Branch, check.MaxPlace))
}
