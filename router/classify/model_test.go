package classify_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"testing"

	"github.com/skillrouter/skillrouter/router/classify"
)

func modelFile(t testing.TB) []byte {
	t.Helper()
	file, err := os.ReadFile("model.bin")
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// resealed is file with its checksum made right again.
func resealed(file []byte) []byte {
	body := file[:len(file)-4]
	return binary.LittleEndian.AppendUint32(bytes.Clone(body), crc32.ChecksumIEEE(body))
}

func TestModelFileIsSmall(t *testing.T) {
	t.Parallel()
	if n := len(modelFile(t)); n > 2<<20 {
		t.Errorf("the model has %d bytes", n)
	}
}

func TestModelFileIsRefused(t *testing.T) {
	t.Parallel()
	whole := modelFile(t)
	changed := func(at int) []byte {
		file := bytes.Clone(whole)
		file[at] ^= 0x40
		return file
	}
	for name, file := range map[string][]byte{
		"empty":                   nil,
		"its magic alone":         whole[:8],
		"cut short":               whole[:len(whole)-1],
		"cut short and resealed":  resealed(whole[:len(whole)-100]),
		"a changed weight":        changed(len(whole) - 1000),
		"another magic, resealed": resealed(changed(0)),
		"another table, resealed": resealed(changed(8)),
		"other classes, resealed": resealed(changed(12)),
		"other lexicon, resealed": resealed(changed(16)),
		"other words, resealed":   resealed(changed(20)),
		"a huge scale, resealed":  resealed(changed(27)),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := classify.NewClassifierFrom(file); err == nil {
				t.Error("it was taken")
			}
		})
	}
	if _, err := classify.NewClassifierFrom(resealed(whole)); err != nil {
		t.Errorf("the model itself is refused: %v", err)
	}
}

func TestTrainModelRefuses(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]classify.TrainingLine{
		"no lines":           nil,
		"no hand-made lines": {{Query: "what is running", Class: classify.ClassOperational}},
		"an unknown class":   {{Query: "what is running", Class: "weather", HandMade: true}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := classify.TrainModel(lines); err == nil {
				t.Error("it was taken")
			}
		})
	}
}

// TestTrainModelLearns trains on a handful of lines that share a made-up word
// with a question that no line has.
func TestTrainModelLearns(t *testing.T) {
	t.Parallel()
	var lines []classify.TrainingLine
	for _, l := range []struct {
		query string
		class classify.Class
	}{
		{"frobnicate the widget", classify.ClassRecon},
		{"frobnicate a gadget", classify.ClassRecon},
		{"please frobnicate now", classify.ClassRecon},
		{"zibble the widget", classify.ClassEpisode},
		{"zibble a gadget", classify.ClassEpisode},
		{"please zibble now", classify.ClassEpisode},
	} {
		lines = append(lines, classify.TrainingLine{Query: l.query, Class: l.class, HandMade: true, Family: l.query})
	}
	file, report, err := classify.TrainModel(lines)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := classify.TrainModel(lines)
	if err != nil || !bytes.Equal(file, again) {
		t.Errorf("the second training gives another file (%v)", err)
	}
	if report.Lines != len(lines) || report.HandMade != len(lines) {
		t.Errorf("report %+v", report)
	}
	c, err := classify.NewClassifierFrom(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Classify("frobnicate my thing", nil); got.Class != classify.ClassRecon {
		t.Errorf("frobnicate is %s", got.Class)
	}
	if got := c.Classify("zibble my thing", nil); got.Class != classify.ClassEpisode {
		t.Errorf("zibble is %s", got.Class)
	}
}
