package api

import (
	"net/http"

	"github.com/elasticron/elasticron/console/access"
)

// scope is what of a namespace a route is about, which says what grant it needs.
type scope int

const (
	// anybody: the route is about no namespace, and whoever is somebody may ask.
	anybody scope = iota
	// oneJob: the job in the path or, where the parameter "job" may name one, that.
	oneJob
	// visible: the handler shows what of it the reader may read.
	visible
	// wholeNamespace: all jobs.
	wholeNamespace
	// asked: the parameter "job" names one; without it all jobs.
	asked
	// named: the handler asks for each job that the request names.
	named
)

// route is one thing that can be asked for.
type route struct {
	method, path string
	action       access.Action
	scope        scope
	do           func(*call) error
}

const inNamespace = "/namespaces/{namespace}"

// routes are all of them. What a route needs is said here and decided in (*call).allowed, for all alike.
func (a *API) routes() []route {
	const (
		ns   = inNamespace
		job  = ns + "/jobs/{job}"
		item = job + "/items/{item}"
		ip   = ns + "/servers/{ip}"
	)
	return []route{
		{"GET", "/openapi.yaml", access.Read, anybody, description},
		{"GET", "/me", access.Read, anybody, me},
		{"GET", "/cron", access.Read, anybody, cron},

		{"GET", ns + "/jobs", access.Read, visible, listJobs},
		{"POST", ns + "/jobs", access.Administer, named, createJob},
		{"GET", job, access.Read, oneJob, getJob},
		{"POST", job + "/remove", access.Administer, oneJob, removeJob},
		{"GET", job + "/config", access.Read, oneJob, getConfig},
		{"PUT", job + "/config", access.Administer, oneJob, putConfig},
		{"POST", job + "/rollback", access.Administer, oneJob, rollBackJob},
		{"GET", job + "/fires", access.Read, oneJob, listFires},
		{"GET", job + "/outputs", access.Read, oneJob, listOutputs},
		{"GET", job + "/outputs/{id}", access.Read, oneJob, getOutput},
		{"POST", job + "/trigger", access.Operate, oneJob, triggerJob},
		{"POST", job + "/backfill", access.Operate, oneJob, backfillJob},
		{"POST", job + "/disable", access.Operate, oneJob, disableJob},
		{"POST", job + "/enable", access.Operate, oneJob, enableJob},
		{"POST", job + "/reshard", access.Operate, oneJob, reshardJob},
		{"POST", job + "/tidy", access.Operate, oneJob, tidyServers},
		{"POST", item + "/disable", access.Operate, oneJob, disableItem},
		{"POST", item + "/enable", access.Operate, oneJob, enableItem},
		{"POST", item + "/give-up", access.Operate, oneJob, giveUpItem},

		{"GET", ns + "/servers", access.Read, wholeNamespace, listServers},
		{"POST", ip + "/disable", access.Operate, asked, disableServer},
		{"POST", ip + "/enable", access.Operate, asked, enableServer},
		{"GET", ns + "/instances", access.Read, wholeNamespace, listInstances},
		{"POST", ns + "/instances/{instance}/shutdown", access.Operate, asked, shutDownInstance},
		{"POST", ns + "/bulk", access.Operate, named, operateJobs},

		{"GET", ns + "/operations", access.Read, visible, listOperations},
		{"GET", ns + "/operations/{id}", access.Read, visible, getOperation},
		{"GET", ns + "/executions", access.Read, asked, listExecutions},
		{"GET", ns + "/rounds", access.Read, asked, listRounds},

		{"GET", ns + "/export", access.Administer, wholeNamespace, exportJobs},
		{"POST", ns + "/import", access.Administer, wholeNamespace, importJobs},
		{"GET", ns + "/nodes", access.Read, visible, listNodes},
		{"GET", ns + "/events", access.Read, visible, followEvents},
		{"POST", ns + "/events", access.Read, visible, followEvents}, // which has room for more names, and changes nothing
	}
}

// routed makes the routes a handler.
func (a *API) routed() *http.ServeMux {
	mux := http.NewServeMux()
	for _, r := range a.routes() {
		mux.Handle(r.method+" "+r.path, a.carriedOut(r))
	}
	return mux
}

// allowedAt returns the methods for which there is a route at the path of a request.
func allowedAt(mux *http.ServeMux, r *http.Request) (methods []string) {
	for _, method := range []string{"GET", "POST", "PUT"} {
		other := r.Clone(r.Context())
		other.Method = method
		if _, pattern := mux.Handler(other); pattern != "" {
			methods = append(methods, method)
		}
	}
	return methods
}
