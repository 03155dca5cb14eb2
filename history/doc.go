// Package history keeps the history of a scheduler: which item ran when, where and why, how it ended,
// and what each round came to.
//
// # The events
//
//	event       of                          says
//	[Execution] an item, when it starts     what runs, and where: Complete is zero
//	[Execution] the same, when it ends      the same and how it went; the id is that of the start
//	[Status]    a round, when it begins     TASK_STAGING, then TASK_RUNNING
//	[Status]    a round, when it ends       TASK_FINISHED, or TASK_ERROR with what failed
//
// A round is what one process begins together of a job. Its id is in every event of it and in the
// items' records in the registry. An instance that has nothing to run has no round.
//
// # How to use it
//
// Events travel on a [Bus] to any number of sinks: [NewLogSink] for a log, the stores of package
// sqlstore for a database, package sqlite for one in a file. Package observe, which knows the
// scheduler, puts them on the bus:
//
//	store, err := sqlite.Open(ctx, "history.db")
//	bus, err := history.NewBus(history.WithSink("history", store))
//	bus.Start()
//	s, err := scheduler.New(registry, scheduler.WithObserver(observe.New(bus)))
//	err = s.Run(ctx)
//	err = bus.Close(flushCtx) // after Run, whose last items end while it stops
//	err = store.Close()
//
// What was stored is read through [Reader].
//
// # What it guarantees
//
//   - Posting an event never blocks and never waits for a sink.
//   - A sink gets events in the order in which they were posted: an item's start before its end.
//   - Each sink has a buffer and a goroutine of its own. One that is slow or down holds up no other.
//   - A sink that fails is asked again, with the same events, until it takes them: by default the
//     buffer holds what 10,000 executions a minute bring in more than a minute. The stores of package
//     sqlstore write the same event twice without harm.
//   - What is lost is counted in [Stats] and logged with its number: events that a full buffer has no
//     room for, events that a sink refuses for good, and those that [Bus.Close] could not deliver
//     before its context ended.
//
// # What it does not do
//
// The buffers are memory. A process that is killed loses what they hold, which is what its sinks have
// not taken yet: by default some tenths of a second, and more during an outage. What the guarantees of
// the scheduler rest upon is in the registry, not here.
package history
