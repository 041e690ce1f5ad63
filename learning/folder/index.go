package folder

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// SchemaVersion is that of index.json, as the original lessons folder's tools write it.
const SchemaVersion = "1.0.0"

// Index is index.json: what a search needs of every lesson, without their texts.
// The order of the fields is the order of the keys in the file.
type Index struct {
	SchemaVersion string   `json:"schemaVersion"`
	GeneratedAt   string   `json:"generatedAt"` // RFC 3339, UTC
	Stats         Stats    `json:"stats"`
	Lessons       []Listed `json:"lessons"` // by level (case, pattern, principle), then id
}

// Stats counts the lessons of an index.
type Stats struct {
	Total   int `json:"total"`
	ByLevel struct {
		Case      int `json:"case"`
		Pattern   int `json:"pattern"`
		Principle int `json:"principle"`
	} `json:"byLevel"`
	ByStatus struct {
		Candidate int `json:"candidate"`
		Validated int `json:"validated"`
		Canonical int `json:"canonical"`
		Retired   int `json:"retired"`
	} `json:"byStatus"`
}

// Listed is a lesson in an index: the original lessons folder's front-matter keys, and the file's path.
type Listed struct {
	ID              string        `json:"id"`
	Level           lesson.Level  `json:"level"`
	Status          lesson.Status `json:"status"`
	Tags            []string      `json:"tags"`
	Confidence      int           `json:"confidence"`
	Transferability int           `json:"transferability"`
	SourceCaseIDs   []string      `json:"source_case_ids"`
	LastValidatedAt *string       `json:"last_validated_at"` // a date; null or nothing in others' indexes
	Title           string        `json:"title"`
	Summary         string        `json:"summary"`
	Path            string        `json:"path"` // within the repository, with slashes
}

// listed is what an index says of a lesson.
func listed(d lesson.Draft) Listed {
	l := Listed{
		ID: d.ID, Level: d.Level, Status: d.Status, Tags: defaults.List(slices.Sorted(slices.Values(d.Tags))), Confidence: Stars(*d.Confidence), Transferability: d.Transferability,
		SourceCaseIDs: defaults.List(d.SourceCaseIDs), Title: d.Title, Summary: d.Context,
	}
	if d.LastValidatedAt != nil {
		l.LastValidatedAt = new(d.LastValidatedAt.UTC().Format(time.DateOnly))
	}
	return l
}

// Index is the index of the folder's files as of now. A lesson that was never
// validated is listed with a date all the same, as the original's tools do: the one
// that the present index has, so that it stays, or else today's.
func (d *Dir) Index(files []File, now time.Time) Index {
	dates := map[string]*string{}
	if text, err := d.read(IndexName, MaxIndex); err == nil {
		if before, err := readIndex(text); err == nil {
			for _, l := range before.Lessons {
				if l.LastValidatedAt != nil && *l.LastValidatedAt != "" {
					dates[l.ID] = l.LastValidatedAt
				}
			}
		}
	}
	place, today := d.place(), now.UTC().Format(time.DateOnly)
	index := Index{SchemaVersion: SchemaVersion, GeneratedAt: stamp(now), Lessons: make([]Listed, 0, len(files))}
	index.Stats.Total = len(files)
	levels, statuses := map[lesson.Level]int{}, map[lesson.Status]int{}
	for _, f := range files {
		levels[f.Draft.Level]++
		statuses[f.Draft.Status]++
		l := listed(f.Draft)
		l.Path = path.Join(place, f.Path)
		if l.LastValidatedAt == nil {
			l.LastValidatedAt = cmp.Or(dates[l.ID], &today)
		}
		index.Lessons = append(index.Lessons, l)
	}
	index.Stats.ByLevel.Case, index.Stats.ByLevel.Pattern = levels[lesson.LevelCase], levels[lesson.LevelPattern]
	index.Stats.ByLevel.Principle = levels[lesson.LevelPrinciple]
	index.Stats.ByStatus.Candidate, index.Stats.ByStatus.Validated = statuses[lesson.StatusCandidate], statuses[lesson.StatusValidated]
	index.Stats.ByStatus.Canonical, index.Stats.ByStatus.Retired = statuses[lesson.StatusCanonical], statuses[lesson.StatusRetired]
	slices.SortFunc(index.Lessons, func(a, b Listed) int {
		return cmp.Or(cmp.Compare(rank(a.Level), rank(b.Level)), strings.Compare(a.ID, b.ID))
	})
	return index
}

// WriteIndex writes index.json. One that says the same already is left alone,
// so that a folder under version control changes only when lessons do.
func (d *Dir) WriteIndex(index Index) (written bool, err error) {
	text, err := encode(index)
	if err != nil {
		return false, err
	}
	if old, err := d.read(IndexName, MaxIndex); err == nil {
		var before Index
		if json.Unmarshal(old, &before) == nil {
			same := index
			same.GeneratedAt = before.GeneratedAt
			if again, err := encode(same); err == nil && bytes.Equal(again, old) {
				return false, nil
			}
		}
	}
	return true, d.write(IndexName, text)
}

// readIndex reads an index that this or another program wrote: keys that it
// has beyond the original lessons folder's are passed over, a list that it lacks is empty.
func readIndex(text []byte) (Index, error) {
	var index Index
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &index); err != nil {
		return index, errs.Wrap(errs.Invalid, err, "index.json is not the index of a lessons folder")
	}
	if major, _, _ := strings.Cut(index.SchemaVersion, "."); major != "1" {
		return index, errs.Errorf(errs.Invalid, "the index has schema version %q, and 1.x is what can be read", index.SchemaVersion)
	}
	return index, nil
}

// rank is a level's place among the levels, the least general first.
func rank(level lesson.Level) int { return slices.Index(lesson.Levels(), level) }

// stamp is a time as the files have it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// missing tells an error that means that a file is not there.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
