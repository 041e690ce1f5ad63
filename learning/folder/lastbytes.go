package folder

import "sync"

// lastBytes keeps the end of what is written to it, by several goroutines.
type lastBytes struct {
	max  int
	mu   sync.Mutex
	tail []byte
	cut  bool
}

func (w *lastBytes) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tail = append(w.tail, p[max(0, len(p)-w.max):]...)
	w.cut = w.cut || len(p) > w.max
	if over := len(w.tail) - w.max; over > 0 {
		w.cut = true
		w.tail = append(w.tail[:0], w.tail[over:]...)
	}
	return len(p), nil
}
