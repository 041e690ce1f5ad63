package history

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
)

// Found is a step that stands in a file, and what that file says of its session.
type Found struct {
	Step
	Session string // the agent's own id of the session; empty where the file does not say
	Dir     string // the folder that the agent worked in; empty where the file does not say
}

// Bounds of reading.
const (
	// MaxLine bounds a line that is read, in bytes: one holds an image or a file at most. Longer ones are passed over.
	MaxLine = 32 << 20
	// maxWaiting bounds the calls whose result has not come. Agents make some at once; of more, no result comes.
	maxWaiting = 1024
	// outputHead is how much of an output's beginning is taken, in bytes; the rest is its end.
	outputHead = 4 << 10
)

// Reader reads steps from a file of an agent: Claude Code's, Codex' or Gemini CLI's record of a session, as
// objects of JSON by lines, or Gemini CLI's older one of a single object. It takes nothing from prose: a step is a
// call of a tool with the result that the agent's own program wrote behind it.
type Reader struct {
	each    func(Found) error
	session string
	dir     string
	waiting map[string]*Found
	done    map[string]bool // calls whose result came: agents write some of them twice
	time    *time.Time
}

// NewReader makes a Reader that hands out each step when its result was read.
func NewReader(each func(Found) error) *Reader {
	return &Reader{each: each, waiting: map[string]*Found{}, done: map[string]bool{}}
}

// Read reads a record to its end. What is no line of a record is passed over.
func (r *Reader) Read(in io.Reader) error {
	lines := bufio.NewReaderSize(in, 256<<10)
	for {
		text, err := lines.ReadBytes('\n')
		if len(text) <= MaxLine && (err == nil || json.Valid(text)) { // the last line needs no end
			if wrong := r.line(text); wrong != nil {
				return wrong
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// Messages reads the messages of a session whose agent keeps them in no file that can be read, as its hook is given
// them: a list in the form that models take, in which an answer of a tool is the user's.
func (r *Reader) Messages(text []byte, session, dir string) error {
	var messages []recordMessage
	if err := json.Unmarshal(text, &messages); err != nil {
		return errs.InvalidField("transcript", "is no list of messages: %v", err)
	}
	r.session, r.dir = session, dir
	for i := range messages {
		if err := r.claude(&record{Message: &messages[i]}); err != nil {
			return err
		}
	}
	return nil
}

// record is a line of any of the agents, or a message in the form that models take.
type record struct {
	recordMessage
	ID        string          `json:"id"` // Gemini CLI writes a message again, under the same id, when its tools have answered
	Type      string          `json:"type"`
	Session   string          `json:"sessionId"`
	Dir       string          `json:"cwd"`
	At        string          `json:"at"`
	Timestamp string          `json:"timestamp"`
	Meta      bool            `json:"isMeta"`  // Claude Code says it in the person's name
	Message   *recordMessage  `json:"message"` // Claude Code's
	Result    json.RawMessage `json:"toolUseResult"`
	Payload   *codexPayload   `json:"payload"`
	Messages  []record        `json:"messages"` // Gemini's session as one object
	Calls     []geminiCall    `json:"toolCalls"`
}

type recordMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	ToolCalls []struct {
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"` // an object, or a text that holds one
		} `json:"function"`
	} `json:"tool_calls"`
}

type recordPart struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Of      string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	Text    string          `json:"text"`
	Failed  bool            `json:"is_error"`
}

func (r *Reader) line(text []byte) error {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	var l record
	var other *json.UnmarshalTypeError // a member has another type than an agent's: the rest is read
	if err := json.Unmarshal(text, &l); err != nil && !errors.As(err, &other) {
		return nil //nolint:nilerr // what is no record is passed over
	}
	return r.record(&l)
}

func (r *Reader) record(l *record) error {
	if at, err := time.Parse(time.RFC3339Nano, l.Timestamp); err == nil {
		r.time = &at
	}
	if l.Session != "" {
		r.session = l.Session
	}
	if l.Dir != "" {
		r.dir = l.Dir
	}
	switch {
	case l.Message != nil && !l.Meta:
		return r.claude(l)
	case l.Payload != nil:
		return r.codex(l.Type, l.Payload)
	}
	for i := range l.Messages {
		if err := r.record(&l.Messages[i]); err != nil {
			return err
		}
	}
	for i := range l.Calls {
		if err := r.gemini(&l.Calls[i]); err != nil {
			return err
		}
	}
	return nil
}

// call notes a call of a tool until its result comes.
func (r *Reader) call(id, name string, input json.RawMessage) {
	if id == "" || r.done[id] || r.waiting[id] != nil {
		return
	}
	command, edited := ReadCall(name, input)
	if command == "" {
		return
	}
	f := &Found{Step: Step{ID: check.Head(id, maxSession), Command: command, At: r.time}, Session: check.Head(r.session, maxSession), Dir: r.dir}
	if edited {
		f.Outcome = Edited
	}
	if len(r.waiting) >= maxWaiting {
		clear(r.waiting)
	}
	r.waiting[id] = f
}

// result hands out the step of a call whose result came.
func (r *Reader) result(id string, outcome Outcome, exit int, output string) error {
	f := r.waiting[id]
	if f == nil {
		return nil
	}
	delete(r.waiting, id)
	if len(r.done) > 1<<16 {
		clear(r.done)
	}
	r.done[id] = true
	if f.Outcome == Edited {
		if outcome != Worked {
			return nil
		}
		return r.each(*f)
	}
	f.Outcome, f.Exit = outcome, exit
	f.Digest = strconv.FormatUint(uint64(hashOf(output)), 36) //nolint:gosec // the same bits
	if outcome == Failed {
		f.Output = clip(output)
	}
	return r.each(*f)
}

// clip is a program's output as it is learned from: valid text, and of a long one the beginning and the end.
func clip(output string) string {
	if len(output) > MaxOutput {
		output = output[:outputHead] + "\n" + output[len(output)-(MaxOutput-outputHead-8):]
	}
	return check.Head(storable(output), MaxOutput)
}

func storable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "?")
}

// ReadCall reads what a call of a tool runs, or which file it changes.
func ReadCall(name string, input json.RawMessage) (command string, edited bool) {
	var text string
	if json.Unmarshal(input, &text) == nil {
		if strings.HasPrefix(name, "apply_patch") {
			return "patch", true
		}
		input = json.RawMessage(text)
	}
	var a struct {
		Command json.RawMessage `json:"command"`
		Cmd     json.RawMessage `json:"cmd"`
		Path    string          `json:"file_path"`
		Other   string          `json:"path"`
		Third   string          `json:"filePath"`
	}
	if json.Unmarshal(input, &a) != nil {
		return "", false
	}
	if path := cmp.Or(a.Path, a.Other, a.Third); path != "" {
		for _, verb := range []string{"edit", "write", "replace", "patch", "create"} {
			if strings.Contains(strings.ToLower(name), verb) {
				return check.Head(storable(path), MaxCommand), true
			}
		}
	}
	for _, raw := range []json.RawMessage{a.Command, a.Cmd} {
		var words []string
		if json.Unmarshal(raw, &text) == nil && strings.TrimSpace(text) != "" {
			return check.Head(storable(text), MaxCommand), false
		}
		if json.Unmarshal(raw, &words) == nil && len(words) > 0 {
			text = strings.Join(words, " ")
			if len(words) == 3 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
				text = words[2] // what a shell was started with
			}
			return check.Head(storable(text), MaxCommand), strings.HasPrefix(text, "apply_patch")
		}
	}
	var arguments map[string]any
	if json.Unmarshal(input, &arguments) != nil {
		return "", false
	}
	return toolCall(name, arguments), false
}

// How the tools of MCP servers are named, and those of this program's own: what is refused there is no failure of the work.
const (
	foreignTools = "mcp__"
	ownTools     = "mcp__skillrouter__"
	pluginTools  = "mcp__plugin_skillrouter_skillrouter__" // where Claude Code has the server from our plugin
	// maxToolValue bounds the value of an argument in a call of a tool, in bytes: a longer one is data.
	maxToolValue = 120
)

// toolCall writes a call of an MCP server's tool as a command: its name, and its plain arguments by name. Empty for any other tool.
func toolCall(name string, arguments map[string]any) string {
	if !strings.HasPrefix(name, foreignTools) || strings.HasPrefix(name, ownTools) || strings.HasPrefix(name, pluginTools) {
		return ""
	}
	words := []string{name}
	for _, key := range slices.Sorted(maps.Keys(arguments)) {
		switch value := arguments[key].(type) {
		case string, bool, float64:
			if text := fmt.Sprint(value); len(text) <= maxToolValue {
				words = append(words, key+"='"+strings.ReplaceAll(text, "'", "’")+"'")
			}
		}
	}
	return check.Head(storable(strings.Join(words, " ")), MaxCommand)
}

// refusals are how agents say that a call was not made or not ended: a person did not want it, or stopped it.
var refusals = []string{
	"The user doesn't want to", "[Request interrupted", "Claude requested permissions", "This command requires approval", "<tool_use_error>",
	"exec command rejected by user", "aborted by user", "command was aborted", "User cancelled", "[Operation Cancelled]", "The user rejected", "Tool execution aborted",
}

// NotRun tells whether an output says that a person or the agent did not let the call be made, or not to its end.
func NotRun(output string) bool {
	head := check.Head(output, 400)
	for _, said := range refusals {
		if strings.Contains(head, said) {
			return true
		}
	}
	return strings.Contains(output[max(0, len(output)-200):], "[Request interrupted")
}

var exitSaid = lazyregexp.New(`(?mi)^(?:Exit code:? |Process exited with code )(-?\d+)`)

// exitOf is the exit code that an agent wrote into a result; told is false where it wrote none. It looks at the lines that
// the agent puts around an output, not at the output.
func exitOf(output string) (code int, told bool) {
	m := exitSaid.FindStringSubmatch(check.Head(output, 300))
	if m == nil {
		return 0, false
	}
	code, err := strconv.Atoi(m[1])
	return code, err == nil
}

// interrupted is what stands in the result of a call that a person stopped.
var interrupted = []byte("true")

// claude reads a line of Claude Code. A result counts only in what its program writes as the user.
func (r *Reader) claude(l *record) error {
	var parts []recordPart
	if json.Unmarshal(l.Message.Content, &parts) != nil {
		return nil //nolint:nilerr // prose
	}
	role := cmp.Or(l.Message.Role, l.Type)
	for _, p := range parts {
		switch {
		case p.Type == "tool_use" && role == "assistant":
			r.call(p.ID, p.Name, p.Input)
		case p.Type == "tool_result" && role == "user":
			output := textOf(p.Content)
			outcome, exit := Worked, 0
			if p.Failed {
				outcome = Failed
				exit, _ = exitOf(output)
			}
			var said struct {
				Interrupted bool `json:"interrupted"`
			}
			if bytes.Contains(l.Result, interrupted) { // of most the output stands in it once more, which costs as much to read as all else
				_ = json.Unmarshal(l.Result, &said)
			}
			if p.Failed && NotRun(output) || said.Interrupted {
				outcome = Refused
			}
			if err := r.result(p.Of, outcome, exit, output); err != nil {
				return err
			}
		}
	}
	return nil
}

func textOf(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []recordPart
	_ = json.Unmarshal(content, &parts)
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
		b.WriteByte('\n')
	}
	return b.String()
}

// codexPayload is what a line of Codex holds, or its item, which was said or done.
type codexPayload struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Dir       string          `json:"cwd"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"`
	Action    json.RawMessage `json:"action"`
	Output    json.RawMessage `json:"output"`
	Command   json.RawMessage `json:"command"`
	ExitCode  *int            `json:"exit_code"`
	All       string          `json:"aggregated_output"`
	Content   json.RawMessage `json:"content"`
	Status    string          `json:"status"`
	Tool      string          `json:"tool"`
	Item      *codexPayload   `json:"item"`
}

func (r *Reader) codex(kind string, p *codexPayload) error {
	switch kind + "/" + p.Type {
	case "session_meta/":
		r.session, r.dir = p.ID, p.Dir
	case "turn_context/":
		if p.Dir != "" {
			r.dir = p.Dir
		}
	case "response_item/function_call":
		r.call(p.CallID, p.Name, p.Arguments)
	case "response_item/custom_tool_call":
		r.call(p.CallID, p.Name, p.Input)
	case "response_item/local_shell_call":
		r.call(p.CallID, p.Name, p.Action)
	case "response_item/function_call_output", "response_item/custom_tool_call_output", "response_item/local_shell_call_output":
		return r.codexOutput(p.CallID, p.Output)
	case "event_msg/exec_command_end":
		if p.ExitCode != nil {
			r.call(p.CallID, "", object("command", p.Command))
			return r.ended(p.CallID, *p.ExitCode, p.All)
		}
	case "event_msg/item_completed":
		if i := p.Item; i != nil && i.Type == "CommandExecution" && i.ExitCode != nil {
			r.call(i.ID, "", object("command", i.Command))
			if i.Status == "declined" {
				return r.result(i.ID, Refused, 0, "")
			}
			return r.ended(i.ID, *i.ExitCode, i.All)
		}
	}
	return nil
}

func object(name string, value json.RawMessage) json.RawMessage {
	if len(value) == 0 {
		return nil
	}
	text, err := json.Marshal(map[string]json.RawMessage{name: value})
	if err != nil {
		return nil
	}
	return text
}

// ended hands out a step whose exit code is known.
func (r *Reader) ended(id string, exit int, output string) error {
	outcome := Worked
	if exit != 0 {
		outcome = Failed
	}
	if NotRun(output) {
		outcome = Refused
	}
	return r.result(id, outcome, exit, output)
}

// codexOutput reads the result of a call: a text whose first lines tell how it went, or an object that does. A command
// that still runs has no result.
func (r *Reader) codexOutput(id string, raw json.RawMessage) error {
	text := textOf(raw)
	var whole struct {
		Output   string `json:"output"`
		Metadata *struct {
			ExitCode *int `json:"exit_code"`
		} `json:"metadata"`
	}
	if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &whole) == nil && whole.Metadata != nil && whole.Metadata.ExitCode != nil {
		return r.ended(id, *whole.Metadata.ExitCode, whole.Output)
	}
	if NotRun(text) {
		return r.result(id, Refused, 0, text)
	}
	if f := r.waiting[id]; f != nil && f.Outcome == Edited {
		return r.result(id, Worked, 0, text)
	}
	exit, told := exitOf(text)
	if !told {
		return nil
	}
	if _, output, cut := strings.Cut(text, "\nOutput:\n"); cut {
		text = output
	}
	return r.ended(id, exit, text)
}

// geminiCall is a call of a tool in Gemini CLI's record, with its result.
type geminiCall struct {
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args"`
	Status string          `json:"status"`
	Result []struct {
		Response struct {
			Response struct {
				Output string `json:"output"`
				Error  string `json:"error"`
			} `json:"response"`
		} `json:"functionResponse"`
	} `json:"result"`
}

// said is what the tool printed, and what it says went wrong.
func (c *geminiCall) said() (output, wrong string) {
	for _, part := range c.Result {
		output += part.Response.Response.Output
		wrong += part.Response.Response.Error
	}
	return output, wrong
}

var geminiExit = lazyregexp.New(`(?m)^Exit Code: (\d+)\s*$`)

func (r *Reader) gemini(c *geminiCall) error {
	if len(c.Result) == 0 && c.Status != "cancelled" {
		return nil
	}
	r.call(c.ID, c.Name, c.Args)
	output, wrong := c.said()
	text := output + wrong
	switch m := geminiExit.FindAllStringSubmatch(text, -1); {
	case c.Status == "cancelled":
		return r.result(c.ID, Refused, 0, text)
	case len(m) > 0:
		exit, _ := strconv.Atoi(m[len(m)-1][1])
		return r.ended(c.ID, exit, text)
	case c.Status == "error" || wrong != "":
		return r.result(c.ID, Failed, 0, text)
	}
	return r.result(c.ID, Worked, 0, text)
}

// ReadPart reads a file that opencode keeps for a part of a message; ok is false for one that is no step.
func ReadPart(text []byte) (found Found, ok bool) {
	var p struct {
		Type    string `json:"type"`
		Session string `json:"sessionID"`
		CallID  string `json:"callID"`
		Tool    string `json:"tool"`
		State   struct {
			Status   string          `json:"status"`
			Input    json.RawMessage `json:"input"`
			Output   string          `json:"output"`
			Error    string          `json:"error"`
			Metadata struct {
				Exit *int `json:"exit"`
			} `json:"metadata"`
			Time struct {
				Start int64 `json:"start"`
			} `json:"time"`
		} `json:"state"`
	}
	if json.Unmarshal(text, &p) != nil || p.Type != "tool" || p.CallID == "" {
		return found, false
	}
	r := NewReader(func(f Found) error {
		found, ok = f, true
		return nil
	})
	r.session = p.Session
	if p.State.Time.Start > 0 {
		at := time.UnixMilli(p.State.Time.Start).UTC()
		r.time = &at
	}
	r.call(p.CallID, p.Tool, p.State.Input)
	var err error
	switch exit, wrong := p.State.Metadata.Exit, p.State.Error; {
	case p.State.Status == "error" && NotRun(wrong):
		err = r.result(p.CallID, Refused, 0, wrong)
	case p.State.Status == "error":
		err = r.result(p.CallID, Failed, 0, wrong)
	case p.State.Status == "completed" && exit != nil:
		err = r.ended(p.CallID, *exit, p.State.Output)
	case p.State.Status == "completed":
		err = r.result(p.CallID, Worked, 0, p.State.Output)
	}
	return found, ok && err == nil
}
