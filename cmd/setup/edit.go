package setup

import (
	"bytes"
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/pelletier/go-toml/v2"
)

// edit is a change of one file that can be made and taken back. A text that is
// nil is a file that is not there. Neither method changes the text it is given.
type edit interface {
	// put returns the text with ours in it; with ours in it already, the text itself.
	put(path string, text []byte) ([]byte, error)
	// cut returns the text without ours. before is what the file held before ours came,
	// as far as that is known: what was empty then may be empty again.
	cut(path string, text, before []byte) ([]byte, error)
}

// ownMark stands in every file that is ours as a whole.
const ownMark = "Written by skillrouter setup"

// ownFile is a file that is ours as a whole.
type ownFile struct{ content string }

func (f ownFile) put(path string, text []byte) ([]byte, error) {
	if text != nil && !bytes.Contains(text, []byte(ownMark)) {
		return nil, refused(path, 0, "somebody else's file is in the place of ours")
	}
	return []byte(f.content), nil
}

// cut leaves the file alone if somebody changed it: there is no telling theirs from ours.
func (f ownFile) cut(_ string, text, _ []byte) ([]byte, error) {
	if string(text) == f.content {
		return nil, nil
	}
	return text, nil
}

// lineOf is the number of the line, from 1, at an offset of a text.
func lineOf(text []byte, offset int) int {
	return 1 + bytes.Count(text[:max(0, min(offset, len(text)))], []byte("\n"))
}

// blank tells whether a text holds nothing that somebody wrote.
func blank(text []byte) bool {
	trimmed := bytes.Join(bytes.Fields(text), nil)
	return len(trimmed) == 0 || string(trimmed) == "{}"
}

// plainText refuses what is no text that a block can be added to.
func plainText(path string, text []byte) error {
	if at := bytes.IndexByte(text, 0); at >= 0 {
		return refused(path, lineOf(text, at), "this is no text (a NUL byte)")
	}
	return nil
}

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

// tomlFree sees that a TOML file is one, has no table of ours that somebody
// wrote by hand, and still is one with ours in it.
func tomlFree(path string, without, with []byte) error {
	var found struct {
		Servers map[string]any `toml:"mcp_servers"`
	}
	if err := toml.Unmarshal(without, &found); err != nil {
		line := 0
		if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ = wrong.Position()
		}
		return refused(path, line, "this is no TOML: %v", err)
	}
	if _, has := found.Servers[serverName]; has {
		return refused(path, 0, "it has a table mcp_servers.%s already, which somebody else wrote: remove it first", serverName)
	}
	var all map[string]any
	if err := toml.Unmarshal(with, &all); err != nil {
		return refused(path, 0, "the table mcp_servers.%s cannot be added to it: %v", serverName, err)
	}
	return nil
}

// yamlFree sees that a YAML file is a map of values, has no "read" of its own,
// and still is one with ours in it.
func yamlFree(path string, without, with []byte) error {
	found := map[string]any{}
	if err := yaml.Unmarshal(without, &found); err != nil {
		return refused(path, 0, "this is no YAML that settings can be added to: %v", err)
	}
	if _, has := found["read"]; has {
		return refused(path, 0, `it has a list "read" already: add %s to it by hand`, aiderFile)
	}
	if err := yaml.Unmarshal(with, &found); err != nil {
		return refused(path, 0, "the setting \"read\" cannot be added to it: %v", err)
	}
	return nil
}
