package cli

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/client"
)

// Times of a wrapper.
const (
	// firstRetry and longestRetry bound the wait before a check-in that failed is
	// tried again; it doubles from the one to the other.
	firstRetry   = 250 * time.Millisecond
	longestRetry = 15 * time.Second
	// callTime bounds one call while the child runs: a router that hangs must not
	// keep the wrapper from trying again.
	callTime = 10 * time.Second
	// farewellTime bounds all that is said to the router after the child's end:
	// whoever waits for the exit code does not wait for the network.
	farewellTime = 2 * time.Second
	// lingerTime is how long the command's own children may go on once it has ended
	// on request itself.
	lingerTime = 2 * time.Second
	// lingerEvery is how often they are looked for.
	lingerEvery = 10 * time.Millisecond
)

// wrapper keeps an agent's command in touch with the router.
type wrapper struct {
	beat            comms.Heartbeat // what the agent says at its first check-in
	grace, interval time.Duration
	start, verbose  bool

	shell *shell
	child *child
	log   func(format string, args ...any)

	mu    sync.Mutex
	told  bool        // the first check-in of this run has been taken
	since time.Time   // when, by the router's clock
	stop  *time.Timer // kills the child, which has been asked to end
	over  bool        // the child has ended
}

// run stays with the child to its end and returns its exit code.
func (w *wrapper) run(ctx context.Context) int {
	talk, cancel := context.WithCancel(ctx)
	here := make(chan struct{})
	var talking sync.WaitGroup
	talking.Go(func() { w.attend(talk, here) })
	talking.Go(func() { w.listen(talk, here) })
	end := w.child.wait()
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	stopped := w.stopped()
	cancel()
	talking.Wait()
	if stopped {
		w.clear()
	}
	w.farewell(ctx, end, stopped)
	return end.code
}

// attend checks the agent in at once and then at each interval; what fails is
// tried again after a wait that doubles. here is closed at the first success.
func (w *wrapper) attend(ctx context.Context, here chan<- struct{}) {
	retry := firstRetry
	known := false
	for {
		wait := w.interval
		if err := w.checkIn(ctx); err == nil {
			if !known {
				known = true
				close(here)
			}
			retry = firstRetry
		} else if ctx.Err() == nil {
			w.log("not checked in: %s", explain(err))
			wait = min(retry/2+rand.N(retry/2), w.interval)
			retry = min(2*retry, longestRetry)
		}
		if committer.Pause(ctx, wait) != nil {
			return
		}
	}
}

// checkIn sends a heartbeat, and stops the child if the answer says so.
func (w *wrapper) checkIn(ctx context.Context) error {
	answer, err := w.heartbeat(ctx)
	if err != nil {
		return err
	}
	if answer.ShouldStop {
		w.end(answer.StopReason)
	}
	return nil
}

// heartbeat says the whole of the agent at the first check-in. Afterwards it
// leaves out what the agent itself may have changed meanwhile.
func (w *wrapper) heartbeat(ctx context.Context) (comms.HeartbeatAnswer, error) {
	// A check-in under way is not broken off by the child's end: short commands are seen too.
	talk := ctx
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
	defer cancel()
	defer context.AfterFunc(talk, func() { time.AfterFunc(farewellTime, cancel) })()
	w.mu.Lock()
	told, beat := w.told, w.beat
	w.mu.Unlock()
	if told {
		beat.Status, beat.CurrentTask = "", ""
	}
	c, err := w.connect(ctx) // each time: the router may be elsewhere, and want another token
	if err != nil {
		return comms.HeartbeatAnswer{}, err
	}
	defer c.Close()
	answer, err := client.Send(ctx, c, comms.PresenceService.Heartbeat, beat)
	if err != nil {
		return answer, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.told {
		w.told, w.since = true, answer.Timestamp
		w.log("checked in as %s, process %d", beat.AgentID, beat.PID)
	}
	return answer, nil
}

func (w *wrapper) connect(ctx context.Context) (*client.Client, error) {
	if w.start {
		return w.shell.ensureRunning(ctx)
	}
	return w.shell.client()
}

// listen follows the agent's messages once it has checked in, and acts on those that are for the wrapper.
func (w *wrapper) listen(ctx context.Context, here <-chan struct{}) {
	select {
	case <-ctx.Done():
		return
	case <-here:
	}
	after := client.FromCursor
	for {
		c, err := w.connect(ctx)
		if err == nil {
			after, err = w.follow(ctx, c, after)
			c.Close()
		}
		if ctx.Err() != nil {
			return
		}
		wait := firstRetry
		if err != nil { // refused for good as things stand, such as for want of a token: they may change
			w.log("may not listen: %s", explain(err))
			wait = longestRetry
		}
		if committer.Pause(ctx, wait) != nil {
			return
		}
	}
}

// follow follows the agent's messages until the router refuses them, and
// returns the seq that it has come to. A router that begins anew is found by its socket.
func (w *wrapper) follow(ctx context.Context, c *client.Client, after int64) (int64, error) {
	follower := client.Follower{
		AgentID: w.beat.AgentID, After: after,
		Down: func(err error, _ time.Duration) { w.log("not listening: %s", explain(err)) },
	}
	err := c.Mailbox.Follow(ctx, follower, func(m operational.Message) error {
		after = m.Seq
		w.act(ctx, c, m)
		return nil
	})
	return after, err
}

// act does what a signal asks of the wrapper. All others are the command's own.
func (w *wrapper) act(ctx context.Context, c *client.Client, m operational.Message) {
	switch m.Signal {
	case operational.SignalStop:
		switch err := w.checkIn(ctx); { // which run it ends is the router's to say; if that is gone again, time decides
		case err != nil && w.ours(m):
			w.end(operational.StopReason(m))
			return
		case w.stopped():
			return // acknowledged when it is done
		}
		w.log("the stop signal %d was for an earlier run", m.Seq)
	case operational.SignalPause:
		if w.ours(m) {
			w.hold(ctx, c, w.child.pause, statusPaused)
		}
	case operational.SignalResume:
		if w.ours(m) {
			w.hold(ctx, c, w.child.resume, statusWorking)
		}
	default:
		return
	}
	w.acknowledge(ctx, c, m.ID)
}

// stopped tells whether the child was asked to end.
func (w *wrapper) stopped() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stop != nil
}

// ours tells whether a message was sent after this run checked in.
func (w *wrapper) ours(m operational.Message) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.told && !m.CreatedAt.Before(w.since)
}

// hold pauses the child or lets it go on, and reports it.
func (w *wrapper) hold(ctx context.Context, c *client.Client, hold func() error, status string) {
	if err := hold(); err != nil {
		w.log("cannot be %s: %v", status, err)
		return
	}
	w.log("%s", status)
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if _, err := client.Send(ctx, c, comms.PresenceService.Status, comms.StatusReport{AgentID: w.beat.AgentID, Status: status}); err != nil {
		w.log("status is not reported: %s", explain(err))
	}
}

// end asks the child to end, once, and kills what is left of it after the grace period.
func (w *wrapper) end(reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop != nil || w.over {
		return
	}
	w.log("asked to stop: %s", first(clean(reason), "no reason was given"))
	if err := w.child.end(); err != nil {
		w.log("cannot be asked to end: %v", err)
	}
	w.stop = time.AfterFunc(w.grace, func() {
		w.log("did not end within %s and is killed", w.grace)
		w.child.kill()
	})
}

// clear waits for the child's own children, which were asked to end with it,
// and kills those that do not.
func (w *wrapper) clear() {
	for deadline := time.Now().Add(min(w.grace, lingerTime)); w.child.left(); time.Sleep(lingerEvery) {
		if time.Now().After(deadline) {
			w.child.kill()
			break
		}
	}
	w.stop.Stop()
}

// farewell acknowledges what was done and says how the child ended.
func (w *wrapper) farewell(ctx context.Context, end exit, stopped bool) {
	ctx, cancel := context.WithTimeout(ctx, farewellTime)
	defer cancel()
	c, err := w.shell.client()
	if err != nil {
		return
	}
	defer c.Close()
	if stopped {
		w.acknowledge(ctx, c, w.pendingStops(ctx, c)...)
	}
	status := end.status(stopped)
	if _, err := client.Send(ctx, c, comms.PresenceService.Status, comms.StatusReport{AgentID: w.beat.AgentID, Status: status}); err != nil {
		w.log("the end is not reported: %s", explain(err))
		return
	}
	w.log("%s", status)
}

// pendingStops lists the stop signals that wait for the agent.
func (w *wrapper) pendingStops(ctx context.Context, c *client.Client) (ids []string) {
	inbox, err := client.Send(ctx, c, comms.MailboxService.Inbox, comms.InboxQuery{AgentID: w.beat.AgentID, Unacked: true, Limit: comms.MaxLimit})
	if err != nil {
		return nil
	}
	for _, m := range inbox.Messages {
		if m.Signal == operational.SignalStop {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

func (w *wrapper) acknowledge(ctx context.Context, c *client.Client, ids ...string) {
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if _, err := client.Send(ctx, c, comms.MailboxService.Ack, comms.Ack{AgentID: w.beat.AgentID, MessageIDs: ids}); err != nil && errs.CodeOf(err) != errs.NotFound {
		w.log("not acknowledged: %s", explain(err))
	}
}
