package operational

import (
	"time"

	"skillrouter"
)

// stamp is the present as the store keeps it, to the millisecond, so that an
// answer shows the time that is read back later.
func stamp(now skillrouter.Clock) time.Time { return now().UTC().Truncate(time.Millisecond) }
