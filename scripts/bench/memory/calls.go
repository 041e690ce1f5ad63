package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/scripts/bench/sidecar"
)

func search(ctx context.Context, s *sidecar.Sidecar, query string) error {
	var result knowledge.Results
	if err := s.Send(ctx, http.MethodPost, "/api/knowledge/search", knowledge.Query{Query: query}, &result); err != nil {
		return err
	}
	if result.Count == 0 {
		return fmt.Errorf("nothing found for %q", query)
	}
	return nil
}

// timed measures searches, one after the other.
func timed(what string, searches int, texts *texts, search func(query string) error) error {
	took := make([]time.Duration, 0, searches)
	for range searches {
		query := texts.Query()
		began := time.Now()
		if err := search(query); err != nil {
			return err
		}
		took = append(took, time.Since(began))
	}
	sidecar.Report(what, "%s", sidecar.Percentiles(took))
	return nil
}
