// Command skillrouter is the sidecar and everything that talks to it.
package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"skillrouter/cmd/cli"
)

func main() {
	// What is ignored, as by nohup or a script that starts it in the background, stays ignored.
	signals := slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
	ctx, stop := context.WithCancel(context.Background())
	if len(signals) > 0 { // none would mean all
		ctx, stop = signal.NotifyContext(ctx, signals...)
	}
	code := cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
