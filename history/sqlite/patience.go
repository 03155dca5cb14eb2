package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"
)

// SQLite knows no context while it waits for a file that another process writes to. So it waits for a moment only, and is
// asked again.
const (
	ownPatience = 100 * time.Millisecond // SQLite's own, which what cannot be asked again has, too, such as the end of a transaction
	patience    = 10 * time.Second
	pause       = 5 * time.Millisecond // where SQLite does not wait by itself
)

// patient makes connections that wait for a busy file until patience or a context is over.
type patient struct{ driver.Connector }

// Connect implements [driver.Connector].
func (p patient) Connect(ctx context.Context) (driver.Conn, error) {
	made, err := whenFree(ctx, func() (driver.Conn, error) { return p.Connector.Connect(ctx) })
	if err != nil {
		return nil, err
	}
	full, ok := made.(connection)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the driver's connections are %T, which knows no contexts", made), made.Close())
	}
	return patientConn{full}, nil
}

// connection is what package sql asks of a connection of SQLite's.
type connection interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.Pinger
	driver.QueryerContext
	driver.SessionResetter
	driver.Validator
}

type patientConn struct{ connection }

// BeginTx implements [driver.ConnBeginTx].
func (c patientConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	return whenFree(ctx, func() (driver.Tx, error) { return c.connection.BeginTx(ctx, opts) })
}

// ExecContext implements [driver.ExecerContext].
func (c patientConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	return whenFree(ctx, func() (driver.Result, error) { return c.connection.ExecContext(ctx, query, args) })
}

// QueryContext implements [driver.QueryerContext].
func (c patientConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return whenFree(ctx, func() (driver.Rows, error) { return c.connection.QueryContext(ctx, query, args) })
}

// whenFree tries until the file is not busy.
func whenFree[T any](ctx context.Context, try func() (T, error)) (T, error) {
	for began := time.Now(); ; {
		got, err := try()
		if !isBusy(err) || time.Since(began) >= patience {
			return got, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return got, fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// What SQLite calls a file that another one writes to, with what it adds to that in higher bytes; and a transaction that has
// read what is not the newest any more, for which there is nothing to wait.
const (
	busy         = 5
	busySnapshot = busy | 2<<8
)

func isBusy(err error) bool {
	code := codeOf(err)
	return code&0xff == busy && code != busySnapshot
}

// codeOf returns SQLite's code of an error; 0 if it has none.
func codeOf(err error) int {
	var coded interface{ Code() int }
	if !errors.As(err, &coded) {
		return 0
	}
	return coded.Code()
}
