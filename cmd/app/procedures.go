package app

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/learning/fact"
	"skillrouter/learning/procedure"
	"skillrouter/learning/runbooks"
	"skillrouter/router/kind"
)

// procedures makes the service of procedures.
func (a *App) procedures(p *parts) (procedure.Service, kind.Memory) {
	p.procedures = procedure.NewProcedures(p.memory, procedure.Options{
		Options: a.learningOptions(), Lessons: p.lessons,
		Facts: func(ctx context.Context, persona, key string) (json.RawMessage, bool, error) {
			fact, err := p.facts.Recall(ctx, fact.Ref{Persona: persona, Key: key})
			if errs.CodeOf(err) == errs.NotFound {
				return nil, false, nil
			}
			return fact.Value, err == nil, err
		},
	})
	return p.procedures, kind.Procedures(p.procedures, p.memory)
}

// wireRunbooks keeps the folder of procedures in step with them.
func (a *App) wireRunbooks(ctx context.Context, p *parts) error {
	if a.aside != nil {
		return nil // the folder is that of the node that writes
	}
	if own := filepath.Join(a.config.Data, proceduresFolder); a.config.ProceduresFolder() == own {
		// Made by an earlier version, it is open to others: they would read it where the data folder is not in the way.
		if info, err := os.Stat(own); err == nil && info.Mode().Perm()&0o077 != 0 {
			if err := os.Chmod(own, 0o700); err != nil {
				return fmt.Errorf("close the folder of procedures to others: %w", err)
			}
		}
	}
	folder, err := runbooks.Open(a.config.ProceduresFolder(), p.procedures, runbooks.Options{Now: a.now, Log: a.log})
	if err != nil {
		return err
	}
	// What was edited while the router was down counts before the first request.
	if err := folder.Sync(principal.With(ctx, principal.System())); err != nil {
		return fmt.Errorf("bring the folder of procedures in step: %w", err)
	}
	a.life.run(ctx, "runbooks", func(ctx context.Context) error {
		return folder.Run(principal.With(ctx, principal.System()))
	})
	return nil
}
