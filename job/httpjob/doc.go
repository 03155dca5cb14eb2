// Package httpjob calls an HTTP endpoint as a job: the type HTTP of ElasticJob 3.x.
//
//	_, err := s.Add(ctx, job.Config{
//		Name: "warmup", Class: httpjob.Class, Cron: "0 0/5 * * * ?", ShardingTotalCount: 2,
//		Props: map[string]string{"http.uri": "http://localhost:8080/warm", "http.method": "GET"},
//	}, httpjob.Job{})
//
// Such a job is stored as one of type SIMPLE with the class HTTP, because Java 2.1.5 and its console
// cannot read another type. [job.Config.Props] say what it calls; the names above the line are those
// of ElasticJob 3.x:
//
//	http.uri                              address; required
//	http.method                           GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS; required
//	http.data                             body; empty is none. Not sent with GET and HEAD
//	http.content.type                     of the body
//	http.connect.timeout.milliseconds     default 3000; 0 is none
//	http.read.timeout.milliseconds        until the answer, of each redirect anew, and between its parts; default 5000;
//	                                      0 is none
//	---
//	http.header.<name>                    a header; neither Content-Length and its like, which HTTP sets, nor those below
//	http.total.timeout.milliseconds       of one call; default 0, none besides job.Config.Timeout
//	http.fail.on.status                   a status of 400 or more is a failure; default true
//	http.retries                          further calls after a failure that may pass; default 0
//	http.retry.milliseconds               before the first of them, twice as long before each other;
//	                                      default 1000, at most a minute
//	http.redirects                        that are followed; default 10
//	http.answer.bytes                     of an answer that are read; default 1048576
//
// A value that is secret, such as a header with a key, need not be in the configuration: "env:API_KEY" stands for a
// variable of the process and "file:/run/secrets/key" for a file; see [job.PropsReader]. Errors show the
// reference. Of an address that is none they show the scheme, the host and the path.
//
// The header shardingContext holds the sharding context as JSON, as in 3.x; a task id above 4 KiB is shortened, as many
// servers refuse headers of 8 KiB. The headers Elasticron-Job, -Item, -Fire and
// -Token hold parts of it. In an execution by hand that was given a parameter, the header triggerParameter holds that as
// a JSON string. [Job.Sign] signs a call, with package callback, so that its receiver knows who calls.
//
// A redirect may lead to another place, which is another scheme, host or port than that of http.uri. From there on, no
// request has a header of http.header or a signature, as they are for the first place alone. It has the body if the
// redirect asks for that, with the status 307 or 308.
//
// Whoever can write to the registry chooses the address. [Job.Guard] says which of them this process calls.
// [Job.Output] gets what the endpoint answers.
//
// # How it ends
//
// A status below 400 is a success. One of 400 or more is an [Error] with the end of the answer; 3.x
// takes it for a success, and so does http.fail.on.status=false. No answer, or none in time, is an
// error. An endpoint that hangs is cut off by the read timeout, and by the end of the context. If an answer breaks off,
// its status counts all the same if it is a failure; otherwise the call has failed, and the error says which status it had. So
// has a call that is answered with 101, Switching Protocols: the connection is closed, as no time limit holds on it any more.
//
// With http.retries, the job calls again if it got no answer, or one of the statuses 408, 425, 429, 500, 502, 503
// and 504, or if an answer broke off whose status is no failure. It respects a Retry-After up to a minute. Use retries
// only if the endpoint can be called twice for one item.
package httpjob
