package main

import (
	"context"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// node is an inode of the disk as FUSE knows it.
type node struct {
	fs.Inode
	disk *disk
	*inode
	name string // of the file when it was made or found: syncs are ignored by it
}

// What is asked of a node.
var _ interface {
	fs.NodeLookuper
	fs.NodeGetattrer
	fs.NodeSetattrer
	fs.NodeOpener
	fs.NodeReader
	fs.NodeWriter
	fs.NodeFsyncer
	fs.NodeAllocater
	fs.NodeCreater
	fs.NodeMkdirer
	fs.NodeUnlinker
	fs.NodeRmdirer
	fs.NodeRenamer
	fs.NodeReaddirer
	fs.NodeStatfser
} = (*node)(nil)

func (n *node) kind() uint32 {
	if n.folder {
		return syscall.S_IFDIR
	}
	return syscall.S_IFREG
}

func (n *node) describe(out *fuse.Attr) {
	out.Mode, out.Ino, out.Size, out.Nlink = n.kind()|n.mode, n.number, uint64(len(n.data)), 1
	out.Blocks = (out.Size + 511) / 512
}

// child is the FUSE node of an entry.
func (n *node) child(ctx context.Context, name string, i *inode, out *fuse.EntryOut) *fs.Inode {
	c := &node{disk: n.disk, inode: i, name: name}
	c.describe(&out.Attr)
	return n.NewInode(ctx, c, fs.StableAttr{Mode: c.kind(), Ino: i.number})
}

func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	i, ok := n.entries[name]
	if !ok {
		return nil, syscall.ENOENT
	}
	return n.child(ctx, name, i, out), 0
}

func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	n.describe(&out.Attr)
	return 0
}

func (n *node) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	if !n.disk.change() {
		return syscall.EIO
	}
	defer n.disk.mu.Unlock()
	if mode, ok := in.GetMode(); ok {
		n.mode = mode & 0o7777 // reaches the medium at once: no test is about modes
	}
	if size, ok := in.GetSize(); ok {
		n.truncate(int(size))
	}
	n.describe(&out.Attr)
	return 0
}

func (n *node) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_KEEP_CACHE, 0
}

func (n *node) Read(_ context.Context, _ fs.FileHandle, into []byte, at int64) (fuse.ReadResult, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	if at >= int64(len(n.data)) {
		return fuse.ReadResultData(nil), 0
	}
	return fuse.ReadResultData(into[:copy(into, n.data[at:])]), 0
}

func (n *node) Write(_ context.Context, _ fs.FileHandle, data []byte, at int64) (uint32, syscall.Errno) {
	if !n.disk.change() {
		return 0, syscall.EIO
	}
	defer n.disk.mu.Unlock()
	n.write(data, int(at))
	return uint32(len(data)), 0
}

func (n *node) Allocate(_ context.Context, _ fs.FileHandle, at, size uint64, mode uint32) syscall.Errno {
	if mode&^unix.FALLOC_FL_KEEP_SIZE != 0 {
		return syscall.EOPNOTSUPP
	}
	if !n.disk.change() {
		return syscall.EIO
	}
	defer n.disk.mu.Unlock()
	if end := int(at + size); mode == 0 && end > len(n.data) {
		n.truncate(end)
	}
	return 0
}

func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	if !n.disk.change() {
		return syscall.EIO
	}
	defer n.disk.mu.Unlock()
	n.disk.sync(n.inode, n.name)
	return 0
}

func (n *node) Create(ctx context.Context, name string, _, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	if !n.disk.change() {
		return nil, nil, 0, syscall.EIO
	}
	defer n.disk.mu.Unlock()
	i := n.disk.newInode(false, mode&0o7777)
	n.disk.name(renaming{to: n.inode, toName: name, what: i})
	return n.child(ctx, name, i, out), nil, fuse.FOPEN_KEEP_CACHE, 0
}

func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if !n.disk.change() {
		return nil, syscall.EIO
	}
	defer n.disk.mu.Unlock()
	i := n.disk.newInode(true, mode&0o7777)
	n.disk.name(renaming{to: n.inode, toName: name, what: i})
	return n.child(ctx, name, i, out), 0
}

func (n *node) Unlink(_ context.Context, name string) syscall.Errno {
	if !n.disk.change() {
		return syscall.EIO
	}
	defer n.disk.mu.Unlock()
	if n.entries[name] == nil {
		return syscall.ENOENT
	}
	n.disk.name(renaming{from: n.inode, fromName: name})
	return 0
}

func (n *node) Rmdir(_ context.Context, name string) syscall.Errno {
	if !n.disk.change() {
		return syscall.EIO
	}
	defer n.disk.mu.Unlock()
	i := n.entries[name]
	if i == nil {
		return syscall.ENOENT
	}
	if len(i.entries) > 0 {
		return syscall.ENOTEMPTY
	}
	n.disk.name(renaming{from: n.inode, fromName: name})
	return 0
}

func (n *node) Rename(_ context.Context, name string, to fs.InodeEmbedder, toName string, flags uint32) syscall.Errno {
	if !n.disk.change() {
		return syscall.EIO
	}
	defer n.disk.mu.Unlock()
	target, i := to.(*node), n.entries[name]
	switch {
	case i == nil:
		return syscall.ENOENT
	case flags == unix.RENAME_NOREPLACE && target.entries[toName] != nil:
		return syscall.EEXIST
	case flags&^unix.RENAME_NOREPLACE != 0:
		return syscall.EINVAL
	}
	n.disk.name(renaming{from: n.inode, fromName: name, to: target.inode, toName: toName, what: i})
	return 0
}

func (n *node) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	var entries []fuse.DirEntry
	for name, i := range n.entries {
		entries = append(entries, fuse.DirEntry{Name: name, Mode: (&node{inode: i}).kind(), Ino: i.number})
	}
	return fs.NewListDirStream(entries), 0
}

// Statfs says that there is room: 16 GiB, most of them free.
func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	out.Bsize, out.Frsize, out.Blocks, out.Bfree, out.Bavail, out.NameLen = page, page, 4<<20, 3<<20, 3<<20, 255
	out.Files, out.Ffree = 1<<20, 1<<20
	return 0
}
