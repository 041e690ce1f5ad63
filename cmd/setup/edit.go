package setup

import "bytes"

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
	for i, b := range text {
		if b == 0 {
			return refused(path, lineOf(text, i), "this is no text (a NUL byte)")
		}
	}
	return nil
}
