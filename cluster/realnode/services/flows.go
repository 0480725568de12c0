package services

import (
	"container/list"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/slipway-dev/slipway/cluster/connlimit"
)

// flows are the clients of UDP of all Services that have an endpoint. There are only so many: for one too many, the one
// that was used longest ago ends, of the same client if that has its share.
type flows struct {
	all, each int
	buffers   sync.Pool // for packets that are passed on just now

	mu      sync.Mutex
	names   map[flowName]*flow
	order   *list.List // the one that was used last comes last
	clients map[netip.Addr]*list.List
}

// flowName names a client of a listener.
type flowName struct {
	at     net.PacketConn
	client string
}

// flow is a client's connection to an endpoint.
type flow struct {
	name     flowName
	client   net.Addr
	to       net.Conn
	target   target
	endpoint netip.AddrPort // that of target which to leads to

	inAll, inClient *list.Element // nil once it has ended
}

func newFlows(all, each int) *flows {
	f := &flows{all: all, each: each, names: map[flowName]*flow{}, order: list.New(), clients: map[netip.Addr]*list.List{}}
	f.buffers.New = func() any { return new([maxPacket]byte) }
	return f
}

// find finds a flow, which is used; nil for none.
func (f *flows) find(name flowName) *flow {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := f.names[name]
	if found != nil {
		f.touch(found)
	}
	return found
}

// use notes that a flow is used.
func (f *flows) use(one *flow) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.touch(one)
}

// touch needs f.mu.
func (f *flows) touch(one *flow) {
	if one.inAll != nil {
		f.order.MoveToBack(one.inAll)
		f.clients[connlimit.Host(one.client)].MoveToBack(one.inClient)
	}
}

// add adds a flow, and says whether another had to end for it.
func (f *flows) add(one *flow) (crowded bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	from := connlimit.Host(one.client)
	switch ofClient := f.clients[from]; {
	case ofClient != nil && ofClient.Len() >= f.each:
		f.drop(ofClient.Front().Value.(*flow))
		crowded = true
	case f.order.Len() >= f.all:
		f.drop(f.order.Front().Value.(*flow))
		crowded = true
	}
	if f.clients[from] == nil {
		f.clients[from] = list.New()
	}
	f.names[one.name] = one
	one.inAll, one.inClient = f.order.PushBack(one), f.clients[from].PushBack(one)
	return crowded
}

// remove ends a flow.
func (f *flows) remove(one *flow) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(one)
}

// drop needs f.mu.
func (f *flows) drop(one *flow) {
	if one.inAll == nil {
		return
	}
	_ = one.to.Close() // by which its goroutine ends
	from := connlimit.Host(one.client)
	f.order.Remove(one.inAll)
	f.clients[from].Remove(one.inClient)
	if f.clients[from].Len() == 0 {
		delete(f.clients, from)
	}
	delete(f.names, one.name)
	one.inAll, one.inClient = nil, nil
}

// endStale ends the flows to endpoints that are not among those of their target any more: their clients' next packets
// go to another.
func (f *flows) endStale(endpoints func(target) []netip.AddrPort) {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := map[target][]netip.AddrPort{}
	for _, one := range f.names {
		if _, ok := known[one.target]; !ok {
			known[one.target] = endpoints(one.target)
		}
		if !slices.Contains(known[one.target], one.endpoint) {
			f.drop(one)
		}
	}
}

// end ends the flows of a listener.
func (f *flows) end(at net.PacketConn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, one := range f.names {
		if name.at == at {
			f.drop(one)
		}
	}
}
