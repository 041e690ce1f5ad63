package comms

import (
	"encoding/json"
	"time"

	"skillrouter/operational"
)

// Frame makes the message of a draft and the JSON that subscribers get of it
// once it has its seq.
func Frame(draft operational.MessageDraft, seq int64, now time.Time) (operational.Message, []byte, error) {
	m, _, err := compose(draft, now)
	if err != nil {
		return m, nil, err
	}
	body, err := json.Marshal(m)
	if err != nil {
		return m, nil, err
	}
	l := letter{MessageAppend: operational.MessageAppend{Message: m}, body: body}
	l.Message.Seq = seq
	p := l.post()
	return p.Message, p.Body, nil
}

// Tail is what is held of the log once messages were announced in their order: those after seq, or false if it does not reach back so far.
func Tail(messages []operational.Message, seq int64) (held []*Post, reaches bool) {
	var t tail
	for _, m := range messages {
		t.append([]*Post{{Message: m}})
	}
	return t.after(seq)
}

// Aged is what is still held then.
func Aged(messages []operational.Message, now time.Time, seq int64) (held []*Post, reaches bool) {
	var t tail
	for _, m := range messages {
		t.append([]*Post{{Message: m}})
	}
	t.age(now)
	return t.after(seq)
}
