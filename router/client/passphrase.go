package client

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"

	"skillrouter/internal/errs"
	"skillrouter/operational/person"
)

// Persons is person.PersonService of the router.
type Persons struct{ c *Client }

// State implements person.PersonService.
func (p Persons) State(ctx context.Context) (person.PassphraseState, error) {
	return call[person.PassphraseState](ctx, p.c, http.MethodGet, at("/api/passphrase"), nil)
}

// SetPassphrase implements person.PersonService.
func (p Persons) SetPassphrase(ctx context.Context, draft person.PassphraseDraft) (person.PassphraseState, error) {
	return p.send(ctx, "/api/passphrase", draft)
}

// SignIn implements person.PersonService.
func (p Persons) SignIn(ctx context.Context, draft person.PersonDraft) (person.PersonSession, error) {
	if err := p.private(); err != nil {
		return person.PersonSession{}, err
	}
	return call[person.PersonSession](ctx, p.c, http.MethodPost, at("/api/passphrase/person"), draft)
}

// AllowStops implements person.PersonService.
func (p Persons) AllowStops(ctx context.Context, draft person.StopsDraft) (person.PassphraseState, error) {
	return p.send(ctx, "/api/passphrase/agents-may-stop", draft)
}

func (p Persons) send(ctx context.Context, path string, draft any) (person.PassphraseState, error) {
	if err := p.private(); err != nil {
		return person.PassphraseState{}, err
	}
	return call[person.PassphraseState](ctx, p.c, http.MethodPut, at(path), draft)
}

// private refuses a router that a passphrase would reach in clear text over a network.
func (p Persons) private() error {
	if p.c.options.Connect != nil { // a socket
		return nil
	}
	u, err := url.Parse(p.c.base)
	if err != nil || u.Scheme != "http" || u.Hostname() == "localhost" {
		return err
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.Unmap().IsLoopback() {
		return nil
	}
	return errs.Errorf(errs.Forbidden, "the passphrase is not sent to %s over plain HTTP, where others could read it: use https (docs/operations.md#tls), or give the command on that machine", net.JoinHostPort(u.Hostname(), u.Port()))
}
