package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// Lock is a held data folder. The operating system frees it when the process
// ends, however it ends.
type Lock struct {
	file *os.File
	// former is what the file says when the lock is free: where the folder's router was last. Its user's commands then
	// know that address as its own, and call nobody else there.
	former locate.Holder
}

// errHeld is what the platform's lock returns if another process has it.
var errHeld = errors.New("held by another process")

// Acquire takes the data folder for this process, or returns a Conflict error
// that names the process that has it.
func Acquire(dir string, holder locate.Holder) (*Lock, error) {
	path := filepath.Join(dir, locate.LockName)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the lock file: %w", err)
	}
	if err := lock(file); err != nil {
		defer file.Close()
		if !errors.Is(err, errHeld) {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		return nil, errs.Errorf(errs.Conflict, "the data folder %s is held by %s", dir, describe(file))
	}
	l := &Lock{file: file}
	_ = json.Unmarshal(written(file), &l.former) // empty at a first start
	if l.former.URL() != "" && holder.URL() == "" {
		holder.Listen = l.former.URL()
	}
	if err := l.write(holder); err != nil {
		return nil, errors.Join(err, l.Release())
	}
	return l, nil
}

// SetHolder writes who holds the folder; the address is known only once it is bound.
func (l *Lock) SetHolder(holder locate.Holder) error {
	l.former = locate.Holder{Listen: holder.Listen}
	return l.write(holder)
}

func (l *Lock) write(holder locate.Holder) error {
	text, err := json.Marshal(holder)
	if err != nil {
		return err
	}
	// One write of one length: whoever reads at that moment finds the old name or
	// the new one, never an empty file that would say that nobody is there.
	_, err = l.file.WriteAt(fmt.Appendf(nil, "%-*s\n", holderWidth, text), 0)
	return err
}

// holderWidth is the length, in bytes, to which the holder's line is filled up
// with spaces: the longest name of a host, a date and the path of a socket fit. A shorter line in the place of a longer one would leave the end of that.
const holderWidth = 511

// Release gives the folder up. The file stays: removing it would let two
// processes lock two files of the same name.
func (l *Lock) Release() error {
	var err error
	if l.former.URL() == "" {
		err = l.file.Truncate(0)
	} else {
		err = l.write(l.former)
	}
	return errors.Join(err, l.file.Close())
}

func written(file io.ReaderAt) []byte {
	text, _ := io.ReadAll(io.NewSectionReader(file, 0, locate.MaxHolder))
	return text
}

func describe(file io.ReaderAt) string {
	var h locate.Holder
	if json.Unmarshal(written(file), &h) != nil || h.PID == 0 {
		return "another process, which is just starting or stopping"
	}
	s := fmt.Sprintf("process %d", h.PID)
	if h.Listen != "" {
		s += ", which serves " + h.Listen
	}
	return s + ", since " + h.Started.Local().Format(time.DateTime)
}
