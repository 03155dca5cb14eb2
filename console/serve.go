package console

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/elasticron/elasticron/console/access"
)

// Limits of the connections. Answers that take longer, such as streams, have deadlines of their own.
const (
	headerTime = 10 * time.Second
	bodyTime   = time.Minute
	answerTime = 2 * time.Minute
	idleTime   = 2 * time.Minute
	maxHeader  = 64 << 10 // bytes
)

// StopTime is how long a stop waits for requests that are being answered. What is asked for then is cut off.
const StopTime = 10 * time.Second

// Serve answers on a listener until ctx ends, and then stops: streams end at once, requests have [StopTime] to be
// answered. It closes the listener and the server. secure is for HTTPS; nil is HTTP.
//
// Errors: nil after a stop; [ErrInvalidOption] if nobody is asked who they are and the listener is not on loopback;
// [ErrNotFollowed]; and those of the listener.
func (s *Server) Serve(ctx context.Context, listener net.Listener, secure *tls.Config) error {
	defer s.Close()
	if err := access.CheckListen(listener.Addr().String(), s.guard.Authenticated()); err != nil {
		_ = listener.Close() // nobody has used it
		return fmt.Errorf("%w: %w", ErrInvalidOption, err)
	}
	requests, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	server := &http.Server{
		Handler: s.handler, TLSConfig: secure, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		ReadHeaderTimeout: headerTime, ReadTimeout: bodyTime, WriteTimeout: answerTime, IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
		BaseContext: func(net.Listener) context.Context { return requests },
	}
	ended := make(chan error, 1)
	go func() {
		if secure != nil {
			ended <- server.ServeTLS(listener, "", "")
		} else {
			ended <- server.Serve(listener)
		}
	}()
	var why error
	select {
	case <-ctx.Done():
	case err := <-s.failed:
		why = notFollowed(err)
	case err := <-ended:
		return err
	}
	s.log.InfoContext(ctx, "the console stops")
	s.closeHubs() // streams would outlast any wait
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), StopTime)
	defer cancel()
	if err := server.Shutdown(bounded); err != nil {
		cut()
		if closed := server.Close(); !errors.Is(err, context.DeadlineExceeded) {
			why = errors.Join(why, err, closed)
		}
	}
	<-ended //nolint:errcheck // it says that it was shut down
	return why
}
