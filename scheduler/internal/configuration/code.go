package configuration

import (
	"errors"
	"log/slog"
	"maps"
	"sync/atomic"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/scheduler/internal/asking"
)

// errNoCode: code that depends on the configuration has made nothing of it, and no error.
var errNoCode = errors.New("the job's code cannot be used: Configure returned nil")

// codeOf returns what runs the items of a job of this configuration.
func codeOf(handler job.Handler, cfg job.Config) (code job.HandlerFunc, err error) {
	err = protect.Call(func() error {
		code, err = handler.Configure(cfg)
		return err
	})
	if err == nil && code == nil {
		err = errNoCode
	}
	return code, err
}

// made is what the code of an application makes of a job's configuration.
type made struct {
	code         job.HandlerFunc
	fault        error // why there is no code
	errorHandler job.ErrorHandler
	instead      error // why failures are logged instead of told to the handler that is wanted

	returned bool // false: the code has not, in time, and may still
}

// makeCode makes the code of a configuration, which is stored at path, and passes it to then in a message. Code that does not
// return in time is an error, until it returns after all; so is code that configurations keep overtaking, as the job begins
// nothing meanwhile.
func (c *Configuration) makeCode(path string, cfg job.Config, then func(made)) {
	cfg.Props = maps.Collect(maps.All(cfg.Props)) // the state's stays as it is, whatever the application does with its own
	var what atomic.Pointer[string]
	at := func(name string) { what.Store(&name) }
	at("Configure or the constructor of the error handler")
	late := func(anew bool) { then(made{fault: asking.NotReturned(*what.Load(), anew)}) }
	var got made
	c.maker.Ask(func() error {
		at("Configure")
		got.code, got.fault = codeOf(c.ports.Handler(), cfg)
		at("the constructor of the error handler")
		got.errorHandler, got.instead = c.errorHandlerOf(cfg)
		got.fault, got.instead = storedError(path, got.fault), storedError(path, got.instead)
		return nil
	}, late, func(newest bool, _ error) {
		if newest {
			got.returned = true
			then(got)
		}
	})
}

// storedError says what [jobtree.StoredError] does of an error of the code, whose methods it calls.
func storedError(path string, err error) error {
	return protect.Call(func() error { return jobtree.StoredError(path, err) })
}

// errorHandlerOf makes the error handler of a configuration. The registry may name one that this process
// does not have, such as a Java class, or one whose settings are wrong; then failures are logged.
func (c *Configuration) errorHandlerOf(cfg job.Config) (handler job.ErrorHandler, instead error) {
	handler, instead = newErrorHandler(c.ports.ErrorHandlers(), cfg, c.ports.Log())
	if instead == nil {
		return handler, nil
	}
	handler, err := newErrorHandler(errorhandler.Default(), job.Config{Name: cfg.Name}, c.ports.Log())
	if err != nil {
		panic("scheduler: no handler LOG: " + err.Error())
	}
	return handler, instead
}

// errNoHandler: the factory of an error handler has made nothing, and no error.
var errNoHandler = errors.New("the error handler cannot be used: its factory returned nil")

// newErrorHandler makes the error handler of a configuration.
func newErrorHandler(handlers *errorhandler.Registry, cfg job.Config, log *slog.Logger) (handler job.ErrorHandler, err error) {
	err = protect.Call(func() error {
		handler, err = handlers.New(cfg, log)
		return err
	})
	if f, is := handler.(job.ErrorHandlerFunc); err == nil && (handler == nil || is && f == nil) {
		err = errNoHandler
	}
	return handler, err
}
