package procedure

import (
	"context"
	"slices"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// File is a file that holds a procedure, as whoever watches the folder read it.
type File struct {
	Path  string // within the folder, with slashes
	Mark  string // of its content: another content, or folder, has another
	Draft Draft
	// SuccessRate and AvgTime (seconds) are what the file says; they hold as long as there are no runs.
	SuccessRate, AvgTime float64
}

// Folder is the procedures as a folder of files is kept in step with
// them. Procedures implements it. All of it needs ScopeAdmin, which is the router's own.
type Folder interface {
	// Changed is closed at the next change of a procedure; take it before you read.
	Changed() <-chan struct{}
	// Known returns all procedures, deleted ones too as long as they have a file.
	Known(ctx context.Context) ([]Stored, error)
	// Read saves what a file says, and notes that both are in step.
	Read(ctx context.Context, file File) (Saved, error)
	// Written notes that a procedure's version is in a file, which was written from it. It
	// is a Conflict if the procedure is deleted by now.
	Written(ctx context.Context, ref Ref, file FileMark) error
	// Gone deletes the procedure whose file somebody deleted; a Conflict, if it was written meanwhile.
	Gone(ctx context.Context, ref Ref, file FileMark) error
	// Removed notes that the file of a deleted procedure is gone.
	Removed(ctx context.Context, ref Ref) error
	// Found says how many files hold procedures, and which others hold none and why.
	Found(files int, problems []FileProblem)
}

var _ Folder = (*Procedures)(nil)

// Changed implements Folder.
func (p *Procedures) Changed() <-chan struct{} { return p.bell.Wait() }

// Known implements Folder.
func (p *Procedures) Known(ctx context.Context) ([]Stored, error) {
	if err := principal.Of(ctx).Need(principal.ScopeAdmin); err != nil {
		return nil, err
	}
	return p.store.ProcedureFiles(ctx)
}

// Read implements Folder.
func (p *Procedures) Read(ctx context.Context, file File) (Saved, error) {
	if err := principal.Of(ctx).Need(principal.ScopeAdmin); err != nil {
		return Saved{}, err
	}
	return p.put(ctx, prepare(file.Draft), "", &file)
}

// Written implements Folder.
func (p *Procedures) Written(ctx context.Context, ref Ref, file FileMark) error {
	return p.mark(ctx, ref, func(stored *Stored) bool {
		stored.File = file
		return stored.DeletedAt == nil
	})
}

// Gone implements Folder.
func (p *Procedures) Gone(ctx context.Context, ref Ref, file FileMark) error {
	if err := principal.Of(ctx).Need(principal.ScopeAdmin); err != nil {
		return err
	}
	return p.remove(ctx, ref, "", func(_ Tx, old *Stored) error {
		if old.File != file || old.File.Version != old.Version {
			return errs.Errorf(errs.Conflict, "the procedure was written meanwhile")
		}
		old.File = FileMark{}
		return nil
	})
}

// Removed implements Folder.
func (p *Procedures) Removed(ctx context.Context, ref Ref) error {
	return p.mark(ctx, ref, func(stored *Stored) bool {
		stored.File = FileMark{}
		return stored.DeletedAt != nil
	})
}

// mark changes how a procedure and its file stand to each other.
func (p *Procedures) mark(ctx context.Context, ref Ref, set func(*Stored) (ok bool)) error {
	if err := principal.Of(ctx).Need(principal.ScopeAdmin); err != nil {
		return err
	}
	return p.store.ChangeProcedures(ctx, func(tx Tx) error {
		stored, there, err := tx.Procedure(ref.Persona, ref.Name)
		if err != nil {
			return err
		}
		if !there || !set(&stored) {
			return errs.Errorf(errs.Conflict, "the procedure was deleted or saved meanwhile")
		}
		return tx.PutProcedure(&stored)
	}, nil)()
}

// Found implements Folder.
func (p *Procedures) Found(files int, problems []FileProblem) {
	p.filesMu.Lock()
	defer p.filesMu.Unlock()
	p.files, p.problems = files, slices.Clone(problems)
}

// Problems implements Service.
func (p *Procedures) Problems(ctx context.Context) ([]FileProblem, error) {
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return nil, err
	}
	p.filesMu.RLock()
	defer p.filesMu.RUnlock()
	return append([]FileProblem{}, p.problems...), nil
}
