package act

import (
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// Bounds of a Memory. What an agent writes and runs at once is small; what falls out is read as
// unknown, as it was before.
const (
	maxMemoryFiles = 64        // files of one agent
	maxMemoryText  = 256 << 10 // bytes of them
	maxMemoryMade  = 256       // directories
)

// Memory holds the files that an agent has written a moment ago, and the directories that it made, so
// that a script which is run now is read for what it does. It is safe for use by many goroutines.
type Memory struct {
	// Read returns the text of a file that nobody has written here; nil: such a file is not known. It is set before the first use.
	Read func(path string) (text string, ok bool)

	mu    sync.Mutex
	files map[string]string
	dirs  map[string]bool
	order []string // of files, the oldest first
	size  int
}

// file returns what was written to a path. A path from a directory that is not known is that of
// the one file whose path ends so.
func (m *Memory) file(path string) (text string, ok bool) {
	if m == nil || path == "" {
		return "", false
	}
	if text, ok = m.written(path); !ok && m.Read != nil {
		return m.Read(path)
	}
	return text, ok
}

func (m *Memory) written(path string) (text string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if text, ok = m.files[path]; ok {
		return text, true
	}
	for known, text := range m.files {
		long, short := known, path
		if rooted(path) {
			long, short = path, known
		}
		if !rooted(short) && strings.HasSuffix(long, "/"+short) {
			return text, true
		}
	}
	return "", false
}

// made reports whether the agent made the directory, and whether it surely was not there before.
func (m *Memory) made(path string) (surely, made bool) {
	if m == nil {
		return false, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	surely, made = m.dirs[path]
	return surely, made
}

// Keep takes in what a script that was let through would write and make.
func (m *Memory) Keep(s *Shell) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files == nil {
		m.files, m.dirs = map[string]string{}, map[string]bool{}
	}
	for path, f := range s.files {
		if !f.known || strings.HasPrefix(path, "/dev/") || len(f.text) > maxCarried {
			continue
		}
		if old, ok := m.files[path]; ok {
			m.size -= len(old)
		} else {
			m.order = append(m.order, path)
		}
		m.files[path] = f.text
		m.size += len(f.text)
		for len(m.order) > maxMemoryFiles || m.size > maxMemoryText {
			m.size -= len(m.files[m.order[0]])
			delete(m.files, m.order[0])
			m.order = m.order[1:]
		}
	}
	for path, surely := range s.made {
		if len(m.dirs) >= maxMemoryMade {
			clear(m.dirs)
		}
		m.dirs[path] = m.dirs[path] || surely
	}
}

// Remembering lets the shell read what was written before.
func (s *Shell) Remembering(m *Memory) *Shell {
	s.memory = m
	return s
}

// Recalled are the files that the shell read which the agent wrote before: they are a part of what the action does.
func (s *Shell) Recalled() []string { return s.recall }

// Leaves reports whether the shell wrote files or made directories, which what is run next may find.
func (s *Shell) Leaves() bool { return len(s.files) > 0 || len(s.made) > 0 }

// Programs are the programs that this package knows and that a text's commands begin with, each named plainly and with no variable set before it.
func Programs(text string) (names []string) {
	file, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil {
		return nil
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		if call, is := node.(*syntax.CallExpr); is && len(call.Args) > 0 && len(call.Assigns) == 0 {
			name := call.Args[0].Lit()
			if _, known := programs().rows[name]; known {
				names = append(names, name)
			}
		}
		return true
	})
	return names
}
