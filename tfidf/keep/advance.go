package keep

import (
	"context"
	"encoding/json"
	"errors"
	"os"
)

// The log tells of more than the documents of one index. A snapshot of one that
// does not change would fall behind for ever, and each start read all that was
// told since; to write it again for that alone would be a waste. So a small file
// beside it says up to where it still holds.

// advanceFrom is how many records a snapshot must be behind for that file to be
// written: so many are read in less time than a file takes to be synced.
const advanceFrom = 500

// advanced says that the snapshot of one position is that of another too.
type advanced struct {
	From Position `json:"from"` // the snapshot's own
	At   Position `json:"at"`
}

func (k *Keeper) advancePath() string { return k.opts.Path + ".at" }

// advance writes down that the snapshot holds up to now, if nothing has changed
// since it was saved. A failure costs the next start some reading, no more.
func (k *Keeper) advance(ctx context.Context) {
	s := &k.saver
	s.saving.Lock()
	defer s.saving.Unlock()
	s.mu.Lock()
	from, known, changes := s.from, s.at, s.changes
	s.mu.Unlock()
	if from.Seq == 0 || changes > 0 || !k.Complete() {
		return
	}
	if newest, err := k.source.Position(ctx); err != nil || newest.Seq < known.Seq+advanceFrom {
		return
	}
	var to Position
	err := k.settled(ctx, func(at Position) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.changes == 0 {
			to = at
		}
	})
	if err != nil || to.Seq == 0 {
		return
	}
	text, err := json.Marshal(advanced{From: from, At: to})
	if err == nil && replaceFile(k.advancePath(), text) == nil {
		s.mu.Lock()
		s.at = to
		s.mu.Unlock()
	}
}

// furthest returns up to where a snapshot of a position holds.
func (k *Keeper) furthest(ctx context.Context, from Position) Position {
	text, err := os.ReadFile(k.advancePath())
	var a advanced
	if err != nil || json.Unmarshal(text, &a) != nil || a.From != from || a.At.Seq < from.Seq {
		return from
	}
	if holds, err := k.source.Holds(ctx, a.At); err != nil || !holds {
		return from
	}
	return a.At
}

// replaceFile writes a file so that its path is the old one or the new one.
func replaceFile(path string, text []byte) error {
	temporary := path + ".tmp"
	file, err := os.OpenFile(temporary, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return os.Rename(temporary, path)
}
