package respond

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"time"

	"skillrouter"
	"skillrouter/cmd/hook"
)

// maxOffline bounds the answer of a program that judges in the router's place, in bytes.
const maxOffline = 1 << 20

// check asks the router, for a second at most: what an agent waits for may not depend on a router that is stalled.
func (h *Hook) check(ctx context.Context, asked action) (checked, error) {
	c, err := h.connect()
	if err != nil {
		return checked{}, err
	}
	slow := cached("away-" + digest(h.server+"\n"+h.process.env("SKILLROUTER_SERVER")))
	limit := checkTime
	if info, err := os.Stat(slow); err == nil && h.process.now().Sub(info.ModTime()) < checkAway {
		limit = checkAgain
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer, err := c.check(ctx, asked)
	switch {
	case err != nil && ctx.Err() != nil:
		keep(slow, h.process.now().Format(time.RFC3339))
	case err == nil && limit == checkAgain:
		_ = os.Remove(slow)
	}
	return answer, err
}

// offline judges an action by the copy of the rules, as the router does not answer. basis says what it was judged by.
func (h *Hook) offline(ctx context.Context, asked action) (answer checked, basis string, err error) {
	text, err := json.Marshal(struct {
		action
		Dir string `json:"dir,omitempty"`
	}{asked, h.call.Dir})
	if err != nil {
		return answer, "", err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), offlineTime)
	defer cancel()
	judge := h.process.Offline
	if judge == nil {
		judge = h.program
	}
	if text, err = judge(ctx, h.server, text); err != nil {
		return answer, "", err
	}
	var judged struct {
		checked
		Offline string `json:"offline"`
	}
	if err := json.Unmarshal(text, &judged); err != nil || judged.Offline == "" {
		return answer, "", errors.Join(err, errors.New("the program that judges in the router's place gave no answer"))
	}
	return judged.checked, judged.Offline, nil
}

// program has the whole program judge.
func (h *Hook) program(ctx context.Context, server string, asked []byte) ([]byte, error) {
	if h.process.Program == nil {
		return nil, skillrouter.Errorf(skillrouter.Internal, "there is no program that judges in the router's place")
	}
	path, err := h.process.Program()
	if err != nil {
		return nil, err
	}
	args := []string{"hook", string(Offline)}
	if server != "" {
		args = append(args, "--server", server)
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Stdin = bytes.NewReader(asked)
	text, err := cmd.Output()
	if len(text) > maxOffline {
		return nil, errors.New("the answer of the program that judges in the router's place is too long")
	}
	return text, err
}

// answerOffline is the other side of program.
func (h *Hook) answerOffline(ctx context.Context, asked []byte) (hook.Answer, error) {
	if h.process.Offline == nil {
		return hook.Answer{}, skillrouter.Errorf(skillrouter.Internal, "this program cannot judge in the router's place")
	}
	text, err := h.process.Offline(ctx, h.server, asked)
	return hook.Answer{Out: string(text)}, err
}
