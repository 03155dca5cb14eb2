package embedded

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// holdPort keeps a port of the loopback from being given to anybody else who asks the system for a free one, also while
// nobody listens on it: a server that is down for a moment is to find it again, and its clients are not to meet another
// server there. A socket that is bound to it and does not listen has that effect, refuses connections, and lets whoever
// knows the port listen. The error is [syscall.EADDRINUSE] if somebody listens there.
func holdPort(address string) (io.Closer, error) {
	at, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return nil, err
	}
	failed := func(call string, err error) error {
		return &net.OpError{Op: "hold", Net: "tcp", Addr: at, Err: os.NewSyscallError(call, err)}
	}
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, failed("socket", err)
	}
	err = syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	if err == nil {
		err = syscall.Bind(socket, &syscall.SockaddrInet4{Port: at.Port, Addr: [4]byte(at.IP.To4())})
	}
	if err != nil {
		return nil, errors.Join(failed("bind", err), syscall.Close(socket))
	}
	return os.NewFile(uintptr(socket), "port "+address), nil
}
