// Package sqlstore keeps the history of a scheduler in a SQL database: it is a [history.Sink] that
// writes, and a [history.Reader] that reads.
//
// # How to use it
//
// Open the database with the driver of your choice, which this package does not import, and name its
// dialect. The handle stays yours: you set its limits, and close it after the bus.
//
//	db, err := sql.Open("pgx", dsn)
//	store, err := sqlstore.New(db, sqlstore.PostgreSQL)
//	bus, err := history.NewBus(history.WithSink("history", store))
//
// For a file that needs no server there is package sqlite, which brings its driver. Drivers that the
// tests run with: github.com/jackc/pgx/v5/stdlib for PostgreSQL, github.com/go-sql-driver/mysql for
// MySQL and MariaDB, modernc.org/sqlite for SQLite.
//
// Nothing is ever deleted unless you ask for it: run [Store.Retain] beside the scheduler, in one process
// or in all.
//
// # The tables
//
// They are those of Elastic-Job-Lite 2.1.5, JOB_EXECUTION_LOG and JOB_STATUS_TRACE_LOG, so that its
// console shows them, and instances in Java and in Go may write to them side by side. They are made when
// the store is first used, with the indexes that queries and retention want. Columns of ours come after
// those of Java, may be null, and are added to tables that Java made:
//
//	JOB_EXECUTION_LOG      round_id, fire_time, fencing_token
//	JOB_STATUS_TRACE_LOG   round_id
//
// Words are stored as Java knows them. A run by hand is a NORMAL_TRIGGER with a round and without a fire
// time, and is read as [job.Manual]. Texts are cut to their columns, in characters: causes and messages at
// 4000, task ids and lists of items as [history.ShortTaskID] tells.
//
// # Time
//
// Times are stored to the millisecond; tables that Java made in MySQL have seconds. In MySQL they are
// instants, whatever the time zone of the server and of sessions. SQLite and PostgreSQL keep a wall
// clock without its zone: that of UTC, unless [WithLocation] names another, which must be the zone of
// the virtual machines if Java reads or writes the same tables. The hour that is repeated when summer
// time ends is ambiguous in such a zone.
//
// # What it guarantees
//
//   - A batch is one transaction of few statements, each with many rows. After an error nothing of it
//     is stored that a repetition would not store again in the same way.
//   - A row never goes back: an execution that has ended does not run again, whichever order its
//     start and its end, or copies of them, are written in.
//   - One event that the database refuses, say because of an old table's character set, does not stop
//     the others: it is stored with question marks for its unusual characters.
//   - A database that is away is an error of every call and changes nothing. The bus asks again.
//
// Methods are safe for concurrent use.
package sqlstore
