//go:build linux

package process_test

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os/signal"
	"syscall"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/rafthttp"
)

// memberSettings are what a process that is a member of the etcd cluster is told.
type memberSettings struct {
	Name, Dir    string
	Client, Peer string // addresses
	Advertised   string // of Peer, as the other members know it
	Cluster      string // all members, as etcd wants them: name=peer,name=peer
	// PeerTimeout is for how long it keeps the connection of another member that says nothing; 0 is etcd's
	// own 5 s. With the connection it would lose what is held up there.
	PeerTimeout time.Duration
}

// runMember is the main function of a member, until SIGTERM. It leaves it to the end of the process to
// stop the server: closing it in order would wait for clients to end their watches.
func runMember(set memberSettings) error {
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
		fmt.Println(saysReady)
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
// after half a second: the least for leases of a second, and more than a busy processor's pauses.
func memberConfig(set memberSettings) *embed.Config {
	cfg := embed.NewConfig()
	client, peer := []url.URL{httpURL(set.Client)}, []url.URL{httpURL(set.Peer)}
	advertised := []url.URL{httpURL(set.Advertised)}
	cfg.Name, cfg.Dir, cfg.InitialCluster = set.Name, set.Dir, set.Cluster
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = client, client
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = peer, advertised
	cfg.TickMs, cfg.ElectionMs, cfg.UnsafeNoFsync = 50, 500, true
	cfg.LogLevel, cfg.LogOutputs = "error", []string{"stderr"}
	return cfg
}

func httpURL(address string) url.URL { return url.URL{Scheme: "http", Host: address} }
