package learning

import (
	"log/slog"

	"skillrouter/internal/clock"
	"skillrouter/internal/defaults"
)

// Options are the settings of the services. The zero value is usable.
type Options struct {
	Now clock.Clock  // time.Now if nil
	Log *slog.Logger // discards if nil
	// Indexes is the folder of the snapshots of the search indexes, which is made if
	// it is not there. Empty: none are kept, and each start reads everything.
	Indexes string
	// Follows: another router writes into the database, and what it writes is taken in by Follow.
	Follows bool
}

// WithDefaults fills in what is not set: the clock, and a log that is discarded.
func (o Options) WithDefaults() Options {
	o.Now = o.Now.Given()
	o.Log = defaults.Log(o.Log)
	return o
}
