package console

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/operate"
)

// ErrInvalidOption is the error of a setting that is not allowed.
var ErrInvalidOption = option.ErrInvalid

// Namespace is one that the console shows.
type Namespace struct {
	// Name is the one by which grants, pages and addresses know it.
	Name string
	// Registry is a handle on it. The server does not close it.
	Registry operate.Store
	// History is where executions are kept; nil: what the registry keeps is shown, and what the server saw.
	History history.Reader
}

// Config says what a server shows, and to whom.
type Config struct {
	Namespaces []Namespace // one or more
	// Access says who is let in. Its Prefix is that of the server; its Public and LoginPage are the server's affair.
	Access access.Config
	// Logger hears of operations, logins and faults; nil: nobody does.
	Logger *slog.Logger
}

func (c Config) check() error {
	var faults []error
	if len(c.Namespaces) == 0 {
		faults = append(faults, fmt.Errorf("%w: Namespaces is empty, want one or more", ErrInvalidOption))
	}
	seen := make(map[string]bool)
	for _, n := range c.Namespaces {
		switch {
		case n.Name == "" || strings.Contains(n.Name, "/"):
			faults = append(faults, fmt.Errorf("%w: the name of a namespace is %q, want one without a slash", ErrInvalidOption, n.Name))
		case seen[n.Name]:
			faults = append(faults, fmt.Errorf("%w: namespace %q is given twice", ErrInvalidOption, n.Name))
		case n.Registry == nil:
			faults = append(faults, fmt.Errorf("%w: the registry of namespace %q is nil", ErrInvalidOption, n.Name))
		}
		seen[n.Name] = true
	}
	if c.Access.Public != nil || c.Access.LoginPage != nil {
		faults = append(faults, fmt.Errorf("%w: Access.Public and Access.LoginPage are set, and are the server's own", ErrInvalidOption))
	}
	return errors.Join(faults...)
}
