package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/transfer"
)

// maxLine bounds a line of an export, in bytes: the largest memory, each byte of it escaped.
const maxLine = 16 << 20

// Export visits the lines of an export as the router sends them, which are not
// to be kept. It fails if the export has not its end.
func (c *Client) Export(ctx context.Context, query transfer.ExportQuery, visit func(kind string, line []byte) error) error {
	reader, writer := io.Pipe()
	defer reader.Close() // the router's end is closed too, if a visit gave up
	streamed := make(chan error, 1)
	go func() {
		err := c.stream(ctx, at("/api/export").with(query), "application/x-ndjson", writer)
		writer.CloseWithError(err)
		streamed <- err
	}()
	lines := bufio.NewScanner(reader)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	ended, records := false, 0
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		var head struct {
			Kind    string `json:"kind"`
			Records int    `json:"records"`
		}
		if err := json.Unmarshal(line, &head); err != nil {
			return errs.Wrap(errs.Unavailable, err, "%s sent a line that is no record", c.base)
		}
		if head.Kind == "end" {
			ended = head.Records == records
			continue
		}
		records++
		if err := visit(head.Kind, line); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if err := <-streamed; err != nil {
		return err
	}
	if !ended {
		return errs.Errorf(errs.Unavailable, "the export of %s has no end: it broke off after %d records", c.base, records)
	}
	return nil
}
