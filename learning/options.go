package learning

import (
	"log/slog"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/defaults"
)

// Options are the settings of the services. The zero value is usable.
type Options struct {
	Now clock.Clock  // time.Now if nil
	Log *slog.Logger // discards if nil
}

// WithDefaults fills in what is not set: the clock, and a log that is discarded.
func (o Options) WithDefaults() Options {
	o.Now = o.Now.Given()
	o.Log = defaults.Log(o.Log)
	return o
}
