package act

import (
	"slices"
	"strings"
	"sync"
)

// reading has, for each way of programs to do something, what reads that. It is set below, because a program may run another one.
var reading func() map[string]func(s *Shell, a *Act, p program, in stream) []Effect

func init() {
	reading = sync.OnceValue(func() map[string]func(s *Shell, a *Act, p program, in stream) []Effect {
		return map[string]func(s *Shell, a *Act, p program, in stream) []Effect{
			"remove": (*Shell).removal, "find": (*Shell).findEffects, "fd": (*Shell).fdRuns, "sync": (*Shell).syncEffects, "dd": (*Shell).ddEffects,
			"format": (*Shell).deviceEffects, "partition": (*Shell).partitionEffects, "edit": (*Shell).editEffects, "copy": (*Shell).copyEffects,
			"systemctl": (*Shell).systemctlEffects, "docker": serviceEffects, "kubectl": serviceEffects, "nginx": serviceEffects, "apache": serviceEffects,
			"git": (*Shell).gitEffects, "mode": (*Shell).modeEffects, "request": requestEffects, "objects": objectEffects,
		}
	})
}

// effects says what the act does, for the commands whose deeds have many spellings.
func (s *Shell) effects(a *Act, in stream) []Effect {
	if a.Harmless() {
		return nil
	}
	if patch, ok := s.patch(a, in); ok {
		edits, effects := patchOf(s.dir, patch)
		for _, e := range edits {
			s.edit(e)
		}
		return effects
	}
	p := programOf(a.Name)
	if len(p["needs"]) > 0 && !p.given("needs", a) {
		p = p.without("does")
	}
	if read := reading()[p.one("does")]; read != nil {
		return read(s, a, p, in)
	}
	switch {
	case p.has("service"):
		return managedEffects(a, p["service"])
	case p.has("power"):
		return powerEffects(a, p)
	case p.has("database"):
		return databaseEffects(a, p)
	}
	return s.sqlEffects(a, p, in)
}

// patch is the patch that a program applies, as far as it is known.
func (s *Shell) patch(a *Act, in stream) (text string, ok bool) {
	switch {
	case a.Name == "apply_patch":
		return in.text + strings.Join(a.Words[:min(1, len(a.Words))], ""), true
	case a.Name == "patch":
		in = s.input(append(slices.Clone(a.Options["i"]), a.Options["input"]...), in)
	case a.Name == "git" && len(a.Words) > 0 && (a.Words[0] == "apply" || a.Words[0] == "am"):
		in = s.input(a.Words[1:], in)
	default:
		return "", false
	}
	s.need(in)
	return in.text, in.known
}

// modeEffects is what chmod sets.
func (s *Shell) modeEffects(a *Act, _ program, _ stream) (out []Effect) {
	words := a.Words
	if w := a.Source[min(1, len(a.Source)-1)]; len(w) > 1 && w[0] == '-' && strings.Trim(w[1:], "rwxXst") == "" {
		words = append([]string{w}, words...) // it looks like options
	}
	for _, w := range words[min(1, len(words)):] {
		out = append(out, Effect{Kind: EffectMode, Verb: words[0], Path: s.path(w), Recursive: len(a.Options["recursive"]) > 0})
	}
	return out
}

func paths(kind EffectKind, whole bool, paths ...string) (out []Effect) {
	for _, p := range paths {
		if p != "" {
			out = append(out, Effect{Kind: kind, Path: p, Recursive: whole})
		}
	}
	return out
}
