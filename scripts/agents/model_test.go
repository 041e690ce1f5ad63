package agents

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// step is one answer of the scripted model: words, and the use of a tool. before
// is done when the question is there and before it is answered.
type step struct {
	text   string
	shell  string         // a command, with whatever tool the agent has for that
	tool   string         // or one of the router's tools, by the server's name for it
	args   map[string]any // what that is called with
	search bool           // or the agent's search for tools that it did not name in full, for tool
	agent  string         // or the start of a subagent with this task, which answers with a word
	full   bool           // the answer says that the conversation has nearly filled the model's window
	before func()
}

// used is how many tokens the answer says that the conversation has.
func (s step) used() int {
	if s.full {
		return 990_000 // more than any of the agents goes on with
	}
	return 100
}

// model answers as the services of three makers do.
type model struct {
	mu   sync.Mutex
	said []*session
}

// session is one conversation: a step for each question of the agent's. Side
// questions, such as for a title, get a word.
type session struct {
	mu        *sync.Mutex // the model's
	prompt    string
	steps     []step
	asked     []string      // the bodies of the questions, in order
	came      []time.Time   // when each question came
	answered  []time.Time   // and when its answer was ready
	aside     []string      // the bodies of side questions
	subs      []string      // the bodies of the questions of subagents
	over      bool          // the agent has ended; what it said may be told in later ones
	summed    bool          // the agent had a summary made
	done      chan struct{} // closed when the latest question is answered
	compacted int           // the first question after that; 0: none
}

// begin makes the model answer the session that begins with a prompt.
func (m *model) begin(prompt string, steps ...step) *session {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &session{mu: &m.mu, prompt: prompt, steps: steps}
	m.said = append(m.said, s)
	return s
}

// end says that the agent has ended.
func (s *session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
}

// question is what was asked at a step, as it came.
func (s *session) question(i int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i >= len(s.asked) {
		return ""
	}
	return s.asked[i]
}

// summing tells the question by which an agent compacts its conversation.
var summing = regexp.MustCompile(`create a detailed summary of|CONTEXT CHECKPOINT COMPACTION|context summarization|anchored summary|distilling chat history|critically evaluate the <state_snapshot>`)

// take returns the answer to a question. The latest session whose prompt is in it and
// that is not over asks it, or else the latest.
func (m *model) take(body string, main bool) (step, int) {
	m.mu.Lock()
	at := len(m.said) - 1
	for i, s := range slices.Backward(m.said) {
		if !s.over && strings.Contains(body, s.prompt) {
			at = i
			break
		}
	}
	s := m.said[at]
	i := len(s.asked)
	if i > 0 && i <= len(s.steps) && s.steps[i-1].full && summing.MatchString(body) {
		s.summed = true
		m.mu.Unlock()
		return step{text: "<state_snapshot><summary>All was gone through.</summary></state_snapshot>"}, 0
	}
	if slices.ContainsFunc(s.steps, func(one step) bool { return one.agent != "" && strings.Contains(body, one.agent) }) && !strings.Contains(body, s.prompt) {
		s.subs = append(s.subs, body)
		m.mu.Unlock()
		return step{text: "The subagent is done."}, 0
	}
	if !main {
		s.aside = append(s.aside, body)
		m.mu.Unlock()
		return step{text: "Title"}, 0
	}
	if s.summed && s.compacted == 0 {
		s.compacted = i
	}
	again := i > 0 && body == s.asked[i-1] // who waited too long for an answer asks once more
	if again {
		i--
	}
	answer := step{text: "Done."}
	if i < len(s.steps) {
		answer = s.steps[i]
	}
	if again {
		done := s.done
		m.mu.Unlock()
		<-done
		return answer, i
	}
	done := make(chan struct{})
	defer close(done)
	s.asked, s.came, s.done = append(s.asked, body), append(s.came, time.Now()), done
	m.mu.Unlock()
	if answer.before != nil {
		answer.before()
	}
	m.mu.Lock()
	s.answered = append(s.answered, time.Now())
	m.mu.Unlock()
	return answer, i
}

type object map[string]any

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var reader io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		var err error
		if reader, err = gzip.NewReader(r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	raw, err := io.ReadAll(reader)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var body struct {
		Tools            []json.RawMessage `json:"tools"`
		MaxTokens        int               `json:"max_tokens"`
		Stream           bool              `json:"stream"`
		GenerationConfig struct {
			Type string `json:"responseMimeType"`
		} `json:"generationConfig"`
	}
	_ = json.Unmarshal(raw, &body) // a GET has none
	text := string(raw)
	offers := len(body.Tools) > 0
	path := r.URL.Path
	switch {
	case r.Method != http.MethodPost:
		answer(w, object{"object": "list", "data": []object{{"id": "fake", "object": "model"}}, "models": []object{}})
	case strings.HasSuffix(path, "/count_tokens"):
		answer(w, object{"input_tokens": len(raw) / 4})
	case strings.HasSuffix(path, ":countTokens"):
		answer(w, object{"totalTokens": len(raw) / 4})
	case strings.HasSuffix(path, "/messages"):
		s, i := m.take(text, offers && body.MaxTokens != 1)
		anthropic(w, s, i, text, body.Stream)
	case strings.HasSuffix(path, "/responses"):
		s, i := m.take(text, true)
		responses(w, s, i, body.Tools)
	case strings.HasSuffix(path, "/chat/completions"):
		s, i := m.take(text, offers)
		chat(w, s, i, body.Stream)
	case strings.Contains(path, "enerateContent"):
		s, _ := m.take(text, offers && body.GenerationConfig.Type == "")
		gemini(w, s, strings.Contains(path, "stream"), body.GenerationConfig.Type != "")
	default:
		answer(w, object{})
	}
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

// events writes server-sent events; named ones carry their type as name too.
func events(w http.ResponseWriter, named bool, list ...object) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range list {
		if named {
			fmt.Fprintf(w, "event: %s\n", e["type"])
		}
		text, _ := json.Marshal(e)
		fmt.Fprintf(w, "data: %s\n\n", text)
	}
}

func asJSON(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

func anthropic(w http.ResponseWriter, s step, i int, _ string, stream bool) {
	name, args := "", s.args
	switch {
	case s.search:
		name, args = "ToolSearch", object{"query": "select:mcp__skillrouter__" + s.tool, "max_results": 1}
	case s.agent != "":
		name, args = "Agent", object{"description": "x", "prompt": s.agent, "subagent_type": "general-purpose"}
	case s.shell != "":
		name, args = "Bash", object{"command": s.shell, "description": "x"}
	case s.tool != "":
		name = "mcp__skillrouter__" + s.tool
	}
	usage := object{"input_tokens": s.used(), "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
	message := object{"id": fmt.Sprint("msg_", i), "type": "message", "role": "assistant", "model": "fake", "content": []object{}, "stop_reason": nil, "stop_sequence": nil, "usage": usage}
	reason := "end_turn"
	var blocks, deltas []object
	if s.text != "" || name == "" {
		blocks, deltas = append(blocks, object{"type": "text", "text": ""}), append(deltas, object{"type": "text_delta", "text": s.text})
	}
	if name != "" {
		reason = "tool_use"
		blocks = append(blocks, object{"type": "tool_use", "id": fmt.Sprintf("toolu_%03d", i), "name": name, "input": object{}})
		deltas = append(deltas, object{"type": "input_json_delta", "partial_json": asJSON(args)})
	}
	if !stream {
		message["content"], message["stop_reason"] = []object{{"type": "text", "text": s.text}}, reason
		answer(w, message)
		return
	}
	list := []object{{"type": "message_start", "message": message}}
	for n := range blocks {
		list = append(list, object{"type": "content_block_start", "index": n, "content_block": blocks[n]},
			object{"type": "content_block_delta", "index": n, "delta": deltas[n]}, object{"type": "content_block_stop", "index": n})
	}
	events(w, true, append(list, object{"type": "message_delta", "delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": object{"output_tokens": 20}}, object{"type": "message_stop"})...)
}

// responses is OpenAI's newer form, which Codex speaks. It has a server's tools in
// a namespace.
func responses(w http.ResponseWriter, s step, i int, tools []json.RawMessage) {
	var out []object
	if s.text != "" {
		out = append(out, object{"type": "message", "id": fmt.Sprint("m", i), "role": "assistant", "status": "completed", "content": []object{{"type": "output_text", "text": s.text, "annotations": []object{}}}})
	}
	call := object{"type": "function_call", "id": fmt.Sprint("fc", i), "call_id": fmt.Sprintf("call_%03d", i)}
	if len(tools) == 0 && (s.shell != "" || s.tool != "") { // code mode: the tools are functions of a program
		used, args := "exec_command", object{"cmd": s.shell}
		if s.tool != "" {
			used, args = "mcp__skillrouter__"+s.tool, s.args
		}
		call["type"], call["name"] = "custom_tool_call", "exec"
		call["input"] = fmt.Sprintf("try { text(JSON.stringify(await tools.%s(%s))) } catch (e) { text(String(e)) }", used, asJSON(args))
		out = append(out, call)
		s = step{full: s.full}
	}
	switch {
	case s.agent != "":
		call["name"], call["namespace"], call["arguments"] = "spawn_agent", "multi_agent_v1", asJSON(object{"message": s.agent, "agent_type": "default"})
		if len(tools) == 0 { // code mode: it has a form of its own, and takes the conversation with it unless it is told not to
			call["namespace"], call["arguments"] = "collaboration", asJSON(object{"message": s.agent, "task_name": "look", "fork_turns": "none"})
		}
		out = append(out, call)
	case s.shell != "":
		call["name"], call["arguments"] = "exec_command", asJSON(object{"cmd": s.shell})
		out = append(out, call)
	case s.tool != "":
		call["name"], call["arguments"] = s.tool, asJSON(s.args)
		for _, raw := range tools {
			var offered struct {
				Type, Name string
				Tools      []struct{ Name string }
			}
			if json.Unmarshal(raw, &offered) != nil {
				continue
			}
			for _, t := range offered.Tools {
				if t.Name == s.tool {
					call["namespace"] = offered.Name
				}
			}
		}
		out = append(out, call)
	}
	id := fmt.Sprint("resp_", i)
	list := []object{{"type": "response.created", "response": object{"id": id, "status": "in_progress", "output": []object{}}}}
	for n, o := range out {
		list = append(list, object{"type": "response.output_item.added", "output_index": n, "item": o}, object{"type": "response.output_item.done", "output_index": n, "item": o})
	}
	usage := object{"input_tokens": s.used(), "input_tokens_details": object{"cached_tokens": 0}, "output_tokens": 20, "output_tokens_details": object{"reasoning_tokens": 0}, "total_tokens": s.used() + 20}
	events(w, true, append(list, object{"type": "response.completed", "response": object{"id": id, "status": "completed", "output": out, "usage": usage}})...)
}

// chat is OpenAI's older form, which opencode speaks to most.
func chat(w http.ResponseWriter, s step, i int, stream bool) {
	delta := object{"role": "assistant", "content": s.text}
	name, args, reason := "", s.args, "stop"
	switch {
	case s.agent != "":
		name, args = "task", object{"description": "x", "prompt": s.agent, "subagent_type": "general"}
	case s.shell != "":
		name, args = "bash", object{"command": s.shell, "description": "x"}
	case s.tool != "":
		name = "skillrouter_" + s.tool
	}
	if name != "" {
		reason = "tool_calls"
		delta["tool_calls"] = []object{{"index": 0, "id": fmt.Sprintf("call_%03d", i), "type": "function", "function": object{"name": name, "arguments": asJSON(args)}}}
	}
	base := func(choice object) object {
		return object{
			"id": fmt.Sprint("c", i), "object": "chat.completion.chunk", "created": 1_795_000_000, "model": "fake", "choices": []object{choice},
			"usage": object{"prompt_tokens": s.used(), "completion_tokens": 20, "total_tokens": s.used() + 20},
		}
	}
	if !stream {
		answer(w, base(object{"index": 0, "message": delta, "finish_reason": reason}))
		return
	}
	events(w, false, base(object{"index": 0, "delta": delta, "finish_reason": nil}), base(object{"index": 0, "delta": object{}, "finish_reason": reason}))
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func gemini(w http.ResponseWriter, s step, stream, side bool) {
	var parts []object
	if side {
		s = step{text: asJSON(object{"complexity_reasoning": "x", "complexity_score": 10, "model_choice": "flash", "reasoning": "x", "next_speaker": "user"})}
	}
	if s.text != "" {
		parts = append(parts, object{"text": s.text})
	}
	switch {
	case s.shell != "":
		parts = append(parts, object{"functionCall": object{"name": "run_shell_command", "args": object{"command": s.shell, "description": "x"}}, "thoughtSignature": "c2tpcA=="})
	case s.tool != "":
		parts = append(parts, object{"functionCall": object{"name": "mcp_skillrouter_" + s.tool, "args": s.args}, "thoughtSignature": "c2tpcA=="})
	}
	whole := object{
		"candidates":    []object{{"content": object{"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}},
		"usageMetadata": object{"promptTokenCount": s.used(), "candidatesTokenCount": 20, "totalTokenCount": s.used() + 20}, "modelVersion": "fake",
	}
	if stream {
		events(w, false, whole)
		return
	}
	answer(w, whole)
}
