// Copyright 2026 The rediscluster authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
)

// What a client sends on one connection, and what it is answered.
func TestTalk(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxLength)
	for name, test := range map[string]struct{ sent, want string }{
		"set and get":      {array([]string{"SET", "a", "1 2\r\n3"}) + array([]string{"get", "a"}), "+OK\r\n$6\r\n1 2\r\n3\r\n"},
		"nothing there":    {array([]string{"GET", "a"}), "$-1\r\n"},
		"deleted":          {"SET a 1\r\nDEL a b\r\nGET a\r\n", "+OK\r\n:1\r\n$-1\r\n"},
		"typed":            {"\r\nPING\r\n", "+PONG\r\n"},
		"the longest":      {array([]string{"SET", "a", long}) + array([]string{"GET", "a"}), "+OK\r\n" + bulk(long)},
		"unknown":          {"SHUTDOWN\r\nPING\r\n", "-ERR unknown command \"SHUTDOWN\", or another number of arguments\r\n+PONG\r\n"},
		"too few":          {"SET a\r\n", "-ERR unknown command \"SET\", or another number of arguments\r\n"},
		"no length":        {"*1\r\n$x\r\n", "-ERR Protocol error: invalid bulk length\r\n"},
		"less than none":   {"*1\r\n$-1\r\n", "-ERR Protocol error: invalid bulk length\r\n"},
		"too long":         {"*1\r\n$1048577\r\n", "-ERR Protocol error: invalid bulk length\r\n"},
		"too many":         {"*17\r\n", "-ERR Protocol error: invalid multibulk length\r\n"},
		"a line for ever":  {strings.Repeat("x", 1<<16), "-ERR Protocol error: too big inline request\r\n"},
		"cut off":          {"*2\r\n$3\r\nGE", ""},
		"fewer than none":  {"*-1\r\nPING\r\n", "+PONG\r\n"},
		"many at one time": {strings.Repeat("PING\r\n", 3), strings.Repeat("+PONG\r\n", 3)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := exchange(t, test.sent); got != test.want {
				t.Errorf("answered %.80q, want %.80q", got, test.want)
			}
		})
	}
}

// exchange sends all at once, and returns all that is answered until the connection ends.
func exchange(t *testing.T, sent string) string {
	t.Helper()
	client, server := net.Pipe()
	go talk(readerOf{strings.NewReader(sent), server}, newStore())
	answer, err := io.ReadAll(client)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

// readerOf is a connection whose other end has sent all that it sends.
type readerOf struct {
	io.Reader
	net.Conn
}

func (r readerOf) Read(p []byte) (int, error) { return r.Reader.Read(p) }

func TestReadReply(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{"+OK\r\n": "OK", ":2\r\n": "2", "$-1\r\n": "(nil)", "$5\r\nhello\r\n": "hello", "-ERR no\r\n": "ERR no", "$5\r\nhel": "unexpected EOF"} {
		got, err := readReply(bufio.NewReader(strings.NewReader(sent)))
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q is read as %q, want %q", sent, got, want)
		}
	}
}
