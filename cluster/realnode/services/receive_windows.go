package services

import "net"

// receive waits for a packet. The packet is valid until done is called.
func (f *flows) receive(conn net.Conn) (packet []byte, done func(), err error) {
	buffer := f.buffers.Get().(*[maxPacket]byte)
	n, err := conn.Read(buffer[:])
	if err != nil {
		f.buffers.Put(buffer)
		return nil, nil, err
	}
	return buffer[:n], func() { f.buffers.Put(buffer) }, nil
}
