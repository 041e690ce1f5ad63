package keep

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/tfidf"
)

// patience is how long a search waits for an index that is still being read: a start
// with 100,000 entries reads for some seconds, and one with 20,000 for one.
const patience = 2 * time.Second

// Search searches the index. One that is still being read is waited for a while; if
// it is not whole then, the answer is of what has been read, and the notice says so.
func (k *Keeper) Search(ctx context.Context, q tfidf.Query) (found tfidf.Result, notice string) {
	k.mu.Lock()
	completed, failed := k.completed, k.failed != ""
	k.mu.Unlock()
	if Stage(k.stage.Load()) == Rebuilding && !failed {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		select {
		case <-completed:
		case <-ctx.Done():
		}
	}
	notice = k.Notice() // before the search: what comes between is in the answer
	return k.Index().Search(q), notice
}
