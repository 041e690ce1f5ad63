package client

import (
	"context"
	"net"
	"net/netip"
	"net/url"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/operational/person"
)

// Persons is person.PersonService of the router.
type Persons struct{ c *Client }

// State implements person.PersonService.
func (p Persons) State(ctx context.Context) (person.PassphraseState, error) {
	return Ask(ctx, p.c, person.PersonService.State)
}

// SetPassphrase implements person.PersonService.
func (p Persons) SetPassphrase(ctx context.Context, draft person.PassphraseDraft) (state person.PassphraseState, err error) {
	if err = p.private(); err == nil {
		state, err = Send(ctx, p.c, person.PersonService.SetPassphrase, draft)
	}
	return state, err
}

// SignIn implements person.PersonService.
func (p Persons) SignIn(ctx context.Context, draft person.PersonDraft) (session person.PersonSession, err error) {
	if err = p.private(); err == nil {
		session, err = Send(ctx, p.c, person.PersonService.SignIn, draft)
	}
	return session, err
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
