package learning

import (
	"encoding/json"
)

// CheckPersona returns a persona's name, DefaultPersona for an empty one. What
// can be no folder's name is an Invalid error on the field persona.
func CheckPersona(name string) (string, error) { return checkPersona(name) }

// CleanObject checks a JSON object of at most so many bytes, takes its white
// space out and cuts secrets out of its strings. None, null and an empty one are nil.
func CleanObject(field string, raw json.RawMessage, most int) (json.RawMessage, error) {
	return cleanObject(field, raw, most)
}
