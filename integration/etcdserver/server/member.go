package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"os/signal"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/rafthttp"

	"github.com/elasticron/elasticron/integration/etcdserver/internal/wire"
)

// runMember runs a member until SIGTERM. It leaves it to the end of the process to stop the server:
// closing it in order would wait for clients to end their watches.
func runMember(set wire.Member) error {
	go io.Copy(io.Discard, standardInput{}) //nolint:errcheck // its end is that of the process
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	rafthttp.ConnReadTimeout = cmp.Or(set.PeerTimeout, rafthttp.ConnReadTimeout)
	rafthttp.ConnWriteTimeout = cmp.Or(set.PeerTimeout, rafthttp.ConnWriteTimeout)
	server, err := embed.StartEtcd(memberConfig(set))
	if err != nil {
		return err
	}
	select {
	case <-server.Server.ReadyNotify():
		fmt.Println(wire.Ready)
	case err := <-server.Err():
		return err
	case <-ctx.Done():
		return nil
	}
	select {
	case err := <-server.Err():
		return err
	case <-ctx.Done():
		return nil
	}
}

// memberConfig trades the machine's crash for speed, which no test here brings about, and has elections
// after half a second by default: the least for leases of a second, and more than most pauses of a busy processor.
func memberConfig(set wire.Member) *embed.Config {
	cfg := embed.NewConfig()
	client, peer := []url.URL{httpURL(set.Client)}, []url.URL{httpURL(set.Peer)}
	advertised := []url.URL{httpURL(set.Advertised)}
	cfg.Name, cfg.Dir, cfg.InitialCluster = set.Name, set.Dir, set.Cluster
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = client, client
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = peer, advertised
	cfg.TickMs, cfg.ElectionMs, cfg.UnsafeNoFsync = 50, uint(cmp.Or(set.Election, 500*time.Millisecond)/time.Millisecond), true
	cfg.LogLevel, cfg.LogOutputs = "error", []string{"stderr"}
	return cfg
}

func httpURL(address string) url.URL { return url.URL{Scheme: "http", Host: address} }
