package cluster_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillrouter/skillrouter/router/cluster"
)

// nodes are the ringers of a cluster's two nodes.
func nodes(secrets ...string) (list []*cluster.Ringer) {
	for _, s := range append(secrets, "a")[:max(1, len(secrets))] {
		for range 2 {
			list = append(list, cluster.NewRinger(cluster.Secret(strings.Repeat(s, 32)), "here", time.Now))
		}
	}
	return list
}

// message is what a ringer sends of heads.
func message(t *testing.T, r *cluster.Ringer, h cluster.Heads) (sent []byte) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	r.Ring(h)
	r.Tell(ctx, func(m []byte) error {
		sent = bytes.Clone(m)
		stop()
		return nil
	})
	return sent
}

// newest is what a ringer has heard.
func newest(t *testing.T, r *cluster.Ringer) (heads cluster.Heads) {
	t.Helper()
	ended, stop := context.WithCancel(t.Context())
	stop()
	if err := r.Run(ended, func(h cluster.Heads) { heads = h }); err != nil {
		t.Fatal(err)
	}
	return heads
}

// TestRingerHeeds: only what a node of the same cluster rang is taken for news, and only if it is news.
func TestRingerHeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		two := nodes()
		writer, follower := two[0], two[1]
		const epoch = int64(1) << 32
		last := cluster.Heads{Learning: 3*epoch + 7, Operational: 5 * epoch}
		good := message(t, writer, last)
		elsewhere := cluster.NewRinger(cluster.Secret(strings.Repeat("a", 32)), "elsewhere", time.Now)
		if writer.Name() != follower.Name() || writer.Name() == elsewhere.Name() || writer.Name() == nodes("b")[0].Name() {
			t.Error("clusters share a name, or nodes do not")
		}
		forged := bytes.Clone(good)
		forged[20] ^= 1
		writer.Hear(good)
		if own := newest(t, writer); own != (cluster.Heads{}) {
			t.Errorf("a node hears itself: %v", own)
		}
		for name, m := range map[string][]byte{
			"none": nil, "short": good[:24], "long": append(bytes.Clone(good), 0), "forged": forged,
			"of another secret": message(t, nodes("b")[0], last), "of another database": message(t, elsewhere, last),
		} {
			if follower.Hear(m); newest(t, follower) != (cluster.Heads{}) {
				t.Errorf("a message is heeded that is %s", name)
			}
		}
		follower.Hear(good)
		if newest(t, follower) != last {
			t.Error("a message is not heard")
		}
		follower.Hear(good)
		old := message(t, nodes()[0], cluster.Heads{Learning: 2*epoch + 900, Operational: 5 * epoch})
		follower.Hear(old)
		if _, heard := follower.Counts(); newest(t, follower) != last || heard != 1 {
			t.Errorf("what is old is heeded: %d, %v", heard, newest(t, follower))
		}
		// A node that wrote once, and has heard of more since, has nothing to tell.
		follower.Ring(cluster.Heads{Learning: 1, Operational: 1})
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		follower.Tell(ctx, func([]byte) error {
			t.Error("it tells what is old")
			return nil
		})
		// A database that was put back counts less: after a while that is believed.
		<-time.After(cluster.Term)
		follower.Hear(old)
		if newest(t, follower).Learning != 2*epoch+900 {
			t.Error("a database that was put back is never heard of again")
		}
	})
}

// TestRingerGathers: ten thousand rings a second are at most two hundred messages, the first goes out at once, and the last is told.
func TestRingerGathers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := nodes()[0]
		ctx, stop := context.WithCancel(t.Context())
		var sent atomic.Int64
		var last []byte
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			r.Tell(ctx, func(m []byte) error {
				sent.Add(1)
				last = bytes.Clone(m)
				return nil
			})
		}()
		<-time.After(time.Second)
		r.Ring(cluster.Heads{Learning: 1})
		if synctest.Wait(); sent.Load() != 1 {
			t.Error("the first waits")
		}
		for i := range int64(10_000) {
			r.Ring(cluster.Heads{Learning: 2 + i})
			<-time.After(100 * time.Microsecond)
		}
		<-time.After(time.Second)
		stop()
		<-ended
		other := nodes()[1]
		other.Hear(last)
		if rung, _ := r.Counts(); sent.Load() > 202 || rung != sent.Load() || newest(t, other).Learning != 10_001 {
			t.Errorf("%d messages (%d counted), the last %v", sent.Load(), rung, newest(t, other))
		}
	})
}

// TestRingerTellsAgain: what could not be sent is sent once there is a connection, and counted then.
func TestRingerTellsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := nodes()[0]
		ctx, stop := context.WithCancel(t.Context())
		var tries atomic.Int64
		go r.Tell(ctx, func([]byte) error {
			if tries.Add(1) == 1 {
				return errors.New("there is no connection")
			}
			return nil
		})
		r.Ring(cluster.Heads{Learning: 1})
		<-time.After(time.Second)
		if rung, _ := r.Counts(); tries.Load() != 1 || rung != 0 {
			t.Errorf("tried %d times, %d sent", tries.Load(), rung)
		}
		r.Again()
		<-time.After(time.Second)
		if rung, _ := r.Counts(); tries.Load() != 2 || rung != 1 {
			t.Errorf("tried %d times, %d sent", tries.Load(), rung)
		}
		stop()
	})
}
