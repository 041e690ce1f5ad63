package comms

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"

	"skillrouter/operational"
)

// sendBatch is the most messages that are stored together: beyond a few
// hundred the cost of the sync is shared out already.
const sendBatch = 256

// outbox gathers the messages that are being sent while the committer is
// busy, so that one transaction stores them all. Nobody lingers for more: the
// first sender of a batch submits it at once, and it takes in whoever comes
// until its transaction begins.
type outbox struct {
	mu   sync.Mutex
	open *batch // the batch that still takes in messages, or nil
}

type batch struct {
	letters []*letter
	done    chan struct{}
	err     error
}

// letter is a message on its way.
type letter struct {
	operational.MessageAppend
	body      []byte // the message as JSON, while its seq is 0
	delivered bool   // a live subscriber was handed it
	reserved  bool   // its room in the mailbox was taken before it was stored
}

// post stores a message in a batch with others, and returns once it is stored
// and announce has run. A batch is not given up when a sender goes away.
func (o *outbox) post(ctx context.Context, store MessageStore, l *letter, announce func([]*letter)) (err error) {
	if l.body, err = json.Marshal(l.Message); err != nil {
		return err
	}
	o.mu.Lock()
	b, lead := o.open, false
	if b == nil || len(b.letters) == sendBatch {
		b, lead = &batch{done: make(chan struct{})}, true
		o.open = b
	}
	b.letters = append(b.letters, l)
	o.mu.Unlock()
	if !lead {
		<-b.done
		return b.err
	}
	take := func() []*operational.MessageAppend {
		o.close(b)
		appends := make([]*operational.MessageAppend, len(b.letters))
		for i, l := range b.letters {
			appends[i] = &l.MessageAppend
		}
		return appends
	}
	b.err = store.AppendMessages(context.WithoutCancel(ctx), take, func() { announce(b.letters) })
	o.close(b) // if it was refused before it was taken
	close(b.done)
	return b.err
}

// close lets no more messages into a batch.
func (o *outbox) close(b *batch) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open == b {
		o.open = nil
	}
}

// unnumbered is how the JSON of a message begins before it has its seq.
const unnumbered = `{"seq":0`

// post is the stored message as subscribers get it. Its JSON was made by the
// sender, beside the others; only the number is put in here.
func (l *letter) post() *Post {
	body := make([]byte, 0, len(l.body)+20)
	body = append(body, `{"seq":`...)
	body = strconv.AppendInt(body, l.Message.Seq, 10)
	body = append(body, l.body[len(unnumbered):]...)
	return &Post{Message: l.Message, Body: body}
}
