package app

import (
	"path/filepath"

	"skillrouter/learning"
)

// indexesFolder is where the snapshots of the search indexes lie, in the data
// folder. They are made from the databases, and can be deleted at any time.
const indexesFolder = "index"

// learningOptions are the settings of the services of learning.db that keep an index.
func (a *App) learningOptions() learning.Options {
	return learning.Options{Now: a.now, Log: a.log, Indexes: filepath.Join(a.config.Data, indexesFolder)}
}
