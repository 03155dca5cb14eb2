// Package sqlstore keeps the history of a scheduler in a SQL database. A [Store] is a [history.Sink], which
// writes events, and a [history.Reader], which reads them.
//
// # How to use it
//
// Open the database with a driver of your choice, and name its dialect. This package imports no driver. The
// handle stays yours: you set its limits, and close it after the bus.
//
//	db, err := sql.Open("pgx", dsn)
//	store, err := sqlstore.New(db, sqlstore.PostgreSQL)
//	bus, err := history.NewBus(history.WithSink("history", store))
//
// For a file that needs no server, use package sqlite, which brings its driver. The tests run with these
// drivers: github.com/jackc/pgx/v5/stdlib for PostgreSQL, github.com/go-sql-driver/mysql for
// MySQL and MariaDB, modernc.org/sqlite for SQLite.
//
// The store deletes nothing unless you ask for it: run [Store.Retain] beside the scheduler, in one process
// or in all. It goes by no clock that nothing confirms, as [Store.Keeps] tells.
//
// # The tables
//
// The tables are those of Elastic-Job-Lite 2.1.5, JOB_EXECUTION_LOG and JOB_STATUS_TRACE_LOG. So its console shows them, and
// instances in Java and in Go may write to them side by side. The store creates the tables when it is first used, with the
// indexes that queries and retention need, and again if somebody drops them: the call that finds them gone fails, and the
// next one makes them. Indexes that a table with rows lacks are made beside the writes, however long that takes; where they
// cannot be made, a WARN says so, and queries are slow. Columns of ours come after those of Java and may be null. The store adds
// them to tables that Java created:
//
//	JOB_EXECUTION_LOG      round_id, fire_time, fencing_token
//	JOB_STATUS_TRACE_LOG   round_id
//
// Tables that Java or an administrator has created need the key that the store's own have, PRIMARY KEY (id), or else a unique
// index of the column id alone: by it an event is known that is written again, or that ends. In PostgreSQL it may not be
// DEFERRABLE. In MySQL it may have the table's time beside it, start_time or creation_time, as tables need that are
// partitioned by it. To a table without one, nothing is written: [Store.Prepare] and [Store.Write] return [ErrNoKey], and the
// bus waits and says why in its log, until the key is there. Its rows are shown and deleted as usual.
//
// The store writes words as Java knows them. It stores a run by hand as a NORMAL_TRIGGER with a round and
// without a fire time, and reads it as [job.Manual]; one that was asked for a fire it reads as [job.Scheduled], as Java
// has no word for it. It cuts texts to the length of their columns, in characters:
// causes and messages to 4000. It leaves items out of task ids above 255 and of lists of items above 100.
//
// # Time
//
// The store writes times to the millisecond; tables that Java created in MySQL have seconds. In MySQL a time is
// an instant, whatever the time zone of the server and of sessions. SQLite and PostgreSQL keep the reading of a
// wall clock without its zone. The zone is UTC, unless [WithLocation] names another one. If Java reads or writes
// the same tables, it must be the zone of the Java virtual machines. If the zone has summer time, the hour that is
// repeated when summer time ends is ambiguous.
//
// # What it guarantees
//
//   - A batch is one transaction of few statements, each with many rows. After an error, the database holds
//     nothing of the batch that a repetition would not store again in the same way.
//   - A row never goes back: in whatever order the start and the end of an execution, or copies of them, are
//     written, an execution that has ended does not become a running one again.
//   - If the database refuses one event, say because of an old table's character set, the other events are
//     stored all the same. The store writes that event with question marks for its unusual characters, or else, for a
//     table that is narrower than Elastic-Job's, with the beginning of its cause or message. An event that the table can
//     hold in no way, as of a constraint, is rejected: the bus counts and logs it, and goes on. Which errors are about an
//     event, the store knows of the drivers named above; it takes others for trouble of the database, which may pass.
//   - While the database is away, every call returns an error and changes nothing. The bus asks again.
//
// Methods are safe for concurrent use.
package sqlstore
