package stream

import (
	"encoding/binary"
	"encoding/json"
	"math"

	"skillrouter/internal/clock"
	"skillrouter/router/feed"
)

// MaxFrame bounds what a client of the feed may send at once, in bytes: it has
// nothing to say but a ping.
const MaxFrame = 4 << 10

// Frame is what a WebSocket of the feed bears, in both directions. Its first
// three members are those of the experience server.
type Frame struct {
	Type      string          `json:"type"`
	Data      json.RawMessage `json:"data"`
	Timestamp int64           `json:"timestamp"` // Unix milliseconds
	Seq       int64           `json:"seq,omitempty"`
	Kind      string          `json:"kind,omitempty"`
	Source    string          `json:"source,omitempty"`
	Subject   string          `json:"subject,omitempty"`
	Agent     string          `json:"agent_id,omitempty"`
	Project   string          `json:"project,omitempty"`
}

// The types of frames that are no events.
const (
	framePing  = "ping"
	framePong  = "pong"
	frameError = "error"
)

// The opcodes of https://www.rfc-editor.org/rfc/rfc6455#section-5.2, each with the bit that ends a message.
const (
	finalText  = 0x81
	finalClose = 0x88
	finalPing  = 0x89
)

// encodeFrame writes an event as a frame, header and all: a server's frames
// bear no mask, and so are the same for every client.
func encodeFrame(event feed.Event) []byte {
	return textFrame(Frame{
		Type: event.Type, Data: event.Data, Timestamp: event.At.UnixMilli(), Seq: event.Seq, Kind: event.Kind, Source: event.Source,
		Subject: event.Subject, Agent: event.Agent, Project: event.Project,
	})
}

func textFrame(frame Frame) []byte {
	if len(frame.Data) == 0 {
		frame.Data = json.RawMessage("{}")
	}
	// Marshalling strings, whole numbers and JSON that was stored or made here cannot fail.
	text, _ := json.Marshal(frame)
	return rawFrame(finalText, text)
}

// rawFrame puts a header before a payload: RFC 6455, section 5.2.
func rawFrame(first byte, payload []byte) []byte {
	frame := make([]byte, 0, len(payload)+10)
	switch n := len(payload); {
	case n < 126:
		frame = append(frame, first, byte(n))
	case n <= math.MaxUint16:
		frame = binary.BigEndian.AppendUint16(append(frame, first, 126), uint16(n))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, first, 127), uint64(n))
	}
	return append(frame, payload...)
}

// answerFrame is what a client is answered to what it sent.
func answerFrame(text []byte, now clock.Clock) []byte {
	at := now().UnixMilli()
	answer := Frame{Type: framePong, Timestamp: at}
	var said Frame
	switch err := json.Unmarshal(text, &said); {
	case err != nil:
		answer.Type = frameError
		answer.Data, _ = json.Marshal(map[string]string{"error": "a frame must be a JSON object with type and data"})
	case said.Type != framePing:
		answer.Type = frameError
		answer.Data, _ = json.Marshal(map[string]string{"error": "the only frame that a client can send is a ping; what it follows is said in the address"})
	default:
		answer.Data, _ = json.Marshal(map[string]int64{"timestamp": at})
	}
	return textFrame(answer)
}
