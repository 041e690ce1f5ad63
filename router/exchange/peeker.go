package exchange

import (
	"bufio"
	"io"
)

// peeker looks at a stream before it is read.
type peeker struct{ *bufio.Reader }

func newPeeker(r io.Reader) *peeker { return &peeker{bufio.NewReader(r)} }

// first returns the first byte that is no white space, and leaves it there.
func (p *peeker) first() (byte, error) {
	for {
		c, err := p.ReadByte()
		if err != nil {
			return 0, err
		}
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, p.UnreadByte()
		}
	}
}
