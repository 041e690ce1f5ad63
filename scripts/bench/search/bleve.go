package main

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/util"
	api "github.com/blevesearch/bleve_index_api"
)

// bleved is an index of bleve on disk. It keeps no texts, only what a search
// needs. Title and body are one field: as two, its score for what is found in
// both halves the quality of its answers.
type bleved struct{ index bleve.Index }

func bleveMapping(model string) *mapping.IndexMappingImpl {
	text := bleve.NewTextFieldMapping()
	text.Analyzer = en.AnalyzerName
	text.Store, text.IncludeTermVectors, text.DocValues, text.IncludeInAll = false, false, false, false
	scope := bleve.NewTextFieldMapping()
	scope.Analyzer = keyword.Name
	scope.Store, scope.IncludeTermVectors, scope.DocValues, scope.IncludeInAll = false, false, false, false
	document := bleve.NewDocumentStaticMapping()
	document.AddFieldMappingsAt("text", text)
	document.AddFieldMappingsAt("scope", scope)
	m := bleve.NewIndexMapping()
	m.DefaultMapping, m.DefaultAnalyzer, m.ScoringModel = document, en.AnalyzerName, model
	return m
}

func openBleve(_ context.Context, dir string) (engine, error) {
	index, err := bleve.Open(filepath.Join(dir, "index"))
	if errors.Is(err, bleve.ErrorIndexPathDoesNotExist) {
		index, err = bleve.NewUsing(filepath.Join(dir, "index"), bleveMapping(api.BM25Scoring), scorch.Name, scorch.Name, nil)
	}
	return &bleved{index}, err
}

// useTFIDF makes an index that was written for BM25 one that scores by tf-idf: what is on disk is the same.
func useTFIDF(_ context.Context, dir string) error {
	updated, err := json.Marshal(bleveMapping(api.TFIDFScoring))
	if err != nil {
		return err
	}
	index, err := bleve.Open(filepath.Join(dir, "index"))
	if err != nil {
		return err
	}
	if err := index.SetInternal(util.MappingInternalKey, updated); err != nil {
		return errors.Join(err, index.Close())
	}
	return index.Close()
}

func (b *bleved) add(_ context.Context, entries []entry) error {
	batch := b.index.NewBatch()
	for _, e := range entries {
		fields := map[string]any{"text": e.Title + "\n" + e.Body}
		if e.Scope != "" {
			fields["scope"] = e.Scope
		}
		if err := batch.Index(e.ID, fields); err != nil {
			return err
		}
	}
	return b.index.Batch(batch) // returns when it is on disk, as nothing asked for unsafe_batch
}

func (b *bleved) search(ctx context.Context, q question) ([]string, error) {
	match := bleve.NewMatchQuery(q.Text)
	match.SetField("text")
	request := bleve.NewSearchRequestOptions(match, q.Limit, 0, false)
	if q.Scope != "" {
		within := bleve.NewTermQuery(q.Scope)
		within.SetField("scope")
		within.SetBoost(0) // it bounds and does not score
		request.Query = bleve.NewConjunctionQuery(request.Query, within)
	}
	found, err := b.index.SearchInContext(ctx, request)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(found.Hits))
	for i, hit := range found.Hits {
		ids[i] = hit.ID
	}
	return ids, nil
}

func (b *bleved) close() error { return b.index.Close() }
