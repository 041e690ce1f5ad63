package llm

import (
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// How calls are made again.
const (
	// DefaultRetries is how often a call is made again: with the waits below, within about two seconds.
	DefaultRetries = 2
	// firstWait is the longest wait before the second attempt; it doubles with each.
	firstWait = 500 * time.Millisecond
	// maxWait bounds a wait that nobody asked for, and maxRetryAfter one that the endpoint asks for:
	// whoever waits longer should be told.
	maxWait       = 8 * time.Second
	maxRetryAfter = 30 * time.Second
)

// again tells whether a call that ended so is made again, and after which wait.
// A call is repeated if it surely did not reach the model (no connection came
// about), or if the endpoint says that its failure passes: 429 and 5xx, save
// those that mean that it cannot do this at all.
func (e *Endpoint) again(attempt int, response *http.Response, err error, transparent bool) (time.Duration, bool) {
	if attempt >= DefaultRetries {
		return 0, false
	}
	wait := time.Duration(float64(min(maxWait, firstWait<<attempt)) * e.options.Chance()) // "full jitter"
	if err != nil {
		dial, ok := errors.AsType[*net.OpError](err)
		return wait, ok && dial.Op == "dial" && !errors.Is(err, errFirstByte)
	}
	if transparent {
		return 0, false
	}
	switch status := response.StatusCode; {
	case status == http.StatusNotImplemented || status == http.StatusHTTPVersionNotSupported:
		return 0, false
	case status == http.StatusTooManyRequests || status >= 500:
		asked, said := retryAfter(response.Header.Get("Retry-After"), e.options.Now())
		if said && asked > maxRetryAfter {
			return 0, false
		}
		return max(wait, asked), true
	}
	return 0, false
}

// retryAfter reads a Retry-After header, RFC 9110 section 10.2.3: seconds, or a date.
func retryAfter(header string, now time.Time) (time.Duration, bool) {
	header = strings.TrimSpace(header)
	if header == "" {
		return 0, false
	}
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}
