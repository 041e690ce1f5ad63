package app

import (
	"context"
	"errors"

	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/cluster"
	"github.com/skillrouter/skillrouter/router/feed"
)

// DoctorCheck is a line of doctor.
type DoctorCheck = router.SystemCheck

// SilentGrace is for the test of a stop.
const SilentGrace = silentGrace

// DataOf, HealthOf and DoctorOf are for tests that look past authentication.
func CheckAirgapped(c config.Config) error                      { return checkAirgapped(c) }
func DataOf(a *App) string                                      { return a.config.Data }
func HealthOf(ctx context.Context, a *App) router.Health        { return a.health(ctx) }
func DoctorOf(ctx context.Context, a *App) []router.SystemCheck { return a.doctor(ctx) }

// SweepAll removes what was kept long enough and what running parts remove in time.
func SweepAll(ctx context.Context, a *App) error {
	for first := int64(-1); ; {
		err := a.wired.feed.(*feed.Feed).Sweep(ctx)
		if err == nil {
			_, err = a.wired.experiences.Sweep(ctx)
		}
		for at, more := int64(0), true; more && err == nil; more = at > 0 {
			at, err = a.wired.mailbox.Sweep(ctx, at)
		}
		now, failed := a.wired.operations.FirstEvent(ctx)
		if err = errors.Join(err, failed); err != nil || now == first {
			return err
		}
		first = now
	}
}

// LookEvery is how often the certificate's files are looked at.
const LookEvery = lookEvery

// Streams is how many agents listen to a node.
func (a *App) Streams() int {
	if on := a.front.following.Load(); on != nil {
		return on.mailbox.Streams()
	}
	return a.front.writing.Load().mailbox.Streams()
}

// BeDeaf has nodes that follow take in nothing until it is taken back.
func BeDeaf() (hear func()) {
	takes = func(*following, context.Context, cluster.Heads, cluster.Heads) error { return nil }
	return func() { takes = (*following).take }
}

// Follows tells whether a node answers by what it knows.
func (a *App) Follows() bool { return a.front.following.Load() != nil }
