package interlock

import (
	"context"
	"encoding/json"
	"time"

	"golang.org/x/time/rate"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Pace of what is told.
const (
	// tellBatch is the most events that are read together.
	tellBatch = 256
	// tellRate and tellBurst bound the events told of in a second: an import of 100,000
	// lessons must not flood the peers.
	tellRate  = 500
	tellBurst = 500
	// retryAfter is how long telling waits after a failure to read the log.
	retryAfter = time.Second
)

// tell follows the event log and tells the peers of it until ctx ends. The log
// is read as any subscriber reads it: whoever writes waits for none of this.
func (m *Mesh) tell(ctx context.Context) {
	if len(m.peers) == 0 {
		return
	}
	after := m.from
	pace := rate.NewLimiter(tellRate, tellBurst)
	m.services.Log.EventBell().Follow(ctx, 0, retryAfter, func() error {
		for {
			events, err := m.services.Log.Events(ctx, after, tellBatch)
			if err != nil || len(events) == 0 {
				return err
			}
			for _, event := range events {
				after = event.Seq
				signal, data, ok := news(event)
				if !ok {
					continue
				}
				if err := pace.Wait(ctx); err != nil {
					return err
				}
				m.emit(signal, data, senderOf(event.Agent))
			}
		}
	}, func(err error) {
		m.log.Error("events cannot be read; trying again", "after", after, "error", err)
	})
}

// emit sends a signal to each peer that it is for, but not to the one that brought it about.
func (m *Mesh) emit(signal Signal, data map[string]any, from string) {
	for i := range m.file.Peers {
		peer := &m.file.Peers[i]
		if !peer.wants(signal) || peer.Name == from {
			continue
		}
		datagram, err := Format(signal, m.now(), m.file.Name, data, peer.Key)
		if err == nil {
			_, err = m.socket.WriteToUDPAddrPort(datagram, peer.Address)
		}
		if err != nil {
			m.counts.skip(1)
			m.log.Debug("a datagram cannot be sent", "peer", peer.Name, "signal", signal.String(), "error", err)
			continue
		}
		m.counts.emit(signal, peer)
	}
}

// news is what an event is to the mesh; ok is false for one that is none.
func news(event eventlog.Event) (signal Signal, data map[string]any, ok bool) {
	switch event.Type {
	case lesson.EventExperienceRecorded:
		var e lesson.ExperienceEvent
		if json.Unmarshal(event.Data, &e) != nil {
			return 0, nil, false
		}
		return ExperienceRecorded, map[string]any{"episode_id": e.EpisodeID, "utility_score": e.Utility, "operation_type": e.OperationType}, true
	case lesson.EventPatternEmerged:
		var p lesson.PatternEvent
		if json.Unmarshal(event.Data, &p) != nil {
			return 0, nil, false
		}
		return PatternEmerged, map[string]any{
			"pattern_id": p.Number, "description": p.Description, "pattern_type": p.Type, "frequency": p.Frequency, "confidence": p.Confidence,
		}, true
	case lesson.EventReported, lesson.EventValidated, lesson.EventApplied:
		var l lesson.Event
		if json.Unmarshal(event.Data, &l) != nil {
			return 0, nil, false
		}
		if event.Type == lesson.EventReported {
			return LessonExtracted, map[string]any{"lesson_id": l.Number, "statement": l.Title, "confidence": l.Confidence}, true
		}
		if l.Previous == nil || *l.Previous == l.Confidence {
			return 0, nil, false // it was judged, and its confidence did not move
		}
		return LessonValidated, map[string]any{"lesson_id": l.Number, "previous_confidence": *l.Previous, "new_confidence": l.Confidence}, true
	}
	return 0, nil, false
}
