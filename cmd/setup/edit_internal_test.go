package setup

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// edits are one of each kind.
var edits = map[string]edit{
	"block": markdownBlock(rulesOf("")),
	"hash":  hashBlock("a = 1", nil),
	"json": jsonEdit{
		members: []member{
			{path: []string{"version"}, value: "1", weak: true},
			{path: []string{"mcpServers", serverName}, value: `{"command":"skillrouter","args":["mcp"]}`},
		},
		elements: Content{Program: "/it's/skillrouter"}.hooks(ClaudeCode, false),
	},
}

// userText draws what people may have in a file of text.
func userText(t *rapid.T) []byte {
	lines := rapid.SliceOfN(rapid.SampledFrom([]string{"", "a", "# b", "  c", "<!-- d -->", "ü", "```", "skillrouter"}), 0, 6).Draw(t, "lines")
	text := strings.Join(lines, rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "break"))
	return []byte(text + rapid.SampledFrom([]string{"", "\n", "\n\n"}).Draw(t, "end"))
}

// userJSON draws an object with comments, trailing commas and any white space.
func userJSON(t *rapid.T) []byte {
	gap := func() string {
		return rapid.SampledFrom([]string{"", " ", "\n", "\n  ", "\t", " // note\n", "/* note */", "\n\t// [\"]\n\t"}).Draw(t, "gap")
	}
	comma := func() string { return rapid.SampledFrom([]string{"", ","}).Draw(t, "comma") }
	var value func(depth int) string
	list := func(depth int) string {
		items := []string{}
		for range rapid.IntRange(0, 2).Draw(t, "items") {
			items = append(items, gap()+value(depth+1)+gap())
		}
		text := "[" + strings.Join(items, ",")
		if len(items) > 0 {
			text += comma()
		}
		return text + gap() + "]"
	}
	object := func(depth int, names []string) string {
		items := []string{}
		for _, name := range names {
			if !rapid.Bool().Draw(t, "has") {
				continue
			}
			v := value(depth + 1)
			switch name {
			case "mcpServers":
				v = "{" + gap() + `"other":` + gap() + value(depth+1) + comma() + gap() + "}"
			case "hooks":
				v = "{" + gap() + `"PreToolUse":` + list(depth+1) + comma() + gap() + "}"
			}
			items = append(items, gap()+`"`+name+`"`+gap()+":"+gap()+v+gap())
		}
		text := "{" + strings.Join(items, ",")
		if len(items) > 0 {
			text += comma()
		}
		return text + gap() + "}"
	}
	value = func(depth int) string {
		if depth < 3 && rapid.Bool().Draw(t, "deep") {
			if rapid.Bool().Draw(t, "list") {
				return list(depth)
			}
			return object(depth, []string{"x", "y"})
		}
		return rapid.SampledFrom([]string{"1", "12345678901234567890", `"a"`, `"\u0000//"`, "null", "true"}).Draw(t, "value")
	}
	return []byte(gap() + object(0, []string{"a", "mcpServers", "hooks", "version", "z"}) + gap())
}

// TestPutAndCut sees that what is put in is put in once, is the same when it is
// put in again, and leaves what there was when it is cut out.
func TestPutAndCut(t *testing.T) {
	t.Parallel()
	for name, e := range edits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				draw := userText
				if name == "json" {
					draw = userJSON
				}
				text := draw(t)
				with, err := e.put("f", text)
				if err != nil {
					t.Fatalf("%q: %v", text, err)
				}
				again, err := e.put("f", with)
				if err != nil || !bytes.Equal(again, with) {
					t.Fatalf("put in twice: %v\n%s\n%s", err, with, again)
				}
				without, err := e.cut("f", with, text)
				if err != nil {
					t.Fatal(err)
				}
				if name != "json" {
					if !bytes.Equal(without, text) {
						t.Fatalf("%q became %q", text, without)
					}
					return
				}
				if !same(without, text) {
					t.Fatalf("%s\nbecame\n%s", text, without)
				}
				for _, note := range []string{"// note\n", "/* note */", "// [\"]\n"} {
					if bytes.Count(text, []byte(note)) != bytes.Count(without, []byte(note)) {
						t.Fatalf("a comment %q is lost or doubled:\n%s\nbecame\n%s", note, text, without)
					}
				}
				unknown, err := e.cut("f", without, nil)
				if err != nil || !same(unknown, without) && !blank(unknown) {
					t.Fatalf("cut out twice: %v\n%s\n%s", err, without, unknown)
				}
			})
		})
	}
}

// fuzzEdit holds that an edit refuses a text or keeps what is in it.
func fuzzEdit(f *testing.F, e edit, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		with, err := e.put("f", text)
		if err != nil {
			if !strings.HasSuffix(err.Error(), "nothing was changed") {
				t.Errorf("refused with %v", err)
			}
			return
		}
		again, err := e.put("f", with)
		if err != nil || !bytes.Equal(with, again) {
			t.Fatalf("put in twice: %v\n%q\n%q", err, with, again)
		}
		if _, err := e.cut("f", with, text); err != nil {
			t.Fatalf("cannot be cut out: %v\n%q", err, with)
		}
	})
}

func FuzzBlock(f *testing.F) {
	fuzzEdit(f, edits["block"], "", "a\r\nb", "skillrouter:begin\nx\nskillrouter:end", "skillrouter:end")
}

func FuzzTOML(f *testing.F) {
	fuzzEdit(f, hashBlock("[mcp_servers.skillrouter]\ncommand = \"x\"", tomlFree), "a = 1", "[a]\nb = [\n1]", "mcp_servers.other.command = \"x\"", "\"\"\"")
}

func FuzzJSON(f *testing.F) {
	fuzzEdit(f, edits["json"], "{}", `{"hooks":{"PreToolUse":[{"hooks":[]}]}}`, "{/**/\"mcpServers\":{},}", "\ufeff{}", `{"hooks":null}`)
}

// TestOurHook sees that ours are known whatever the program's name, and nobody else's.
func TestOurHook(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"skillrouter", "/a b/it's", `C:\x y\sr.exe`, "/x/ünï"} {
		line := Content{Program: program, Name: "a"}.commandLine(runtime.GOOS, Gemini, "session-start")
		text, _ := json.Marshal(map[string]string{"command": line})
		if !oursAlone(text) {
			t.Errorf("not known: %s", line)
		}
	}
	for _, line := range []string{"./hook.sh", "other hook pre-tool-use", "git hook pre-tool --for x", "echo hook session-start"} {
		text, _ := json.Marshal(map[string]string{"command": line})
		if oursAlone(text) {
			t.Errorf("taken for ours: %s", line)
		}
	}
}

// TestFrame: a byte order mark, and a last line without a break, stay as they are through both ways.
func TestFrame(t *testing.T) {
	e := edits["json"]
	for _, text := range []string{"\ufeff{\r\n  \"mcpServers\": {}\r\n}\r\n", "{\"a\":1}\n// end", "\ufeff{\"a\":1}\n// end", "{\"a\":1}"} {
		with, err := e.put("f", []byte(text))
		if err != nil || bytes.HasPrefix(with, []byte("\ufeff")) != strings.HasPrefix(text, "\ufeff") || bytes.HasSuffix(with, []byte("\n")) != strings.HasSuffix(text, "\n") {
			t.Errorf("%q became %q, %v", text, with, err)
		}
		without, err := e.cut("f", with, []byte(text))
		if err != nil || !strings.HasPrefix(string(without), text[:4]) || strings.HasSuffix(text, "// end") != strings.HasSuffix(string(without), "// end") {
			t.Errorf("%q is %q in the end, %v", text, without, err)
		}
	}
	if with, err := e.put("f", []byte("\ufeff")); err != nil || !bytes.HasPrefix(with, []byte("\ufeff{")) {
		t.Errorf("a mark alone became %q, %v", with, err)
	}
}
