package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// quality is what an engine's answers are worth on a judged collection.
type quality struct {
	Set     string
	Queries int
	NDCG    float64 // of the first ten, linear gain
	Recall  float64 // of the first ten
}

// judge stores a collection (corpus.jsonl of {id, title, text, scope?}, in its
// order), asks its questions (queries.jsonl of {id, text, scope?}) and compares
// with the grades (qrels.tsv: query, document, grade).
func judge(ctx context.Context, k kind, dir, folder string) (_ quality, err error) {
	entries, err := lines[entry](filepath.Join(folder, "corpus.jsonl"))
	if err != nil {
		return quality{}, err
	}
	asked, err := lines[question](filepath.Join(folder, "queries.jsonl"))
	if err != nil {
		return quality{}, err
	}
	grades, err := readGrades(filepath.Join(folder, "qrels.tsv"))
	if err != nil {
		return quality{}, err
	}
	writer := k
	if k.store != "" {
		if writer, err = kindOf(k.store); err != nil {
			return quality{}, err
		}
	}
	e, err := writer.open(ctx, dir)
	if err != nil {
		return quality{}, err
	}
	for part := range slices.Chunk(entries, batchEntries) {
		for i := range part {
			// Our entries must have a text; what says nothing is nothing to the others either.
			part[i].Body = cmp.Or(part[i].Body, part[i].Title, "-")
		}
		if err := e.add(ctx, part); err != nil {
			return quality{}, errors.Join(err, e.close())
		}
	}
	if k.store != "" { // the same files, read another way
		if err := e.close(); err != nil {
			return quality{}, err
		}
		if k.adapt != nil {
			if err := k.adapt(ctx, dir); err != nil {
				return quality{}, err
			}
		}
		if e, err = k.open(ctx, dir); err != nil {
			return quality{}, err
		}
	}
	defer func() { err = errors.Join(err, e.close()) }()
	q := quality{Set: filepath.Base(folder)}
	for _, ask := range asked {
		relevant := grades[ask.ID]
		if len(relevant) == 0 {
			continue
		}
		ask.Limit = hits
		ids, err := e.search(ctx, ask)
		if err != nil {
			return quality{}, fmt.Errorf("%s: %w", ask.ID, err)
		}
		q.Queries++
		ndcg, recall := score(ids, relevant)
		q.NDCG += ndcg
		q.Recall += recall
	}
	if q.Queries == 0 {
		return quality{}, fmt.Errorf("%s has no question with a grade", folder)
	}
	q.NDCG /= float64(q.Queries)
	q.Recall /= float64(q.Queries)
	return q, nil
}

// score compares an answer with the grades of what should be in it.
func score(ids []string, relevant map[string]int) (ndcg, recall float64) {
	found := 0
	for i, id := range ids {
		if grade := relevant[id]; grade > 0 {
			found++
			ndcg += float64(grade) / math.Log2(float64(i+2))
		}
	}
	ideal := slices.Sorted(maps.Values(relevant))
	slices.Reverse(ideal)
	best := 0.0
	for i, grade := range ideal[:min(len(ideal), hits)] {
		best += float64(grade) / math.Log2(float64(i+2))
	}
	return ndcg / best, float64(found) / float64(len(relevant))
}

func readGrades(path string) (map[string]map[string]int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	grades := map[string]map[string]int{}
	for line := range strings.Lines(string(text)) {
		part := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
		if len(part) < 3 {
			continue
		}
		grade, err := strconv.Atoi(part[2])
		if err != nil || grade <= 0 {
			continue // a heading, or not relevant
		}
		if grades[part[0]] == nil {
			grades[part[0]] = map[string]int{}
		}
		grades[part[0]][part[1]] = grade
	}
	return grades, nil
}

func lines[T any](path string) ([]T, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var all []T
	for scan := json.NewDecoder(bufio.NewReader(file)); scan.More(); {
		var one T
		if err := scan.Decode(&one); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, one)
	}
	return all, nil
}
