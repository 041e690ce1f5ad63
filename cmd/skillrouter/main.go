// Command skillrouter is the sidecar and everything that talks to it.
package main

import (
	"os"

	"github.com/skillrouter/skillrouter/cmd/cli"
	"github.com/skillrouter/skillrouter/cmd/process"
)

func main() {
	ctx, stop := process.Context()
	code := cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
