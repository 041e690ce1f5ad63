package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/cmd/hook/offline"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/router"
)

// Bounds of what doctor calls well.
const (
	// lowDisk is the free space, in bytes, below which doctor warns: a write-ahead
	// log of this size is no rarity under load.
	lowDisk = 256 << 20
	// clockSlack is how far the newest event may lie in the future before the clock is doubted.
	clockSlack = 5 * time.Second
	// checkTime bounds a page-by-page check of one database.
	checkTime = 20 * time.Second
)

// doctor looks the whole process over. Each check stands for itself: one that
// cannot be made is a failure that says why.
func (a *App) doctor(ctx context.Context) []router.SystemCheck {
	checks := []router.SystemCheck{a.checkSettings()}
	for _, db := range []*database.DB{a.learning, a.operational} {
		checks = append(checks, checkDatabase(ctx, db), a.checkClock(ctx, db))
	}
	checks = append(checks, a.checkNodes(ctx)...)
	checks = append(checks, a.checkHashes(ctx), a.checkLosses(), a.checkPassphrase())
	checks = append(checks, a.checkSocket(), a.checkFolder(), a.checkDisk(), a.checkOutbound())
	checks = append(checks, a.certificate.check()...)
	checks = append(checks, a.checkModel(ctx)...)
	checks = append(checks, a.checkHooks(ctx)...)
	return append(checks, a.wired.checks(ctx, a.now())...)
}

func (a *App) checkSettings() router.SystemCheck {
	access := "open to this user's programs until a token is issued; other users of this machine are refused"
	switch {
	case a.needsToken():
		access = "reachable from other machines, a token is needed"
	case !a.seesPeers:
		access = "open to every program and every user of this machine until a token is issued, because this system does not tell whose a call is: skillrouter token create"
	}
	return router.SystemCheck{Name: "settings", OK: true, Detail: fmt.Sprintf("listening on %s (%s), data in %s, heartbeat every %s, stale after %s, offline after %s, %s %s/%s",
		strings.Join(a.Addresses(), ", "), access, a.config.Data, a.config.Presence.HeartbeatInterval, a.config.Presence.StaleAfter, a.config.Presence.OfflineAfter,
		runtime.Version(), runtime.GOOS, runtime.GOARCH)}
}

// checkSocket tells where this user's hooks and commands reach the router.
func (a *App) checkSocket() router.SystemCheck {
	if a.socket == "" {
		return router.SystemCheck{Name: "socket", Detail: fmt.Sprintf("none (%v): hooks and commands reach the router by SKILLROUTER_SERVER and a token of SKILLROUTER_TOKEN alone", a.noSocket)}
	}
	return router.SystemCheck{Name: "socket", OK: true, Detail: "hooks and commands of this user call over " + a.socket}
}

// looked is a check by what a look says, or by why it is not well.
func looked(name string, look func() (said string, wrong error)) router.SystemCheck {
	said, wrong := look()
	if wrong != nil {
		said = wrong.Error()
	}
	return router.SystemCheck{Name: name, OK: wrong == nil, Detail: said}
}

// checkDatabase reads the pragmas back and checks every page and index.
func checkDatabase(ctx context.Context, db *database.DB) router.SystemCheck {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	if db.Server() != nil {
		return looked(db.Name+" database", func() (string, error) { return lookOnServer(ctx, db) })
	}
	return looked(db.Name+".db", func() (string, error) {
		if err := db.CheckPragmas(ctx); err != nil {
			return "", err
		}
		var verdict string
		err := db.Read.WithContext(ctx).Raw("PRAGMA integrity_check(1)").Scan(&verdict).Error
		if ctx.Err() != nil { // large, or the machine is busy: that is no damage
			return "", fmt.Errorf("not looked through within %s: it is large, or the machine is busy", checkTime)
		}
		if err != nil || verdict != "ok" {
			return "", errors.New("damaged: " + database.Fault(err, verdict))
		}
		version, schema, size, err := measure(ctx, db, "SELECT sqlite_version()")
		return fmt.Sprintf("integrity ok, schema %d, SQLite %s, WAL, synchronous FULL, foreign keys on, %s", schema, version, size), err
	})
}

// lookOnServer looks a database on a server over.
func lookOnServer(ctx context.Context, db *database.DB) (string, error) {
	conn, err := db.Read.DB()
	if err == nil {
		err = db.Server().Durable(ctx, conn)
	}
	version, schema, size, unread := measure(ctx, db, "SHOW server_version")
	return fmt.Sprintf("%s, schema %d, PostgreSQL %s, %s", db.Path, schema, version, size), errors.Join(err, unread)
}

// measure is which program has a database, which a query says, its schema and its size.
func measure(ctx context.Context, db *database.DB, query string) (version string, schema int64, size string, err error) {
	err = db.Read.WithContext(ctx).Raw(query).Scan(&version).Error
	schema, known := database.Version(ctx, db.Read.ConnPool)
	bytes, sized := db.Size(ctx)
	return version, schema, fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)), cmp.Or(err, known, sized)
}

// checkHashes holds the rows that have a hash of their content against it.
func (a *App) checkHashes(ctx context.Context) router.SystemCheck {
	return looked("knowledge hashes", func() (string, error) {
		bounded, cancel := context.WithTimeout(ctx, checkTime)
		defer cancel()
		found, err := compareHashes(bounded, a.learning.Read.ConnPool)
		if altered := found.String(); altered != "" {
			return "", errors.New(altered)
		}
		if bounded.Err() != nil && ctx.Err() == nil {
			return fmt.Sprintf("the first %d rows are as they were stored; the rest was not compared within %s (skillrouter verify compares all)", found.rows, checkTime), nil
		}
		return fmt.Sprintf("%d rows are as they were stored", found.rows), err
	})
}

// checkLosses tells of stored writes that turned out to be gone.
func (a *App) checkLosses() router.SystemCheck {
	return looked("stored writes", func() (string, error) {
		lost, err := Losses(a.config.Data)
		if len(lost) > 0 && err == nil {
			err = errors.New(strings.Join(lost, "; ") + ". Restore a backup, or remove " + filepath.Join(a.config.Data, lossesName) + " when you have seen to it")
		}
		return "none is known to be gone", err
	})
}

// checkClock compares the wall clock with the newest event: order does not
// depend on clocks, but expiry and presence do.
func (a *App) checkClock(ctx context.Context, db *database.DB) router.SystemCheck {
	return looked(db.Name+" clock", func() (string, error) {
		latest, err := newest(ctx, db)
		if err != nil || latest == nil {
			return "no event yet", err
		}
		ahead := time.UnixMilli(*latest).Sub(a.now())
		if ahead > clockSlack {
			err = fmt.Errorf("the newest event lies %s in the future: the clock was set back; expiry and presence are off until it catches up", ahead.Round(time.Second))
		}
		return fmt.Sprintf("newest event %s ago", (-ahead).Round(time.Millisecond)), err
	})
}

// clockReach is how many of the newest events the clock is compared with: one that
// came after the clock was set back must not hide those before.
const clockReach = 10_000

// newest is the latest time, in Unix milliseconds, of the newest events; nil: there are none.
func newest(ctx context.Context, db *database.DB) (at *int64, err error) {
	err = db.Read.WithContext(ctx).Raw("SELECT max(at) FROM (SELECT at FROM events ORDER BY seq DESC LIMIT ?) AS latest", clockReach).Scan(&at).Error
	return at, err
}

// warnOfClock says at the start that the clock was set back: what expires, and
// what is to be done at a time, waits for it.
func (a *App) warnOfClock(ctx context.Context, db *database.DB) {
	latest, err := newest(ctx, db)
	if err != nil || latest == nil {
		return
	}
	if ahead := time.UnixMilli(*latest).Sub(a.now()); ahead > clockSlack {
		a.log.Warn("the clock was set back: facts and reminders of before wait for the time that they were given", "database", db.Name, "by", ahead.Round(time.Second))
	}
}

// checkFolder looks for files that other users may read.
func (a *App) checkFolder() router.SystemCheck {
	return looked("files", func() (string, error) {
		if runtime.GOOS == "windows" {
			return "rights are the folder's own on Windows", nil
		}
		for _, name := range []string{"", "learning.db", "operational.db", locate.OwnerTokenName, locate.LockName, locate.SocketName, offline.CopyName, offline.KeyName, offline.SeenName, proceduresFolder, highWaterName, lossesName} {
			path := filepath.Join(a.config.Data, name)
			if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
				return "", fmt.Errorf("%s may be read by others (%v): chmod go= it", path, info.Mode().Perm())
			}
		}
		return "private to this user", nil
	})
}

func (a *App) checkDisk() router.SystemCheck {
	free, err := freeDisk(a.config.Data)
	if err != nil {
		return router.SystemCheck{Name: "disk", Detail: err.Error()}
	}
	return router.SystemCheck{Name: "disk", OK: free >= lowDisk, Detail: fmt.Sprintf("%.1f GiB free; %s", float64(free)/(1<<30), a.ballast.said())}
}

var _ router.SystemService = system{}

// system is the App as a service for whoever wants to know how it is.
type system struct{ app *App }

// Health implements router.SystemService.
func (s system) Health(ctx context.Context) (router.Health, error) {
	if err := principal.Of(ctx).Keeping().Need(principal.ScopeRead); err != nil {
		return router.Health{}, err
	}
	return s.app.health(ctx), nil
}

// Doctor implements router.SystemService.
func (s system) Doctor(ctx context.Context) (d router.Doctor, err error) {
	if err := principal.Of(ctx).Need(principal.ScopeCaptain); err != nil {
		return d, err
	}
	d.Checks = s.app.doctor(ctx)
	d.OK = !slices.ContainsFunc(d.Checks, func(c router.SystemCheck) bool { return !c.OK })
	return d, nil
}

// Outbound implements router.SystemService.
func (s system) Outbound(ctx context.Context) (list router.OutboundList, err error) {
	if err := principal.Of(ctx).Need(principal.ScopeCaptain); err != nil {
		return list, err
	}
	list.Places, list.Enforced = s.app.outbounds(), s.app.config.Airgapped
	list.Airgapped = !slices.ContainsFunc(list.Places, func(o router.Outbound) bool { return o.Leaves })
	return list, nil
}
