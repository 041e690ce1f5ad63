package locate

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"hash/fnv"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/cmd/process"
	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/file"
	"github.com/skillrouter/skillrouter/tfidf/wordlist"
)

//go:embed names.txt
var sessionNames string

// Bounds of sessions' names.
const (
	// maxSlots is how many sessions of a kind can have a name of their own in one
	// working folder at once; more share one.
	maxSlots = 32
	// maxTries is how often another name is looked for because a folder has the first.
	maxTries = 64
	// maxSessions is from how many lines on the register is written anew, without what
	// nobody needs any more: a hook reads all of it.
	maxSessions = 200
)

// programs are the names that the programs of each kind of agent go by.
var programs = map[string][]string{
	"claude-code": {"claude", "claude-code"},
	"codex":       {"codex"},
	"gemini":      {"gemini", "gemini-cli"},
	"opencode":    {"opencode", ".opencode"},
	"cursor":      {"cursor", "cursor-agent"},
}

// manyFolders are the agents of which one process works in several folders, as a session in each.
var manyFolders = map[string]bool{"opencode": true, "cursor": true}

// KnownAgent tells whether the kinds of agents, which share their names, include this one.
func KnownAgent(kind string) bool { return programs[kind] != nil }

// session is a line of the register of sessions: which process has a name.
type session struct {
	Name    string `json:"name"`
	Folder  string `json:"folder"` // the working folder: a repository's, or one of its worktrees
	Host    string `json:"host"`
	PID     int    `json:"pid"`
	Started string `json:"started"` // process.Ancestor.Started
}

func (s session) named() bool { return s.Name != "" && s.Folder != "" && s.PID > 0 }

// here tells whether the line was written in this folder of this machine.
func (s session) here(at session) bool { return s.Folder == at.Folder && s.Host == at.Host }

// of tells whether the line is a process's.
func (s session) of(a process.Ancestor) bool { return s.PID == a.PID && s.Started == a.Started }

// alive tells whether the process runs; of another machine's nothing is known.
func (s session) alive() bool { return process.Alive(s.PID, s.Started) }

// Speaker is who an agent's hook or server speaks as: whom SKILLROUTER_AGENT or named
// names, else a session of the agent's kind in dir (see SessionName). A kind alone
// in named is no name: earlier settings of agents had it where there is a session now. If a token is set,
// the kind is the agent that holder says it was issued to, which may act as its sessions;
// if holder is empty, any. Empty: the token says who calls, or nobody does.
func (p Place) Speaker(named, agent, dir string, holder func() (string, error)) string {
	set := p.Env("SKILLROUTER_AGENT")
	if name := cmp.Or(set, named); set != "" || named != "" && !KnownAgent(named) {
		if check.AgentID("agent", name) != nil {
			return ""
		}
		return name
	}
	kind := cmp.Or(named, agent)
	if kind == "" {
		return ""
	}
	if p.Token != "" || p.Env("SKILLROUTER_TOKEN") != "" {
		issued, err := holder()
		if err != nil || strings.Contains(issued, ":") {
			return issued
		}
		kind = cmp.Or(issued, kind)
	}
	return p.SessionName(kind, cmp.Or(agent, named), dir)
}

// SessionName is the name of an agent's session in dir, as claude-code:amber-fox.
// kind is what stands before the colon, and agent which program it is, such as claude-code.
//
// The second part is the working folder's: a worktree has the same one tomorrow,
// and for each kind of agent. It belongs to the agent's process, which is found among
// those that this one descends from, so that its hooks, its MCP server and the commands
// that it runs have one name; another process of the kind in the same folder gets
// another while that one runs. Where the process cannot be told, or no
// register can be kept, all of a kind in a folder share its first name.
func (p Place) SessionName(kind, agent, dir string) string {
	if kind == "" {
		return ""
	}
	me := session{Folder: workingRoot(dir), Host: hostname()}
	register := registerPath("sessions.jsonl")
	own, found := processOf(agent, process.Ancestors())
	var lines []session
	if found = found && register != ""; found {
		me.PID, me.Started = own.PID, own.Started
		lines = readRegister(register, session.named)
		if name := nameOf(lines, own, kind, me, manyFolders[agent]); name != "" {
			return name
		}
	}
	first := kind + ":" + me.suffix(0, 0)
	if check.AgentID("agent", first) != nil {
		return kind // as it was given: too long for more
	}
	if !found {
		return first
	}
	for slot := range maxSlots {
		me.Name = kind + ":" + me.free(lines, slot)
		if me.taken(lines) {
			continue
		}
		if !addLine(register, me) {
			return first
		}
		// Two processes may have written at once: the first line decides.
		if lines = readRegister(register, session.named); !me.taken(lines) {
			tidy(register, lines)
			return me.Name
		}
	}
	return first
}

// taken tells whether another process that runs has the name, and had it before the line was written.
func (s session) taken(lines []session) bool {
	for _, line := range lines {
		if line == s {
			return false
		}
		if line.Name == s.Name && line.Host == s.Host && line.alive() {
			return true
		}
	}
	return false
}

// AgentPID is the process of the agent that this one descends from, or 0 if it cannot be told.
func AgentPID(agent string) int {
	own, _ := processOf(agent, process.Ancestors())
	return own.PID
}

// unattended are the arguments by which each kind of agent answers one prompt of a program and ends.
var unattended = map[string][]string{
	"claude-code": {"-p", "--print"}, "codex": {"exec"}, "gemini": {"-p", "--prompt"}, "opencode": {"run"}, "cursor": {"-p", "--print"},
}

// Unattended tells whether the agent that this process descends from was given its prompt by a program, so that no person typed it.
func (p Place) Unattended(agent string) bool {
	if agent == "claude-code" && strings.HasPrefix(p.Env("CLAUDE_CODE_ENTRYPOINT"), "sdk") {
		return true
	}
	own, _ := processOf(agent, process.Ancestors())
	return slices.ContainsFunc(own.Args, func(arg string) bool { return slices.Contains(unattended[agent], arg) })
}

// SessionHere is the name of the session whose process this one descends from:
// that of the agent that runs this command. It is empty if none does.
func (p Place) SessionHere() string {
	register := registerPath("sessions.jsonl")
	if register == "" {
		return ""
	}
	lines := readRegister(register, session.named)
	if len(lines) == 0 {
		return ""
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = ""
	}
	at := session{Folder: workingRoot(dir), Host: hostname()}
	for _, above := range process.Ancestors() {
		if name := cmp.Or(nameOf(lines, above, "", at, true), nameOf(lines, above, "", at, false)); name != "" {
			return name
		}
	}
	return ""
}

// nameOf is the name that a process has in the register, of a kind or of any: in the
// folder alone, or wherever it got one. Empty: none. Its last line counts: another was
// faster with the names of those before.
func nameOf(lines []session, of process.Ancestor, kind string, at session, folder bool) string {
	for _, line := range slices.Backward(lines) {
		if line.of(of) && line.Host == at.Host && (!folder || line.Folder == at.Folder) && (kind == "" || strings.HasPrefix(line.Name, kind+":")) {
			return line.Name
		}
	}
	return ""
}

// free is the second part of the name of a folder's session: always the same for
// a slot, unless another folder has it.
func (s session) free(lines []session, slot int) (suffix string) {
	for try := range maxTries {
		suffix = s.suffix(slot, try)
		if !slices.ContainsFunc(lines, func(l session) bool { return strings.HasSuffix(l.Name, ":"+suffix) && !l.here(s) }) {
			return suffix
		}
	}
	return suffix
}

// suffix is an adjective and an animal, of some 46,000 pairs.
func (s session) suffix(slot, try int) string {
	h := fnv.New64a()
	h.Write([]byte(s.Host + "\n" + s.Folder + "\n" + strconv.Itoa(slot) + "\n" + strconv.Itoa(try)))
	sum := h.Sum64()
	first, second := adjectives(), animals()
	return first[(sum>>32)%uint64(len(first))] + "-" + second[(sum&0xffffffff)%uint64(len(second))]
}

// The words of names, read when the first is made: a session that has its name needs none.
var (
	adjectives = sync.OnceValue(func() []string { return strings.Fields(strings.Join(wordlist.Lines(sessionNames, "adjectives"), " ")) })
	animals    = sync.OnceValue(func() []string { return strings.Fields(strings.Join(wordlist.Lines(sessionNames, "animals"), " ")) })
)

// tidy writes a long register anew: a name's last line stays while its folder is
// there, and what processes have that run. Who writes beside it writes again.
func tidy(register string, lines []session) {
	if len(lines) < maxSessions {
		return
	}
	last := map[string]int{}
	for i, line := range lines {
		last[line.Host+"\n"+line.Name] = i
	}
	here := hostname()
	var text []byte
	for i, line := range lines {
		if _, err := os.Stat(line.Folder); (last[line.Host+"\n"+line.Name] != i || err != nil && line.Host == here) && !line.alive() {
			continue
		}
		one, err := json.Marshal(line)
		if err != nil {
			return
		}
		text = append(append(text, one...), '\n')
	}
	_ = file.Replace(register, text, 0o600)
}

// processOf is the agent's own process among those above: the nearest that is a
// program of its kind.
func processOf(agent string, above []process.Ancestor) (process.Ancestor, bool) {
	at := slices.IndexFunc(above, func(a process.Ancestor) bool { return runs(agent, a.Args) })
	if at < 0 {
		return process.Ancestor{}, false
	}
	if agent == "cursor" { // its windows and servers are processes of one program
		for at+1 < len(above) && runs(agent, above[at+1].Args) {
			at++
		}
	}
	return above[at], true
}

// runs tells whether a process's arguments say that it is a program of an agent: its own
// name, or that of the script which an interpreter was given.
func runs(agent string, args []string) bool {
	for i, arg := range args {
		if i > 0 && strings.HasPrefix(arg, "-") {
			continue
		}
		arg = strings.ToLower(filepath.ToSlash(arg))
		name := path.Base(arg)
		for _, end := range []string{".exe", ".js", ".mjs", ".cjs"} {
			name = strings.TrimSuffix(name, end)
		}
		for _, program := range programs[agent] {
			if name == program || strings.Contains(arg, "/node_modules/") && strings.Contains(arg, "/"+program+"/") {
				return true
			}
		}
	}
	return false
}

// workingRoot is the working folder that holds dir: a repository's root, or dir itself.
func workingRoot(dir string) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	if root := RepositoryOf(dir); root != "" {
		dir = root
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return filepath.Clean(dir)
}

// hostname is this machine's: a register may lie in a home that several share.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}
