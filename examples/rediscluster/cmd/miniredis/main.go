// Copyright 2026 The rediscluster authors
// SPDX-License-Identifier: Apache-2.0

// Command miniredis stands for Redis where its image is not at hand: it keeps values in memory and takes those of
// Redis' arguments that the operator passes. With -call it is a client: miniredis -port 6379 -call SET greeting hello.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

func main() {
	bind := flag.String("bind", "127.0.0.1", "`address` to listen at, or to call")
	port := flag.String("port", "6379", "`port` to listen at, or to call")
	flag.String("protected-mode", "no", "ignored: everyone who reaches it is answered")
	client := flag.Bool("call", false, "send the arguments as a command to what listens, and print the answer")
	flag.Parse()
	address := net.JoinHostPort(*bind, *port)
	var err error
	if *client {
		err = call(address, flag.Args())
	} else {
		err = serve(address)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// serve answers clients until the process is asked to end.
func serve(address string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { listener.Close() })
	log.Print("Listening at ", listener.Addr())
	values := newStore()
	for {
		conn, err := listener.Accept()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		go talk(conn, values)
	}
}

// talk answers one client until it leaves, or sends what is no command.
func talk(conn net.Conn, values *store) {
	defer conn.Close()
	in, out := bufio.NewReader(conn), bufio.NewWriter(conn)
	for {
		command, err := readCommand(in)
		if err == nil {
			out.WriteString(values.answer(command))
		} else if mistake, ok := errors.AsType[protocolError](err); ok {
			out.WriteString(failure(string(mistake)))
		}
		if flushed := out.Flush(); err != nil || flushed != nil {
			return
		}
	}
}

// call sends one command and prints the answer to it.
func call(address string, command []string) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := fmt.Fprint(conn, array(command)); err != nil {
		return err
	}
	text, err := readReply(bufio.NewReader(conn))
	if err != nil {
		return err
	}
	fmt.Println(text)
	return nil
}

// A store keeps values, and answers commands about them.
type store struct {
	mu     sync.Mutex
	values map[string]string
}

func newStore() *store { return &store{values: map[string]string{}} }
