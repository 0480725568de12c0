package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/cluster/internal/testlimit"
)

// attack sends packets to an address in each way that leads around connections, and prints what came of each.
func attack(args []string) error {
	to, err := netip.ParseAddr(args[0])
	if err != nil {
		return err
	}
	report := func(what string, err error) { fmt.Printf("%s: %v\n", what, err) }
	for _, ip := range []netip.Addr{to, netip.MustParseAddr("255.255.255.255"), netip.MustParseAddr("224.0.0.1"), netip.MustParseAddr("239.1.2.3")} {
		report("udp "+ip.String(), sendUDP(ip))
		report("echo "+ip.String(), sendRaw(ip, syscall.IPPROTO_ICMP, []byte{8, 0, 0xf7, 0xff, 0, 0, 0, 0}))
	}
	report("mark", sendMarked(to))
	// A first packet of TCP: with a route of its own by way of this machine's side, in two parts, and as from others.
	hop := netip.MustParseAddr("169.254.1.1").As4()
	route := append(append([]byte{131, 11, 4}, hop[:]...), append(to.AsSlice(), 0)...)
	report("source route", sendIP(header{to: to, options: route}, synTo(80)))
	report("strict source route", sendIP(header{to: to, options: append([]byte{137}, route[1:]...)}, synTo(80)))
	syn := synTo(80)
	report("fragment 1", sendIP(header{to: to, fragment: 0x2000}, syn[:8]))
	report("fragment 2", sendIP(header{to: to, fragment: 1}, syn[8:]))
	for _, from := range []string{"127.0.0.1", "10.127.255.254", args[1], args[0]} {
		report("from "+from, sendIP(header{to: to, from: netip.MustParseAddr(from)}, synTo(80)))
	}
	report("sctp", sendRaw(to, 132, make([]byte, 12)))
	report("gre", sendRaw(to, 47, make([]byte, 8)))
	report("ipip", sendRaw(to, 4, header{to: to}.bytes(syn)))
	return nil
}

func sendUDP(to netip.Addr) error {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(socket)
	if err := syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_BROADCAST, 1); err != nil {
		return err
	}
	return syscall.Sendto(socket, []byte("out"), 0, &syscall.SockaddrInet4{Addr: to.As4(), Port: 53})
}

// sendMarked connects with the mark that the nodes' machine gives to connections.
func sendMarked(to netip.Addr) error {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(socket)
	const soMark, mark = 36, 0x51
	if err := syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, soMark, mark); err != nil {
		return err
	}
	return syscall.Sendto(socket, []byte("out"), 0, &syscall.SockaddrInet4{Addr: to.As4(), Port: 53})
}

func sendRaw(to netip.Addr, protocol int, body []byte) error {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_RAW, protocol)
	if err != nil {
		return err
	}
	defer syscall.Close(socket)
	if err := syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_BROADCAST, 1); err != nil {
		return err
	}
	return syscall.Sendto(socket, body, 0, &syscall.SockaddrInet4{Addr: to.As4()})
}

// header is that of a packet of TCP.
type header struct {
	from, to netip.Addr
	options  []byte // a multiple of four
	fragment uint16
}

func (h header) bytes(body []byte) []byte {
	size := 20 + len(h.options)
	b := make([]byte, size, size+len(body))
	b[0], b[8], b[9] = 0x40|byte(size/4), 64, syscall.IPPROTO_TCP
	binary.BigEndian.PutUint16(b[2:], uint16(size+len(body)))
	binary.BigEndian.PutUint16(b[4:], 0x5151)
	binary.BigEndian.PutUint16(b[6:], h.fragment)
	if h.from.IsValid() {
		copy(b[12:], h.from.AsSlice())
	}
	copy(b[16:], h.to.AsSlice())
	copy(b[20:], h.options)
	return append(b, body...)
}

// synTo asks for a connection to a port. Its checksum is wrong: what passes packets on does not look at it.
func synTo(port uint16) []byte {
	b := make([]byte, 20)
	binary.BigEndian.PutUint16(b[0:], 51515)
	binary.BigEndian.PutUint16(b[2:], port)
	b[12], b[13], b[14] = 0x50, 2, 0xff
	return b
}

func sendIP(h header, body []byte) error {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_RAW, syscall.IPPROTO_RAW)
	if err != nil {
		return err
	}
	defer syscall.Close(socket)
	return syscall.Sendto(socket, h.bytes(body), 0, &syscall.SockaddrInet4{Addr: h.to.As4()})
}

// halfclose sends a word to an address, ends that direction, and prints what comes back.
func halfclose(args []string) error {
	conn, err := net.DialTimeout("tcp4", args[0], testlimit.Hang)
	if err != nil {
		return err
	}
	_, err = conn.Write([]byte(args[1]))
	if err := errors.Join(err, conn.(*net.TCPConn).CloseWrite()); err != nil {
		return err
	}
	text, err := io.ReadAll(conn)
	fmt.Printf("%s", text)
	return err
}

// cutoff prints what comes of HTTP from an address, and how it ends. It answers once that begins.
func cutoff(args []string) error {
	conn, err := net.DialTimeout("tcp4", args[0], testlimit.Hang)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.0\r\n\r\n", args[1]); err != nil {
		return err
	}
	buffer := make([]byte, 1<<10)
	n, err := conn.Read(buffer)
	if err != nil {
		return err
	}
	fmt.Printf("%s\n", buffer[:n])
	if _, err := conn.Write([]byte("a")); err != nil {
		return err
	}
	rest, err := io.ReadAll(conn)
	if err != nil {
		return err
	}
	fmt.Printf("%s\ncomplete\n", rest)
	return nil
}

// download prints how many bytes an address of HTTP has, and how many nanoseconds they took.
func download(args []string) error {
	begin := time.Now()
	r, err := http.Get(args[0])
	if err != nil {
		return err
	}
	defer r.Body.Close()
	n, err := io.Copy(io.Discard, r.Body)
	fmt.Println(n, time.Since(begin).Nanoseconds())
	return err
}
