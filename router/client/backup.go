package client

import (
	"context"
	"io"
	"net/http"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// Backup has the router make a backup of both its databases and writes the
// archive to w. ownerToken puts the owner's token in, for which the client must
// be the owner. After an error w holds no whole archive.
func (s System) Backup(ctx context.Context, ownerToken bool, w io.Writer) error {
	to := at("/api/backup")
	if ownerToken {
		to = to.and("owner_token", "true")
	}
	return s.c.stream(ctx, to, "application/gzip", w)
}

// stream copies an answer of unbounded length to w. It takes as long as the
// router has something to send, and fails if it is cut off.
func (c *Client) stream(ctx context.Context, from address, contentType string, w io.Writer) error {
	r, err := c.request(ctx, http.MethodGet, from, nil, "")
	if err != nil {
		return err
	}
	r.Header.Set("Accept", contentType+", application/problem+json")
	response, err := c.http.Do(r)
	if err != nil {
		return c.unreachable(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return c.problem(response)
	}
	if got := response.Header.Get("Content-Type"); got != contentType {
		return errs.Errorf(errs.Unavailable, "%s answered %q, and not as a router does", c.base, got)
	}
	watched := &brokenReader{from: response.Body}
	if _, err := io.Copy(w, watched); err != nil {
		if watched.err != nil {
			return c.unreachable(ctx, watched.err)
		}
		return err
	}
	return nil
}

// brokenReader remembers why it could not be read, to be told from not being able to write.
type brokenReader struct {
	from io.Reader
	err  error
}

// Read implements io.Reader.
func (b *brokenReader) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // a Reader's EOF is never wrapped
		b.err = err
	}
	return n, err
}
