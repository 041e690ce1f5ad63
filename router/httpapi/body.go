package httpapi

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// receive reads the body of a request, of at most so many bytes.
func receive(c *gin.Context, limit int64) ([]byte, error) {
	_ = http.NewResponseController(c.Writer).SetReadDeadline(time.Now().Add(BodyTimeout)) // of the system's clock, as all deadlines of connections
	var from io.Reader = c.Request.Body
	defer c.Request.Body.Close()
	packed := false
	switch encoding := strings.ToLower(c.GetHeader("Content-Encoding")); encoding {
	case "", "identity":
	case "gzip":
		unpacked, err := gzip.NewReader(from)
		if err != nil {
			return nil, errs.Errorf(errs.Invalid, "the body is not gzip, as its Content-Encoding says")
		}
		from, packed = unpacked, true
	default:
		return nil, errs.Errorf(errs.Invalid, "the Content-Encoding of the body may be gzip, or left out")
	}
	text, err := io.ReadAll(io.LimitReader(from, limit))
	timeout, slow := errors.AsType[net.Error](err)
	switch {
	case int64(len(text)) == limit:
		return nil, &errs.Error{Code: errs.TooLarge, Message: fmt.Sprintf("request body is too large limit=%d bytes", limit)}
	case slow && timeout.Timeout():
		return nil, errs.Errorf(errs.Unavailable, "request body read timeout")
	case err != nil && packed:
		return nil, errs.Errorf(errs.Invalid, "the body is not gzip to its end, as its Content-Encoding says")
	case err != nil:
		return nil, err
	}
	if kind := c.GetHeader("Content-Type"); len(text) > 0 && kind != "" && c.ContentType() != "application/json" {
		return nil, errs.Errorf(errs.Invalid, "unknown content type: %s", kind)
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), nil // which some shells write before what they send
}
