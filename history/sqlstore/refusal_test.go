package sqlstore

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

// coded is an error as the driver of SQLite has it.
type coded int

func (c coded) Error() string { return "no words" }
func (c coded) Code() int     { return int(c) }

// What may pass is not taken for a fault of the row, or the row would be lost.
func TestWhatAnErrorIsAbout(t *testing.T) {
	t.Parallel()
	pg := func(state string) error { return &pgconn.PgError{Code: state} }
	my := func(number uint16, state string) error {
		e := &mysql.MySQLError{Number: number, Message: "x"}
		copy(e.SQLState[:], state)
		return e
	}
	for _, test := range []struct {
		dialect       Dialect
		err           error
		row, conflict bool
	}{
		{PostgreSQL, pg("22001"), true, false}, // too long
		{PostgreSQL, pg("23514"), true, false}, // a check
		{PostgreSQL, pg("P0001"), true, false}, // a trigger
		{PostgreSQL, pg("40P01"), false, true}, // a deadlock
		{PostgreSQL, pg("55P03"), false, false},
		{PostgreSQL, pg("57014"), false, false},
		{PostgreSQL, pg("42P01"), false, false},
		{PostgreSQL, pg("53100"), false, false},
		{PostgreSQL, errors.New("constraint failed"), false, false},
		{MySQL, my(1406, "22001"), true, false},
		{MySQL, my(1366, "HY000"), true, false},
		{MySQL, my(3819, "HY000"), true, false},
		{MySQL, my(1118, "42000"), true, false},
		{MySQL, my(1748, "HY000"), true, false},
		{MySQL, my(3988, "HY000"), true, false},
		{MySQL, my(4025, "23000"), true, false},
		{MySQL, my(1213, "40001"), false, true},
		{MySQL, my(1205, "HY000"), false, false}, // a lock
		{MySQL, my(1114, "HY000"), false, false}, // full
		{SQLite, coded(275), true, false},        // a check
		{SQLite, coded(5), false, true},          // busy
		{SQLite, coded(13), false, false},        // full
		{SQLite, errors.New("CHECK constraint failed: x"), true, false},
		{SQLite, errors.New("database is locked"), false, false},
		{SQLite, nil, false, false},
	} {
		for _, err := range []error{test.err, fmt.Errorf("write: %w", test.err)} {
			if test.err == nil {
				err = nil
			}
			require.Equal(t, test.row, dialects[test.dialect].isOfRow(err), "%v", err)
			require.Equal(t, test.conflict, isConflict(err), "%v", err)
		}
	}
}
