// Command powerdisk mounts a file system in memory that keeps, when its power
// is cut, only what was synced. scripts/soak runs a router on it. It is a
// module of its own, so that the product does not require go-fuse, and a
// process of its own, so that no goroutine waits for a file system that it serves.
//
// It reads one command a line and answers each with one line:
//
//	arm N      the power goes at the Nth call from now that changes something; 0: at once
//	cut        the power is back: what was not synced is gone; it is mounted again
//	keep       remember everything as it is
//	empty      forget what was kept, and everything else; it is mounted again
//	again      go back to what was kept, or to an empty disk; it is mounted again
//	counts     calls that changed something, and syncs, since it was mounted
//	order O    strict or mixed
//	deaf WHAT  from now on syncs do nothing: "all", "none", or those of files whose names end so
//
// When the power goes, it says "off" and the number of the call; that call and all after it
// wait until cut or again, and fail then, when whoever made them is dead.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

func main() {
	dir := flag.String("mount", "", "where to mount it")
	order := flag.String("order", strict, "in what order things reach the medium: strict or mixed")
	seed := flag.Uint64("seed", 1, "of what mixed chooses")
	flag.Parse()
	if err := serve(*dir, *order, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "powerdisk:", err)
		os.Exit(1)
	}
}

func serve(dir, order string, seed uint64) error {
	var out sync.Mutex
	say := func(format string, args ...any) {
		out.Lock()
		defer out.Unlock()
		fmt.Printf(format+"\n", args...)
	}
	d := newDisk(order, seed, func(calls int) { say("off %d", calls) })
	if err := mount(dir, d); err != nil {
		return err
	}
	defer func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }()
	say("mounted")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		verb, argument, _ := strings.Cut(lines.Text(), " ")
		switch verb {
		case "arm":
			n, err := strconv.Atoi(argument)
			if err != nil {
				return err
			}
			say("armed")
			d.arm(n)
		case "cut", "again", "empty":
			if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
				return fmt.Errorf("unmount %s: %w", dir, err)
			}
			switch verb {
			case "cut":
				d.cut()
			case "empty":
				d.remembered = nil
				fallthrough
			default:
				d.again()
			}
			if err := mount(dir, d); err != nil {
				return err
			}
			say("mounted")
		case "keep":
			d.keep()
			say("kept")
		case "counts":
			say("counts %s", d.counts())
		case "order":
			d.mu.Lock()
			d.order = argument
			d.mu.Unlock()
			say("ordered")
		case "deaf":
			d.mu.Lock()
			d.deaf = strings.TrimSuffix(argument, "none")
			d.mu.Unlock()
			say("deaf")
		default:
			return fmt.Errorf("there is no command %q", verb)
		}
	}
	return nil
}

// mount serves the disk's tree at dir. What an earlier mount still has open belongs to the tree of before.
func mount(dir string, d *disk) error {
	// Only the kernel changes the tree, through this mount: what it knows stays true.
	remembered := time.Hour
	server, err := fs.Mount(dir, &node{disk: d, inode: d.root}, &fs.Options{
		EntryTimeout: &remembered,
		AttrTimeout:  &remembered,
		MountOptions: fuse.MountOptions{DirectMountStrict: true, FsName: "powerdisk", Name: "powerdisk", DisableXAttrs: true, MaxWrite: 1 << 20, Logger: log.New(io.Discard, "", 0)},
	})
	if err != nil {
		return err
	}
	return server.WaitMount()
}
