package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
)

// Orders in which what was not synced may have reached the medium when the power goes.
const (
	// strict is the least that POSIX promises: a file's bytes after its own
	// fsync, a name after an fsync of its folder, and nothing else.
	strict = "strict"
	// mixed is what ext4 does: names reach the medium in their order, all of them
	// with any fsync, and a file's bytes with its own; and some of the rest was
	// written back early: pages in any order, and the first of the other names.
	mixed = "mixed"
)

// page is the unit, in bytes, in which a kernel writes a file back.
const page = 4096

// inode is a file or a folder: what programs see, and what the medium holds.
type inode struct {
	number uint64
	mode   uint32 // permissions

	data   []byte
	synced []byte
	dirty  map[int]bool // pages that changed since the last sync
	least  int          // the least size since the last sync

	folder   bool
	entries  map[string]*inode
	recorded map[string]*inode // entries that are on the medium
}

// renaming is one step of a journal: it takes a name away, gives one, or both.
type renaming struct {
	from, to         *inode // folders; nil: none
	fromName, toName string
	what             *inode
}

// disk is a file system that loses what was not synced when the power goes.
type disk struct {
	mu         sync.Mutex
	order      string
	deaf       string // syncs that do nothing: "" none, "all", or a file name's end
	root       *inode
	remembered *inode
	journal    []renaming // names since the last sync, in their order
	numbers    uint64
	random     *rand.Rand

	calls, syncs int // calls that change something, and syncs among them
	stopAt       int // the call at which the power goes; 0: at none
	off          bool
	on           chan struct{} // closed when the power is back, and with it the old tree gone
	wentOff      func(calls int)
}

func newDisk(order string, seed uint64, wentOff func(calls int)) *disk {
	d := &disk{order: order, random: rand.New(rand.NewPCG(seed, seed)), on: make(chan struct{}), wentOff: wentOff}
	d.root = d.newInode(true, 0o755)
	return d
}

func (d *disk) newInode(folder bool, mode uint32) *inode {
	d.numbers++
	i := &inode{number: d.numbers + 1, mode: mode, folder: folder}
	if folder {
		i.entries, i.recorded = map[string]*inode{}, map[string]*inode{}
	} else {
		i.dirty = map[int]bool{}
	}
	return i
}

// change begins a call that changes something and holds the lock: it is the
// caller's to unlock. It returns false when the power is off; that caller was
// kept waiting until nobody hears its answer any more, and has no lock.
func (d *disk) change() bool {
	d.mu.Lock()
	if !d.off {
		d.calls++
		if d.stopAt == 0 || d.calls < d.stopAt {
			return true
		}
		d.off = true
		d.wentOff(d.calls)
	}
	on := d.on
	d.mu.Unlock()
	<-on
	return false
}

// name tells the journal of a change of names.
func (d *disk) name(r renaming) {
	if r.from != nil {
		delete(r.from.entries, r.fromName)
	}
	if r.to != nil {
		r.to.entries[r.toName] = r.what
	}
	d.journal = append(d.journal, r)
}

// record puts the first n changes of names on the medium.
func (d *disk) record(n int) {
	for _, r := range d.journal[:n] {
		if r.from != nil {
			delete(r.from.recorded, r.fromName)
		}
		if r.to != nil {
			r.to.recorded[r.toName] = r.what
		}
	}
	d.journal = slices.Delete(d.journal, 0, n)
}

func (i *inode) write(data []byte, at int) {
	if end := at + len(data); end > len(i.data) {
		i.grow(end)
	}
	copy(i.data[at:], data)
	for p := at / page; p <= (at+len(data)-1)/page; p++ {
		i.dirty[p] = true
	}
}

func (i *inode) grow(size int) {
	i.data = append(i.data, make([]byte, size-len(i.data))...)
}

func (i *inode) truncate(size int) {
	if size > len(i.data) {
		i.grow(size)
		return
	}
	i.data = i.data[:size:size]
	i.least = min(i.least, size)
}

// sync puts a file's bytes, or a folder's names, on the medium.
func (d *disk) sync(i *inode, name string) {
	d.syncs++
	if d.deaf == "all" || d.deaf != "" && strings.HasSuffix(name, d.deaf) {
		return
	}
	switch {
	case d.order != strict:
		d.record(len(d.journal))
	case i.folder:
		i.recorded = maps.Clone(i.entries)
	}
	if i.folder {
		return
	}
	i.synced = slices.Grow(i.synced[:min(len(i.synced), i.least)], len(i.data))
	i.synced = append(i.synced, make([]byte, len(i.data)-len(i.synced))...)
	for p := range i.dirty {
		if at := p * page; at < len(i.data) {
			copy(i.synced[at:], i.data[at:min(at+page, len(i.data))])
		}
	}
	clear(i.dirty)
	i.least = len(i.data)
}

// writeBack is what a kernel does of itself: some of the pages reach the medium.
func (d *disk) writeBack(i *inode) []byte {
	data := slices.Clone(i.synced)
	if i.least < len(data) && d.random.IntN(2) == 0 {
		data = data[:i.least]
	}
	for _, p := range slices.Sorted(maps.Keys(i.dirty)) {
		at := p * page
		if at >= len(i.data) || d.random.IntN(2) == 0 {
			continue
		}
		end := min(at+page, len(i.data))
		if end > len(data) {
			data = append(data, make([]byte, end-len(data))...)
		}
		copy(data[at:], i.data[at:end])
	}
	return data
}

// cut is the disk when the power is back: only what is on the medium.
func (d *disk) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.order == mixed {
		d.record(d.random.IntN(len(d.journal) + 1))
	}
	d.begin(d.survivor(d.root, map[*inode]*inode{}))
}

// survivor copies what is on the medium, below i.
func (d *disk) survivor(i *inode, made map[*inode]*inode) *inode {
	if made[i] != nil {
		return made[i]
	}
	left := d.newInode(i.folder, i.mode)
	made[i] = left
	for name, entry := range i.recorded {
		left.entries[name] = d.survivor(entry, made)
	}
	if i.folder {
		left.recorded = maps.Clone(left.entries)
		return left
	}
	left.data = slices.Clone(i.synced)
	if d.order == mixed {
		left.data = d.writeBack(i)
	}
	left.synced, left.least = slices.Clone(left.data), len(left.data)
	return left
}

// keep remembers the disk as it is, as if all of it were synced.
func (d *disk) keep() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.remembered = d.copyTree(d.root)
}

// again goes back to what was kept, or to an empty disk.
func (d *disk) again() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.remembered == nil {
		d.begin(d.newInode(true, 0o755))
		return
	}
	d.begin(d.copyTree(d.remembered))
}

// copyTree copies what programs see, below i, as if all of it were on the medium.
func (d *disk) copyTree(i *inode) *inode {
	left := d.newInode(i.folder, i.mode)
	for name, entry := range i.entries {
		left.entries[name] = d.copyTree(entry)
	}
	if i.folder {
		left.recorded = maps.Clone(left.entries)
		return left
	}
	left.data, left.synced, left.least = slices.Clone(i.data), slices.Clone(i.data), len(i.data)
	return left
}

// begin gives the disk another tree, and the power back to whoever waits for it.
func (d *disk) begin(root *inode) {
	d.root, d.journal = root, nil
	d.calls, d.syncs, d.stopAt, d.off = 0, 0, 0, false
	close(d.on)
	d.on = make(chan struct{})
}

// arm lets the power go at the nth call from now that changes something; 0 is at once.
func (d *disk) arm(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopAt = d.calls + n; n > 0 || d.off {
		return
	}
	d.off = true
	d.wentOff(d.calls)
}

func (d *disk) counts() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return fmt.Sprintf("%d %d", d.calls, d.syncs)
}
