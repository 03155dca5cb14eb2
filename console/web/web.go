package web

import (
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
)

// Config says below which path the pages are served, and for whom.
type Config struct {
	// Prefix is what a proxy, or http.StripPrefix, takes off the paths, such as "/cron". The default, empty, is
	// nothing.
	Prefix string
	// Who returns who asks, and the namespaces that they may see. It is asked for every page, and is required.
	Who func(*http.Request) Who
}

// Who is the person for whom a page is rendered.
type Who struct {
	Name       string   // empty if nobody has to log in
	How        string   // "session", "token", "proxy" or "none": a session can be ended
	Namespaces []string // that they may see, in the order of the choice
}

// Pages serves all pages and what they load. It is safe for concurrent use.
type Pages struct {
	prefix    string
	who       func(*http.Request) Who
	assets    assets
	templates map[string]*template.Template
	routes    *http.ServeMux
}

// New returns the pages. They do not ask who may see them: put them behind what does.
func New(c Config) (*Pages, error) {
	switch {
	case c.Who == nil:
		return nil, errors.New("web: Who is not set, and must say who asks")
	case c.Prefix != "" && (!strings.HasPrefix(c.Prefix, "/") || strings.HasSuffix(c.Prefix, "/") || strings.HasPrefix(c.Prefix, "//")):
		return nil, fmt.Errorf(`web: the prefix %q must begin with one slash and not end in one, such as "/cron"`, c.Prefix)
	}
	files, err := loadAssets()
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	parsed, err := parseTemplates()
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	p := &Pages{prefix: c.Prefix, who: c.Who, assets: files, templates: parsed, routes: http.NewServeMux()}
	p.routes.HandleFunc("GET "+assetsPath+"{file}", p.serveAsset)
	p.routes.HandleFunc("GET /{$}", p.serveRoot)
	p.routes.HandleFunc("GET /ns/{namespace}", p.serveRoot)
	for _, each := range pages {
		path := each.Path
		if path == "" {
			path = "{$}"
		}
		p.routes.Handle("GET /ns/{namespace}/"+path, p.servePage(each))
	}
	p.routes.HandleFunc("/", p.serveMissing)
	return p, nil
}

// ServeHTTP serves a page or a file. Paths are those behind the prefix.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.routes.ServeHTTP(w, r) }

const assetsPath = "/assets/"

// Public tells whether everybody may load what lies at a path, as the page of the login needs it.
func Public(path string) bool { return strings.HasPrefix(path, assetsPath) }

// serveRoot leads to the overview of a namespace: the one that is named, or the first.
func (p *Pages) serveRoot(w http.ResponseWriter, r *http.Request) {
	namespace := r.PathValue("namespace")
	if namespace == "" {
		all := p.who(r).Namespaces
		if len(all) == 0 {
			p.serveMissing(w, r)
			return
		}
		namespace = all[0]
	}
	http.Redirect(w, r, p.prefix+"/ns/"+url.PathEscape(namespace)+"/", http.StatusSeeOther)
}
