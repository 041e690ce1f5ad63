package contexts

import (
	"bytes"
	"compress/flate"
	"flag"
	"os"
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"
)

var updateVocabulary = flag.Bool("update-vocabulary", false, "write vocabulary.flate from the library's table")

// TestVocabulary: the embedded table is the library's, token by token.
func TestVocabulary(t *testing.T) {
	encoding := codec.NewO200kBase()
	var lengths, text []byte
	want := make(map[string]uint32, vocabularySize)
	for id := range vocabularySize {
		token, _ := encoding.Decode([]uint{uint(id)}) // an id without a token is an empty text here
		if len(token) > 255 {
			t.Fatalf("token %d has %d bytes: its length is no byte", id, len(token))
		}
		lengths, text = append(lengths, byte(len(token))), append(text, token...)
		if token != "" {
			want[token] = uint32(id)
		}
	}
	if *updateVocabulary {
		var packed bytes.Buffer
		w, err := flate.NewWriter(&packed, flate.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = w.Write(append(lengths, text...)) // a buffer takes all
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("vocabulary.flate", packed.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		packedVocabulary = packed.String()
	}
	got, held := readVocabulary(), 0
	for id := range uint32(vocabularySize) {
		token := got.token(id)
		if rank, there := want[token]; token != "" && (!there || rank != id || got.rank(token) != id) {
			t.Fatalf("the embedded vocabulary has %q for %d, found as %d, and the library for %d: run this test with -update-vocabulary", token, id, got.rank(token), rank)
		} else if there {
			held++
		}
		if token += "\x00"; token != "\x00" && want[token] == 0 && got.rank(token) != unmergeable {
			t.Fatalf("%q is no token, and has the rank %d", token, got.rank(token))
		}
	}
	if held != len(want) {
		t.Errorf("the embedded vocabulary has %d tokens and the library %d: run this test with -update-vocabulary", held, len(want))
	}
}
