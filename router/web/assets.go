package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"skillrouter/internal/errs"
)

// assetsPath is where the assets lie. The names of the files are in the binary,
// and each is asked for by a URL with the hash of its content, so that a
// browser may keep it for ever.
const assetsPath = "/assets/"

// hashLength is how much of a content's hash is in its URL, in hex digits.
const hashLength = 12

//go:embed assets
var assetFiles embed.FS

// asset is a file as it is sent.
type asset struct {
	kind          string
	plain, zipped []byte // zipped is nil if it would not be shorter
}

// assets are the embedded files, compressed once, when the first is asked for.
type assets struct {
	urls  map[string]string // by file name
	byURL map[string]asset
}

var assetKinds = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".txt": "text/plain; charset=utf-8"}

// embedded are the assets. Compressing them takes 15 ms, which no start should
// wait for; they are the program's own, so that it cannot fail.
var embedded = sync.OnceValue(func() assets {
	a := assets{urls: map[string]string{}, byURL: map[string]asset{}}
	_ = fs.WalkDir(assetFiles, "assets", func(file string, d fs.DirEntry, _ error) error {
		content, err := assetFiles.ReadFile(file)
		if err != nil { // it is a folder
			return nil
		}
		one := asset{kind: assetKinds[path.Ext(file)], plain: content}
		var zipped bytes.Buffer
		w, _ := gzip.NewWriterLevel(&zipped, gzip.BestCompression) // the level is one of its own
		_, _ = w.Write(content)                                    // into memory
		if _ = w.Close(); zipped.Len() < len(content) {
			one.zipped = zipped.Bytes()
		}
		sum := sha256.Sum256(content)
		url := assetsPath + hex.EncodeToString(sum[:])[:hashLength] + "/" + path.Base(file)
		a.urls[path.Base(file)], a.byURL[url] = url, one
		return nil
	})
	return a
})

// url is where a file is asked for.
func (a assets) url(name string) (string, error) {
	if url, ok := a.urls[name]; ok {
		return url, nil
	}
	return "", errs.Errorf(errs.Internal, "there is no asset %q", name)
}

// serve answers a request for an asset, and tells whether it was one.
func (a assets) serve(w http.ResponseWriter, r *http.Request) bool {
	one, ok := a.byURL[r.URL.Path]
	if !ok || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", one.kind)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Vary", "Accept-Encoding")
	body := one.plain
	if one.zipped != nil && acceptsGzip(r) {
		h.Set("Content-Encoding", "gzip")
		body = one.zipped
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(body) // a browser that has gone cannot be told
	}
	return true
}

// acceptsGzip tells whether the client takes gzip. A quality of zero is no.
func acceptsGzip(r *http.Request) bool {
	for one := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(one), ";")
		if strings.EqualFold(strings.TrimSpace(name), "gzip") {
			return !strings.HasPrefix(strings.ReplaceAll(quality, " ", ""), "q=0") || strings.ContainsAny(quality, "123456789")
		}
	}
	return false
}
