// Command skillrouter-hook is `skillrouter hook` for agents that wait for it: it
// links only what asks a running router, and hands everything else over to the
// program skillrouter that lies beside it.
package main

import (
	"os"

	"github.com/skillrouter/skillrouter/cmd/hook/respond"
	"github.com/skillrouter/skillrouter/cmd/process"
)

func main() {
	ctx, stop := process.Context()
	code := respond.Small(ctx, os.Args)
	stop()
	os.Exit(code)
}
