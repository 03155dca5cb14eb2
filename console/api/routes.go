package api

import (
	"net/http"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/console/api/wire"
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
	// parameters are those of the query. Others are refused: whoever mistypes dry-run must not find the deed done.
	parameters []string
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
	operation := []string{wire.ParamDryRun, wire.ParamWait, wire.ParamAgain}
	inOne := append([]string{"job"}, operation...)
	paging := []string{"page", "per-page", "sort", "ascending"}
	executions := append([]string{"job", "round", "item", "ip", "instance", "success", "outcome", "source", "from", "until"}, paging...)
	return []route{
		{"GET", "/openapi.yaml", access.Read, anybody, description, nil},
		{"GET", "/me", access.Read, anybody, me, nil},
		{"GET", "/cron", access.Read, anybody, cron, []string{"expression", "zone", "daylight-saving", "count"}},

		{"GET", ns + "/jobs", access.Read, visible, listJobs, []string{"match", "status", "sort", "offset", "limit"}},
		{"POST", ns + "/jobs", access.Administer, named, createJob, operation},
		{"GET", job, access.Read, oneJob, getJob, nil},
		{"POST", job + "/remove", access.Administer, oneJob, removeJob, operation},
		{"GET", job + "/config", access.Read, oneJob, getConfig, nil},
		{"PUT", job + "/config", access.Administer, oneJob, putConfig, operation},
		{"POST", job + "/rollback", access.Administer, oneJob, rollBackJob, operation},
		{"GET", job + "/fires", access.Read, oneJob, listFires, []string{"from", "to"}},
		{"GET", job + "/outputs", access.Read, oneJob, listOutputs, []string{"item", "token", "limit"}},
		{"GET", job + "/outputs/{id}", access.Read, oneJob, getOutput, nil},
		{"POST", job + "/trigger", access.Operate, oneJob, triggerJob, operation},
		{"POST", job + "/backfill", access.Operate, oneJob, backfillJob, operation},
		{"POST", job + "/disable", access.Operate, oneJob, disableJob, operation},
		{"POST", job + "/enable", access.Operate, oneJob, enableJob, operation},
		{"POST", job + "/reshard", access.Operate, oneJob, reshardJob, operation},
		{"POST", job + "/tidy", access.Operate, oneJob, tidyServers, operation},
		{"POST", item + "/disable", access.Operate, oneJob, disableItem, operation},
		{"POST", item + "/enable", access.Operate, oneJob, enableItem, operation},
		{"POST", item + "/give-up", access.Operate, oneJob, giveUpItem, operation},

		{"GET", ns + "/servers", access.Read, wholeNamespace, listServers, nil},
		{"POST", ip + "/disable", access.Operate, asked, disableServer, inOne},
		{"POST", ip + "/enable", access.Operate, asked, enableServer, inOne},
		{"GET", ns + "/instances", access.Read, wholeNamespace, listInstances, nil},
		{"POST", ns + "/instances/{instance}/shutdown", access.Operate, asked, shutDownInstance, inOne},
		{"POST", ns + "/bulk", access.Operate, named, operateJobs, operation},

		{"GET", ns + "/operations", access.Read, visible, listOperations, []string{"job", "limit"}},
		{"GET", ns + "/operations/{id}", access.Read, visible, getOperation, nil},
		{"GET", ns + "/executions", access.Read, asked, listExecutions, executions},
		{"GET", ns + "/rounds", access.Read, asked, listRounds, append([]string{"job", "round", "state", "from", "until"}, paging...)},

		{"GET", ns + "/export", access.Administer, wholeNamespace, exportJobs, []string{"match", "job"}},
		{"POST", ns + "/import", access.Administer, wholeNamespace, importJobs, append([]string{"reason", "force"}, operation...)},
		{"GET", ns + "/nodes", access.Read, visible, listNodes, []string{"path", "secrets", "after", "revision", "behind"}},
		{"GET", ns + "/events", access.Read, visible, followEvents, []string{"topic", "window", "since"}},
		{"POST", ns + "/events", access.Read, visible, followEvents, nil}, // which has room for more names, and changes nothing
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
