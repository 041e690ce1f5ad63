package lease_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/comms/lease"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/operational/store"
)

// clock is a time that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// team is leases, presence and mailboxes on one database.
type team struct {
	*clock
	t        testing.TB
	store    *store.Store
	leases   *lease.Leases
	presence *comms.Presence
	mailbox  *comms.Mailbox
	close    func()
}

// meet opens the team of a folder; its clock goes on with the former one's.
func meet(t testing.TB, dir string, c *clock) *team {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	db, err := databasetest.OpenIn(t, dir, "operational", c.now, log)
	if err != nil {
		t.Fatal(err)
	}
	s := store.New(db.Read, db.Commit)
	running, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ran := make(chan error, 1)
	go func() { ran <- db.Commit.Run(running) }()
	x := &team{clock: c, t: t, store: s}
	if x.presence, err = comms.NewPresence(t.Context(), s, nil, c.now, log, comms.PresenceOptions{}); err != nil {
		t.Fatal(err)
	}
	if x.mailbox, err = comms.NewMailbox(t.Context(), x.presence, s, log, comms.MailboxOptions{}); err != nil {
		t.Fatal(err)
	}
	if x.leases, err = lease.Open(t.Context(), s, x.presence, x.mailbox, log, lease.Options{Now: c.now}); err != nil {
		t.Fatal(err)
	}
	x.close = sync.OnceFunc(func() {
		stop()
		if err := errors.Join(<-ran, db.Close()); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(x.close)
	return x
}

func newTeam(t testing.TB) *team {
	return meet(t, t.TempDir(), &clock{at: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)})
}

func as(t testing.TB, agent string) context.Context {
	return principal.With(t.Context(), principal.Principal{AgentID: agent, Scopes: []principal.Scope{principal.ScopeAgent}})
}

func (x *team) beat(agent, status string) {
	x.t.Helper()
	if _, err := x.presence.Heartbeat(as(x.t, agent), comms.Heartbeat{AgentID: agent, Status: status}); err != nil {
		x.t.Fatal(err)
	}
}

func (x *team) try(agent string, d operational.LeaseDraft) (operational.Lease, error) {
	if d.Project == "" {
		d.Project = "shop"
	}
	return x.leases.Take(as(x.t, agent), d)
}

func (x *team) take(agent string, d operational.LeaseDraft) operational.Lease {
	x.t.Helper()
	l, err := x.try(agent, d)
	if err != nil {
		x.t.Fatal(err)
	}
	return l
}

// check is what is said of an agent's change: its case, or "" for nothing.
func (x *team) check(agent string, f lease.ChangedFile) lease.Case {
	x.t.Helper()
	if f.Projects == nil {
		f.Projects = []string{"shop"}
	}
	judged, err := x.leases.Check(as(x.t, agent), lease.Changes{AgentID: agent, Files: []lease.ChangedFile{f}})
	if err != nil {
		x.t.Fatal(err)
	}
	if len(judged.Claims) == 0 {
		return ""
	}
	if judged.Blocked != (judged.Claims[0].Case == lease.CaseExclusive) {
		x.t.Errorf("blocked %v, and the case is %s", judged.Blocked, judged.Claims[0].Case)
	}
	return judged.Claims[0].Case
}

func (x *team) look() {
	x.t.Helper()
	if err := x.leases.Look(x.t.Context()); err != nil {
		x.t.Fatal(err)
	}
}

// mail is what the router told an agent of leases.
func (x *team) mail(agent string) (texts []string) {
	x.t.Helper()
	inbox, err := x.mailbox.Inbox(as(x.t, agent), comms.InboxQuery{AgentID: agent, Limit: 1000})
	if err != nil {
		x.t.Fatal(err)
	}
	for _, m := range inbox.Messages {
		if m.Signal == lease.SignalLease {
			texts = append(texts, string(m.Context))
		}
	}
	return texts
}

func TestWhoIsBlockedAndWhoIsWarned(t *testing.T) {
	x := newTeam(t)
	mine := x.take("ann", operational.LeaseDraft{Patterns: []string{"src/**"}, Folder: "/w/shop", Why: "the cart"})
	x.take("bob", operational.LeaseDraft{Patterns: []string{"docs"}, Shared: true})
	for _, c := range []struct {
		agent string
		file  lease.ChangedFile
		want  lease.Case
	}{
		{"eve", lease.ChangedFile{Path: "src/a.go", Folder: "/w/shop"}, lease.CaseExclusive},
		{"eve", lease.ChangedFile{Path: "SRC/A.go"}, lease.CaseExclusive},
		{"eve", lease.ChangedFile{Path: "src", Recursive: true}, lease.CaseExclusive},
		{"eve", lease.ChangedFile{Path: ".", Recursive: true}, lease.CaseExclusive},
		{"eve", lease.ChangedFile{Path: "s*/*.go", Pattern: true}, lease.CaseExclusive},
		{"eve", lease.ChangedFile{Path: "src/../src/a.go"}, ""}, // whoever asks cleans it
		{"eve", lease.ChangedFile{Path: "src/a.go", Folder: "/w/shop-2"}, lease.CaseWorktree},
		{"eve", lease.ChangedFile{Path: "src/a.go", Projects: []string{"other"}}, ""},
		{"eve", lease.ChangedFile{Path: "src/a.go", Projects: []string{"other", "shop"}}, lease.CaseExclusive},
		{"eve", lease.ChangedFile{Path: "docs/x/y.md"}, lease.CaseShared},
		{"eve", lease.ChangedFile{Path: "README.md"}, ""},
		{"ann", lease.ChangedFile{Path: "src/b.go"}, ""},
		{"", lease.ChangedFile{Path: "src/a.go"}, lease.CaseExclusive}, // a person's
	} {
		if got := x.check(c.agent, c.file); got != c.want {
			t.Errorf("%s changes %+v: %q, want %q", c.agent, c.file, got, c.want)
		}
	}
	if _, err := x.try("eve", operational.LeaseDraft{Patterns: []string{"src/*.go"}}); errs.CodeOf(err) != errs.Conflict || !strings.Contains(err.Error(), "ann") || !strings.Contains(err.Error(), "the cart") {
		t.Errorf("a lease that overlaps: %v", err)
	}
	if _, err := x.try("eve", operational.LeaseDraft{Patterns: []string{"docs/a.md"}, Shared: true}); err != nil {
		t.Errorf("two shared ones: %v", err)
	}
	again := x.take("ann", operational.LeaseDraft{Patterns: []string{"src/**"}, Folder: "/w/shop", TTLSeconds: 60})
	if again.ID != mine.ID || again.Why != "the cart" {
		t.Errorf("taken again: %+v, first %+v", again, mine)
	}
}

func TestALeaseIsRenewedByHeartbeatsAndLapsesAloud(t *testing.T) {
	dir := t.TempDir()
	c := &clock{at: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
	x := meet(t, dir, c)
	x.beat("ann", "working")
	l := x.take("ann", operational.LeaseDraft{Patterns: []string{"src"}, TTLSeconds: 600})
	for range 12 { // two hours
		x.pass(9 * time.Minute)
		x.beat("ann", "working")
		x.look()
	}
	if got := x.check("eve", lease.ChangedFile{Path: "src/a"}); got != lease.CaseExclusive {
		t.Fatalf("with heartbeats: %q", got)
	}
	x.pass(5 * time.Minute)
	if got := x.check("eve", lease.ChangedFile{Path: "src/a"}); got != lease.CaseSilent {
		t.Errorf("a silent holder: %q", got)
	}
	// A router that was away for long heard nobody: the silence begins anew.
	x.close()
	c.pass(time.Hour)
	x = meet(t, dir, c)
	x.look()
	if got := x.check("eve", lease.ChangedFile{Path: "src/a"}); got != lease.CaseExclusive {
		t.Errorf("after the router was away: %q", got)
	}
	x.pass(11 * time.Minute)
	if got := x.check("eve", lease.ChangedFile{Path: "src/a"}); got != lease.CaseEnded { // before anybody looked
		t.Errorf("after it lapsed: %q", got)
	}
	if _, err := x.try("eve", operational.LeaseDraft{Patterns: []string{"src/b"}}); err != nil {
		t.Errorf("a lapsed lease stands in the way: %v", err)
	}
	x.look()
	if mail := x.mail("ann"); len(mail) != 1 || !strings.Contains(mail[0], "lapsed") || !strings.Contains(mail[0], fmt.Sprintf(`"lease_id":%d`, l.ID)) {
		t.Errorf("ann was told %q", mail)
	}
	x.close()
	x = meet(t, dir, c)
	x.look()
	if mail := x.mail("ann"); len(mail) != 1 {
		t.Errorf("after a restart ann was told %q", mail)
	}
	x.pass(11 * time.Minute)
	if got := x.check("eve", lease.ChangedFile{Path: "src/a"}); got != "" {
		t.Errorf("long after: %q", got)
	}
}

func TestALeaseEndsWithTheSession(t *testing.T) {
	x := newTeam(t)
	left := 0
	x.presence.OnLeave(func() { left++ })
	x.beat("ann", "working")
	x.take("ann", operational.LeaseDraft{Patterns: []string{"src"}})
	x.pass(time.Second)
	x.beat("ann", "exited: the session ended")
	if got := x.check("eve", lease.ChangedFile{Path: "src/a"}); got != "" || left != 1 {
		t.Errorf("after the session: %q, told %d times", got, left)
	}
	x.pass(time.Second)
	x.beat("ann", "working") // the next session in the folder comes before anybody looked
	x.look()
	if got := x.check("eve", lease.ChangedFile{Path: "src/b"}); got != "" {
		t.Errorf("the next session has the lease: %q", got)
	}
	if mail := x.mail("ann"); len(mail) != 1 || !strings.Contains(mail[0], "session") {
		t.Errorf("told %q", mail)
	}
}

func TestWhoMayEndALease(t *testing.T) {
	x := newTeam(t)
	l := x.take("ann", operational.LeaseDraft{Patterns: []string{"src"}})
	if _, err := x.leases.Release(as(t, "eve"), operational.LeaseRelease{IDs: []int64{l.ID}}); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("another agent's: %v", err)
	}
	captain := principal.With(t.Context(), principal.Principal{Scopes: []principal.Scope{principal.ScopeCaptain}})
	given, err := x.leases.Release(captain, operational.LeaseRelease{IDs: []int64{l.ID}})
	if err != nil || len(given) != 1 {
		t.Fatal(given, err)
	}
	x.look()
	if mail := x.mail("ann"); len(mail) != 1 || !strings.Contains(mail[0], "released by captain") {
		t.Errorf("told %q", mail)
	}
	if given, err := x.leases.Release(as(t, "ann"), operational.LeaseRelease{IDs: []int64{l.ID}}); err != nil || len(given) != 0 {
		t.Errorf("given back again: %v, %v", given, err)
	}
	if _, err := x.leases.Take(captain, operational.LeaseDraft{AgentID: "ann", Project: "shop", Patterns: []string{"**"}}); err != nil {
		t.Errorf("a captain takes everything: %v", err)
	}
	if _, err := x.try("eve", operational.LeaseDraft{Project: "b", Patterns: []string{"**"}}); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("an agent takes everything: %v", err)
	}
	if _, err := x.try("eve", operational.LeaseDraft{Project: "b", Patterns: []string{"**"}, Shared: true}); err != nil {
		t.Errorf("an agent shares everything: %v", err)
	}
	for _, ttl := range []int64{-1, 1, 59, 28_801, 1 << 62} {
		if _, err := x.try("eve", operational.LeaseDraft{Patterns: []string{"a"}, TTLSeconds: ttl}); errs.CodeOf(err) != errs.Invalid {
			t.Errorf("%d seconds: %v", ttl, err)
		}
	}
	for i := range lease.MaxOfAgent + 1 {
		_, err := x.try("mia", operational.LeaseDraft{Patterns: []string{fmt.Sprint("f", i)}, Project: "c"})
		if full := errs.CodeOf(err) == errs.RateLimited; full != (i == lease.MaxOfAgent) || err != nil && !full {
			t.Fatalf("lease %d: %v", i, err)
		}
	}
}

func TestAHoldHasAnEnd(t *testing.T) {
	x := newTeam(t)
	x.take("ann", operational.LeaseDraft{Patterns: []string{"src"}, TTLSeconds: 8 * 3600})
	for range 13 {
		x.pass(time.Hour)
		x.beat("ann", "working")
	}
	x.look()
	if mail := x.mail("ann"); len(mail) != 1 || !strings.Contains(mail[0], "held for 12h") {
		t.Errorf("told %q", mail)
	}
}

func TestTwoWhoChangeOneFileAreEachToldOnce(t *testing.T) {
	x := newTeam(t)
	f := lease.ChangedFile{Path: "a.go", Folder: "/w"}
	for i, step := range []struct {
		agent string
		want  lease.Case
	}{{"ann", ""}, {"bob", lease.CaseEditing}, {"bob", ""}, {"ann", lease.CaseEditing}, {"ann", ""}} {
		if got := x.check(step.agent, f); got != step.want {
			t.Errorf("step %d, %s: %q, want %q", i, step.agent, got, step.want)
		}
	}
	if got := x.check("bob", lease.ChangedFile{Path: "a.go", Folder: "/w2"}); got != "" {
		t.Errorf("in another worktree: %q", got)
	}
	x.pass(time.Hour)
	if got := x.check("bob", f); got != "" {
		t.Errorf("an hour later: %q", got)
	}
}

// TestManyWhoChangeOneFile: names cost nothing, so that of one file not all are remembered who say that they change it.
func TestManyWhoChangeOneFile(t *testing.T) {
	x := newTeam(t)
	alone := 0
	for i := range 400 {
		if x.check(fmt.Sprint("fox-", i), lease.ChangedFile{Path: "a.go", Folder: "/w"}) == "" {
			alone++
		}
	}
	if alone < 2 {
		t.Errorf("of 400 who change a file %d were told of nobody", alone)
	}
}

// patternsOfMany are patterns of MaxLeases leases: %d is a number of each.
var patternsOfMany = map[string]string{"folders": "src/p%d/m%d/**", "deep": "**/gen%d/x%d_*.go"}

// manyLeases is a team that has as many leases as there may be, read anew.
func manyLeases(t testing.TB, pattern string) *team {
	t.Helper()
	dir, c := t.TempDir(), &clock{at: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)}
	x := meet(t, dir, c)
	var takers errgroup.Group
	takers.SetLimit(64) // they share their transactions
	for i := range lease.MaxLeases {
		takers.Go(func() error {
			_, err := x.store.TakeLease(t.Context(), operational.Lease{
				AgentID: fmt.Sprint("agent", i), Project: "shop", Patterns: []string{fmt.Sprintf(pattern, i%100, i)}, TTLSeconds: 600, TakenAt: c.now(), RenewedAt: c.now(),
			}, func(operational.Lease) {})
			return err
		})
	}
	if err := takers.Wait(); err != nil {
		t.Fatal(err)
	}
	x.close()
	return meet(t, dir, c)
}

// TestManyLeases: one lease more than MaxLeases is refused, and each of them is found.
func TestManyLeases(t *testing.T) {
	pattern := patternsOfMany["deep"]
	x := manyLeases(t, pattern)
	defer x.close()
	if _, err := x.try("one-more", operational.LeaseDraft{Patterns: []string{"x"}}); errs.CodeOf(err) != errs.Unavailable {
		t.Errorf("one more: %v", err)
	}
	if got := x.check("eve", lease.ChangedFile{Path: fmt.Sprintf(strings.NewReplacer("**", "z", "*", "z").Replace(pattern), 77, 77)}); got != lease.CaseExclusive {
		t.Errorf("the one lease among them is not found: %q", got)
	}
}

// BenchmarkChecks is the time of a check among MaxLeases leases, also where each pattern begins with **: some two milliseconds there, and half of one elsewhere.
func BenchmarkChecks(b *testing.B) {
	for name, pattern := range patternsOfMany {
		b.Run(name, func(b *testing.B) {
			x := manyLeases(b, pattern)
			defer x.close()
			for i := 0; b.Loop(); i++ {
				x.leases.Judge("eve", []lease.ChangedFile{{Path: fmt.Sprintf("src/p%d/m%d/deep/file_test.go", i%100, i), Projects: []string{"shop"}}})
			}
		})
	}
}

// TestNobodyIsAskedForWhatHasEnded: the files are free, and the former holder is not written to.
func TestNobodyIsAskedForWhatHasEnded(t *testing.T) {
	x := newTeam(t)
	ask := func(id int64) error {
		_, err := x.leases.Ask(as(t, "eve"), operational.LeaseQuestion{AgentID: "eve", ID: id, Text: "are you done?"})
		return err
	}
	given := x.take("ann", operational.LeaseDraft{Patterns: []string{"src"}})
	if err := ask(given.ID); err != nil {
		t.Errorf("while it is held: %v", err)
	}
	if _, err := x.leases.Release(as(t, "ann"), operational.LeaseRelease{IDs: []int64{given.ID}}); err != nil {
		t.Fatal(err)
	}
	silent := x.take("bob", operational.LeaseDraft{Patterns: []string{"docs"}, TTLSeconds: 60})
	x.pass(2 * time.Minute) // nobody has looked yet
	for _, id := range []int64{given.ID, silent.ID} {
		if err := ask(id); errs.CodeOf(err) != errs.NotFound || !strings.Contains(err.Error(), "are free") {
			t.Errorf("lease %d has ended, and who asks for it is answered %v", id, err)
		}
	}
}

// TestALeaseIsGivenBackOnce: also where a release names it twice.
func TestALeaseIsGivenBackOnce(t *testing.T) {
	x := newTeam(t)
	one := x.take("ann", operational.LeaseDraft{Patterns: []string{"src"}})
	two := x.take("ann", operational.LeaseDraft{Patterns: []string{"docs"}})
	ids := []int64{two.ID, one.ID, two.ID}
	given, err := x.leases.Release(as(t, "ann"), operational.LeaseRelease{IDs: ids})
	if err != nil || len(given) != 2 || given[0].ID != one.ID || given[1].ID != two.ID {
		t.Errorf("given back: %+v, %v", given, err)
	}
	events, err := x.store.Events(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	ended := 0
	for _, e := range events {
		if e.Type == "lease.ended" {
			ended++
		}
	}
	if ended != 2 || ids[0] != two.ID {
		t.Errorf("%d ends are told, and the ids are %v", ended, ids)
	}
}

// TestALongFarewell: it is told where it fits into a message, and given up where it never will. Else it was tried each second.
func TestALongFarewell(t *testing.T) {
	x := newTeam(t)
	patterns := func(sign string) (list []string) {
		for i := range lease.MaxPatterns {
			list = append(list, fmt.Sprintf("%02d", i)+strings.Repeat(sign, lease.MaxPattern-2))
		}
		return list
	}
	x.take("ann", operational.LeaseDraft{Patterns: patterns(`"`), TTLSeconds: 60}) // JSON writes two bytes for the sign
	x.take("bob", operational.LeaseDraft{Patterns: patterns("<"), TTLSeconds: 60}) // and six for this one
	x.pass(2 * time.Minute)
	for range 2 {
		x.look()
	}
	if ann, bob := x.mail("ann"), x.mail("bob"); len(ann) != 1 || !strings.Contains(ann[0], "lapsed at") || len(bob) != 0 {
		t.Errorf("ann was told %d times, bob %d", len(ann), len(bob))
	}
}

// TestBracketsInPaths takes routes whose folders have brackets in their names, as agents give them.
func TestBracketsInPaths(t *testing.T) {
	x := newTeam(t)
	x.beat("ann", "")
	x.beat("bob", "")
	x.take("ann", operational.LeaseDraft{Patterns: []string{"src/[id]/page.tsx", "app/[...slug]/**"}})
	for path, want := range map[string]lease.Case{
		"src/[id]/page.tsx": lease.CaseExclusive, "app/[...slug]/a/b.ts": lease.CaseExclusive, "src/i/page.tsx": "", "app/s/b.ts": "",
	} {
		if got := x.check("bob", lease.ChangedFile{Path: path}); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	// A shell's pattern may mean either.
	if got := x.check("bob", lease.ChangedFile{Path: "src/[id]/*", Pattern: true}); got != lease.CaseExclusive {
		t.Errorf("a pattern with the same brackets: %q", got)
	}
	l := x.take("ann", operational.LeaseDraft{Patterns: []string{"lib/[ab].ts"}, Glob: true})
	if !l.Glob || l.Patterns[0] != "lib/[ab].ts" {
		t.Errorf("%+v", l)
	}
	if got := x.check("bob", lease.ChangedFile{Path: "lib/b.ts"}); got != lease.CaseExclusive {
		t.Errorf("a class that was asked for: %q", got)
	}
}
