package jobfile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// ahead writes what is said of a job before the job is created, and can take it back.
type ahead struct {
	operate.Store
	at    map[string]registry.Revision // of what was written here, by path
	found map[string]registry.Node     // what stood there before, or did not
}

// Commit notes the revision of what is written.
func (a *ahead) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	revision, err := a.Store.Commit(ctx, txn)
	if err == nil {
		for _, w := range txn.Then {
			a.at[w.Path] = revision
		}
	}
	return revision, err
}

// put writes nodes of a job, as long as it does not exist. They are also written where they stand already: whoever wrote them
// first, and takes them back, sees by the revision that somebody else wants them.
func (a *ahead) put(ctx context.Context, job string, writes []registry.Write) error {
	var steps []guarded.Step
	for _, w := range writes {
		stored, err := a.Get(ctx, w.Path)
		if err != nil && !errors.Is(err, registry.ErrNotFound) {
			return err
		}
		if at := a.at[w.Path]; at == 0 || at != stored.Revision { // else it is what an earlier try wrote
			a.found[w.Path] = stored
		}
		steps = append(steps, guarded.Step{Write: w, Guard: registry.Unchanged(w.Path, stored.Revision)})
	}
	_, err := guarded.NewWriter(a, registry.Absent(jobtree.For(job).Config())).Commit(ctx, nil, steps, nil)
	return err
}

// takeBackIn bounds how long that takes: the caller's own time may be over.
const takeBackIn = 10 * time.Second

// takeBack restores what stood there before, where nobody has written since.
func (a *ahead) takeBack(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), takeBackIn)
	defer cancel()
	for path, at := range a.at {
		back := registry.Delete(path)
		if found := a.found[path]; found.Exists() {
			back = registry.Put(path, found.Value)
		}
		txn := registry.Txn{If: []registry.Condition{registry.Unchanged(path, at)}, Then: []registry.Write{back}}
		if _, err := a.Store.Commit(ctx, txn); err != nil && !errors.Is(err, registry.ErrConflict) {
			return fmt.Errorf("%s is left of what was written before: %w", path, err)
		}
	}
	return nil
}
