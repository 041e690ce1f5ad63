package interlock_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/interlock"
)

var at = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// packed is a datagram with any payload, whose header may be wrong.
func packed(signal, version uint16, payload string, more int) []byte {
	head := make([]byte, 12, 12+len(payload))
	binary.BigEndian.PutUint16(head[0:], signal)
	binary.BigEndian.PutUint16(head[2:], version)
	binary.BigEndian.PutUint32(head[4:], uint32(len(payload)+more)) //nolint:gosec // a test's
	binary.BigEndian.PutUint32(head[8:], uint32(at.Unix()))         //nolint:gosec // before 2106
	return append(head, payload...)
}

// TestGolden holds the bytes to the contract: these were written by hand.
func TestGolden(t *testing.T) {
	got, err := interlock.Format(interlock.BuildCompleted, at, "neurogenesis", map[string]any{"outcome": "success"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	// 1795262400 = 0x6B0187C0 seconds after 1970.
	want := "\x00\xb0\x01\x00\x00\x00\x00\x2d\x6b\x01\x87\xc0" + `{"outcome":"success","sender":"neurogenesis"}`
	if string(got) != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	// The signature of RFC 2104 over everything before its comma, as another program computed it.
	signed, err := interlock.Format(interlock.Heartbeat, at, "a", nil, []byte("0123456789abcdef"))
	if err != nil {
		t.Fatal(err)
	}
	want = "\x00\x00\x01\x00\x00\x00\x00\x57\x6b\x01\x87\xc0" + `{"sender":"a","mac":"e7c6fff7eebd4bffc21d2654ecdcb8ad7209f6c236c46baf53ee04b9352ce02f"}`
	if string(signed) != want {
		t.Errorf("got  %q\nwant %q", signed, want)
	}
}

// TestParseRefuses: whatever is not exactly a datagram is refused for its own reason.
func TestParseRefuses(t *testing.T) {
	deep := strings.Repeat(`{"a":`, interlock.MaxDepth) + "1" + strings.Repeat("}", interlock.MaxDepth)
	for name, test := range map[string]struct {
		data []byte
		want interlock.Reason
	}{
		"nothing":             {nil, interlock.RefusedShort},
		"half a header":       {make([]byte, 11), interlock.RefusedShort},
		"too long":            {packed(0, 0x100, `{"sender":"a","x":"`+strings.Repeat("x", interlock.MaxDatagram)+`"}`, 0), interlock.RefusedOversize},
		"version 0":           {packed(0, 0, `{"sender":"a"}`, 0), interlock.RefusedVersion},
		"version 2":           {packed(0, 0x200, `{"sender":"a"}`, 0), interlock.RefusedVersion},
		"little-endian":       {packed(0, 0x0001, `{"sender":"a"}`, 0), interlock.RefusedVersion},
		"cut off":             {packed(0, 0x100, `{"sender":"a"}`, 1), interlock.RefusedLength},
		"length of 4 GB":      {packed(0, 0x100, "", -1), interlock.RefusedLength},
		"one byte more":       {packed(0, 0x100, `{"sender":"a"} `, -1), interlock.RefusedTrailing},
		"no payload":          {packed(0, 0x100, "", 0), interlock.RefusedJSON},
		"no object":           {packed(0, 0x100, `["sender"]`, 0), interlock.RefusedJSON},
		"a text":              {packed(0, 0x100, `"sender"`, 0), interlock.RefusedJSON},
		"null":                {packed(0, 0x100, `null`, 0), interlock.RefusedJSON},
		"two objects":         {packed(0, 0x100, `{"sender":"a"}{"sender":"b"}`, 0), interlock.RefusedJSON},
		"half an object":      {packed(0, 0x100, `{"sender":"a"`, 0), interlock.RefusedJSON},
		"a comma too many":    {packed(0, 0x100, `{"sender":"a",}`, 0), interlock.RefusedJSON},
		"no comma":            {packed(0, 0x100, `{"x":[1 2],"sender":"a"}`, 0), interlock.RefusedJSON},
		"NaN":                 {packed(0, 0x100, `{"x":NaN,"sender":"a"}`, 0), interlock.RefusedJSON},
		"no number":           {packed(0, 0x100, `{"x":1e999,"sender":"a"}`, 0), interlock.RefusedJSON},
		"a control character": {packed(0, 0x100, "{\"sender\":\"a\x01\"}", 0), interlock.RefusedJSON},
		"no UTF-8":            {packed(0, 0x100, "{\"sender\":\"\xff\"}", 0), interlock.RefusedUTF8},
		"UTF-16":              {packed(0, 0x100, "\xfe\xff\x00{\x00}", 0), interlock.RefusedUTF8},
		"sender twice":        {packed(0, 0x100, `{"sender":"a","sender":"b"}`, 0), interlock.RefusedDuplicate},
		"twice, escaped":      {packed(0, 0x100, `{"sender":"a","\u0073ender":"b"}`, 0), interlock.RefusedDuplicate},
		"twice, deep down":    {packed(0, 0x100, `{"sender":"a","x":[{"y":1,"y":1}]}`, 0), interlock.RefusedDuplicate},
		"too deep":            {packed(0, 0x100, `{"sender":"a","x":`+deep+`}`, 0), interlock.RefusedDepth},
		"a tower of lists":    {packed(0, 0x100, `{"sender":"a","x":`+strings.Repeat("[", 30000)+strings.Repeat("]", 30000)+`}`, 0), interlock.RefusedDepth},
		"too many values":     {packed(0, 0x100, `{"sender":"a","x":[`+strings.Repeat("{},", 20000)+`{}]}`, 0), interlock.RefusedDepth},
		"no sender":           {packed(0, 0x100, `{}`, 0), interlock.RefusedSender},
		"a number as sender":  {packed(0, 0x100, `{"sender":1}`, 0), interlock.RefusedSender},
		"an empty sender":     {packed(0, 0x100, `{"sender":""}`, 0), interlock.RefusedSender},
		"a long sender":       {packed(0, 0x100, `{"sender":"`+strings.Repeat("a", interlock.MaxSender+1)+`"}`, 0), interlock.RefusedSender},
		"a line as sender":    {packed(0, 0x100, `{"sender":"a\nb"}`, 0), interlock.RefusedSender},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := interlock.Parse(test.data); !errors.Is(err, test.want) {
				t.Errorf("%v, want %s", err, test.want)
			}
		})
	}
	// The negative control: the same makers make what is let in.
	d, err := interlock.Parse(packed(0xB0, 0x100, `{"sender":"`+strings.Repeat("a", interlock.MaxSender)+`","x":{"y":[1,"2",null,true]}}`, 0))
	if err != nil || d.Signal != interlock.BuildCompleted || !d.At.Equal(at) {
		t.Fatal(d, err)
	}
	if diff := cmp.Diff(map[string]any{"x": map[string]any{"y": []any{1.0, "2", nil, true}}}, d.Data); diff != "" {
		t.Error(diff)
	}
}

// TestRoundTrip: what is formatted is parsed to the same, signed or not.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := map[string]any{}
		for name, value := range rapid.MapOf(rapid.StringMatching(`[a-z]{1,5}`), rapid.String()).Draw(t, "data") {
			if name != "mac" && strings.ToValidUTF8(value, "") == value {
				data[name] = value
			}
		}
		key := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "key")
		signal := rapid.SampledFrom(append(interlock.Heard(), interlock.Emitted()...)).Draw(t, "signal")
		text, err := interlock.Format(signal, at, "a", data, key)
		if err != nil {
			t.Fatal(err)
		}
		d, err := interlock.Parse(text)
		if err != nil || d.Signal != signal || d.Sender != "a" || !d.At.Equal(at) {
			t.Fatal(d, err)
		}
		if diff := cmp.Diff(data, d.Data); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFormatRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		at     time.Time
		sender string
		data   map[string]any
		want   errs.Code
	}{
		"no sender":         {at, "", nil, errs.Invalid},
		"a sender in data":  {at, "a", map[string]any{"sender": "b"}, errs.Invalid},
		"a signature":       {at, "a", map[string]any{"mac": "b"}, errs.Invalid},
		"before its time":   {time.Unix(-1, 0), "a", nil, errs.Invalid},
		"after its time":    {time.Unix(1<<32, 0), "a", nil, errs.Invalid},
		"too much":          {at, "a", map[string]any{"x": strings.Repeat("x", interlock.MaxDatagram)}, errs.TooLarge},
		"what JSON has not": {at, "a", map[string]any{"x": func() {}}, errs.Invalid},
	} {
		if _, err := interlock.Format(interlock.Heartbeat, test.at, test.sender, test.data, nil); errs.CodeOf(err) != test.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzParse: no datagram panics, what is read is JSON to everybody else, and a refusal has a reason that is counted.
func FuzzParse(f *testing.F) {
	for _, payload := range []string{`{"sender":"a"}`, `{"sender":"a","x":[1,{"y":null}]}`, `{"sender":"a","mac":"` + strings.Repeat("0", 64) + `"}`, `[1 2]`, ``} {
		f.Add(packed(0xB0, 0x100, payload, 0))
	}
	signed, err := interlock.Format(interlock.LessonLearned, at, "a", map[string]any{"statement": "ä"}, []byte("0123456789abcdef"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(signed)
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		d, err := interlock.Parse(data)
		if !bytes.Equal(before, data) {
			t.Fatal("the datagram was changed")
		}
		if err != nil {
			var reason interlock.Reason
			if !errors.As(err, &reason) {
				t.Fatalf("no reason: %v", err)
			}
			return
		}
		var object map[string]any
		if err := json.Unmarshal(data[12:], &object); err != nil {
			t.Fatalf("it is no JSON: %v", err)
		}
		delete(object, "sender")
		delete(object, "mac")
		if diff := cmp.Diff(object, d.Data); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestParseFile(t *testing.T) {
	text, err := os.ReadFile("testdata/interlock.json") // the experience server's
	if err != nil {
		t.Fatal(err)
	}
	f, err := interlock.ParseFile(text)
	if err != nil || len(f.Peers) != 5 || f.Peers[4].Name != "trinity" || f.Peers[0].Address.String() != "127.0.0.1:3028" || f.Hear != interlock.HearPeers || f.Name != "experience-layer" {
		t.Errorf("the experience server's peers: %+v, %v", f, err)
	}
	whole := `{"name":"me","hear":"open","replay_window_seconds":5,"peers":[{"name":"a","port":1,"host":"::1","key":"0123456789abcdef","emit":[]}],"tumbler":{"mode":"whitelist","signals":["heartbeat"]}}`
	f, err = interlock.ParseFile([]byte(whole))
	if err != nil || f.Window != 5*time.Second || f.Tumbler.String() != "whitelist HEARTBEAT" || f.Peers[0].Emit == nil || string(f.Peers[0].Key) != "0123456789abcdef" {
		t.Errorf("%+v, %v", f, err)
	}
	for text, field := range map[string]string{
		`[]`:                            "",
		`{"name":"a","name":"b"}`:       "name",
		`{"peer":[]}`:                   "peer",
		`{"name":"a b"}`:                "name",
		`{"name":1}`:                    "name",
		`{"hear":"all"}`:                "hear",
		`{"replay_window_seconds":0}`:   "replay_window_seconds",
		`{"replay_window_seconds":1.5}`: "replay_window_seconds",
		`{"replay_window_seconds":601}`: "replay_window_seconds",
		`{"peers":{}}`:                  "peers",
		`{"peers":[1]}`:                 "peers",
		`{"peers":[{"port":1}]}`:        "peers[0].name",
		`{"peers":[{"name":"a"}]}`:      "peers[0].port",
		`{"peers":[{"name":"a","port":1},{"name":"a","port":2}]}`:            "peers[1].name",
		`{"peers":[{"name":"experience-layer","port":1}]}`:                   "peers[0].name",
		`{"peers":[{"name":"a","port":65536}]}`:                              "peers[0].port",
		`{"peers":[{"name":"a","port":"1"}]}`:                                "peers.port",
		`{"peers":[{"name":"a","port":1,"host":"example.com"}]}`:             "peers[0].host",
		`{"peers":[{"name":"a","port":1,"host":"0.0.0.0"}]}`:                 "peers[0].host",
		`{"peers":[{"name":"a","port":1,"host":"192.0.2.1"}]}`:               "peers[0].key",
		`{"peers":[{"name":"a","port":1,"key":"short"}]}`:                    "peers[0].key",
		`{"peers":[{"name":"a","port":1,"prot":2}]}`:                         "peers[0].prot",
		`{"peers":[{"name":"a","port":1,"emit":["HEARTBEAT"]}]}`:             "peers[0].emit[0]",
		`{"tumbler":{"mode":"greylist","signals":[]}}`:                       "tumbler.mode",
		`{"tumbler":{"mode":"blacklist","signals":["EXPERIENCE_RECORDED"]}}`: "tumbler.signals[0]",
		`{"tumbler":{"mode":"blacklist","signals":"HEARTBEAT"}}`:             "tumbler.signals",
		`{"peers":[` + strings.Repeat(`1,`, interlock.MaxPeers) + `1]}`:      "peers",
	} {
		if _, err := interlock.ParseFile([]byte(text)); errs.CodeOf(err) != errs.Invalid || errs.FieldOf(err) != field {
			t.Errorf("%.80s: field %q, %v; want %q", text, errs.FieldOf(err), err, field)
		}
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte(`{"peers":[{"name":"a","port":1,"key":"0123456789abcdef"}],"tumbler":{"mode":"whitelist","signals":["HEARTBEAT"]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, err := interlock.ParseFile(text)
		if err == nil && (file.Name == "" || file.Window < interlock.MinWindow || file.Window > interlock.MaxWindow) {
			t.Fatalf("%+v", file)
		}
	})
}
