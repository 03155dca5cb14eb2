package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
)

//go:embed templates
var templates embed.FS

// Page is a kind of page of a namespace.
type page struct {
	Name  string // of its template, and of its module in src/pages
	Path  string // below the namespace; {job} is the name of a job
	Title string
	InNav bool
	Live  bool // it follows the stream
}

// pages are all that a namespace has, in the order of the navigation.
var pages = []page{
	{Name: "overview", Path: "", Title: "Overview", InNav: true, Live: true},
	{Name: "jobs", Path: "jobs", Title: "Jobs", InNav: true, Live: true},
	{Name: "job", Path: "jobs/{job}", Title: "Job", Live: true},
	{Name: "settings", Path: "jobs/{job}/settings", Title: "Settings"},
	{Name: "servers", Path: "servers", Title: "Servers", InNav: true},
	{Name: "history", Path: "history", Title: "History", InNav: true},
	{Name: "log", Path: "log", Title: "Failovers", InNav: true},
	{Name: "audit", Path: "audit", Title: "Audit", InNav: true},
	{Name: "transfer", Path: "transfer", Title: "Export, import", InNav: true},
	{Name: "help", Path: "help", Title: "Help", InNav: true},
}

// parent is the page of the navigation to which one belongs that is not in it.
var parent = map[string]string{"job": "jobs", "settings": "jobs"}

// navItem is a line of the navigation.
type navItem struct {
	Link    string
	Title   string
	Current bool
}

// choice is an option of a select.
type choice struct{ Value, Text string }

// statuses are the words by which the list of jobs may be filtered; the script puts people's words in their place.
var statuses = []string{"OK", "OVERDUE", "WAITING", "CRASHED", "SHARDING_FLAG", "PAUSED", "NO_LEADER", "DISABLED", "GAVE_UP", "REMOVING", "MOVING"}

// sorts are the orders of the list of jobs.
var sorts = []choice{
	{"name", "name, a to z"},
	{"-name", "name, z to a"},
	{"status", "what needs you first"},
	{"-status", "status, turned round"},
	{"next", "next fire"},
	{"-next", "next fire, last first"},
	{"-last", "last run, newest first"},
	{"last", "last run, oldest first"},
	{"-items", "most items"},
	{"items", "fewest items"},
	{"-instances", "most instances"},
	{"instances", "fewest instances"},
}

// view is what a template is given.
type view struct {
	Page       page
	Title      string
	Base       string // the prefix, with a slash at its end
	Here       string // this page, relative to the base
	Link       string // the pages of the namespace, relative to the base, with a slash at its end
	Namespace  string
	Namespaces []string
	Job        string
	JobLink    string // its page, relative to the base
	Nav        []navItem
	Who        Who

	Style, Script, Worker, Icon string

	Statuses []string
	Sorts    []choice
	Legend   []sign

	Login Login // of the login page
}

// view returns what all pages have in common.
func (p *Pages) view(of page) view {
	return view{
		Page: of, Title: of.Title, Base: p.prefix + "/", Statuses: statuses, Sorts: sorts, Legend: legend,
		Style: p.assets.byName["app.css"].address, Worker: p.assets.byName["stream.js"].address, Icon: p.assets.byName["icon.svg"].address,
	}
}

// servePage renders a page of a namespace. What is in it is asked for by its script, under the rights of whoever looks.
func (p *Pages) servePage(of page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := p.view(of)
		v.Who = p.who(r)
		v.Namespace, v.Job, v.Namespaces = r.PathValue("namespace"), r.PathValue("job"), v.Who.Namespaces
		if !slices.Contains(v.Namespaces, v.Namespace) {
			p.serveMissing(w, r)
			return
		}
		v.Link = "ns/" + url.PathEscape(v.Namespace) + "/"
		v.Here = p.prefix + r.URL.EscapedPath()
		v.Script = p.assets.byName["app.js"].address
		if v.Job != "" {
			v.JobLink = v.Link + "jobs/" + url.PathEscape(v.Job) // which a template does of a query only
			v.Title = v.Job
			if of.Name == "settings" {
				v.Title = "Settings of " + v.Job
			}
		}
		for _, other := range pages {
			if other.InNav {
				v.Nav = append(v.Nav, navItem{v.Link + other.Path, other.Title, other.Name == of.Name || other.Name == parent[of.Name]})
			}
		}
		p.render(w, http.StatusOK, of.Name, v)
	}
}

func (p *Pages) serveMissing(w http.ResponseWriter, _ *http.Request) {
	p.render(w, http.StatusNotFound, "missing", p.view(page{Name: "missing", Title: "Not found"}))
}

// render executes a template as a whole before it answers, so that a fault in it is no half of a page.
func (p *Pages) render(w http.ResponseWriter, status int, name string, v view) {
	html, err := p.execute(name, v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	w.WriteHeader(status)
	_, _ = w.Write(html) // the browser has gone, or has it
}

func (p *Pages) execute(name string, v view) ([]byte, error) {
	var html bytes.Buffer
	if err := p.templates[name].ExecuteTemplate(&html, name+".gohtml", v); err != nil {
		return nil, fmt.Errorf("render the page %s: %w", name, err)
	}
	return html.Bytes(), nil
}

// policy lets a page load from its own origin only, and nothing inline.
const policy = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'self'; frame-ancestors 'none'"

// parseTemplates returns each page's template together with the layout.
func parseTemplates() (map[string]*template.Template, error) {
	all := make(map[string]*template.Template)
	names := []string{"login", "missing"}
	for _, p := range pages {
		names = append(names, p.Name)
	}
	for _, name := range names {
		t, err := template.ParseFS(templates, "templates/layout.gohtml", "templates/"+name+".gohtml")
		if err != nil {
			return nil, fmt.Errorf("parse the template of page %s: %w", name, err)
		}
		all[name] = t
	}
	return all, nil
}
