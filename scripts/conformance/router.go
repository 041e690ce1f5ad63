package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// startTime bounds how long the program may take until it answers.
const startTime = 30 * time.Second

// router is the built program, under way on a data folder of its own.
type router struct {
	program, url, data string
	stop               func()
}

// startRouter starts the program on a free port of loopback.
func startRouter(ctx context.Context, program, work string) (router, error) {
	program, err := filepath.Abs(program)
	if err != nil {
		return router{}, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return router{}, err
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return router{}, err
	}
	r := router{program: program, url: "http://" + address, data: filepath.Join(work, "data")}
	logPath := filepath.Join(work, "router.log")
	log, err := os.Create(logPath)
	if err != nil {
		return router{}, err
	}
	command := exec.CommandContext(ctx, program, "serve", "--listen", address, "--data", r.data)
	command.Stdout, command.Stderr = log, log
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = startTime
	if err := command.Start(); err != nil {
		return router{}, fmt.Errorf("%w: make build makes the program", err)
	}
	r.stop = func() {
		_ = command.Process.Signal(os.Interrupt)
		_ = command.Wait()
		_ = log.Close()
	}
	for end := time.Now().Add(startTime); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		answer, err := http.Get(r.url + "/health")
		if err != nil {
			continue
		}
		_ = answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			return r, nil
		}
	}
	r.stop()
	said, _ := os.ReadFile(logPath)
	return router{}, fmt.Errorf("%s does not answer at %s; it said:\n%s", program, r.url, said)
}
