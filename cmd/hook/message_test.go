package hook_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/skillrouter/skillrouter/cmd/hook"
)

// wide writes a text in UTF-16.
func wide(text string, order binary.ByteOrder, mark bool) string {
	var out bytes.Buffer
	units := utf16.Encode([]rune(text))
	if mark {
		units = append([]uint16{0xFEFF}, units...)
	}
	_ = binary.Write(&out, order, units)
	return out.String()
}

// TestMessagesAsAgentsSendThem: what JSON forbids and agents write is read for what it says.
func TestMessagesAsAgentsSendThem(t *testing.T) {
	t.Parallel()
	const plain = `{"tool_name":"Bash","tool_input":{"command":"rm -rf ~ # äü 😀"}}`
	for name, c := range map[string]struct{ text, want string }{
		"plain":                     {plain, "rm -rf ~ # äü 😀"},
		"a mark of byte order":      {"\ufeff" + plain, "rm -rf ~ # äü 😀"},
		"UTF-16, little end first":  {wide(plain, binary.LittleEndian, true), "rm -rf ~ # äü 😀"},
		"UTF-16, big end first":     {wide(plain, binary.BigEndian, true), "rm -rf ~ # äü 😀"},
		"without its mark":          {wide(plain, binary.LittleEndian, false), "rm -rf ~ # äü 😀"},
		"big, without its mark":     {wide(plain, binary.BigEndian, false), "rm -rf ~ # äü 😀"},
		"control characters":        {"{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"rm -rf ~\n# x\t\x01\x1b\x00\"}}", "rm -rf ~\n# x\t\x01\x1b\x00"},
		"one behind a backslash":    {"{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"a\\\\\nb\"}}", "a\\\nb"},
		"Latin-1":                   {"{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"rm -rf B\xfccher\"}}", "rm -rf Bücher"},
		"half a surrogate":          {`{"tool_name":"Bash","tool_input":{"command":"ls \ud83d"}}`, "ls \ufffd"},
		"brackets within texts":     {`{"tool_name":"Bash","tool_input":{"command":"} \" ] {"}}`, `} " ] {`},
		"something behind it":       {plain + "\ngarbage", "rm -rf ~ # äü 😀"},
		"blanks and lines before":   {"\r\n \t" + plain, "rm -rf ~ # äü 😀"},
		"a text without its escape": {"{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"a\rb\"}}", "a\rb"},
	} {
		text, err := hook.Message(iotest.OneByteReader(strings.NewReader(c.text)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		call, err := hook.Read(hook.PreToolUse, text)
		if err != nil || call.Args["command"] != c.want || call.Tool != "Bash" {
			t.Errorf("%s: %q %q: %v", name, call.Tool, call.Args["command"], err)
		}
	}
	for name, text := range map[string]string{"nothing": "", "no JSON": "hello", "cut off": `{"tool_name":"Bash"`} {
		if _, err := hook.Message(strings.NewReader(text)); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

// TestMessageWaitsForNothing: an agent that keeps the pipe open is no obstacle.
func TestMessageWaitsForNothing(t *testing.T) {
	t.Parallel()
	r, w := io.Pipe()
	go func() { _, _ = w.Write([]byte(`{"tool_name":"Bash"}`)) }()
	if text, err := hook.Message(r); err != nil || len(text) == 0 {
		t.Error(err)
	}
}

// TestLongMessages: of what is too long the beginning and the end are kept, and the words of the rest of a command.
func TestLongMessages(t *testing.T) {
	t.Parallel()
	padding := strings.Repeat("a1b2 ", 1<<18)
	read := func(message string) hook.Call {
		text, err := hook.Message(strings.NewReader(message))
		if err != nil {
			t.Fatal(err)
		}
		call, err := hook.Read(hook.PreToolUse, text)
		if err != nil {
			t.Fatal(err)
		}
		return call
	}
	call := read(`{"tool_name":"Bash","tool_input":{"command":"first ` + padding + `r'm' -rf ~ ` + padding + ` last"}}`)
	command, _ := call.Args["command"].(string)
	if len(command) > 1<<20 || !strings.HasPrefix(command, "first") || !strings.HasSuffix(command, "last") || !strings.Contains(" "+call.Unread, " rm ") {
		t.Errorf("%d bytes, unread %q", len(command), call.Unread)
	}
	call = read(`{"tool_name":"Write","tool_input":{"file_path":"/w/a","content":"` + padding + `rm` + padding + `"}}`)
	if content, _ := call.Args["content"].(string); call.Args["file_path"] != "/w/a" || len(content) > 1<<20 || call.Unread != "" {
		t.Errorf("a long file: %d bytes, unread %q", len(content), call.Unread)
	}
	text, err := hook.Message(strings.NewReader(`{"tool_name":"Bash","tool_input":{"command":"x"},"error":"` + padding + padding + padding + `No module named y"}`))
	if err != nil {
		t.Fatal(err)
	}
	if call, err := hook.Read(hook.PostFailure, text); err != nil || !call.Failed || !strings.HasSuffix(call.Failure, "No module named y") {
		t.Errorf("a long failure: %v", err)
	}
}
