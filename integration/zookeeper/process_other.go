//go:build !linux

package zookeeper

import (
	"errors"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

func (p *process) freeze() error { return errors.ErrUnsupported }

func (p *process) thaw() error { return errors.ErrUnsupported }
