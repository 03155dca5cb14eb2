package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Output is what an execution wrote, or what is kept of it.
type Output struct {
	ID    string    // of the [history.Execution]
	Job   string    // and what else is known of that
	Item  int       //
	Start time.Time //
	Text  string
}

// outputs is the table of outputs, which only this store has. Its times are milliseconds since 1970.
const outputs = `CREATE TABLE IF NOT EXISTS ELASTICRON_OUTPUT_LOG (
	id VARCHAR(40) NOT NULL PRIMARY KEY, job_name TEXT NOT NULL, sharding_item INT NOT NULL, start_time INT NOT NULL, output TEXT NOT NULL)`

// ErrNoOutput is the error of [Store.Output] if no output of the execution is kept.
var ErrNoOutput = errors.New("no output is kept")

// KeepOutput keeps the output of an execution, in place of what was kept of it before.
func (s *Store) KeepOutput(ctx context.Context, o Output) error {
	if _, err := s.db.ExecContext(ctx, outputs); err != nil {
		return fmt.Errorf("keep output: %w", err)
	}
	_, err := s.db.ExecContext(ctx, "INSERT OR REPLACE INTO ELASTICRON_OUTPUT_LOG (id, job_name, sharding_item, start_time, output) VALUES (?, ?, ?, ?, ?)",
		o.ID, o.Job, o.Item, o.Start.UnixMilli(), o.Text)
	if err != nil {
		return fmt.Errorf("keep output: %w", err)
	}
	return nil
}

// Output returns what is kept of the output of an execution, or [ErrNoOutput].
func (s *Store) Output(ctx context.Context, id string) (Output, error) {
	o, start := Output{ID: id}, int64(0)
	if _, err := s.db.ExecContext(ctx, outputs); err != nil {
		return Output{}, fmt.Errorf("read output: %w", err)
	}
	err := s.db.QueryRowContext(ctx, "SELECT job_name, sharding_item, start_time, output FROM ELASTICRON_OUTPUT_LOG WHERE id = ?", id).Scan(&o.Job, &o.Item, &start, &o.Text)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Output{}, ErrNoOutput
	case err != nil:
		return Output{}, fmt.Errorf("read output: %w", err)
	}
	o.Start = time.UnixMilli(start).UTC()
	return o, nil
}

// DeleteOutputsBefore deletes the outputs of executions that started before a time, and returns how many.
func (s *Store) DeleteOutputsBefore(ctx context.Context, before time.Time) (int64, error) {
	if _, err := s.db.ExecContext(ctx, outputs); err != nil {
		return 0, fmt.Errorf("delete outputs: %w", err)
	}
	result, err := s.db.ExecContext(ctx, "DELETE FROM ELASTICRON_OUTPUT_LOG WHERE start_time < ?", before.UnixMilli())
	if err != nil {
		return 0, fmt.Errorf("delete outputs: %w", err)
	}
	return result.RowsAffected()
}
