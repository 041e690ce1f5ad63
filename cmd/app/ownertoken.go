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

// OwnerToken returns the secret in dir's owner.token, making it at the first
// start. Whoever can read that file can read the databases beside it.
func OwnerToken(dir string) (string, error) {
	path := filepath.Join(dir, OwnerTokenName)
	secret, err := ReadOwnerToken(dir)
	if !errors.Is(err, os.ErrNotExist) {
		return secret, err
	}
	secret = operational.NewSecret()
	temp := path + ".new" // moved into place, so that a crash leaves no half a secret
	if err := os.WriteFile(temp, []byte(secret+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("write the owner's token: %w", err)
	}
	return secret, os.Rename(temp, path)
}

// ReadOwnerToken returns the secret in dir's owner.token.
func ReadOwnerToken(dir string) (string, error) {
	path := filepath.Join(dir, OwnerTokenName)
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(string(text))
	if !strings.HasPrefix(secret, operational.TokenPrefix) || len(secret) < 40 {
		return "", skillrouter.Errorf(skillrouter.Unavailable, "%s holds no token; remove it and start again to get a new one", path)
	}
	return secret, nil
}
