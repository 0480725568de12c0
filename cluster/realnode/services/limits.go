package services

import (
	"log/slog"
	"net"
	"sync"

	"github.com/slipway-dev/slipway/cluster/connlimit"
)

const (
	// mostConns and mostFlows are as many as there are at a time, of TCP and of UDP, on a machine with open files
	// enough.
	mostConns, mostFlows = 8192, 2048
	// fewest are possible on any.
	fewest = 64
	// ofOne is the part of all that one pod can have: one that wants more leaves the others some.
	ofOne = 4
	// A connection takes six open files while it is busy, a flow one; a quarter of all may go to each kind. The API
	// server and etcd, which are in this process, need the others.
	filesOfConn, filesOfFlow = 24, 4
	// filesOfListener leaves a sixteenth of all to the ports of Services: one Service may have thousands.
	filesOfListener = 16
)

// shares are how many connections of TCP, flows of UDP and listeners the process's open files are enough for.
func shares() (conns, flows, listeners int) {
	files := uint64(mostConns * filesOfConn)
	if limit, known := connlimit.OpenFiles(); known {
		files = min(files, limit)
	}
	return min(max(fewest, int(files)/filesOfConn), mostConns), min(max(fewest, int(files)/filesOfFlow), mostFlows), max(fewest, int(files)/filesOfListener)
}

// reported is what was reported already: it is of interest once.
type reported struct{ conns, flows, trouble, full sync.Once }

// crowd tells that one client wants more than its share, or all want more than there is.
func (t *reported) crowd(log *slog.Logger, what string, client net.Addr) {
	once := &t.conns
	if what == "flows" {
		once = &t.flows
	}
	once.Do(func() {
		log.Warn("more "+what+" to Services than this cluster forwards at a time: the oldest UDP flows end, new connections are reset; this is reported once", "client", client)
	})
}

// trouble tells that nothing can be taken for a moment.
func (p *Proxy) trouble(err error) {
	p.reported.trouble.Do(func() {
		p.options.Log.Warn("connections to Services must wait; this is reported once", "error", err)
	})
}
