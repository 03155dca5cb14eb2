package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/history"
)

// outputs are the table of outputs, which only this store has, and its index. Times are milliseconds since 1970. The
// text comes last, so that lists do not read it.
var outputs = []string{
	`CREATE TABLE IF NOT EXISTS ELASTICRON_OUTPUT_LOG (
	id VARCHAR(40) NOT NULL PRIMARY KEY, job_name TEXT NOT NULL, sharding_item INT NOT NULL, fencing_token INT NOT NULL,
	start_time INT NOT NULL, bytes INT NOT NULL, output TEXT NOT NULL)`,
	"CREATE INDEX IF NOT EXISTS ELASTICRON_OUTPUT_JOB_INDEX ON ELASTICRON_OUTPUT_LOG (job_name, sharding_item, start_time)",
}

var (
	_ history.OutputReader = (*Store)(nil)
	_ history.OutputFinder = (*Store)(nil)
)

// noSuchTable is SQLite's code for that, among other faults of a statement.
const noSuchTable = 1

// prepareOutputs makes the table if there is none.
func (s *Store) prepareOutputs(ctx context.Context) error {
	for _, statement := range outputs {
		if _, err := s.db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("prepare the table of outputs: %w", err)
		}
	}
	return nil
}

// KeepOutput keeps the output of an execution, in place of what was kept of it before. Of the outputs of its item, it
// keeps those only that came last, as many as most says: by their times, an output would go at once where a clock was set
// back. A text of more than [history.MaxOutput] bytes is an error.
func (s *Store) KeepOutput(ctx context.Context, o history.Output, most int) error {
	if len(o.Text) > history.MaxOutput {
		return fmt.Errorf("keep output: it has %d bytes, want at most %d", len(o.Text), history.MaxOutput)
	}
	if most < 1 {
		return fmt.Errorf("keep output: the newest %d of an item are to be kept, want 1 or more", most)
	}
	if err := s.there(); err != nil {
		return err
	}
	err := s.keepOutput(ctx, o, most)
	if codeOf(err) == noSuchTable && s.prepareOutputs(ctx) == nil { // somebody may have dropped the table
		err = s.keepOutput(ctx, o, most)
	}
	if err != nil {
		return fmt.Errorf("keep output: %w", err)
	}
	return nil
}

func (s *Store) keepOutput(ctx context.Context, o history.Output, most int) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it is committed by then, or another error counts
	_, err = tx.ExecContext(ctx, `INSERT OR REPLACE INTO ELASTICRON_OUTPUT_LOG (id, job_name, sharding_item, fencing_token, start_time, bytes, output)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, o.ID, o.Job, o.Item, o.Token, o.Start.UnixMilli(), o.Bytes, o.Text)
	if err == nil {
		_, err = tx.ExecContext(ctx, `DELETE FROM ELASTICRON_OUTPUT_LOG WHERE job_name = ? AND sharding_item = ? AND id NOT IN (
			SELECT id FROM ELASTICRON_OUTPUT_LOG WHERE job_name = ? AND sharding_item = ? ORDER BY rowid DESC LIMIT ?)`, // what is put in place gets a new one
			o.Job, o.Item, o.Job, o.Item, most)
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

// Outputs implements [history.OutputReader]. The newest are those that came last, as in [Store.KeepOutput]: by their times, those of
// a clock that was ahead would be it until the right time has got there.
func (s *Store) Outputs(ctx context.Context, q history.OutputQuery) ([]history.Output, error) {
	switch {
	case q.Job == "":
		return nil, fmt.Errorf("%w: outputs of no job", history.ErrInvalidQuery)
	case q.Limit < 0 || q.Limit > history.MaxOutputs:
		return nil, fmt.Errorf("%w: %d outputs are not 1 to %d", history.ErrInvalidQuery, q.Limit, history.MaxOutputs)
	}
	if err := s.there(); err != nil {
		return nil, err
	}
	statement := "SELECT id, job_name, sharding_item, fencing_token, start_time, bytes FROM ELASTICRON_OUTPUT_LOG WHERE job_name = ?"
	args := []any{q.Job}
	if q.Item != nil {
		statement, args = statement+" AND sharding_item = ?", append(args, *q.Item)
	}
	if q.Token != 0 {
		statement, args = statement+" AND fencing_token = ?", append(args, q.Token)
	}
	rows, err := s.db.QueryContext(ctx, statement+" ORDER BY rowid DESC LIMIT ?", append(args, max(q.Limit, 1))...)
	if err != nil {
		return nil, fmt.Errorf("list outputs: %w", err)
	}
	defer rows.Close() //nolint:errcheck // read to the end, or another error counts
	var found []history.Output
	for rows.Next() {
		var o history.Output
		var start int64
		if err := rows.Scan(&o.ID, &o.Job, &o.Item, &o.Token, &start, &o.Bytes); err != nil {
			return nil, fmt.Errorf("list outputs: %w", err)
		}
		o.Start = time.UnixMilli(start).UTC()
		found = append(found, o)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list outputs: %w", err)
	}
	return found, nil
}

// Output implements [history.OutputReader].
func (s *Store) Output(ctx context.Context, job, id string) (history.Output, error) {
	if err := s.there(); err != nil {
		return history.Output{}, err
	}
	o, start := history.Output{ID: id, Job: job}, int64(0)
	err := s.db.QueryRowContext(ctx,
		"SELECT sharding_item, fencing_token, start_time, bytes, output FROM ELASTICRON_OUTPUT_LOG WHERE id = ? AND job_name = ?", id, job).
		Scan(&o.Item, &o.Token, &start, &o.Bytes, &o.Text)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return history.Output{}, history.ErrNoOutput
	case err != nil:
		return history.Output{}, fmt.Errorf("read output: %w", err)
	}
	o.Start = time.UnixMilli(start).UTC()
	return o, nil
}

// idsAtOnce is how many ids one query names: older versions of SQLite take no more than 999 parameters.
const idsAtOnce = 500

// OutputsOf implements [history.OutputFinder].
func (s *Store) OutputsOf(ctx context.Context, ids []string) (map[string]int64, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	found := make(map[string]int64)
	for some := range slices.Chunk(ids, idsAtOnce) {
		if err := s.outputsOf(ctx, some, found); err != nil {
			return nil, fmt.Errorf("find outputs: %w", err)
		}
	}
	return found, nil
}

func (s *Store) outputsOf(ctx context.Context, ids []string, found map[string]int64) error {
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	rows, err := s.db.QueryContext(ctx,
		"SELECT id, bytes FROM ELASTICRON_OUTPUT_LOG WHERE id IN (?"+strings.Repeat(", ?", len(ids)-1)+")", args...)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // read to the end, or another error counts
	for rows.Next() {
		var id string
		var bytes int64
		if err := rows.Scan(&id, &bytes); err != nil {
			return err
		}
		found[id] = bytes
	}
	return rows.Err()
}

// OutputOverhead is what [Store.DeleteOutputsBeyond] counts of an output besides its text, in bytes.
const OutputOverhead = 256

// DeleteOutputsBeyond deletes the outputs that were kept first until all have at most size bytes together, and returns how
// many. Each counts with its text and [OutputOverhead]. The file does not shrink: it uses again what was freed.
func (s *Store) DeleteOutputsBeyond(ctx context.Context, size int64) (int64, error) {
	result, err := s.db.ExecContext(ctx, `DELETE FROM ELASTICRON_OUTPUT_LOG WHERE id IN (SELECT id FROM (
		SELECT id, SUM(octet_length(output) + ?) OVER (ORDER BY rowid DESC) AS so_far FROM ELASTICRON_OUTPUT_LOG) WHERE so_far > ?)`,
		OutputOverhead, size)
	if err != nil {
		return 0, fmt.Errorf("delete outputs: %w", err)
	}
	return result.RowsAffected()
}

// DeleteOutputsBefore deletes the outputs of executions that started before a time, and returns how many.
func (s *Store) DeleteOutputsBefore(ctx context.Context, before time.Time) (int64, error) {
	result, err := s.db.ExecContext(ctx, "DELETE FROM ELASTICRON_OUTPUT_LOG WHERE start_time < ?", before.UnixMilli())
	if err != nil {
		return 0, fmt.Errorf("delete outputs: %w", err)
	}
	return result.RowsAffected()
}
