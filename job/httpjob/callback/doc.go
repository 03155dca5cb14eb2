// Package callback signs the calls of HTTP jobs, and verifies them where they arrive:
//
//	verifier, err := callback.NewVerifier(keys)
//	http.Handle("POST /jobs/settle", verifier.Handler(settle))
//
// A signed call has the header
//
//	Elasticron-Signature: t=1767225600,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd
//
// where t is the time of the call in seconds since 1970, and each v1 the hexadecimal HMAC-SHA256, under one key, of
//
//	t.method.path.body
//
// The path is that of the request line, with its query if there is one, and "%2E" for each dot in it, so that nobody
// can move the border between path and body. While keys change, calls are signed with two, and the receiver knows the
// new one, the old one, or both.
//
// The signature covers the time, the method, the path and the body, and no other header. A receiver that relies on the
// headers Elasticron-Job, Elasticron-Item, Elasticron-Fire and Elasticron-Token needs TLS. A call that was recorded can
// be repeated until its time is older than the tolerance; the token tells repetitions apart.
//
// The files verify.py and verify.sh beside this package verify in Python and in a shell.
package callback
