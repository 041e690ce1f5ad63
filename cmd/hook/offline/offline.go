// Package offline judges what an agent is about to do while its router does not answer, by the copy of the guard's rules that
// the router keeps in its data folder. It owns how that file and its key are written and which of them are believed. It asks
// no router.
package offline

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/cmd/hook/respond"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/cmd/process"
	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/file"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/guard/act"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

// The files in a folder that hold the copy, and the key that it is signed with.
const (
	CopyName = "guard.copy"
	KeyName  = "guard.key"
	// SeenName says when the newest copy was made that was written here: it tells a copy that is gone, or an older one that was put back.
	SeenName = "guard.seen"
)

const (
	// keySize is the length of a key, in bytes: that of the hash which it keys.
	keySize = 32
)

// Write puts a copy into a folder, signed with the key there, which is made if there is none. The old copy is there until the
// new one is whole.
func Write(dir string, c rule.Copy) error {
	key, err := Key(dir)
	if err != nil {
		return err
	}
	sealed, err := c.Seal(key)
	if err != nil {
		return err
	}
	if err := file.Replace(filepath.Join(dir, CopyName), sealed, 0o600); err != nil {
		return err
	}
	return file.Replace(filepath.Join(dir, SeenName), []byte(c.At.UTC().Format(time.RFC3339Nano)+"\n"), 0o600)
}

// making is held by whoever makes a key: two that are made at once are one.
var making sync.Mutex

// Key returns the key of a folder, which is made if there is none. What the router signs of its ledger is signed with it, too.
func Key(dir string) ([]byte, error) {
	making.Lock()
	defer making.Unlock()
	key, err := ReadKey(dir)
	if errors.Is(err, os.ErrNotExist) {
		key = make([]byte, keySize)
		_, _ = rand.Read(key) // it never fails
		err = file.Replace(filepath.Join(dir, KeyName), []byte(hex.EncodeToString(key)+"\n"), 0o600)
	}
	return key, err
}

// SetKey gives a folder a key that it shares with others. It tells whether that is another than it had.
func SetKey(dir string, key []byte) (changed bool, err error) {
	making.Lock()
	defer making.Unlock()
	if had, err := ReadKey(dir); err == nil && bytes.Equal(had, key) {
		return false, nil
	}
	return true, file.Replace(filepath.Join(dir, KeyName), []byte(hex.EncodeToString(key)+"\n"), 0o600)
}

// Read returns the copy in a folder. os.ErrNotExist: there is none. Any other error says why it is not believed.
func Read(dir string) (rule.Copy, error) {
	seen := seenAt(dir)
	sealed, err := private(filepath.Join(dir, CopyName), rule.MaxCopy)
	if errors.Is(err, os.ErrNotExist) && !seen.IsZero() {
		err = fmt.Errorf("it is gone: the router wrote one at %s", seen.Local().Format(time.DateTime))
	}
	if err != nil {
		return rule.Copy{}, err
	}
	key, err := ReadKey(dir)
	if errors.Is(err, os.ErrNotExist) {
		err = errors.New("the key that it was signed with is gone")
	}
	if err != nil {
		return rule.Copy{}, err
	}
	c, err := rule.OpenCopy(key, sealed)
	if err == nil && c.At.Before(seen) {
		err = fmt.Errorf("it is an older one that was put back: it is of %s, and the router wrote one at %s", c.At.Local().Format(time.DateTime), seen.Local().Format(time.DateTime))
	}
	return c, err
}

// seenAt is when the newest copy was made that was written into a folder; zero: nobody wrote one, or it is not known.
func seenAt(dir string) time.Time {
	text, err := private(filepath.Join(dir, SeenName), 1<<10)
	if err != nil {
		return time.Time{}
	}
	at, _ := time.Parse(time.RFC3339Nano, strings.TrimSpace(string(text)))
	return at
}

// ReadKey returns the key of a folder. os.ErrNotExist: there is none. Any other error says why it is not believed.
func ReadKey(dir string) ([]byte, error) {
	text, err := private(filepath.Join(dir, KeyName), 1<<10)
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("%s holds no key", KeyName)
	}
	return key, nil
}

// private reads a file that belongs to this user and that nobody else may write or read.
func private(path string, most int64) ([]byte, error) {
	file, size, err := respond.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if err := ours(info); err != nil {
		return nil, fmt.Errorf("%s %w", filepath.Base(path), err)
	}
	if size > most {
		return nil, fmt.Errorf("%s is longer than %d bytes", filepath.Base(path), most)
	}
	return io.ReadAll(io.LimitReader(file, most))
}

// ours refuses a file of another user, and one that others may read or write. On Windows rights are the folder's own.
func ours(info os.FileInfo) error {
	if !process.Own(info) {
		return errors.New("belongs to another user")
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("may be read or written by others (%v)", info.Mode().Perm())
	}
	return nil
}

// request is what a hook asks for: an action, and the folder that it would be done in.
type request struct {
	rule.Action
	Dir string `json:"dir,omitempty"`
}

// answer is a router's, and in whose place it was given.
type answer struct {
	guard.Checked
	Offline string `json:"offline"`
}

// Judge answers a check (JSON, as POST /check/anti-pattern takes and answers it) in the router's place. place says which router
// that is.
func Judge(ctx context.Context, place locate.Place, asked []byte, now time.Time) ([]byte, error) {
	var r request
	if err := json.Unmarshal(asked, &r); err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "the action cannot be read")
	}
	c, wrong := find(place)
	basis, refused := "", false
	switch {
	case wrong == nil:
		basis = fmt.Sprintf("this was judged by the copy of its rules of %s, which is %s old", c.At.Local().Format(time.DateTime), age(now.Sub(c.At)))
	case errors.Is(wrong, os.ErrNotExist):
		basis = "there is no copy of its rules, so that this was judged by the packs of rules alone that the program brings"
	default:
		refused = true
		basis = "the copy of its rules is NOT used, because " + wrong.Error() + ". This was judged by the packs of rules alone that the program brings. Tell the person"
	}
	if r.Agent == "" {
		r.Agent = "-" // whose files are remembered; nobody is told
	}
	g, unread := c.Guard()
	verdict := g.Judge(ctx, r.Action)
	for files, round := (respond.Files{}), 1; round < respond.MaxRounds && len(verdict.Needs) > 0; round++ {
		r.Files = nil
		for _, file := range files.Read(r.Dir, verdict.Needs, func(text string) string { return text }) {
			r.Files = append(r.Files, act.Content(file))
		}
		verdict = g.Judge(ctx, r.Action)
	}
	if unread > 0 {
		basis += fmt.Sprintf("; %d of its rules cannot be read by this program, which is of another version", unread)
	}
	if refused && verdict.Decision == rule.DecisionAllow {
		verdict.Decision = rule.DecisionWarn
	}
	checked := guard.Answered(verdict)
	checked.CheckID = check.NewID()
	return json.Marshal(answer{checked, basis})
}

// find returns the copy of the router at a place's address: that of this user's data folder.
func find(place locate.Place) (rule.Copy, error) {
	settings, err := place.Settings()
	if err != nil {
		return rule.Copy{}, os.ErrNotExist // whose folder would it be in?
	}
	c, err := Read(settings.Data)
	if named := place.Named(); err == nil && named != "" && !locate.Same(named, c.Router) {
		return rule.Copy{}, os.ErrNotExist // it is of another router
	}
	return c, err
}

// age is a duration as people say it.
func age(d time.Duration) string {
	switch d = max(0, d); {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d seconds", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d minutes", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d hours", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
