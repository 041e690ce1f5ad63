package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/cmd/hook/offline"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/router"
)

// How often the copy of the guard's rules is written.
const (
	// copyGather is how long a change of the rules is held back for others to join it, so that a bulk of reports is no bulk of copies.
	copyGather = time.Second
	// copyRest is how many times as long as a copy took the next change is held back, at most copyGatherMost: with thousands of rules,
	// and new ones all the time, a copy a second were a fifteenth of all that the router does.
	copyRest       = 50
	copyGatherMost = 10 * time.Second
	// copyEvery is how often it is written though nothing changed, so that its age says since when the router is away.
	copyEvery = 5 * time.Minute
)

// keepGuardCopy writes the guard's rules to where hooks find them that get no answer, until ctx ends. A copy that cannot be
// written is told and tried again; the guard goes on without it.
func (a *App) keepGuardCopy(ctx context.Context, guards *guard.Guards) error {
	failing := false
	var took time.Duration
	write := func() {
		began := a.now()
		defer func() { took = a.now().Sub(began) }()
		c := guards.Copy()
		c.Router, c.Version = a.URL(), a.options.Version
		err := offline.Write(a.config.Data, c)
		switch {
		case err != nil && !failing:
			a.log.Warn("the copy of the guard's rules, for hooks that get no answer, cannot be written", "error", err)
		case err == nil && failing:
			a.log.Info("the copy of the guard's rules is written again")
		}
		failing = err != nil
	}
	again := time.NewTicker(copyEvery)
	defer again.Stop()
	write()
	for {
		select {
		case <-ctx.Done():
			select {
			case <-guards.Changed():
				write()
			default:
			}
			return nil
		case <-again.C:
		case <-guards.Changed():
			_ = committer.Pause(ctx, max(copyGather, min(copyRest*took, copyGatherMost))) // at the end what waits is written at once
		}
		write()
	}
}

const (
	// hooksSince is how far back an agent is looked at that used tools and asked the guard nothing.
	hooksSince = 24 * time.Hour
	// hookSlack is how much earlier than its last use of a tool an agent may have asked: a check comes before its tool, and a
	// tool may take long.
	hookSlack = 10 * time.Minute
	// copySince is how far back the uses of the copy are counted.
	copySince = 7 * 24 * time.Hour
	// hookReach is how many of the newest things that agents said of themselves are looked at.
	hookReach = 10_000
)

// checkHooks tells of hooks that were expected and did not come, and how often hooks judged by the copy of the rules.
func (a *App) checkHooks(ctx context.Context) []router.SystemCheck {
	return []router.SystemCheck{
		looked("agents' hooks", func() (string, error) { return a.lookForAsking(ctx) }),
		looked("copy of the guard's rules", func() (string, error) { return a.lookAtCopy(ctx) }),
	}
}

// lookForAsking compares what hooks said that their agents used with who asked the guard: hooks tell of a tool before and after it, and
// one that tells of it without having asked is half set up.
func (a *App) lookForAsking(ctx context.Context) (string, error) {
	now := a.now()
	var uses []struct {
		Agent string
		At    int64
	}
	err := a.operational.Read.WithContext(ctx).Raw(`SELECT agent_id AS agent, max(at) AS at FROM
		(SELECT agent_id, at, data FROM events WHERE type IN ('agent.status', 'agent.state') ORDER BY seq DESC LIMIT ?) AS latest
		WHERE at >= ? AND data LIKE '%"status":"using %' AND data NOT LIKE '%"status":"using Task"%' AND data NOT LIKE '%"status":"using Agent"%'
		GROUP BY agent_id ORDER BY agent_id`, hookReach, now.Add(-hooksSince).UnixMilli()).Scan(&uses).Error
	if err != nil {
		return "", err
	}
	asked, err := a.wired.guards.Asked(ctx, now.Add(-hooksSince-hookSlack))
	if err != nil {
		return "", err
	}
	var silent []string
	for _, u := range uses {
		at := time.UnixMilli(u.At)
		if last, ever := asked[u.Agent]; !ever || at.Sub(last) > hookSlack {
			silent = append(silent, fmt.Sprintf("%s (last %s ago)", u.Agent, now.Sub(at).Round(time.Second)))
		}
	}
	if len(silent) > 0 {
		return "", fmt.Errorf("used tools within a day, and the guard was not asked: %s. `skillrouter setup AGENT --check` says why", strings.Join(silent[:min(len(silent), 10)], ", "))
	}
	return fmt.Sprintf("each of %d that used tools within a day asked the guard", len(uses)), nil
}

func (a *App) lookAtCopy(ctx context.Context) (string, error) {
	written, err := offline.Read(a.config.Data)
	if err != nil {
		return "", fmt.Errorf("hooks cannot use it while the router is away: %w", err)
	}
	times, last, err := a.wired.guards.OfflineUse(ctx, a.now().Add(-copySince))
	ago := func(at time.Time) time.Duration { return a.now().Sub(at).Round(time.Second) }
	said := fmt.Sprintf("%d rules, written %s ago; ", len(written.Rules), ago(written.At))
	if times == 0 {
		return said + "not used within a week", err
	}
	return said + fmt.Sprintf("used %d times within a week, the last time %s ago: the router was away then", times, ago(last)), err
}
