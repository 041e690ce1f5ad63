package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"skillrouter/internal/errs"
)

// Headers of a message, as https://www.standardwebhooks.com names them: receivers' libraries verify them.
const (
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)

const (
	secretPrefix = "whsec_"
	// minSecret and maxSecret bound a secret, in bytes, as Standard Webhooks has it; secretSize is that of one that is made here.
	minSecret, maxSecret, secretSize = 24, 64, 32
)

// Secret is what messages are signed with. It prints as a mask.
type Secret struct{ key []byte }

// String implements fmt.Stringer.
func (Secret) String() string { return "[secret]" }

// NewSecret makes a secret, as the text of its file.
func NewSecret() string {
	key := make([]byte, secretSize)
	_, _ = rand.Read(key) // it never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(key)
}

// ParseSecret reads the text of a secret's file.
func ParseSecret(text string) (Secret, error) {
	coded, ok := strings.CutPrefix(strings.TrimSpace(text), secretPrefix)
	key, err := base64.StdEncoding.DecodeString(coded)
	if !ok || err != nil || len(key) < minSecret || len(key) > maxSecret {
		return Secret{}, errs.InvalidField("webhook_secret_file", "must hold %s and %d to %d bytes in base64; without the file the router makes one", secretPrefix, minSecret, maxSecret)
	}
	return Secret{key}, nil
}

// sign returns the signature of a message at a time, in seconds since 1970.
func (s Secret) sign(id, at string, body []byte) string {
	mac := hmac.New(sha256.New, s.key)
	fmt.Fprintf(mac, "%s.%s.%s", id, at, body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// send makes one attempt.
func (h *Hook) send(ctx context.Context, m *message) error {
	ctx, cancel := context.WithTimeout(ctx, h.options.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(m.Body))
	if err != nil {
		return err
	}
	at := strconv.FormatInt(h.options.Now().Unix(), 10) // of this attempt: receivers refuse what is old
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "skillrouter")
	request.Header.Set(HeaderID, m.ID)
	request.Header.Set(HeaderTimestamp, at)
	request.Header.Set(HeaderSignature, h.options.Secret.sign(m.ID, at, m.Body))
	response, err := h.http.Do(request)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // without the address, whose path may hold a secret
		}
		return err
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, answerRead) // so that the connection can be used again
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("it answers %d", response.StatusCode)
	}
	return nil
}
