package realnode

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"

	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

// Panics returns the number of panics in all nodes' programs, including those that the kubelet recovered from. Each is
// a fault of the kubelet, or of a stand-in for a part of its machine.
func (n *Nodes) Panics() int {
	var all int64
	for _, m := range n.members {
		all += m.panics.Load()
	}
	return int(all)
}

// nodeLog passes a node's log on line by line, and counts the panics in it.
type nodeLog struct {
	to     io.Writer // may be nil
	panics *atomic.Int64

	mu       sync.Mutex
	reported bool // the log has a line for the latest panic
	assumed  bool // crashed counted a panic that the log has not reported yet
}

// Write expects one line for each call.
func (l *nodeLog) Write(line []byte) (int, error) {
	if bytes.HasPrefix(line, []byte(nodeconfig.PanicMark)) {
		l.note()
	}
	if l.to == nil {
		return len(line), nil
	}
	return l.to.Write(line)
}

func (l *nodeLog) note() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reported = true
	if l.assumed { // the report arrived after the process's end
		l.assumed = false
		return
	}
	l.panics.Add(1)
}

// crashed counts the panic that ended the process, unless the log reported it. Go reports a panic of a goroutine
// without Kubernetes' handlers in another form.
func (l *nodeLog) crashed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.reported {
		l.assumed = true
		l.panics.Add(1)
	}
}
