package router_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"os"
	"testing"

	"skillrouter/router"
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
			if _, err := router.NewClassifierFrom(file); err == nil {
				t.Error("it was taken")
			}
		})
	}
	if _, err := router.NewClassifierFrom(resealed(whole)); err != nil {
		t.Errorf("the model itself is refused: %v", err)
	}
}

func TestTrainModelRefuses(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]router.TrainingLine{
		"no lines":           nil,
		"no hand-made lines": {{Query: "what is running", Class: router.ClassOperational}},
		"an unknown class":   {{Query: "what is running", Class: "weather", HandMade: true}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := router.TrainModel(lines); err == nil {
				t.Error("it was taken")
			}
		})
	}
}

// TestTrainModelLearns trains on a handful of lines that share a made-up word
// with a question that no line has.
func TestTrainModelLearns(t *testing.T) {
	t.Parallel()
	var lines []router.TrainingLine
	for _, l := range []struct {
		query string
		class router.Class
	}{
		{"frobnicate the widget", router.ClassRecon},
		{"frobnicate a gadget", router.ClassRecon},
		{"please frobnicate now", router.ClassRecon},
		{"zibble the widget", router.ClassEpisode},
		{"zibble a gadget", router.ClassEpisode},
		{"please zibble now", router.ClassEpisode},
	} {
		lines = append(lines, router.TrainingLine{Query: l.query, Class: l.class, HandMade: true, Family: l.query})
	}
	file, report, err := router.TrainModel(lines)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := router.TrainModel(lines)
	if err != nil || !bytes.Equal(file, again) {
		t.Errorf("the second training gives another file (%v)", err)
	}
	if report.Lines != len(lines) || report.HandMade != len(lines) {
		t.Errorf("report %+v", report)
	}
	c, err := router.NewClassifierFrom(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Classify("frobnicate my thing", nil); got.Class != router.ClassRecon {
		t.Errorf("frobnicate is %s", got.Class)
	}
	if got := c.Classify("zibble my thing", nil); got.Class != router.ClassEpisode {
		t.Errorf("zibble is %s", got.Class)
	}
}
