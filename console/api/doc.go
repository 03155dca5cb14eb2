// Package api is the console's HTTP API: what package operate can do and show, for browsers and programs.
//
//	handler, err := api.New(api.Config{Namespaces: []api.Namespace{{Name: "shop", Store: reg, Hub: hub}}})
//	mux.Handle("/api/v1/", guard.Protect(http.StripPrefix("/api/v1", handler)))
//
// openapi.yaml describes every resource; tests hold each answer against it. The handler takes who asks from the
// request's context (see package access), and decides by one table, in routes.go, what each route needs.
//
// # Reading
//
// What is shown comes from the hub that follows the namespace (see package live), so that readers cost
// the registry nothing. Each answer has the revision that it shows. Who may read some jobs only gets lists of those;
// what is about a namespace as a whole needs a grant for all its jobs. Secrets in configurations are hidden from who may
// not administer the job. A GET changes nothing.
//
// # Operating
//
// An operation is one transaction of package operate. The header Idempotency-Key is its id: after an answer that was lost,
// ask again with the same key, and nothing is done twice. With ?dry-run nothing is written and the answer is the plan;
// with this plan as "shown" the operation is done as it was shown or refused. With ?wait the answer comes when the job
// has followed, at the latest after [wire.MaxWait]; ask again with the same key to go on waiting. What a request does not know
// of is refused, in its query as in its body: a misspelt dry-run would do the deed.
//
// # Limits
//
// A request has at most 1 MiB, one about several jobs 16 MiB and [wire.MaxPlans] plans, a file to import 8 MiB. Of those above
// 1 MiB six are read and three done at once, two of one user, and none is read of who may do what it asks for to no job. An
// answer takes at most 20 seconds and what ?wait says, and is then 503; what was asked for may have been done, and the problem
// has the id to ask again with. A request that its client broke off meanwhile counts as 499.
package api
