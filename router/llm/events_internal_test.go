package llm

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func dataOf(r io.Reader) ([]string, error) {
	var all []string
	for stream := newEvents(r); ; {
		data, err := stream.next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, string(data))
	}
}

func TestEvents(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string
	}{
		"LF":               {"data: a\n\ndata: b\n\n", []string{"a", "b"}},
		"CR LF":            {"data: a\r\n\r\ndata: b\r\n\r\n", []string{"a", "b"}},
		"CR":               {"data: a\r\rdata: b\r\r", []string{"a", "b"}},
		"several lines":    {"data: a\ndata:\ndata:b\n\n", []string{"a\n\nb"}},
		"other fields":     {": c\nevent: x\nid: 1\nretry: 5\ndata: a\n\n", []string{"a"}},
		"no data":          {"event: x\n\n: c\n\n\n\n", nil},
		"one space only":   {"data:  a\n\n", []string{" a"}},
		"cut off":          {"data: a\n\ndata: b\n", []string{"a"}},
		"cut off in a key": {"data: a\n\nda", []string{"a"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(test.text), iotest.OneByteReader(strings.NewReader(test.text))} {
				got, err := dataOf(r)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			}
		})
	}
}

// FuzzEvents: however a stream is cut into pieces, it holds the same events, and none of them a CR.
func FuzzEvents(f *testing.F) {
	f.Add("data: a\r\n\r\ndata: b\n\ndata: [DONE]\n\n")
	f.Add("data:a\rdata\r\n\n:\ndata: \n\n")
	f.Fuzz(func(t *testing.T, text string) {
		whole, err := dataOf(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		bytewise, err := dataOf(iotest.OneByteReader(strings.NewReader(text)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole, bytewise); diff != "" {
			t.Errorf("(-whole +bytewise)\n%s", diff)
		}
		for _, data := range whole {
			if strings.Contains(data, "\r") {
				t.Errorf("%q holds a CR", data)
			}
		}
	})
}
