package feed

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/operational"
)

// Item is an event of the feed as all who follow it share it. It must not be changed.
type Item struct {
	Event

	mail     bool                       // it tells of a message
	to       string                     // whom that is to
	reminder *operational.ReminderEvent // what it tells of a reminder; nil: of something else
	forms    [forms]form
}

// Form is one of the ways in which transports write an event.
type Form int

// The forms.
const (
	ServerSent Form = iota // the data of a server-sent event
	Frame                  // a frame of a WebSocket
	forms
)

type form struct {
	once sync.Once
	text []byte
}

// As returns the item in a form, which encode makes of it the first time that
// anybody asks. The text is shared.
func (i *Item) As(form Form, encode func(event Event) []byte) []byte {
	f := &i.forms[form]
	f.once.Do(func() { f.text = encode(i.Event) })
	return f.text
}

// size is about what the item takes in memory, with both its forms.
func (i *Item) size() int {
	return 512 + 3*(len(i.Data)+len(i.Subject)+len(i.Agent)+len(i.Project))
}

// newItem makes the item of a log's event.
func newItem(source operational.FeedSource, number int64, e eventlog.Event) *Item {
	item := &Item{Event: Event{Event: e, Source: string(source)}}
	item.Seq = number
	if source == operational.FeedMessages {
		item.mail = true
		var message operational.MessageEvent
		if json.Unmarshal(e.Data, &message) == nil { // the store has just written it
			item.to = message.To
		}
	}
	if strings.HasPrefix(e.Type, "reminder.") && e.Type != operational.EventRemindersCleared {
		item.reminder = &operational.ReminderEvent{}
		_ = json.Unmarshal(e.Data, item.reminder) // the domain wrote it; what cannot be read concerns captains alone
	}
	if name, data, ok := experienceName(e); ok {
		item.Kind, item.Type, item.Data = e.Type, name, data
	}
	return item
}

// ours is what our logs call the members that the experience server names otherwise, or what stands for one that is not
// there: a judgement that moved no confidence has no previous one.
var ours = map[string]string{
	"lesson_id": "number", "pattern_id": "number", "statement": "title", "new_confidence": "confidence", "previous_confidence": "confidence",
}

// experienceName returns the name and the data that the experience server gives an event, exactly the members that
// events.txt lists of it, or false if it gives it none.
func experienceName(e eventlog.Event) (name string, data json.RawMessage, ok bool) {
	at := slices.IndexFunc(Types(), func(t Type) bool { return slices.Contains(t.Kinds, e.Type) })
	if at < 0 || !gjson.ValidBytes(e.Data) {
		return "", nil, false
	}
	var members []string
	for member := range strings.SplitSeq(Types()[at].Data, ", ") {
		value := cmp.Or(gjson.GetBytes(e.Data, member).Raw, gjson.GetBytes(e.Data, ours[member]).Raw, `""`) // an empty text is left out of ours
		members = append(members, strconv.Quote(member)+":"+value)
	}
	return Types()[at].Type, json.RawMessage("{" + strings.Join(members, ",") + "}"), true
}
