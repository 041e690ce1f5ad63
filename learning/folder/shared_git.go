package folder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/share"
)

// Origin is who committed a shared file as it is.
type Origin struct {
	Commit string
	Author string // in the words of git: nobody vouches for it
	At     time.Time
}

// hardened is how git is asked: the configuration of a repository is hostile too, and runs programs by many of its keys.
// No object is fetched, no hook, pager, filter, watcher, signature checker or external diff is run, nothing is written.
var hardened = []string{
	"--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs",
	"-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.sshCommand=false", "-c", "core.askPass=", "-c", "core.pager=cat", "-c", "core.attributesFile=" + os.DevNull,
	"-c", "diff.external=", "-c", "log.showSignature=false", "-c", "log.follow=false", "-c", "gpg.program=false", "-c", "gpg.ssh.program=false", "-c", "gpg.x509.program=false",
	"-c", "protocol.allow=never", "-c", "credential.helper=", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "submodule.recurse=false",
}

// sharedGit is a command of git in the repository that is the folder.
func (d *Dir) sharedGit(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append(hardened[:len(hardened):len(hardened)], args...)...)
	cmd.Dir = d.root.Name()
	for _, set := range os.Environ() {
		if name, _, _ := strings.Cut(set, "="); !strings.HasPrefix(strings.ToUpper(name), "GIT_") {
			cmd.Env = append(cmd.Env, set)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "LC_ALL=C",
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(cmd.Dir)) // this repository, or none
	return cmd
}

// git runs git on what it reads of a text, and returns what it prints.
func (d *Dir) git(ctx context.Context, stdin string, args ...string) (string, error) {
	cmd := d.sharedGit(ctx, args...)
	var said bytes.Buffer
	cmd.Stdin, cmd.Stderr = strings.NewReader(stdin), &said
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", errs.Errorf(errs.Unavailable, "git is not on the PATH, and it alone says who wrote what is shared: install git")
	}
	line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
	return string(out), errs.Wrap(errs.Invalid, err, "git could not read the repository: %s", line)
}

// SharedHead is the commit that is checked out; empty: there is none yet.
func (d *Dir) SharedHead(ctx context.Context) (string, error) {
	if _, err := d.git(ctx, "", "rev-parse", "--git-dir"); err != nil {
		return "", err
	}
	head, _ := d.git(ctx, "", "rev-parse", "--verify", "--quiet", "HEAD^{commit}") // fails where nothing was committed
	return strings.TrimSpace(head), nil
}

// ReadBranch reads the shared memory as a branch has it, local or remote-tracking. The working tree is not looked at.
func (d *Dir) ReadBranch(ctx context.Context, branch string) (Shared, error) {
	if _, err := d.git(ctx, "", "rev-parse", "--git-dir"); err != nil {
		return Shared{}, err
	}
	commit := ""
	for _, place := range []string{"refs/heads/", "refs/remotes/"} { // by its full name: a tag of this name is another thing
		found, err := d.git(ctx, "", "show-ref", "--verify", "--hash", place+branch)
		if found = strings.TrimSpace(found); err == nil && commit == "" {
			commit = found
		}
	}
	if commit == "" {
		return Shared{}, errs.Errorf(errs.NotFound, "there is no branch %q: git branch --all lists them", branch)
	}
	g := gather{shared: Shared{Commit: commit}, paths: map[string][]string{}}
	err := d.tree(ctx, commit, &g)
	return g.done(), err
}

// object is a file in a tree.
type object struct{ hash, path string }

// tree reads the shared files of a commit, and refuses what is no plain file.
func (d *Dir) tree(ctx context.Context, commit string, g *gather) error {
	list, err := d.git(ctx, "", "ls-tree", "-r", "-l", "-z", "--full-tree", commit, "--", SharedPlace)
	if err != nil {
		return err
	}
	if strings.Count(list, "\x00") > share.MaxEntries {
		return tooMany()
	}
	var objects []object
	for line := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		about, name, _ := strings.Cut(line, "\t")
		fields := strings.Fields(about) // mode, type, hash, size
		if len(fields) != 4 {
			continue
		}
		size, _ := strconv.ParseInt(fields[3], 10, 64)
		if mode := fields[0]; mode != "100644" && mode != "100755" {
			g.refuse(name, "is a link or a submodule, which is not followed")
		} else if g.fits(name, size) {
			objects = append(objects, object{fields[2], name})
		}
	}
	for part := range slices.Chunk(objects, 100) { // some megabytes at the most
		var asked strings.Builder
		for _, o := range part {
			asked.WriteString(o.hash + "\n")
		}
		text, err := d.git(ctx, asked.String(), "cat-file", "--batch")
		if err != nil {
			return err
		}
		for _, o := range part {
			head, rest, _ := strings.Cut(text, "\n")
			size := 0
			if _, err := fmt.Sscanf(head, o.hash+" blob %d", &size); err != nil || size >= len(rest) {
				return errs.Errorf(errs.Invalid, "git could not read %s", o.path)
			}
			g.add(o.path, []byte(rest[:size]))
			text = rest[size+1:]
		}
	}
	return nil
}

// SharedOrigin says who committed a shared file last, up to a commit. Where it says something else there, or is not there,
// nobody committed it as it is, and the origin is empty.
func (d *Dir) SharedOrigin(ctx context.Context, commit string, f SharedFile) (o Origin, err error) {
	if commit == "" {
		return o, nil
	}
	text, err := d.git(ctx, "", "cat-file", "blob", commit+":"+f.Path)
	if err != nil {
		return o, nil //nolint:nilerr // the commit has no such file
	}
	if e, err := ParseShared([]byte(text)); err != nil || e.Hash() != f.Entry.Hash() {
		return o, nil
	}
	said, err := d.git(ctx, "", "log", "-1", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--format=%H%n%at%n%an <%ae>", commit, "--", f.Path)
	if err != nil {
		return o, err
	}
	lines := strings.SplitN(strings.TrimSuffix(said, "\n"), "\n", 3)
	if len(lines) < 3 {
		return o, nil
	}
	seconds, _ := strconv.ParseInt(lines[1], 10, 64)
	return Origin{Commit: lines[0], Author: lines[2], At: time.Unix(seconds, 0).UTC()}, nil
}
