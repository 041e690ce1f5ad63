package runbooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/errs"
	files "github.com/skillrouter/skillrouter/internal/file"
	"github.com/skillrouter/skillrouter/learning/procedure"
)

// Options are what a Folder may do without.
type Options struct {
	Now clock.Clock  // time.Now if nil
	Log *slog.Logger // discards if nil
}

// Folder keeps a folder of files in step with the procedures.
//
// A file that was edited is saved as a further version; one that was deleted
// deletes its procedure; a procedure that was saved is written to its file,
// and one that was deleted takes its file with it. Where both changed, the
// file counts, because a person wrote it; what it replaces stays as an older
// version. A file that cannot be read deletes nothing.
type Folder struct {
	name       string
	procedures procedure.Folder
	now        clock.Clock
	log        *slog.Logger
	synced     committer.Bell

	mu   sync.Mutex                       // one Sync at a time
	told map[string]procedure.FileProblem // by file
}

// Open makes the folder if need be, for this user alone. The rights of one that is there are its owner's to choose.
func Open(name string, procedures procedure.Folder, options Options) (*Folder, error) {
	options.Now = options.Now.Given()
	options.Log = defaults.Log(options.Log)
	f := &Folder{name: name, procedures: procedures, now: options.Now, log: options.Log, told: map[string]procedure.FileProblem{}}
	root, err := f.open()
	if err != nil {
		return nil, err
	}
	return f, root.Close()
}

func (f *Folder) open() (*os.Root, error) {
	if err := os.MkdirAll(f.name, 0o700); err != nil {
		return nil, errs.Wrap(errs.Unavailable, err, "the folder of procedures %s cannot be made", f.name)
	}
	root, err := os.OpenRoot(f.name)
	if err != nil {
		return nil, errs.Wrap(errs.Unavailable, err, "the folder of procedures %s cannot be opened", f.name)
	}
	return root, nil
}

// Sync brings the folder and the procedures in step, once. Its context's
// principal must be the router's own. A file or a procedure for which that
// fails stops no other, and is tried again with the next Sync.
func (f *Folder) Sync(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.synced.Ring()
	root, err := f.open()
	if err != nil {
		return err
	}
	defer root.Close()
	id, err := marker(root)
	if err != nil {
		return errs.Wrap(errs.Unavailable, err, "the folder of procedures %s cannot be written to", f.name)
	}
	// What is known is read after the files: a procedure that is saved meanwhile has no file yet, and is written.
	seen, err := look(root, id)
	if err != nil {
		return errs.Wrap(errs.Unavailable, err, "the folder of procedures %s cannot be read", f.name)
	}
	known, err := f.procedures.Known(ctx)
	if err != nil {
		return err
	}
	r := round{Folder: f, root: root, id: id, scan: seen}
	names := map[string]bool{}
	for _, stored := range known {
		key := procedure.ID(stored.Persona, stored.Name)
		names[key] = true
		file, has := seen.files[key]
		if err := r.settle(ctx, stored, file, has); err != nil && ctx.Err() == nil {
			r.failed(ctx, cmp.Or(file.Path, stored.File.Path, key), err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(seen.files)) {
		if !names[key] {
			if err := r.take(ctx, seen.files[key]); err != nil && ctx.Err() == nil {
				r.failed(ctx, seen.files[key].Path, err)
			}
		}
	}
	f.tell(ctx, seen)
	return ctx.Err()
}

// round is one Sync.
type round struct {
	*Folder
	root *os.Root
	id   string
	scan *scan
}

// settle brings one procedure and its file in step.
func (r *round) settle(ctx context.Context, stored procedure.Stored, file procedure.File, has bool) error {
	ref := procedure.Ref{Persona: stored.Persona, Name: stored.Name}
	inStep := has && file.Mark == stored.File.Mark
	switch {
	case stored.DeletedAt != nil && inStep:
		if err := r.remove(file); err != nil {
			return err
		}
		delete(r.scan.files, procedure.ID(ref.Persona, ref.Name))
		return r.procedures.Removed(ctx, ref)
	case stored.DeletedAt != nil && !has:
		if !r.here(stored.File) || r.scan.partial || r.scan.refused(stored.File.Path) {
			return nil // it may be there: what is forgotten of it now would be a new file to a later look
		}
		return r.procedures.Removed(ctx, ref)
	case inStep && stored.Version > stored.File.Version:
		return r.write(ctx, stored, file.Path)
	case inStep && file.Path == stored.File.Path:
		return nil
	case has:
		return r.take(ctx, file)
	case stored.File.Path != "" && (r.scan.partial || r.scan.refused(stored.File.Path)):
		return nil // it may be there, or is there and says something that cannot be read
	case !r.here(stored.File) || stored.Version > stored.File.Version:
		return r.write(ctx, stored, stored.File.Path)
	}
	err := r.procedures.Gone(ctx, ref, stored.File)
	if err == nil {
		r.log.InfoContext(ctx, "a procedure was deleted with its file", "procedure", procedure.ID(ref.Persona, ref.Name), "file", stored.File.Path)
	}
	return err
}

// here tells whether a procedure was once in step with this folder.
func (r *round) here(file procedure.FileMark) bool {
	return len(file.Mark) > len(r.id) && file.Mark[:len(r.id)] == r.id
}

// take saves what a file says.
func (r *round) take(ctx context.Context, file procedure.File) error {
	saved, err := r.procedures.Read(ctx, file)
	if err == nil && saved.Changed {
		r.log.InfoContext(ctx, "a procedure was read from its file", "procedure", procedure.ID(saved.Persona, saved.Name), "version", saved.Version, "file", file.Path, "redacted", saved.Redacted)
	}
	return err
}

// write writes a procedure to its file, unless somebody has written there meanwhile.
func (r *round) write(ctx context.Context, stored procedure.Stored, name string) error {
	if name == "" || !r.here(stored.File) {
		name = stored.Persona + "/" + stored.Name + ".yaml"
	}
	text, err := Render(stored)
	if err != nil {
		return err
	}
	there, err := read(r.root, name)
	switch {
	case err == nil:
		if mark := markOf(r.id, there); mark != stored.File.Mark && mark != markOf(r.id, text) {
			return errs.Errorf(errs.Conflict, "the procedure %s/%s is to be written here, and something else is in its place", stored.Persona, stored.Name)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("look at %s: %w", name, err)
	}
	if err := files.WriteIn(r.root, name, text, true); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	mark := procedure.FileMark{Path: name, Mark: markOf(r.id, text), Version: stored.Version}
	err = r.procedures.Written(ctx, procedure.Ref{Persona: stored.Persona, Name: stored.Name}, mark)
	if errs.CodeOf(err) == errs.Conflict {
		// It was deleted while it was written. Nobody else knows whose file this is, and left
		// in its place it would bring the procedure back.
		return r.remove(procedure.File{Path: name, Mark: mark.Mark})
	}
	return err
}

// remove removes the file of a deleted procedure, unless somebody has written to it meanwhile.
func (r *round) remove(file procedure.File) error {
	there, err := read(r.root, file.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if markOf(r.id, there) != file.Mark {
		return errs.Errorf(errs.Conflict, "the file of a procedure that is deleted was edited meanwhile")
	}
	if err := r.root.Remove(file.Path); err != nil {
		return err
	}
	files.SettleIn(r.root, path.Dir(file.Path))
	return nil
}

// failed notes that a file and its procedure are not in step. What was only
// overtaken by another change has its turn with the next Sync.
func (r *round) failed(ctx context.Context, file string, err error) {
	text := errs.MessageOf(err)
	if code := errs.CodeOf(err); code == errs.Internal {
		r.log.WarnContext(ctx, "a procedure and its file are not in step", "file", file, "error", err)
		text = "cannot be brought in step with its procedure: " + text
	}
	r.scan.problems = append(r.scan.problems, procedure.FileProblem{File: file, Problem: text})
}

// tell passes the problems on, each to the log once.
func (f *Folder) tell(ctx context.Context, seen *scan) {
	told := map[string]procedure.FileProblem{}
	at := f.now().UTC().Truncate(time.Millisecond)
	for i := range seen.problems {
		problem := &seen.problems[i]
		problem.At = at
		if before, known := f.told[problem.File]; known && before.Problem == problem.Problem && before.Line == problem.Line {
			problem.At = before.At
		} else {
			f.log.WarnContext(ctx, "a file holds no procedure", "file", problem.File, "line", problem.Line, "column", problem.Column, "problem", problem.Problem)
		}
		told[problem.File] = *problem
	}
	f.told = told
	f.procedures.Found(len(seen.files), seen.problems)
}
