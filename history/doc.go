// Package history keeps the history of a scheduler: which item ran when, where and why, how it ended,
// and how each round ended.
//
// # How to use it
//
// Events travel on a [Bus] to any number of sinks: [NewLogSink] writes to a log, the stores of package
// sqlstore to a database, and package sqlite to a database in a file. Package observe takes the events
// from the scheduler and puts them on the bus:
//
//	store, err := sqlite.Open(ctx, "history.db")
//	bus, err := history.NewBus(history.WithSink("history", store))
//	bus.Start()
//	s, err := scheduler.New(registry, scheduler.WithObserver(observe.New(bus)))
//	err = s.Run(ctx)
//	err = bus.Close(flushCtx) // after Run, because its last items end while it stops
//	err = store.Close()
//
// Read the stored events through a [Reader].
//
// # The events
//
//	event       of                          says
//	[Execution] an item, when it starts     what runs, and where: Complete is zero
//	[Execution] the same, when it ends      the same and how it went; the id is that of the start
//	[Status]    a round, when it begins     TASK_STAGING, then TASK_RUNNING
//	[Status]    a round, when it ends       TASK_FINISHED, or TASK_ERROR with what failed
//
// A round consists of the items of a job that one process begins together. The round's id is in each of its
// events, and in the items' records in the registry. An instance that has nothing to run has no round.
//
// The tables are those of Elastic-Job, which knows success and failure alone. What was cut short, or made room as it was told
// to, did not succeed there, and neither did its round: TASK_ERROR. The cause of such an execution begins with "interrupted".
//
// # What it guarantees
//
//   - Posting an event never blocks and never waits for a sink.
//   - A sink gets events in the order in which they were posted: an item's start before its end.
//   - Each sink has a buffer and a goroutine of its own. A sink that is slow or down holds up no other sink.
//   - If a sink fails, the bus gives it the same events again until it takes them. By default the buffer
//     holds the events of more than a minute at 10,000 executions a minute. The stores of package
//     sqlstore write the same event twice without harm.
//   - The bus counts lost events in [Stats], and logs how many they are: events for which a full buffer
//     had no room, events that a sink refuses for good, and events that [Bus.Close] could not deliver
//     before its context ended.
//
// # What it does not do
//
// The buffers are in memory. A process that is killed loses the events that its sinks have not taken yet: by
// default those of some tenths of a second, and more during an outage. Nobody posts the ends of what
// it ran, so [Execution.Running] says true of those executions until they are deleted; the registry shows what does
// run. The guarantees of the scheduler rest on the registry, not on this history.
package history
