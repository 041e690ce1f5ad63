package hook

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

const (
	// maxMessage bounds what is read of an agent's message, in bytes. Nothing that an agent sends comes near it.
	maxMessage = 64 << 20
	// maxArgs bounds the texts of a tool's arguments, in bytes; of a longer one its beginning and its end are kept.
	maxArgs   = 256 << 10
	headBytes = 64 << 10
	tailBytes = 64 << 10
	// MaxWords bounds the words of what is left out, in bytes.
	MaxWords = 64 << 10
)

// Message reads an agent's message: one JSON object, behind which nothing is waited for, so that an agent that keeps the pipe open is no
// obstacle. Agents write what JSON forbids, and a guard must not pass it: control characters within texts, a mark of byte order, bytes of
// Latin-1, UTF-16. All of it becomes JSON here. With an error, it returns what was read.
func Message(in io.Reader) ([]byte, error) {
	r := bufio.NewReaderSize(in, 64<<10)
	start, _ := r.Peek(2) // an error comes again below
	if len(start) == 2 {
		switch {
		case start[0] == 0xFF && start[1] == 0xFE, start[0] != 0 && start[1] == 0:
			r = bufio.NewReader(unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewDecoder().Reader(r))
		case start[0] == 0xFE && start[1] == 0xFF, start[0] == 0 && start[1] != 0:
			r = bufio.NewReader(unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewDecoder().Reader(r))
		}
	}
	var out bytes.Buffer
	depth, within, escaped := 0, false, false
	for {
		c, err := character(r)
		switch {
		case err != nil && depth == 0 && out.Len() == 0:
			return nil, errors.New("the message is empty")
		case err != nil:
			return out.Bytes(), fmt.Errorf("the message is cut off: %w", err)
		case out.Len() > maxMessage:
			return out.Bytes(), fmt.Errorf("the message is longer than %d MiB", maxMessage>>20)
		case c == '\ufeff' && out.Len() == 0:
			continue
		case within && c < ' ':
			if escaped {
				out.WriteByte('\\') // the backslash stands for itself
			}
			fmt.Fprintf(&out, "\\u%04x", c)
			escaped = false
			continue
		}
		out.WriteRune(c)
		switch {
		case within && escaped:
			escaped = false
		case within && c == '\\':
			escaped = true
		case c == '"':
			within = !within
		case within:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth <= 0 {
				return out.Bytes(), nil
			}
		case depth == 0 && c > ' ':
			return out.Bytes(), errors.New("the message is no JSON object")
		}
	}
}

// character reads one character of UTF-8, or of Latin-1 where that is none.
func character(r *bufio.Reader) (rune, error) {
	c, size, err := r.ReadRune()
	if err == nil && c == utf8.RuneError && size == 1 {
		_ = r.UnreadRune() // it was read last
		b, err := r.ReadByte()
		return rune(b), err
	}
	return c, err
}

// shorten cuts the texts of a tool's arguments where they are too long together, and returns the words of what it left out of a command.
func shorten(args map[string]any) (words string) {
	left := maxArgs
	var gone strings.Builder
	var cut func(name string, value any) any
	cut = func(name string, value any) any {
		switch v := value.(type) {
		case string:
			if len(v) <= min(left, maxArgs) {
				left -= len(v)
				return v
			}
			head, tail := v[:min(headBytes, max(left, 1<<10), len(v))], v[max(0, len(v)-min(tailBytes, max(left/4, 1<<10))):]
			if !slices.Contains([]string{"content", "contents", "file_text", "new_string", "old_string", "new_str", "old_str", "new_source", "description"}, name) {
				gone.WriteString(v[len(head):max(len(head), len(v)-len(tail))] + " ")
			}
			left -= len(head) + len(tail)
			return strings.ToValidUTF8(head, "") + "\n" + strings.ToValidUTF8(tail, "")
		case []any:
			for i := range v {
				v[i] = cut(name, v[i])
			}
		case map[string]any:
			for key := range v {
				v[key] = cut(key, v[key])
			}
		}
		return value
	}
	_ = cut("", args)
	if gone.Len() == 0 {
		return ""
	}
	return Words(strings.NewReader(gone.String()))
}

// Words are the words of a text, each once, quotes and backslashes removed: what may name a program. A star stands behind them if there are too many.
func Words(in io.Reader) string {
	seen := map[string]bool{}
	var out strings.Builder
	var word []byte
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		c, err := r.ReadByte()
		switch {
		case err == nil && (c == '\'' || c == '"' || c == '\\'):
			continue
		case err == nil && (c == '_' || c == '-' || c == '.' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'):
			word = append(word, c)
			continue
		}
		if text := strings.ToLower(string(word)); len(word) > 0 && len(word) < 40 && !seen[text] {
			seen[text] = true
			out.WriteString(text + " ")
		}
		word = word[:0]
		if out.Len() > MaxWords {
			return out.String() + "*"
		}
		if err != nil {
			return out.String()
		}
	}
}
