package services

import (
	"log/slog"
	"net"
	"sync"

	"github.com/slipway-dev/slipway/cluster/connlimit"
)

const (
	// mostConns and mostFlows bound TCP connections and UDP flows, given enough open files.
	mostConns, mostFlows = 8192, 2048
	// fewest is the minimum for each of the limits.
	fewest = 64
	// ofOne: one pod can have a quarter of the connections or flows.
	podShare = 4
	// A busy connection takes six open files, a flow one. Each kind may take a quarter of the process's open files: the
	// API server and etcd share the process.
	filesOfConn, filesOfFlow = 24, 4
	// Listeners may take a sixteenth of the open files: one Service can have thousands of ports.
	filesOfListener = 16
)

// shares returns the limits of connections, flows and listeners, from the process's limit of open files.
func shares() (conns, flows, listeners int) {
	files := uint64(mostConns * filesOfConn)
	if limit, known := connlimit.OpenFiles(); known {
		files = min(files, limit)
	}
	return min(max(fewest, int(files)/filesOfConn), mostConns), min(max(fewest, int(files)/filesOfFlow), mostFlows), max(fewest, int(files)/filesOfListener)
}

// reported logs each kind of problem only once.
type reported struct{ conns, flows, trouble, full sync.Once }

// reportLimit logs that a client exceeds its share, or that all clients together exceed a limit.
func (t *reported) reportLimit(log *slog.Logger, what string, client net.Addr) {
	once := &t.conns
	if what == "flows" {
		once = &t.flows
	}
	once.Do(func() {
		log.Warn("more "+what+" to Services than this cluster forwards at a time: the oldest UDP flows end, new connections are reset; this is reported once", "client", client)
	})
}

// trouble logs that a listener cannot accept for a moment.
func (p *Proxy) trouble(err error) {
	p.reported.trouble.Do(func() {
		p.options.Log.Warn("connections to Services must wait; this is reported once", "error", err)
	})
}
