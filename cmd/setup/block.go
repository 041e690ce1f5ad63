package setup

import (
	"bytes"
	"strings"
)

// block is a part of a text that people write: what stands between two marks,
// each on a line of its own, is ours.
type block struct {
	begin, end string // the marks, whole lines
	body       string // without a line break at its end
	// check refuses a text that ours may not be added to, or which with ours in it is no
	// longer what it was. nil allows all.
	check func(path string, without, with []byte) error
}

// The words of the marks, in whatever comment.
const (
	beginMark = "skillrouter:begin"
	endMark   = "skillrouter:end"
	beginText = beginMark + " (written by skillrouter setup; what is changed between these marks is lost)"
)

func markdownBlock(body string) block {
	return block{begin: "<!-- " + beginText + " -->", end: "<!-- " + endMark + " -->", body: body}
}

func hashBlock(body string, check func(path string, without, with []byte) error) block {
	return block{begin: "# " + beginText, end: "# " + endMark, body: body, check: check}
}

// find returns where the block begins and where it ends, the break of its last
// line included. from is -1 if there is none.
func (b block) find(path string, text []byte) (from, to int, err error) {
	from, to = -1, -1
	at := 0
	for line := range bytes.Lines(text) {
		begins, ends := bytes.Contains(line, []byte(beginMark)), bytes.Contains(line, []byte(endMark))
		switch {
		case begins && ends:
			return 0, 0, refused(path, lineOf(text, at), "both marks of skillrouter's block on one line")
		case begins && from >= 0:
			return 0, 0, refused(path, lineOf(text, at), "a second mark %q", beginMark)
		case begins:
			from = at
		case ends && (from < 0 || to >= 0):
			return 0, 0, refused(path, lineOf(text, at), "a mark %q without its beginning", endMark)
		case ends:
			to = at + len(line)
		}
		at += len(line)
	}
	if from >= 0 && to < 0 {
		return 0, 0, refused(path, lineOf(text, from), "a mark %q without its end", beginMark)
	}
	return from, to, nil
}

func (b block) put(path string, text []byte) ([]byte, error) {
	if err := plainText(path, text); err != nil {
		return nil, err
	}
	from, to, err := b.find(path, text)
	if err != nil {
		return nil, err
	}
	nl := lineBreak(text)
	ours := strings.ReplaceAll(b.begin+"\n"+b.body+"\n"+b.end, "\n", nl)
	var with bytes.Buffer
	if from >= 0 {
		with.Write(text[:from])
		with.WriteString(ours)
		if bytes.HasSuffix(text[:to], []byte("\n")) {
			with.WriteString(nl)
		}
		with.Write(text[to:])
	} else {
		with.Write(text)
		if len(text) > 0 {
			if !bytes.HasSuffix(text, []byte("\n")) {
				with.WriteString(nl)
			}
			with.WriteString(nl)
		}
		with.WriteString(ours + nl)
	}
	if b.check != nil {
		without, err := b.cut(path, text, nil)
		if err != nil {
			return nil, err
		}
		if err := b.check(path, without, with.Bytes()); err != nil {
			return nil, err
		}
	}
	return with.Bytes(), nil
}

func (b block) cut(path string, text, before []byte) ([]byte, error) {
	from, to, err := b.find(path, text)
	if err != nil || from < 0 {
		return text, err
	}
	head, rest := text[:from], text[to:]
	// The empty line before it came with it.
	for _, nl := range []string{"\r\n", "\n"} {
		if shorter, ok := bytes.CutSuffix(head, []byte(nl)); ok && (len(shorter) == 0 || bytes.HasSuffix(shorter, []byte("\n"))) {
			head = shorter
			break
		}
	}
	// So did the break of a last line that had none.
	if len(rest) == 0 && len(before) > 0 && !bytes.HasSuffix(before, []byte("\n")) {
		head = bytes.TrimSuffix(bytes.TrimSuffix(head, []byte("\n")), []byte("\r"))
	}
	return append(bytes.Clone(head), rest...), nil
}

// lineBreak is how a text's first line ends.
func lineBreak(text []byte) string {
	at := bytes.IndexByte(text, '\n')
	if at > 0 && text[at-1] == '\r' || at < 0 && bytes.HasSuffix(text, []byte("\r")) {
		return "\r\n"
	}
	return "\n"
}
