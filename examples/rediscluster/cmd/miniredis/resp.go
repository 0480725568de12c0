// Copyright 2026 The rediscluster authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// These limits keep a client from filling the memory with one command.
const (
	maxParts  = 16
	maxLength = 1 << 20
)

// A protocolError is what a client is answered that sends what is no command.
type protocolError string

func (e protocolError) Error() string { return string(e) }

// readCommand reads an array of strings, as clients send it, or a line of words, as people type it.
func readCommand(in *bufio.Reader) ([]string, error) {
	line, err := readLine(in)
	if err != nil {
		return nil, err
	}
	count, isArray := strings.CutPrefix(line, "*")
	if !isArray {
		return strings.Fields(line), nil
	}
	n, err := strconv.Atoi(count)
	if err != nil || n > maxParts {
		return nil, protocolError("Protocol error: invalid multibulk length")
	}
	var parts []string
	for range n {
		part, err := readBulk(in)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// readBulk reads a string with its length before it.
func readBulk(in *bufio.Reader) (string, error) {
	line, err := readLine(in)
	if err != nil {
		return "", err
	}
	return readString(line, in)
}

// readString reads the string whose length a line has said.
func readString(line string, in *bufio.Reader) (string, error) {
	count, ok := strings.CutPrefix(line, "$")
	n, err := strconv.Atoi(count)
	if !ok || err != nil || n < 0 || n > maxLength {
		return "", protocolError("Protocol error: invalid bulk length")
	}
	data := make([]byte, n+len("\r\n"))
	if _, err := io.ReadFull(in, data); err != nil {
		return "", err
	}
	return string(data[:n]), nil
}

// readLine reads up to the end of a line that is no longer than the reader's buffer.
func readLine(in *bufio.Reader) (string, error) {
	line, err := in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return "", protocolError("Protocol error: too big inline request")
	}
	return strings.TrimRight(string(line), "\r\n"), err
}

// readReply reads an answer, as a client does.
func readReply(in *bufio.Reader) (string, error) {
	line, err := readLine(in)
	if err != nil {
		return "", err
	}
	switch {
	case line == "$-1":
		return "(nil)", nil
	case strings.HasPrefix(line, "$"):
		return readString(line, in)
	case strings.HasPrefix(line, "-"):
		return "", errors.New(line[1:])
	}
	return strings.TrimLeft(line, "+:"), nil
}

func bulk(s string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(s), s) }

func array(parts []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(parts))
	for _, part := range parts {
		b.WriteString(bulk(part))
	}
	return b.String()
}

func failure(message string) string { return "-ERR " + message + "\r\n" }

// answer carries out a command: PING, SET, GET or DEL.
func (s *store) answer(command []string) string {
	if len(command) == 0 {
		return "" // an empty line
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	name, args := strings.ToUpper(command[0]), command[1:]
	switch {
	case name == "PING" && len(args) == 0:
		return "+PONG\r\n"
	case name == "SET" && len(args) == 2:
		s.values[args[0]] = args[1]
		return "+OK\r\n"
	case name == "GET" && len(args) == 1:
		if value, ok := s.values[args[0]]; ok {
			return bulk(value)
		}
		return "$-1\r\n"
	case name == "DEL" && len(args) > 0:
		return fmt.Sprintf(":%d\r\n", s.forget(args))
	}
	return failure(fmt.Sprintf("unknown command %.40q, or another number of arguments", command[0]))
}

// forget deletes values, and returns how many there were.
func (s *store) forget(keys []string) (n int) {
	for _, key := range keys {
		if _, ok := s.values[key]; ok {
			delete(s.values, key)
			n++
		}
	}
	return n
}
