package api

import (
	"net/http"
	"sync"
	"weak"

	"github.com/elasticron/elasticron/operate"
)

// Servers and instances are about all jobs at once, and as long as nothing has changed they are the same for all who
// may see them.

func listServers(c *call) error {
	return c.rowsOfAll("servers", &c.ns.servers, func(ns *operate.Namespace) any { return ns.Servers() })
}

func listInstances(c *call) error {
	return c.rowsOfAll("instances", &c.ns.instances, func(ns *operate.Namespace) any { return ns.Instances() })
}

// rowsOfAll answers with rows, and of which state they are.
func (c *call) rowsOfAll(name string, kept *keptRows, of func(*operate.Namespace) any) error {
	p := c.picture()
	rows, err := kept.text(p.Namespace, of)
	if err != nil {
		return err
	}
	state, err := encoded(shown(p))
	if err != nil {
		return err
	}
	text := make([]byte, 0, len(rows)+len(state)+len(name)+8)
	text = append(text, `{"`+name+`":`...)
	text = append(append(text, rows...), ',')
	return c.send(http.StatusOK, append(text, state[1:]...))
}

// keptRows are rows as JSON, of the namespace that was shown last.
type keptRows struct {
	mu   sync.Mutex
	of   weak.Pointer[operate.Namespace] // what nobody shows any more is not kept for this
	rows []byte
}

// text returns the rows of a namespace. Who asks while somebody works them out gets the same ones.
func (k *keptRows) text(ns *operate.Namespace, work func(*operate.Namespace) any) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	of := weak.Make(ns)
	if k.rows != nil && k.of == of {
		return k.rows, nil
	}
	rows, err := encoded(work(ns))
	if err != nil {
		return nil, err
	}
	k.of, k.rows = of, rows
	return rows, nil
}
