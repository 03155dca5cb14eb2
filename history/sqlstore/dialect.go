package sqlstore

import (
	"strconv"
	"strings"
)

// Dialect is the SQL that a database speaks.
type Dialect string

// The dialects.
const (
	SQLite     Dialect = "sqlite"
	PostgreSQL Dialect = "postgres"
	MySQL      Dialect = "mysql" // and MariaDB
)

// dialect is what differs.
type dialect struct {
	timestamp   string // type of a column of time
	tableEnd    string // of CREATE TABLE
	tablesHave  string // a query of the names of a table's indexes; a parameter is the table, in lower case
	keyless     string // a query of how many tables of a name, in lower case, have no key by which an upsert finds what is there
	keyHasTime  bool   // that key may have the table's column of time beside the id, which is another parameter
	clock       string // a query of the database's time, in ms, whether the connection comes from its own machine, and of the name of that
	beside      string // has an index made while others write to the table; empty if that is so anyway, or cannot be
	takeTurn    string // a query that tells whether a session is the only one that makes indexes beside writes; empty if all may
	endTurn     string // ends that
	numbered    bool   // parameters are $1, $2, … instead of ?
	inserted    string // how the update of an upsert calls the value of a column that was to be inserted
	onConflict  string // what begins the update
	ignore      string // the update of an upsert that changes nothing
	exactly     string // that two texts are the same, byte for byte; empty if = says that
	last        string // so many letters of a text, from its end; all, if it has fewer
	zoned       bool   // times are instants that a session shows in its time zone
	deleteLimit bool   // DELETE has a LIMIT
}

var dialects = map[Dialect]dialect{
	SQLite: {
		timestamp:  "TIMESTAMP",
		tablesHave: "SELECT name FROM sqlite_master WHERE type = 'index' AND lower(tbl_name) = ?",
		keyless: "SELECT COUNT(*) FROM sqlite_master t WHERE t.type = 'table' AND lower(t.name) = ? AND NOT EXISTS (" +
			"SELECT 1 FROM pragma_index_list(t.name) i WHERE i.\"unique\" = 1 AND i.partial = 0 AND " +
			"(SELECT group_concat(lower(c.name)) FROM pragma_index_info(i.name) c) = 'id')",
		last:     "substr(%s, -%d)",
		inserted: "excluded.%s", onConflict: "ON CONFLICT (id) DO UPDATE SET ", ignore: "ON CONFLICT (id) DO NOTHING",
	},
	PostgreSQL: {
		timestamp: "TIMESTAMP",
		// Without what is left of a process that ended while it made an index, which is invalid.
		tablesHave: "SELECT i.relname FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid " +
			"JOIN pg_namespace n ON n.oid = t.relnamespace WHERE n.nspname = ANY (current_schemas(false)) AND t.relname = ? AND x.indisvalid",
		// Of what has the name of the table, the one that statements find. A key that is looked at only when a transaction ends
		// spoils an upsert, also beside another one. The classes of an index are those of its columns, without what it only
		// carries.
		keyless: "SELECT COUNT(*) FROM pg_class t WHERE t.oid = to_regclass($1) AND t.relkind IN ('r', 'p') AND (" +
			"SELECT bool_and(x.indimmediate) FROM pg_index x JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = x.indkey[0] " +
			"WHERE x.indrelid = t.oid AND x.indisunique AND x.indisvalid AND x.indpred IS NULL " +
			"AND array_length(x.indclass, 1) = 1 AND a.attname = 'id') IS NOT TRUE",
		// A socket of the machine has no address.
		clock: "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT), CASE WHEN inet_client_addr() <> inet_server_addr() " +
			"AND NOT inet_client_addr() <<= inet '127.0.0.0/8' AND inet_client_addr() <> inet '::1' THEN 0 ELSE 1 END, ''",
		beside: "CONCURRENTLY ",
		// Who has the turn waits for all who have looked at the database before, so nobody may wait for the turn.
		takeTurn: "SELECT pg_try_advisory_lock(hashtext('elasticron indexes ' || current_schema()))",
		endTurn:  "SELECT pg_advisory_unlock(hashtext('elasticron indexes ' || current_schema()))",
		numbered: true,
		last:     "right(%s, %d)",
		inserted: "excluded.%s", onConflict: "ON CONFLICT (id) DO UPDATE SET ", ignore: "ON CONFLICT (id) DO NOTHING",
	},
	MySQL: {
		timestamp:  "TIMESTAMP(3)",
		tableEnd:   " DEFAULT CHARSET=utf8mb4",
		tablesHave: "SELECT index_name FROM information_schema.statistics WHERE table_schema = DATABASE() AND lower(table_name) = ?",
		// A partitioned table has what it is divided by in each of its keys. An event's time is the same each time that it is
		// written.
		keyless: "SELECT COUNT(*) FROM information_schema.tables t WHERE t.table_schema = DATABASE() AND lower(t.table_name) = ? " +
			"AND t.table_type = 'BASE TABLE' AND NOT EXISTS (SELECT 1 FROM information_schema.statistics i " +
			"WHERE i.table_schema = t.table_schema AND i.table_name = t.table_name AND i.non_unique = 0 GROUP BY i.index_name " +
			"HAVING SUM(lower(i.column_name) = 'id') = 1 AND COUNT(*) = SUM(lower(i.column_name) IN ('id', ?)) AND COUNT(i.sub_part) = 0)",
		keyHasTime: true,
		clock: "SELECT CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED), " +
			"SUBSTRING_INDEX(USER(), '@', -1) IN ('localhost', '127.0.0.1', '::1'), @@hostname",
		// VALUES() is the one form that both MySQL and MariaDB know.
		inserted: "VALUES(%s)", onConflict: "ON DUPLICATE KEY UPDATE ", ignore: "ON DUPLICATE KEY UPDATE id = id",
		// Its usual collations pass over case, accents and spaces at the end.
		exactly: "CAST(CONVERT(%s USING utf8mb4) AS BINARY) = CAST(CONVERT(%s USING utf8mb4) AS BINARY)",
		last:    "right(%s, %d)",
		zoned:   true, deleteLimit: true,
	},
}

// bind numbers the parameters of a statement, if the dialect does. No text of ours has a question
// mark.
func (d dialect) bind(statement string) string {
	if !d.numbered {
		return statement
	}
	var bound strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(statement, "?")
		bound.WriteString(before)
		if !found {
			return bound.String()
		}
		bound.WriteString("$" + strconv.Itoa(n))
		statement = after
	}
}
