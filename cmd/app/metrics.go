package app

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"skillrouter/comms"
	"skillrouter/internal/clock"
	"skillrouter/internal/principal"
	"skillrouter/learning/episode"
	"skillrouter/learning/experience"
	"skillrouter/learning/guard"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/lesson"
	"skillrouter/learning/shelf"
	"skillrouter/operational"
	"skillrouter/router"
	"skillrouter/tfidf/keep"
)

// census counts what the process holds, for health and for the metrics.
type census struct {
	knowledge   *knowledge.Base
	episodes    *episode.Episodes
	lessons     *lesson.Lessons
	experiences *experience.Experiences
	presence    *comms.Presence
	mailbox     *comms.Mailbox
	guards      *guard.Guards
	vectors     *shelf.Vectors
	mesh        func() comms.Mesh // nil: it is off
	indexes     []namedIndex
	now         clock.Clock
}

// search tells the state of each search index.
func (c census) search() map[string]string {
	states := make(map[string]string, len(c.indexes))
	for _, index := range c.indexes {
		states[index.name] = stateOf(index.state())
	}
	return states
}

// stats are the counts of GET /health.
func (c census) stats(ctx context.Context, log *slog.Logger) map[string]int64 {
	patterns, lessons, err := c.experiences.CountLearned(principal.With(ctx, principal.System()))
	if err != nil { // whoever asks for health learns what else there is
		log.WarnContext(ctx, "patterns and lessons could not be counted", "error", err)
	}
	agents := 0
	for _, n := range c.presence.Count() {
		agents += n
	}
	return map[string]int64{
		"knowledge": int64(c.knowledge.Len()), "episodes": int64(c.episodes.Len()), "patterns": patterns, "lessons": lessons,
		"agents": int64(agents), "streams": int64(c.mailbox.Streams()),
	}
}

var (
	entriesDesc = prometheus.NewDesc("skillrouter_entries", "Entries that can be found, by kind.", []string{"kind"}, nil)
	agentsDesc  = prometheus.NewDesc("skillrouter_agents", "Known agents, by presence.", []string{"state"}, nil)
	vectorsDesc = prometheus.NewDesc("skillrouter_embeddings", "Items that shall have a vector, by what became of it; none while no model is configured.", []string{"state"}, nil)
	failingDesc = prometheus.NewDesc("skillrouter_embeddings_failing", "1 while the embedding model makes no vectors.", nil, nil)
	streamsDesc = prometheus.NewDesc("skillrouter_message_streams", "Open streams of GET /messages.", nil, nil)
	checksDesc  = prometheus.NewDesc("skillrouter_guard_checks_waiting", "Checks that were answered and are not in the guard's ledger yet.", nil, nil)
	droppedDesc = prometheus.NewDesc("skillrouter_messages_dropped_total", "Messages of the router's own that found a full mailbox.", nil, nil)
	lostDesc    = prometheus.NewDesc("skillrouter_guard_checks_lost_total", "Checks that were answered and never will be in the guard's ledger.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c census) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		entriesDesc, agentsDesc, vectorsDesc, failingDesc, streamsDesc, checksDesc, lostDesc, droppedDesc,
		indexReadDesc, indexUnsavedDesc, indexSavedDesc, meshReceivedDesc, meshUnsentDesc, meshHeardDesc, meshEmittedDesc, meshRefusedDesc,
	} {
		ch <- desc
	}
}

// Collect implements prometheus.Collector.
func (c census) Collect(ch chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, n int, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(n), labels...)
	}
	gauge(entriesDesc, c.knowledge.Len(), "knowledge")
	gauge(entriesDesc, c.episodes.Len(), "episode")
	gauge(entriesDesc, c.lessons.Len(), "lesson")
	for state, n := range c.presence.Count() {
		gauge(agentsDesc, n, string(state))
	}
	gauge(streamsDesc, c.mailbox.Streams())
	ch <- prometheus.MustNewConstMetric(droppedDesc, prometheus.CounterValue, float64(c.mailbox.Dropped()))
	ledger := c.guards.LedgerState()
	gauge(checksDesc, ledger.Waiting)
	ch <- prometheus.MustNewConstMetric(lostDesc, prometheus.CounterValue, float64(ledger.Lost))
	for _, index := range c.indexes {
		collectIndex(ch, index)
	}
	if c.mesh != nil {
		collectMesh(ch, c.mesh())
	}
	if s := c.vectors.Status(); s.State != shelf.EmbeddingsOff {
		gauge(vectorsDesc, s.Done, "done")
		gauge(vectorsDesc, max(0, s.Total-s.Done-s.Refused-s.LeftOut), "waiting")
		gauge(vectorsDesc, s.Refused, "refused")
		gauge(vectorsDesc, s.LeftOut, "left_out")
		failing := 0
		if s.FailingSince != nil {
			failing = 1
		}
		gauge(failingDesc, failing)
	}
}

// checks are doctor's looks at the services.
func (c census) checks(ctx context.Context) []router.SystemCheck {
	counts := c.presence.Count()
	checks := []router.SystemCheck{
		checkIndex("knowledge index", c.knowledge.IndexState().Stage, func() (shelf.IndexCheck, error) { return c.knowledge.Check(ctx) }),
		checkIndex("episode index", c.episodes.IndexState().Stage, func() (shelf.IndexCheck, error) { return c.episodes.Check(ctx) }),
		checkIndex("lesson index", c.lessons.IndexState().Stage, func() (shelf.IndexCheck, error) { return c.lessons.Check(ctx) }),
	}
	for _, index := range c.indexes {
		checks = append(checks, checkSnapshot(index, c.now()))
	}
	ledger := c.guards.LedgerState()
	return append(checks, checkVectors(c.vectors.Status()), router.SystemCheck{Name: "guard ledger", OK: ledger.Well(), Detail: ledgerSaid(ledger)},
		router.SystemCheck{Name: "agents", OK: true, Detail: fmt.Sprintf("%d online, %d starting, %d stale, %d offline; %d streams open",
			counts[operational.AgentOnline], counts[operational.AgentStarting], counts[operational.AgentStale], counts[operational.AgentOffline], c.mailbox.Streams())})
}

// ledgerSaid tells how the guard's ledger keeps up with its verdicts.
func ledgerSaid(s guard.LedgerState) string {
	said := "every check is written"
	if s.Waiting > 0 {
		said = fmt.Sprintf("%d checks wait to be written, the first for %s", s.Waiting, s.Late.Round(time.Millisecond))
	}
	if s.Failing != "" {
		said += "; " + s.Failing
	}
	if s.Lost > 0 {
		said += fmt.Sprintf("; %d were judged and could not be kept since the start", s.Lost)
	}
	return said
}

func checkVectors(s shelf.EmbeddingStatus) router.SystemCheck {
	if s.State == shelf.EmbeddingsOff {
		return router.SystemCheck{Name: "embeddings", OK: true, Detail: "off: no embedding model is configured, search goes by words"}
	}
	detail := fmt.Sprintf("%s: %d of %d vectors of %s, %d refused, %d left out", s.State, s.Done, s.Total, s.Model, s.Refused, s.LeftOut)
	if s.FailingSince != nil {
		detail += "; " + s.LastError
	}
	return router.SystemCheck{Name: "embeddings", OK: s.FailingSince == nil, Detail: detail}
}

func checkIndex(name string, stage keep.Stage, compare func() (shelf.IndexCheck, error)) router.SystemCheck {
	if stage != keep.Complete {
		return router.SystemCheck{Name: name, OK: true, Detail: "not compared with the database: it is " + stage.String()}
	}
	found, err := compare()
	if err != nil {
		return router.SystemCheck{Name: name, Detail: err.Error()}
	}
	detail := fmt.Sprintf("%d indexed, %d stored", found.Indexed, found.Stored)
	if !found.OK() {
		detail += fmt.Sprintf("; not indexed: %v; not stored: %v; it is built anew by the next start if the folder index, in the data folder, is deleted while the router is down", found.Missing, found.Surplus)
	}
	return router.SystemCheck{Name: name, OK: found.OK(), Detail: detail}
}
