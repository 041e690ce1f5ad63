package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"skillrouter/learning"
	"skillrouter/learning/knowledge"
	"skillrouter/scripts/bench/sidecar"
)

// bulk sends lines of JSON in one call.
func bulk(ctx context.Context, s *sidecar.Sidecar, lines []byte) (learning.BulkResult, error) {
	var result learning.BulkResult
	return result, s.Post(ctx, "/api/knowledge/bulk", "application/x-ndjson", bytes.NewReader(lines), &result)
}

func search(ctx context.Context, s *sidecar.Sidecar, query string) error {
	body, err := json.Marshal(knowledge.Query{Query: query})
	if err != nil {
		return err
	}
	var result knowledge.Results
	if err := s.Post(ctx, "/api/knowledge/search", "application/json", bytes.NewReader(body), &result); err != nil {
		return err
	}
	if result.Count == 0 {
		return fmt.Errorf("nothing found for %q", query)
	}
	return nil
}

// overHTTP measures searches through the transport, one after the other.
func overHTTP(ctx context.Context, s *sidecar.Sidecar, texts *texts, searches int) error {
	took := make([]time.Duration, 0, searches)
	for range searches {
		query := texts.Query()
		began := time.Now()
		if err := search(ctx, s, query); err != nil {
			return err
		}
		took = append(took, time.Since(began))
	}
	sidecar.Report("search over HTTP", "%s", sidecar.Percentiles(took))
	return nil
}
