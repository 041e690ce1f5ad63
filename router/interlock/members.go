package interlock

import (
	"math"
	"strconv"
	"strings"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/experience"
)

// members are a payload's, taken one by one under the names that senders may
// give them; what is left nobody knew. A member of another kind than is asked
// for is not taken.
type members map[string]any

// take takes the first member of these names that fits.
func take[T any](m members, fits func(value any) (T, bool), names ...string) (taken T, ok bool) {
	for _, name := range names {
		value, there := m[name]
		if !there {
			continue
		}
		if taken, ok = fits(value); ok {
			delete(m, name)
			return taken, true
		}
	}
	return taken, false
}

func (m members) text(names ...string) string {
	text, _ := take(m, func(value any) (string, bool) {
		text, ok := value.(string)
		return strings.TrimSpace(text), ok && strings.TrimSpace(text) != ""
	}, names...)
	return text
}

func (m members) object(names ...string) map[string]any {
	object, _ := take(m, func(value any) (map[string]any, bool) {
		object, ok := value.(map[string]any)
		return object, ok
	}, names...)
	return object
}

// texts takes a list of texts, or one text as a list.
func (m members) texts(names ...string) []string {
	list, _ := take(m, func(value any) ([]string, bool) {
		if one, ok := value.(string); ok {
			return []string{one}, true
		}
		values, ok := value.([]any)
		list := make([]string, 0, len(values))
		for _, value := range values {
			text, isText := value.(string)
			ok = ok && isText
			list = append(list, text)
		}
		return list, ok
	}, names...)
	return list
}

// share takes a number between 0 and 1.
func (m members) share(names ...string) *float64 {
	share, ok := take(m, func(value any) (float64, bool) {
		number, ok := value.(float64)
		return number, ok && number >= 0 && number <= 1
	}, names...)
	if !ok {
		return nil
	}
	return &share
}

// milliseconds takes a duration.
func (m members) milliseconds(names ...string) *int64 {
	ms, ok := take(m, func(value any) (int64, bool) {
		number, ok := value.(float64)
		ok = ok && number >= 0 && number <= experience.MaxDuration
		if !ok {
			return 0, false
		}
		return int64(math.Round(number)), true
	}, names...)
	if !ok {
		return nil
	}
	return &ms
}

// maxExact is the largest whole number that a float64 tells from its neighbours.
const maxExact = 1 << 53

// reference takes what names something: its id, or its number as a number or in digits.
func (m members) reference(names ...string) string {
	ref, _ := take(m, func(value any) (string, bool) {
		switch value := value.(type) {
		case string:
			return value, value != ""
		case float64:
			if value != math.Trunc(value) || value < 1 || value > maxExact {
				return "", false
			}
			return strconv.FormatInt(int64(value), 10), true
		}
		return "", false
	}, names...)
	return ref
}

// outcomes are the words and what they say of how something went.
var outcomes = map[string]learning.Result{
	"success": learning.ResultSuccess, "succeeded": learning.ResultSuccess, "successful": learning.ResultSuccess, "ok": learning.ResultSuccess,
	"pass": learning.ResultSuccess, "passed": learning.ResultSuccess, "complete": learning.ResultSuccess, "completed": learning.ResultSuccess,
	"approved": learning.ResultSuccess, "verified": learning.ResultSuccess, "true": learning.ResultSuccess, "valid": learning.ResultSuccess,
	"failure": learning.ResultFailure, "failed": learning.ResultFailure, "fail": learning.ResultFailure, "error": learning.ResultFailure,
	"rejected": learning.ResultFailure, "refuted": learning.ResultFailure, "false": learning.ResultFailure, "invalid": learning.ResultFailure,
	"partial": learning.ResultPartial, "partially": learning.ResultPartial, "mixed": learning.ResultPartial,
}

// result takes how it went, as a word or as true or false.
func (m members) result(names ...string) learning.Result {
	result, _ := take(m, func(value any) (learning.Result, bool) {
		switch value := value.(type) {
		case bool:
			if value {
				return learning.ResultSuccess, true
			}
			return learning.ResultFailure, true
		case string:
			result, known := outcomes[strings.ToLower(strings.TrimSpace(value))]
			return result, known
		}
		return "", false
	}, names...)
	return result
}
