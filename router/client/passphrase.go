package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"time"

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

// Times of connections by HTTP/2, of which one bears all calls: one whose other end is gone without a word would hold each up to its time limit.
const (
	pingAfter = 15 * time.Second // without a byte
	pingTime  = 5 * time.Second
)

// Trust says which routers are believed to be who they are when they are called by https. The zero value believes the
// system's authorities.
type Trust struct {
	// CA is a file of certificates (PEM) of authorities that are believed beside the system's; empty: none.
	CA string
}

// Config is the configuration of connections to a router, for whatever calls one: the commands, and one router that
// calls another. It may be a Transport's TLSClientConfig as it is. It reads the file now, and with it the system's
// authorities; without a file the first handshake reads those.
func (t Trust) Config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CA != "" {
		text, err := os.ReadFile(t.CA)
		if err != nil {
			return nil, errs.Wrap(errs.Invalid, err, "tls_ca: the file %s cannot be read (%v)", t.CA, errors.Unwrap(err))
		}
		roots, err := x509.SystemCertPool()
		if err != nil {
			roots = x509.NewCertPool() // this system has none
		}
		if !roots.AppendCertsFromPEM(text) {
			return nil, errs.Errorf(errs.Invalid, "tls_ca: there is no certificate (PEM) in %s", t.CA)
		}
		config.RootCAs = roots
	}
	return config, nil
}

// distrusted explains why the router at base is not believed, or does not speak as it was called; nil: that is not what happened.
// It is no Unavailable: another router is started in the place of none.
func distrusted(base string, err error) error {
	var (
		unknown x509.UnknownAuthorityError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
	)
	const because = "the router at %s cannot be believed to be who it is: "
	switch {
	case errors.Is(err, http.ErrSchemeMismatch):
		return errs.Wrap(errs.Conflict, err, "%s speaks plain HTTP: call it by http://", base)
	case errors.As(err, &unknown):
		return errs.Wrap(errs.Conflict, err, because+"no authority that is known here vouches for its certificate; a private one's file is named by tls_ca (SKILLROUTER_TLS_CA)", base)
	case errors.As(err, &name):
		return errs.Wrap(errs.Conflict, err, because+"%s", base, name.Error())
	case errors.As(err, &invalid):
		return errs.Wrap(errs.Conflict, err, because+"%s", base, invalid.Error())
	}
	return nil
}
