package classify_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/router/classify"
)

var (
	update  = flag.Bool("update", false, "write the model that the lines give, and the page of its measurements")
	measure = flag.String("measure", "", "a file of {\"query\", \"label\"} lines that TestMeasureFile measures the model on")
)

// testdata has the training lines, the grammar and the questions to measure on.
const testdata = "testdata"

// TestCommittedModel proves that the committed model is what the committed lines give, byte for byte. With -update it
// writes the model and the page of its measurements; -v says more of these.
func TestCommittedModel(t *testing.T) {
	if testing.Short() {
		t.Skip("training takes some seconds; make train-router-check does the same")
	}
	lines, err := TrainingLines(testdata)
	if err != nil {
		t.Fatal(err)
	}
	model, report, err := classify.TrainModel(lines)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d lines, %d of them hand-made; %d words; held-out accuracy %.4f; temperature %.2f; %d bytes",
		report.Lines, report.HandMade, report.Vocabulary, report.Accuracy, report.Temperature, len(model))
	for _, w := range report.Wrong {
		t.Logf("  %-11s → %-11s %s", w.Line.Class, w.Got, w.Line.Query)
	}
	if !*update {
		if !bytes.Equal(modelFile(t), model) {
			t.Error("model.bin is not what the training lines give: run make train-router")
		}
		return
	}
	c, err := classify.NewClassifierFrom(model)
	if err != nil {
		t.Fatal(err)
	}
	measured := map[string]Measured{}
	for _, set := range heldOut {
		questions, err := readLabelled(filepath.Join(testdata, set.file))
		if err != nil {
			t.Fatal(err)
		}
		measured[set.file] = Measure(c, questions)
	}
	validation, err := Validation(testdata)
	if err != nil {
		t.Fatal(err)
	}
	slipped := Measure(c, Slipped(validation))
	if err := os.WriteFile("model.bin", model, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := updatePage("../../docs/benchmarks.md", report, measured["validation.txt"], slipped, measured, len(model)); err != nil {
		t.Fatal(err)
	}
}

// TestMeasureFile measures the model on labelled lines of somebody's own.
func TestMeasureFile(t *testing.T) {
	if *measure == "" {
		t.Skip("no file is named: -args -measure FILE")
	}
	if err := measureFile(t.Output(), *measure, testing.Verbose()); err != nil {
		t.Fatal(err)
	}
}

func TestTrainingLinesAreDeterministicAndApart(t *testing.T) {
	first, err := TrainingLines(testdata)
	if err != nil {
		t.Fatal(err)
	}
	second, err := TrainingLines(testdata)
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
		held, err := readLabelled(filepath.Join(testdata, set.file))
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
