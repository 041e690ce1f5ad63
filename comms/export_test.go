package comms

import (
	"encoding/json"
	"time"

	"github.com/skillrouter/skillrouter/operational"
)

// Frame makes the message of a draft and the JSON that subscribers get of it
// once it has its seq.
func Frame(draft operational.MessageDraft, seq int64, now time.Time) (operational.Message, []byte, error) {
	m, _, err := compose(draft, now)
	if err != nil {
		return m, nil, err
	}
	m.Seq = seq
	body, err := json.Marshal(m)
	return m, body, err
}
