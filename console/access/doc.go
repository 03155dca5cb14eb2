// Package access decides who somebody is and what they may do in the console.
//
// A [Guard] stands before all routes. It finds out who asks, refuses who is nobody, and hands an [Identity] to the
// handlers in the request's context. Handlers and streams ask one function, [Identity.May], before they show or do
// something.
//
//	guard, err := access.New(access.Config{UsersFile: "users.yaml", KeyFile: "session.key", Logger: logger})
//	mux.Handle("/", guard.Protect(pages)) // the pages, the API and the guard's own routes
//	mux.Handle("POST /login", guard.Protect(guard.Routes()))
//
// # Who
//
//	by         what the request brings                       where it is checked
//	session    the cookie that a login gave, encrypted       the key file and the users file
//	token      Authorization: Bearer elasticron_…            the users file, which has the token's SHA-256
//	proxy      a header, from an address that is listed      the proxy has asked for the password
//	none       nothing; the server listens on loopback only  nowhere
//
// A login is by password or at an OpenID provider. It gives a session of twelve hours, which ends after an hour
// without a request. No server keeps sessions, so any number of them may share the key file. To end all sessions of
// somebody, raise their generation in the users file.
//
// # What
//
// A [Grant] gives a [Role] in a namespace for the jobs that a pattern matches. Grants add up. The namespace as a
// whole, which is what lists of instances and servers, exports and the audit are about, needs a grant for all its
// jobs.
//
//	viewer    read
//	operator  read, operate: trigger, switch on and off, shut down, reshard, give up, tidy
//	admin     read, operate, administer: settings, create, remove, import, export of the audit
//
// # The users file
//
//	users:
//	  anna:
//	    password: $argon2id$v=19$m=19456,t=2,p=1$…   # elasticron server passwd
//	    generation: 1
//	    grants: [{role: operator, namespace: shop, jobs: "orders-*"}]
//	groups:                                         # of an OpenID provider or a proxy
//	  sre:
//	    grants: [{role: admin, namespace: "*"}]
//	tokens:
//	  deploy:
//	    sha256: 5feceb66…                           # elasticron server token
//	    end: 2027-01-01T00:00:00Z
//	    grants: [{role: operator, namespace: shop}]
//
// The file is read again when it changes. One that cannot be read then changes nothing, and is logged.
//
// # What it does not do
//
// It does not protect the registry: whoever has the password of the store has everything. It stores nothing, and
// writes no secret to any log.
package access
