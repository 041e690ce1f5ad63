package locate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"skillrouter/internal/errs"
	"skillrouter/operational"
)

// OwnerTokenName is the file in the data folder that holds the owner's token.
const OwnerTokenName = "owner.token"

// ErrEmptyToken is of an owner.token that a power cut emptied.
var ErrEmptyToken = errors.New("the owner's token is empty")

// ReadOwnerToken returns the secret in dir's owner.token.
func ReadOwnerToken(dir string) (string, error) {
	path := filepath.Join(dir, OwnerTokenName)
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(string(text))
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && strings.Trim(secret, "\x00") == "" {
		return "", errs.Wrap(errs.Unavailable, ErrEmptyToken, "%s is empty; the router's next start makes a new one", path)
	}
	if !strings.HasPrefix(secret, operational.TokenPrefix) || len(secret) < 40 {
		return "", errs.Errorf(errs.Unavailable, "%s holds no token; remove it and start again to get a new one", path)
	}
	return secret, nil
}
