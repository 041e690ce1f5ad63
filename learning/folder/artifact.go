package folder

import (
	"crypto/rand"
	"encoding/hex"
	"path"
	"time"
)

// keep writes what a run found to a new file of root's logs, and returns its
// path within root. Names sort by time.
func keep(root, place, kind string, v any, now time.Time) (string, error) {
	dir, err := Open(root, false)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	text, err := encode(v)
	if err != nil {
		return "", err
	}
	var tail [2]byte
	_, _ = rand.Read(tail[:]) // never fails; two runs of one moment keep apart
	name := path.Join(place, kind+"_"+now.UTC().Format("20060102T150405.000Z")+"-"+hex.EncodeToString(tail[:])+".json")
	return name, dir.write(name, text)
}
