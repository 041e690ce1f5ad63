package comms

import (
	"strconv"

	"skillrouter/operational"
)

// letter is a message on its way.
type letter struct {
	operational.MessageAppend
	body      []byte // the message as JSON, while its seq is 0
	delivered bool   // a live subscriber was handed it
	reserved  bool   // its room in the mailbox was taken before it was stored
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
