package cli

import (
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/windows"
)

// child is the wrapped command. It leads a console process group of its own,
// the only unit that Windows can ask to end.
type child struct {
	pid     int
	process *os.Process
	signals chan os.Signal
}

// startChild starts the program with this process's console.
func startChild(program string, args, env []string) (*child, error) {
	c := &child{signals: make(chan os.Signal, 4)}
	signal.Notify(c.signals, os.Interrupt)
	process, err := os.StartProcess(program, args, &os.ProcAttr{
		Env: env, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr},
		Sys: &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP},
	})
	if err != nil {
		signal.Stop(c.signals)
		return nil, err
	}
	c.process, c.pid = process, process.Pid
	go func() {
		for range c.signals { // a new group does not hear Ctrl-C itself
			_ = c.end()
		}
	}()
	return c, nil
}

func (c *child) wait() exit {
	state, err := c.process.Wait()
	signal.Stop(c.signals)
	close(c.signals)
	if err != nil {
		return exit{code: exitFailed}
	}
	return exit{code: state.ExitCode()}
}

// end sends Ctrl-Break, which console programs can act on before they end.
func (c *child) end() error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(c.pid))
}

func (c *child) kill() { _ = c.process.Kill() }

// left is false: Windows keeps no account of what a process started.
func (c *child) left() bool { return false }

func (c *child) pause() error { return errors.New("this platform cannot pause a process") }

func (c *child) resume() error { return errors.New("this platform cannot pause a process") }
