package act

import "sync"

// maxMade bounds the paths of a Memory: what an agent makes and removes again is little.
const maxMade = 512

// Memory holds the files and directories that an agent made in its session: it may remove them. It is safe for use by many goroutines.
type Memory struct {
	mu   sync.Mutex
	made map[string]bool
}

// has reports whether the agent made the path, and whether it surely was not there before.
func (m *Memory) has(path string) (surely, made bool) {
	if m == nil {
		return false, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	surely, made = m.made[path]
	return surely, made
}

// Keep takes in what a script that was let through would make.
func (m *Memory) Keep(s *Shell) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.made == nil || len(m.made)+len(s.made) > maxMade {
		m.made = map[string]bool{}
	}
	for path, surely := range s.made {
		m.made[path] = m.made[path] || surely
	}
}

// Leaves reports whether the shell made directories, which what is run next may find.
func (s *Shell) Leaves() bool { return len(s.made) > 0 }
