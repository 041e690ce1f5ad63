package stream

import (
	"encoding/json"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/router/feed"
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

// encodeFrame writes an event as a frame's text, which is the same for every client.
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
	return text
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
