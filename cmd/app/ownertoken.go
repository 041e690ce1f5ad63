package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"skillrouter/cmd/locate"
	"skillrouter/internal/database"
	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/operational"
)

// OwnerToken returns the secret in dir's owner.token, making it at the first
// start. Whoever can read that file can read the databases beside it.
//
// An empty file counts as none: a power cut leaves it where the file's name was
// on disk before its content. A new secret opens nothing to anybody else: the
// file is made anew, for this user alone, in a folder that only this user may
// write to; what held the old secret is refused from then on. What is no plain
// file, or holds anything else, is somebody's doing, and is left as it is.
func OwnerToken(dir string) (string, error) {
	path := filepath.Join(dir, locate.OwnerTokenName)
	secret, err := locate.ReadOwnerToken(dir)
	if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, locate.ErrEmptyToken) {
		return secret, err
	}
	secret = operational.NewSecret()
	if err := putSynced(path, []byte(secret+"\n")); err != nil {
		return "", fmt.Errorf("write the owner's token: %w", err)
	}
	return secret, nil
}

// issueFirst issues a token for all agents, if the settings want one and none was ever issued, before anybody is
// answered: from then on each call needs a token. Its secret is in the file alone.
func (a *App) issueFirst(ctx context.Context, tokens *operational.Tokens) error {
	issued, err := tokens.Issued(ctx)
	if a.config.FirstToken == "" || a.aside != nil || issued || err != nil {
		return err
	}
	made, err := tokens.Issue(principal.With(ctx, principal.Owner(false)), operational.TokenDraft{Scopes: []principal.Scope{principal.ScopeCaptain}, Note: "issued by the first start"})
	if err != nil {
		return fmt.Errorf("issue the first token: %w", err)
	}
	if err := putSynced(a.config.FirstToken, []byte(made.Secret+"\n")); err != nil {
		return errs.Wrap(errs.Unavailable, err, "the first token was issued and cannot be written to %s (first_token_file): issue another with skillrouter token create", a.config.FirstToken)
	}
	a.log.Info("the first token was issued: every call needs one", "first_token_file", a.config.FirstToken)
	return nil
}

// putSynced writes a file for this user alone in the place of the one of that name, which is there until the new one is whole.
func putSynced(path string, text []byte) error {
	temp := path + ".new" // moved into place, so that a crash leaves no half a secret
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := database.WriteSynced(temp, text); err != nil {
		return err
	}
	return errors.Join(os.Rename(temp, path), database.SyncFolder(filepath.Dir(path)))
}
