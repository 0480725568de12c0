package serve

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/slipway-dev/slipway/cluster/apiserver"
	"github.com/slipway-dev/slipway/cluster/engine"
	"github.com/slipway-dev/slipway/cluster/etcd"
	"github.com/slipway-dev/slipway/cluster/protocol"
)

// failure turns an error into the event that tells it, with a hint where there is one.
func failure(err error) protocol.Failed {
	f := protocol.Failed{Component: protocol.Configuration, Error: err.Error(), Hint: hint(err)}
	if e, ok := errors.AsType[*protocol.ComponentError](err); ok {
		f.Component, f.Error = e.Component, e.Err.Error()
	}
	return f
}

func hint(err error) string {
	if _, ok := errors.AsType[*apiserver.FlagError](err); ok {
		return "see the flags of kube-apiserver"
	}
	switch {
	case errors.Is(err, errLocked):
		return "stop the cluster that uses this folder, or choose another folder"
	case errors.Is(err, syscall.EADDRINUSE):
		return "choose another port, or 0 for a free one"
	case errors.Is(err, syscall.ENOSPC):
		return "the disk is full"
	case errors.Is(err, fs.ErrPermission):
		return "the state folder must belong to you and be writable"
	case errors.Is(err, etcd.ErrData):
		return "replace the folder by a copy that was made while the cluster was stopped"
	case errors.Is(err, engine.ErrIsolated):
		return "allow isolated nodes on this system, or give --nodes real on the command line, which also accepts plain nodes"
	case errors.Is(err, protocol.ErrConfig):
		return "see docs/inside/protocol.md for the configuration"
	}
	return ""
}
