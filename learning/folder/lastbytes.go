package folder

import "sync"

// lastBytes keeps the end of what is written to it, by several goroutines.
type lastBytes struct {
	max  int
	mu   sync.Mutex
	kept []byte
	cut  bool
}

func (w *lastBytes) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = append(w.kept, p[max(0, len(p)-w.max):]...)
	w.cut = w.cut || len(p) > w.max
	if over := len(w.kept) - w.max; over > 0 {
		w.cut = true
		w.kept = append(w.kept[:0], w.kept[over:]...)
	}
	return len(p), nil
}
