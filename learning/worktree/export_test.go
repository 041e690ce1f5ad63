package worktree

import "time"

// Patient is Gone without its bound of time, for tests on busy machines.
func Patient(folder string, text Text) []string {
	return look(folder, []Text{text}, time.Now().Add(time.Hour))[0]
}
