package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

//go:embed dist
var dist embed.FS

// kinds are the files that there may be, by the end of their names.
var kinds = map[string]string{
	".js":  "text/javascript; charset=utf-8",
	".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml",
}

// asset is a file of dist, and how it is sent.
type asset struct {
	address string // below the prefix: assets/app.0123456789.js
	kind    string
	plain   []byte
	gzipped []byte
}

// assets are the files of dist by their names there, and by their addresses.
type assets struct{ byName, byAddress map[string]*asset }

func loadAssets() (assets, error) {
	all := assets{make(map[string]*asset), make(map[string]*asset)}
	files, err := fs.ReadDir(dist, "dist")
	if err != nil {
		return all, fmt.Errorf("read the built files: %w", err)
	}
	for _, file := range files {
		a, err := loadAsset(file.Name())
		if err != nil {
			return all, err
		}
		all.byName[file.Name()], all.byAddress[a.address] = a, a
	}
	for _, name := range []string{"app.js", "stream.js", "app.css", "icon.svg"} {
		if all.byName[name] == nil {
			return all, fmt.Errorf("dist has no %s: it was not built", name)
		}
	}
	return all, nil
}

func loadAsset(name string) (*asset, error) {
	end := path.Ext(name)
	kind := kinds[end]
	if kind == "" {
		return nil, fmt.Errorf("dist has a file %s, and only .js, .css and .svg are served", name)
	}
	plain, err := dist.ReadFile("dist/" + name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	sum := sha256.Sum256(plain)
	var zipped bytes.Buffer
	w, _ := gzip.NewWriterLevel(&zipped, gzip.BestCompression) // the level is allowed
	if _, err := w.Write(plain); err != nil {
		return nil, fmt.Errorf("compress %s: %w", name, err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress %s: %w", name, err)
	}
	return &asset{
		address: "assets/" + strings.TrimSuffix(name, end) + "." + hex.EncodeToString(sum[:6]) + end,
		kind:    kind, plain: plain, gzipped: zipped.Bytes(),
	}, nil
}

// forever is how long a file whose name has its hash may be kept.
const forever = 365 * 24 * time.Hour

func (p *Pages) serveAsset(w http.ResponseWriter, r *http.Request) {
	a := p.assets.byAddress["assets/"+r.PathValue("file")]
	if a == nil {
		http.NotFound(w, r) // also one of another version: the page that asks for it is older than this server
		return
	}
	h := w.Header()
	h.Set("Content-Type", a.kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", fmt.Sprintf("public, max-age=%d, immutable", int(forever.Seconds())))
	h.Set("Vary", "Accept-Encoding")
	body := a.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = a.gzipped
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // the browser has gone, or has it
}
