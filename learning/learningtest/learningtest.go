// Package learningtest is the contract of the learning services as a test suite. Each implementation
// of a service must pass it: the one beside the database, the client over HTTP and the tools over MCP.
// It defines what clients may rely on, and knows no implementation.
package learningtest

import (
	"context"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/knowledge"
)

// Services are the services under test, on an empty database.
type Services struct {
	Knowledge knowledge.Service
	Episodes  episode.Service
}

// Run runs the whole contract. open is called for each case and must give
// services on a database of its own, which takes calls as principal.Open.
func Run(t *testing.T, open func(t *testing.T) Services) {
	t.Run("knowledge", func(t *testing.T) {
		RunKnowledge(t, func(t *testing.T) knowledge.Service { return open(t).Knowledge })
	})
	t.Run("episodes", func(t *testing.T) {
		RunEpisodes(t, func(t *testing.T) episode.Service { return open(t).Episodes })
	})
}

// contract is what a service promises: sentences, each with the test that holds it, over a world of its own.
type contract[World any] []struct {
	name string
	run  func(t *testing.T, ctx context.Context, w World)
}

func (c contract[World]) run(t *testing.T, open func(t *testing.T) World) {
	for _, test := range c {
		t.Run(test.name, func(t *testing.T) { test.run(t, caller(t), open(t)) })
	}
}

// caller is the context that the suite calls with: a router without tokens.
func caller(t *testing.T) context.Context {
	return principal.With(t.Context(), principal.Open())
}

// refused fails the test unless err has the code and names the field, in its
// own member or in its message.
func refused(t *testing.T, err error, code errs.Code, field string) {
	t.Helper()
	if errs.CodeOf(err) != code {
		t.Errorf("error %v: want code %s", err, code)
		return
	}
	if field != "" && errs.FieldOf(err) != field && !strings.Contains(errs.MessageOf(err), field) {
		t.Errorf("error %v does not name the field %s", err, field)
	}
}

// refuses is refused for a call that answers something beside its error.
func refuses(t *testing.T, code errs.Code, field string) func(_ any, err error) {
	return func(_ any, err error) {
		t.Helper()
		refused(t, err, code, field)
	}
}

// spoilt are changes of a good draft that have it refused, each with the field that is named.
type spoilt[Draft any] []struct {
	name, field string
	code        errs.Code
	change      func(d *Draft)
}

func (s spoilt[Draft]) refused(t *testing.T, good func() Draft, take func(d Draft) error) {
	for _, one := range s {
		t.Run(one.name, func(t *testing.T) {
			d := good()
			one.change(&d)
			refused(t, take(d), one.code, one.field)
		})
	}
}

// need fails the test, and ends it, if err is one.
func need(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func must[T any](t *testing.T) func(value T, err error) T {
	return func(value T, err error) T {
		t.Helper()
		need(t, err)
		return value
	}
}
