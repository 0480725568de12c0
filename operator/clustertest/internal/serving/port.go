package serving

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are taken from below those that systems hand out for outgoing connections:
// nobody gets one of these who does not ask for it by its number.
const (
	firstPort = 20000
	lastPort  = 29999
)

// attempts bounds the search for a port.
const attempts = 200

// errNoPort is returned when the search for a port is given up.
var errNoPort = errors.New("no free port on " + Host + " for a webhook server")

// reserve returns a TCP port that nobody listens on. A server must be able to take it
// later, so it cannot be held itself; the UDP port of the same number is held in its
// stead, and who asks here gets only ports whose UDP counterpart is free. The system
// ends the reservation with the process.
func reserve() (int, net.PacketConn, error) {
	for range attempts {
		port := firstPort + rand.IntN(lastPort-firstPort+1)
		address := net.JoinHostPort(Host, strconv.Itoa(port))
		held, err := net.ListenPacket("udp", address)
		if err != nil {
			continue
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			_ = held.Close()
			continue
		}
		return port, held, l.Close()
	}
	return 0, nil, errNoPort
}
