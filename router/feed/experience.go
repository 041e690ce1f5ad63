package feed

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/skillrouter/skillrouter/internal/eventlog"
)

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
