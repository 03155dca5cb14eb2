package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"google.golang.org/grpc"
)

// instance is one run of a server, from its start to its stop.
type instance struct {
	etcd *embed.Etcd
	lock io.Closer                   // of the folder
	grpc atomic.Pointer[grpc.Server] // set once clients are served
	opts *options
}

// launch starts a server at its place and does not wait for it to be ready.
func launch(ctx context.Context, o *options, at place) (*instance, error) {
	if err := os.MkdirAll(at.dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := lockFolder(ctx, at.dir)
	if err != nil {
		return nil, err
	}
	in := &instance{lock: lock, opts: o}
	cfg := config(o, at)
	cfg.ServiceRegister = func(s *grpc.Server) { in.grpc.Store(s) }
	etcd, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	in.etcd = etcd
	return in, nil
}

// ready returns when the server serves clients, or why it never will.
func (in *instance) ready(ctx context.Context) error {
	select {
	case <-in.etcd.Server.ReadyNotify():
		return nil
	case <-in.etcd.Server.StopNotify():
		return errors.New("the server stopped before it was ready")
	case err := <-in.etcd.Err():
		return err
	case <-ctx.Done():
		return fmt.Errorf("the server is not ready: %w", context.Cause(ctx))
	}
}

// stop breaks the connections of clients and then stops the server. Left to itself, etcd waits up to
// 7 seconds for clients to end their watches, which they never do.
func (in *instance) stop() error {
	return in.end(in.etcd.Server.Stop, func() {
		in.disconnect()
		in.etcd.Close()
	})
}

// kill stops the server before it can say anything to clients or members. It is also the way to stop a
// server that was never ready: closing that one in order waits for the readiness for ever.
func (in *instance) kill() error {
	return in.end(in.etcd.Server.HardStop, func() {
		in.etcd.Server.HardStop()
		in.disconnect()
		in.etcd.Close()
	})
}

func (in *instance) disconnect() {
	if s := in.grpc.Load(); s != nil {
		s.Stop()
	}
}

// end has whole end everything, which waits for every connection of which the server has read too little to know what is
// spoken there: for ever, if the other side says nothing. Nobody else has these connections, so after closeTime they are
// left to those who opened them: stop ends the server itself, if whole has not come to that, which makes the data safe, and
// the ports are closed. On an error the data may not be safe yet, and the folder stays locked until it is.
func (in *instance) end(stop, whole func()) error {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		whole()
	}()
	select {
	case <-closed:
		return in.lock.Close()
	case <-time.After(in.opts.closeTime):
	}
	go stop()
	select {
	case <-in.etcd.Server.StopNotify():
	case <-time.After(in.opts.stopTime):
		go func() {
			<-in.etcd.Server.StopNotify()
			_ = in.lock.Close()
		}()
		return fmt.Errorf("etcd in %s has not stopped within %s", in.etcd.Config().Dir, in.opts.closeTime+in.opts.stopTime)
	}
	for _, port := range in.etcd.Clients {
		_ = port.Close() // some are closed already
	}
	for _, port := range in.etcd.Peers {
		_ = port.Close()
	}
	return in.lock.Close()
}

func (in *instance) leads() bool {
	return in.etcd.Server.Leader() == in.etcd.Server.MemberID()
}

func config(o *options, at place) *embed.Config {
	cfg := embed.NewConfig()
	cfg.Name, cfg.Dir = at.name, at.dir
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{at.client}, []url.URL{at.client}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{at.peer}, []url.URL{at.peer}
	cfg.InitialCluster = at.cluster
	cfg.TickMs, cfg.ElectionMs, cfg.UnsafeNoFsync = o.tickMs, o.electionMs, o.noFsync
	cfg.BcryptCost = o.bcryptCost
	cfg.QuotaBackendBytes, cfg.MaxTxnOps = o.quota, o.maxTxnOps
	cfg.ClientTLSInfo = o.tls
	cfg.EnableGRPCGateway = false
	cfg.ZapLoggerBuilder = embed.NewZapLoggerBuilder(newZap(o, at.dir))
	if o.logger == nil { // or the server would spell out every slow request for nobody
		cfg.WarningApplyDuration, cfg.WarningUnaryRequestDuration = time.Hour, time.Hour
	}
	if o.retention > 0 {
		cfg.AutoCompactionMode, cfg.AutoCompactionRetention = embed.CompactorModePeriodic, o.retention.String()
	}
	if o.httpAddress != "" {
		cfg.ListenClientHttpUrls = []url.URL{{Scheme: at.client.Scheme, Host: o.httpAddress}}
	}
	return cfg
}
