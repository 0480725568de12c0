package main

import (
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// flood makes so many connections to an address that echoes, and keeps those that it gets. Every other one sends
// nothing, with a third argument none does. Once the rest know their fate it prints how many were answered.
func flood(args []string) error {
	wanted, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	var answered, quiet atomic.Int32
	var asking sync.WaitGroup
	turns := make(chan struct{}, 256)
	for i := range wanted {
		asking.Go(func() {
			turns <- struct{}{}
			conn, err := net.DialTimeout("tcp4", args[0], time.Minute)
			<-turns
			switch {
			case err != nil:
			case i%2 == 1 || len(args) > 2:
				quiet.Add(1)
				go hold(conn)
			case echoes(conn):
				answered.Add(1)
				go hold(conn)
			}
		})
	}
	asking.Wait()
	fmt.Printf("quiet %d answered %d\n", quiet.Load(), answered.Load())
	select {}
}

// echoes says whether what is sent comes back.
func echoes(conn net.Conn) bool {
	if _, err := conn.Write([]byte("a")); err != nil {
		return false
	}
	_, err := io.ReadFull(conn, make([]byte, 1))
	return err == nil
}

// hold keeps a connection for as long as the other side does.
func hold(conn net.Conn) {
	defer conn.Close()
	_, _ = io.Copy(io.Discard, conn)
}
