package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// startTries is how often a start is repeated when somebody took a port between our finding it free
// and the server's listening on it.
const startTries = 5

// place is where a server lives: its folder and addresses, which stay the same over restarts.
type place struct {
	name, dir    string
	client, peer url.URL
	cluster      string      // all members, as etcd wants them: name=peer,name=peer
	held         []io.Closer // the ports that nobody asked for
}

// letGo gives the ports back to the system.
func (p place) letGo() (err error) {
	for _, port := range p.held {
		err = errors.Join(err, port.Close())
	}
	return err
}

// startTogether starts n servers as one cluster and returns when all are ready.
func startTogether(ctx context.Context, o *options, n int) ([]*Server, error) {
	base, temporary, err := folder(o.dir)
	if err != nil {
		return nil, err
	}
	if err := misplaced(base); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		servers, err := tryTogether(ctx, o, base, temporary, n)
		if err == nil {
			return servers, nil
		}
		if temporary {
			err = errors.Join(err, os.RemoveAll(base))
		}
		if !errors.Is(err, syscall.EADDRINUSE) || o.given(err) || try == startTries || ctx.Err() != nil {
			return nil, err
		}
	}
}

// misplaced refuses a folder that is the data of an etcd, as that of a backup may be that was restored to it. The members have
// theirs in folders below it, and would start without any.
func misplaced(base string) error {
	found, own := filepath.Join(base, memberData), filepath.Join(base, memberName(0), memberData)
	if is, err := exists(found); err != nil || !is {
		return err
	}
	if is, err := exists(own); err != nil || is {
		return err
	}
	return fmt.Errorf("%w: %s is there, and no %s; move it there, or name another folder", ErrMisplaced, found, own)
}

// memberData is the folder in which an etcd keeps its data, below the one that it is given.
const memberData = "member"

// memberName is the name of a member, and of its folder below that of all.
func memberName(number int) string { return fmt.Sprintf("member%d", number+1) }

func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// given tells whether an address that was asked for is the one that is taken. Another would not do.
func (o *options) given(err error) bool {
	var failed *net.OpError
	if !errors.As(err, &failed) || failed.Addr == nil {
		return o.address != ""
	}
	taken := portOf(failed.Addr.String())
	return taken == portOf(o.address) || taken == portOf(o.httpAddress)
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

func tryTogether(ctx context.Context, o *options, base string, temporary bool, n int) (_ []*Server, err error) {
	places, err := findPlaces(o, base, n)
	if err != nil {
		return nil, err
	}
	var remove []func() error
	defer func() {
		if err == nil {
			return
		}
		for _, at := range places {
			err = errors.Join(err, at.letGo())
		}
		for _, do := range remove { // the next try has other peers, and would not find those of this one
			err = errors.Join(err, do())
		}
	}()
	if err := os.MkdirAll(base, 0o700); err != nil {
		return nil, err
	}
	servers := make([]*Server, n)
	for i, at := range places {
		servers[i] = &Server{opts: o, place: at, temporary: temporary}
	}
	for _, s := range servers {
		_, absent := os.Stat(s.place.dir)
		s.running, err = launch(ctx, o, s.place)
		// Of two that start in one place, the one that came too late takes nothing away from the other.
		if errors.Is(absent, os.ErrNotExist) && !errors.Is(err, ErrInUse) {
			remove = append(remove, func() error { return os.RemoveAll(s.place.dir) })
		}
		if err != nil {
			return nil, abandon(servers, err)
		}
	}
	for _, s := range servers {
		if err := s.running.ready(ctx); err != nil {
			return nil, abandon(servers, err)
		}
	}
	return servers, nil
}

func abandon(servers []*Server, cause error) error {
	for _, s := range servers {
		s.Kill()
	}
	return cause
}

// findPlaces gives each of n members a folder below base and free ports, which it holds.
func findPlaces(o *options, base string, n int) (places []place, err error) {
	scheme := "http"
	if !o.tls.Empty() {
		scheme = "https"
	}
	places = make([]place, n)
	defer func() {
		if err == nil {
			return
		}
		for _, at := range places {
			err = errors.Join(err, at.letGo())
		}
	}()
	members := make([]string, n)
	chosen := map[string]bool{portOf(o.address): true, portOf(o.httpAddress): true}
	for i := range places {
		at := &places[i]
		client, err := o.address, error(nil)
		if client == "" {
			client, err = at.hold(o.another(chosen))
		}
		peer, err2 := at.hold(o.another(chosen))
		if err := errors.Join(err, err2); err != nil {
			return places, err
		}
		at.name = memberName(i)
		at.dir = filepath.Join(base, at.name)
		at.client, at.peer = url.URL{Scheme: scheme, Host: client}, url.URL{Scheme: "http", Host: peer}
		members[i] = at.name + "=" + at.peer.String()
	}
	for i := range places {
		places[i].cluster = strings.Join(members, ",")
	}
	return places, nil
}

// hold holds the port of an address that was found free.
func (p *place) hold(address string, err error) (string, error) {
	if err != nil {
		return "", err
	}
	port, err := holdPort(address)
	if err != nil {
		return "", err
	}
	p.held = append(p.held, port)
	return address, nil
}

// another returns a free address whose port is not among those chosen, and adds its port to them. The system may offer
// one port several times: nobody listens yet on those that were chosen before.
func (o *options) another(chosen map[string]bool) (string, error) {
	for {
		address, err := o.free()
		if err != nil {
			return "", err
		}
		if port := portOf(address); !chosen[port] {
			chosen[port] = true
			return address, nil
		}
	}
}

// freeAddress returns an address of the loopback that nobody listens on just now.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().String(), l.Close()
}

func folder(dir string) (base string, temporary bool, err error) {
	if dir != "" {
		return dir, false, os.MkdirAll(dir, 0o700)
	}
	base, err = os.MkdirTemp("", "elasticron-etcd-")
	return base, true, err
}

// removeTemporary removes a member's folder, and with the last member's the one around them.
func removeTemporary(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return removeEmpty(filepath.Dir(dir))
}

// removeEmpty removes a folder, unless somebody has put something into it.
func removeEmpty(dir string) error {
	err := os.Remove(dir)
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
