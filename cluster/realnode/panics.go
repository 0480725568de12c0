package realnode

import (
	"bytes"
	"io"
	"sync"
	"sync/atomic"

	"github.com/slipway-dev/slipway/cluster/realnode/nodeconfig"
)

// Panics counts the panics of all nodes' programs, those included after which the kubelet went on. Each is a fault of
// the kubelet, or of what stands in for a part of its machine.
func (n *Nodes) Panics() int {
	var all int64
	for _, m := range n.members {
		all += m.panics.Load()
	}
	return int(all)
}

// nodeLog passes on what the process of a node logs, in lines, and counts the panics in it.
type nodeLog struct {
	to     io.Writer // may be nil
	panics *atomic.Int64

	mu       sync.Mutex
	reported bool // a panic, in the log
	assumed  bool // one that was not reported, because the process has crashed
}

// Write takes a line.
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
	if l.assumed { // the report came after the news of the end
		l.assumed = false
		return
	}
	l.panics.Add(1)
}

// crashed notes that the process ended with a panic, which it has reported unless it was in a goroutine of its own.
func (l *nodeLog) crashed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.reported {
		l.assumed = true
		l.panics.Add(1)
	}
}
