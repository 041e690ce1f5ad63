// Package folder is a lessons folder on disk, as the original lessons folder lays it out: cases/,
// patterns/ and principles/ with a Markdown file per lesson, and index.json. It
// owns the files' format and names, how a folder and the router's lessons are
// brought together, the shortlist before a task (preflight), the workflow guard,
// and reading free Markdown notes. It must not know HTTP, a database or how the
// router is found: lessons go to and come from a lesson.Service.
package folder

import (
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Bounds of a folder.
const (
	// MaxFile bounds a lesson's file, in bytes: the longest body and front matter.
	MaxFile = learning.MaxContent + MaxFrontMatter
	// MaxFrontMatter bounds a file's front matter, in bytes. What the YAML library
	// takes for this much of the worst input is some seconds.
	MaxFrontMatter = 1 << 20
	// MaxIndex bounds index.json, in bytes: 100,000 lessons with long summaries.
	MaxIndex = 128 << 20
	// MaxFiles bounds how many files of a folder are read.
	MaxFiles = 200_000
	// MaxDepth bounds folders within cases, patterns and principles.
	MaxDepth = 8
)

// IndexName is the file of a folder that lists its lessons.
const IndexName = "index.json"

// places names the folder of each level.
var places = map[lesson.Level]string{
	lesson.LevelCase: "cases", lesson.LevelPattern: "patterns", lesson.LevelPrinciple: "principles",
}

// Trouble names a file, or a part of one, that was not taken, and why.
type Trouble struct {
	Path string `json:"path"` // within the folder, with slashes
	ID   string `json:"id,omitempty"`
	Why  string `json:"reason"`
}
