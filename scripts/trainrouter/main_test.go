package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skillrouter/router/classify"
)

// TestCommittedModel proves that the committed model is what the committed
// lines give, byte for byte.
func TestCommittedModel(t *testing.T) {
	if testing.Short() {
		t.Skip("training takes some seconds; make train-router-check does the same")
	}
	var out bytes.Buffer
	if err := run(&out, "../..", "", true, false); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
}

func TestTrainingLinesAreDeterministicAndApart(t *testing.T) {
	const dir = "../../router/classify/testdata"
	first, err := TrainingLines(dir)
	if err != nil {
		t.Fatal(err)
	}
	second, err := TrainingLines(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(first) != len(second) {
		t.Fatalf("%d lines, then %d", len(first), len(second))
	}
	for i := range first {
		if first[i].Query != second[i].Query || first[i].Class != second[i].Class {
			t.Fatalf("line %d is %q, then %q", i, first[i].Query, second[i].Query)
		}
	}
	measured := map[string]string{}
	for _, set := range heldOut {
		held, err := readLabelled(filepath.Join(dir, set.file))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range held {
			if other := measured[plain(l.Query)]; other != "" {
				t.Errorf("%s is in %s and in %s", l.Query, other, set.file)
			}
			measured[plain(l.Query)] = set.file
		}
	}
	for _, l := range first {
		if file := measured[plain(l.Query)]; file != "" {
			t.Errorf("a training line is also a question of %s: %s", file, l.Query)
		}
	}
}

func TestReadGrammarRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"an unknown name":        "[verbs]\na b c d e\n[knowledge]\nhow do i $nothing\n",
		"a lone parenthesis":     "[verbs]\na b c d e\n[knowledge]\nhow (do i\n",
		"a verb of three forms":  "[verbs]\na b c\n",
		"a line out of sections": "how do i\n",
		"words without a name":   "[words]\none | two\n",
	} {
		t.Run(name, func(t *testing.T) {
			path := t.TempDir() + "/grammar.txt"
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := readGrammar(path); err == nil {
				t.Error("it was taken")
			}
		})
	}
}

func TestMeasure(t *testing.T) {
	c, err := classify.NewClassifier()
	if err != nil {
		t.Fatal(err)
	}
	m := Measure(c, []Labelled{
		{"what agents are running right now", classify.ClassOperational},
		{"what happened in the last session", classify.ClassKnowledge}, // a wrong label, to be counted as an error
	})
	if m.Right != 1 || m.Total != 2 || len(m.Wrong) != 1 || m.Confusion[classify.ClassKnowledge][classify.ClassEpisode] != 1 {
		t.Errorf("%+v", m)
	}
	m.print(io.Discard, true)
	if !strings.Contains(m.confusionTable(), "| knowledge | 0 | 1 | 0 | 0 | 0.000 |") {
		t.Error(m.confusionTable())
	}
}
