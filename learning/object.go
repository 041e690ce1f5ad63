package learning

import "encoding/json"

// CleanObject checks a JSON object of at most so many bytes, takes its white
// space out and cuts secrets out of its strings. None, null and an empty one are nil.
func CleanObject(field string, raw json.RawMessage, most int) (json.RawMessage, error) {
	return cleanObject(field, raw, most)
}
