package membership

import (
	"fmt"
	"sync"

	"github.com/elasticron/elasticron/registry"
)

// taken has the instance ids of this process's schedulers, by session. The tree keeps processes with one id apart, as each
// has a session of its own. To schedulers over one handle of the registry it cannot: what one writes is the other's, too,
// and both would run every fire.
var taken sync.Map // of identity

type identity struct {
	session  *registry.Session
	instance string
}

// Take takes an instance id under a session for one scheduler until give is called. The error is [ErrDuplicate] if
// another one of this process has it.
func Take(session *registry.Session, instance string) (give func(), err error) {
	it := identity{session, instance}
	if _, other := taken.LoadOrStore(it, struct{}{}); other {
		return nil, fmt.Errorf("%w: %q: another scheduler of this process has it, over the same handle of the registry", ErrDuplicate, instance)
	}
	return func() { taken.Delete(it) }, nil
}
