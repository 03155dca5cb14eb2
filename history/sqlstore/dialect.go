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
	numbered    bool   // parameters are $1, $2, … instead of ?
	inserted    string // how the update of an upsert calls the value of a column that was to be inserted
	onConflict  string // what begins the update
	ignore      string // the update of an upsert that changes nothing
	exactly     string // that two texts are the same, byte for byte; empty if = says that
	zoned       bool   // times are instants that a session shows in its time zone
	deleteLimit bool   // DELETE has a LIMIT
}

var dialects = map[Dialect]dialect{
	SQLite: {
		timestamp:  "TIMESTAMP",
		tablesHave: "SELECT name FROM sqlite_master WHERE type = 'index' AND lower(tbl_name) = ?",
		inserted:   "excluded.%s", onConflict: "ON CONFLICT (id) DO UPDATE SET ", ignore: "ON CONFLICT (id) DO NOTHING",
	},
	PostgreSQL: {
		timestamp:  "TIMESTAMP",
		tablesHave: "SELECT indexname FROM pg_indexes WHERE schemaname = ANY (current_schemas(false)) AND tablename = ?",
		numbered:   true,
		inserted:   "excluded.%s", onConflict: "ON CONFLICT (id) DO UPDATE SET ", ignore: "ON CONFLICT (id) DO NOTHING",
	},
	MySQL: {
		timestamp:  "TIMESTAMP(3)",
		tableEnd:   " DEFAULT CHARSET=utf8mb4",
		tablesHave: "SELECT index_name FROM information_schema.statistics WHERE table_schema = DATABASE() AND lower(table_name) = ?",
		// VALUES() is the one form that both MySQL and MariaDB know.
		inserted: "VALUES(%s)", onConflict: "ON DUPLICATE KEY UPDATE ", ignore: "ON DUPLICATE KEY UPDATE id = id",
		// Its usual collations pass over case, accents and spaces at the end.
		exactly: "CAST(CONVERT(%s USING utf8mb4) AS BINARY) = CAST(CONVERT(%s USING utf8mb4) AS BINARY)",
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
