package services

import (
	"container/list"
	"net"
	"net/netip"
	"slices"
	"sync"

	"github.com/slipway-dev/slipway/cluster/connlimit"
)

// flows are the UDP clients of all Services, each with its endpoint. Their number is limited. A new flow over the limit
// ends the least recently used one, of the same client if that client has used up its share.
type flows struct {
	all, each int
	buffers   sync.Pool // of packets that are being forwarded

	mu      sync.Mutex
	names   map[flowName]*flow
	order   *list.List // least recently used first
	clients map[netip.Addr]*list.List
}

// flowName identifies a client of a listener.
type flowName struct {
	at     net.PacketConn
	client string
}

// flow is a client's UDP connection to an endpoint.
type flow struct {
	name     flowName
	client   net.Addr
	to       net.Conn
	target   target
	endpoint netip.AddrPort // the endpoint of target that to is connected to

	inAll, inClient *list.Element // nil after the flow's end
}

func newFlows(all, each int) *flows {
	f := &flows{all: all, each: each, names: map[flowName]*flow{}, order: list.New(), clients: map[netip.Addr]*list.List{}}
	f.buffers.New = func() any { return new([maxPacket]byte) }
	return f
}

// find returns a flow and marks it as used, or returns nil.
func (f *flows) find(name flowName) *flow {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := f.names[name]
	if found != nil {
		f.touch(found)
	}
	return found
}

// use marks a flow as used.
func (f *flows) use(one *flow) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.touch(one)
}

// touch requires f.mu.
func (f *flows) touch(one *flow) {
	if one.inAll != nil {
		f.order.MoveToBack(one.inAll)
		f.clients[connlimit.Host(one.client)].MoveToBack(one.inClient)
	}
}

// add adds a flow, and reports whether it ended another one.
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

func (f *flows) remove(one *flow) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drop(one)
}

// drop requires f.mu.
func (f *flows) drop(one *flow) {
	if one.inAll == nil {
		return
	}
	_ = one.to.Close() // ends the goroutine that reads from it
	from := connlimit.Host(one.client)
	f.order.Remove(one.inAll)
	f.clients[from].Remove(one.inClient)
	if f.clients[from].Len() == 0 {
		delete(f.clients, from)
	}
	delete(f.names, one.name)
	one.inAll, one.inClient = nil, nil
}

// endStale ends flows to endpoints that their target no longer has. The client's next packet starts a flow to another.
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

// end ends all flows of a listener.
func (f *flows) end(at net.PacketConn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, one := range f.names {
		if name.at == at {
			f.drop(one)
		}
	}
}
