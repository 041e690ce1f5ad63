package classify

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
)

// TrainingLine is a question whose class is known.
type TrainingLine struct {
	Query    string
	Class    Class
	Mentions []Mention
	Weight   float64 // how much the line counts, 0 means 1
	HandMade bool    // not made by a grammar: these calibrate the confidence
	Family   string  // lines of one family are held out together
}

// The training's settings, chosen by cross-validation over the hand-made
// training lines, with an eye on the validation questions where the folds did
// not decide; docs/benchmarks.md has the figures.
const (
	trainingEpochs   = 14
	trainingRate     = 0.1    // of AdaGrad
	trainingDecay    = 2e-6   // L2 per step, on the weights that the step touches
	trainingDropout  = 0.15   // of features that hang on single words, so that word order and frames carry weight
	trainingSmooth   = 0.03   // of the target is spread over all classes: labels err, and odds should stay finite
	vocabularyAtOnce = 3      // a word seen in so many lines is taken to be spelt right
	trainingSeed     = 0x5eed // any number; it fixes the order of the lines and the dropout
)

// TrainingFolds is into how many parts the hand-made lines are split for the cross-validation that calibrates.
const TrainingFolds = 4

// TrainingReport is what cross-validation over the hand-made lines says.
type TrainingReport struct {
	Lines       int
	HandMade    int
	Vocabulary  int
	Accuracy    float64 // on hand-made lines that were held out
	Temperature float64
	Wrong       []WrongLine
}

// WrongLine is a held-out line that was classified as another class.
type WrongLine struct {
	Line TrainingLine
	Got  Class
}

// trainingExample is a line's features.
type trainingExample struct {
	features []feature
	class    int
	weight   float64
	fold     int // −1: always trained on
	line     int
}

// TrainModel trains a model on lines and returns its file. It is
// deterministic, on every platform: it uses no fused multiplication, and an
// exponential of its own. It fails if there are no hand-made lines, for
// nothing can be calibrated then.
func TrainModel(lines []TrainingLine) ([]byte, TrainingReport, error) {
	words := trainingVocabulary(lines)
	m := &model{scale: 1, temperature: 1}
	m.learnVocabulary(words)
	c, err := newClassifier(m)
	if err != nil {
		return nil, TrainingReport{}, err
	}
	report := TrainingReport{Lines: len(lines), Vocabulary: len(words)}
	examples := make([]trainingExample, 0, len(lines))
	for i, line := range lines {
		class := classIndex(line.Class)
		if class < 0 {
			return nil, report, errors.New("a training line has no known class: " + line.Query)
		}
		e := trainingExample{features: c.read(line.Query, line.Mentions).features, class: class, weight: cmp.Or(line.Weight, 1), fold: -1, line: i}
		if line.Family != "" {
			h := fnv.New32a()
			_, _ = h.Write([]byte(line.Family)) // a hash takes all
			e.fold = int(h.Sum32()>>8) % TrainingFolds
		}
		if line.HandMade {
			report.HandMade++
		}
		examples = append(examples, e)
	}
	if report.HandMade == 0 {
		return nil, report, errors.New("no hand-made lines to calibrate with")
	}
	temperature := crossValidate(lines, examples, &report)
	weights := fit(examples, func(trainingExample) bool { return true })
	m.quantize(weights)
	m.temperature = temperature
	report.Temperature = temperature
	return m.encode(words), report, nil
}

// trainingVocabulary lists the words that occur often enough to be spelt right, and the lexicon's.
func trainingVocabulary(lines []TrainingLine) []string {
	count := map[string]int{}
	for line := range strings.SplitSeq(lexiconText, "\n") {
		if line != "" && line[0] != '#' && line[0] != '[' {
			for w := range strings.FieldsSeq(line) {
				count[w] = vocabularyAtOnce
			}
		}
	}
	for _, line := range lines {
		for w := range strings.FieldsFuncSeq(strings.ToLower(line.Query), func(r rune) bool { return r < 'a' || r > 'z' }) {
			if len(w) > 2 {
				count[w]++
			}
		}
	}
	var words []string
	for w, n := range count {
		if n >= vocabularyAtOnce {
			words = append(words, w)
		}
	}
	slices.Sort(words)
	return words
}

// crossValidate trains with each fold held out in turn, fills the report and
// gives the temperature that fits the held-out lines best.
func crossValidate(lines []TrainingLine, examples []trainingExample, report *TrainingReport) float64 {
	type outcome struct {
		z     [numClasses]float64
		class int
	}
	var byFold [TrainingFolds][]float64
	var group sync.WaitGroup
	for fold := range TrainingFolds {
		group.Go(func() {
			byFold[fold] = fit(examples, func(e trainingExample) bool { return e.fold != fold })
		})
	}
	group.Wait()
	var held []outcome
	right := 0
	for fold, weights := range byFold {
		for _, e := range examples {
			if e.fold != fold || !lines[e.line].HandMade {
				continue
			}
			z := logitsOf(weights, e.features)
			held = append(held, outcome{z, e.class})
			best := 0
			for k := range z {
				if z[k] > z[best] {
					best = k
				}
			}
			if best == e.class {
				right++
			} else {
				report.Wrong = append(report.Wrong, WrongLine{lines[e.line], classAt[best]})
			}
		}
	}
	if len(held) == 0 {
		return 1
	}
	report.Accuracy = float64(right) / float64(len(held))
	best, bestLoss := 1.0, math.Inf(1)
	for step := range 60 {
		temperature := 0.4 + float64(0.05*float64(step))
		loss := 0.0
		for _, o := range held {
			z := o.z
			for k := range z {
				z[k] /= temperature
			}
			p := softmax(z, portableExp)
			loss -= math.Log(max(p[o.class], 1e-9))
		}
		if loss < bestLoss {
			best, bestLoss = temperature, loss
		}
	}
	return best
}

// logitsOf is model.logits over weights that are not quantized.
func logitsOf(weights []float64, features []feature) [numClasses]float64 {
	var z [numClasses]float64
	for _, f := range features {
		for k := range z {
			z[k] += weights[f.bucket*numClasses+uint32(k)]
		}
	}
	norm := math.Sqrt(float64(len(features)))
	for k := range z {
		z[k] /= norm
	}
	return z
}

// fit is AdaGrad on the cross-entropy, over the examples that in accepts. The
// explicit conversions keep compilers from fusing a product with a sum.
func fit(examples []trainingExample, in func(trainingExample) bool) []float64 {
	weights := make([]float64, tableSize*numClasses)
	squares := make([]float64, tableSize*numClasses)
	random := rand.New(rand.NewPCG(trainingSeed, 1))
	order := make([]int, 0, len(examples))
	for i, e := range examples {
		if in(e) {
			order = append(order, i)
		}
	}
	kept := make([]feature, 0, 512)
	for epoch := range trainingEpochs {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		rate := trainingRate * (1 - float64(0.9*float64(epoch)/trainingEpochs))
		for _, i := range order {
			e := &examples[i]
			kept = kept[:0]
			var dropped [maxTokens + 1]bool
			for t := range dropped {
				dropped[t] = random.Float64() < trainingDropout
			}
			for _, f := range e.features {
				if lexical(f.kind) && dropped[f.from] {
					continue
				}
				kept = append(kept, f)
			}
			p := softmax(logitsOf(weights, kept), portableExp)
			norm := math.Sqrt(float64(len(kept)))
			var g [numClasses]float64
			for k := range g {
				target := trainingSmooth / numClasses
				if k == e.class {
					target += 1 - trainingSmooth
				}
				g[k] = float64((p[k]-target)*e.weight) / norm
			}
			for _, f := range kept {
				base := f.bucket * numClasses
				for k := range g {
					at := base + uint32(k)
					grad := g[k] + float64(trainingDecay*weights[at])
					squares[at] += float64(grad * grad)
					weights[at] -= float64(rate * grad / (math.Sqrt(squares[at]) + 1e-6))
				}
			}
		}
	}
	return weights
}

// quantize puts the weights into signed bytes.
func (m *model) quantize(weights []float64) {
	top := 0.0
	for _, w := range weights {
		top = max(top, math.Abs(w))
	}
	m.scale = float64(float32(max(top, 1e-6) / 127))
	m.weights = make([]int8, len(weights))
	for i, w := range weights {
		m.weights[i] = int8(math.Round(w / m.scale))
	}
}

// portableExp is an exponential function that gives the same bits on every
// platform, as math.Exp does not: e^x = 2^n·e^r with |r| ≤ ln 2 / 2, and
// e^r by its Taylor series to the 11th power.
func portableExp(x float64) float64 {
	if x < -700 {
		return 0
	}
	n := math.Round(x / math.Ln2)
	r := x - float64(n*math.Ln2)
	term, sum := 1.0, 1.0
	for i := 1; i <= 11; i++ {
		term = float64(term*r) / float64(i)
		sum += term
	}
	return math.Ldexp(sum, int(n))
}

// encode writes a model file.
func (m *model) encode(words []string) []byte {
	vocabulary := strings.Join(words, "\n") + "\n"
	var b bytes.Buffer
	b.WriteString(modelMagic)
	h := modelHeader{
		TableBits: tableBits, Classes: numClasses, LexiconSum: lexiconSum(),
		VocabularyBytes: uint32(len(vocabulary)), Scale: float32(m.scale), Temperature: float32(m.temperature),
	}
	_ = binary.Write(&b, binary.LittleEndian, h) // a bytes.Buffer takes all
	b.WriteString(vocabulary)
	for _, w := range m.weights {
		b.WriteByte(byte(w))
	}
	return binary.LittleEndian.AppendUint32(b.Bytes(), crc32.ChecksumIEEE(b.Bytes()))
}

// NewClassifierFrom loads a model that TrainModel made.
func NewClassifierFrom(file []byte) (*Classifier, error) {
	m, err := decodeModel(file)
	if err != nil {
		return nil, err
	}
	return newClassifier(m)
}

// nearTie is the gap between the two likeliest classes' probabilities under
// which both sources are asked. Of the validation questions (see
// docs/benchmarks.md) it sends about one in forty to two sources, and
// half of the wrongly classified ones are among them.
const nearTie = 0.35

// NearTie says that the second class is so nearly as likely that both sources should be asked.
func (c *Classification) NearTie() bool { return c.Margin < nearTie }

// classIndex gives a class's place in the model's rows, or −1.
func classIndex(c Class) int {
	for i, k := range classAt {
		if k == c {
			return i
		}
	}
	return -1
}

// lexical says that a feature kind hangs on single content words.
func lexical(kind uint8) bool {
	return kind >= featureWord && kind <= featureLetters
}
