//go:build unix

package cli

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// child is the wrapped command: the leader of a process group of its own, so
// that it can be signalled with all it started, and so that the terminal's
// signals reach it from the terminal alone and not a second time from here.
type child struct {
	pid      int
	tty      *os.File // the controlling terminal, or nil
	paused   atomic.Bool
	signals  chan os.Signal
	resumed  chan os.Signal
	finished chan struct{}
}

// forwarded are the signals that are passed on when somebody sends them to the
// wrapper. SIGTSTP is not among them: it keeps its default effect, see yield.
var forwarded = []os.Signal{
	unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2, unix.SIGWINCH,
}

// startChild starts the program with this process's terminal and, if this
// process is in the terminal's foreground, puts it there instead.
func startChild(program string, args, env []string) (*child, error) {
	c := &child{
		signals: make(chan os.Signal, 16), resumed: make(chan os.Signal, 1), finished: make(chan struct{}),
	}
	// Caught before the start, so that none is lost, and none ends the wrapper alone.
	for _, s := range forwarded {
		if !signal.Ignored(s) { // by nohup, or a script's shell: the child is to ignore it too
			signal.Notify(c.signals, s)
		}
	}
	signal.Notify(c.resumed, unix.SIGCONT)
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
		c.tty = tty
		if c.foreground() == unix.Getpgrp() {
			attributes.Foreground, attributes.Ctty = true, int(tty.Fd())
		}
	}
	process, err := os.StartProcess(program, args, &os.ProcAttr{
		Env: env, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: attributes,
	})
	if err != nil {
		c.release()
		return nil, err
	}
	// Set only now, because a child inherits what is ignored: giving the terminal
	// back from the background would stop this process.
	signal.Ignore(unix.SIGTTOU)
	c.pid = process.Pid
	_ = process.Release() // it is waited for here, to learn of stops too
	go c.forward()
	return c, nil
}

// forward passes signals on until the child has ended.
func (c *child) forward() {
	for {
		select {
		case s := <-c.signals:
			c.send(s.(syscall.Signal))
		case <-c.finished:
			return
		}
	}
}

// wait waits for the child's end, and takes part in the shell's job control.
func (c *child) wait() exit {
	defer c.release()
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(c.pid, &status, unix.WUNTRACED, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil: // somebody else has waited for it; nothing is known of its end
			return exit{code: exitFailed}
		case status.Stopped():
			if c.tty != nil && !c.paused.Load() {
				c.yield(status.StopSignal())
			}
		case status.Signaled():
			return exit{code: 128 + int(status.Signal()), signal: unix.SignalName(status.Signal())}
		case status.Exited():
			return exit{code: status.ExitStatus()}
		}
	}
}

// yield lets the shell see that its job has stopped, and has the child go on
// when the shell continues the job.
func (c *child) yield(by syscall.Signal) {
	own := unix.Getpgrp()
	wants := by == unix.SIGTTIN || by == unix.SIGTTOU
	if !wants || c.foreground() != own {
		c.give(own)
		select { // what came before is no answer
		case <-c.resumed:
		default:
		}
		// The default effect stops the whole job, this process with it, unless no shell
		// is there that could continue it: then the system discards the signal.
		_ = unix.Kill(0, unix.SIGTSTP)
		select {
		case <-c.resumed:
		case <-time.After(100 * time.Millisecond):
		}
	}
	if c.foreground() == own {
		c.give(c.pid)
	}
	c.send(unix.SIGCONT)
}

// foreground is the process group in the terminal's foreground; 0 if there is none.
func (c *child) foreground() int {
	if c.tty == nil {
		return 0
	}
	group, err := unix.IoctlGetInt(int(c.tty.Fd()), unix.TIOCGPGRP)
	if err != nil {
		return 0
	}
	return group
}

// give puts a process group into the terminal's foreground, if this job has it to give.
func (c *child) give(group int) {
	if now := c.foreground(); now != 0 && (now == c.pid || now == unix.Getpgrp()) {
		_ = unix.IoctlSetPointerInt(int(c.tty.Fd()), unix.TIOCSPGRP, group)
	}
}

// release ends the forwarding and takes the terminal back.
func (c *child) release() {
	signal.Stop(c.signals)
	signal.Stop(c.resumed)
	close(c.finished)
	if c.tty != nil {
		if c.pid != 0 {
			c.give(unix.Getpgrp())
		}
		_ = c.tty.Close()
	}
}

func (c *child) send(s syscall.Signal) { _ = unix.Kill(-c.pid, s) }

// end asks the child and what it started to end. A paused one must go on to hear it.
func (c *child) end() error {
	err := unix.Kill(-c.pid, unix.SIGTERM)
	c.send(unix.SIGCONT)
	return err
}

// kill ends what is left of the child and of what it started.
func (c *child) kill() { c.send(unix.SIGKILL) }

// left tells whether anything that the child started, and that stayed in its group, still runs.
func (c *child) left() bool { return unix.Kill(-c.pid, 0) == nil }

func (c *child) pause() error {
	c.paused.Store(true)
	if err := unix.Kill(-c.pid, unix.SIGSTOP); err != nil {
		return fmt.Errorf("SIGSTOP: %w", err)
	}
	return nil
}

func (c *child) resume() error {
	c.paused.Store(false)
	if err := unix.Kill(-c.pid, unix.SIGCONT); err != nil {
		return fmt.Errorf("SIGCONT: %w", err)
	}
	return nil
}
