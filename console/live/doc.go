// Package live shows a namespace as it changes: rows, timelines and an overview, and a stream of what is new in them.
//
// A [Hub] follows one namespace of a registry with a single view, for all readers:
//
//	hub, err := live.Open(ctx, live.Config{Registry: reg, Namespace: "shop", History: store, Logger: logger})
//	go hub.Run(ctx)
//	mux.Handle("/api/v1/namespaces/shop/events", guard.Protect(hub.Events()))
//	picture := hub.Picture() // of now, for pages and lists: no request to the registry
//
// # The stream
//
// [Hub.Events] answers with server-sent events. A request names its topics:
//
//	GET …/events?topic=overview&topic=jobs&window=a&window=b&window=c&topic=job/J
//
// window gives the names of at most 200 jobs for the topic jobs. At most 64 topics are allowed,
// as the pages of a browser share a stream. A POST asks for the same by a JSON body, since proxies bound an address to some
// 8 KB:
//
//	{"topics": ["overview", "jobs", "job/J"], "window": ["a", "b", "c"]}
//
// Every frame is
//
//	id: <epoch>-<number>
//	event: <event>
//	data: <one line of JSON>
//
// with an empty line behind it. In a batch of several frames only the last one has an id. The events, and the types of
// their data:
//
//	event         data             when
//	overview      [Overview]       at first, and when something in it has changed
//	jobs          [JobsFrame]      at first all of the window, then the rows that changed, once a second or when another reader comes
//	job/J         [JobFrame]       at first all (full), then what changed, within 250 ms; all again if a run that was shown is gone
//	alive         [Status]         every 5 s while the registry answers: no byte for 12 s means that the page is blind
//	disconnected  [Status]         the registry has not answered for 3 to 4 s; then every 5 s
//	connected     [Status]         it answers again; fresh frames follow
//
// A topic about which the reader may not know anything is refused with the whole request (403). The overview of
// somebody who may read some jobs only is about these alone. A job that there is not has a frame with "gone": true, and
// a full frame when it appears.
//
// A comment comes at once and every 15 s. A browser that was cut off connects again by itself with Last-Event-ID,
// and gets what it missed, if that is among the last 1,000 frames, or else fresh frames (full). Whoever opens
// another stream, with other topics, may say what it has: since=<id> (in a body, the list "since") once for each topic, in
// their order, empty for those that are new. A topic that nobody reads is kept for a minute for those who come back, and of
// such topics the last 256. If a topic's frame is full, forget what you knew of the topic; else merge it:
// rows by job, items by item, spans by (item, begin, instance); entries of the log are appended but for those that are there,
// as who was cut off in the middle of a batch gets its frames again; gaps, instances and next fires replace what was, where
// the frame has them.
//
// A reader for whom eight batches wait is cut off, and so is one to whom 64 KiB take 5 s, or whose session has ended.
// All readers of a topic get the same bytes.
//
// Refusals are problem+json: 400 for topics that there are not, 403, and 429 beyond 20 streams of a user and 503
// beyond 2,000 in all, with Retry-After.
//
// # Timelines
//
// A record in the registry keeps two executions of an item, so a hub folds what changes into a timeline of the last
// hour: at most 2,000 spans a job, and 64 MiB in all. What it cannot know it shows as a [Gap]: before it began to
// follow, while the registry did not answer, and where a view skipped executions. A history store, if there is one, fills
// gaps, when it has had 10 s to hear of what ran in them.
// Jobs without monitorExecution have no spans.
//
// Nothing old is shown as live: AsOf is a time at which everything shown was true, and while the registry is away nothing is
// decided by the clock. A registry that comes back with an earlier state, as one that was restored from a backup, ends
// [Hub.Run] with an error: open another hub.
package live
