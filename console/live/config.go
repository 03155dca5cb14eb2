package live

import (
	"fmt"
	"log/slog"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/registry"
)

// ErrInvalidOption is the error of a setting that is not allowed.
var ErrInvalidOption = option.ErrInvalid

// Registry is what a hub needs of a registry: it takes no session and writes nothing.
type Registry interface {
	registry.Reader
	registry.Viewer
}

// Config says what a [Hub] follows.
type Config struct {
	// Registry is the handle on the namespace. Required. The hub does not close it.
	Registry Registry
	// Namespace is the name by which grants and pages know the namespace. Required.
	Namespace string
	// History fills the timelines from the time before the hub; nil: they begin with it.
	History history.Reader
	// Limits bounds the streams of all hubs that share it; nil: of this hub alone.
	Limits *Limits
	// Logger is told of outages; nil: nobody is.
	Logger *slog.Logger
}

func (c Config) complete() (Config, error) {
	switch {
	case c.Registry == nil:
		return c, fmt.Errorf("%w: Registry is nil, and must be the handle on a namespace", ErrInvalidOption)
	case c.Namespace == "":
		return c, fmt.Errorf("%w: Namespace is empty, and must be the name of the namespace", ErrInvalidOption)
	}
	if c.Limits == nil {
		c.Limits = NewLimits()
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
