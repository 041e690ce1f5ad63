package locate

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"skillrouter/internal/file"
)

// LockName is the file in the data folder that names the process that holds it.
const LockName = "skillrouter.lock"

// MaxHolder bounds what is read of a lock file, in bytes.
const MaxHolder = 4 << 10

// Holder is the process that holds a data folder.
type Holder struct {
	PID     int       `json:"pid,omitempty"` // 0: nobody holds it, and Listen is where its router was
	Listen  string    `json:"listen"`
	Started time.Time `json:"started,omitzero"`
	// Socket is where it answers the user whom the folder belongs to: SocketName in the folder, or a path elsewhere;
	// empty: it has none.
	Socket string `json:"socket,omitempty"`
}

// URL is the address under which the holder is reached; empty while it is not bound.
func (h Holder) URL() string {
	if !strings.HasPrefix(h.Listen, "http://") && !strings.HasPrefix(h.Listen, "https://") {
		return ""
	}
	return h.Listen
}

// ReadHolder returns the process that the data folder's lock file names, the
// zero Holder if it names none. The file can outlive a process that was
// killed: what it says is where to look, not that somebody is there.
func ReadHolder(dir string) (Holder, error) {
	var h Holder
	text, err := file.ReadHead(filepath.Join(dir, LockName), MaxHolder)
	if err != nil || len(bytes.TrimSpace(text)) == 0 {
		return Holder{}, err
	}
	return h, json.Unmarshal(text, &h)
}
