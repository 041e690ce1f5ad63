package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// offWithin is how long the power may take to go. A router with nothing to do changes nothing for long.
const offWithin = 20 * time.Second

// disk is a file system, served by the program powerdisk, that keeps only what was synced.
type disk struct {
	dir     string // where it is mounted
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers chan string
	off     chan string // calls, when the power went
}

// buildDisk builds powerdisk into dir. It is a module of its own, whose one library may have to be downloaded.
func buildDisk(ctx context.Context, sources, dir string) (string, error) {
	fuse, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return "", fmt.Errorf("%w: no power is cut without /dev/fuse: %w", errSkipped, err)
	}
	fuse.Close()
	if os.Geteuid() != 0 {
		return "", fmt.Errorf("%w: only root may mount here, and without that no power is cut", errSkipped)
	}
	program := filepath.Join(dir, "powerdisk")
	build := exec.CommandContext(ctx, "go", "build", "-o", program, ".")
	build.Dir = sources
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: powerdisk cannot be built, so no power is cut: %s", errSkipped, lastLine(string(said)))
	}
	return program, nil
}

// newDisk mounts an empty disk.
func newDisk(program, order string, seed uint64) (*disk, error) {
	dir, err := os.MkdirTemp("", "soak-disk")
	if err != nil {
		return nil, err
	}
	d := &disk{dir: dir, answers: make(chan string, 1), off: make(chan string, 1)}
	d.cmd = exec.Command(program, "-mount", dir, "-order", order, "-seed", fmt.Sprint(seed))
	d.cmd.Stderr = os.Stderr
	if d.in, err = d.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	said, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(d.answers)
		for lines := bufio.NewScanner(said); lines.Scan(); {
			if calls, ok := strings.CutPrefix(lines.Text(), "off "); ok {
				d.off <- calls
				continue
			}
			d.answers <- lines.Text()
		}
	}()
	if answer := <-d.answers; answer != "mounted" {
		d.close()
		return nil, fmt.Errorf("%w: nothing can be mounted here, so no power is cut", errSkipped)
	}
	return d, nil
}

func (d *disk) ask(command string) (string, error) {
	if _, err := fmt.Fprintln(d.in, command); err != nil {
		return "", err
	}
	answer, ok := <-d.answers
	if !ok {
		return "", fmt.Errorf("powerdisk ended at %q", command)
	}
	return answer, nil
}

// arm lets the power go at the nth call from now that changes something; 0 is at once.
func (d *disk) arm(n int) error {
	_, err := d.ask(fmt.Sprint("arm ", n))
	return err
}

// cut gives the power back, to a disk without what was not synced. Whoever used it must be dead.
func (d *disk) cut() error {
	_, err := d.ask("cut")
	d.forget()
	return err
}

// again goes back to what was kept, or to an empty disk.
func (d *disk) again() error {
	_, err := d.ask("again")
	d.forget()
	return err
}

// empty forgets what was kept, and everything else.
func (d *disk) empty() error {
	_, err := d.ask("empty")
	d.forget()
	return err
}

// forget drops the news of a power cut that is over.
func (d *disk) forget() {
	select {
	case <-d.off:
	default:
	}
}

// calls is how many calls changed something since it was mounted, and how many syncs were among them.
func (d *disk) calls() (calls, syncs int, err error) {
	answer, err := d.ask("counts")
	if err == nil {
		_, err = fmt.Sscanf(answer, "counts %d %d", &calls, &syncs)
	}
	return calls, syncs, err
}

func (d *disk) close() {
	_ = d.in.Close()
	done := make(chan struct{})
	go func() {
		_ = d.cmd.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(stopTime):
		_ = d.cmd.Process.Kill()
		<-done
	}
	_ = syscall.Unmount(d.dir, syscall.MNT_DETACH)
	_ = os.Remove(d.dir)
}
