package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"sync"

	"github.com/klauspost/compress/gzhttp"

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

// assets are the embedded files. A browser asks for each once, and so they are compressed when they are asked for.
type assets struct {
	urls    map[string]string // by file name
	files   map[string]string // by URL
	handler http.Handler
}

// embedded are the assets. They are the program's own, so that it cannot fail.
var embedded = sync.OnceValue(func() assets {
	a := assets{urls: map[string]string{}, files: map[string]string{}, handler: gzhttp.GzipHandler(http.FileServerFS(assetFiles))}
	_ = fs.WalkDir(assetFiles, "assets", func(file string, d fs.DirEntry, _ error) error {
		content, err := assetFiles.ReadFile(file)
		if err != nil { // it is a folder
			return nil
		}
		sum := sha256.Sum256(content)
		url := assetsPath + hex.EncodeToString(sum[:])[:hashLength] + "/" + path.Base(file)
		a.urls[path.Base(file)], a.files[url] = url, "/"+file
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
	file, ok := a.files[r.URL.Path]
	if !ok || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	of := r.Clone(r.Context())
	of.URL.Path = file
	a.handler.ServeHTTP(w, of)
	return true
}
