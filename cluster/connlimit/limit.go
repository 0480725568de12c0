package connlimit

import (
	"net"
	"net/netip"
	"sync"
)

// Limit bounds what goes on at a time, in all and for each client.
type Limit struct {
	all, each int

	mu      sync.Mutex
	total   int
	clients map[netip.Addr]int
	refused uint64
}

// NewLimit returns a limit for so many in all, and so many of each address.
func NewLimit(all, each int) *Limit {
	return &Limit{all: all, each: each, clients: map[netip.Addr]int{}}
}

// Enter says whether one more of a client is within the limit. It is to leave once that is over.
func (l *Limit) Enter(client net.Addr) (leave func(), ok bool) {
	from := Host(client)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.total >= l.all || l.clients[from] >= l.each {
		l.refused++
		return nil, false
	}
	l.total++
	l.clients[from]++
	return sync.OnceFunc(func() { l.leave(from) }), true
}

func (l *Limit) leave(from netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	if l.clients[from]--; l.clients[from] == 0 {
		delete(l.clients, from)
	}
}

// Refused counts those that were beyond the limit.
func (l *Limit) Refused() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refused
}

// Host is the address of a client without its port; the zero address for one that has none.
func Host(client net.Addr) netip.Addr {
	switch a := client.(type) {
	case *net.TCPAddr:
		return a.AddrPort().Addr().Unmap()
	case *net.UDPAddr:
		return a.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}
