// Package process is what a program does with processes, its own among them,
// and what platforms do differently there: which signals end it, how it starts
// one that outlives it, and how another program takes its place. It must know
// nothing of what a process does.
package process

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

// Context returns a context that ends when this process is asked to, by an
// interrupt, a hangup or a request to terminate. What is ignored, as by nohup or
// a script that starts it in the background, stays ignored. stop gives the
// signals their usual meaning again.
func Context() (ctx context.Context, stop context.CancelFunc) {
	signals := slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
	if len(signals) == 0 { // none would mean all
		return context.WithCancel(context.Background())
	}
	return signal.NotifyContext(context.Background(), signals...)
}
