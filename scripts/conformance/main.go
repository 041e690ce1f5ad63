// Command conformance runs the official conformance suites of the Model
// Context Protocol, and its Inspector, against the router's MCP server: the
// suites both against a fixture that has the tools they call by name, and
// against the built program; the Inspector against the program, over both
// transports. It fails when a result is another than expected-failures.txt says.
//
// It needs npm; what it installs goes to the folder .cache beside this file.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/skillrouter/skillrouter/scripts/bench/sidecar"
	"github.com/skillrouter/skillrouter/scripts/conformance/fixture"
	"github.com/skillrouter/skillrouter/scripts/page"
)

// The marks between which docs/mcp.md has the results.
const (
	resultsBegin = "<!-- results of make conformance; written by go run ./scripts/conformance -update -->\n"
	resultsEnd   = "<!-- /results -->"
)

func main() {
	program := flag.String("program", "bin/skillrouter", "the built program")
	root := flag.String("root", ".", "the repository's root")
	update := flag.Bool("update", false, "write the results into docs/mcp.md")
	keep := flag.String("results", "", "folder to keep the suites' own results in; default: none are kept")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, *root, *program, *keep, *update)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, root, program, keep string, update bool) error {
	home := filepath.Join(root, "scripts", "conformance")
	text, err := os.ReadFile(filepath.Join(home, "expected-failures.txt"))
	if err != nil {
		return err
	}
	known, err := parseExpected(string(text))
	if err != nil {
		return err
	}
	tools, err := install(ctx, out, home)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "skillrouter-conformance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if keep == "" {
		keep = filepath.Join(work, "results")
	}
	fixtureURL, stop, err := serveFixture()
	if err != nil {
		return err
	}
	defer stop()
	if program, err = filepath.Abs(program); err != nil {
		return err
	}
	data := filepath.Join(work, "data")
	side, err := sidecar.StartBinary(ctx, program, data)
	if err != nil {
		return fmt.Errorf("%s: %w; make build makes the program", program, err)
	}
	defer side.Stop()

	var runs []result
	for _, at := range []struct{ name, url string }{{"fixture", fixtureURL}, {"router", side.Base}} {
		for _, s := range suites {
			found, err := tools.runSuite(ctx, s, at.name, at.url+"/mcp", keep)
			if err != nil {
				return err
			}
			runs = append(runs, found)
		}
	}
	unexpected := known.compare(runs)
	report := table(runs)
	fmt.Fprint(out, report)
	for _, line := range unexpected {
		fmt.Fprintln(out, line)
	}
	inspected, err := tools.inspect(ctx, out, program, side, data, work)
	if err != nil {
		return err
	}
	if len(unexpected) > 0 {
		return fmt.Errorf("%d results are not what expected-failures.txt says", len(unexpected))
	}
	if update {
		return page.Update(filepath.Join(root, "docs", "mcp.md"), resultsBegin, resultsEnd, "\n"+report+"\n"+inspected+"\n")
	}
	return nil
}

// serveFixture serves the fixture on a free port of loopback.
func serveFixture() (url string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	handler, end := fixture.Handler()
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(os.Stderr, "conformance: the fixture:", err)
		}
	}()
	return "http://" + listener.Addr().String(), func() { _ = end(); _ = server.Close() }, nil
}
