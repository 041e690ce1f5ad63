package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzhttp"
)

// assetsPath is where the assets lie. They are in the binary, and each is asked for by a URL with the hash of all of
// them, so that a browser may keep it for ever.
const assetsPath = "/assets/"

// hashLength is how much of the hash is in the URLs, in hex digits.
const hashLength = 12

//go:embed assets
var assetFiles embed.FS

// assets serves the embedded files below a path. A browser asks for each once, and so they are compressed when they are asked for.
type assets struct {
	path    string
	handler http.Handler
}

// embedded are the assets. They are the program's own, so that it cannot fail.
var embedded = sync.OnceValue(func() assets {
	all := sha256.New()
	_ = fs.WalkDir(assetFiles, ".", func(file string, _ fs.DirEntry, _ error) error {
		content, _ := assetFiles.ReadFile(file) // a folder has none
		_, _ = all.Write(content)               // a hash takes all
		return nil
	})
	path := assetsPath + hex.EncodeToString(all.Sum(nil))[:hashLength]
	files, _ := fs.Sub(assetFiles, "assets")
	return assets{path, http.StripPrefix(path, gzhttp.GzipHandler(http.FileServerFS(files)))}
})

// serve answers a request for an asset, and tells whether it was one.
func (a assets) serve(w http.ResponseWriter, r *http.Request) bool {
	read := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !read || !strings.HasPrefix(r.URL.Path, a.path+"/") || strings.HasSuffix(r.URL.Path, "/") {
		return false
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	a.handler.ServeHTTP(w, r)
	return true
}
