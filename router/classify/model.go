package classify

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
)

//go:embed model.bin
var embeddedModel []byte

// The model file: this magic, the header in little endian, the vocabulary as
// words that end with a newline, one signed byte per bucket and class, and the
// CRC-32 (IEEE) of all that. Weight = byte × scale; the log-odds of a class are
// the sum of the weights of the question's features, divided by temperature
// and by the square root of their number.
const modelMagic = "SRclass1"

type modelHeader struct {
	TableBits       uint32
	Classes         uint32
	LexiconSum      uint32 // CRC-32 of the lexicon the model was trained with
	VocabularyBytes uint32
	Scale           float32
	Temperature     float32
}

// model is the learned part of the classifier.
type model struct {
	weights     []int8 // numClasses per bucket
	scale       float64
	temperature float64
	vocabulary  map[uint32]bool
	slips       []slip // sorted by hash
}

// slip leads from a word with one letter left out to the word.
type slip struct {
	hash, word uint32
}

// Words shorter than this are never corrected: too many others are one slip away.
const minCorrected = 5

// maxCorrected bounds the words that are tried as misspelt.
const maxCorrected = 20

// decodeModel reads a model file.
func decodeModel(file []byte) (*model, error) {
	var h modelHeader
	headerSize := binary.Size(h)
	if len(file) < len(modelMagic)+headerSize+4 || string(file[:len(modelMagic)]) != modelMagic {
		return nil, errors.New("the classifier's model is not one that this version reads")
	}
	body, sum := file[:len(file)-4], binary.LittleEndian.Uint32(file[len(file)-4:])
	if crc32.ChecksumIEEE(body) != sum {
		return nil, errors.New("the classifier's model is damaged")
	}
	body = body[len(modelMagic):]
	if err := binary.Read(bytes.NewReader(body), binary.LittleEndian, &h); err != nil {
		return nil, fmt.Errorf("read the model's header: %w", err)
	}
	body = body[headerSize:]
	if h.TableBits != tableBits || h.Classes != numClasses || uint64(len(body)) != uint64(h.VocabularyBytes)+tableSize*numClasses {
		return nil, errors.New("the classifier's model has another shape than this version's features")
	}
	if h.LexiconSum != lexiconSum() {
		return nil, errors.New("the classifier's model was trained with another lexicon: run make train-router")
	}
	m := &model{scale: float64(h.Scale), temperature: float64(h.Temperature)}
	if !(m.scale > 0 && m.scale < 1e3 && m.temperature > 1e-3 && m.temperature < 1e3) { // NaN is refused too
		return nil, errors.New("the classifier's model has a scale or temperature out of range")
	}
	m.learnVocabulary(strings.Fields(string(body[:h.VocabularyBytes])))
	m.weights = make([]int8, tableSize*numClasses)
	for i, b := range body[h.VocabularyBytes:] {
		m.weights[i] = int8(b)
	}
	return m, nil
}

// lexiconSum identifies the lexicon, however its lines end.
func lexiconSum() uint32 {
	return crc32.ChecksumIEEE([]byte(strings.ReplaceAll(lexiconText, "\r", "")))
}

// learnVocabulary sets the words that are never corrected and that slips are corrected to.
func (m *model) learnVocabulary(words []string) {
	m.vocabulary = make(map[uint32]bool, len(words))
	for _, w := range words {
		h := hash(w)
		m.vocabulary[h] = true
		if len(w) < minCorrected || len(w) > maxCorrected {
			continue
		}
		for i := 1; i < len(w); i++ { // the first letter is taken to be right
			m.slips = append(m.slips, slip{hash(w[:i] + w[i+1:]), h})
		}
	}
	slices.SortFunc(m.slips, func(a, b slip) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.word, b.word)) })
}

// correct finds a known word that is one slip from w: a letter too many, one
// too few, one wrong, or two changed about. Of several the first in hash
// order is taken.
func (m *model) correct(w string) (uint32, bool) {
	n := len(w)
	if n < minCorrected-1 || n > maxCorrected {
		return 0, false
	}
	if found, ok := m.slipOf(hash(w)); ok || n < minCorrected {
		return found, ok
	}
	for i := 1; i < n; i++ {
		h := hash(w[:i] + w[i+1:])
		if n > minCorrected && m.vocabulary[h] {
			return h, true
		}
		if found, ok := m.slipOf(h); ok {
			return found, true
		}
	}
	return 0, false
}

func (m *model) slipOf(h uint32) (uint32, bool) {
	i, ok := slices.BinarySearchFunc(m.slips, h, func(s slip, h uint32) int { return cmp.Compare(s.hash, h) })
	if !ok {
		return 0, false
	}
	return m.slips[i].word, true
}

// logits are the classes' log-odds before any prior, up to a common term.
func (m *model) logits(features []feature) [numClasses]float64 {
	var sum [numClasses]int32
	for _, f := range features {
		w := m.weights[f.bucket*numClasses : f.bucket*numClasses+numClasses]
		for k := range sum {
			sum[k] += int32(w[k])
		}
	}
	var z [numClasses]float64
	if len(features) == 0 {
		return z
	}
	unit := m.unit(len(features))
	for k := range z {
		z[k] = float64(sum[k]) * unit
	}
	return z
}

// unit is what one step of a weight byte adds to a logit of a question with n features.
func (m *model) unit(n int) float64 {
	return m.scale / m.temperature / math.Sqrt(float64(n))
}

// softmax gives the probabilities of log-odds, with an exponential function.
func softmax(z [numClasses]float64, exp func(float64) float64) [numClasses]float64 {
	top := z[0]
	for _, v := range z[1:] {
		top = max(top, v)
	}
	sum := 0.0
	for k, v := range z {
		z[k] = exp(v - top)
		sum += z[k]
	}
	for k := range z {
		z[k] /= sum
	}
	return z
}
