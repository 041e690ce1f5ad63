package classify_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/router/classify"
)

// Labelled is a question and the class it should get.
type Labelled struct {
	Query string         `json:"query"`
	Label classify.Class `json:"label"`
}

// Measured is how a classifier does on labelled questions.
type Measured struct {
	Total, Right int
	Confusion    map[classify.Class]map[classify.Class]int // label, then answer
	Bins         []Bin
	Calibration  float64 // expected calibration error, 0 to 1
	NearTies     int
	InBoth       int // right, or the second class of a near tie is
	P50, P99     time.Duration
	Wrong        []string
}

// Bin is the questions whose confidence lies in one tenth.
type Bin struct {
	From, To   float64
	Total      int
	Confidence float64 // mean
	Accuracy   float64
}

// Accuracy is the share of right answers.
func (m Measured) Accuracy() float64 { return float64(m.Right) / float64(max(m.Total, 1)) }

// Measure classifies each question and times it.
func Measure(c *classify.Classifier, lines []Labelled) Measured {
	m := Measured{Total: len(lines), Confusion: map[classify.Class]map[classify.Class]int{}}
	edges := []float64{0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.000001}
	m.Bins = make([]Bin, len(edges)-1)
	for i := range m.Bins {
		m.Bins[i].From, m.Bins[i].To = edges[i], min(edges[i+1], 1)
	}
	var times []time.Duration
	for _, l := range lines {
		start := time.Now()
		got := c.Classify(l.Query, nil)
		times = append(times, time.Since(start))
		if m.Confusion[l.Label] == nil {
			m.Confusion[l.Label] = map[classify.Class]int{}
		}
		m.Confusion[l.Label][got.Class]++
		right := got.Class == l.Label
		if right {
			m.Right++
		} else {
			m.Wrong = append(m.Wrong, fmt.Sprintf("%-11s → %-11s %.2f  %s", l.Label, got.Class, got.Confidence, l.Query))
		}
		if got.NearTie() {
			m.NearTies++
		}
		if right || got.NearTie() && got.Second == l.Label {
			m.InBoth++
		}
		for i := range m.Bins {
			b := &m.Bins[i]
			if got.Confidence >= edges[i] && got.Confidence < edges[i+1] {
				b.Total++
				b.Confidence += got.Confidence
				if right {
					b.Accuracy++
				}
			}
		}
	}
	for i := range m.Bins {
		if b := &m.Bins[i]; b.Total > 0 {
			m.Calibration += math.Abs(b.Confidence-b.Accuracy) / float64(m.Total)
			b.Confidence /= float64(b.Total)
			b.Accuracy /= float64(b.Total)
		}
	}
	slices.Sort(times)
	if n := len(times); n > 0 {
		m.P50, m.P99 = times[n/2], times[n*99/100]
	}
	return m
}

// Slipped is the questions with one letter mistyped in each that has a word long enough.
func Slipped(lines []Labelled) []Labelled {
	random := rand.New(rand.NewPCG(linesSeed, 3))
	out := make([]Labelled, len(lines))
	for i, l := range lines {
		out[i] = l
		for try := 0; out[i].Query == l.Query && try < 20; try++ {
			out[i].Query = slip(random, l.Query)
		}
	}
	return out
}

func (m Measured) print(out io.Writer, verbose bool) {
	fmt.Fprintf(out, "accuracy %.4f (%d of %d); calibration error %.3f; %d near ties, right in one of both %.4f; p50 %v, p99 %v\n",
		m.Accuracy(), m.Right, m.Total, m.Calibration, m.NearTies, float64(m.InBoth)/float64(max(m.Total, 1)), m.P50, m.P99)
	fmt.Fprint(out, m.confusionTable(), m.reliabilityTable())
	if verbose {
		for _, w := range m.Wrong {
			fmt.Fprintln(out, "  "+w)
		}
	}
}

// confusionTable is the confusion matrix in Markdown.
func (m Measured) confusionTable() string {
	var b strings.Builder
	b.WriteString("\n| label ↓, answer → |")
	for _, c := range classify.Classes() {
		fmt.Fprintf(&b, " %s |", c)
	}
	b.WriteString(" recall |\n|---|---|---|---|---|---|\n")
	for _, label := range classify.Classes() {
		fmt.Fprintf(&b, "| %s |", label)
		total := 0
		for _, c := range classify.Classes() {
			fmt.Fprintf(&b, " %d |", m.Confusion[label][c])
			total += m.Confusion[label][c]
		}
		fmt.Fprintf(&b, " %.3f |\n", float64(m.Confusion[label][label])/float64(max(total, 1)))
	}
	return b.String()
}

// reliabilityTable says, in Markdown, how often an answer of some confidence is right.
func (m Measured) reliabilityTable() string {
	var b strings.Builder
	b.WriteString("\n| confidence | questions | mean confidence | accuracy |\n|---|---|---|---|\n")
	for _, bin := range m.Bins {
		if bin.Total > 0 {
			fmt.Fprintf(&b, "| %.2f–%.2f | %d | %.3f | %.3f |\n", bin.From, bin.To, bin.Total, bin.Confidence, bin.Accuracy)
		}
	}
	return b.String()
}

func measureFile(out io.Writer, path string, verbose bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var lines []Labelled
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var l Labelled
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		lines = append(lines, l)
	}
	if err := scanner.Err(); err != nil {
		return err
	}
	c, err := classify.NewClassifier()
	if err != nil {
		return err
	}
	Measure(c, lines).print(out, verbose)
	return nil
}
