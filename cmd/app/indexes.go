package app

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"skillrouter/learning"
	"skillrouter/router"
	"skillrouter/tfidf/keep"
)

// indexesFolder is where the snapshots of the search indexes lie, in the data
// folder. They are made from the databases, and can be deleted at any time.
const indexesFolder = "index"

// learningOptions are the settings of the services of learning.db that keep an index.
func (a *App) learningOptions() learning.Options {
	return learning.Options{Now: a.now, Log: a.log, Indexes: filepath.Join(a.config.Data, indexesFolder), Follows: a.aside != nil}
}

// namedIndex is a search index as health, doctor and the metrics see it.
type namedIndex struct {
	name  string
	state func() keep.State
}

var (
	indexReadDesc    = prometheus.NewDesc("skillrouter_index_read_ratio", "How much of what a search index is to hold it has read, 1 when it is whole.", []string{"index"}, nil)
	indexUnsavedDesc = prometheus.NewDesc("skillrouter_index_unsaved", "Changes of a search index since its newest snapshot, which the next start reads.", []string{"index"}, nil)
	indexSavedDesc   = prometheus.NewDesc("skillrouter_index_saved_timestamp_seconds", "When the newest snapshot of a search index was saved, 0 if there is none.", []string{"index"}, nil)
)

func collectIndex(ch chan<- prometheus.Metric, index namedIndex) {
	s := index.state()
	saved := 0.0
	if !s.Saved.IsZero() {
		saved = float64(s.Saved.UnixMilli()) / 1000
	}
	for desc, value := range map[*prometheus.Desc]float64{
		indexReadDesc: float64(s.Percent) / 100, indexUnsavedDesc: float64(s.Unsaved), indexSavedDesc: saved,
	} {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, index.name)
	}
}

// stateOf is the state of an index in a word or two, for GET /health.
func stateOf(s keep.State) string {
	if s.Stage == keep.Complete || s.Stage == keep.Unread {
		return s.Stage.String()
	}
	return fmt.Sprintf("%s, %d %% read", s.Stage, s.Percent)
}

// checkSnapshot is doctor's look at how an index is kept. One that is being
// rebuilt is no fault: searches say so, and it mends itself.
func checkSnapshot(index namedIndex, now time.Time) router.SystemCheck {
	s := index.state()
	c := router.SystemCheck{Name: index.name + " snapshot", OK: s.SaveFailed == "" && s.Failed == "", Detail: stateOf(s)}
	if s.Saved.IsZero() {
		c.Detail += ", not saved yet"
	} else {
		c.Detail += fmt.Sprintf(", saved %s ago, %d changes since", now.Sub(s.Saved).Round(time.Second), s.Unsaved)
	}
	if s.Refused != "" {
		c.Detail += "; the one at the start was not used: " + s.Refused
	}
	if s.Failed != "" {
		c.Detail += "; it cannot be read from the database: " + s.Failed
	}
	if s.SaveFailed != "" {
		c.Detail += "; it cannot be saved: " + s.SaveFailed
	}
	return c
}
