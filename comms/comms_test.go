package comms_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/comms/commstest"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// house is a running presence and mailbox on a database.
type house struct {
	Presence *comms.Presence
	Mailbox  *comms.Mailbox
	Store    *store.Store
	Close    func() // as a graceful end of the router would
}

// open opens the house in dir. It is closed with the test at the latest.
func open(t *testing.T, dir string, now clock.Clock, presence comms.PresenceOptions, mailbox comms.MailboxOptions) house {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	db, err := databasetest.OpenIn(t, dir, "operational", now, log)
	if err != nil {
		t.Fatal(err)
	}
	h := house{Store: store.New(db.Read, db.Commit)}
	committing, stopCommitting := context.WithCancel(context.WithoutCancel(t.Context()))
	running, stopRunning := context.WithCancel(committing)
	committed, ran := make(chan error, 1), make(chan error, 2)
	go func() { committed <- db.Commit.Run(committing) }()
	if h.Presence, err = comms.NewPresence(t.Context(), h.Store, nil, now, log, presence); err != nil {
		t.Fatal(err)
	}
	if h.Mailbox, err = comms.NewMailbox(t.Context(), h.Presence, h.Store, log, mailbox); err != nil {
		t.Fatal(err)
	}
	go func() { ran <- h.Presence.Run(running) }()
	go func() { ran <- h.Mailbox.Run(running) }()
	closed := false
	h.Close = func() {
		if closed {
			return
		}
		closed = true
		stopRunning()
		errs := []error{<-ran, <-ran}
		stopCommitting()
		if err := errors.Join(append(errs, <-committed, db.Close())...); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(h.Close)
	return h
}

func TestContract(t *testing.T) {
	commstest.Run(t, func(t *testing.T) func(principal.Principal) commstest.Services {
		h := open(t, t.TempDir(), time.Now, comms.PresenceOptions{}, comms.MailboxOptions{})
		return func(principal.Principal) commstest.Services {
			return commstest.Services{Presence: h.Presence, Mailbox: h.Mailbox}
		}
	})
}

func TestHalting(t *testing.T) {
	commstest.RunHalting(t, func(t *testing.T) func(principal.Principal) commstest.Services {
		h := open(t, t.TempDir(), time.Now, comms.PresenceOptions{}, comms.MailboxOptions{OnlyCaptainsStop: true})
		return func(principal.Principal) commstest.Services {
			return commstest.Services{Presence: h.Presence, Mailbox: h.Mailbox}
		}
	})
}
