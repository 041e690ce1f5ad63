package respond

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"skillrouter/cmd/hook"
)

const (
	// ruleBudget and ruleCharacters bound the rules that a subagent begins with, in tokens and
	// characters.
	ruleBudget     = 600
	ruleCharacters = 2400
	// taskAge is how long a subagent may take to begin. What did not begin by then was refused, or came to nothing.
	taskAge = 5 * time.Minute
)

// brief answers with what a subagent should know: what must never be done, and what belongs
// to its task, if that is known by now.
func (h *Hook) brief(ctx context.Context) (hook.Answer, error) {
	if !h.Dialect.Tells(h.Event) {
		return hook.Answer{}, nil
	}
	c, err := h.connect()
	if err != nil {
		return hook.Answer{}, err
	}
	rules := h.request("", ruleBudget)
	rules.Start, rules.Characters, rules.SessionID = true, ruleCharacters, "" // what of it is cut off here was not told
	known, err := c.context(ctx, rules)
	if err != nil {
		return hook.Answer{}, err
	}
	text := known.Text[:known.Rules]
	if task := cmp.Or(h.call.Prompt, h.delegated()); strings.TrimSpace(task) != "" {
		var fits builtContext
		fits, err = h.fitting(ctx, c, task)
		text += fits.Text
	}
	return h.Dialect.Inject(h.Event, strings.TrimSpace(text)), err
}

// task is what a tool gave a subagent to do, kept in a small file until that begins.
type task struct {
	Kind string `json:"kind"`
	Task string `json:"task"`
}

// delegate keeps the task that a tool is about to give to a subagent.
func (h *Hook) delegate(given, kind string) {
	if h.call.Session == "" {
		return
	}
	text, err := json.Marshal(task{kind, given[:min(len(given), maxTask)]})
	if err == nil {
		keep(cached(h.taskPrefix()+digest(h.call.ToolUse+"\n"+given)), string(text))
	}
}

func (h *Hook) taskPrefix() string { return "task-" + digest(h.call.Session) + "-" }

// tasks are the files of what was given to subagents of this session that have not begun.
func (h *Hook) tasks() (names []string) {
	folder := filepath.Dir(cached(h.taskPrefix()))
	entries, err := os.ReadDir(folder)
	if h.call.Session == "" || err != nil {
		return nil
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), h.taskPrefix()) {
			names = append(names, filepath.Join(folder, entry.Name()))
		}
	}
	return names
}

// delegated takes the oldest task that was given to a subagent of this kind and has not
// begun. Whoever removes its file has it.
func (h *Hook) delegated() string {
	since := func(name string) (at time.Time) {
		if info, err := os.Stat(name); err == nil {
			at = info.ModTime()
		}
		return at
	}
	names := h.tasks()
	slices.SortFunc(names, func(a, b string) int { return since(a).Compare(since(b)) })
	for _, name := range names {
		if h.process.now().Sub(since(name)) > taskAge {
			_ = os.Remove(name)
			continue
		}
		var given task
		text, err := os.ReadFile(name)
		if err != nil || json.Unmarshal(text, &given) != nil || given.Kind != h.call.Kind && given.Kind != "" || os.Remove(name) != nil {
			continue
		}
		return given.Task
	}
	return ""
}
