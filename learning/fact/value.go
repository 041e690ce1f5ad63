package fact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"skillrouter/internal/errs"
	"skillrouter/internal/redact"
	"skillrouter/learning"
)

// cleanValue checks a value, takes its white space out, and cuts secrets
// out of its strings. Numbers, the order of members and everything else stay
// as they were written.
func cleanValue(r *redact.Redaction, raw json.RawMessage) (json.RawMessage, error) {
	if text := bytes.TrimSpace(raw); len(text) == 0 || bytes.Equal(text, []byte("null")) {
		return nil, errs.InvalidField("value", "is required: any JSON but null, which stands for what is not there")
	}
	if !utf8.Valid(raw) {
		return nil, errs.InvalidField("value", "is not valid UTF-8")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, errs.InvalidField("value", "is not valid JSON")
	}
	if compact.Len() > MaxValue {
		return nil, &errs.Error{
			Code: errs.TooLarge, Field: "value",
			Message: fmt.Sprintf("is %d bytes of JSON, and a fact holds at most %d: store it in a file, and in the fact where that is", compact.Len(), MaxValue),
		}
	}
	if err := learning.CheckJSON("value", compact.Bytes()); err != nil {
		return nil, err
	}
	return r.JSON(compact.Bytes()), nil
}
