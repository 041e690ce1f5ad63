package sidecar

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"strconv"
)

// Conn is a bare keep-alive HTTP/1.1 connection, so that the load costs little of the processor that it shares with what is measured.
type Conn struct {
	net.Conn
	reader *bufio.Reader
	buffer []byte
}

// Dial opens a Conn.
func Dial(address string) (*Conn, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: conn, reader: bufio.NewReaderSize(conn, 4096)}, nil
}

// Get makes one call and reads its answer to the end.
func (c *Conn) Get(path string) error {
	c.buffer = fmt.Appendf(c.buffer[:0], "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", path)
	return c.exchange(path)
}

// Post is Get with a body of JSON.
func (c *Conn) Post(path string, body []byte) error {
	c.buffer = fmt.Appendf(c.buffer[:0], "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", path, len(body))
	c.buffer = append(c.buffer, body...)
	return c.exchange(path)
}

func (c *Conn) exchange(path string) error {
	if _, err := c.Write(c.buffer); err != nil {
		return err
	}
	status, err := c.reader.ReadSlice('\n')
	if err != nil {
		return err
	}
	if len(status) < 12 || status[9] != '2' {
		return fmt.Errorf("%s: %s", path, status)
	}
	length := -1
	for {
		header, err := c.reader.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(header) <= 2 {
			break
		}
		if name, value, ok := bytes.Cut(header, []byte(":")); ok && bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		}
	}
	if length < 0 {
		return fmt.Errorf("%s: an answer without a length", path)
	}
	_, err = io.CopyN(io.Discard, c.reader, int64(length))
	return err
}
