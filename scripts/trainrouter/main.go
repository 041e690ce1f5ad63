// Command trainrouter makes the query classifier's model from the training
// lines and the grammar in router/classify/testdata, and the page of its
// measurements. Run it from the repository's root:
//
//	go run ./scripts/trainrouter            writes router/classify/model.bin and docs/benchmarks-routing.md
//	go run ./scripts/trainrouter -check     says whether they are what the lines give
//	go run ./scripts/trainrouter -measure F measures the built model on labelled lines of one's own
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"skillrouter/router/classify"
)

func main() {
	check := flag.Bool("check", false, "compare instead of writing; exit 1 if the model is not what the lines give")
	verbose := flag.Bool("v", false, "list the lines that are classified wrongly")
	measure := flag.String("measure", "", "measure the built model on this file of {\"query\", \"label\"} lines and stop")
	root := flag.String("root", ".", "the repository's root")
	flag.Parse()
	if err := run(os.Stdout, *root, *measure, *check, *verbose); err != nil {
		fmt.Fprintln(os.Stderr, "trainrouter:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, root, measure string, check, verbose bool) error {
	if measure != "" {
		return measureFile(out, measure, verbose)
	}
	lines, err := TrainingLines(filepath.Join(root, "router/classify/testdata"))
	if err != nil {
		return err
	}
	model, report, err := classify.TrainModel(lines)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d lines, %d of them hand-made; %d words; held-out accuracy %.4f; temperature %.2f; %d bytes\n",
		report.Lines, report.HandMade, report.Vocabulary, report.Accuracy, report.Temperature, len(model))
	if verbose {
		for _, w := range report.Wrong {
			fmt.Fprintf(out, "  %-11s → %-11s %s\n", w.Line.Class, w.Got, w.Line.Query)
		}
	}
	c, err := classify.NewClassifierFrom(model)
	if err != nil {
		return err
	}
	validation, err := Validation(filepath.Join(root, "router/classify/testdata"))
	if err != nil {
		return err
	}
	measured := Measure(c, validation)
	measured.print(out, verbose)
	slipped := Measure(c, Slipped(validation))
	others := map[string]Measured{}
	for _, set := range heldOut[1:] {
		questions, err := readLabelled(filepath.Join(root, "router/classify/testdata", set.file))
		if err != nil {
			return err
		}
		others[set.file] = Measure(c, questions)
		fmt.Fprintf(out, "%s: accuracy %.4f (%d of %d)\n", set.file, others[set.file].Accuracy(), others[set.file].Right, others[set.file].Total)
	}
	fmt.Fprintf(out, "with a slip of the finger in each question: accuracy %.4f\n", slipped.Accuracy())
	modelPath, pagePath := filepath.Join(root, "router/classify/model.bin"), filepath.Join(root, "docs/benchmarks-routing.md")
	if check {
		committed, err := os.ReadFile(modelPath)
		if err != nil {
			return err
		}
		if !bytes.Equal(committed, model) {
			return fmt.Errorf("%s is not what the training lines give: run make train-router", modelPath)
		}
		fmt.Fprintln(out, "the committed model is what the lines give")
		return nil
	}
	if err := os.WriteFile(modelPath, model, 0o644); err != nil {
		return err
	}
	return updatePage(pagePath, report, measured, slipped, others, len(model))
}
