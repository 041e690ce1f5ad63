package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"skillrouter"
	"skillrouter/operational"
)

// OwnerTokenName is the file in the data folder that holds the owner's token.
const OwnerTokenName = "owner.token"

// errEmptyToken is of an owner.token that a power cut emptied.
var errEmptyToken = errors.New("the owner's token is empty")

// OwnerToken returns the secret in dir's owner.token, making it at the first
// start. Whoever can read that file can read the databases beside it.
//
// An empty file counts as none: a power cut leaves it where the file's name was
// on disk before its content. A new secret opens nothing to anybody else: the
// file is made anew, for this user alone, in a folder that only this user may
// write to; what held the old secret is refused from then on. What is no plain
// file, or holds anything else, is somebody's doing, and is left as it is.
func OwnerToken(dir string) (string, error) {
	path := filepath.Join(dir, OwnerTokenName)
	secret, err := ReadOwnerToken(dir)
	if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, errEmptyToken) {
		return secret, err
	}
	secret = operational.NewSecret()
	temp := path + ".new" // moved into place, so that a crash leaves no half a secret
	if err := os.Remove(temp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	if err := writeSynced(temp, []byte(secret+"\n")); err != nil {
		return "", fmt.Errorf("write the owner's token: %w", err)
	}
	return secret, errors.Join(os.Rename(temp, path), syncFolder(dir))
}

// ReadOwnerToken returns the secret in dir's owner.token.
func ReadOwnerToken(dir string) (string, error) {
	path := filepath.Join(dir, OwnerTokenName)
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(string(text))
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && strings.Trim(secret, "\x00") == "" {
		return "", skillrouter.Wrap(skillrouter.Unavailable, errEmptyToken, "%s is empty; the router's next start makes a new one", path)
	}
	if !strings.HasPrefix(secret, operational.TokenPrefix) || len(secret) < 40 {
		return "", skillrouter.Errorf(skillrouter.Unavailable, "%s holds no token; remove it and start again to get a new one", path)
	}
	return secret, nil
}
