package shelf

import (
	"context"

	"skillrouter"
)

var _ EmbeddingService = (*Vectors)(nil)

// Embeddings implements EmbeddingService. It needs ScopeRead.
func (v *Vectors) Embeddings(ctx context.Context) (EmbeddingStatus, error) {
	if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeRead); err != nil {
		return EmbeddingStatus{}, err
	}
	return v.Status(), nil
}

// Status is Embeddings for the process itself.
func (v *Vectors) Status() EmbeddingStatus {
	s := EmbeddingStatus{State: EmbeddingsOff, Kinds: []EmbeddingCount{}}
	if !v.configured() {
		return s
	}
	s.Model, s.Bytes = v.embedder.Model(), v.matrix.bytes()
	s.Dimension = v.matrix.width()
	for _, kind := range EmbeddingKinds() {
		if source, ok := v.sources[kind]; ok {
			count := EmbeddingCount{Kind: kind, Done: v.matrix.count(kind), Total: source.Len()}
			s.Kinds = append(s.Kinds, count)
			s.Done, s.Total = s.Done+count.Done, s.Total+count.Total
		}
	}
	full := v.full(1)
	since, last := v.queries.failing()
	v.mu.Lock()
	defer v.mu.Unlock()
	s.PerSecond, s.Refused = v.perSecond, len(v.refused)
	if full {
		s.LeftOut = max(0, s.Total-s.Done-s.Refused)
	}
	if last == nil || v.last != nil && !v.since.IsZero() {
		last = v.last
	}
	if since.IsZero() || !v.since.IsZero() && v.since.Before(since) {
		since = v.since
	}
	if last != nil {
		s.LastError = skillrouter.MessageOf(last)
	}
	switch {
	case !since.IsZero():
		s.State, s.FailingSince = EmbeddingsFailing, &since
	case !v.loaded:
		s.State = EmbeddingsLoading
	case v.filling:
		s.State = EmbeddingsFilling
	default:
		s.State = EmbeddingsReady
	}
	return s
}

// ready tells whether the stored vectors have been read.
func (v *Vectors) ready() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.loaded
}

// failing tells whether the model makes no vectors now.
func (v *Vectors) failing() bool {
	if since, _ := v.queries.failing(); !since.IsZero() {
		return true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return !v.since.IsZero()
}
