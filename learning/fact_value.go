package learning

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"skillrouter"
)

// maxFactDepth bounds how deep a value may be nested: what readers in other
// languages can take apart without running out of stack.
const maxFactDepth = 200

// cleanFactValue checks a value, takes its white space out, and cuts secrets
// out of its strings. Numbers, the order of members and everything else stay
// as they were written.
func cleanFactValue(r *skillrouter.Redaction, raw json.RawMessage) (json.RawMessage, error) {
	if text := bytes.TrimSpace(raw); len(text) == 0 || bytes.Equal(text, []byte("null")) {
		return nil, skillrouter.InvalidField("value", "is required: any JSON but null, which stands for what is not there")
	}
	if !utf8.Valid(raw) {
		return nil, skillrouter.InvalidField("value", "is not valid UTF-8")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, skillrouter.InvalidField("value", "is not valid JSON")
	}
	if compact.Len() > MaxFactValue {
		return nil, &skillrouter.Error{
			Code: skillrouter.TooLarge, Field: "value",
			Message: fmt.Sprintf("is %d bytes of JSON, and a fact holds at most %d: store it in a file, and in the fact where that is", compact.Len(), MaxFactValue),
		}
	}
	if err := checkJSON("value", compact.Bytes()); err != nil {
		return nil, err
	}
	return r.JSON(compact.Bytes()), nil
}

// checkJSON refuses valid JSON that is nested too deep, or holds a NUL.
func checkJSON(field string, text []byte) error {
	if skillrouter.JSONDepth(text) > maxFactDepth {
		return skillrouter.InvalidField(field, "is nested deeper than %d", maxFactDepth)
	}
	for i := bytes.IndexByte(text, '\\'); i >= 0 && i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if bytes.HasPrefix(text[i:], []byte(`\u0000`)) {
			return skillrouter.InvalidField(field, "may not hold the character NUL")
		}
		i++
	}
	return nil
}
