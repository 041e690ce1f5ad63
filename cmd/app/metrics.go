package app

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/kind"
	"github.com/skillrouter/skillrouter/tfidf/keep"
)

// indexed are the kinds whose rows are found by an index of words.
func (p *parts) indexed(each func(of kind.Memory)) {
	for _, of := range p.kinds {
		if of.Shelf != nil {
			each(of)
		}
	}
}

// indexName is what the index of a kind is called.
func indexName(of kind.Memory) string { return strings.TrimSuffix(of.Plural, " entries") }

// states tells the state of each search index.
func (p *parts) states() map[string]string {
	states := map[string]string{}
	p.indexed(func(of kind.Memory) { states[indexName(of)] = stateOf(of.Shelf.IndexState()) })
	return states
}

// stats are the counts of GET /health.
func (p *parts) stats(ctx context.Context, log *slog.Logger) map[string]int64 {
	learned, err := p.experiences.Stats(principal.With(ctx, principal.System()))
	if err != nil { // whoever asks for health learns what else there is
		log.WarnContext(ctx, "patterns and lessons could not be counted", "error", err)
	}
	agents := 0
	for _, n := range p.presence.Count() {
		agents += n
	}
	return map[string]int64{
		"knowledge": int64(p.knowledge.Len()), "episodes": int64(p.episodes.Len()), "patterns": learned.Patterns, "lessons": learned.Lessons,
		"agents": int64(agents), "streams": int64(p.mailbox.Streams()),
	}
}

// emit gives a metric with its labels, a name and a value in turn. What ends in _total counts; anything else goes up and down.
type emit func(name, help string, value float64, labels ...string)

// collected are metrics that are looked up when somebody asks for them. They are not described before, as some have values only at times.
type collected func(give emit)

// Describe implements prometheus.Collector.
func (collected) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c collected) Collect(to chan<- prometheus.Metric) {
	c(func(name, help string, value float64, labels ...string) {
		var names, values []string
		for pair := range slices.Chunk(labels, 2) {
			names, values = append(names, pair[0]), append(values, pair[1])
		}
		kind := prometheus.GaugeValue
		if strings.HasSuffix(name, "_total") {
			kind = prometheus.CounterValue
		}
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, names, nil), kind, value, values...)
	})
}

// flag is the value of a metric that is true or false.
func flag(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// collect gives the metrics of the services.
func (p *parts) collect(give emit) {
	p.indexed(func(of kind.Memory) {
		give("skillrouter_entries", "Entries that can be found, by kind.", float64(of.Shelf.Len()), "kind", of.Name)
		give("skillrouter_index_read_ratio", "How much of what a search index is to hold it has read, 1 when it is whole.", float64(of.Shelf.IndexState().Percent)/100, "index", indexName(of))
	})
	for state, n := range p.presence.Count() {
		give("skillrouter_agents", "Known agents, by presence.", float64(n), "state", string(state))
	}
	give("skillrouter_message_streams", "Open streams of GET /messages.", float64(p.mailbox.Streams()))
	give("skillrouter_messages_dropped_total", "Messages of the router's own that found a full mailbox.", float64(p.mailbox.Dropped()))
	ledger := p.guards.LedgerState()
	give("skillrouter_guard_checks_waiting", "Checks that were answered and are not in the guard's ledger yet.", float64(ledger.Waiting))
	give("skillrouter_guard_checks_lost_total", "Checks that were answered and never will be in the guard's ledger.", float64(ledger.Lost))
	if p.meshStatus != nil {
		collectMesh(give, p.meshStatus())
	}
	if s := p.vectors.Status(); s.State != shelf.EmbeddingsOff {
		for state, n := range map[string]int{"done": s.Done, "waiting": max(0, s.Total-s.Done-s.Refused-s.LeftOut), "refused": s.Refused, "left_out": s.LeftOut} {
			give("skillrouter_embeddings", "Items that shall have a vector, by what became of it; none while no model is configured.", float64(n), "state", state)
		}
		give("skillrouter_embeddings_failing", "1 while the embedding model makes no vectors.", flag(s.FailingSince != nil))
	}
}

// checks are doctor's looks at the services.
func (p *parts) checks(ctx context.Context, now time.Time) []router.SystemCheck {
	counts := p.presence.Count()
	var checks []router.SystemCheck
	p.indexed(func(of kind.Memory) { checks = append(checks, checkIndex(ctx, of)) })
	ledger := p.guards.LedgerState()
	return append(checks, checkVectors(p.vectors.Status()), router.SystemCheck{Name: "guard ledger", OK: ledger.Well(), Detail: ledgerSaid(ledger)},
		router.SystemCheck{Name: "agents", OK: true, Detail: fmt.Sprintf("%d online, %d starting, %d stale, %d offline; %d streams open",
			counts[operational.AgentOnline], counts[operational.AgentStarting], counts[operational.AgentStale], counts[operational.AgentOffline], p.mailbox.Streams())})
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

func checkIndex(ctx context.Context, of kind.Memory) router.SystemCheck {
	return looked(of.Name+" index", func() (string, error) {
		state := of.Shelf.IndexState()
		switch {
		case state.Failed != "":
			return "", fmt.Errorf("%s; it cannot be read from the database: %s", stateOf(state), state.Failed)
		case state.Stage != keep.Complete:
			return "not compared with the database: it is " + stateOf(state), nil
		}
		found, err := of.Shelf.Check(ctx)
		said := fmt.Sprintf("%d indexed, %d stored", found.Indexed, found.Stored)
		if err == nil && !found.OK() {
			err = fmt.Errorf("%s; not indexed: %v; not stored: %v; the next start builds it anew", said, found.Missing, found.Surplus)
		}
		return said, err
	})
}

// indexesFolder is where earlier versions kept snapshots of the search indexes, in the data folder. A start removes it.
const indexesFolder = "index"

// learningOptions are the settings of the services of learning.db that keep an index.
func (a *App) learningOptions() learning.Options {
	return learning.Options{Now: a.now, Log: a.log}
}

// stateOf is the state of an index in a word or two, for GET /health.
func stateOf(s keep.State) string {
	if s.Stage == keep.Complete || s.Stage == keep.Unread {
		return s.Stage.String()
	}
	return fmt.Sprintf("%s, %d %% read", s.Stage, s.Percent)
}
